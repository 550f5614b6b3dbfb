//! Which study defines which score.

use schemars::JsonSchema;
use serde::Serialize;

/// A score: its formula, the study that defines it, and what else to know.
#[derive(Debug, Clone, Copy, JsonSchema, Serialize)]
pub struct Definition {
    /// Its name in tables.
    pub score: &'static str,
    /// Its formula; M is a mean, S a standard deviation, b the baseline.
    pub formula: &'static str,
    /// The study, or `tare`.
    pub defined_by: &'static str,
    /// What else to know.
    pub remark: &'static str,
}

/// Every score of the analysis.
pub const DEFINITIONS: &[Definition] = &[
    Definition {
        score: "performance overhead (Op)",
        formula: "|M - Mb| / Mb",
        defined_by: "li2018",
        remark: "unsigned; printed with slower or faster, marked as ignored below 1 %",
    },
    Definition {
        score: "Loss",
        formula: "(M - Mb) / Mb for times, (Mb - M) / Mb for rates",
        defined_by: "li2018",
        remark: "signed: positive is worse",
    },
    Definition {
        score: "variability overhead",
        formula: "(S - Sb) / Sb, 0 where negative",
        defined_by: "li2018",
        remark: "the study has no formula for variability, which tare takes as the standard deviation",
    },
    Definition {
        score: "standardised score",
        formula: "M / max over platforms for rates, min over platforms / M for times",
        defined_by: "li2018",
        remark: "0 to 1, 1 is the best platform of the file; none for a platform that seems better but did less work; without interval or verdict",
    },
    Definition {
        score: "rounds overhead",
        formula: "(Rb - R) / Rb of whole rounds in a fixed time",
        defined_by: "li2018",
        remark: "not computed: no metric of tare counts rounds",
    },
    Definition {
        score: "overhead ratio",
        formula: "M / Mb for times, Mb / M for rates",
        defined_by: "ghatrehsamani2020",
        remark: "the ratio of means in these tables; the study has only times",
    },
    Definition {
        score: "PTO, PSO",
        formula: "r(largest) - 1, r(smallest) / r(largest) - 1",
        defined_by: "ghatrehsamani2020",
        remark: "the study describes them without formulas; these and the verdicts are tare's",
    },
    Definition {
        score: "CHR",
        formula: "CPUs of the box / CPUs of the host",
        defined_by: "ghatrehsamani2020",
        remark: "",
    },
    Definition {
        score: "steadiness",
        formula: "D / Db, where D^2 is half the mean of (ln x - ln x of the block before)^2",
        defined_by: "tare",
        remark: "with a verdict of its own from 30 pairs on",
    },
    Definition {
        score: "paired ratio",
        formula: "exp(mean of ln ratios within blocks)",
        defined_by: "tare",
        remark: "the headline; its verdict is that of the comparison",
    },
];
