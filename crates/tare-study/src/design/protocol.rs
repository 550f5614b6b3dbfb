//! From what is asked of a protocol to the protocol: defaults and ranges.

use super::DesignError;
use crate::looks;
use std::ops::RangeInclusive;
use tare_model::size::show_seconds;
use tare_model::study::{Fresh, Protocol, Slicing, Stopping};

/// Numbers of blocks that a study may have.
pub const BLOCKS: RangeInclusive<u32> = Protocol::BLOCKS;
pub const BLOCKS_IN_WORDS: &str = "a whole number from 1 to 1000000";
/// Margins that a study may have, in words.
pub const MARGINS: &str = "a percentage from 0.01 to 100";
/// Blocks of a study whose number is fixed, where nobody says how many.
const BLOCKS_BY_DEFAULT: u32 = 10;
/// Seconds in which a study is to be decided where nobody says how long it may take.
const BUDGET_SECONDS: f64 = 300.0;
/// How trials are given their time where nobody says.
const SLICING: Slicing = Slicing::AUTO;

/// What is asked of a [`Protocol`], by options or by a study file; what is absent gets
/// its default.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ProtocolOptions {
    pub blocks: Option<u32>,
    /// Let cells leave when they are settled.
    pub adaptive: Option<bool>,
    /// Let them leave when their intervals reach so many percent to either side, and no sooner.
    pub precision_percent: Option<f64>,
    /// Time budget in seconds.
    pub budget_seconds: Option<f64>,
    /// Seconds of blocks that are not recorded, before the first that is.
    pub warm_up_seconds: Option<f64>,
    /// Seconds of rest before each trial.
    pub pause_seconds: Option<f64>,
    /// How long a box is used.
    pub fresh: Option<Fresh>,
    /// How the trials of a block are given their time.
    pub slicing: Option<Slicing>,
    /// Aim for a trial in seconds; 0 runs a command once per trial.
    pub trial_seconds: Option<f64>,
    /// Seconds after which a trial is given up.
    pub timeout_seconds: Option<f64>,
    /// Wait for a quiet host before each trial.
    pub settle: Option<bool>,
    /// Whether the kernel is looked into behind the measured blocks.
    pub evidence: Option<bool>,
    /// Margin of equivalence in percent.
    pub margin_percent: Option<f64>,
    /// Seed of every random order.
    pub seed: Option<u64>,
}

