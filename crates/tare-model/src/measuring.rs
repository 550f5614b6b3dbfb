//! How a study measures: how many blocks, how long a trial, when it is enough.

use crate::size::{parse_seconds, show_seconds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// How a study measures, whatever it measures. Options, study files and headers of
/// results files all come down to this.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Protocol {
    /// Blocks to run.
    pub blocks: u32,
    /// When a cell has enough blocks; never more than `blocks`.
    #[serde(default, skip_serializing_if = "Stopping::is_fixed")]
    pub stopping: Stopping,
    /// Time in seconds after which no new block is begun.
    pub budget_seconds: Option<f64>,
    /// First blocks that run whatever the budget: of one that nobody asked for, those before the first look.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub blocks_before_budget: u32,
    /// Time in seconds for which blocks run that are not recorded, before the first that is.
    #[serde(default)]
    pub warm_up_seconds: f64,
    /// Time in seconds of rest before each trial.
    #[serde(default)]
    pub pause_seconds: f64,
    /// How long one box is used.
    pub fresh: Fresh,
    /// How the trials of a block are given their time.
    #[serde(default, skip_serializing_if = "Slicing::is_off")]
    pub slicing: Slicing,
    /// Aim for a trial in seconds.
    pub trial_seconds: f64,
    /// Seconds after which a trial is given up.
    pub timeout_seconds: f64,
    /// Whether to wait for a quiet host before each trial.
    pub settle: bool,
    /// Margin of equivalence as a ratio less 1: 0.01 for 1 %.
    pub margin: f64,
    /// Whether the kernel is looked into behind the measured blocks, for evidence of causes.
    #[serde(default, skip_serializing_if = "is_false")]
    pub evidence: bool,
    /// Seed of every random order.
    pub seed: u64,
}

impl Protocol {
    /// Whether a study of so many blocks is ended by a time: it has as many as there can be.
    pub fn is_timed(blocks: u32) -> bool {
        blocks == *Self::BLOCKS.end()
    }

    /// Numbers of blocks that a study may have.
    pub const BLOCKS: RangeInclusive<u32> = 1..=1_000_000;
    /// Margins that a study may have, as a ratio less 1: 0.01 to 100 %. What is finer no interval
    /// comes to; within what is coarser a box that takes all of the time counts as equal.
    pub const MARGINS: RangeInclusive<f64> = 0.0001..=1.0;
    /// The least and the most that a trial in found slices lasts, over `trial_seconds`.
    pub const SHARES: [f64; 2] = [0.4, 2.0];
    /// Lengths that a trial may have in seconds.
    pub const TRIAL_SECONDS: RangeInclusive<f64> = 0.0..=3600.0;
}

/// How long one box is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fresh {
    /// A new box for every trial.
    Trial,
    /// A new box per block, in which the block's workloads run in random order.
    Block,
    /// One box per platform for the whole study, frozen when it is not its turn.
    /// Figures then hold for these boxes only.
    Study,
}

impl fmt::Display for Fresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Trial => "trial",
            Self::Block => "block",
            Self::Study => "study",
        })
    }
}

/// When a cell has enough blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case")]
pub enum Stopping {
    /// Every cell runs in every block.
    #[default]
    Fixed,
    /// Cells are looked at after fixed numbers of blocks, and a settled one leaves the later blocks.
    Adaptive {
        /// Half-width of the interval of the loss in logs that is narrow enough.
        half_width: f64,
        /// Whether nothing but such an interval is enough, also where a verdict is clear before.
        #[serde(default, skip_serializing_if = "is_false")]
        precise: bool,
    },
}

impl Stopping {
    /// Whether every cell runs in every block.
    pub const fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed)
    }
}

