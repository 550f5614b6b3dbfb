//! The workloads that tare has, as values. Results of versions 1 and 2 name them and say
//! no more, so that this is also how such files are read.

use crate::metric::{Direction, Metric, Source, Unit, Usage};
use crate::workload::{Check, KernelRun, Place, Role, Run, Workload};

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
        seconds: None,
        roles: vec![main(Run::Kernel(run))],
        metrics: kernel.metrics(),
        checks: vec![Check::ExitStatus, Check::KnownAnswer],
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
        seconds: None,
        roles: vec![role],
        metrics: used_by_a_command(),
        checks: vec![Check::ExitStatus],
    }
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
    ]
}

/// The one role of a workload that is one process in the box of the cell.
pub fn main(run: Run) -> Role {
    Role {
        name: "main".to_owned(),
        place: Place::Tested,
        run,
        env: Vec::new(),
        files: Vec::new(),
        cwd: None,
        user: None,
        host_only: None,
    }
}

fn used(name: &str, unit: Unit, primary: bool, usage: Usage) -> Metric {
    Metric {
        from: Source::Usage(usage),
        ..Metric::new(name, unit, Direction::Lower, primary)
    }
}
