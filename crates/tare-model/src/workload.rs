//! What runs and what it yields. Every workload is a value of one type, and stands in
//! the header of a results file, so that a file explains its own figures also to a
//! version that never heard of the workload.

pub use tare_wire::server::{Ready, User};

use crate::kernel::{Kernel, KernelSpec};
use crate::load::LoadSpec;
use crate::metric::{Metric, Source};
use crate::output::{Bounded, Said};
use crate::platform::PlatformPath;
use crate::size::{Cpus, counted};
use crate::template::Feature;
use crate::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

pub use crate::place::Place;

/// What runs, what it yields, and what must hold for a trial of it to count.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Workload {
    /// Its name within the study, such as `linpack size=500`: that of its cells.
    pub name: String,
    /// Its name without parameters, such as `linpack`, shared by all runs of it in the study.
    pub family: String,
    /// What it measures, in a line; empty where that is the user's matter.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The service feature that it shows, where one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature: Option<Feature>,
    /// How its program tells its version, and what it told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<VersionReceipt>,
    /// The image that holds its program, by name, such as `micro`; absent where it takes the
    /// host's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Where it cannot run on this host, whatever is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cannot_run: Option<Barrier>,
    /// Whether the caches of the kernels below it are dropped before each of its trials.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cold: bool,
    /// How long a run of it takes on an ordinary machine, in seconds, where its file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Memory of a box that it needs, in bytes, where its file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// The parts that processes play in it.
    pub roles: Vec<Role>,
    /// What a trial yields one sample of each, exactly one of them primary.
    pub metrics: Vec<Metric>,
    /// What must hold for a trial to count.
    pub checks: Vec<Check>,
}

/// How a program tells its version, and what it told.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct VersionReceipt {
    /// The command.
    pub argv: Vec<String>,
    /// The pattern of the version in what it prints: its one group.
    pub regex: String,
    /// What was found; absent before a run, and where it tells none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

/// The name of the role that is timed, of a command with servers.
pub const COMMAND: &str = "command";

/// The same of a load.
pub const LOAD: &str = "load";

/// A part that a process plays in a workload.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Role {
    /// Its name within the workload.
    pub name: String,
    /// The role of its workload file of which it is one of several, such as `worker` of `worker-2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_of: Option<String>,
    /// Where its process runs.
    pub place: Place,
    /// What its process is.
    pub run: Run,
    /// The whole environment of a command, name and value; nothing of the host's is inherited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
    /// Files of the host that are copied into boxes, to the same paths; an empty folder ends with a slash.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The folder in which a command starts; absent: that in which the agent is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What runs in the box before each trial of a command, untimed; empty: nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    /// What runs behind each trial of it, whatever came of that; empty: nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub teardown: Vec<String>,
    /// Who runs a command; absent: root of the box.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<User>,
    /// Why it cannot run outside the host's own file system, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_only: Option<String>,
    /// How it tells that it serves, of a server: it is started before the role that is timed,
    /// and ended after it. Absent of the role that is timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<Ready>,
    /// Whether a server stays from trial to trial of a block.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stands: bool,
    /// CPUs of the host to which a process outside is bound; empty: to none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
}

/// What the process of a role is.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Run {
    /// A built-in kernel.
    Kernel(KernelRun),
    Command(CommandRun),
    /// A client of tare's own that loads a server.
    Load(LoadSpec),
    /// What only a later version knows, as it stands in the file.
    #[serde(untagged)]
    Later(serde_json::Value),
}

/// A built-in kernel as a study runs it.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct KernelRun {
    /// Whether the number of threads is the same in boxes of every size, rather
    /// than that of the box's CPUs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixed_threads: bool,
    /// Where the two ends of a network kernel are.
    #[serde(default, skip_serializing_if = "Topology::are_together")]
    pub ends: Topology,
    /// What is asked of the kernel.
    #[serde(flatten)]
    pub spec: KernelSpec,
}

#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct CommandRun {
    /// Program (absolute path) and arguments.
    pub argv: Vec<String>,
}

/// What must hold for a trial to count.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Every process ends by itself with status 0.
    ExitStatus,
    /// The answer in the process's report is the known one.
    KnownAnswer,
    /// A figure that the process prints lies within bounds.
    Figure(Bounded),
    /// The process prints this.
    Says(Said),
    /// The process does not print this.
    SaysNot(Said),
    /// What only a later version knows, as it stands in the file.
    #[serde(untagged)]
    Later(serde_json::Value),
}

