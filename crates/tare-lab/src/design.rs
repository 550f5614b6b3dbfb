//! From what a user asks to a validated study.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use tare_box::carry::{self, CarryError, Needs};
use tare_box::host;
use tare_model::host::HostFacts;
use tare_model::kernel::{Isa, Kernel, KernelSpec, UnknownKernel};
use tare_model::platform::{PlatformPath, PlatformPathError, Provisioning};
use tare_model::size::{
    Cpus, InstanceError, InstanceType, SizeError, counted, parse_instance, show_cpus, show_memory,
};
use tare_model::study::{CommandSpec, Fresh, Instance, Study, Workload};

/// What a user asks; what is absent gets a default that fits the host.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Platforms; empty: the caller chooses.
    pub platforms: Vec<String>,
    /// The baseline; absent: the first platform.
    pub baseline: Option<String>,
    /// Ways to grant CPUs; empty: both.
    pub provisioning: Vec<Provisioning>,
    /// Names of built-in workloads; empty: all, unless there is a command.
    pub workloads: Vec<String>,
    /// The user's own command.
    pub command: Option<CommandWish>,
    /// CPUs of a box.
    pub cpus: Option<Cpus>,
    /// Memory of a box in bytes.
    pub memory_bytes: Option<u64>,
    /// Instance types instead of the two, as the user wrote them.
    pub instances: Vec<String>,
    /// Blocks.
    pub blocks: Option<u32>,
    /// Time budget in seconds.
    pub budget_seconds: Option<f64>,
    /// How long a box is used.
    pub fresh: Option<Fresh>,
    /// Aim for a trial in seconds; 0 runs a command once per trial.
    pub trial_seconds: Option<f64>,
    /// Seconds after which a trial is given up.
    pub timeout_seconds: Option<f64>,
    /// Do not wait for a quiet host.
    pub no_settle: bool,
    /// Margin of equivalence in percent.
    pub margin_percent: Option<f64>,
    /// Seed of every random order.
    pub seed: Option<u64>,
    /// Instruction set of the kernels.
    pub isa: Option<Isa>,
}

/// A command as the user gave it.
#[derive(Debug, Clone, Default)]
pub struct CommandWish {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Files and folders to carry into boxes.
    pub with: Vec<PathBuf>,
    /// Environment, `NAME=VALUE`.
    pub env: Vec<String>,
}

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
    },
    /// The baseline is not compared.
    #[error(
        "the baseline '{baseline}' is not among the platforms {platforms}: add it with -p, or choose one of them with --baseline"
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
        available: usize,
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
    #[error("{} of memory are too little: {what} needs at least {}: give --memory {}M or more", show_memory(*.asked), show_memory(*.needed), .needed >> 20)]
    TooLittleMemory {
        /// What was asked for, in bytes.
        asked: u64,
        /// What is needed, in bytes.
        needed: u64,
        /// What needs it.
        what: &'static str,
    },
    /// A memory size that a VM cannot have.
    #[error("memory is given in whole MiB, not {0} B: round it, such as 512M")]
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
    /// Built-in workloads and a command.
    #[error(
        "--workloads names built-in ones, and a command of yours is measured by itself: leave out --workloads, or the command after --"
    )]
    WorkloadsAndCommand,
    /// Files to carry without a command.
    #[error(
        "--with and --env belong to a command of yours: add it after --, as in 'tare run --with FILE -- ./program'"
    )]
    WithoutCommand,
    /// A malformed variable.
    #[error("'{0}' is no environment variable: give --env NAME=VALUE")]
    Environment(String),
}

/// Numbers of blocks that a study may have.
pub const BLOCKS: RangeInclusive<u32> = 1..=1_000_000;
/// Margins that a study may have, in words.
pub const MARGINS: &str = "a percentage from 0.01 to 100";
/// Smallest box: an agent, a kernel of ours and, in a VM, a Linux kernel.
const MIN_MEMORY: u64 = 64 << 20;
/// What a VM's kernel, an agent and page tables take beside a workload's memory.
const MEMORY_OVERHEAD: u64 = 96 << 20;
/// Last-level cache assumed where the host does not tell.
const UNKNOWN_LLC: u64 = 32 << 20;
/// Order of the linpack matrix: the classical LINPACK 1000.
const LINPACK_ORDER: u64 = 1000;

