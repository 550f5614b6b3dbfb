//! The command line: plain data, nothing done.

pub mod forms;
pub mod image;
#[cfg(test)]
pub(crate) mod named;
mod printed;
mod protocol;
pub mod published;
pub mod selftest;
pub mod workloads;

pub use protocol::ProtocolArgs;

use self::forms::{CostFormArgs, FormArgs};
use self::printed::PrintedArgs;
use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use tare_analysis::advice::Criterion;
use tare_model::kernel::{Isa, Kernel};
use tare_model::metric::Direction;
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::size::{self, Cpus};
use tare_platforms::OPTION_FACTORS;
use tare_study::command::CommandWish;
use tare_study::design::{self, Cells, NO_IMAGE, Programs, ProtocolOptions, StudyRequest};

const EXAMPLES: &str = "\
Examples:
  tare doctor                        check what can run on this machine
  tare run                           measure four workloads on each ready platform
  tare run -p native,docker -- ./program --its options
  tare run --resume FILE             continue a stopped run
  tare report FILE --html page.html  write the report as a web page
  tare compare A B --fail-above 5    CI gate: fail if B costs over 5 % more than A
  tare explain inconclusive          explain a term of the report

Exit codes: 0 success; 1 a trial or check failed, nothing was measured, or a cost
grew by more than --fail-above; 2 bad input, or nothing can run; 130 stopped by
Ctrl-C (the results file is intact; continue it with --resume).";

/// Measures what containers and virtual machines cost: runs the same work in them and natively, under the same limits.
#[derive(Debug, Parser)]
#[command(name = "tare", version, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check which platforms can run here and what adds noise
    ///
    /// For each missing platform, it shows how to get it.
    Doctor(DoctorArgs),
    /// Show what a run would do and how long it takes; run nothing
    Plan(PlanArgs),
    /// Measure built-in workloads, or your own command after --
    Run(RunArgs),
    /// Follow the progress of a run in another terminal
    Watch(WatchArgs),
    /// Report on a results file
    Report(ReportArgs),
    /// Compare two results files, or one with a published study
    ///
    /// Compare files from before and after an upgrade, for example, or pass --published to show published figures next to yours.
    #[command(
        override_usage = "tare compare [OPTIONS] <BEFORE> <AFTER>\n       tare compare [OPTIONS] <BEFORE> --published <STUDY>"
    )]
    Compare(CompareArgs),
    /// Recommend a platform for each workload, based on a results file
    ///
    /// Also says whether to pin CPUs, and how small a box may be.
    Advise(AdviseArgs),
    /// Show which mechanism causes which share of a platform's cost
    ///
    /// Runs the platform with its mechanisms on and off, such as the seccomp filter, side by side, and shares its cost out among them. With a results file instead of a platform, does so for what is in it.
    // What is compared is its own design.
    #[command(
        override_usage = "tare why [OPTIONS] <PLATFORM> [-- COMMAND...]\n       tare why [OPTIONS] <RESULTS>",
        mut_arg("study", |a| a.hide(true)),
        mut_arg("small", |a| a.hide(true)),
        mut_arg("platforms", |a| a.hide(true)),
        mut_arg("networks", |a| a.hide(true)),
        mut_arg("storages", |a| a.hide(true)),
        mut_arg("caches", |a| a.hide(true)),
        mut_arg("adaptive", |a| a.hide(true)),
        mut_arg("precision", |a| a.hide(true))
    )]
    Why(WhyArgs),
    /// Show which parameters of a workload matter, and the best setting that is shown
    ///
    /// Runs a study whose [tuning] chapter varies parameters of a workload, and says what each is worth. With a results file of such a study, says so of what is in it.
    Tune(TuneArgs),
    /// Combine results from several hosts
    ///
    /// Combines results of one study from several hosts or days, with the host as a random factor.
    Merge(MergeArgs),
    /// Show how costs changed across results files
    Trend(TrendArgs),
    /// Browse a folder of results files in a local web page
    ///
    /// Lists, opens and compares results files and shows trends. Listens on the loopback interface only.
    Serve(ServeArgs),
    /// Export samples or slices as CSV or Parquet
    Export(ExportArgs),
    /// Explain a term, finding, verdict or figure
    Explain(ExplainArgs),
    /// List workloads, or try one of your own
    Workloads(workloads::WorkloadsArgs),
    /// List, build, import and remove images for boxes
    Image(image::ImageArgs),
    /// Remove leftovers of crashed runs, and cached files
    ///
    /// Removes what crashed runs in this state folder left, and what all state folders cache to start boxes; the next run recreates the cache. Keeps images of 'tare image'.
    Clean(CleanArgs),
    /// Measure idle boxes: start-up latency, memory, how many fit
    ///
    /// Measures cold and warm starts of idle boxes and the memory of each additional box, and estimates how many fit.
    Density(DensityArgs),
    /// Estimate variation and recommend numbers of repetitions
    ///
    /// Measures the variation and the cost of boxes, processes and iterations, and recommends how often to repeat each.
    // A pilot has its own design and rejects these options.
    #[command(
        mut_arg("blocks", |a| a.hide(true)),
        mut_arg("budget", |a| a.hide(true)),
        mut_arg("adaptive", |a| a.hide(true)),
        mut_arg("precision", |a| a.hide(true)),
        mut_arg("fresh", |a| a.hide(true)),
        mut_arg("slices", |a| a.hide(true))
    )]
    Pilot(PilotArgs),
    /// Run one built-in workload once, outside any box
    Kernel(KernelArgs),
    /// Analyse your own table with columns block, cell, metric, value
    Analyze(AnalyzeArgs),
    /// Show published studies, and recompute their claims
    Published(published::PublishedArgs),
    /// Run conformance tests of platforms on real boxes
    Check(CheckArgs),
    /// Validate the method against known truths
    ///
    /// Uses simulated data, a platform compared with itself, and an injected cost.
    #[command(subcommand)]
    Selftest(selftest::SelftestCommand),
    /// Print shell completions
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
    /// Print the manual page of tare or a subcommand
    Man {
        /// Subcommand, such as run
        subcommand: Option<String>,
    },
    /// Keep a frozen box until a check kills this process
    #[command(hide = true)]
    RunHold {
        platform: String,
        #[command(flatten)]
        state: StateArgs,
    },
}

