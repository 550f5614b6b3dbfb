//! Why a platform costs what it costs: the share of each mechanism in its gap to the baseline.
//!
//! A results file tells it where it has the platform, the same without some of its mechanisms, and without all. The gap of a
//! cell is its typical cost less 1, block by block; what a mechanism adds is its Shapley value, and what is left with all
//! of them off is the rest ([`Design`]).

use crate::run::{Analysis, Comparison, Estimate, Evidence, FEWEST_PAIRS, InFunctions};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use tare_model::mechanism::Mechanism;
use tare_model::platform::PlatformPath;
use tare_model::study::{Against, Cell};
use tare_stats::{Design, LEVEL, share, t_estimate};

/// Name and version of this format.
pub const SCHEMA: &str = "tare-why/1";

/// What the costs of a file consist of.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Why {
    /// Name and version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// The platform with which the others are compared.
    pub baseline: PlatformPath,
    /// Each platform that is there with and without mechanisms, by workload, provisioning and size.
    pub gaps: Vec<Gap>,
}

/// What a cell costs more than its baseline, and what of it is whose.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Gap {
    /// With all mechanisms on.
    #[serde(flatten)]
    pub cell: Cell,
    /// Blocks that have a figure of each cell.
    pub blocks: usize,
    /// The cost over the baseline's, less 1; absent in under two blocks.
    pub cost: Option<Estimate>,
    /// What each mechanism adds to that, what adds most first.
    pub parts: Vec<Part>,
    /// What is left with all of them off.
    pub rest: Option<Amount>,
    /// What two mechanisms do together beyond the sum of each, where the design tells.
    pub interactions: Vec<Interaction>,
    /// Why there are no shares.
    pub no_shares: Option<NoShares>,
    /// The cells by which all this is told: the cost of each over the baseline's, less 1.
    pub cells: Vec<Switched>,
}

/// A mechanism's part in a gap.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Part {
    /// What the mechanism is.
    pub mechanism: &'static str,
    /// The option that switches it off, such as `seccomp=off`.
    pub off_by: String,
    /// Absent where the cells do not tell it from others.
    #[serde(flatten)]
    pub amount: Option<Amount>,
    /// What the kernel spends on it in functions that do its work alone; absent where nobody looked, or where none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_kernel: Option<InFunctions>,
}

impl Part {
    /// Whether what was measured and what was seen in the kernel are the same within a fifth, or within what both leave open;
    /// `None` if one of them is not known, or neither is shown to add anything.
    pub fn agrees(&self) -> Option<bool> {
        let (measured, seen) = (self.amount?.adds, self.in_kernel?);
        let open = 2.0 * seen.standard_error;
        let (low, high) = (seen.adds - open, seen.adds + open);
        if low <= 0.0 && high >= 0.0 && measured.low <= 0.0 && measured.high >= 0.0 {
            return None;
        }
        let is_close = (seen.adds - measured.value).abs() <= CLOSE * measured.value.abs();
        Some(is_close || low <= measured.high && high >= measured.low)
    }
}

/// What was measured and what was seen may differ by so much of the former and agree.
const CLOSE: f64 = 0.2;

/// What something adds to a gap.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize)]
pub struct Amount {
    /// In terms of the baseline's cost: 0.1 is a tenth of it.
    pub adds: Estimate,
    /// Over the gap; absent if there are no shares.
    pub share: Option<Estimate>,
}

/// Two mechanisms together.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Interaction {
    /// Their names.
    pub mechanisms: [&'static str; 2],
    /// What they add together beyond the sum of each.
    pub adds: Estimate,
}

/// A cell with some mechanisms off.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Switched {
    /// Its path.
    pub platform: PlatformPath,
    /// Its cost over the baseline's, less 1.
    pub cost: Option<Estimate>,
}

/// Why a gap is not shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoShares {
    /// Under ten blocks have all cells.
    TooFewBlocks,
    /// Whether it costs more or less than the baseline is not shown.
    NoGap,
}