/// How the trials of a block are given their time.
#[derive(Debug, Clone, Copy, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "slices", rename_all = "kebab-case")]
pub enum Slicing {
    /// Each trial in one piece, one after another; also of files from before there were slices.
    #[default]
    Off,
    /// In slices, in rounds with the other cells of its group, if possible: a trial that a quota throttles runs in
    /// one piece, a command longer than a slice in turns.
    Auto {
        /// Aim for a slice in seconds; where slices are found, the longest one.
        seconds: f64,
        /// Whether slices of kernels are as short as what surrounds them allows: the noise of a host that lasts longer
        /// than a round is the same in all of it.
        #[serde(default, skip_serializing_if = "is_false")]
        found: bool,
    },
    /// Commands run and are paused in turns.
    Turns {
        /// Length of a turn in seconds.
        seconds: f64,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(value: &u32) -> bool {
    *value == 0
}

impl Slicing {
    /// Length of a slice at which most of a host's slow noise is the same in all of a round.
    const SLICE_SECONDS: f64 = 0.010;
    /// Length of a turn, longer than a slice: each costs two signals and a wake-up.
    const TURN_SECONDS: f64 = 0.020;
    /// Slices of the usual length.
    pub const AUTO: Self = Self::Auto {
        seconds: Self::SLICE_SECONDS,
        found: true,
    };
    /// Turns of the usual length.
    pub const TURNS: Self = Self::Turns {
        seconds: Self::TURN_SECONDS,
    };
    /// Lengths of a slice in seconds that can be asked for.
    pub const LENGTHS: RangeInclusive<f64> = 0.001..=1.0;

    /// Aim for a slice in seconds, of what is cut into slices.
    pub const fn slice_seconds(&self) -> f64 {
        match self {
            Self::Auto { seconds, .. } => *seconds,
            Self::Off | Self::Turns { .. } => Self::SLICE_SECONDS,
        }
    }

    /// Length of a turn in seconds, of what takes turns.
    pub const fn turn_seconds(&self) -> f64 {
        match self {
            Self::Turns { seconds } => *seconds,
            Self::Off | Self::Auto { .. } => Self::TURN_SECONDS,
        }
    }

    /// Whether slices of kernels are as short as what surrounds them allows.
    pub const fn are_found(&self) -> bool {
        matches!(self, Self::Auto { found: true, .. })
    }

    /// Whether each trial runs in one piece.
    pub const fn is_off(&self) -> bool {
        matches!(self, Self::Off)
    }
}

/// For people: `none`, `of 10 ms`, `turns of 20 ms`.
impl fmt::Display for Slicing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("none"),
            Self::Auto { seconds, found } => {
                let bound = if *found { "at most " } else { "" };
                write!(f, "of {bound}{}", show_seconds(*seconds))
            }
            Self::Turns { seconds } => write!(f, "turns of {}", show_seconds(*seconds)),
        }
    }
}

/// What was given says nothing of slices.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SlicingError {
    #[error("'{0}' is not a slicing: give auto, off, turns, or a slice length from 1ms to 1s")]
    Unknown(String),
    /// A number that is a length in milliseconds.
    #[error("'{0}' has no unit: write {0}ms")]
    NoUnit(String),
}

/// Reads `auto`, `off`, `turns` or the length of a slice, such as `20ms`.
impl FromStr for Slicing {
    type Err = SlicingError;

    fn from_str(text: &str) -> Result<Self, SlicingError> {
        match text {
            "auto" => Ok(Self::AUTO),
            "off" => Ok(Self::Off),
            "turns" => Ok(Self::TURNS),
            _ => length(text)
                .map(|seconds| Self::Auto {
                    seconds,
                    found: false,
                })
                .ok_or_else(|| not_a_slicing(text)),
        }
    }
}

fn length(text: &str) -> Option<f64> {
    parse_seconds(text)
        .ok()
        .filter(|seconds| Slicing::LENGTHS.contains(seconds))
}

fn not_a_slicing(text: &str) -> SlicingError {
    let shown = text.chars().take(40).collect();
    if length(&format!("{text}ms")).is_some() {
        SlicingError::NoUnit(shown)
    } else {
        SlicingError::Unknown(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = r#"{"blocks":20,"budget_seconds":null,"warm_up_seconds":0.0,"pause_seconds":0.0,"fresh":"block","trial_seconds":0.5,"timeout_seconds":60.0,"settle":true,"margin":0.01,"seed":18446744073709551615}"#;

    #[test]
    fn a_protocol_without_slices_is_written_as_before_there_were_any() {
        let protocol: Protocol = serde_json::from_str(OLD).unwrap();
        assert_eq!(
            (protocol.slicing, protocol.stopping),
            (Slicing::Off, Stopping::Fixed)
        );
        assert_eq!(serde_json::to_string(&protocol).unwrap(), OLD);
    }

    #[test]
    fn slices_are_a_word_or_a_length_from_a_millisecond_to_a_second() {
        let of = |seconds| Slicing::Auto {
            seconds,
            found: false,
        };
        for (text, slicing) in [
            ("auto", Slicing::AUTO),
            ("off", Slicing::Off),
            ("turns", Slicing::Turns { seconds: 0.020 }),
            ("1ms", of(0.001)),
            ("1s", of(1.0)),
        ] {
            assert_eq!(text.parse(), Ok(slicing));
        }
        for text in ["0", "", "1h", "0.9ms", "1001ms", "-1ms", "on", "AUTO"] {
            let error = text.parse::<Slicing>().unwrap_err().to_string();
            assert!(error.contains("from 1ms to 1s"), "{error}");
        }
        let error = "20".parse::<Slicing>().unwrap_err().to_string();
        assert_eq!(error, "'20' has no unit: write 20ms");
    }
}