/// Where runs keep their files.
#[derive(Debug, Args)]
pub struct StateArgs {
    /// Folder for files of runs and boxes [default: /var/lib/tare as root, else ~/.local/state/tare]
    #[arg(long, value_name = "DIR", env = "TARE_STATE_DIR", global = false)]
    pub state_dir: Option<PathBuf>,
}

impl StateArgs {
    /// The folder, absolute: engines read its paths from working folders of their own.
    pub fn folder(&self) -> PathBuf {
        let folder = self
            .state_dir
            .clone()
            .unwrap_or_else(tare_platforms::state::default_folder);
        // A folder without an absolute path cannot be created either, and that error is reported then.
        std::path::absolute(&folder).unwrap_or(folder)
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
    /// Run only these checks, such as hello,freeze
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = name)]
    pub only: Vec<String>,
    /// Boxes that the check many-boxes starts in a row [default: 50, or 5 if one takes seconds]
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = boxes)]
    pub boxes: Option<u32>,
    /// List the checks and what each requires; run none
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
    #[arg(short, long, value_delimiter = ',', value_name = "LIST", value_parser = platform)]
    pub platforms: Vec<String>,
    /// Idle boxes to start at once; how many would fit is extrapolated from them
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = idle_boxes, default_value_t = 10)]
    pub boxes: u32,
    /// Number of cold starts, and of warm starts; drops the host's caches before each cold one
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = starts, default_value_t = 5)]
    pub starts: u32,
    /// Memory limit of each box
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE", value_parser = size::parse_memory, default_value = "256M")]
    pub memory: u64,
    /// Also write readings and figures to this file as JSON
    #[arg(short, long, value_name = "FILE", value_parser = file_to_make())]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub state: StateArgs,
    #[command(flatten)]
    pub forms: FormArgs,
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
    /// List the studies that ship with tare
    #[arg(long, conflicts_with = "study")]
    pub list: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    // Last: its heading applies to all options after it.
    #[command(flatten)]
    pub study: StudyArgs,
}