/// Makes a study of what a user asks, on this host.
///
/// # Errors
/// [`DesignError`], one for the first thing that is wrong.
pub fn study(wishes: &Wishes, facts: &HostFacts) -> Result<Study, DesignError> {
    let platforms = platforms(&wishes.platforms)?;
    let baseline = match &wishes.baseline {
        Some(name) => name.parse()?,
        None => platforms[0].clone(),
    };
    if !platforms.contains(&baseline) {
        let platforms = platforms
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ");
        return Err(DesignError::Baseline {
            baseline: baseline.to_string(),
            platforms,
        });
    }
    let trial_seconds = in_range(
        "--trial-time",
        wishes.trial_seconds.unwrap_or(0.5),
        0.0..=3600.0,
        "0 s to 1 h",
    )?;
    if trial_seconds == 0.0 && wishes.command.is_none() {
        let value = "0".to_owned();
        return Err(DesignError::OutOfRange {
            what: "--trial-time",
            value,
            range: "more than 0 for built-in workloads",
        });
    }
    let provisioning = if wishes.provisioning.is_empty() {
        Provisioning::ALL.to_vec()
    } else {
        once(&wishes.provisioning)
    };
    let cpus = wishes.cpus.map_or_else(default_cpus, Ok)?;
    let kernels = kernels(wishes, cpus, facts, trial_seconds)?;
    let instances = instances(wishes, &provisioning, cpus, &kernels, facts)?;
    let workloads = match &wishes.command {
        Some(command) => vec![Workload::Command(command_spec(command)?)],
        None => kernels.into_iter().map(Workload::Kernel).collect(),
    };
    let timeout = wishes
        .timeout_seconds
        .unwrap_or_else(|| (20.0 * trial_seconds).max(60.0));
    let margin = in_range(
        "--margin",
        wishes.margin_percent.unwrap_or(1.0),
        0.01..=100.0,
        MARGINS,
    )?;
    Ok(Study {
        platforms,
        baseline,
        provisioning,
        instances,
        workloads,
        blocks: blocks(wishes.blocks.unwrap_or(10))?,
        budget_seconds: wishes.budget_seconds,
        fresh: wishes.fresh.unwrap_or(Fresh::Block),
        trial_seconds,
        timeout_seconds: timeout,
        settle: !wishes.no_settle,
        margin: margin / 100.0,
        seed: wishes.seed.unwrap_or_else(random_seed),
    })
}

fn platforms(names: &[String]) -> Result<Vec<PlatformPath>, DesignError> {
    let paths = names
        .iter()
        .map(|name| name.parse())
        .collect::<Result<Vec<PlatformPath>, _>>()?;
    match first_twice(&paths) {
        Some(path) => Err(DesignError::Twice {
            what: "platform",
            name: path.to_string(),
        }),
        None if paths.is_empty() => Ok(vec!["native".parse()?]),
        None => Ok(paths),
    }
}

fn first_twice<T: PartialEq>(items: &[T]) -> Option<&T> {
    items
        .iter()
        .enumerate()
        .find(|(i, item)| items[..*i].contains(item))
        .map(|(_, item)| item)
}

fn once(provisioning: &[Provisioning]) -> Vec<Provisioning> {
    Provisioning::ALL
        .into_iter()
        .filter(|p| provisioning.contains(p))
        .collect()
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
            value: value.to_string(),
            range,
        })
    }
}

fn blocks(blocks: u32) -> Result<u32, DesignError> {
    let range = "a whole number from 1 to 1000000";
    if BLOCKS.contains(&blocks) {
        Ok(blocks)
    } else {
        Err(DesignError::OutOfRange {
            what: "--blocks",
            value: blocks.to_string(),
            range,
        })
    }
}

fn random_seed() -> u64 {
    use rand::{Rng, SeedableRng};
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    let mixed = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
    // Short enough to be typed again.
    u64::from(rand_chacha::ChaCha8Rng::seed_from_u64(mixed).next_u32())
}

