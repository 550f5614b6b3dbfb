//! Adaptive stopping: what it covers, and how often it errs.

use super::rounds::{Loss, beside, judged_beside, loss_by};
use super::{half_width, margin, percent};
use crate::noise::{as_float, normal};
use crate::simulate::Experiment;
use crate::slices::{Block, Cell, Host, Order, Slicing};
use crate::sums::{Total, add, count};
use crate::table::{Claim, Row, Scale};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use tare_model::study::Protocol;
use tare_stats::{Aim, LEVEL, LOOKS, Looks, Question, decide, look, t_estimate};

const COVERAGE: &str = "Coverage of the interval reported after looks, labelled 95 %";
const ERRORS: &str = "False verdicts after looks, margin 1 %";
const BUDGET_COVERAGE: &str = "Coverage of that interval where a budget ends what no look has settled";
const BUDGET_ERRORS: &str = "False verdicts where a budget ends what no look has settled";
const NARROW_COVERAGE: &str = "Coverage of that interval where looks end only what is narrow";
const NARROW_ERRORS: &str = "False verdicts where looks end only what is narrow";
const NEED_COVERAGE: &str = "Coverage of that interval where clear costs get less time";
const NEED_ERRORS: &str = "False verdicts where clear costs get less time";
const NAIVE: &str = "Beside it: stopping as soon as a 95 % interval pleases";

/// The margin, as a ratio less 1.
const MARGIN: f64 = 0.01;
/// What is enough of a comparison.
const AIM: Aim = Aim {
    half_width: 0.005,
    margin: Some(MARGIN),
};
/// Blocks of a comparison that is settled at no look.
const MOST_BLOCKS: usize = 60;
/// Standard deviations of d.
const SPREADS: [f64; 4] = [0.003, 0.01, 0.02, 0.06];
/// True effects, as ratios less 1; 0 and the margin are among them.
const EFFECTS: [f64; 6] = [0.0, 0.01, 0.015, 0.02, 0.05, 0.2];

/// What the blocks of a comparison are drawn from.
#[derive(Clone, Copy)]
enum Source {
    /// Normal numbers of this standard deviation.
    Normal(f64),
    /// Slices of 2 ms, 250 rounds of two cells on a host.
    Slices(Host),
    /// Normal numbers of this standard deviation in trials of the usual time, which are shorter where costs are clear and
    /// longer where they are not.
    ByNeed(f64),
}

impl Source {
    fn name(self) -> String {
        match self {
            Self::Normal(spread) => format!("sd {}", percent(spread)),
            Self::Slices(host) => host.name.to_owned(),
            Self::ByNeed(spread) => format!("sd {} of a usual trial", percent(spread)),
        }
    }

    /// The next block, after these.
    fn block(self, rng: &mut ChaCha8Rng, truth: f64, before: &[Loss]) -> Option<Loss> {
        match self {
            Self::Normal(spread) => Some((truth + spread * normal(rng), None)),
            Self::Slices(host) => {
                let cells = [Cell::default(), Cell::dearer(truth)];
                let block = Block::draw(rng, host, &cells, Slicing::short(250), Order::Rounds);
                loss_by(&block, &block.processes())
            }
            Self::ByNeed(spread) => {
                let enough = AIM.error_of_block(&beside(before).0);
                let [least, most] = Protocol::SHARES;
                let time = (spread / enough).powi(2).clamp(least, most);
                Some((truth + spread / time.sqrt() * normal(rng), None))
            }
        }
    }

    /// Seed of the check. Without slices it is left out: where the noise is normal it moves an
    /// end once in some hundred series.
    fn check(self, rng: &mut ChaCha8Rng) -> Option<u64> {
        matches!(self, Self::Slices(_)).then(|| rng.next_u64())
    }
}

/// When a comparison ends before its last block.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    /// At the look that settles it.
    Settled,
    /// At the look whose interval is narrow enough, however clear it was before.
    Narrow,
}