#[derive(Debug, Args)]
pub struct PilotArgs {
    #[command(flatten)]
    pub state: StateArgs,
    #[command(flatten)]
    pub forms: FormArgs,
    // Last: its heading applies to all options after it.
    #[command(flatten)]
    pub study: StudyArgs,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub state: StateArgs,
    /// Results file to create [default: tare-results-RUN.jsonl]
    #[arg(short, long, value_name = "FILE", value_parser = file_to_make())]
    pub output: Option<PathBuf>,
    /// Continue this results file from its first missing trial
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Print only the report
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub forms: CostFormArgs,
    // Last: its heading applies to all options after it.
    #[command(flatten)]
    pub study: StudyArgs,
}

#[derive(Debug, Args)]
pub struct WhyArgs {
    /// Platform, such as docker or docker?network=bridge, or a results file
    #[arg(value_name = "PLATFORM")]
    pub what: String,
    #[command(flatten)]
    pub state: StateArgs,
    /// Options of its mechanisms, such as seccomp,network [default: all that it can switch off]
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = name)]
    pub mechanisms: Vec<String>,
    /// Results file to create [default: tare-results-RUN.jsonl]
    #[arg(short, long, value_name = "FILE", value_parser = file_to_make())]
    pub output: Option<PathBuf>,
    /// Print only the answer
    #[arg(short, long)]
    pub quiet: bool,
    /// Print also the cost of each cell, what mechanisms do together, and how to read it
    #[arg(long, conflicts_with_all = ["json", "markdown", "csv"])]
    pub details: bool,
    #[command(flatten)]
    pub forms: FormArgs,
    // Last: its heading applies to all options after it.
    #[command(flatten)]
    pub study: StudyArgs,
}

#[derive(Debug, Args)]
pub struct TuneArgs {
    /// Study with a [tuning] chapter: a file (NAME.toml) or a shipped study, such as li2018-tuning; or a results file
    #[arg(value_name = "STUDY")]
    pub study: String,
    #[command(flatten)]
    pub state: StateArgs,
    /// Use the study's small size, for a machine with 2 CPUs and 16 GB
    #[arg(long)]
    pub small: bool,
    /// Platforms instead of the study's
    #[arg(short, long, value_delimiter = ',', value_name = "LIST", value_parser = platform)]
    pub platforms: Vec<String>,
    /// Number of blocks instead of the study's
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = protocol::blocks)]
    pub blocks: Option<u32>,
    /// Results file to create [default: tare-results-RUN.jsonl]
    #[arg(short, long, value_name = "FILE", value_parser = file_to_make())]
    pub output: Option<PathBuf>,
    /// Print only the answer
    #[arg(short, long)]
    pub quiet: bool,
    /// Print also what parameters do together, each setting, and how to read it
    #[arg(long, conflicts_with_all = ["json", "markdown", "csv"])]
    pub details: bool,
    #[command(flatten)]
    pub forms: FormArgs,
}

impl TuneArgs {
    /// Whether the options of a run are left alone.
    pub fn only_reads(&self) -> bool {
        !self.small && self.platforms.is_empty() && self.blocks.is_none() && self.output.is_none()
    }

    /// What is asked of the study.
    pub fn wishes(&self) -> StudyRequest {
        StudyRequest {
            platforms: self.platforms.clone(),
            protocol: ProtocolOptions {
                blocks: self.blocks,
                ..ProtocolOptions::default()
            },
            ..StudyRequest::default()
        }
    }
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Results file
    pub file: PathBuf,
    /// Print everything: all figures, tests and evidence, and how to read them
    #[arg(long, conflicts_with_all = ["json", "markdown", "csv", "bmf", "github_benchmark"])]
    pub details: bool,
    /// Platform to compare the others with [default: the study's baseline]
    #[arg(long, value_name = "PLATFORM")]
    pub baseline: Option<PlatformPath>,
    #[command(flatten)]
    pub forms: CostFormArgs,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Term to explain, such as CHR, typical cost or host-busy [default: all]
    #[arg(value_name = "TERM")]
    pub words: Vec<String>,
    #[command(flatten)]
    pub forms: FormArgs,
}