/// Half the CPUs: the controller, the engines and the host need some too.
fn default_cpus() -> Result<Cpus, SizeError> {
    let half = host::allowed_cpus().len().div_ceil(2).max(1);
    half.to_string().parse()
}

/// The sizes of boxes: those that are named, or the one of --cpus and --memory.
fn instances(
    wishes: &Wishes,
    provisioning: &[Provisioning],
    cpus: Cpus,
    kernels: &[KernelSpec],
    facts: &HostFacts,
) -> Result<Vec<Instance>, DesignError> {
    if wishes.instances.is_empty() {
        let size = InstanceType {
            cpus,
            memory_bytes: memory(wishes.memory_bytes, kernels, facts)?,
        };
        return Ok(vec![Instance {
            name: None,
            size,
            pinned_set: pinned_set(provisioning, cpus)?,
        }]);
    }
    if wishes.cpus.is_some() || wishes.memory_bytes.is_some() {
        return Err(DesignError::TwoSizes);
    }
    let read = wishes.instances.iter().map(|text| parse_instance(text));
    let types = read.collect::<Result<Vec<_>, _>>()?;
    let names: Vec<&String> = types.iter().map(|(name, _)| name).collect();
    if let Some(name) = first_twice(&names) {
        return Err(DesignError::Twice {
            what: "instance type",
            name: (*name).clone(),
        });
    }
    let named = |(name, size): (String, InstanceType)| {
        fits_host(&name, size, facts)?;
        memory(Some(size.memory_bytes), kernels, facts)?;
        Ok(Instance {
            pinned_set: pinned_set(provisioning, size.cpus)?,
            name: Some(name),
            size,
        })
    };
    types.into_iter().map(named).collect()
}

fn fits_host(name: &str, size: InstanceType, facts: &HostFacts) -> Result<(), DesignError> {
    let cpus = u32::try_from(host::allowed_cpus().len()).unwrap_or(u32::MAX);
    if size.cpus.as_f64() <= f64::from(cpus) && size.memory_bytes <= facts.memory_bytes {
        return Ok(());
    }
    Err(DesignError::InstanceTooLarge {
        name: name.to_owned(),
        size,
        cpus,
        memory_bytes: facts.memory_bytes,
    })
}

fn pinned_set(provisioning: &[Provisioning], cpus: Cpus) -> Result<Vec<u32>, DesignError> {
    let available = host::allowed_cpus().len();
    if cpus.as_f64() > f64::from(u32::try_from(available).unwrap_or(u32::MAX)) {
        return Err(DesignError::TooManyCpus {
            asked: cpus,
            available,
        });
    }
    if !provisioning.contains(&Provisioning::Pinned) {
        return Ok(Vec::new());
    }
    if !cpus.milli().is_multiple_of(1000) {
        return Err(DesignError::PinnedFraction(cpus));
    }
    Ok(host::pinned_set(cpus.whole()))
}

fn kernels(
    wishes: &Wishes,
    cpus: Cpus,
    facts: &HostFacts,
    seconds: f64,
) -> Result<Vec<KernelSpec>, DesignError> {
    let named = wishes
        .workloads
        .iter()
        .map(|name| name.parse())
        .collect::<Result<Vec<Kernel>, _>>()?;
    if let Some(kernel) = first_twice(&named) {
        return Err(DesignError::Twice {
            what: "workload",
            name: kernel.to_string(),
        });
    }
    let chosen = match (&wishes.command, named.is_empty()) {
        (Some(command), false) if !command.argv.is_empty() => return Err(DesignError::WorkloadsAndCommand),
        (Some(_), _) => Vec::new(),
        (None, true) => Kernel::ALL.to_vec(),
        (None, false) => named,
    };
    Ok(chosen
        .into_iter()
        .map(|kernel| kernel_spec(kernel, wishes.isa, cpus.whole(), facts, seconds))
        .collect())
}