impl ProtocolOptions {
    /// These, and those of `below` where these say nothing.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        Self {
            blocks: self.blocks.or(below.blocks),
            adaptive: self.adaptive.or(below.adaptive),
            precision_percent: self.precision_percent.or(below.precision_percent),
            budget_seconds: self.budget_seconds.or(below.budget_seconds),
            warm_up_seconds: self.warm_up_seconds.or(below.warm_up_seconds),
            pause_seconds: self.pause_seconds.or(below.pause_seconds),
            fresh: self.fresh.or(below.fresh),
            slicing: self.slicing.or(below.slicing),
            trial_seconds: self.trial_seconds.or(below.trial_seconds),
            timeout_seconds: self.timeout_seconds.or(below.timeout_seconds),
            settle: self.settle.or(below.settle),
            evidence: self.evidence.or(below.evidence),
            margin_percent: self.margin_percent.or(below.margin_percent),
            seed: self.seed.or(below.seed),
        }
    }

    /// A protocol with what these ask for instead.
    pub fn on(&self, then: &Protocol) -> Protocol {
        let margin = self.margin_percent.map_or(then.margin, of_percent);
        let asked = self.adaptive.map(|adaptive| stopping(adaptive, margin));
        let asked = self.precision_percent.map(precise).or(asked);
        Protocol {
            blocks: self.blocks.unwrap_or(then.blocks),
            stopping: asked.unwrap_or(then.stopping),
            budget_seconds: self.budget_seconds.or(then.budget_seconds),
            blocks_before_budget: then.blocks_before_budget,
            warm_up_seconds: self.warm_up_seconds.unwrap_or(then.warm_up_seconds),
            pause_seconds: self.pause_seconds.unwrap_or(then.pause_seconds),
            fresh: self.fresh.unwrap_or(then.fresh),
            slicing: self.slicing.unwrap_or(then.slicing),
            trial_seconds: self.trial_seconds.unwrap_or(then.trial_seconds),
            timeout_seconds: self.timeout_seconds.unwrap_or(then.timeout_seconds),
            settle: self.settle.unwrap_or(then.settle),
            margin,
            evidence: self.evidence.unwrap_or(then.evidence),
            seed: self.seed.unwrap_or(then.seed),
        }
    }

    /// How trials are given their time. A command that runs once has no time to be cut.
    pub(super) fn slicing(&self) -> Slicing {
        let runs_once = self.trial_seconds == Some(0.0);
        self.slicing
            .unwrap_or(if runs_once { Slicing::Off } else { SLICING })
    }

    /// The protocol; `once` if a trial of no length is possible, which runs a command once.
    ///
    /// # Errors
    /// [`DesignError::OutOfRange`], [`DesignError::ShortTimeout`].
    pub(super) fn protocol(&self, once: bool) -> Result<Protocol, DesignError> {
        let trial_seconds = trial_seconds(self.trial_seconds, once)?;
        let margin = margin(self.margin_percent)?;
        let stopping = self.stopping(margin)?;
        let by_default = self.says_no_number() && !stopping.is_fixed() && self.budget_seconds.is_none();
        Ok(Protocol {
            blocks: blocks(self.blocks, !stopping.is_fixed())?,
            stopping,
            budget_seconds: if by_default {
                Some(BUDGET_SECONDS)
            } else {
                self.budget_seconds
            },
            blocks_before_budget: if by_default { looks::FEWEST } else { 0 },
            warm_up_seconds: self.warm_up_seconds.unwrap_or(0.0),
            pause_seconds: self.pause_seconds.unwrap_or(0.0),
            fresh: self.fresh.unwrap_or(Fresh::Block),
            slicing: fits(self.slicing(), trial_seconds)?,
            trial_seconds,
            timeout_seconds: timeout(self.timeout_seconds, trial_seconds)?,
            settle: self.settle.unwrap_or(true),
            margin,
            evidence: self.evidence.unwrap_or(false),
            seed: self.seed.unwrap_or_else(random_seed),
        })
    }

    /// Whether nothing says how many blocks there are, but perhaps a budget.
    fn says_no_number(&self) -> bool {
        self.blocks.is_none() && self.adaptive.is_none() && self.precision_percent.is_none()
    }

    /// When a cell has enough blocks. Where nobody says, tare goes on with what is not decided; of boxes that serve a whole
    /// study there is no verdict to wait for.
    fn stopping(&self, margin: f64) -> Result<Stopping, DesignError> {
        if let Some(percent) = self.precision_percent {
            return Ok(precise(percentage("--precision", percent)?));
        }
        let by_default = self.says_no_number() && self.fresh != Some(Fresh::Study);
        Ok(stopping(self.adaptive.unwrap_or(by_default), margin))
    }

    /// The protocol of a study that compares nothing, if nothing was said of when to stop.
    pub(super) fn without_comparisons(&self, protocol: Protocol) -> Protocol {
        if !self.says_no_number() {
            return protocol;
        }
        Protocol {
            blocks: BLOCKS_BY_DEFAULT,
            stopping: Stopping::Fixed,
            budget_seconds: self.budget_seconds,
            blocks_before_budget: 0,
            ..protocol
        }
    }
}

fn blocks(asked: Option<u32>, adaptive: bool) -> Result<u32, DesignError> {
    let blocks = asked.unwrap_or(if adaptive { looks::MOST } else { BLOCKS_BY_DEFAULT });
    if BLOCKS.contains(&blocks) {
        Ok(blocks)
    } else {
        Err(DesignError::OutOfRange {
            what: "--blocks",
            value: blocks.to_string(),
            range: BLOCKS_IN_WORDS,
        })
    }
}

/// A slice that is asked for must fit into a trial; of the usual length it is one round.
fn fits(slicing: Slicing, trial_seconds: f64) -> Result<Slicing, DesignError> {
    match slicing {
        Slicing::Auto {
            seconds,
            found: false,
        } if seconds > trial_seconds => Err(DesignError::OutOfRange {
            what: "--slices",
            value: show_seconds(seconds),
            range: "at most the time of a trial (--trial-time)",
        }),
        _ => Ok(slicing),
    }
}

fn stopping(adaptive: bool, margin: f64) -> Stopping {
    if adaptive {
        Stopping::Adaptive {
            half_width: looks::narrow(margin),
            precise: false,
        }
    } else {
        Stopping::Fixed
    }
}

/// Until intervals reach so many percent to either side.
fn precise(percent: f64) -> Stopping {
    Stopping::Adaptive {
        half_width: of_percent(percent).ln_1p(),
        precise: true,
    }
}

pub(super) fn trial_seconds(asked: Option<f64>, once: bool) -> Result<f64, DesignError> {
    let seconds = asked.unwrap_or(0.5);
    if seconds == 0.0 && !once {
        return Err(DesignError::OutOfRange {
            what: "--trial-time",
            value: "0".to_owned(),
            range: "more than 0 for built-in workloads",
        });
    }
    in_range("--trial-time", seconds, Protocol::TRIAL_SECONDS, "0 s to 1 h")
}

/// Seconds after which a trial that should take so long is given up: a box may be much slower
/// than the host.
pub(super) fn patience(seconds: f64) -> f64 {
    (20.0 * seconds).max(60.0)
}

/// Seconds after which a trial is given up: it must be able to end before.
pub(super) fn timeout(asked: Option<f64>, trial_seconds: f64) -> Result<f64, DesignError> {
    let seconds = asked.unwrap_or_else(|| patience(trial_seconds));
    if seconds > trial_seconds {
        Ok(seconds)
    } else {
        Err(DesignError::ShortTimeout {
            seconds,
            trial_seconds,
        })
    }
}

