//! Why a platform costs what it costs: the share of each mechanism in its gap to the baseline.
//!
//! A results file tells it where it has the platform, the same without some of its mechanisms, and without all. The gap of a
//! cell is its typical cost less 1, block by block; what a mechanism adds is its Shapley value, and what is left with all
//! of them off is the rest ([`Design`]).

use crate::run::{Analysis, BlockCost, Comparison, Estimate, Evidence, FEWEST_PAIRS, InKernel, Word};
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::mechanism::{MECHANISMS, Mechanism, Switch};
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::study::{BoxKind, Cell};
use tare_stats::{Added, Design, Gaps, Share, TEstimate};

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
    /// What it is compared with; a box by quota may be compared with a pinned baseline.
    pub baseline: Cell,
    /// Blocks that have a figure of each cell.
    pub blocks: usize,
    /// The cost over the baseline's, less 1; absent in under two blocks.
    pub gap: Option<Estimate>,
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
    /// What switches it off: an option such as `seccomp=off`, or `pinned`.
    #[serde(serialize_with = "as_words")]
    #[schemars(with = "String")]
    pub off_by: Switch,
    /// What a deployment can do about its cost.
    pub remedy: &'static str,
    /// Absent where the cells do not tell it from others.
    #[serde(flatten)]
    pub amount: Option<Amount>,
    /// What the kernel spends on it in functions that do its work alone; absent where nobody looked, or where none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_kernel: Option<InKernel>,
    /// Whether that agrees with what was measured; absent where either is not known or the mechanism is not shown to add anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Agreement>,
}

fn as_words<S: serde::Serializer>(switch: &Switch, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(switch)
}

impl Gap {
    /// Whether a cell is this one without some of its mechanisms.
    pub fn has_variant(&self, cell: &Cell) -> bool {
        let is_it =
            |of: &Switched| of.platform == cell.kind.platform && of.provisioning == cell.kind.provisioning;
        let is_beside = cell.workload == self.cell.workload && cell.kind.instance == self.cell.kind.instance;
        is_beside && *cell != self.cell && self.cells.iter().any(is_it)
    }

    /// Whether options of the platform were switched: that a quota was is known of any study with both provisionings.
    pub fn has_options(&self) -> bool {
        self.parts.iter().any(|part| part.off_by != Switch::Pinning)
    }
}

impl Part {
    /// What the box would save without it, if the mechanism is shown to cost something.
    pub fn saving(&self) -> Option<Estimate> {
        let amount = self.amount.filter(|amount| amount.has_part)?;
        amount.saves.filter(|saves| saves.low > 0.0)
    }
}

/// What the kernel's functions and states of a mechanism say of what was measured; `None` if that is not shown.
fn agreement(amount: Amount, seen: InKernel) -> Option<Agreement> {
    let measured = amount.adds;
    if !amount.has_part {
        return None;
    }
    let open = 2.0 * seen.standard_error;
    let sign = measured.value.signum();
    // As if the mechanism added something.
    let (low, high) = (sign * seen.adds - open, sign * seen.adds + open);
    let (least, most) = if sign > 0.0 {
        (measured.low, measured.high)
    } else {
        (-measured.high, -measured.low)
    };
    let is_close = (seen.adds - measured.value).abs() <= CLOSE * measured.value.abs();
    Some(match () {
        () if high < 0.0 => Agreement::Contradicts,
        () if low <= 0.0 => Agreement::SeesNothing,
        () if is_close || low <= most && high >= least => Agreement::Agrees,
        () if high < least => Agreement::SeesPart,
        () => Agreement::SeesMore,
    })
}

/// What the kernel's own figure of a mechanism says of the measured one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// The same within a fifth, or within what both leave open.
    Agrees,
    /// Less: what a mechanism makes others do is not in its functions.
    SeesPart,
    /// Nothing that is shown.
    SeesNothing,
    /// More than was measured.
    SeesMore,
    /// The opposite.
    Contradicts,
}

impl Agreement {
    /// As it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::SeesPart => "sees part",
            Self::SeesNothing => "sees nothing",
            Self::SeesMore => "sees more",
            Self::Contradicts => "contradicts",
        }
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
    /// What the box would save of its whole cost without it: by the cell that lacks this mechanism alone, else as the mean over
    /// all orders.
    pub saves: Option<Estimate>,
    /// Whether it is shown to add something, or to take something off: the p value of adding nothing is under 5 %, that of
    /// mechanisms after Holm's correction for all of the gap.
    pub has_part: bool,
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
    pub platform: PlatformPath,
    pub provisioning: Provisioning,
    /// Its cost over the baseline's, less 1.
    pub gap: Option<Estimate>,
}