/// The run of a kernel that fits this host: the same for `tare kernel` and for every box.
pub fn kernel_spec(
    kernel: Kernel,
    isa: Option<Isa>,
    threads: u32,
    facts: &HostFacts,
    seconds: f64,
) -> KernelSpec {
    let size = match kernel {
        // STREAM's rule: each array at least four times the last-level cache.
        Kernel::Stream => 4 * facts.llc_bytes.unwrap_or(UNKNOWN_LLC),
        Kernel::Linpack => LINPACK_ORDER,
        Kernel::Syscall | Kernel::Spawn => 0,
    };
    let threads = if kernel == Kernel::Stream { threads } else { 1 };
    KernelSpec {
        kernel,
        isa: isa.unwrap_or(Isa::Baseline),
        threads,
        size,
        seconds,
    }
}

fn memory(asked: Option<u64>, kernels: &[KernelSpec], facts: &HostFacts) -> Result<u64, DesignError> {
    let arrays = kernels
        .iter()
        .find(|spec| spec.kernel == Kernel::Stream)
        .map_or(0, |spec| 3 * spec.size);
    let needed = (arrays + arrays / 10 + MEMORY_OVERHEAD).next_multiple_of(1 << 20);
    // The default grows in steps, so that hosts alike get the same.
    let bytes = asked.unwrap_or_else(|| needed.next_multiple_of(1 << 30));
    if bytes > facts.memory_bytes {
        return Err(DesignError::TooMuchMemory {
            asked: bytes,
            available: facts.memory_bytes,
        });
    }
    if bytes < MIN_MEMORY {
        return Err(DesignError::TooLittleMemory {
            asked: bytes,
            needed: MIN_MEMORY,
            what: "a box",
        });
    }
    if arrays > 0 && bytes < needed {
        let what = "stream (three arrays, each four times the last-level cache)";
        return Err(DesignError::TooLittleMemory {
            asked: bytes,
            needed,
            what,
        });
    }
    if !bytes.is_multiple_of(1 << 20) {
        return Err(DesignError::OddMemory(bytes));
    }
    Ok(bytes)
}

fn command_spec(wish: &CommandWish) -> Result<CommandSpec, DesignError> {
    let (name, arguments) = wish.argv.split_first().ok_or(DesignError::WithoutCommand)?;
    let program = carry::find_program(name)?;
    let mut carried = vec![text(&program)];
    for path in &wish.with {
        carried.extend(carry::files_below(path)?.iter().map(|p| text(p)));
    }
    carried.sort();
    carried.dedup();
    let host_only = match carry::needs(&program)? {
        Needs::Interpreter(interpreter) if !carried.contains(&interpreter) => Some(format!(
            "{} needs {interpreter}, which the box does not have: link it statically, or carry what it needs with --with",
            program.display()
        )),
        _ => None,
    };
    let mut env = vec![("PATH".to_owned(), carry::PATH.to_owned())];
    for variable in &wish.env {
        let (name, value) = variable
            .split_once('=')
            .ok_or_else(|| DesignError::Environment(variable.clone()))?;
        if name.is_empty() {
            return Err(DesignError::Environment(variable.clone()));
        }
        env.push((name.to_owned(), value.to_owned()));
    }
    let argv = std::iter::once(text(&program))
        .chain(arguments.iter().cloned())
        .collect();
    Ok(CommandSpec {
        argv,
        env,
        carried,
        host_only,
    })
}