/// Platforms in whose boxes a workload cannot run.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Barrier {
    /// Their names, without options.
    pub platforms: Vec<String>,
    /// Why, and the ways out.
    pub why: String,
}

impl Barrier {
    /// Whether it is in the way of boxes of this path; of a path with several platforms nothing is
    /// known.
    pub fn bars(&self, path: &PlatformPath) -> bool {
        match path.segments() {
            [one] => self.platforms.contains(&one.name),
            _ => false,
        }
    }
}

impl Workload {
    /// The name used in cells and tables; unique within a study.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The metrics it yields, exactly one of them primary.
    pub fn metrics(&self) -> Vec<Metric> {
        self.metrics.clone()
    }

    /// The role that is timed and whose output is read.
    pub fn timed(&self) -> Option<&Role> {
        self.roles.iter().find(|role| role.ready.is_none())
    }

    /// The roles that serve it, in the order in which they are started.
    pub fn servers(&self) -> impl Iterator<Item = &Role> {
        self.roles.iter().filter(|role| role.ready.is_some())
    }

    /// Whether some of its servers stay from trial to trial.
    pub fn stays(&self) -> bool {
        self.standing().next().is_some()
    }

    /// Its servers that stay from trial to trial.
    pub fn standing(&self) -> impl Iterator<Item = &Role> {
        self.servers().filter(|role| role.stands)
    }

    /// The roles that run in the box of the cell.
    pub fn tested(&self) -> impl Iterator<Item = &Role> {
        self.roles.iter().filter(|role| role.place == Place::Tested)
    }

    /// The roles that run outside of it, on the host.
    pub fn outside(&self) -> impl Iterator<Item = &Role> {
        self.roles.iter().filter(|role| role.place == Place::Outside)
    }

    /// The roles that run in boxes of their own, beside that of the cell.
    pub fn apart(&self) -> impl Iterator<Item = &Role> {
        self.roles.iter().filter(|role| role.place == Place::Apart)
    }

    /// The roles that run in boxes of the cell's kind: in its own, or beside it.
    pub fn boxed(&self) -> impl Iterator<Item = &Role> {
        let boxed = |role: &&Role| matches!(role.place, Place::Tested | Place::Apart);
        self.roles.iter().filter(boxed)
    }

    /// Whether some of its processes are outside of the box of the cell.
    pub fn is_in_several_boxes(&self) -> bool {
        self.roles.iter().any(|role| role.place != Place::Tested)
    }

    /// Where its processes run, for people; `None` where there is one, in the box.
    pub fn placed(&self) -> Option<String> {
        let alike = self
            .roles
            .chunk_by(|a, b| a.one_of.is_some() && a.one_of == b.one_of);
        let places = alike.map(|roles| match (&roles[0].one_of, roles.len()) {
            (Some(role), 2..) => format!("{role} in {} boxes of their own beside it", roles.len()),
            _ => roles[0].placed(),
        });
        (self.roles.len() > 1).then(|| places.collect::<Vec<_>>().join("; "))
    }

    /// What is asked of the kernel that is timed, if it is one.
    pub fn kernel(&self) -> Option<&KernelSpec> {
        match &self.timed()?.run {
            Run::Kernel(run) => Some(&run.spec),
            Run::Command(_) | Run::Load(_) | Run::Later(_) => None,
        }
    }

    /// What its client asks of a server, if what is timed is a load.
    pub fn load(&self) -> Option<&LoadSpec> {
        match &self.timed()?.run {
            Run::Load(spec) => Some(spec),
            Run::Kernel(_) | Run::Command(_) | Run::Later(_) => None,
        }
    }

    /// Whether what is timed is a command.
    pub fn is_command(&self) -> bool {
        matches!(self.timed().map(|role| &role.run), Some(Run::Command(_)))
    }

    /// Units of work that a slice must have at least. In a closed loop the last requests of a slice
    /// have none behind them: with ten for each that can be under way, that is seldom so.
    pub fn least_units(&self) -> u64 {
        match self.load() {
            Some(load) if load.burst.is_none() && !load.is_open() => {
                10 * u64::from(load.connections) * u64::from(load.pipeline)
            }
            _ => 1,
        }
    }

    /// Whether its requests come whether or not earlier ones were answered. It is then run in one
    /// piece: what waits at the end of a slice would not wait there else.
    pub fn is_open_loop(&self) -> bool {
        self.load().is_some_and(LoadSpec::is_open)
    }

