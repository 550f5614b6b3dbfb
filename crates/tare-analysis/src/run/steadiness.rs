//! Whether a platform is steadier than its baseline.

use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use tare_stats::{LEVEL, holm, steadiness};

/// Level of the corrected p values.
const ALPHA: f64 = 0.05;

/// The noise of a cell over that of its baseline, without slow drift. Over 1 is
/// less steady.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Steady {
    /// The steadiness ratio.
    pub value: f64,
    /// Lower end of its 95 % interval; from 30 pairs on.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// p of the ratio being 1.
    pub p: Option<f64>,
    /// The same after Holm's correction; primary metrics only, a family of its own.
    pub p_holm: Option<f64>,
    /// The verdict; primary metrics only, from 30 pairs on.
    pub verdict: Option<Steadiness>,
}

/// Verdict on a steadiness ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Steadiness {
    /// Less noise than the baseline.
    Steadier,
    /// More noise.
    LessSteady,
    /// Not decided by these blocks.
    Inconclusive,
}

impl fmt::Display for Steadiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Steadier => "steadier",
            Self::LessSteady => "less steady",
            Self::Inconclusive => "inconclusive",
        })
    }
}

/// The ratio of pairs in the order of the blocks. Nobody looked at it while the
/// study grew, so its level is that of a fixed number of blocks.
pub(super) fn ratio(x: &[f64], y: &[f64]) -> Option<Steady> {
    let found = steadiness(x, y, LEVEL)?;
    Some(Steady {
        value: found.ratio,
        low: found.spread.map(|s| s.interval.low),
        high: found.spread.map(|s| s.interval.high),
        p: found.spread.map(|s| s.p),
        p_holm: None,
        verdict: None,
    })
}

/// Corrects the p values of a family of ratios, and judges each.
pub(crate) fn judge<'a>(family: impl Iterator<Item = &'a mut Steady>) {
    let mut judged: Vec<&mut Steady> = family.collect();
    let p: Vec<_> = judged.iter().map(|s| s.p).collect();
    for (steady, p_holm) in judged.iter_mut().zip(holm(&p)) {
        steady.p_holm = p_holm;
        steady.verdict = verdict(steady);
    }
}

fn verdict(steady: &Steady) -> Option<Steadiness> {
    let (low, high, p) = (steady.low?, steady.high?, steady.p_holm?);
    Some(if p <= ALPHA && low > 1.0 {
        Steadiness::LessSteady
    } else if p <= ALPHA && high < 1.0 {
        Steadiness::Steadier
    } else {
        Steadiness::Inconclusive
    })
}
