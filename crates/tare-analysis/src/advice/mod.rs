//! Platform by workload, by what was measured and by nothing else.
//!
//! A platform is held against the baseline, as everywhere: two others are told apart only where
//! their intervals do not meet. Not measured is said, and never guessed.

mod choices;
mod pinning;
mod rules;
mod savings;
mod weights;

pub use choices::{Choice, Setting};
pub use pinning::Pinning;
pub use rules::{Held, Outcome, Row, Rule};
pub use savings::Saving;
pub use weights::{Criterion, Turn, Weights, Winner};

use crate::run::{Analysis, SizeEffect};
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::platform::{PlatformPath, Provisioning};

/// Name and version of the advice as JSON.
pub const SCHEMA: &str = "tare-advice/1";

/// What a file advises.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Advice {
    /// Name and version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// The platforms of each workload, provisioning and size, the cheapest first.
    pub settings: Vec<Setting>,
    /// Pinned against a quota, where both were measured.
    pub pinning: Vec<Pinning>,
    /// What boxes would save without one of their mechanisms, what saves most first.
    pub savings: Vec<Saving>,
    /// The smallest sizes whose overhead is within the margin of that of the largest.
    pub sizes: Vec<SmallestSize>,
    /// Best practices of studies, held against the data.
    pub rules: Vec<Held>,
    /// Not measured.
    pub missing: Vec<Missing>,
}

/// From which size on a platform costs no more than at the largest.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct SmallestSize {
    pub platform: PlatformPath,
    /// How its CPUs are granted.
    pub provisioning: Provisioning,
    pub workload: String,
    /// CPUs from which on it is shown to be within the margin; absent if at no size.
    pub cpus: Option<f64>,
    /// The same over the host's CPUs.
    pub chr: Option<f64>,
}

/// Something that advice would need and the file has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// Only one way of granting CPUs was measured.
    OtherProvisioning,
    /// Only one size of box was measured.
    OtherSizes,
    /// Under 30 pairs, steadiness has no verdict.
    Steadiness,
    /// Only one host, boot and build was measured.
    OtherHosts,
    /// The machines measured were emulated, without hardware support.
    RealMachines,
    /// Some platforms have no figure.
    FailedPlatforms,
}

/// The advice of a file, with these weights on what counts besides the typical cost.
pub fn advise(analysis: &Analysis, weights: &Weights) -> Advice {
    Advice {
        schema: SCHEMA,
        settings: choices::all(analysis, weights),
        pinning: pinning::all(analysis),
        savings: savings::all(analysis),
        sizes: analysis.size_effects.effects.iter().map(smallest).collect(),
        rules: rules::all(analysis),
        missing: missing(analysis),
    }
}

fn smallest(effect: &SizeEffect) -> SmallestSize {
    let within = effect.range.within.filter(|_| effect.class.is_some());
    SmallestSize {
        platform: effect.platform.clone(),
        provisioning: effect.provisioning,
        workload: effect.workload.clone(),
        cpus: within.map(|end| end.cpus),
        chr: within.and_then(|end| end.chr),
    }
}

fn missing(analysis: &Analysis) -> Vec<Missing> {
    let study = &analysis.study;
    let judged = |c: &crate::run::Comparison| {
        c.primary()
            .and_then(|m| m.steadiness.as_ref())
            .is_some_and(|s| s.verdict.is_some())
    };
    let has_figure = |platform: &PlatformPath| {
        let mut of = analysis
            .cells
            .iter()
            .filter(|c| c.cell.kind.platform == *platform);
        of.any(|cell| cell.metrics.iter().any(|m| m.n > 0))
    };
    let emulated = study.platforms.iter().any(|p| analysis.is_emulated(p));
    let all = [
        (study.provisioning.len() < 2, Missing::OtherProvisioning),
        (study.instances.len() < 2, Missing::OtherSizes),
        (!analysis.asked().any(judged), Missing::Steadiness),
        (emulated, Missing::RealMachines),
        (!study.platforms.iter().all(has_figure), Missing::FailedPlatforms),
        (true, Missing::OtherHosts),
    ];
    all.into_iter()
        .filter(|(is_missing, _)| *is_missing)
        .map(|(_, what)| what)
        .collect()
}
