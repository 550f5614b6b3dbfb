//! The headline of a comparison.

use super::estimate::Estimate;
use schemars::JsonSchema;
use serde::Serialize;
use tare_stats::PairedInference;

/// The paired ratio exp(mean d) and what belongs to it. d is the loss in logs
/// within one block, positive where the platform is worse.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Paired {
    /// The geometric mean of the ratios within blocks; over 1 costs more.
    #[serde(flatten)]
    pub ratio: Estimate,
    /// Mean of d.
    pub mean_log: f64,
    /// Standard deviation of d.
    pub sd_log: f64,
    /// Factor by which autocorrelation widened the interval.
    pub widening: f64,
    /// p of the paired t test that d is 0.
    pub p: Option<f64>,
    /// p of Wilcoxon's signed-rank test, beside it: it decides nothing.
    pub p_wilcoxon: Option<f64>,
    /// The same after Holm's correction; primary metrics only.
    pub p_holm: Option<f64>,
    /// p of the two one-sided tests that d is within the margin.
    pub p_equal: Option<f64>,
}

impl Paired {
    /// What is reported of an inference, before any correction for many tests. `None` if its
    /// interval says nothing.
    pub(crate) fn of(inference: &PairedInference) -> Option<Self> {
        Some(Self {
            ratio: Estimate::of_logs(inference.mean, inference.interval)?.if_telling()?,
            mean_log: inference.mean,
            sd_log: inference.sd,
            widening: inference.widening,
            p: inference.p_t,
            p_wilcoxon: inference.p_wilcoxon,
            p_holm: None,
            p_equal: inference.p_tost,
        })
    }
}