/// Why a gap is not shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoShares {
    /// Under ten blocks have all cells.
    TooFewBlocks,
    /// A cell has no verdict: the report gives the reasons.
    NoVerdict,
    /// Whether it costs more or less than the baseline is not shown.
    NoGap,
}

/// What of a file's costs is whose.
pub fn why(analysis: &Analysis) -> Why {
    Why {
        schema: SCHEMA,
        baseline: analysis.study.baseline.clone(),
        gaps: analysis.gaps.clone(),
    }
}

/// The gaps of which the cells tell what they consist of.
pub(crate) fn gaps(analysis: &Analysis) -> Vec<Gap> {
    let gap_of = |whole: &Comparison| {
        let corners = corners(analysis, whole);
        // Those of which it is a variant tell of it.
        let has_it = |of: &Corner<'_>| {
            of.kind.provisioning == whole.cell.kind.provisioning
                && switched_off(of.kind, &whole.cell.kind).is_some_and(|off| off != 0)
        };
        (!corners.iter().any(has_it)).then(|| gap(analysis, whole, &corners))?
    };
    let mut all: Vec<Gap> = analysis.comparisons.iter().filter_map(gap_of).collect();
    // A box by quota has one answer: that in which the quota is a mechanism too.
    let has_quota = |gap: &Gap| gap.parts.iter().any(|part| part.off_by == Switch::Pinning);
    let by_quota: Vec<Cell> = all
        .iter()
        .filter(|gap| has_quota(gap))
        .map(|gap| gap.cell.clone())
        .collect();
    all.retain(|gap| has_quota(gap) || !by_quota.contains(&gap.cell));
    all.sort_by_key(|gap| gap.no_shares.is_some());
    all
}

/// A kind of box with what it costs, block by block; the baseline itself has nothing to be compared with.
struct Corner<'a> {
    kind: &'a BoxKind,
    course: Option<&'a [BlockCost]>,
    /// Whether its cost has a verdict.
    is_judged: bool,
}

impl Corner<'_> {
    /// Its cost over the baseline's, less 1.
    fn gap_in(&self, block: u32) -> Option<f64> {
        let Some(course) = self.course else {
            return Some(0.0);
        };
        course.iter().find(|of| of.block == block).map(|of| of.cost - 1.0)
    }
}

/// All that is compared with the same baseline, and that baseline.
fn corners<'a>(analysis: &'a Analysis, whole: &'a Comparison) -> Vec<Corner<'a>> {
    let is_beside =
        |of: &&Comparison| of.baseline == whole.baseline && of.cell.workload == whole.cell.workload;
    let compared = analysis.comparisons.iter().filter(is_beside);
    let baseline = Corner {
        kind: &whole.baseline.kind,
        course: None,
        is_judged: true,
    };
    compared
        .map(|of| Corner {
            kind: &of.cell.kind,
            course: Some(&of.course),
            is_judged: of.word() != Word::None,
        })
        .chain([baseline])
        .collect()
}

/// The set of mechanisms, a bit for each, without which one kind of box is another one; `None` if it never is.
fn switched_off(whole: &BoxKind, kind: &BoxKind) -> Option<u32> {
    let mut without = whole.clone();
    let mut set = 0;
    for (i, mechanism) in MECHANISMS.iter().enumerate() {
        if mechanism.is_off(kind) && !mechanism.is_off(whole) {
            without = mechanism.without(&without);
            set |= 1 << i;
        }
    }
    (without == *kind).then_some(set)
}

