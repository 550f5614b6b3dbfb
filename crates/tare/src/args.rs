//! The command line: plain data, nothing done.

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use tare_lab::design::{self, CommandWish, Wishes};
use tare_model::kernel::Isa;
use tare_model::platform::Provisioning;
use tare_model::size::{self, Cpus};
use tare_model::study::Fresh;

const EXIT_CODES: &str = "Exit codes: 0 done; 1 a trial or a check failed; 2 bad input, or nothing can run; \
    130 stopped by Ctrl-C (the results file is whole and can be continued).";

/// What does the box cost? Runs the same work natively, in containers and in
/// virtual machines, under the same limits, and says what each costs.
#[derive(Debug, Parser)]
#[command(name = "tare", version, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Tell what can run here, what is missing and how to get it, and what would disturb a measurement
    Doctor(DoctorArgs),
    /// Tell what a run would do and how long it would take, without running anything
    Plan(PlanArgs),
    /// Measure: built-in workloads, or a command of yours after --
    Run(RunArgs),
    /// Analyse a results file
    Report(ReportArgs),
    /// Check on real boxes that platforms keep what every platform promises
    Check(CheckArgs),
    /// Measure how idle boxes start, cold and warm, what memory each further one takes, and how many fit
    Density(DensityArgs),
    /// Remove what crashed runs left, and what is kept between runs
    Clean(CleanArgs),
    /// Run one built-in workload here and now, outside any box
    Kernel(KernelArgs),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of tare, or of a subcommand
    Man {
        /// The subcommand, such as run
        subcommand: Option<String>,
    },
    /// Serve inside a box
    #[command(hide = true)]
    Agent(AgentArgs),
    /// Act a part for a check, inside a box
    #[command(hide = true)]
    RunAct {
        #[arg(allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Hold a frozen box for a check, which kills this process
    #[command(hide = true)]
    RunHold {
        platform: String,
        #[command(flatten)]
        state: StateArgs,
    },
    /// Run a kernel for the agent
    #[command(hide = true)]
    RunKernel { spec: String },
    /// Run a proof for the agent
    #[command(hide = true)]
    RunProof { spec: String },
}

/// Where runs keep their files.
#[derive(Debug, Args)]
pub struct StateArgs {
    /// Folder for the files of runs and boxes
    #[arg(long, value_name = "DIR", env = "TARE_STATE_DIR", global = false)]
    pub state_dir: Option<PathBuf>,
}

impl StateArgs {
    /// The folder.
    pub fn folder(&self) -> PathBuf {
        self.state_dir
            .clone()
            .unwrap_or_else(tare_box::state::default_folder)
    }
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub state: StateArgs,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Platforms, such as docker or 'vm?accel=tcg' [default: all that can run here]
    #[arg(value_name = "PLATFORM")]
    pub platforms: Vec<String>,
    /// Only these checks, such as hello,freeze
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub only: Vec<String>,
    /// Boxes that many-boxes makes in a row [default: 50, or 5 where one takes seconds]
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = boxes)]
    pub boxes: Option<u32>,
    /// Print the checks and what they hold a platform to, and check nothing
    #[arg(long)]
    pub list: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub state: StateArgs,
}

#[derive(Debug, Args)]
pub struct DensityArgs {
    /// Platforms, such as native,docker,lxc [default: those of the default study that can run here]
    #[arg(short, long, value_delimiter = ',', value_name = "LIST")]
    pub platforms: Vec<String>,
    /// Idle boxes that live at once; how many more would fit is extrapolated
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = idle_boxes, default_value_t = 10)]
    pub boxes: u32,
    /// Cold starts, and as many warm ones; the host's caches are dropped before each cold one
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = starts, default_value_t = 5)]
    pub starts: u32,
    /// Memory limit of each box
    #[arg(long, allow_negative_numbers = true, value_name = "SIZE", value_parser = size::parse_memory, default_value = "256M")]
    pub memory: u64,
    /// Also store readings and figures in this file, as JSON
    #[arg(short, long, value_name = "FILE", value_parser = file_to_make())]
    pub output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub state: StateArgs,
}

#[derive(Debug, Args)]
pub struct CleanArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub state: StateArgs,
}

