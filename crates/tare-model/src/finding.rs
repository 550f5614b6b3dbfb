//! Typed reasons to doubt a trial, and typed reasons why one failed.

use crate::digits::digits;
use crate::size::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A reason to doubt a figure. It is stored with the trial and shown beside it.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "finding", rename_all = "kebab-case")]
pub enum Finding {
    /// The host did not become quiet before the trial.
    HostBusy {
        /// CPU time of others over the CPU time of the host, 0 to 1.
        load: f64,
    },
    /// CPU time of others during the trial, over the CPU time of the host.
    Disturbed {
        /// 0 to 1.
        load: f64,
    },
    /// The hypervisor below the host took CPU time during the trial.
    Stolen {
        /// Share of the host's CPU time, 0 to 1.
        share: f64,
    },
    /// The clock of the box and the host's disagree on the trial's length.
    ClockDrift {
        /// Seconds by the box over seconds by the host.
        ratio: f64,
    },
    /// The box got less CPU than its limit without being throttled.
    BelowLimit {
        /// CPUs received.
        cores: f64,
        /// CPUs granted.
        limit: f64,
    },
    /// A throttled trial so short that its quota biases it.
    ShortForQuota {
        /// Quota periods within the trial.
        periods: u64,
    },
    /// Time ran out before one whole unit of work was done.
    PartialWork {
        /// Share of the unit that was done, 0 to 1.
        share: f64,
    },
    /// Memory was swapped on the host during the trial.
    Swapped {
        /// Pages in and out.
        pages: u64,
    },
    /// Others used the pinned set.
    SetBusy {
        /// CPU time of others over that of the set, 0 to 1.
        load: f64,
    },
    /// The other threads of the pinned set's cores were busy.
    SiblingBusy {
        /// Their CPU time over what they had, 0 to 1.
        load: f64,
    },
    /// The workload waited for pages from the disk.
    MajorFaults { faults: u64 },
    /// Processes of the host waited for memory.
    MemoryPressure {
        /// Share of the time, 0 to 1.
        share: f64,
    },
    /// Memory of the box was in swap after the trial.
    BoxSwapped { bytes: u64 },
    /// The CPUs ran at another frequency than in the first trial of the run.
    FrequencyChanged {
        /// Frequency over that of the first trial.
        ratio: f64,
    },
    /// CPUs were throttled by heat.
    Overheated { times: u64 },
    /// Dirty pages could not be written back before the trial.
    DirtyPages {
        /// Bytes left.
        bytes: u64,
    },
    /// The command ended and left processes running, whose work is not timed; they were killed.
    WorkLeftBehind {
        /// In all repetitions.
        processes: u32,
    },
    /// Servers of a role of which there are several ended before the command did, which went on.
    LostServers {
        /// The role.
        role: String,
        /// How many ended.
        ended: u32,
        /// How many there were.
        all: u32,
    },
}

