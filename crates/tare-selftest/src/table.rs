//! What is claimed, what was found, and whether the two agree.

use crate::sums::{Found, Total};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// Standard errors by which a figure may miss its claim: with a hundred rows, a
/// correct build misses by more in one of several hundred runs of the table.
const ERRORS: f64 = 4.0;

/// A claim about the method, checked by simulation.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct Claim {
    /// Whether users may rely on it; else it is told of where the method is weak.
    pub promised: bool,
    /// Least figure.
    pub low: f64,
    /// Largest figure.
    pub high: f64,
    /// By how much the figure may miss it, beside the error of the simulation.
    pub slack: f64,
}

impl Claim {
    /// A promise: the figure lies between the two.
    pub const fn promise(low: f64, high: f64) -> Self {
        Self {
            promised: true,
            low,
            high,
            slack: 0.0,
        }
    }

    /// What is told of a case without promising: this share, give or take a point.
    pub const fn told(share: f64) -> Self {
        Self::about(share, 0.01)
    }

    /// What is told of a case without promising: the figure, within so much.
    pub const fn about(figure: f64, slack: f64) -> Self {
        Self {
            promised: false,
            low: figure,
            high: figure,
            slack,
        }
    }

    /// Whether a figure agrees with it, as far as the simulation can tell.
    pub fn holds(&self, found: Found) -> bool {
        let slack = self.slack + ERRORS * found.error;
        (self.low - slack..=self.high + slack).contains(&found.value)
    }
}

/// What a figure is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// A share, shown in percent.
    Share,
    /// A factor or another plain number.
    Number,
}

/// One line of the table.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Row {
    /// Under which heading it stands.
    pub group: &'static str,
    /// What was simulated.
    pub case: String,
    /// What is claimed; absent where a figure stands for comparison.
    pub claim: Option<Claim>,
    /// What its figures are counted in.
    pub scale: Scale,
    /// The figure found.
    pub found: f64,
    /// Its standard error.
    pub error: f64,
    /// Number of draws.
    pub draws: u32,
    /// Whether the two agree.
    pub verdict: Verdict,
}

/// What `tare selftest coverage --json` prints: every case that was simulated.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Table<'a> {
    /// Version of tare.
    pub tare: &'static str,
    /// Identity of the build.
    pub build: &'static str,
    /// Draws of each case, as asked.
    pub draws: u32,
    /// Seed of the draws.
    pub seed: u64,
    /// The lines of the table.
    pub rows: &'a [Row],
}

/// Whether a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A promise that holds.
    AsPromised,
    /// A figure as it is told.
    AsTold,
    /// The claim is wrong.
    Differs,
    /// Nothing is claimed.
    Shown,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::AsPromised => "as promised",
            Self::AsTold => "as told",
            Self::Differs => "DIFFERS",
            Self::Shown => "",
        })
    }
}

impl Row {
    /// A line of the table.
    pub fn new(
        group: &'static str,
        case: impl Into<String>,
        scale: Scale,
        claim: Option<Claim>,
        found: Found,
        total: &Total,
    ) -> Self {
        let verdict = match claim {
            None => Verdict::Shown,
            Some(claim) if !claim.holds(found) => Verdict::Differs,
            Some(claim) if claim.promised => Verdict::AsPromised,
            Some(_) => Verdict::AsTold,
        };
        Self {
            group,
            case: case.into(),
            claim,
            scale,
            found: found.value,
            error: found.error,
            draws: total.draws,
            verdict,
        }
    }

    fn show(&self, value: f64) -> String {
        match self.scale {
            Scale::Share => {
                let percent = format!("{:.1}", 100.0 * value);
                percent.strip_suffix(".0").unwrap_or(&percent).to_owned()
            }
            Scale::Number => format!("{value:.2}"),
        }
    }

    fn claimed(&self) -> String {
        let unit = if self.scale == Scale::Share { " %" } else { "" };
        match self.claim {
            None => "-".to_owned(),
            Some(claim) if claim.low == claim.high => self.show(claim.low) + unit,
            Some(claim) if claim.low == 0.0 => format!("at most {}{unit}", self.show(claim.high)),
            Some(claim) => format!("{} to {}{unit}", self.show(claim.low), self.show(claim.high)),
        }
    }

    fn line(&self, width: usize) -> String {
        let line = format!(
            "  {:width$}  {:>14}  {:>7}  {:>6}  {}",
            self.case,
            self.claimed(),
            self.figure(self.found),
            self.figure(self.error),
            self.verdict
        );
        line.trim_end().to_owned() + "\n"
    }

    fn figure(&self, value: f64) -> String {
        match self.scale {
            Scale::Share => format!("{:.1} %", 100.0 * value),
            Scale::Number => format!("{value:.2}"),
        }
    }
}

/// The table as text, 80 columns wide where cases are short.
pub fn text(rows: &[Row]) -> String {
    let widest = rows.iter().map(|row| row.case.chars().count()).max();
    let width = widest.unwrap_or(0);
    let mut groups: Vec<&str> = Vec::new();
    for row in rows {
        if !groups.contains(&row.group) {
            groups.push(row.group);
        }
    }
    let mut text = String::new();
    for group in groups {
        let (claimed, found) = ("claimed", "found");
        text += &format!(
            "\n{group}\n  {:width$}  {claimed:>14}  {found:>7}  {:>6}\n",
            "", "+-"
        );
        for row in rows.iter().filter(|row| row.group == group) {
            text += &row.line(width);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(claim: Option<Claim>, found: f64) -> Row {
        let total = Total {
            draws: 20_000,
            sums: vec![found * 20_000.0],
        };
        Row::new("a group", "a case", Scale::Share, claim, total.share(0), &total)
    }

    #[test]
    fn a_claim_is_held_against_what_was_found_with_its_error() {
        let promise = Some(Claim::promise(0.94, 0.965));
        assert_eq!(row(promise, 0.95).verdict, Verdict::AsPromised);
        assert_eq!(row(promise, 0.9395).verdict, Verdict::AsPromised);
        assert_eq!(row(promise, 0.93).verdict, Verdict::Differs);
        assert_eq!(row(promise, 0.98).verdict, Verdict::Differs);
        assert_eq!(row(Some(Claim::told(0.9)), 0.908).verdict, Verdict::AsTold);
        assert_eq!(row(Some(Claim::told(0.9)), 0.93).verdict, Verdict::Differs);
        assert_eq!(row(None, 0.1).verdict, Verdict::Shown);
    }

    #[test]
    fn what_never_occurred_has_an_error_all_the_same() {
        assert!(row(None, 0.0).error > 0.0);
    }

    #[test]
    fn a_line_tells_claim_figure_and_verdict() {
        let text = text(&[row(Some(Claim::promise(0.94, 0.965)), 0.95), row(None, 0.5)]);
        assert!(
            text.contains("a case    94 to 96.5 %   95.0 %   0.2 %  as promised\n"),
            "{text}"
        );
        assert!(text.ends_with("50.0 %   0.4 %\n"), "{text}");
    }
}
