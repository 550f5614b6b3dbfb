//! The command line: plain data, nothing done.

pub mod forms;
pub mod image;
mod printed;
mod protocol;
pub mod published;
pub mod selftest;
pub mod workloads;

pub use protocol::ProtocolArgs;

use self::forms::FormArgs;
use self::printed::PrintedArgs;
use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use tare_analysis::advice::Criterion;
use tare_lab::design::{self, Cells, CommandWish, NO_IMAGE, Programs, ProtocolOptions, StudyRequest};
use tare_model::kernel::Isa;
use tare_model::metric::Direction;
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::size::{self, Cpus};
use tare_platforms::OPTION_FACTORS;

const EXAMPLES: &str = "\
Examples:
  tare doctor                        what can run on this machine
  tare run                           four workloads, on what is ready
  tare run -p native,docker -- ./program --its options
  tare run --resume FILE             goes on with a stopped run
  tare report FILE --html page.html  its answer as a page
  tare compare A B --fail-above 5    a gate: is B dearer by over 5 %?
  tare explain inconclusive          what a word of the answer means

Exit codes: 0 done; 1 a trial or a check failed, nothing was measured, or a cost
grew beyond --fail-above; 2 bad input, or nothing can run; 130 stopped by Ctrl-C
(the results file is whole and can be continued).";

/// What does the box cost? Runs the same work natively, in containers and in
/// virtual machines, under the same limits, and says what each costs.
#[derive(Debug, Parser)]
#[command(name = "tare", version, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Tell what can run here, what is missing, what would disturb
    ///
    /// Of what is missing it tells how to get it.
    Doctor(DoctorArgs),
    /// Tell what a run would do and take, without running anything
    Plan(PlanArgs),
    /// Measure: built-in workloads, or a command of yours after --
    Run(RunArgs),
    /// Show a run that goes on elsewhere, by its results file
    Watch(WatchArgs),
    /// Tell the answer of a results file, or all of it
    Report(ReportArgs),
    /// Tell what changed between two results files
    ///
    /// As before and after an upgrade; or put one beside a published study.
    #[command(
        override_usage = "tare compare [OPTIONS] <RESULTS> <AFTER>\n       tare compare [OPTIONS] <RESULTS> --published <STUDY>"
    )]
    Compare(CompareArgs),
    /// Advise, by what was measured: which platform for which workload
    ///
    /// Whether pinned or not, and how small, too.
    Advise(AdviseArgs),
    /// Put results of several hosts together
    ///
    /// Those of one study, from several hosts or days: the host as a random factor.
    Merge(MergeArgs),
    /// Tell how costs went over many results files, and where they changed
    Trend(TrendArgs),
    /// Serve a page over a folder of results files, on this host alone
    ///
    /// To list, open, compare, and see trends.
    Serve(ServeArgs),
    /// Write samples, or slices, row by row as CSV or Parquet
    Export(ExportArgs),
    /// Tell what a word, finding, verdict or figure means
    Explain(ExplainArgs),
    /// The workloads that there are, and a try of one of your own
    Workloads(workloads::WorkloadsArgs),
    /// Images for boxes: list, build, take and remove them
    Image(image::ImageArgs),
    /// Remove what crashed runs left, and what is kept to start boxes
    ///
    /// What crashed runs of this state folder left, and what is kept between runs to start boxes, that of all state
    /// folders: the next run makes it anew. Images of 'tare image' stay.
    Clean(CleanArgs),
    /// Measure idle boxes: starts, memory, how many fit
    ///
    /// How idle boxes start, cold and warm, what memory each further one takes, and how many fit.
    Density(DensityArgs),
    /// Find out what varies, and how often it is worth repeating
    ///
    /// How much boxes, processes and iterations vary and cost, and how often each is worth repeating.
    // A pilot's own design: it says so where these are given.
    #[command(
        mut_arg("blocks", |a| a.hide(true)),
        mut_arg("budget", |a| a.hide(true)),
        mut_arg("adaptive", |a| a.hide(true)),
        mut_arg("fresh", |a| a.hide(true)),
        mut_arg("slices", |a| a.hide(true))
    )]
    Pilot(PilotArgs),
    /// Run one built-in workload here and now, outside any box
    Kernel(KernelArgs),
    /// Analyse a table of yours with the columns block, cell, metric, value
    Analyze(AnalyzeArgs),
    /// What studies have published, and their claims derived again
    Published(published::PublishedArgs),
    /// Check on real boxes that platforms keep what each promises
    Check(CheckArgs),
    /// Hold the method against known truths
    ///
    /// Simulated data, a platform against itself, a known cost.
    #[command(subcommand)]
    Selftest(selftest::SelftestCommand),
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
    /// Hold a frozen box for a check, which kills this process
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
    /// Folder for the files of runs and boxes
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
        // What has no absolute path cannot be made either, and that is told then.
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
    /// Only these checks, such as hello,freeze
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = name)]
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
    #[arg(short, long, value_delimiter = ',', value_name = "LIST", value_parser = platform)]
    pub platforms: Vec<String>,
    /// Idle boxes that live at once; how many more would fit is extrapolated
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = idle_boxes, default_value_t = 10)]
    pub boxes: u32,
    /// Cold starts, and as many warm ones; the host's caches are dropped before each cold one
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = starts, default_value_t = 5)]
    pub starts: u32,
    /// Memory limit of each box
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE", value_parser = size::parse_memory, default_value = "256M")]
    pub memory: u64,
    /// Also store readings and figures in this file, as JSON
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
    /// List the studies that ship with tare, and plan nothing
    #[arg(long, conflicts_with = "study")]
    pub list: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    // Last: its heading holds for whatever follows it.
    #[command(flatten)]
    pub study: StudyArgs,
}