#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// Table in long form, as CSV or one JSON object per line; - reads standard input. Or files of hyperfine, JMH,
    /// pytest-benchmark, Google Benchmark, criterion, 'go test -bench', github-action-benchmark or Bencher, one per block: old=1.json new=2.json old=3.json ...
    #[arg(required = true, value_name = "[CELL=]FILE")]
    pub files: Vec<PathBuf>,
    /// Baseline cell, for rows without a baseline
    #[arg(long, value_name = "CELL")]
    pub baseline: Option<String>,
    /// Largest difference that counts as equal, in percent
    #[arg(long, allow_hyphen_values = true, value_name = "PERCENT", value_parser = margin, default_value = "1")]
    pub margin: f64,
    /// Whether higher or lower is better, for metrics whose rows name no direction [default: that of the unit, else lower]
    #[arg(long, value_name = "WORD", value_parser = direction)]
    pub direction: Option<Direction>,
    #[command(flatten)]
    pub forms: CostFormArgs,
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Results file of the earlier run
    #[arg(value_name = "BEFORE")]
    pub results: PathBuf,
    /// Results file of the later run
    #[arg(value_name = "AFTER", required_unless_present = "published")]
    pub after: Option<PathBuf>,
    /// Show the figures of BEFORE next to those of a study, such as conaboy2021 ('tare published' lists them)
    #[arg(long, value_name = "STUDY", conflicts_with_all = ["after", "fail_above", "raw_fail_above", "bmf", "github_benchmark"])]
    pub published: Option<String>,
    /// Exit with 1 if the cost of a box rose by more than this; also used as the margin [default: never fail, margin of the second study]
    #[arg(long, allow_hyphen_values = true, value_name = "PERCENT", value_parser = margin)]
    pub fail_above: Option<f64>,
    /// Exit with 1 if a cell's own figure became worse by more than this: the program, not the box
    #[arg(long, allow_hyphen_values = true, value_name = "PERCENT", value_parser = margin)]
    pub raw_fail_above: Option<f64>,
    #[command(flatten)]
    pub forms: CostFormArgs,
}

#[derive(Debug, Args)]
pub struct AdviseArgs {
    /// Results file
    pub file: PathBuf,
    /// Criteria for the ranking and their weights, such as latency=2,memory=1, of typical, mean, latency, steadiness, memory and start. The score is the weighted sum of the logarithms of the ratios
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = crate::cmd::advise::weight)]
    pub weigh: Vec<(Criterion, f64)>,
    #[command(flatten)]
    pub forms: FormArgs,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Results files, or folders with such files
    #[arg(value_name = "RESULTS", required = true)]
    pub files: Vec<PathBuf>,
    /// File to create, .csv or .parquet [default: CSV on standard output]
    #[arg(short, long, value_name = "FILE", value_parser = file_to_make())]
    pub output: Option<PathBuf>,
    /// Write one row per slice instead of one per sample
    #[arg(long)]
    pub slices: bool,
}

#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Results file of the run
    pub file: PathBuf,
    /// Print progress once and exit
    #[arg(long)]
    pub once: bool,
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Folder with results files
    pub folder: PathBuf,
    /// Port on the loopback interface [default: any free port]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
}

#[derive(Debug, Args)]
pub struct TrendArgs {
    /// Folder of results files, or the files themselves
    #[arg(value_name = "DIR", required = true)]
    pub paths: Vec<PathBuf>,
    /// Exit with 1 if the last change raised a cost by more than this
    #[arg(long, allow_hyphen_values = true, value_name = "PERCENT", value_parser = margin)]
    pub fail_above: Option<f64>,
    #[command(flatten)]
    pub forms: FormArgs,
}

#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Results files of one study, or folders with such files
    #[arg(value_name = "RESULTS", required = true)]
    pub results: Vec<PathBuf>,
    /// Largest difference that counts as equal, in percent [default: the first study's]
    #[arg(long, allow_hyphen_values = true, value_name = "PERCENT", value_parser = margin)]
    pub margin: Option<f64>,
    #[command(flatten)]
    pub forms: CostFormArgs,
}

