//! A study: what is compared, under which limits, by which protocol.

use crate::kernel::{Kernel, KernelSpec};
use crate::metric::{Direction, Metric, Unit};
use crate::platform::{PlatformPath, Provisioning};
use crate::size::{InstanceType, show_cpus, show_memory};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How long one box is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// A user's own command as workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandSpec {
    /// Program (absolute path) and arguments.
    pub argv: Vec<String>,
    /// The whole environment, name and value; nothing of the host's is inherited.
    pub env: Vec<(String, String)>,
    /// Files of the host to carry into boxes at the same paths; the program
    /// itself is always among them.
    pub carried: Vec<String>,
    /// Why the command cannot run outside the host's own file system, if so.
    pub host_only: Option<String>,
}

impl CommandSpec {
    /// The metrics of a command.
    pub fn metrics() -> Vec<Metric> {
        use Direction::Lower;
        vec![
            Metric::new("wall", Unit::Second, Lower, true),
            Metric::new("user", Unit::Second, Lower, false),
            Metric::new("system", Unit::Second, Lower, false),
            Metric::new("peak-memory", Unit::Byte, Lower, false),
        ]
    }
}

/// What runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Workload {
    /// A built-in kernel.
    Kernel(KernelSpec),
    /// The user's own command.
    Command(CommandSpec),
}

impl Workload {
    /// The name used in cells and tables; unique within a study.
    pub fn name(&self) -> &str {
        match self {
            Self::Kernel(spec) => spec.kernel.name(),
            Self::Command(_) => "command",
        }
    }

    /// The metrics it yields, exactly one of them primary.
    pub fn metrics(&self) -> Vec<Metric> {
        match self {
            Self::Kernel(spec) => spec.kernel.metrics(),
            Self::Command(_) => CommandSpec::metrics(),
        }
    }

    /// The kernel behind it, if it is one.
    pub fn kernel(&self) -> Option<Kernel> {
        match self {
            Self::Kernel(spec) => Some(spec.kernel),
            Self::Command(_) => None,
        }
    }
}

/// The kind of box of a cell: everything but the workload.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BoxKind {
    /// Where the workload runs.
    pub platform: PlatformPath,
    /// How CPUs are granted.
    pub provisioning: Provisioning,
    /// Name of its instance type, where the study has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
}

impl fmt::Display for BoxKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.platform, self.provisioning)?;
        self.instance.iter().try_for_each(|name| write!(f, " {name}"))
    }
}

/// A size of box, with the CPUs of the host that a pinned one gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// Its name, where the study has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// CPUs and memory.
    #[serde(flatten)]
    pub size: InstanceType,
    /// CPUs of the host that a pinned box gets, the same in every cell of this size.
    pub pinned_set: Vec<u32>,
}

impl Instance {
    /// CPUs and memory for people, with the name if it has one.
    pub fn show(&self) -> String {
        let size = format!(
            "{}, {}",
            show_cpus(self.size.cpus),
            show_memory(self.size.memory_bytes)
        );
        match &self.name {
            Some(name) => format!("{name} ({size})"),
            None => size,
        }
    }
}

/// One combination of levels.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cell {
    /// Platform and provisioning.
    #[serde(flatten)]
    pub kind: BoxKind,
    /// Name of the workload.
    pub workload: String,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.workload)
    }
}

/// What is compared, under which limits, by which protocol. Stored in the
/// header of a results file; the order of trials follows from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// Platforms; the baseline is among them.
    pub platforms: Vec<PlatformPath>,
    /// The platform that the others are held against, by the same mechanism of
    /// limiting and, for `vanilla`, also with a pinned set.
    pub baseline: PlatformPath,
    /// Ways to grant CPUs.
    pub provisioning: Vec<Provisioning>,
    /// Sizes of boxes; never empty.
    pub instances: Vec<Instance>,
    /// What runs.
    pub workloads: Vec<Workload>,
    /// Blocks to run.
    pub blocks: u32,
    /// Time in seconds after which no new block is begun.
    pub budget_seconds: Option<f64>,
    /// How long one box is used.
    pub fresh: Fresh,
    /// Aim for a trial in seconds.
    pub trial_seconds: f64,
    /// Seconds after which a trial is given up.
    pub timeout_seconds: f64,
    /// Whether to wait for a quiet host before each trial.
    pub settle: bool,
    /// Margin of equivalence as a ratio less 1: 0.01 for 1 %.
    pub margin: f64,
    /// Seed of every random order.
    pub seed: u64,
}

impl Study {
    /// The kinds of box, in the order of the lists.
    pub fn box_kinds(&self) -> Vec<BoxKind> {
        let mut kinds = Vec::new();
        for platform in &self.platforms {
            for provisioning in &self.provisioning {
                kinds.extend(self.instances.iter().map(|instance| BoxKind {
                    platform: platform.clone(),
                    provisioning: *provisioning,
                    instance: instance.name.clone(),
                }));
            }
        }
        kinds
    }

    /// The size of a kind of box; `None` if the study has no such size.
    pub fn instance_of(&self, kind: &BoxKind) -> Option<&Instance> {
        self.instances
            .iter()
            .find(|instance| instance.name == kind.instance)
    }

    /// The cells, in the order of the lists.
    pub fn cells(&self) -> Vec<Cell> {
        let cell = |kind: &BoxKind, w: &Workload| Cell {
            kind: kind.clone(),
            workload: w.name().to_owned(),
        };
        self.box_kinds()
            .iter()
            .flat_map(|kind| self.workloads.iter().map(move |w| cell(kind, w)))
            .collect()
    }

    /// The workload of a cell, as it runs in a box of its size.
    pub fn workload(&self, cell: &Cell) -> Option<Workload> {
        let workload = self.workloads.iter().find(|w| w.name() == cell.workload)?;
        Some(match (workload, self.instance_of(&cell.kind)) {
            (Workload::Kernel(spec), Some(instance)) => Workload::Kernel(spec.on(instance.size.cpus)),
            _ => workload.clone(),
        })
    }

    /// The kind of box that `kind` is held against: the baseline limited by the
    /// same mechanism.
    pub fn baseline_of(&self, kind: &BoxKind) -> BoxKind {
        BoxKind {
            platform: self.baseline.clone(),
            ..kind.clone()
        }
    }
}