/// What of a file's costs is whose, by these mechanisms.
pub fn why(analysis: &Analysis, mechanisms: &[Mechanism]) -> Why {
    let of_platforms = analysis.comparisons.iter();
    let compared: Vec<&Comparison> = of_platforms.filter(|c| c.against == Against::Native).collect();
    let gap_of = |whole: &&Comparison| {
        let beside: Vec<&Comparison> = compared.iter().copied().filter(|c| is_beside(c, whole)).collect();
        let is_variant =
            |of: &&Comparison| switched_off(path(of), path(whole), mechanisms).is_some_and(|off| off != 0);
        // Those of which it is a variant tell of it.
        let evidence = analysis.evidence.iter().find(|of| of.cell == whole.cell);
        (!beside.iter().any(is_variant)).then(|| gap(whole, &beside, mechanisms, evidence))?
    };
    Why {
        schema: SCHEMA,
        baseline: analysis.study.baseline.clone(),
        gaps: compared.iter().filter_map(gap_of).collect(),
    }
}

fn path(compared: &Comparison) -> &PlatformPath {
    &compared.cell.kind.platform
}

/// Whether two differ in their platforms alone.
fn is_beside(one: &Comparison, other: &Comparison) -> bool {
    let setting = |compared: &Comparison| {
        let Cell { kind, workload } = &compared.cell;
        (kind.provisioning, kind.instance.clone(), workload.clone())
    };
    setting(one) == setting(other)
}

/// The set of mechanisms, a bit for each, without which a platform is another one; `None` if it never is.
fn switched_off(whole: &PlatformPath, path: &PlatformPath, mechanisms: &[Mechanism]) -> Option<u32> {
    let off = |mechanism: &Mechanism| mechanism.is_off(path) && !mechanism.is_off(whole);
    let mut without = whole.clone();
    let mut set = 0;
    for (i, mechanism) in mechanisms
        .iter()
        .enumerate()
        .filter(|(_, mechanism)| off(mechanism))
    {
        without = mechanism.without(&without);
        set |= 1 << i;
    }
    (without == *path).then_some(set)
}

/// The gap of a platform, if its variants tell what it consists of.
fn gap(
    whole: &Comparison,
    beside: &[&Comparison],
    mechanisms: &[Mechanism],
    evidence: Option<&Evidence>,
) -> Option<Gap> {
    let off_in = |of: &Comparison| switched_off(path(whole), path(of), mechanisms);
    let variants: Vec<(u32, &Comparison)> = beside.iter().filter_map(|of| Some((off_in(of)?, *of))).collect();
    let ever = variants.iter().fold(0, |all, (off, _)| all | off);
    let switched: Vec<usize> = (0..mechanisms.len()).filter(|i| ever >> i & 1 == 1).collect();
    // Among those that are switched at all: which are on.
    let on = |off: u32| {
        let places = switched.iter().enumerate();
        places
            .filter(|(_, i)| off >> **i & 1 == 0)
            .fold(0, |set, (place, _)| set | 1 << place)
    };
    let sets: Vec<u32> = variants.iter().map(|(off, _)| on(*off)).collect();
    let cells: Vec<&Comparison> = variants.iter().map(|(_, compared)| *compared).collect();
    let design = Design::of(switched.len(), &sets)?;
    let names: Vec<Mechanism> = switched.iter().map(|i| mechanisms[*i]).collect();
    let mut gap = shared_out(&whole.cell, &Measured::of(&cells, &sets), &design, &names);
    for part in &mut gap.parts {
        let functions = names
            .iter()
            .find(|of| of.name == part.mechanism)
            .map(|of| of.functions);
        part.in_kernel = evidence
            .zip(functions)
            .and_then(|(evidence, functions)| evidence.in_functions(functions));
    }
    Some(gap)
}

/// The cells of a design with their gaps in the blocks that all of them have.
struct Measured<'a> {
    cells: &'a [&'a Comparison],
    /// By block, of each cell.
    gaps: Vec<Vec<f64>>,
    /// Where all mechanisms are on, and where none is.
    whole: Vec<f64>,
    rest: Vec<f64>,
}