impl Finding {
    /// The name in files and tables.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::HostBusy { .. } => "host-busy",
            Self::Disturbed { .. } => "disturbed",
            Self::Stolen { .. } => "stolen",
            Self::ClockDrift { .. } => "clock-drift",
            Self::BelowLimit { .. } => "below-limit",
            Self::ShortForQuota { .. } => "short-for-quota",
            Self::PartialWork { .. } => "partial-work",
            Self::Swapped { .. } => "swapped",
            Self::SetBusy { .. } => "set-busy",
            Self::SiblingBusy { .. } => "sibling-busy",
            Self::MajorFaults { .. } => "major-faults",
            Self::MemoryPressure { .. } => "memory-pressure",
            Self::BoxSwapped { .. } => "box-swapped",
            Self::FrequencyChanged { .. } => "frequency-changed",
            Self::Overheated { .. } => "overheated",
            Self::DirtyPages { .. } => "dirty-pages",
            Self::WorkLeftBehind { .. } => "work-left-behind",
            Self::LostServers { .. } => "lost-servers",
        }
    }

    /// Whether the host disturbed the trial: other programs, its hypervisor, its memory or its clock rate.
    pub const fn is_of_host(&self) -> bool {
        match self {
            Self::HostBusy { .. }
            | Self::Disturbed { .. }
            | Self::Stolen { .. }
            | Self::Swapped { .. }
            | Self::SetBusy { .. }
            | Self::SiblingBusy { .. }
            | Self::MemoryPressure { .. }
            | Self::FrequencyChanged { .. }
            | Self::Overheated { .. }
            | Self::DirtyPages { .. } => true,
            Self::ClockDrift { .. }
            | Self::BelowLimit { .. }
            | Self::ShortForQuota { .. }
            | Self::PartialWork { .. }
            | Self::MajorFaults { .. }
            | Self::BoxSwapped { .. }
            | Self::WorkLeftBehind { .. }
            | Self::LostServers { .. } => false,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HostBusy { load } => {
                write!(
                    f,
                    "the host was not quiet beforehand: others used {} % of its CPUs",
                    digits(load * 100.0, 1)
                )
            }
            Self::Disturbed { load } => {
                write!(
                    f,
                    "others used {} % of the host's CPUs during the trial",
                    digits(load * 100.0, 1)
                )
            }
            Self::Stolen { share } => {
                write!(
                    f,
                    "the hypervisor took {} % of the host's CPU time",
                    digits(share * 100.0, 1)
                )
            }
            Self::ClockDrift { ratio } => {
                write!(
                    f,
                    "the box's clock counted {} s per second of the host",
                    digits(*ratio, 5)
                )
            }
            Self::BelowLimit { cores, limit } => {
                write!(
                    f,
                    "the box got {} of {} CPUs without being throttled",
                    digits(*cores, 2),
                    digits(*limit, 2)
                )
            }
            Self::ShortForQuota { periods } => {
                write!(
                    f,
                    "throttled, but only {} long",
                    counted(*periods, "quota period")
                )
            }
            Self::PartialWork { share } => {
                write!(
                    f,
                    "time ran out after {} % of one unit of work",
                    digits(share * 100.0, 0)
                )
            }
            Self::Swapped { pages } => write!(f, "the host swapped {}", counted(*pages, "page")),
            Self::SetBusy { load } => {
                write!(f, "others used {} % of the pinned set", digits(load * 100.0, 1))
            }
            Self::SiblingBusy { load } => write!(
                f,
                "the other threads of the pinned set's cores were busy for {} %",
                digits(load * 100.0, 1)
            ),
            Self::MajorFaults { faults } => {
                write!(
                    f,
                    "the workload waited for the disk in {}",
                    counted(*faults, "page fault")
                )
            }
            Self::MemoryPressure { share } => write!(
                f,
                "processes of the host waited for memory for {} % of the trial",
                digits(share * 100.0, 1)
            ),
            Self::BoxSwapped { bytes } => write!(f, "{bytes} B of the box were in swap"),
            Self::FrequencyChanged { ratio } => write!(
                f,
                "the CPUs ran at {} times the frequency of the first trial",
                digits(*ratio, 3)
            ),
            Self::Overheated { times } => {
                write!(f, "heat throttled CPUs {}", counted(*times, "time"))
            }
            Self::DirtyPages { bytes } => write!(f, "{bytes} B of dirty pages were left before the trial"),
            Self::WorkLeftBehind { processes } => write!(
                f,
                "the command ended and left {} running, whose work is not in the figure",
                counted(u64::from(*processes), "process")
            ),
            Self::LostServers { role, ended, all } => {
                write!(
                    f,
                    "{ended} of {} of the role {role} ended before the command did",
                    counted(u64::from(*all), "server")
                )
            }
        }
    }
}

/// Why a trial has no result: a closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The box could not be made.
    Launch,
    /// The agent in the box did not answer, or is of another build.
    Handshake,
    /// The limits of the box could not be proven.
    LimitsNotProven,
    /// The box lacks what the workload needs.
    CannotRun,
    /// The workload did not end in time.
    Timeout,
    /// The kernel killed a process of the box because memory was used up.
    OutOfMemory,
    /// The workload was ended by a signal.
    Killed,
    /// The workload ended with a status other than 0.
    ExitStatus,
    /// The workload's known answer was wrong.
    WrongAnswer,
    /// A check of what the workload printed does not hold.
    Check,
    /// The workload's report could not be read.
    BadReport,
    /// A figure was not printed exactly once, or is not a number. Such a trial is not repeated: if the form of a
    /// figure depends on its size, the repetition would select by value.
    NoFigure,
    /// The box or its link was lost.
    LinkLost,
    /// What the box reported does not match what the host saw.
    Disagrees,
    /// The box used more CPU time than it was granted.
    OverLimit,
}

impl Reason {
    /// Whether another attempt would be no better, or would choose what counts.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::CannotRun | Self::NoFigure)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Launch => "the box could not be made",
            Self::Handshake => "the agent did not answer",
            Self::LimitsNotProven => "limits not proven",
            Self::CannotRun => "cannot run in this box",
            Self::Timeout => "did not end in time",
            Self::OutOfMemory => "out of memory",
            Self::Killed => "killed by a signal",
            Self::ExitStatus => "ended with an error",
            Self::WrongAnswer => "wrong answer",
            Self::Check => "a check does not hold",
            Self::BadReport => "unreadable report",
            Self::NoFigure => "figure not found",
            Self::LinkLost => "the link to the box was lost",
            Self::Disagrees => "the box and the host disagree",
            Self::OverLimit => "used more CPU than its limit",
        })
    }
}
