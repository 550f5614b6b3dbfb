//! The workloads that tare has, as values. Results of versions 1 and 2 name them and say
//! no more, so that this is also how such files are read.

use crate::load::PERCENTILES;
use crate::metric::{Direction, LatencyOf, Metric, Source, Unit, Usage};
use crate::topology::Topology;
use crate::workload::{COMMAND, Check, KernelRun, LOAD, Place, Ready, Role, Run, Workload};

/// A built-in kernel, which reports its metrics and holds its answer against a known one.
pub fn kernel(run: KernelRun) -> Workload {
    let kernel = run.spec.kernel;
    Workload {
        name: kernel.name().to_owned(),
        family: kernel.name().to_owned(),
        about: kernel.about().to_owned(),
        feature: Some(kernel.feature()),
        version: None,
        image: None,
        cannot_run: None,
        cold: false,
        seconds: None,
        memory_bytes: None,
        metrics: metrics(&run),
        roles: roles(run),
        checks: vec![Check::ExitStatus, Check::KnownAnswer],
    }
}

/// The line in which a kernel that serves tells its port.
pub const SERVES: &str = "^serves at port ([0-9]+)$";

/// The parts of a kernel: one process, or a client and its server in two places.
fn roles(run: KernelRun) -> Vec<Role> {
    let ends = run.ends;
    if ends.are_together() {
        return vec![main(Run::Kernel(run))];
    }
    let server = Role {
        name: "server".to_owned(),
        place: ends.server(),
        ready: Some(Ready::Line(SERVES.to_owned())),
        ..main(Run::Kernel(run.clone()))
    };
    let client = Role {
        name: "client".to_owned(),
        place: ends.client(),
        ..main(Run::Kernel(run))
    };
    vec![server, client]
}

/// What a kernel reports, and of one with an end outside also what the box of the cell used.
fn metrics(run: &KernelRun) -> Vec<Metric> {
    let mut metrics = run.spec.kernel.metrics();
    if run.ends != Topology::Loopback {
        metrics.push(box_cpu());
    }
    metrics
}

/// What the boxes of the cell's kind used, of a workload that is not in one alone.
fn box_cpu() -> Metric {
    Metric {
        from: Source::Host,
        ..Metric::new("box-cpu", Unit::Second, Direction::Lower, false)
    }
}

/// How long the servers took to serve.
fn ready() -> Metric {
    Metric {
        from: Source::Ready,
        ..Metric::new("ready", Unit::Second, Direction::Lower, false)
    }
}

/// A user's own command, of which the box's kernel tells what it used.
pub fn command(role: Role) -> Workload {
    Workload {
        name: "command".to_owned(),
        family: "command".to_owned(),
        about: String::new(),
        feature: None,
        version: None,
        image: None,
        cannot_run: None,
        cold: false,
        seconds: None,
        memory_bytes: None,
        roles: vec![role],
        metrics: used_by_a_command(),
        checks: vec![Check::ExitStatus],
    }
}

/// What is timed with its servers, which are started before it.
pub fn with_servers(role: Role, servers: Vec<Role>) -> Workload {
    let mut workload = match &role.run {
        Run::Load(spec) => {
            let metrics = of_a_load(spec.is_open());
            let checks = vec![Check::ExitStatus, Check::KnownAnswer];
            Workload {
                metrics,
                checks,
                ..command(role)
            }
        }
        _ => command(role),
    };
    if let ([timed], false) = (&mut workload.roles[..], servers.is_empty()) {
        let name = if timed.is_load() { LOAD } else { COMMAND };
        name.clone_into(&mut timed.name);
        workload.roles.splice(0..0, servers);
    }
    if workload.servers().next().is_some() {
        workload.metrics.push(ready());
    }
    if workload.is_in_several_boxes() {
        workload.metrics.push(box_cpu());
    }
    workload
}

/// What the client of a load tells. In a closed loop what counts is how many requests a server
/// answers, in an open loop how long each takes.
fn of_a_load(is_open: bool) -> Vec<Metric> {
    let latency = |name: &str, of: LatencyOf| Metric {
        from: Source::Latency(of),
        ..Metric::new(name, Unit::Second, Direction::Lower, name == "mean" && is_open)
    };
    let unit = Unit::Other("op/s".to_owned());
    let answered = Metric {
        part: Some(0),
        ..Metric::new("requests", unit, Direction::Higher, !is_open)
    };
    let shares = PERCENTILES.map(|(name, share)| latency(name, LatencyOf::Share(share)));
    let mean = latency("mean", LatencyOf::Mean);
    [answered, mean].into_iter().chain(shares).collect()
}

/// Every metric that a workload has without a kernel that reports it or a program that prints it, with what has it.
pub fn of_commands_and_loads() -> impl Iterator<Item = (&'static str, Metric)> {
    let command = used_by_a_command()
        .into_iter()
        .map(|metric| ("every command", metric));
    let load = of_a_load(false).into_iter().map(|metric| ("every load", metric));
    let others = [
        ("workloads with servers", ready()),
        ("workloads in several boxes", box_cpu()),
    ];
    command.chain(load).chain(others)
}

/// What the box's kernel tells of every command.
pub fn used_by_a_command() -> Vec<Metric> {
    vec![
        // In slices a repetition is the unit of work.
        Metric {
            part: Some(0),
            ..used("wall", Unit::Second, true, Usage::Wall)
        },
        used("user", Unit::Second, false, Usage::User),
        used("system", Unit::Second, false, Usage::System),
        used("peak-memory", Unit::Byte, false, Usage::PeakMemory),
        used("page-faults", Unit::One, false, Usage::Faults),
        used("context-switches", Unit::One, false, Usage::Switches),
        used("storage-read", Unit::Byte, false, Usage::Read),
        used("storage-written", Unit::Byte, false, Usage::Written),
    ]
}

/// The one role of a workload that is one process in the box of the cell.
pub fn main(run: Run) -> Role {
    Role {
        name: "main".to_owned(),
        one_of: None,
        place: Place::Tested,
        run,
        env: Vec::new(),
        files: Vec::new(),
        cwd: None,
        setup: Vec::new(),
        teardown: Vec::new(),
        user: None,
        host_only: None,
        ready: None,
        stands: false,
        cpus: Vec::new(),
    }
}

fn used(name: &str, unit: Unit, primary: bool, usage: Usage) -> Metric {
    Metric {
        from: Source::Usage(usage),
        ..Metric::new(name, unit, Direction::Lower, primary)
    }
}
