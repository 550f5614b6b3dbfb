//! Why a study cannot be, and what would be right.

use super::PrintedError;
use crate::looks::AdaptiveError;
use crate::workload_file::WorkloadFileError;
use tare_host::carry::CarryError;
use tare_model::ends::Ends;
use tare_model::kernel::{Kernel, UnknownKernel};
use tare_model::platform::PlatformPathError;
use tare_model::size::{
    Cpus, InstanceError, InstanceType, SizeError, counted, show_cpus, show_memory, show_seconds,
};

/// What an error is about: a key of a study file, and which item of its list.
pub type Concern = (&'static str, Option<usize>);

/// Why a study cannot be.
#[derive(Debug, thiserror::Error)]
pub enum DesignError {
    /// A platform's name.
    #[error(transparent)]
    Platform(#[from] PlatformPathError),
    /// A workload's name.
    #[error(transparent)]
    Workload(#[from] UnknownKernel),
    /// A size.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// Nearly the name of a workload of the catalogue.
    #[error("unknown workload '{name}': did you mean '{near}'?")]
    NearWorkload {
        /// What was given.
        name: String,
        /// What may be meant.
        near: &'static str,
    },
    /// A workload file.
    #[error(transparent)]
    File(#[from] WorkloadFileError),
    /// A workload whose program is not here.
    #[error(
        "workload '{workload}' needs the program {program}, which is not installed: install it (Debian: apt-get install {package})"
    )]
    NoProgram {
        /// The workload.
        workload: String,
        /// The program.
        program: String,
        /// The Debian package that has it.
        package: String,
    },
    /// Workloads that cannot have the same root.
    #[error(
        "the boxes of a study have one image, and workload {first} and {second}: choose with --image NAME, or --image none for the programs of this host"
    )]
    TwoImages {
        /// A workload, and what it names.
        first: String,
        /// Another.
        second: String,
    },
    /// A figure or a check of what a command prints.
    #[error(transparent)]
    Printed(#[from] PrintedError),
    /// A file to carry.
    #[error(transparent)]
    Carry(#[from] CarryError),
    /// Something is given twice.
    #[error("{what} '{name}' is given twice: name each once")]
    Twice {
        /// `platform` or `workload`.
        what: &'static str,
        /// Its name.
        name: String,
        /// Which of the list the second one is, from 0.
        index: usize,
    },
    /// The baseline is not compared.
    #[error(
        "the baseline '{baseline}' is not among the platforms {platforms}: add it with --platforms, or choose one of them with --baseline"
    )]
    Baseline {
        /// The baseline.
        baseline: String,
        /// The platforms.
        platforms: String,
    },
    /// An instance type.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// One that does not fit.
    #[error(
        "instance type '{name}' is {} and {}, and this host has {} that may be used and {}: leave it out, or give one of your own as NAME=CPUS:MEMORY",
        show_cpus(.size.cpus), show_memory(.size.memory_bytes), counted(*.cpus, "CPU"), show_memory(*.memory_bytes)
    )]
    InstanceTooLarge {
        /// Its name.
        name: String,
        /// Its size.
        size: InstanceType,
        /// CPUs of the host.
        cpus: u32,
        /// Memory of the host.
        memory_bytes: u64,
    },
    /// One that is to run on more CPUs of the host than there are.
    #[error(
        "instance type '{name}' is to run on {} of the host, and this host has {} that may be used: leave it out, or give it fewer",
        counted(*.asked, "CPU"), counted(*.available, "CPU")
    )]
    HostTooSmall {
        /// Its name.
        name: String,
        /// What was asked for.
        asked: u32,
        /// What there is.
        available: u32,
    },
    /// Instance types and a size.
    #[error("--instance gives both CPUs and memory: leave out --cpus and --memory")]
    TwoSizes,
    /// More CPUs than there are.
    #[error(
        "{asked} CPUs are asked for, and this host has {available} that may be used: give --cpus at most {available}"
    )]
    TooManyCpus {
        /// What was asked for.
        asked: Cpus,
        /// What there is.
        available: u32,
    },
    /// A fraction of a CPU cannot be pinned.
    #[error(
        "a pinned box gets whole CPUs, and {0} are asked for: give --cpus a whole number, or --provisioning vanilla"
    )]
    PinnedFraction(Cpus),
    /// More memory than there is.
    #[error("{} of memory are asked for, and this host has {}: give --memory less", show_memory(*.asked), show_memory(*.available))]
    TooMuchMemory {
        /// What was asked for, in bytes.
        asked: u64,
        /// What there is, in bytes.
        available: u64,
    },
    /// Too little memory.
    #[error("{} of memory are too little: {what} needs at least {}: give --memory {}M or more{}", show_memory(*.asked), show_memory(*.needed), .needed >> 20, without_unit(*.asked))]
    TooLittleMemory {
        /// What was asked for, in bytes.
        asked: u64,
        /// What is needed, in bytes.
        needed: u64,
        /// What needs it.
        what: String,
    },
    /// Boxes that must stand side by side, and do not fit the host together.
    #[error(
        "a trial in slices runs beside its baselines, in {boxes} boxes with {} of memory together, and this host has {} for them: give --memory less, only one --provisioning, or --slices off to run one box after another",
        show_memory(*.asked), show_memory(*.available)
    )]
    NotSideBySide {
        /// Boxes.
        boxes: usize,
        /// What they ask for together, in bytes.
        asked: u64,
        /// What so many may have together, in bytes.
        available: u64,
    },
    /// Boxes that are kept to the study's end, and do not fit the host together.
    #[error(
        "with --fresh study all {boxes} boxes are kept to the end, with {} of memory together, and this host has {} for them: give --memory less, fewer platforms, or --fresh block",
        show_memory(*.asked), show_memory(*.available)
    )]
    NotKept {
        /// Boxes.
        boxes: usize,
        /// What they ask for together, in bytes.
        asked: u64,
        /// What so many may have together, in bytes.
        available: u64,
    },
    /// A memory size that a VM cannot have.
    #[error("memory is given in whole MiB, and {0} B are none: name the unit, such as 512M or 2G")]
    OddMemory(u64),
    /// A number out of range.
    #[error("{what} is {value}: give {range}")]
    OutOfRange {
        /// The option.
        what: &'static str,
        /// What was given.
        value: String,
        /// What is right.
        range: &'static str,
    },
    /// No trial could end in time.
    #[error(
        "--timeout is {}, and a trial aims for {}, so that every one would be given up: give --timeout more, or --trial-time less",
        show_seconds(*.seconds), show_seconds(*.trial_seconds)
    )]
    ShortTimeout {
        /// Seconds after which a trial is given up.
        seconds: f64,
        /// Seconds that it aims for.
        trial_seconds: f64,
    },
    /// Built-in workloads and a command.
    #[error(
        "--workloads names built-in ones, and a command of yours is measured by itself: leave out --workloads, or the command after --"
    )]
    WorkloadsAndCommand,
    /// An instruction set and a command.
    #[error("--isa chooses the code of the built-in workloads: leave it out beside a command")]
    IsaAndCommand,
    /// Files to carry without a command.
    #[error(
        "--with, --env, --setup and --teardown belong to a command of yours: add it after --, as in 'tare run --with FILE -- ./program'"
    )]
    WithoutCommand,
    /// An image that says nothing of what is run.
    #[error(
        "image '{image}' has neither an entry point nor a command: give a command after --, or built-in workloads with -w"
    )]
    ImageWithoutCommand {
        /// The image.
        image: String,
    },
    /// A program that is not in the image.
    #[error(
        "there is no program '{program}' in the image '{image}' (looked in {looked}): check the name, or choose another image with --image"
    )]
    NotInImage {
        /// The program.
        program: String,
        /// The image.
        image: String,
        /// Folders of the image.
        looked: String,
    },
    /// A user of whom the image knows nothing.
    #[error(
        "image '{image}' is to run as '{user}', who is neither a number nor in its /etc/passwd and /etc/group"
    )]
    ImageUser {
        /// The user, with the group.
        user: String,
        /// The image.
        image: String,
    },
    /// A workload that is for images, on the host's own files.
    #[error(
        "this workload runs in an image alone, since it needs files of one or changes files of its box: name one with --image; 'tare workloads show' tells for which it is made (docs/images.md)"
    )]
    ImageOnly,
    /// An entry point without an image.
    #[error("--entrypoint is what is run of an image: name the image with --image")]
    EntryPointWithoutImage,
    /// A study that cannot be adaptive.
    #[error(transparent)]
    Adaptive(#[from] AdaptiveError),
    /// A malformed variable.
    #[error("'{0}' is no environment variable: give --env NAME=VALUE")]
    Environment(String),
    /// A parameter that a kernel does not have, or not so.
    #[error("{kernel} cannot have {parameter} {value}: {}", parameter_advice(.parameter, .range))]
    Parameter {
        /// The kernel.
        kernel: Kernel,
        /// `size` or `threads`.
        parameter: &'static str,
        /// What was given.
        value: u64,
        /// What is right; empty: it has none.
        range: String,
        /// Which of the workloads, from 0.
        index: usize,
    },
    /// What stands behind the name of a kernel.
    #[error("{kernel}: {why}")]
    KernelOption {
        /// The kernel.
        kernel: Kernel,
        /// What is wrong, and what would be right.
        why: String,
    },
    /// Ends of a kernel that has none.
    #[error("{kernel} has no two ends that could be in different places: leave {parameter} out", parameter = Ends::PARAMETER)]
    NoEnds {
        /// The kernel.
        kernel: Kernel,
        /// Which of the workloads, from 0.
        index: usize,
    },
    /// Everything that is named is left out.
    #[error(
        "none of the study's workloads can run here: 'tare plan' tells of each why, and 'tare doctor' what this host lacks"
    )]
    NothingToRun,
    /// More cells or trials than anybody could run.
    #[error(
        "that is {cells} cells in {blocks} blocks: give at most 100000 cells and {} trials",
        u32::MAX
    )]
    TooMany {
        /// Cells.
        cells: usize,
        /// Blocks.
        blocks: u32,
    },
    /// A cell with a level that the study does not have.
    #[error("a cell has the {what} '{name}', which the study does not have: choose one of {known}")]
    NoLevel {
        /// The factor.
        what: &'static str,
        /// The level.
        name: String,
        /// Its levels.
        known: String,
        /// Which entry of the list of cells; absent: the base.
        index: Option<usize>,
    },
    /// An effect of a workload that the study does not have.
    #[error(
        "the effect '{effect}' names the workload '{name}', which the study does not have: choose two of {known}"
    )]
    NoSuchEffect {
        /// The effect.
        effect: String,
        /// The workload.
        name: String,
        /// Its workloads.
        known: String,
        /// Which of the effects, from 0.
        index: usize,
    },
    /// A workload that is held against itself.
    #[error("an effect holds the workload '{name}' against itself: name two that differ")]
    EffectOfItself {
        /// The workload.
        name: String,
        /// Which of the effects, from 0.
        index: usize,
    },
    /// A cell twice.
    #[error("the cell '{cell}' is given twice: name each once")]
    CellTwice {
        /// The cell.
        cell: String,
        /// Which entry of the list gives it again.
        index: usize,
    },
    /// A cell without its baseline.
    #[error("the baseline of the cell '{cell}' is not among the cells: add '{baseline}'")]
    NoBaseline {
        /// The cell.
        cell: String,
        /// What it is held against.
        baseline: String,
        /// Which entry of the list gives the cell.
        index: usize,
    },
    /// A level that no cell has.
    #[error("the {what} '{name}' is in none of the cells: add a cell with it, or leave it out")]
    Unused {
        /// The factor.
        what: &'static str,
        /// The level.
        name: String,
    },
}

