//! Why a study cannot be, and what would be right.

use crate::looks::AdaptiveError;
use crate::printed::PrintedError;
use crate::workload_file::WorkloadFileError;
use tare_host::carry::CarryError;
use tare_model::kernel::{Kernel, UnknownKernel};
use tare_model::platform::PlatformPathError;
use tare_model::size::{
    Cpus, InstanceError, InstanceType, SizeError, counted, show_cpus, show_memory, show_seconds,
};
use tare_model::topology::Topology;

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
    #[error(transparent)]
    Size(#[from] SizeError),
    /// Nearly the name of a workload of the catalogue.
    #[error("unknown workload '{name}': did you mean '{near}'?")]
    NearWorkload {
        /// The name as given.
        name: String,
        /// What may be meant.
        near: &'static str,
    },
    #[error(transparent)]
    File(#[from] WorkloadFileError),
    /// A workload whose program is not here.
    #[error(
        "workload '{workload}' needs the program {program}, which is not installed: install it (Debian: apt-get install {package})"
    )]
    NoProgram {
        /// Workload that needs the program.
        workload: String,
        /// Program, looked up on PATH or in the image.
        program: String,
        /// The Debian package that has it.
        package: String,
    },
    /// Workloads that cannot have the same root.
    #[error(
        "all boxes of a study share one image, but workload {first} and {second}: choose one with --image NAME, or use the programs of this host with --image none"
    )]
    TwoImages {
        /// A workload, and what it names.
        first: String,
        /// A workload that names a different image, with that image.
        second: String,
    },
    /// A figure or a check of what a command prints.
    #[error(transparent)]
    Printed(#[from] PrintedError),
    /// A file to carry.
    #[error(transparent)]
    Carry(#[from] CarryError),
    /// Something is given twice.
    #[error("{what} '{name}' is given twice: give each once")]
    Twice {
        /// `platform` or `workload`.
        what: &'static str,
        /// Name as given.
        name: String,
        /// Which of the list the second one is, from 0.
        index: usize,
    },
    /// The baseline is not compared.
    #[error(
        "the baseline '{baseline}' is not among the platforms {platforms}: add it with --platforms, or choose another with --baseline"
    )]
    Baseline {
        /// Baseline as given, a platform path.
        baseline: String,
        /// Chosen platforms, joined with commas.
        platforms: String,
    },
    /// An instance type.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// One that does not fit.
    #[error(
        "instance type '{name}' is {} and {}, and this host has {} that may be used and {}: omit it, or define a smaller one as NAME=CPUS:MEMORY",
        show_cpus(.size.cpus), show_memory(.size.memory_bytes), counted(*.cpus, "CPU"), show_memory(*.memory_bytes)
    )]
    InstanceTooLarge {
        /// Name as given.
        name: String,
        /// CPUs and memory of the type.
        size: InstanceType,
        /// CPUs of the host.
        cpus: u32,
        /// Memory of the host.
        memory_bytes: u64,
    },
    /// One that is to run on more CPUs of the host than there are.
    #[error(
        "instance type '{name}' should run on {} of the host, but this host has {} that may be used: omit it, or give it fewer",
        counted(*.asked, "CPU"), counted(*.available, "CPU")
    )]
    HostTooSmall {
        /// Name as given.
        name: String,
        /// What was asked for.
        asked: u32,
        /// CPUs that tare may use on this host.
        available: u32,
    },
    /// Instance types and a size.
    #[error("--instance sets both CPUs and memory: omit --cpus and --memory")]
    TwoSizes,
    /// More CPUs than there are.
    #[error(
        "{asked} CPUs are requested, but this host has {available} that tare may use: set --cpus to at most {available}"
    )]
    TooManyCpus {
        /// What was asked for.
        asked: Cpus,
        /// CPUs that tare may use on this host.
        available: u32,
    },
    /// A fraction of a CPU cannot be pinned.
    #[error(
        "a pinned box needs whole CPUs, not {0}: set --cpus to a whole number, or use --provisioning vanilla"
    )]
    PinnedFraction(Cpus),
    /// More memory than there is.
    #[error("{} of memory are requested, but this host has {}: reduce --memory", show_memory(*.asked), show_memory(*.available))]
    TooMuchMemory {
        /// What was asked for, in bytes.
        asked: u64,
        /// What there is, in bytes.
        available: u64,
    },
    #[error("{} of memory are too little: {what} needs at least {}: set --memory to {}M or more{}", show_memory(*.asked), show_memory(*.needed), .needed >> 20, without_unit(*.asked))]
    TooLittleMemory {
        /// What was asked for, in bytes.
        asked: u64,
        /// What is needed, in bytes.
        needed: u64,
        /// A box, or the workload that needs the memory.
        what: String,
    },
    /// The boxes of one cell do not fit the host together.
    #[error(
        "the roles of a workload need {boxes} boxes at once, with {} of memory in total, and this host has {} for them: reduce --memory or the count of a role",
        show_memory(*.asked), show_memory(*.available)
    )]
    LargeCell {
        /// Boxes that would exist at the same time.
        boxes: usize,
        /// What they ask for together, in bytes.
        asked: u64,
        /// What so many may have together, in bytes.
        available: u64,
    },
    /// Boxes that must stand side by side, and do not fit the host together.
    #[error(
        "in slices, a trial and its baselines run at once, in {boxes} boxes with {} of memory in total, and this host has {} for them: reduce --memory, use one --provisioning, or run one box after another with --slices off",
        show_memory(*.asked), show_memory(*.available)
    )]
    NotSideBySide {
        /// Boxes that would exist at the same time.
        boxes: usize,
        /// What they ask for together, in bytes.
        asked: u64,
        /// What so many may have together, in bytes.
        available: u64,
    },
    /// Boxes that are kept to the study's end, and do not fit the host together.
    #[error(
        "--fresh study keeps all {boxes} boxes to the end, with {} of memory in total, and this host has {} for them: reduce --memory, drop platforms, or use --fresh block",
        show_memory(*.asked), show_memory(*.available)
    )]
    NotKept {
        /// Boxes that would exist at the same time.
        boxes: usize,
        /// What they ask for together, in bytes.
        asked: u64,
        /// What so many may have together, in bytes.
        available: u64,
    },
    /// A memory size that a VM cannot have.
    #[error("memory must be a whole number of MiB, and {0} B is not: add a unit, such as 512M or 2G")]
    OddMemory(u64),
    /// A number out of range.
    #[error("{what} is {value}: give {range}")]
    OutOfRange {
        /// Option or key.
        what: &'static str,
        /// Value as given.
        value: String,
        /// Allowed range, in words.
        range: &'static str,
    },
    /// No trial could end in time.
    #[error(
        "--timeout is {} but a trial should take {}, so every trial would be aborted: raise --timeout or reduce --trial-time",
        show_seconds(*.seconds), show_seconds(*.trial_seconds)
    )]
    ShortTimeout {
        /// Seconds after which a trial is given up.
        seconds: f64,
        /// Seconds that it aims for.
        trial_seconds: f64,
    },
    /// Built-in workloads and a command.
    #[error("--workloads cannot be combined with a command: omit --workloads or the command after --")]
    WorkloadsAndCommand,
    /// An instruction set and a command.
    #[error("--isa selects the code of built-in workloads and has no effect on a command: omit it")]
    IsaAndCommand,
    /// Files to carry without a command.
    #[error(
        "--with, --env, --setup and --teardown need a command: add it after --, as in 'tare run --with FILE -- ./program'"
    )]
    WithoutCommand,
    /// An image that says nothing of what is run.
    #[error(
        "image '{image}' has neither an entry point nor a command: give a command after --, or built-in workloads with -w"
    )]
    ImageWithoutCommand {
        /// Image as named by the user or a workload.
        image: String,
    },
    /// A program that is not in the image.
    #[error(
        "there is no program '{program}' in the image '{image}' (searched {looked}): check the name, or choose another image with --image"
    )]
    NotInImage {
        /// Program, looked up on PATH or in the image.
        program: String,
        /// Image as named by the user or a workload.
        image: String,
        /// Folders of the image.
        looked: String,
    },
    /// A user of whom the image knows nothing.
    #[error(
        "image '{image}' wants to run as '{user}', which is neither a number nor in its /etc/passwd and /etc/group"
    )]
    ImageUser {
        /// The user, with the group.
        user: String,
        /// Image as named by the user or a workload.
        image: String,
    },
    /// A workload that is for images, on the host's own files.
    #[error(
        "this workload only runs in an image, as it needs its files or changes files of its box: choose one with --image; 'tare workloads show' names the right one (docs/images.md)"
    )]
    ImageOnly,
    /// An entry point without an image.
    #[error("--entrypoint needs an image: choose one with --image")]
    EntryPointWithoutImage,
    /// A study that cannot be adaptive.
    #[error(transparent)]
    Adaptive(#[from] AdaptiveError),
    /// A malformed variable.
    #[error("'{0}' is not an environment variable: write --env NAME=VALUE")]
    Environment(String),
    /// A parameter that a kernel does not have, or not so.
    #[error("{kernel} cannot have {parameter} {value}: {}", parameter_advice(.parameter, .range))]
    Parameter {
        /// Workload whose parameter is wrong.
        kernel: Kernel,
        /// `size` or `threads`.
        parameter: &'static str,
        /// Value as given.
        value: u64,
        /// What is right; empty: it has none.
        range: String,
        /// Which of the workloads, from 0.
        index: usize,
    },
    /// What stands behind the name of a kernel.
    #[error("{kernel}: {why}")]
    KernelOption {
        /// Workload whose parameter is wrong.
        kernel: Kernel,
        /// What is wrong, and what would be right.
        why: String,
    },
    /// Ends of a kernel that has none.
    #[error("{kernel} has no client and server that could run in different places: omit {parameter}", parameter = Topology::PARAMETER)]
    NoEnds {
        /// Workload whose parameter is wrong.
        kernel: Kernel,
        /// Which of the workloads, from 0.
        index: usize,
    },
    /// Everything that is named is left out.
    #[error(
        "none of the study's workloads can run here: 'tare plan' says why, and 'tare doctor' shows what this host lacks"
    )]
    NothingToRun,
    /// More cells or trials than anybody could run.
    #[error(
        "{cells} cells in {blocks} blocks are too many: the limits are 100000 cells and {} trials",
        u32::MAX
    )]
    TooMany {
        /// Cells per block.
        cells: usize,
        /// Planned blocks.
        blocks: u32,
    },
    /// A cell with a level that the study does not have.
    #[error("a cell has the {what} '{name}', which the study does not have: choose one of {known}")]
    NoLevel {
        /// Factor, such as platform.
        what: &'static str,
        /// Level that the study does not use.
        name: String,
        /// Levels of the study, joined with commas.
        known: String,
        /// Which entry of the list of cells; absent: the base.
        index: Option<usize>,
    },
    /// An effect of a workload that the study does not have.
    #[error(
        "the effect '{effect}' names the workload '{name}', which the study does not have: choose two of {known}"
    )]
    NoSuchEffect {
        /// Name of the effect.
        effect: String,
        /// Workload as given.
        name: String,
        /// Workloads of the study, joined with commas.
        known: String,
        /// Which of the effects, from 0.
        index: usize,
    },
    /// A workload that is held against itself.
    #[error("an effect compares the workload '{name}' with itself: give two different ones")]
    EffectOfItself {
        /// Workload as given.
        name: String,
        /// Which of the effects, from 0.
        index: usize,
    },
    #[error("the cell '{cell}' is given twice: give each once")]
    CellTwice {
        /// Cell, as in results.
        cell: String,
        /// Which entry of the list gives it again.
        index: usize,
    },
    /// A cell without its baseline.
    #[error("the baseline of the cell '{cell}' is not among the cells: add '{baseline}'")]
    NoBaseline {
        /// Cell, as in results.
        cell: String,
        /// What it is held against.
        baseline: String,
        /// Which entry of the list gives the cell.
        index: usize,
    },
    /// Settings of a workload that are not all in the cells of a kind of box.
    #[error(
        "'{kind}' has some of the settings of [tuning] and not others, so that nothing could be said of them: give it all, or none"
    )]
    SplitTuning { kind: String },
    /// A level that no cell has.
    #[error("the {what} '{name}' is in none of the cells: add a cell with it, or omit it")]
    Unused {
        /// Factor, such as platform.
        what: &'static str,
        /// Level that the study does not use.
        name: String,
    },
}

fn parameter_advice(parameter: &str, range: &str) -> String {
    if range.is_empty() {
        format!("it has no {parameter}; omit it")
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
            | Self::LargeCell { .. }
            | Self::NotKept { .. }
            | Self::OddMemory(_) => ("memory", None),
            Self::Adaptive(AdaptiveError::Blocks(_)) => ("blocks", None),
            Self::Adaptive(AdaptiveError::NothingToCompare) => ("adaptive", None),
            Self::ShortTimeout { .. } => ("timeout", None),
            Self::OutOfRange { what, .. } => (key_of(what), None),
            Self::Parameter { parameter, index, .. } => (parameter, Some(*index)),
            Self::NoEnds { index, .. } => (Topology::PARAMETER, Some(*index)),
            Self::TooMany { .. } => ("platforms", None),
            Self::SplitTuning { .. } => ("cells", None),
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
        b"--precision" => "precision",
        _ => "workload",
    }
}