#[derive(Debug, Args)]
pub struct PilotArgs {
    #[command(flatten)]
    pub state: StateArgs,
    #[command(flatten)]
    pub forms: FormArgs,
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
    /// Show neither the plan nor how it goes: the report alone
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub forms: FormArgs,
    // Last: its heading holds for whatever follows it.
    #[command(flatten)]
    pub study: StudyArgs,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Results file
    pub file: PathBuf,
    /// Print all: every figure, every test, the evidence, how to read it
    #[arg(long, conflicts_with_all = ["json", "markdown", "csv"])]
    pub details: bool,
    /// Platform of the study that the others are held against [default: the study's]
    #[arg(long, value_name = "PLATFORM")]
    pub baseline: Option<PlatformPath>,
    #[command(flatten)]
    pub forms: FormArgs,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The word, such as CHR, typical cost or host-busy [default: all of them]
    #[arg(value_name = "TERM")]
    pub words: Vec<String>,
    #[command(flatten)]
    pub forms: FormArgs,
}

#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// Table in long form as CSV, or one JSON object per line; - reads standard input
    pub file: PathBuf,
    /// Cell that the others are held against, where their rows name no baseline
    #[arg(long, value_name = "CELL")]
    pub baseline: Option<String>,
    /// Margin of equivalence in percent
    #[arg(long, allow_hyphen_values = true, value_name = "PERCENT", value_parser = margin, default_value = "1")]
    pub margin: f64,
    /// Which is better, higher or lower, of metrics whose rows do not say [default: lower]
    #[arg(long, value_name = "WORD", value_parser = direction)]
    pub direction: Option<Direction>,
    #[command(flatten)]
    pub forms: FormArgs,
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Results file; of the run before
    #[arg(value_name = "RESULTS")]
    pub results: PathBuf,
    /// Results file of the run after
    #[arg(value_name = "AFTER", required_unless_present = "published")]
    pub after: Option<PathBuf>,
    /// Put the figures of RESULTS beside those of a study, such as conaboy2021 ('tare published' lists them)
    #[arg(long, value_name = "STUDY", conflicts_with_all = ["after", "fail_above"])]
    pub published: Option<String>,
    /// Margin of the verdicts; exit code 1 if a box costs more than before by more than this [default: the margin of the second study, and no failure]
    #[arg(long, allow_hyphen_values = true, value_name = "PERCENT", value_parser = margin)]
    pub fail_above: Option<f64>,
    #[command(flatten)]
    pub forms: FormArgs,
}

#[derive(Debug, Args)]
pub struct AdviseArgs {
    /// Results file
    pub file: PathBuf,
    /// What counts besides the typical cost, and how much: typical, mean, latency, steadiness, memory, start, such as
    /// latency=2,memory=1. Logarithms of the ratios are added up
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = crate::cmd::advise::weight)]
    pub weigh: Vec<(Criterion, f64)>,
    #[command(flatten)]
    pub forms: FormArgs,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Results file
    pub file: PathBuf,
    /// File to make, .csv or .parquet [default: CSV on standard output]
    #[arg(short, long, value_name = "FILE", value_parser = file_to_make())]
    pub output: Option<PathBuf>,
    /// One row per slice instead of one per sample
    #[arg(long)]
    pub slices: bool,
}