/// The margin as a ratio less 1.
pub(super) fn margin(percent: Option<f64>) -> Result<f64, DesignError> {
    percentage("--margin", percent.unwrap_or(1.0)).map(of_percent)
}

fn percentage(what: &'static str, percent: f64) -> Result<f64, DesignError> {
    in_range(what, percent, 0.01..=100.0, MARGINS)
}

fn of_percent(percent: f64) -> f64 {
    percent / 100.0
}

fn in_range(
    what: &'static str,
    value: f64,
    bounds: RangeInclusive<f64>,
    range: &'static str,
) -> Result<f64, DesignError> {
    if bounds.contains(&value) {
        Ok(value)
    } else {
        Err(DesignError::OutOfRange {
            what,
            value: plainly(value),
            range,
        })
    }
}

/// A number as people write it; one of hundreds of digits with an exponent.
pub(super) fn plainly(value: f64) -> String {
    if value.abs() < 1e15 || !value.is_finite() {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

fn random_seed() -> u64 {
    use rand::{Rng, SeedableRng};
    let mixed = tare_host::host::unix_ns();
    // Short enough to be typed again.
    u64::from(rand_chacha::ChaCha8Rng::seed_from_u64(mixed).next_u32())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_absent_has_its_default_and_adaptive_goes_on_to_the_last_look() {
        let asked = ProtocolOptions::default();
        let protocol = asked.protocol(false).unwrap();
        assert_eq!((protocol.blocks, protocol.fresh), (looks::MOST, Fresh::Block));
        assert_eq!((protocol.timeout_seconds, protocol.slicing), (60.0, SLICING));
        assert_eq!(
            (protocol.budget_seconds, protocol.blocks_before_budget),
            (Some(300.0), 10)
        );
        // Where there is nothing to wait for, the number is fixed.
        let fixed = asked.without_comparisons(protocol);
        let of_study = ProtocolOptions {
            fresh: Some(Fresh::Study),
            ..asked
        };
        for fixed in [fixed, of_study.protocol(false).unwrap()] {
            assert_eq!(
                (fixed.blocks, fixed.stopping, fixed.budget_seconds),
                (10, Stopping::Fixed, None)
            );
        }
        let adaptive = ProtocolOptions {
            adaptive: Some(true),
            ..asked
        };
        let protocol = adaptive.protocol(false).unwrap();
        assert_eq!((protocol.blocks, protocol.budget_seconds), (looks::MOST, None));
    }

    #[test]
    fn a_number_of_blocks_is_fixed_and_a_budget_or_a_precision_by_itself_is_not() {
        let number = ProtocolOptions {
            blocks: Some(20),
            ..ProtocolOptions::default()
        };
        assert_eq!(number.protocol(false).unwrap().stopping, Stopping::Fixed);
        let budget = ProtocolOptions {
            budget_seconds: Some(60.0),
            ..ProtocolOptions::default()
        };
        let protocol = budget.protocol(false).unwrap();
        assert!(!protocol.stopping.is_fixed() && protocol.blocks_before_budget == 0);
        let precision = |percent| ProtocolOptions {
            precision_percent: Some(percent),
            ..ProtocolOptions::default()
        };
        let protocol = precision(0.5).protocol(false).unwrap();
        assert_eq!(protocol.stopping, precise(0.5));
        assert_eq!((protocol.blocks, protocol.budget_seconds), (looks::MOST, None));
        let error = precision(0.0).protocol(false).unwrap_err().to_string();
        assert!(error.contains("--precision"), "{error}");
    }

    #[test]
    fn a_slice_that_is_asked_for_is_no_longer_than_a_trial() {
        let asked = |seconds, trial_seconds| {
            let options = ProtocolOptions {
                slicing: Some(Slicing::Auto {
                    seconds,
                    found: false,
                }),
                trial_seconds,
                ..ProtocolOptions::default()
            };
            options.protocol(false).is_ok()
        };
        assert!(asked(0.5, None) && asked(1.0, Some(1.0)));
        assert!(!asked(0.6, None));
        // The usual length: one round.
        let usual = ProtocolOptions {
            trial_seconds: Some(0.005),
            ..ProtocolOptions::default()
        };
        assert!(usual.protocol(false).is_ok());
    }

    #[test]
    fn the_upper_options_win_where_they_say_something() {
        let file = ProtocolOptions {
            blocks: Some(12),
            settle: Some(false),
            ..ProtocolOptions::default()
        };
        let line = ProtocolOptions {
            blocks: Some(30),
            slicing: Some(Slicing::AUTO),
            ..ProtocolOptions::default()
        };
        let both = line.over(file);
        assert_eq!((both.blocks, both.settle), (Some(30), Some(false)));
        assert_eq!(both.slicing, Some(Slicing::AUTO));
    }
}