#[derive(Debug, Args)]
pub struct PlanArgs {
    #[command(flatten)]
    pub state: StateArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    // Last: its heading holds for whatever follows it.
    #[command(flatten)]
    pub study: StudyArgs,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub state: StateArgs,
    /// Results file to make [default: tare-results-RUN.jsonl]
    #[arg(short, long, value_name = "FILE", value_parser = file_to_make())]
    pub output: Option<PathBuf>,
    /// Continue this results file at its first missing trial
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Also write the report as a page; an older one is replaced
    #[arg(long, value_name = "FILE", value_parser = file_to_make())]
    pub html: Option<PathBuf>,
    /// Print the analysis as JSON
    #[arg(long)]
    pub json: bool,
    // Last: its heading holds for whatever follows it.
    #[command(flatten)]
    pub study: StudyArgs,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Results file
    pub file: PathBuf,
    /// Write a page instead: one file that needs no network; an older one is replaced
    #[arg(long, value_name = "FILE", value_parser = file_to_make())]
    pub html: Option<PathBuf>,
    /// Print the analysis as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct KernelArgs {
    /// Workload: stream, linpack, syscall or spawn
    pub name: String,
    /// Print the whole report as JSON
    #[arg(long)]
    pub json: bool,
    /// Aim for the whole run
    #[arg(long, value_name = "TIME", value_parser = size::parse_seconds, default_value = "1s")]
    pub time: f64,
    /// Threads (stream)
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = threads, default_value_t = 1)]
    pub threads: u32,
    /// Instruction set of the timed code: baseline, v3 or v4
    #[arg(long, default_value = "baseline")]
    pub isa: Isa,
    /// Bytes per array, such as 128M (stream), or order of the matrix (linpack)
    #[arg(long, allow_negative_numbers = true, value_name = "SIZE")]
    pub size: Option<String>,
}

#[derive(Debug, Args)]
pub struct AgentArgs {
    /// Serve on this inherited descriptor
    #[arg(long)]
    pub fd: Option<i32>,
    /// Serve on the virtio-serial port of this name
    #[arg(long)]
    pub port: Option<String>,
    /// Serve on this terminal, made raw
    #[arg(long)]
    pub tty: Option<PathBuf>,
    /// Connect to this port of the host by vsock
    #[arg(long)]
    pub vsock: Option<u32>,
    /// Be the first process of a VM
    #[arg(long)]
    pub init: bool,
    /// Take a root that boxes in this one can leave behind
    #[arg(long, requires = "init")]
    pub new_root: bool,
    /// Power the VM off in the end, rather than reset it
    #[arg(long, requires = "init")]
    pub power_off: bool,
    /// Give the VM's network interface this address
    #[arg(long, requires = "init")]
    pub address: Option<tare_box::net::Address>,
}

/// How long a box is used, as a word.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum FreshArg {
    /// A new box for every trial
    Trial,
    /// A new box per platform and block
    Block,
    /// One box per platform for the whole study, frozen when it is not its turn
    Study,
}

/// How CPUs are granted, as a word.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ProvisioningArg {
    /// A quota of CPU time on any CPUs
    Vanilla,
    /// A fixed set of CPUs
    Pinned,
}

/// What is measured: the same for `plan` and `run`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Study")]
pub struct StudyArgs {
    /// Platforms, such as native,docker,lxc,vm [default: all that can run here]
    #[arg(short, long, value_delimiter = ',', value_name = "LIST")]
    pub platforms: Vec<String>,
    /// Platform that the others are held against [default: the first]
    #[arg(long, value_name = "PLATFORM")]
    pub baseline: Option<String>,
    /// Built-in workloads: stream, linpack, syscall, spawn [default: all]
    #[arg(short, long, value_delimiter = ',', value_name = "LIST")]
    pub workloads: Vec<String>,
    /// How CPUs are granted [default: both]
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub provisioning: Vec<ProvisioningArg>,
    /// CPUs of each box, such as 2 or 0.5 [default: half of the host's]
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    pub cpus: Option<Cpus>,
    /// Memory of each box, such as 512M or 2G [default: what the workloads need]
    #[arg(long, allow_negative_numbers = true, value_name = "SIZE", value_parser = size::parse_memory)]
    pub memory: Option<u64>,
    /// Instance types instead: of the table large (2 CPUs, 8 GiB) to 16xlarge (64, 256), or NAME=CPUS:MEMORY
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub instance: Vec<String>,
    /// Blocks: trials of each cell [default: 10]
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = blocks)]
    pub blocks: Option<u32>,
    /// Begin no block that would not end within this time
    #[arg(long, allow_negative_numbers = true, value_name = "TIME", value_parser = size::parse_seconds)]
    pub budget: Option<f64>,
    /// How long one box is used [default: block]
    #[arg(long, value_name = "WHEN")]
    pub fresh: Option<FreshArg>,
    /// Aim for a trial; 0 runs a command just once per trial [default: 500ms]
    #[arg(long, allow_negative_numbers = true, value_name = "TIME", value_parser = time_or_zero)]
    pub trial_time: Option<f64>,
    /// Give a trial up after this time [default: 60s, or 20 times the aim]
    #[arg(long, allow_negative_numbers = true, value_name = "TIME", value_parser = size::parse_seconds)]
    pub timeout: Option<f64>,
    /// Do not wait for a quiet host before each trial
    #[arg(long)]
    pub no_settle: bool,
    /// Margin of equivalence in percent [default: 1]
    #[arg(long, allow_negative_numbers = true, value_name = "PERCENT", value_parser = percentage)]
    pub margin: Option<f64>,
    /// Seed of every random order [default: a new one]
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,
    /// Instruction set of the built-in workloads: baseline, v3 or v4 [default: baseline]
    #[arg(long)]
    pub isa: Option<Isa>,
    /// File or folder to carry into boxes for the command, to the same path
    #[arg(long, value_name = "PATH")]
    pub with: Vec<PathBuf>,
    /// Variable of the command's environment; nothing else is passed on
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// A command of yours to measure, after --
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Reads the path of a file to make. `-` means standard output to many programs,
/// and to tare a file that nobody wants.
fn file_to_make() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if path.as_os_str() == "-" {
            Err("a path is needed: --json prints to standard output, and ./- names a file '-'")
        } else {
            Ok(path)
        }
    })
}