#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Results file of the run
    pub file: PathBuf,
    /// Tell how far it is, once
    #[arg(long)]
    pub once: bool,
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Folder with results files
    pub folder: PathBuf,
    /// Port on the loopback [default: any that is free]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
}

#[derive(Debug, Args)]
pub struct TrendArgs {
    /// Folder with results files, or the files themselves
    #[arg(value_name = "DIR", required = true)]
    pub paths: Vec<PathBuf>,
    /// Exit code 1 if the last change made a cost rise by more than this
    #[arg(long, allow_hyphen_values = true, value_name = "PERCENT", value_parser = margin)]
    pub fail_above: Option<f64>,
    #[command(flatten)]
    pub forms: FormArgs,
}

#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Results files of one study
    #[arg(value_name = "RESULTS", required = true)]
    pub results: Vec<PathBuf>,
    /// Margin of the verdicts in percent [default: that of the first study]
    #[arg(long, allow_hyphen_values = true, value_name = "PERCENT", value_parser = margin)]
    pub margin: Option<f64>,
    #[command(flatten)]
    pub forms: FormArgs,
}

#[derive(Debug, Args)]
pub struct KernelArgs {
    /// Workload: stream, linpack, syscall, spawn, integer, blowfish, cryptohash, fibonacci, nqueens, fft, raytrace, astar, simplex, latency, fault, switch, timer, thread, futex, random-read, random-write, sequential-read, sequential-write, fsync, byte-read, byte-write, block-read, block-write, file, tcp-rr, tcp-stream, udp-rr, tcp-connect
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
    /// Size of the problem, such as 128M for each array of stream or 1000 for the order of linpack's matrix
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE")]
    pub size: Option<String>,
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
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Study")]
pub struct StudyArgs {
    /// Study file (its name ends with .toml), or a shipped study, such as quick; 'tare plan --list' lists them
    #[arg(value_name = "STUDY")]
    pub study: Option<String>,
    /// The study's small size, for a machine of 2 CPUs and 16 GB
    #[arg(long, requires = "study")]
    pub small: bool,
    /// Platforms, such as native,docker,lxc,vm [default: those of native, docker, lxc and vm that can run here]
    #[arg(short, long, value_delimiter = ',', value_name = "LIST", value_parser = platform)]
    pub platforms: Vec<String>,
    /// Networks: every platform once for each that it can have: none, host, bridge, macvlan, published
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = level("networks"))]
    pub networks: Vec<String>,
    /// Storages of the work folder, likewise: own, volume, tmpfs, overlay, raw, qcow2
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = level("storages"))]
    pub storages: Vec<String>,
    /// Caches of VMs' disks, beside --storages raw,qcow2: writeback, none, writethrough, directsync, unsafe
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = level("caches"))]
    pub caches: Vec<String>,
    /// Platform that the others are held against [default: native if it is among them, else the first]
    #[arg(long, value_name = "PLATFORM")]
    pub baseline: Option<String>,
    /// Built-in workloads, such as stream,fft (docs/workloads.md has all of them) [default: stream,linpack,syscall,spawn]
    #[arg(short, long, value_delimiter = ',', value_name = "LIST", value_parser = workload)]
    pub workloads: Vec<String>,
    /// How CPUs are granted [default: both]
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub provisioning: Vec<ProvisioningArg>,
    /// CPUs of each box, such as 2 or 0.5; pinned boxes need a whole number [default: half of those tare may use, rounded up]
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    pub cpus: Option<Cpus>,
    /// Memory of each box, such as 512M or 2G [default: what the workloads need]
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE", value_parser = size::parse_memory)]
    pub memory: Option<u64>,
    /// Instance types instead: of the table large (2 CPUs, 8 GiB) to 16xlarge (64, 256), or NAME=CPUS:MEMORY, with :K behind it as if the host had K CPUs
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = name)]
    pub instance: Vec<String>,
    #[command(flatten)]
    pub protocol: ProtocolArgs,
    /// Instruction set of the built-in workloads: baseline, v3 or v4 [default: baseline]
    #[arg(long)]
    pub isa: Option<Isa>,
    /// Root filesystem of all boxes: a name in the image store, a folder, an archive, docker:NAME, a registry's NAME:TAG (docs/images.md); none: the host's programs [default: that which the workloads name, else none]
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,
    /// Program of the image to run in place of its entry point; '' for none
    #[arg(long, value_name = "PROGRAM", requires = "image")]
    pub entrypoint: Option<String>,
    /// File or folder to carry into boxes for the command, to the same path
    #[arg(long, value_name = "PATH")]
    pub with: Vec<PathBuf>,
    /// Carry into boxes what the command needs to be started: interpreter, loader and libraries of this host
    #[arg(long)]
    pub with_libraries: bool,
    /// What to run in the box before each trial of the command, untimed: program and arguments in one word, quoted as for a shell, without a shell
    #[arg(long, value_name = "COMMAND", value_parser = command_line)]
    pub setup: Option<CommandLine>,
    /// What to run there behind each trial, whatever came of it
    #[arg(long, value_name = "COMMAND", value_parser = command_line)]
    pub teardown: Option<CommandLine>,
    /// Variable of the command's environment; nothing else is passed on
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    #[command(flatten)]
    pub printed: PrintedArgs,
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

