//! A study: what is compared, under which limits, by which protocol.

use crate::platform::{PlatformPath, Provisioning};
use crate::size::{InstanceType, counted, show_cpus, show_memory};
use crate::template::Template;
use crate::tuning::Tuning;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

pub use crate::measuring::{Fresh, Protocol, Slicing, Stopping};
pub use crate::workload::Workload;

/// The kind of box of a cell: everything but the workload.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Instance {
    /// Its name, where the study has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// CPUs and memory.
    #[serde(flatten)]
    pub size: InstanceType,
    /// CPUs of the host that a pinned box gets, the same in every cell of this size.
    pub pinned_set: Vec<u32>,
    /// How many CPUs of the host its boxes may run on at most, as if the host had no more; absent:
    /// all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_cpus: Option<u32>,
    /// Which CPUs these are; the pinned set is among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_set: Vec<u32>,
}

impl Instance {
    /// CPUs and memory for people, with the name if it has one.
    pub fn show(&self) -> String {
        let on = self.host_cpus.map_or_else(String::new, |host| {
            format!(" on {} of the host", counted(host, "CPU"))
        });
        let size = format!(
            "{}{on}, {}",
            show_cpus(self.size.cpus),
            show_memory(self.size.memory_bytes)
        );
        match &self.name {
            Some(name) => format!("{name} ({size})"),
            None => size,
        }
    }
}

/// The root filesystem of boxes, as a results file tells of it.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct RootImage {
    /// The name by which it was asked for.
    pub name: String,
    /// The digest of what is in it, `sha256:` and 64 digits: the same for the same files.
    pub digest: String,
    /// Where it came from, in words.
    pub source: String,
    /// What its files hold.
    pub bytes: u64,
}

/// For people: name, the beginning of the digest, size.
impl fmt::Display for RootImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest: String = self.digest.chars().take("sha256:".len() + 12).collect();
        write!(f, "{} ({digest}, {} MiB)", self.name, self.bytes >> 20)
    }
}

/// One combination of levels.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
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

/// Two workloads that a study holds together: what each platform costs one of them is held
/// against what it costs the other.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Effect {
    /// What the effect is called.
    pub name: String,
    /// Name of the workload that shows it.
    pub of: String,
    /// Name of the workload that does not.
    pub against: String,
}

/// For people: the name, and what is held together.
impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} against {})", self.name, self.of, self.against)
    }
}

/// Which of the two baselines a cell is held against. They are named after the
/// usual baseline platform, `native`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
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
    /// The root filesystem that all its boxes have; absent: they hold no files but those that are
    /// copied in, and the host has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<RootImage>,
    /// What runs.
    pub workloads: Vec<Workload>,
    /// Workloads that are held together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// The parameters of a workload that it varies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Tuning>,
    /// The cells, where they are not all combinations of the lists; each with its baseline.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub listed: BTreeSet<Cell>,
    /// How it measures.
    #[serde(flatten)]
    pub protocol: Protocol,
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

    /// The CPUs that a kind of box may run on; empty: all of the host's.
    pub fn cpu_set(&self, kind: &BoxKind) -> &[u32] {
        let Some(instance) = self.instance_of(kind) else {
            return &[];
        };
        match kind.provisioning {
            Provisioning::Pinned => &instance.pinned_set,
            Provisioning::Vanilla => &instance.host_set,
        }
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

    /// The workloads of several processes by where these run, for people: each place once.
    pub fn placed(&self) -> Vec<(String, Vec<&Workload>)> {
        let mut all: Vec<(String, Vec<&Workload>)> = Vec::new();
        for workload in &self.workloads {
            let Some(placed) = workload.placed() else { continue };
            match all.iter_mut().find(|(known, _)| *known == placed) {
                Some((_, workloads)) => workloads.push(workload),
                None => all.push((placed, vec![workload])),
            }
        }
        all
    }

    /// Which setting of the parameters that it varies a workload is, counted from 0; `None` if it is none.
    pub fn setting(&self, workload: &str) -> Option<usize> {
        let settings = &self.tuning.as_ref()?.settings;
        settings.iter().position(|setting| setting.workload == workload)
    }

    /// Names of workloads for people, those that are settings of one together: `spot-prices (16 settings)`.
    pub fn together<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<String> {
        let (settings, others): (Vec<&str>, Vec<&str>) = names.partition(|name| self.setting(name).is_some());
        let told = settings.first().map(|first| {
            let family = first.split(' ').next().unwrap_or_default();
            format!("{family} ({})", counted(settings.len(), "setting"))
        });
        others.into_iter().map(str::to_owned).chain(told).collect()
    }

    /// The workloads whose cells have boxes with more CPUs together than the host, which has so many.
    pub fn oversubscribed(&self, host_cpus: u32) -> Vec<&Workload> {
        let cells = self.cells();
        let milli = |cell: &Cell| self.instance_of(&cell.kind).map_or(0, |i| i.size.cpus.milli());
        let has_more = |workload: &&Workload| {
            let beside = workload.apart().count() as u64;
            let own = cells.iter().filter(|cell| cell.workload == workload.name());
            let largest = u64::from(own.map(milli).max().unwrap_or_default());
            beside > 0 && largest * (1 + beside) > 1000 * u64::from(host_cpus)
        };
        self.workloads.iter().filter(has_more).collect()
    }

    /// The workload of a cell, as it runs in a box of its size.
    pub fn workload(&self, cell: &Cell) -> Option<Workload> {
        let workload = self.workloads.iter().find(|w| w.name == cell.workload)?.clone();
        Some(match self.instance_of(&cell.kind) {
            Some(instance) => workload.on(instance.size.cpus),
            None => workload,
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