impl<'a> Measured<'a> {
    fn of(cells: &'a [&'a Comparison], sets: &[u32]) -> Self {
        let course = |cell: &&Comparison| -> BTreeMap<u32, f64> {
            cell.course.iter().map(|of| (of.block, of.cost - 1.0)).collect()
        };
        let courses: Vec<BTreeMap<u32, f64>> = cells.iter().map(course).collect();
        let in_block = |block: &u32| courses.iter().map(|course| course.get(block).copied()).collect();
        let blocks = courses.first().into_iter().flat_map(BTreeMap::keys);
        let gaps: Vec<Vec<f64>> = blocks.filter_map(in_block).collect();
        let (first, last) = (sets.iter().min(), sets.iter().max());
        let of_set = |set: Option<&u32>| {
            let place = sets.iter().position(|one| Some(one) == set).unwrap_or(0);
            gaps.iter().map(|block| block[place]).collect()
        };
        Self {
            cells,
            whole: of_set(last),
            rest: of_set(first),
            gaps,
        }
    }

    /// Block by block, the sum of what the cells cost with these weights.
    fn weighted(&self, weights: &[f64]) -> Vec<f64> {
        let sum = |block: &Vec<f64>| block.iter().zip(weights).map(|(gap, weight)| gap * weight).sum();
        self.gaps.iter().map(sum).collect()
    }

    fn amount(&self, adds: &[f64], has_shares: bool) -> Option<Amount> {
        let of_whole = share(adds, &self.whole, LEVEL).filter(|_| has_shares);
        Some(Amount {
            adds: mean_of(adds)?,
            share: of_whole.and_then(|of| Estimate::new(of.share, of.interval)),
        })
    }
}

fn mean_of(values: &[f64]) -> Option<Estimate> {
    let told = t_estimate(values, LEVEL, 1.0)?;
    Estimate::new(told.mean, told.interval)
}

fn shared_out(cell: &Cell, measured: &Measured<'_>, design: &Design, mechanisms: &[Mechanism]) -> Gap {
    let cost = mean_of(&measured.whole);
    let blocks = measured.gaps.len();
    let no_shares = if blocks < FEWEST_PAIRS {
        Some(NoShares::TooFewBlocks)
    } else {
        cost.is_none_or(|cost| cost.low <= 0.0 && cost.high >= 0.0)
            .then_some(NoShares::NoGap)
    };
    let amount =
        |weights: Option<Vec<f64>>| measured.amount(&measured.weighted(&weights?), no_shares.is_none());
    let part = |(i, mechanism): (usize, &Mechanism)| Part {
        mechanism: mechanism.name,
        off_by: format!("{}={}", mechanism.option, mechanism.off),
        amount: amount(design.value(i)),
        in_kernel: None,
    };
    let mut parts: Vec<Part> = mechanisms.iter().enumerate().map(part).collect();
    let size = |part: &Part| {
        part.amount
            .map_or(f64::NEG_INFINITY, |amount| amount.adds.value.abs())
    };
    parts.sort_by(|a, b| size(b).total_cmp(&size(a)));
    Gap {
        cell: cell.clone(),
        blocks,
        cost,
        parts,
        rest: measured.amount(&measured.rest, no_shares.is_none()),
        interactions: interactions(measured, design, mechanisms),
        no_shares,
        cells: measured
            .cells
            .iter()
            .enumerate()
            .map(|(i, cell)| switched(measured, i, cell))
            .collect(),
    }
}

fn interactions(measured: &Measured<'_>, design: &Design, mechanisms: &[Mechanism]) -> Vec<Interaction> {
    let pairs =
        (0..mechanisms.len()).flat_map(|one| (one + 1..mechanisms.len()).map(move |other| (one, other)));
    let told = |(one, other): (usize, usize)| {
        let weights = design.interaction(one, other)?;
        Some(Interaction {
            mechanisms: [mechanisms[one].name, mechanisms[other].name],
            adds: mean_of(&measured.weighted(&weights))?,
        })
    };
    pairs.filter_map(told).collect()
}

fn switched(measured: &Measured<'_>, place: usize, cell: &Comparison) -> Switched {
    let gaps: Vec<f64> = measured.gaps.iter().map(|block| block[place]).collect();
    Switched {
        platform: path(cell).clone(),
        cost: mean_of(&gaps),
    }
}