fn text(path: &std::path::Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> HostFacts {
        HostFacts {
            memory_bytes: 8 << 30,
            llc_bytes: Some(32 << 20),
            ..HostFacts::default()
        }
    }

    fn refused(wishes: &Wishes) -> String {
        study(wishes, &facts()).unwrap_err().to_string()
    }

    #[test]
    fn the_default_study_has_every_kernel_both_ways() {
        let study = study(
            &Wishes {
                cpus: "1".parse().ok(),
                ..Wishes::default()
            },
            &facts(),
        )
        .unwrap();
        assert_eq!(study.workloads.len(), Kernel::ALL.len());
        assert_eq!(study.provisioning, Provisioning::ALL);
        assert_eq!(study.instances[0].size.memory_bytes, 1 << 30);
        assert_eq!(study.baseline.to_string(), "native");
    }

    #[test]
    fn each_bad_wish_is_named_with_what_would_be_right() {
        let cpus = |text: &str| text.parse().ok();
        let wishes = Wishes {
            cpus: cpus("1"),
            ..Wishes::default()
        };
        let with = |change: &dyn Fn(&mut Wishes)| {
            let mut changed = wishes.clone();
            change(&mut changed);
            refused(&changed)
        };
        assert!(with(&|w| w.platforms = vec!["Docker!".into()]).contains("'Docker!' is not a platform"));
        assert!(with(&|w| w.platforms = vec!["lxc".into(), "lxc".into()]).contains("given twice"));
        assert!(with(&|w| w.baseline = Some("lxc".into())).contains("not among the platforms native"));
        assert!(with(&|w| w.workloads = vec!["steam".into()]).contains("unknown workload 'steam'"));
        assert!(with(&|w| w.cpus = cpus("4096")).contains("4096 CPUs are asked for"));
        assert!(with(&|w| w.cpus = cpus("0.5")).contains("--provisioning vanilla"));
        assert!(with(&|w| w.memory_bytes = Some(64 << 30)).contains("give --memory less"));
        assert!(with(&|w| w.memory_bytes = Some(1 << 20)).contains("too little"));
        assert!(with(&|w| w.memory_bytes = Some(256 << 20)).contains("stream"));
        assert!(with(&|w| w.blocks = Some(0)).contains("--blocks"));
        assert!(with(&|w| w.margin_percent = Some(-1.0)).contains("--margin"));
        assert!(
            with(&|w| w.command = Some(CommandWish {
                argv: vec!["no-such-cmd".into()],
                ..CommandWish::default()
            }))
            .contains("no program 'no-such-cmd'")
        );
        assert!(
            with(&|w| {
                w.workloads = vec!["stream".into()];
                w.command = Some(CommandWish {
                    argv: vec!["true".into()],
                    ..CommandWish::default()
                });
            })
            .contains("leave out --workloads")
        );
    }

    #[test]
    fn instance_types_are_a_factor_and_those_that_do_not_fit_are_refused_with_the_numbers() {
        let wishes = |list: &[&str]| Wishes {
            workloads: vec!["syscall".into(), "stream".into()],
            provisioning: vec![Provisioning::Vanilla],
            instances: list.iter().map(ToString::to_string).collect(),
            ..Wishes::default()
        };
        let study = study(&wishes(&["half=0.5:1G", "whole=1:2G"]), &facts()).unwrap();
        let kinds: Vec<String> = study.box_kinds().iter().map(ToString::to_string).collect();
        assert_eq!(kinds, ["native vanilla half", "native vanilla whole"]);
        let whole = study.instance_of(&study.box_kinds()[1]).unwrap();
        assert_eq!(whole.size.memory_bytes, 2 << 30);
        let refused = |list: &[&str]| super::study(&wishes(list), &facts()).unwrap_err().to_string();
        let large = refused(&["16xlarge"]);
        assert!(
            large.contains("64 CPUs and 256 GiB") && large.contains("8 GiB"),
            "{large}"
        );
        assert!(refused(&["a=1:1G", "a=1:2G"]).contains("given twice"));
        assert!(refused(&["huge"]).contains("16xlarge"));
        assert!(refused(&["small=1:128M"]).contains("stream"));
        let both = Wishes {
            cpus: "1".parse().ok(),
            ..wishes(&["a=1:1G"])
        };
        assert!(
            super::study(&both, &facts())
                .unwrap_err()
                .to_string()
                .contains("leave out --cpus")
        );
    }

    #[test]
    fn a_dynamic_command_says_why_it_stays_on_the_host() {
        let command = CommandWish {
            argv: vec!["sh".into()],
            ..CommandWish::default()
        };
        let wishes = Wishes {
            cpus: "1".parse().ok(),
            command: Some(command),
            ..Wishes::default()
        };
        let study = study(&wishes, &facts()).unwrap();
        let Workload::Command(spec) = &study.workloads[0] else {
            panic!("a command")
        };
        assert!(
            spec.host_only.as_ref().is_some_and(|why| why.contains("--with")),
            "{spec:?}"
        );
    }
}
