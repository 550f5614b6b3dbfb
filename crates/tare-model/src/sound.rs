//! What no options can make of a study. A report is given any file, and a header that says
//! such a thing was altered, or was written by something else than tare.

use crate::digits::digits;
use crate::host::HostFacts;
use crate::study::{Protocol, Study};
use std::fmt;

/// Something in a header that none can say which a run wrote.
#[derive(Debug, Clone, PartialEq)]
pub enum Unsound {
    /// A number of blocks that no study has.
    Blocks(u32),
    /// A margin that is none.
    Margin(f64),
    /// A length that no trial has.
    TrialSeconds(f64),
    /// There is no box at all.
    NoSize,
    /// Boxes of this size have no CPUs.
    NoCpus,
    /// Boxes of this size have no memory.
    NoMemory,
}

impl fmt::Display for Unsound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocks(blocks) => write!(f, "{blocks} blocks"),
            Self::Margin(margin) => write!(f, "a margin of {} %", digits(100.0 * margin, 3)),
            Self::TrialSeconds(seconds) => write!(f, "trials of {} s", digits(*seconds, 3)),
            Self::NoSize => f.write_str("boxes of no size"),
            Self::NoCpus => f.write_str("boxes of 0 CPUs"),
            Self::NoMemory => f.write_str("boxes without memory"),
        }
    }
}

/// All that is unsound in a study; empty as a rule.
pub fn faults(study: &Study) -> Vec<Unsound> {
    let Protocol {
        blocks,
        margin,
        trial_seconds,
        ..
    } = study.protocol;
    let sizes = || study.instances.iter().map(|instance| instance.size);
    // A number that is none lies in no range.
    let faults = [
        (!Protocol::BLOCKS.contains(&blocks), Unsound::Blocks(blocks)),
        (!is_margin(margin), Unsound::Margin(margin)),
        (
            !Protocol::TRIAL_SECONDS.contains(&trial_seconds),
            Unsound::TrialSeconds(trial_seconds),
        ),
        (study.instances.is_empty(), Unsound::NoSize),
        (sizes().any(|size| size.cpus.milli() == 0), Unsound::NoCpus),
        (sizes().any(|size| size.memory_bytes == 0), Unsound::NoMemory),
    ];
    let found = faults.into_iter().filter(|(is_there, _)| *is_there);
    found.map(|(_, fault)| fault).collect()
}

/// Whether a verdict can rest on this margin, a ratio less 1.
pub fn is_margin(margin: f64) -> bool {
    Protocol::MARGINS.contains(&margin)
}

/// What a header does not tell of its host though every run finds it out, in words.
pub fn untold(host: &HostFacts) -> Vec<&'static str> {
    let facts = [(host.cpus == 0, "CPUs"), (host.memory_bytes == 0, "memory")];
    let found = facts.into_iter().filter(|(is_missing, _)| *is_missing);
    found.map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_a_share_that_intervals_can_come_to() {
        for margin in [0.0001, 0.01, 1.0] {
            assert!(is_margin(margin), "{margin}");
        }
        for margin in [0.0, -0.01, 1e9, 1e-9, f64::NAN, f64::INFINITY] {
            assert!(!is_margin(margin), "{margin}");
        }
    }

    #[test]
    fn a_fault_is_told_in_few_words() {
        assert_eq!(Unsound::Blocks(0).to_string(), "0 blocks");
        assert_eq!(Unsound::Margin(1e9).to_string(), "a margin of 1.000e11 %");
        let host = HostFacts {
            cpus: 4,
            ..HostFacts::default()
        };
        assert_eq!(untold(&host), ["memory"]);
    }
}
