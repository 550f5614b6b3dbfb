//! A study: what is compared, under which limits, by which protocol.

use crate::platform::{PlatformPath, Provisioning};
use crate::size::{InstanceType, show_cpus, show_memory};
use crate::template::Template;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

pub use crate::workload::{CommandSpec, KernelWorkload, Workload};

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

/// When a cell has enough blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case")]
pub enum Stopping {
    /// Every cell runs in every block.
    #[default]
    Fixed,
    /// Cells are looked at after fixed numbers of blocks; one that is settled
    /// leaves the later ones.
    Adaptive {
        /// Half-width of the interval of the loss in logs that is narrow enough.
        half_width: f64,
    },
}

impl Stopping {
    /// Whether every cell runs in every block.
    pub const fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed)
    }
}

/// How the trials of a block are given their time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "slices", rename_all = "kebab-case")]
pub enum Slicing {
    /// Each trial in one piece, one after another: what files tell that know of nothing else.
    #[default]
    Off,
    /// In slices, in rounds with the other cells of its group, where that can be: one that
    /// a quota throttles runs in one piece, a command longer than a slice in turns.
    Auto {
        /// Aim for a slice in seconds.
        seconds: f64,
    },
    /// Commands are let run and stopped in turns.
    Turns {
        /// Length of a turn in seconds.
        seconds: f64,
    },
}

impl Slicing {
    /// Whether each trial runs in one piece.
    pub const fn is_off(&self) -> bool {
        matches!(self, Self::Off)
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

/// Which of the two baselines a cell is held against. They are named after the
/// usual baseline platform, `native`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    /// The baseline platform, limited by the same mechanism.
    Native,
    /// The baseline platform with as many CPUs by set and no quota: what buying
    /// a size costs.
    NativeSet,
}

impl Against {
    /// Both, in the order of printing.
    pub const ALL: [Self; 2] = [Self::Native, Self::NativeSet];
}

/// What is compared, under which limits, by which protocol. Stored in the
/// header of a results file; the order of trials follows from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// What a study file says in words, where the study comes from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Box<Template>>,
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
    /// The cells, where they are not all combinations of the lists; each with its baseline.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub listed: BTreeSet<Cell>,
    /// Blocks to run.
    pub blocks: u32,
    /// When a cell has enough blocks; never more than [`Study::blocks`].
    #[serde(default, skip_serializing_if = "Stopping::is_fixed")]
    pub stopping: Stopping,
    /// Time in seconds after which no new block is begun.
    pub budget_seconds: Option<f64>,
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
    /// Seed of every random order.
    pub seed: u64,
}

impl Study {
    /// The kinds of box, in the order of the lists; of listed cells, those that have one.
    pub fn box_kinds(&self) -> Vec<BoxKind> {
        let listed: BTreeSet<&BoxKind> = self.listed.iter().map(|cell| &cell.kind).collect();
        let mut kinds = self.all_kinds();
        kinds.retain(|kind| listed.is_empty() || listed.contains(kind));
        kinds
    }

    fn all_kinds(&self) -> Vec<BoxKind> {
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
        let kinds = self.box_kinds();
        kinds.iter().flat_map(|kind| self.cells_of(kind)).collect()
    }

    /// The cells of one kind of box, in the order of the workloads.
    pub fn cells_of(&self, kind: &BoxKind) -> Vec<Cell> {
        let cell = |w: &Workload| Cell {
            kind: kind.clone(),
            workload: w.name().to_owned(),
        };
        let mut cells: Vec<Cell> = self.workloads.iter().map(cell).collect();
        cells.retain(|cell| self.listed.is_empty() || self.listed.contains(cell));
        cells
    }

    /// The workload of a cell, as it runs in a box of its size.
    pub fn workload(&self, cell: &Cell) -> Option<Workload> {
        let workload = self.workloads.iter().find(|w| w.name() == cell.workload)?;
        Some(match (workload, self.instance_of(&cell.kind)) {
            (Workload::Kernel(kernel), Some(instance)) => Workload::Kernel(kernel.on(instance.size.cpus)),
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

    /// The cell that `cell` is held against, unless it is itself that cell or has
    /// no such baseline. The study need not hold it.
    pub fn baseline_cell(&self, cell: &Cell, against: Against) -> Option<Cell> {
        let kind = match (against, cell.kind.provisioning) {
            (Against::Native, _) => self.baseline_of(&cell.kind),
            (Against::NativeSet, Provisioning::Vanilla) => BoxKind {
                provisioning: Provisioning::Pinned,
                ..self.baseline_of(&cell.kind)
            },
            (Against::NativeSet, Provisioning::Pinned) => return None,
        };
        (kind != cell.kind).then(|| Cell {
            kind,
            workload: cell.workload.clone(),
        })
    }
}