impl Rule {
    fn ends(self, d: &[f64], noise: f64, half_width: f64, margin: f64) -> bool {
        let aim = Aim {
            half_width,
            margin: (self == Self::Settled).then_some(margin),
        };
        look(d, noise, aim).is_some_and(|look| look.judgement.is_settled())
    }
}

/// Blocks for which a budget is enough, none of them a look.
const BUDGETS: [usize; 3] = [13, 17, 45];
/// Hosts, and a margin that takes some 20 blocks there.
const HOSTS: [(Host, f64); 4] = [
    (Host::TWO_MODES, 0.0015),
    (Host::TWO_SLOW_MODES, 0.0015),
    (Host::SHARED_BRIEFLY, 0.0015),
    (Host::OFTEN_STOLEN_FROM, 0.002),
];

/// A comparison that is looked at until it ends.
#[derive(Clone, Copy)]
struct Adaptive {
    source: Source,
    /// As a ratio less 1, as the margin.
    effect: f64,
    margin: f64,
    rule: Rule,
    /// Where it ends at the latest: the last look, or when its time is up.
    blocks: usize,
    /// Under which headings coverage and false verdicts stand.
    groups: [&'static str; 2],
    coverage: Claim,
    /// Of differences where there are none.
    differs: Claim,
    /// Of `equal`, and of differences beyond the margin, where the effect is the margin.
    at_margin: [Claim; 2],
}

/// The cases.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let mut cases: Vec<Box<dyn Experiment>> = Vec::new();
    for effect in EFFECTS {
        for spread in SPREADS {
            let worst = (effect, spread) == (0.015, 0.02);
            let coverage = if worst {
                Claim::told(0.94)
            } else {
                Claim::promise(0.94, 0.965)
            };
            cases.push(Box::new(Adaptive {
                effect,
                coverage,
                ..Adaptive::until_settled(Source::Normal(spread))
            }));
        }
    }
    for every_block in [false, true] {
        cases.push(Box::new(Naive {
            truth: 0.0,
            every_block,
        }));
        cases.push(Box::new(Naive {
            truth: margin(),
            every_block,
        }));
    }
    cases
}

/// The cases that a budget ends, or another rule.
pub fn ended() -> Vec<Box<dyn Experiment>> {
    let of_hosts = HOSTS.into_iter().flat_map(on_host);
    let cases = out_of_time().chain(narrow()).chain(of_hosts).chain(by_need());
    cases.map(|case| Box::new(case) as Box<dyn Experiment>).collect()
}

/// Normal numbers and budgets. Where d spreads by 6 %, an effect of 5 % is settled by its size.
fn out_of_time() -> impl Iterator<Item = Adaptive> {
    let (little, much) = ([0.0, 0.01, 0.015], [0.0, 0.05]);
    let cases = [(0.01, &little[..]), (0.02, &little), (0.06, &much)].map(|(spread, effects)| {
        let of = |effect: &f64| (Source::Normal(spread), *effect);
        effects.iter().map(of).collect::<Vec<_>>()
    });
    BUDGETS.into_iter().flat_map(move |blocks| {
        let case = move |(source, effect)| Adaptive {
            effect,
            ..Adaptive::out_of_time(source, MARGIN, blocks)
        };
        cases.concat().into_iter().map(case)
    })
}

/// Normal numbers and the width alone, which no effect changes.
fn narrow() -> impl Iterator<Item = Adaptive> {
    let case = |(effect, spread, blocks)| Adaptive {
        effect,
        blocks,
        ..Adaptive::until_narrow(Source::Normal(spread), MARGIN)
    };
    [
        (0.0, 0.005, MOST_BLOCKS),
        (0.0, 0.008, MOST_BLOCKS),
        (0.0, 0.01, MOST_BLOCKS),
        (0.0, 0.015, MOST_BLOCKS),
        (0.0, 0.02, MOST_BLOCKS),
        (0.01, 0.01, MOST_BLOCKS),
        (0.01, 0.015, MOST_BLOCKS),
        (0.0, 0.01, 17),
        (0.0, 0.015, 45),
    ]
    .into_iter()
    .map(case)
}