fn blocks(text: &str) -> Result<u32, String> {
    whole_number(text, design::BLOCKS)
}

fn boxes(text: &str) -> Result<u32, String> {
    whole_number(text, 1..=10_000)
}

fn idle_boxes(text: &str) -> Result<u32, String> {
    // A line through fewer has no interval.
    whole_number(text, 3..=10_000)
}

fn starts(text: &str) -> Result<u32, String> {
    whole_number(text, 1..=1000)
}

fn seed(text: &str) -> Result<u64, String> {
    whole_number(text, 0..=u64::MAX)
}

fn threads(text: &str) -> Result<u32, String> {
    whole_number(text, 1..=4096)
}

fn percentage(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("give {}", design::MARGINS))
}

/// Reads a whole number; whatever is wrong with it, the range is told.
fn whole_number<T: FromStr + PartialOrd + Display>(
    text: &str,
    range: RangeInclusive<T>,
) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("give a whole number from {} to {}", range.start(), range.end()))
}

fn time_or_zero(text: &str) -> Result<f64, size::SizeError> {
    if text == "0" {
        Ok(0.0)
    } else {
        size::parse_seconds(text)
    }
}

impl StudyArgs {
    /// What the user asks.
    pub fn wishes(&self) -> Wishes {
        let command = CommandWish {
            argv: self.command.clone(),
            with: self.with.clone(),
            env: self.env.clone(),
        };
        let is_command = !(self.command.is_empty() && self.with.is_empty() && self.env.is_empty());
        Wishes {
            platforms: self.platforms.clone(),
            baseline: self.baseline.clone(),
            provisioning: self.provisioning.iter().map(|p| (*p).into()).collect(),
            workloads: self.workloads.clone(),
            command: is_command.then_some(command),
            cpus: self.cpus,
            memory_bytes: self.memory,
            instances: self.instance.clone(),
            blocks: self.blocks,
            budget_seconds: self.budget,
            fresh: self.fresh.map(Into::into),
            trial_seconds: self.trial_time,
            timeout_seconds: self.timeout,
            no_settle: self.no_settle,
            margin_percent: self.margin,
            seed: self.seed,
            isa: self.isa,
        }
    }

    /// Whether anything at all was asked for.
    pub fn is_empty(&self) -> bool {
        let w = self.wishes();
        let lists = [
            w.platforms.is_empty(),
            w.provisioning.is_empty(),
            w.workloads.is_empty(),
            w.instances.is_empty(),
        ];
        lists.iter().all(|empty| *empty)
            && w.command.is_none()
            && (w.baseline, w.cpus, w.memory_bytes, w.blocks, w.seed) == (None, None, None, None, None)
            && (w.fresh, w.isa, w.no_settle) == (None, None, false)
            && [
                w.budget_seconds,
                w.trial_seconds,
                w.timeout_seconds,
                w.margin_percent,
            ] == [None; 4]
    }
}

impl From<ProvisioningArg> for Provisioning {
    fn from(arg: ProvisioningArg) -> Self {
        match arg {
            ProvisioningArg::Vanilla => Self::Vanilla,
            ProvisioningArg::Pinned => Self::Pinned,
        }
    }
}

impl From<FreshArg> for Fresh {
    fn from(arg: FreshArg) -> Self {
        match arg {
            FreshArg::Trial => Self::Trial,
            FreshArg::Block => Self::Block,
            FreshArg::Study => Self::Study,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