#[derive(Debug, Args)]
pub struct KernelArgs {
    #[arg(help = format!("Workload: {}", Kernel::ALL.map(Kernel::name).join(", ")))]
    pub name: String,
    /// Print the whole report as JSON
    #[arg(long)]
    pub json: bool,
    /// Intended duration of the whole run
    #[arg(long, value_name = "TIME", value_parser = size::parse_seconds, default_value = "1s")]
    pub time: f64,
    /// Number of threads (stream only)
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = threads, default_value_t = 1)]
    pub threads: u32,
    /// Instruction set of the timed code: baseline, v3 or v4
    #[arg(long, default_value = "baseline")]
    pub isa: Isa,
    /// Problem size, such as 128M per array of stream, or 1000 for the order of linpack's matrix
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE")]
    pub size: Option<String>,
}

/// How CPUs are granted.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ProvisioningArg {
    /// A CPU time quota, on any CPUs
    Vanilla,
    /// A fixed set of CPUs
    Pinned,
}

/// What is measured; shared by `plan`, `run` and `pilot`.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Study")]
pub struct StudyArgs {
    /// Study file (NAME.toml), or a shipped study, such as quick; 'tare plan --list' lists them
    #[arg(value_name = "STUDY")]
    pub study: Option<String>,
    /// Use the study's small size, for a machine with 2 CPUs and 16 GB
    #[arg(long, requires = "study")]
    pub small: bool,
    /// Platforms, such as native,docker,lxc,vm [default: each of these four that can run here, a VM only with hardware virtualisation]
    #[arg(short, long, value_delimiter = ',', value_name = "LIST", value_parser = platform)]
    pub platforms: Vec<String>,
    /// Networks to compare, for platforms that support them
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = level("networks"))]
    pub networks: Vec<String>,
    /// Storage types of the work folder to compare, for platforms that support them
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = level("storages"))]
    pub storages: Vec<String>,
    /// Cache modes of VM disks to compare, with --storages raw,qcow2
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = level("caches"))]
    pub caches: Vec<String>,
    /// Platform to compare the others with [default: native if given, else the first]
    #[arg(long, value_name = "PLATFORM")]
    pub baseline: Option<String>,
    /// Workloads, such as stream,fft ('tare workloads' lists them) [default: stream,linpack,syscall,spawn]
    #[arg(short, long, value_delimiter = ',', value_name = "LIST", value_parser = workload)]
    pub workloads: Vec<String>,
    /// How CPUs are granted [default: vanilla,pinned]
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub provisioning: Vec<ProvisioningArg>,
    /// CPUs per box, such as 2 or 0.5; a whole number for pinned boxes [default: half of the CPUs tare may use, rounded up]
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    pub cpus: Option<Cpus>,
    /// Memory per box, such as 512M or 2G [default: what the workloads need]
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE", value_parser = size::parse_memory)]
    pub memory: Option<u64>,
    /// Instance types instead of --cpus and --memory: large (2 CPUs, 8 GiB) to 16xlarge (64 CPUs, 256 GiB), or NAME=CPUS:MEMORY; append :K to use only K CPUs of the host
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = name)]
    pub instance: Vec<String>,
    #[command(flatten)]
    pub protocol: ProtocolArgs,
    /// Instruction set of the built-in workloads: baseline, v3 or v4 [default: baseline]
    #[arg(long)]
    pub isa: Option<Isa>,
    /// Root filesystem of all boxes: a name in the image store, a folder, an archive, docker:NAME, or NAME:TAG of a registry (docs/images.md); 'none' uses the host's programs [default: the image that the workloads name, else none]
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,
    /// Program of the image to run instead of its entry point; '' for none
    #[arg(long, value_name = "PROGRAM", requires = "image")]
    pub entrypoint: Option<String>,
    /// Copy this file or folder into boxes, to the same path
    #[arg(long, value_name = "PATH")]
    pub with: Vec<PathBuf>,
    /// Copy into boxes what the command needs to start: interpreter, loader and libraries of this host
    #[arg(long)]
    pub with_libraries: bool,
    /// Command to run in the box before each trial, untimed: program and arguments as one quoted argument; no shell is used
    #[arg(long, value_name = "COMMAND", value_parser = command_line)]
    pub setup: Option<CommandLine>,
    /// Command to run in the box after each trial, even if it failed
    #[arg(long, value_name = "COMMAND", value_parser = command_line)]
    pub teardown: Option<CommandLine>,
    /// Environment variable of the command; no others are passed on
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    #[command(flatten)]
    pub printed: PrintedArgs,
    /// Command to measure, after --
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Parses the path of a file to create. `-` means standard output to many programs; here it would create a file named `-`.
fn file_to_make() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if path.as_os_str() == "-" {
            Err("give a path: --json prints to standard output; write ./- for a file named '-'")
        } else {
            Ok(path)
        }
    })
}

