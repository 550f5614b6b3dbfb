//! What a user asks of a study, by options or by a file.

use super::{ChosenImage, DesignError, ProtocolOptions};
use crate::command::CommandWish;
use crate::{images, workload_file};
use std::collections::BTreeMap;
use std::sync::Arc;
use tare_model::kernel::Isa;
use tare_model::platform::Provisioning;
use tare_model::size::Cpus;
use tare_model::study::Effect;
use tare_model::template::Template;
use tare_model::topology::Topology;
use tare_model::tuning::Tuning;

/// The word for boxes without an image, whatever a study file has.
pub const NO_IMAGE: &str = "none";

/// What a user asks; what is absent gets a default that fits the host.
#[derive(Debug, Clone, Default)]
pub struct StudyRequest {
    /// What a study file says in words.
    pub template: Option<Box<Template>>,
    /// Platforms; empty: the caller chooses.
    pub platforms: Vec<String>,
    /// Levels of options of platforms, by option: every platform is taken once for each that it has.
    pub levels: BTreeMap<&'static str, Vec<String>>,
    /// The baseline; absent: native if it is among the platforms, else the first.
    pub baseline: Option<String>,
    /// Ways to grant CPUs; empty: both.
    pub provisioning: Vec<Provisioning>,
    /// Built-in workloads; empty: all, unless there is a command, or a study file
    /// that names only workloads that tare does not have.
    pub workloads: Vec<WorkloadWish>,
    /// The user's own command.
    pub command: Option<CommandWish>,
    /// The root filesystem of all boxes by what means it, [`NO_IMAGE`] for none; absent: the
    /// image that the workloads name.
    pub image_name: Option<String>,
    /// Where the programs of commands are: what came of the image.
    pub programs: Programs,
    /// CPUs of a box.
    pub cpus: Option<Cpus>,
    /// Memory of a box in bytes.
    pub memory_bytes: Option<u64>,
    /// Instance types instead of the two, as the user wrote them.
    pub instances: Vec<String>,
    /// Workloads that are held together, as the user wrote them.
    pub effects: Vec<Effect>,
    /// The parameters of a workload that are varied; its settings are among the workloads.
    pub tuning: Option<Tuning>,
    /// Which combinations are run.
    pub cells: Cells,
    /// How it is measured.
    pub protocol: ProtocolOptions,
    /// Instruction set of the kernels.
    pub isa: Option<Isa>,
}

impl StudyRequest {
    /// What means the root filesystem of all boxes; `None` where they have none.
    pub fn wanted_image(&self) -> Option<&str> {
        self.image_name.as_deref().filter(|name| *name != NO_IMAGE)
    }

    /// The image that the workloads name, where nothing else is said of one.
    ///
    /// # Errors
    /// [`DesignError::TwoImages`], since the boxes of a study have one root; those of workload files.
    pub fn image_of_workloads(&self) -> Result<Option<String>, DesignError> {
        if self.image_name.is_some() {
            return Ok(None);
        }
        let mut found: Option<(&str, String)> = None;
        for WorkloadWish { kernel: name, .. } in &self.workloads {
            let image = workload_file::is_known(name).then(|| workload_file::read(name));
            let Some(image) = image.transpose()?.and_then(|read| read.image) else {
                continue;
            };
            let (first, of_first) = found.unwrap_or_else(|| (name, image.clone()));
            let Some(both) = images::with_both(&of_first, &image) else {
                return Err(DesignError::TwoImages {
                    first: format!("{first} names {of_first}"),
                    second: format!("{name} names {image}"),
                });
            };
            found = Some((name, both.to_owned()));
        }
        Ok(found.map(|(_, image)| image))
    }
}

/// Where the programs of a study's commands are.
#[derive(Debug, Clone, Default)]
pub enum Programs {
    /// On this host: boxes get copies of them.
    #[default]
    Host,
    /// In the image that is the root of all boxes.
    Image(Arc<ChosenImage>),
    /// In an image of this name that is not made yet: none is looked for.
    Unmade(String),
}

impl Programs {
    /// The image, if there is one.
    pub(crate) fn image(&self) -> Option<&ChosenImage> {
        match self {
            Self::Image(chosen) => Some(chosen),
            Self::Host | Self::Unmade(_) => None,
        }
    }

    /// The image that is not made yet.
    pub fn unmade(&self) -> Option<&str> {
        match self {
            Self::Unmade(name) => Some(name),
            Self::Host | Self::Image(_) => None,
        }
    }
}

/// A built-in workload as the user asks for it.
#[derive(Debug, Clone, Default)]
pub struct WorkloadWish {
    /// The kernel's name; of options, with its parameters behind it.
    pub kernel: String,
    /// Size of the problem; absent: one that fits the host.
    pub size: Option<u64>,
    /// Threads; absent: as many as the box has CPUs.
    pub threads: Option<u32>,
    /// Where the ends of a network kernel are; absent: both in the box.
    pub ends: Option<Topology>,
}

impl<T: Into<String>> From<T> for WorkloadWish {
    fn from(kernel: T) -> Self {
        Self {
            kernel: kernel.into(),
            ..Self::default()
        }
    }
}

/// Which combinations of levels are run.
#[derive(Debug, Clone, Default)]
pub enum Cells {
    /// All of them.
    #[default]
    All,
    /// A base, and what differs from it in one factor.
    OneAtATime(Base),
    /// These.
    List(Vec<Levels>),
}

/// A cell by its levels; an absent one is the first of its factor.
#[derive(Debug, Clone, Default)]
pub struct Base {
    pub platform: Option<String>,
    pub provisioning: Option<String>,
    /// Name of the instance type.
    pub instance: Option<String>,
    /// Name of the workload.
    pub workload: Option<String>,
}

/// Cells by their levels, in all combinations; a factor without levels has all of them.
#[derive(Debug, Clone, Default)]
pub struct Levels {
    pub platform: Vec<String>,
    /// Ways to grant CPUs.
    pub provisioning: Vec<String>,
    /// Names of instance types.
    pub instance: Vec<String>,
    /// Names of workloads, or of kernels, which mean all of a kernel's runs.
    pub workload: Vec<String>,
}
