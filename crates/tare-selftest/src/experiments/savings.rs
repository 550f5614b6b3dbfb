//! Trials that adaptive stopping saves, against the best fixed number of blocks.

use super::adaptive::{looked_at, until_settled};
use super::family::{CELLS, MOST_BLOCKS, cells};
use super::margin;
use crate::noise::as_float;
use crate::simulate::Experiment;
use crate::sums::{Found, Total, add};
use crate::table::{Claim, Row, Scale};
use rand_chacha::ChaCha8Rng;
use tare_stats::{Looks, PairedInference, Question, decide, holm, infer};

const GROUP: &str = "Trials saved, 7 cells, against the best fixed number of blocks that decides as many";
/// Fewest blocks of a fixed number.
const FEWEST_BLOCKS: usize = 10;

/// Seven cells and their baseline.
struct Savings {
    name: &'static str,
    cells: [(f64, f64); CELLS],
    leaving: Claim,
    staying: Claim,
}

/// The cases: what is saved hangs on how unlike the cells are, since a fixed number
/// of blocks is that of the hardest.
pub fn all() -> Vec<Box<dyn Experiment>> {
    let case = |name, effects: [f64; CELLS], spreads: [f64; CELLS], leaving, staying| {
        Box::new(Savings {
            name,
            cells: std::array::from_fn(|i| (effects[i], spreads[i])),
            leaving: Claim::about(leaving, 0.03),
            staying: Claim::about(staying, 0.03),
        }) as Box<dyn Experiment>
    };
    let far = [0.0, 0.05, 0.05, 0.1, 0.2, 0.5, 1.0];
    let near = [0.005, 0.0075, 0.01, 0.0125, 0.015, 0.0175, 0.02];
    let mixed = [0.0, 0.0, 0.005, 0.03, 0.05, 0.1, 0.2];
    let unlike = [0.003, 0.005, 0.01, 0.01, 0.02, 0.03, 0.04];
    vec![
        case("0 to 100 %, sd 2 %", far, [0.02; CELLS], 0.6, 0.0),
        case("0 to 20 %, sd 0.3 to 4 %", mixed, unlike, 0.52, 0.19),
        case("0.5 to 2 %, sd 1 %", near, [0.01; CELLS], 0.34, 0.09),
        case("all 0 %, sd 1 %", [0.0; CELLS], [0.01; CELLS], 0.13, -0.16),
    ]
}

/// Number of cells that get a verdict other than `inconclusive`.
fn decided(found: &[PairedInference]) -> usize {
    let p_values: Vec<Option<f64>> = found.iter().map(|f| f.p_t).collect();
    let rows = found.iter().zip(holm(&p_values));
    rows.filter(|(found, p)| decide(found.interval, p.unwrap_or(1.0), margin()).number() < 5)
        .count()
}

impl Savings {
    /// Trials if settled cells leave, trials if none may, cells decided and the
    /// squares of that; then cells decided at each fixed number of blocks.
    const SUMS: usize = FIXED + MOST_BLOCKS - FEWEST_BLOCKS + 1;
}

/// Where the sums of the fixed numbers begin.
const FIXED: usize = 4;

impl Experiment for Savings {
    /// Every number of blocks is judged in every draw.
    fn share(&self) -> f64 {
        0.1
    }

    fn sums(&self) -> usize {
        Self::SUMS
    }

    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]) {
        let cells = cells(rng, &self.cells);
        let seen: Vec<&[f64]> = cells.iter().map(|d| until_settled(d)).collect();
        let longest = seen.iter().map(|d| d.len()).max().unwrap_or(0);
        let trials = longest + seen.iter().map(|d| d.len()).sum::<usize>();
        let found: Vec<_> = seen.iter().filter_map(|d| infer(d, looked_at())).collect();
        sums[0] += as_float(trials);
        sums[1] += as_float((CELLS + 1) * longest);
        add(sums, 2, as_float(decided(&found)));
        let fixed = Question {
            looks: Looks::None,
            ..looked_at()
        };
        for (sum, blocks) in sums[FIXED..].iter_mut().zip(FEWEST_BLOCKS..) {
            let found: Vec<_> = cells.iter().filter_map(|d| infer(&d[..blocks], fixed)).collect();
            *sum += as_float(decided(&found));
        }
    }

    fn rows(&self, total: &Total) -> Vec<Row> {
        let decided = total.mean(2);
        // The fixed number hangs on two means of as many draws.
        let doubt = decided.error * 2.0_f64.sqrt();
        let [least, blocks, most] = [-doubt, 0.0, doubt].map(|off| blocks_for(total, decided.value + off));
        let saved = |sum: usize| {
            let share = total.sums[sum] / f64::from(total.draws) / as_float((CELLS + 1) * blocks);
            Found {
                value: 1.0 - share,
                // It is a whole number: known to half a block at best.
                error: share * (as_float(most - least) / 2.0).max(0.5) / as_float(blocks),
            }
        };
        let row = |what: &str, claim, found| {
            let case = format!("effects {}{what}", self.name);
            Row::new(GROUP, case, Scale::Share, Some(claim), found, total)
        };
        vec![
            row(": they leave", self.leaving, saved(0)),
            row(": they stay", self.staying, saved(1)),
        ]
    }
}

/// The least fixed number of blocks that decides so many cells on average.
fn blocks_for(total: &Total, decided: f64) -> usize {
    let enough = decided * f64::from(total.draws);
    let mut fixed = total.sums[FIXED..].iter().zip(FEWEST_BLOCKS..);
    fixed
        .find(|(decided, _)| **decided >= enough)
        .map_or(MOST_BLOCKS, |(_, blocks)| blocks)
}