/// Parses one name of a list. Surrounding blanks are ignored: `native, docker` in quotation marks is a list, too.
fn name(text: &str) -> Result<String, &'static str> {
    match text.trim() {
        "" => Err("a name is missing: join names with commas, without blanks"),
        name => Ok(name.to_owned()),
    }
}

fn platform(text: &str) -> Result<String, &'static str> {
    match name(text)?.as_str() {
        "all" => Err(
            "'all' is not a name: omit the option for the default platforms, or join names with commas ('tare doctor' lists those that can run here)",
        ),
        name => Ok(name.to_owned()),
    }
}

/// Accepts the levels of a factor that is a platform option.
fn level(factor: &str) -> PossibleValuesParser {
    let factor = OPTION_FACTORS.iter().find(|known| known.name == factor);
    PossibleValuesParser::new(factor.map_or(&[][..], |factor| factor.levels))
}

fn workload(text: &str) -> Result<String, &'static str> {
    match name(text)?.as_str() {
        "all" => Err("'all' is not a name: join names with commas ('tare workloads' lists them)"),
        name => Ok(name.to_owned()),
    }
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

fn threads(text: &str) -> Result<u32, String> {
    whole_number(text, 1..=4096)
}

/// Parses a percentage, with or without its sign: `5`, `5%`, `5 %`.
fn percentage(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    number.parse().map_err(|_| format!("give {}", design::MARGINS))
}

fn margin(text: &str) -> Result<f64, String> {
    let margin = percentage(text)?;
    let fits = (0.01..=100.0).contains(&margin);
    fits.then_some(margin)
        .ok_or_else(|| format!("give {}", design::MARGINS))
}

fn direction(text: &str) -> Result<Direction, &'static str> {
    tare_analysis::foreign::direction(text).ok_or("give higher or lower")
}

/// Parses a whole number; any error states the range.
fn whole_number<T: FromStr + PartialOrd + Display>(
    text: &str,
    range: RangeInclusive<T>,
) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("give a whole number from {} to {}", range.start(), range.end()))
}

/// Program and arguments, given in one word.
#[derive(Debug, Clone, Default)]
pub struct CommandLine(Vec<String>);

/// Words that only a shell understands.
const SHELL_WORDS: [&str; 8] = ["<", ">", ">>", "2>", "|", "&&", "||", ";"];

/// Splits a word as a shell would.
fn command_line(text: &str) -> Result<CommandLine, &'static str> {
    match shlex::split(text) {
        None => Err("a quotation mark is not closed"),
        Some(words) if words.iter().any(|word| SHELL_WORDS.contains(&word.as_str())) => Err(
            "this runs without a shell: for redirections, pipes and lists call one, as in \"sh -c 'cmd > file'\"",
        ),
        Some(words) if words.is_empty() => Err("give a program and its arguments, as in 'rm -rf /tmp/cache'"),
        Some(words) => Ok(CommandLine(words)),
    }
}

/// The program to run instead of an entry point; none if the word is empty.
fn words(word: &str) -> Vec<String> {
    let given = (!word.is_empty()).then(|| word.to_owned());
    given.into_iter().collect()
}