    /// Whether each of its trials runs in one piece, whatever slices were asked for.
    pub fn is_whole(&self) -> bool {
        self.is_read() || self.is_open_loop()
    }

    /// Whether it never gives its CPU up by itself while its clock runs.
    pub fn never_waits(&self) -> bool {
        self.kernel().is_some_and(|spec| spec.kernel.never_waits())
    }

    /// Threads that work in the box of the cell; `None` where that is not known.
    pub fn threads(&self) -> Option<u32> {
        self.kernel().map(|spec| spec.threads)
    }

    /// Whether its process is to report: figures, or the known answer.
    pub fn reports(&self) -> bool {
        let from_report = |metric: &Metric| metric.from == Source::Report;
        self.metrics.iter().any(from_report) || self.checks.contains(&Check::KnownAnswer)
    }

    /// Whether it is a command that talks to servers.
    pub fn is_served_command(&self) -> bool {
        self.is_command() && self.servers().next().is_some()
    }

    /// Whether figures or checks are looked for in what its process prints, servers are
    /// started for it, or it begins with cold caches. It is then run once in a trial, in one piece: what it prints is of a
    /// whole run, its servers serve one run, and a second run would find warm what the first one read.
    pub fn is_read(&self) -> bool {
        let of_output =
            |check: &Check| matches!(check, Check::Figure(_) | Check::Says(_) | Check::SaysNot(_));
        self.cold
            || self.is_served_command()
            || self.metrics.iter().any(Metric::is_printed)
            || self.checks.iter().any(of_output)
    }

    /// The names of the metrics that the timed parts of a slice are the figures of, in
    /// their order; empty if it has none.
    pub fn parts(&self) -> Vec<&str> {
        let mut parts: Vec<(usize, &str)> = self
            .metrics
            .iter()
            .filter_map(|metric| Some((metric.part?, metric.name.as_str())))
            .collect();
        parts.sort_unstable();
        parts.into_iter().map(|(_, name)| name).collect()
    }

    /// The same in a box of so many CPUs.
    #[must_use]
    pub fn on(mut self, cpus: Cpus) -> Self {
        for run in self.kernels_mut().filter(|run| !run.fixed_threads) {
            run.spec = run.spec.on(cpus);
        }
        self
    }

    /// What it does, whatever the aim for the length of a trial: a figure per unit of
    /// work is the same.
    pub fn work(mut self) -> Vec<Role> {
        self.kernels_mut().for_each(|run| run.spec.seconds = 0.0);
        self.roles
    }

    /// The same with the chance of a load beginning here, and its rate as that share of this peak
    /// which it asks for.
    #[must_use]
    pub fn seeded(mut self, seed: u64, peak: Option<f64>) -> Self {
        for role in &mut self.roles {
            if let Run::Load(spec) = &mut role.run {
                spec.seed = seed;
                let share = spec.of_peak.take();
                spec.rate = spec.rate.or_else(|| Some(share? * peak?));
            }
        }
        self
    }

    /// The same with a load that comes at this rate, beginning at this point of chance.
    #[must_use]
    pub fn at_rate(mut self, rate: f64, seed: u64) -> Self {
        for role in &mut self.roles {
            if let Run::Load(spec) = &mut role.run {
                (spec.rate, spec.of_peak, spec.seed) = (Some(rate), None, seed);
            }
        }
        self
    }

    fn kernels_mut(&mut self) -> impl Iterator<Item = &mut KernelRun> {
        self.roles.iter_mut().filter_map(|role| match &mut role.run {
            Run::Kernel(run) => Some(run),
            Run::Command(_) | Run::Load(_) | Run::Later(_) => None,
        })
    }
}

impl Role {
    /// Whether it loads a server.
    pub fn is_load(&self) -> bool {
        matches!(self.run, Run::Load(_))
    }

    /// Where its process runs and what it is, for people, and how it tells that it serves.
    pub fn explained(&self) -> String {
        let ready = self.ready.iter().map(|ready| format!("; serves once {ready}"));
        format!("{}: {}{}", self.placed(), self.run, ready.collect::<String>())
    }