fn parameter_advice(parameter: &str, range: &str) -> String {
    if range.is_empty() {
        format!("it has no {parameter}, leave it out")
    } else {
        match range.split_once(" to ") {
            Some((least, most)) if least == most => format!("give {least}"),
            _ => format!("give {range}"),
        }
    }
}

impl DesignError {
    /// What the error is about, in the keys of a study file.
    pub const fn concern(&self) -> Concern {
        match self {
            Self::Platform(_) => ("platforms", None),
            Self::Workload(_)
            | Self::File(_)
            | Self::NearWorkload { .. }
            | Self::NoProgram { .. }
            | Self::TwoImages { .. }
            | Self::KernelOption { .. }
            | Self::NothingToRun => ("workload", None),
            Self::Size(_) | Self::TooManyCpus { .. } | Self::PinnedFraction(_) => ("cpus", None),
            Self::Carry(_)
            | Self::Printed(_)
            | Self::WorkloadsAndCommand
            | Self::IsaAndCommand
            | Self::WithoutCommand
            | Self::EntryPointWithoutImage
            | Self::Environment(_) => ("command", None),
            Self::ImageOnly
            | Self::ImageWithoutCommand { .. }
            | Self::NotInImage { .. }
            | Self::ImageUser { .. } => ("image", None),
            Self::Twice { what, index, .. } => (key_of(what), Some(*index)),
            Self::Unused { what, .. } => (key_of(what), None),
            Self::Baseline { .. } => ("baseline", None),
            Self::Instance(_) | Self::InstanceTooLarge { .. } | Self::HostTooSmall { .. } => {
                ("instances", None)
            }
            Self::TwoSizes => ("instances", None),
            Self::TooMuchMemory { .. }
            | Self::TooLittleMemory { .. }
            | Self::NotSideBySide { .. }
            | Self::NotKept { .. }
            | Self::OddMemory(_) => ("memory", None),
            Self::Adaptive(AdaptiveError::Blocks(_)) => ("blocks", None),
            Self::Adaptive(AdaptiveError::NothingToCompare) => ("adaptive", None),
            Self::ShortTimeout { .. } => ("timeout", None),
            Self::OutOfRange { what, .. } => (key_of(what), None),
            Self::Parameter { parameter, index, .. } => (parameter, Some(*index)),
            Self::NoEnds { index, .. } => (Ends::PARAMETER, Some(*index)),
            Self::TooMany { .. } => ("platforms", None),
            Self::NoLevel { index: None, .. } => ("base", None),
            Self::NoLevel { index, .. } => ("cells", *index),
            Self::NoSuchEffect { index, .. } | Self::EffectOfItself { index, .. } => ("effect", Some(*index)),
            Self::CellTwice { index, .. } | Self::NoBaseline { index, .. } => ("cells", Some(*index)),
        }
    }
}

/// What whoever gives so few bytes may have missed.
const fn without_unit(bytes: u64) -> &'static str {
    if bytes < 1 << 20 {
        " (a number without a unit counts bytes)"
    } else {
        ""
    }
}

/// The key in a study file of a factor or an option.
const fn key_of(what: &str) -> &'static str {
    match what.as_bytes() {
        b"platform" => "platforms",
        b"instance type" => "instances",
        b"provisioning" => "provisioning",
        b"effect" => "effect",
        b"--trial-time" => "trial_time",
        b"--slices" => "slices",
        b"--blocks" => "blocks",
        b"--margin" => "margin",
        _ => "workload",
    }
}