impl StudyArgs {
    /// What the options ask for; does not look up the image.
    pub fn wishes(&self) -> StudyRequest {
        let command = CommandWish {
            load: None,
            argv: self.command.clone(),
            image_only: false,
            entrypoint: self.entrypoint.as_ref().map(|word| words(word)),
            with: self.with.clone(),
            with_libraries: self.with_libraries,
            calls: Vec::new(),
            setup: self.setup.clone().unwrap_or_default().0,
            teardown: self.teardown.clone().unwrap_or_default().0,
            env: self.env.clone(),
            metrics: self.printed.metrics(),
            checks: self.printed.checks(),
        };
        let lists = [
            self.command.is_empty(),
            self.with.is_empty(),
            !self.with_libraries,
            self.env.is_empty(),
            self.setup.is_none(),
            self.teardown.is_none(),
            self.entrypoint.is_none(),
            command.metrics.is_empty(),
            command.checks.is_empty(),
        ];
        // An image named alone runs its own command.
        let has_image = self.image.as_deref().is_some_and(|name| name != NO_IMAGE);
        let is_of_image = has_image && self.workloads.is_empty() && self.study.is_none();
        let is_command = is_of_image || lists.iter().any(|empty| !*empty);
        StudyRequest {
            template: None,
            platforms: self.platforms.clone(),
            levels: self.levels(),
            baseline: self.baseline.clone(),
            provisioning: self.provisioning.iter().map(|p| (*p).into()).collect(),
            workloads: self.workloads.iter().map(Into::into).collect(),
            command: is_command.then_some(command),
            image_name: self.image.clone(),
            programs: Programs::Host,
            cpus: self.cpus,
            memory_bytes: self.memory,
            instances: self.instance.clone(),
            effects: Vec::new(),
            tuning: None,
            cells: Cells::All,
            protocol: self.protocol.options(),
            isa: self.isa,
        }
    }

    /// Levels of platform options, by option.
    fn levels(&self) -> BTreeMap<&'static str, Vec<String>> {
        let given = |name| match name {
            "networks" => &self.networks,
            "storages" => &self.storages,
            _ => &self.caches,
        };
        let factors = OPTION_FACTORS.iter().map(|f| (f.option, given(f.name).clone()));
        factors.filter(|(_, levels)| !levels.is_empty()).collect()
    }

    /// The first given option that changes what is compared, which a study file determines itself.
    pub fn compared(&self) -> Option<&'static str> {
        let given = [
            ("a command", !self.command.is_empty()),
            ("--workloads", !self.workloads.is_empty()),
            ("--networks", !self.networks.is_empty()),
            ("--storages", !self.storages.is_empty()),
            ("--caches", !self.caches.is_empty()),
            ("--provisioning", !self.provisioning.is_empty()),
            ("--cpus", self.cpus.is_some()),
            ("--memory", self.memory.is_some()),
            ("--instance", !self.instance.is_empty()),
            ("--with", !self.with.is_empty()),
            ("--with-libraries", self.with_libraries),
            ("--env", !self.env.is_empty()),
            ("--setup", self.setup.is_some()),
            ("--teardown", self.teardown.is_some()),
            ("--entrypoint", self.entrypoint.is_some()),
            ("--metric", !self.printed.metric.is_empty()),
            ("--check", !self.printed.check.is_empty()),
            ("--check-not", !self.printed.check_not.is_empty()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    /// Whether no option but `--blocks` is given.
    pub fn is_empty(&self) -> bool {
        let w = self.wishes();
        let asked = ProtocolOptions {
            blocks: None,
            ..w.protocol
        };
        let lists = [
            w.platforms.is_empty(),
            w.levels.is_empty(),
            w.provisioning.is_empty(),
            w.workloads.is_empty(),
            w.instances.is_empty(),
        ];
        self.study.is_none()
            && lists.iter().all(|empty| *empty)
            && w.command.is_none()
            && (w.baseline, w.cpus, w.memory_bytes, w.isa) == (None, None, None, None)
            && asked == ProtocolOptions::default()
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_percentage_may_have_its_sign() {
        for text in ["5", "5%", "5 %", "5.0%"] {
            assert_eq!(percentage(text), Ok(5.0), "{text}");
        }
        for text in ["", "%", "5%%", "% 5", "five"] {
            assert!(percentage(text).is_err(), "{text}");
        }
    }

    #[test]
    fn blanks_around_names_are_no_part_of_them() {
        assert_eq!(name(" docker "), Ok("docker".to_owned()));
        assert!(name(" ").is_err());
    }

    #[test]
    fn the_folder_of_state_is_absolute() {
        let state = |folder: &str| StateArgs {
            state_dir: Some(folder.into()),
        };
        let here = std::env::current_dir().unwrap();
        assert_eq!(state("state").folder(), here.join("state"));
        assert_eq!(state("./a/state").folder(), here.join("a/state"));
        assert_eq!(state("/state").folder(), PathBuf::from("/state"));
        assert!(StateArgs { state_dir: None }.folder().is_absolute());
    }
}