    /// Where its process runs, for people: `client outside, on CPU 1 of the host`.
    pub fn placed(&self) -> String {
        let name = &self.name;
        match &self.place {
            Place::Tested => format!("{name} in the box"),
            Place::Apart => format!("{name} in a box of its own beside it"),
            Place::Outside if self.cpus.is_empty() => format!("{name} outside, on any CPU of the host"),
            Place::Outside => {
                let cpus: Vec<String> = self.cpus.iter().map(u32::to_string).collect();
                format!("{name} outside, on CPU {} of the host", cpus.join(", "))
            }
            Place::Later(_) => format!("{name} in a place unknown to this version of tare"),
        }
    }
}

/// For people: what was chosen of it.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel(run) => run.fmt(f),
            Self::Command(run) => f.write_str(&run.argv.join(" ")),
            Self::Load(spec) => spec.fmt(f),
            Self::Later(_) => f.write_str("run in a way unknown to this version of tare"),
        }
    }
}

impl fmt::Display for KernelRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ISA {}, ", self.spec.isa)?;
        match self.spec.kernel {
            Kernel::Stream if !self.fixed_threads => f.write_str("a thread for each CPU of its box"),
            _ => f.write_str(&counted(self.spec.threads, "thread")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
    use crate::kernel::Isa;

    fn stream() -> KernelRun {
        KernelRun {
            fixed_threads: false,
            ends: Topology::Loopback,
            spec: KernelSpec {
                kernel: Kernel::Stream,
                isa: Isa::Baseline,
                threads: 1,
                size: 1024,
                seconds: 0.5,
            },
        }
    }

    fn round_trip(workload: &Workload) {
        let text = serde_json::to_string(workload).unwrap();
        assert_eq!(&serde_json::from_str::<Workload>(&text).unwrap(), workload);
    }

    #[test]
    fn threads_follow_the_box_unless_they_are_fixed() {
        let four = Cpus::from_milli(4000);
        let threads = |run| catalogue::kernel(run).on(four).kernel().map(|spec| spec.threads);
        assert_eq!(threads(stream()), Some(4));
        let fixed = KernelRun {
            fixed_threads: true,
            ..stream()
        };
        assert_eq!(threads(fixed), Some(1));
    }

    #[test]
    fn every_workload_of_the_catalogue_is_read_as_it_was_written() {
        for kernel in Kernel::ALL {
            let mut run = stream();
            run.spec.kernel = kernel;
            let workload = catalogue::kernel(run);
            assert_eq!(workload.parts(), kernel.parts());
            round_trip(&workload);
        }
        let command = catalogue::command(Role {
            env: vec![("A".to_owned(), "b".to_owned())],
            files: vec!["/bin/x".to_owned()],
            ..catalogue::main(Run::Command(CommandRun {
                argv: vec!["/bin/x".to_owned()],
            }))
        });
        assert_eq!((command.name(), command.parts()), ("command", vec!["wall"]));
        round_trip(&command);
    }

    #[test]
    fn of_two_ends_the_client_is_timed_wherever_it_is() {
        for ends in [Topology::ClientOutside, Topology::ServerOutside] {
            let mut run = stream();
            run.spec.kernel = Kernel::TcpRr;
            run.ends = ends;
            let workload = catalogue::kernel(run);
            let timed = workload.timed().unwrap();
            assert_eq!((timed.name.as_str(), &timed.place), ("client", &ends.client()));
            assert_eq!((workload.tested().count(), workload.outside().count()), (1, 1));
            assert!(workload.metrics.iter().any(|m| m.from == Source::Host));
            assert!(
                workload
                    .placed()
                    .unwrap()
                    .contains("outside, on any CPU of the host")
            );
            round_trip(&workload);
        }
        assert_eq!(catalogue::kernel(stream()).placed(), None);
    }

    #[test]
    fn a_workload_of_a_later_version_keeps_its_name_metrics_and_all_it_says() {
        let text = r#"{"name":"redis","family":"redis","roles":[{"name":"server","place":"tested","run":{"kind":"image","digest":"sha256:0"}},{"name":"client","place":"native","run":{"kind":"kernel","kernel":"later"}}],"metrics":[{"name":"requests","unit":"requests/s","quantity":"rate","direction":"higher","primary":true,"from":{"json":"rps"}}],"checks":["exit-status",{"count":5}]}"#;
        let workload: Workload = serde_json::from_str(text).unwrap();
        assert_eq!(workload.metrics[0].unit.show(5.0), "5.000 requests/s");
        assert!(workload.roles.iter().all(|r| matches!(r.run, Run::Later(_))));
        assert_eq!((workload.kernel(), workload.checks.len()), (None, 2));
        let read: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_value(&workload).unwrap(), read);
    }
}