/// Time by need, to the end and up to a budget.
fn by_need() -> impl Iterator<Item = Adaptive> {
    let effects = [0.0, 0.01, 0.02, 0.05, 0.1];
    let cases = [0.01, 0.03].map(|spread| effects.map(|effect| (Source::ByNeed(spread), effect)));
    let case = |(source, effect)| {
        [BUDGETS[0], MOST_BLOCKS].map(|blocks| Adaptive {
            effect,
            groups: [NEED_COVERAGE, NEED_ERRORS],
            ..Adaptive::out_of_time(source, MARGIN, blocks)
        })
    };
    cases.concat().into_iter().flat_map(case)
}

/// Either on a host, where this margin takes some 20 blocks.
fn on_host((host, margin): (Host, f64)) -> impl Iterator<Item = Adaptive> {
    let source = Source::Slices(host);
    let [short, long, _] = BUDGETS;
    let case = move |(effect, blocks)| Adaptive {
        effect,
        ..Adaptive::out_of_time(source, margin, blocks)
    };
    let cases = [
        (0.0, short),
        (0.0, MOST_BLOCKS),
        (margin, long),
        (1.5 * margin, MOST_BLOCKS),
    ];
    let narrow = Adaptive::until_narrow(source, margin);
    cases.into_iter().map(case).chain([narrow])
}

impl Adaptive {
    /// Which a budget ends after so many blocks, if no look did before.
    fn out_of_time(source: Source, margin: f64, blocks: usize) -> Self {
        Self {
            margin,
            blocks,
            groups: [BUDGET_COVERAGE, BUDGET_ERRORS],
            coverage: Claim::promise(0.935, 1.0),
            differs: Claim::promise(0.0, 0.055),
            at_margin: [Claim::promise(0.0, 0.055); 2],
            ..Self::until_settled(source)
        }
    }

    /// Which ends as soon as its interval is narrow.
    fn until_narrow(source: Source, margin: f64) -> Self {
        Self {
            rule: Rule::Narrow,
            coverage: Claim::promise(0.94, 0.965),
            groups: [NARROW_COVERAGE, NARROW_ERRORS],
            ..Self::out_of_time(source, margin, MOST_BLOCKS)
        }
    }

    fn until_settled(source: Source) -> Self {
        Self {
            source,
            effect: 0.0,
            margin: MARGIN,
            rule: Rule::Settled,
            blocks: MOST_BLOCKS,
            groups: [COVERAGE, ERRORS],
            coverage: Claim::promise(0.94, 0.965),
            differs: Claim::promise(0.0, 0.04),
            at_margin: [Claim::promise(0.0, 0.024), Claim::promise(0.0, 0.026)],
        }
    }

    /// The losses of all blocks that it has in the end.
    fn losses(&self, rng: &mut ChaCha8Rng) -> Vec<Loss> {
        let (truth, margin) = (self.effect.ln_1p(), self.margin.ln_1p());
        let mut losses = Vec::new();
        let looks = LOOKS.into_iter().map(|look| look as usize);
        for blocks in looks.filter(|look| *look <= self.blocks) {
            self.go_on(rng, truth, &mut losses, blocks);
            let (d, noise) = beside(&losses);
            if self.rule.ends(&d, noise, margin / 2.0, margin) {
                return losses;
            }
        }
        self.go_on(rng, truth, &mut losses, self.blocks);
        losses
    }

    /// Draws the blocks that are missing to so many.
    fn go_on(&self, rng: &mut ChaCha8Rng, truth: f64, losses: &mut Vec<Loss>, blocks: usize) {
        for _ in losses.len()..blocks {
            let next = self.source.block(rng, truth, losses);
            losses.extend(next);
        }
    }
}

/// d of a comparison up to the look at which it was settled, or to the last.
pub(super) fn until_settled(d: &[f64]) -> &[f64] {
    let seen = |blocks: &u32| &d[..*blocks as usize];
    let settled = |d: &&[f64]| Rule::Settled.ends(d, 0.0, half_width(), margin());
    LOOKS.iter().map(seen).find(settled).unwrap_or(d)
}