/// The gap of a kind of box, if its variants tell what it consists of.
fn gap(analysis: &Analysis, whole: &Comparison, corners: &[Corner<'_>]) -> Option<Gap> {
    let off_in = |of: &Corner<'_>| switched_off(&whole.cell.kind, of.kind);
    let (offs, cells): (Vec<u32>, Vec<&Corner<'_>>) =
        corners.iter().filter_map(|of| Some((off_in(of)?, of))).unzip();
    let ever = offs.iter().fold(0, |all, off| all | off);
    let switched: Vec<usize> = (0..MECHANISMS.len()).filter(|i| ever >> i & 1 == 1).collect();
    // Among those that are switched at all: which are on.
    let on = |off: &u32| {
        let places = switched.iter().enumerate();
        places
            .filter(|(_, i)| off >> **i & 1 == 0)
            .fold(0, |set, (place, _)| set | 1 << place)
    };
    let sets: Vec<u32> = offs.iter().map(on).collect();
    let design = Design::of(switched.len(), &sets)?;
    let names: Vec<Mechanism> = switched.iter().map(|i| MECHANISMS[*i]).collect();
    let in_block = |of: &BlockCost| cells.iter().map(|cell| cell.gap_in(of.block)).collect();
    let by_block = whole.course.iter().filter_map(in_block).collect();
    // As the report widens the interval of the cost.
    let paired = whole.primary().and_then(|metric| metric.paired.as_ref());
    let gaps = Gaps::new(&design, by_block, paired.map_or(1.0, |paired| paired.widening))?;
    let evidence = analysis.evidence_between(&whole.cell, &whole.baseline);
    Some(shared_out(whole, &cells, &gaps, &names, evidence.as_ref()))
}

fn estimate(of: TEstimate) -> Option<Estimate> {
    Estimate::new(of.mean, of.interval)
}

fn amount(added: Added, no_shares: Option<NoShares>) -> Option<Amount> {
    // What a mechanism adds may be shown where the gap is not: another may make up for it.
    let is_judged = matches!(no_shares, None | Some(NoShares::NoGap));
    let of = |share: Option<Share>, is_known: bool| {
        let share = share.filter(|_| is_known)?;
        Estimate::new(share.share, share.interval)
    };
    Some(Amount {
        adds: estimate(added.adds)?,
        share: of(added.share, no_shares.is_none()),
        saves: of(added.saves, is_judged),
        has_part: is_judged && added.has_part(),
    })
}

/// Why there are no shares, if there are none: what the report does not judge has none.
fn no_shares(whole: &Comparison, corners: &[&Corner<'_>], gaps: &Gaps<'_>) -> Option<NoShares> {
    let is_open = whole
        .ratio()
        .is_none_or(|cost| cost.low <= 1.0 && cost.high >= 1.0);
    if gaps.blocks() < FEWEST_PAIRS {
        Some(NoShares::TooFewBlocks)
    } else if corners.iter().any(|corner| !corner.is_judged) {
        Some(NoShares::NoVerdict)
    } else {
        (is_open || !gaps.is_shown()).then_some(NoShares::NoGap)
    }
}

fn shared_out(
    whole: &Comparison,
    corners: &[&Corner<'_>],
    gaps: &Gaps<'_>,
    mechanisms: &[Mechanism],
    evidence: Option<&Evidence>,
) -> Gap {
    let no_shares = no_shares(whole, corners, gaps);
    let amount = |added: Option<Added>| amount(added?, no_shares);
    let part = |(mechanism, added): (&Mechanism, Option<Added>)| {
        let amount = amount(added);
        let in_kernel = evidence.and_then(|evidence| evidence.of_mechanism(mechanism));
        Part {
            mechanism: mechanism.name,
            off_by: mechanism.switch,
            remedy: mechanism.remedy,
            amount,
            in_kernel,
            agreement: amount
                .zip(in_kernel)
                .and_then(|(amount, seen)| agreement(amount, seen)),
        }
    };
    let mut parts: Vec<Part> = mechanisms.iter().zip(gaps.factors()).map(part).collect();
    let size = |part: &Part| {
        part.amount
            .map_or(f64::NEG_INFINITY, |amount| amount.adds.value.abs())
    };
    parts.sort_by(|a, b| size(b).total_cmp(&size(a)));
    Gap {
        cell: whole.cell.clone(),
        baseline: whole.baseline.clone(),
        blocks: gaps.blocks(),
        gap: gaps.gap().and_then(estimate),
        parts,
        rest: amount(gaps.rest()),
        interactions: interactions(gaps, mechanisms),
        no_shares,
        cells: corners
            .iter()
            .zip(gaps.cells())
            .map(|(corner, gap)| switched(corner, gap))
            .collect(),
    }
}

fn interactions(gaps: &Gaps<'_>, mechanisms: &[Mechanism]) -> Vec<Interaction> {
    let pairs =
        (0..mechanisms.len()).flat_map(|one| (one + 1..mechanisms.len()).map(move |other| (one, other)));
    let told = |(one, other): (usize, usize)| {
        Some(Interaction {
            mechanisms: [mechanisms[one].name, mechanisms[other].name],
            adds: estimate(gaps.interaction(one, other)?)?,
        })
    };
    pairs.filter_map(told).collect()
}

fn switched(corner: &Corner<'_>, gap: Option<TEstimate>) -> Switched {
    Switched {
        platform: corner.kind.platform.clone(),
        provisioning: corner.kind.provisioning,
        gap: gap.and_then(estimate),
    }
}
