//! What counts besides the typical cost, by the user's weights.

use super::Choice;
use schemars::JsonSchema;
use serde::Serialize;
use std::str::FromStr;
use tare_model::platform::PlatformPath;
use tare_model::suggest::among;

/// Something that a platform is better or worse in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// The cost of one typical run.
    Typical,
    /// The mean cost, including stalls.
    Mean,
    /// The 99th percentile of latencies.
    Latency,
    /// The noise between blocks.
    Steadiness,
    /// The memory of an idle box.
    Memory,
    /// The time that a box takes to start.
    Start,
}

/// How much each counts: 1 for the typical cost, 0 for all else where the user says nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Weights(Vec<(Criterion, f64)>);

/// The best platform by the weights.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Winner {
    pub platform: PlatformPath,
    /// Platforms that were left out: emulated, without a verdict, or without a figure of something
    /// that counts.
    pub left_out: Vec<PlatformPath>,
    /// For each criterion the nearest weight with which another wins, if there is one.
    pub turns: Vec<Turn>,
}

/// Where another platform wins.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Turn {
    /// Whose weight is changed.
    pub criterion: Criterion,
    /// To what.
    pub weight: f64,
    /// Who wins then.
    pub platform: PlatformPath,
}

impl Criterion {
    /// Every criterion.
    pub const ALL: [Self; 6] = [
        Self::Typical,
        Self::Mean,
        Self::Latency,
        Self::Steadiness,
        Self::Memory,
        Self::Start,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Typical => "typical",
            Self::Mean => "mean",
            Self::Latency => "latency",
            Self::Steadiness => "steadiness",
            Self::Memory => "memory",
            Self::Start => "start",
        }
    }

    /// The figure of a choice of which less is better.
    fn of(self, choice: &Choice) -> Option<f64> {
        match self {
            Self::Typical => choice.cost.map(|e| e.value),
            Self::Mean => choice.mean,
            Self::Latency => choice.tail,
            Self::Steadiness => choice.steadiness,
            Self::Memory => choice.memory_bytes,
            Self::Start => choice.start_seconds,
        }
    }
}

impl FromStr for Criterion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name);
        let found = Self::ALL.into_iter().find(|c| c.name() == text);
        found.ok_or_else(|| format!("there is no criterion '{text}': {}", among(text, &names, "they")))
    }
}

impl Weights {
    /// These weights, none below 0; the typical cost counts 1 unless it is among them.
    pub fn new(mut given: Vec<(Criterion, f64)>) -> Self {
        if !given.is_empty() && !given.iter().any(|(c, _)| *c == Criterion::Typical) {
            given.push((Criterion::Typical, 1.0));
        }
        Self(given)
    }

    /// The platform with the least weighted sum of logarithms; none without weights.
    pub(super) fn winner(&self, choices: &[Choice]) -> Option<Winner> {
        if self.0.is_empty() {
            return None;
        }
        let counts = |c: &Choice| !c.is_emulated && c.is_judged() && self.logs(c).is_some();
        let (rated, others): (Vec<&Choice>, Vec<&Choice>) = choices.iter().partition(|c| counts(c));
        let best = self.best(&rated)?;
        let turns = self
            .0
            .iter()
            .filter_map(|(criterion, _)| self.turn(*criterion, best, &rated));
        Some(Winner {
            platform: best.platform.clone(),
            left_out: others.iter().map(|c| c.platform.clone()).collect(),
            turns: turns.collect(),
        })
    }

    /// The logarithm of each figure that counts.
    fn logs(&self, choice: &Choice) -> Option<Vec<f64>> {
        let log = |(criterion, _): &(Criterion, f64)| {
            let figure = criterion.of(choice)?;
            (figure > 0.0 && figure.is_finite()).then(|| figure.ln())
        };
        self.0.iter().map(log).collect()
    }

    fn score(&self, choice: &Choice) -> f64 {
        let logs = self.logs(choice).unwrap_or_default();
        self.0
            .iter()
            .zip(logs)
            .map(|((_, weight), log)| weight * log)
            .sum()
    }

    fn best<'a>(&self, rated: &[&'a Choice]) -> Option<&'a Choice> {
        rated
            .iter()
            .copied()
            .min_by(|a, b| self.score(a).total_cmp(&self.score(b)))
    }

    /// The weight of a criterion nearest to that given with which another wins.
    fn turn(&self, criterion: Criterion, best: &Choice, rated: &[&Choice]) -> Option<Turn> {
        let given = self.0.iter().find(|(c, _)| *c == criterion)?.1;
        let crossing = |other: &&Choice| {
            // Scores are linear in a weight: they meet where its change makes up for the lead.
            let lead = self.score(other) - self.score(best);
            let slope = criterion.of(other)?.ln() - criterion.of(best)?.ln();
            let weight = given - lead / slope;
            let is_other = other.platform != best.platform && slope != 0.0;
            (is_other && weight.is_finite() && weight >= 0.0).then(|| Turn {
                criterion,
                weight,
                platform: other.platform.clone(),
            })
        };
        let turns = rated.iter().filter_map(crossing);
        turns.min_by(|a, b| (a.weight - given).abs().total_cmp(&(b.weight - given).abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Estimate, Word};

    fn choice(name: &str, cost: f64, memory: f64) -> Choice {
        Choice {
            platform: name.parse().expect("a platform"),
            is_baseline: false,
            is_emulated: false,
            cost: Some(Estimate {
                value: cost,
                low: cost,
                high: cost,
            }),
            word: Word::Equal,
            mean: None,
            tail: None,
            steadiness: None,
            start_seconds: None,
            memory_bytes: Some(memory),
        }
    }

    #[test]
    fn the_winner_is_that_of_the_weights_and_turns_where_scores_meet() {
        let choices = [choice("docker", 1.0, 400.0), choice("lxc", 1.1, 100.0)];
        assert_eq!(Weights::default().winner(&choices), None);
        let speed = Weights::new(vec![(Criterion::Typical, 1.0), (Criterion::Memory, 0.01)]);
        let winner = speed.winner(&choices).expect("a winner");
        assert_eq!(winner.platform.to_string(), "docker");
        let turn = winner
            .turns
            .iter()
            .find(|t| t.criterion == Criterion::Memory)
            .expect("a turn");
        // 1.1 times the cost against a quarter of the memory.
        assert!(
            (turn.weight - 1.1_f64.ln() / 4_f64.ln()).abs() < 1e-12,
            "{turn:?}"
        );
        assert_eq!(turn.platform.to_string(), "lxc");
        let memory = Weights::new(vec![(Criterion::Memory, 1.0)]);
        assert_eq!(
            memory.winner(&choices).expect("a winner").platform.to_string(),
            "lxc"
        );
    }

    #[test]
    fn what_has_no_verdict_or_no_figure_of_what_counts_is_left_out_and_named() {
        let mut choices = [
            choice("docker", 1.0, 400.0),
            choice("lxc", 1.1, 100.0),
            choice("runc", 0.9, 100.0),
            choice("podman", 1.2, 500.0),
        ];
        choices[1].memory_bytes = None;
        choices[2].word = Word::None;
        let weights = Weights::new(vec![(Criterion::Memory, 1.0)]);
        let winner = weights.winner(&choices).expect("a winner");
        assert_eq!(
            (winner.platform.to_string().as_str(), winner.left_out.len()),
            ("docker", 2)
        );
    }

    #[test]
    fn a_misspelt_criterion_is_told_the_nearest() {
        assert!(
            "memroy"
                .parse::<Criterion>()
                .unwrap_err()
                .contains("did you mean 'memory'?")
        );
    }
}