/// What is asked of a comparison that was looked at. The bootstrap is left out:
/// where the noise is normal it moves an end once in some hundred series.
pub(super) fn looked_at() -> Question {
    Question {
        looks: Looks::Allowed,
        margin: None,
        check: None,
    }
}

impl Experiment for Adaptive {
    fn share(&self) -> f64 {
        match self.source {
            Source::Normal(_) | Source::ByNeed(_) => 1.0,
            Source::Slices(_) => 0.04,
        }
    }

    fn sums(&self) -> usize {
        6
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let losses = self.losses(rng);
        let question = Question {
            check: self.source.check(rng),
            ..looked_at()
        };
        let Some(found) = judged_beside(&losses, question) else {
            return;
        };
        let row = decide(found.interval, found.p_t.unwrap_or(1.0), self.margin.ln_1p());
        count(sums, 0, found.interval.contains(self.effect.ln_1p()));
        count(sums, 1, (2..=4).contains(&row.number()));
        count(sums, 2, row.beyond_margin());
        count(sums, 3, row.number() == 1);
        add(sums, 4, as_float(found.n));
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let mut case = format!("effect {}, {}", percent(self.effect), self.source.name());
        if self.blocks < MOST_BLOCKS {
            case += &format!(", {} blocks at most", self.blocks);
        }
        let row = |group, what: &str, claim, sum| {
            let case = format!("{case}{what}");
            Row::new(group, case, Scale::Share, Some(claim), total.share(sum), total)
        };
        let [coverage, errors] = self.groups;
        let mut rows = vec![row(coverage, "", self.coverage, 0)];
        if self.rule == Rule::Narrow {
            let blocks = Row::new(
                coverage,
                format!("{case}: blocks"),
                Scale::Number,
                None,
                total.mean(4),
                total,
            );
            rows.push(blocks);
        }
        if self.effect == 0.0 {
            rows.push(row(errors, ": differs", self.differs, 1));
        }
        if self.effect == 0.0 && self.blocks == MOST_BLOCKS {
            // Where d spreads by six margins, a mean beyond the margin is nothing rare.
            let wide = matches!(self.source, Source::Normal(spread) if spread > 0.05);
            let most = if wide { 0.003 } else { 0.001 };
            rows.push(row(errors, ": beyond the margin", Claim::promise(0.0, most), 2));
        }
        if (self.effect - self.margin).abs() < 1e-9 {
            let [equal, beyond] = self.at_margin;
            rows.push(row(errors, ": beyond the margin", beyond, 2));
            rows.push(row(errors, ": equal", equal, 3));
        }
        rows
    }
}

/// What users do: look at a 95 % interval, and stop when it shows something.
struct Naive {
    truth: f64,
    /// Look after every block from 10 on, not only at the looks of the method.
    every_block: bool,
}

impl Experiment for Naive {
    fn sums(&self) -> usize {
        1
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let d: Vec<f64> = (0..60).map(|_| self.truth + 0.02 * normal(rng)).collect();
        let shows = |blocks: usize| {
            t_estimate(&d[..blocks], LEVEL, 1.0).is_some_and(|t| {
                if self.truth == 0.0 {
                    !t.interval.contains(0.0)
                } else {
                    t.interval.low >= margin()
                }
            })
        };
        let shown = if self.every_block {
            (10..=60).any(shows)
        } else {
            LOOKS.iter().any(|look| shows(*look as usize))
        };
        count(sums, 0, shown);
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let looks = if self.every_block {
            "after every block"
        } else {
            "at the 8 looks"
        };
        let (what, claim) = match (self.truth == 0.0, self.every_block) {
            (true, false) => ("false difference", Claim::told(0.17)),
            (true, true) => ("false difference", Claim::told(0.24)),
            (false, false) => ("false beyond the margin", Claim::told(0.09)),
            (false, true) => ("false beyond the margin", Claim::told(0.12)),
        };
        let case = format!("{what}, {looks}");
        vec![Row::new(
            NAIVE,
            case,
            Scale::Share,
            Some(claim),
            total.share(0),
            total,
        )]
    }
}