/// Reads one name of a list. Blanks around it are no part of it: `native, docker` in
/// quotation marks is a list, too.
fn name(text: &str) -> Result<String, &'static str> {
    match text.trim() {
        "" => Err("a name is missing: join names by commas, without blanks"),
        name => Ok(name.to_owned()),
    }
}

fn platform(text: &str) -> Result<String, &'static str> {
    match name(text)?.as_str() {
        "all" => Err(
            "there is no name for all: leave the option out for the usual ones, or join names by commas ('tare doctor' lists those that can run here)",
        ),
        name => Ok(name.to_owned()),
    }
}

/// Reads a level of a factor that is an option of platforms.
fn level(factor: &str) -> PossibleValuesParser {
    let factor = OPTION_FACTORS.iter().find(|known| known.name == factor);
    PossibleValuesParser::new(factor.map_or(&[][..], |factor| factor.levels))
}

fn workload(text: &str) -> Result<String, &'static str> {
    match name(text)?.as_str() {
        "all" => Err("there is no name for all: leave the option out to run every built-in workload"),
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

/// Reads a percentage, with its sign or without: `5`, `5%`, `5 %`.
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

/// Reads a whole number; whatever is wrong with it, the range is told.
fn whole_number<T: FromStr + PartialOrd + Display>(
    text: &str,
    range: RangeInclusive<T>,
) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("give a whole number from {} to {}", range.start(), range.end()))
}

/// Program and arguments that were given in one word.
#[derive(Debug, Clone, Default)]
pub struct CommandLine(Vec<String>);

/// What only a shell understands.
const SHELL_WORDS: [&str; 8] = ["<", ">", ">>", "2>", "|", "&&", "||", ";"];

/// Splits a word as a shell would, without running one.
fn command_line(text: &str) -> Result<CommandLine, &'static str> {
    match shlex::split(text) {
        None => Err("a quotation mark is not closed"),
        Some(words) if words.iter().any(|word| SHELL_WORDS.contains(&word.as_str())) => {
            Err("there is no shell: for redirections, pipes and lists name one, as in \"sh -c 'cmd > file'\"")
        }
        Some(words) if words.is_empty() => Err("give a program and its arguments, as in 'rm -rf /tmp/cache'"),
        Some(words) => Ok(CommandLine(words)),
    }
}

/// What is run in place of an entry point; an empty word is none.
fn words(word: &str) -> Vec<String> {
    let given = (!word.is_empty()).then(|| word.to_owned());
    given.into_iter().collect()
}

impl StudyArgs {
    /// What the user asks; the image is not looked for.
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
        // An image that is named alone is run as it says itself.
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
            cells: Cells::All,
            protocol: self.protocol.options(),
            isa: self.isa,
        }
    }

    /// Levels of options of platforms, by option.
    fn levels(&self) -> BTreeMap<&'static str, Vec<String>> {
        let given = |name| match name {
            "networks" => &self.networks,
            "storages" => &self.storages,
            _ => &self.caches,
        };
        let factors = OPTION_FACTORS.iter().map(|f| (f.option, given(f.name).clone()));
        factors.filter(|(_, levels)| !levels.is_empty()).collect()
    }

    /// The first option given that says what is compared: beside a study file, that is the file's matter.
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

    /// Whether nothing was asked for, but a number of blocks.
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
