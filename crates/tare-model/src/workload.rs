//! What runs in boxes: built-in kernels with their parameters, and commands.

use crate::kernel::{Kernel, KernelSpec};
use crate::metric::{Direction, Metric, Unit};
use crate::size::Cpus;
use serde::{Deserialize, Serialize};

/// A user's own command as workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandSpec {
    /// Program (absolute path) and arguments.
    pub argv: Vec<String>,
    /// The whole environment, name and value; nothing of the host's is inherited.
    pub env: Vec<(String, String)>,
    /// Files of the host to carry into boxes at the same paths; the program
    /// itself is always among them.
    pub carried: Vec<String>,
    /// Why the command cannot run outside the host's own file system, if so.
    pub host_only: Option<String>,
}

impl CommandSpec {
    /// The metrics of a command.
    pub fn metrics() -> Vec<Metric> {
        use Direction::Lower;
        vec![
            Metric::new("wall", Unit::Second, Lower, true),
            Metric::new("user", Unit::Second, Lower, false),
            Metric::new("system", Unit::Second, Lower, false),
            Metric::new("peak-memory", Unit::Byte, Lower, false),
        ]
    }
}

/// A built-in kernel as a study runs it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelWorkload {
    /// Its name within the study, such as `linpack size=500`, where the study has
    /// the same kernel with other parameters too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Whether the number of threads is the same in boxes of every size, rather
    /// than that of the box's CPUs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixed_threads: bool,
    /// What is asked of the kernel.
    #[serde(flatten)]
    pub spec: KernelSpec,
}

impl KernelWorkload {
    /// The same in a box of so many CPUs.
    pub fn on(&self, cpus: Cpus) -> Self {
        if self.fixed_threads {
            return self.clone();
        }
        Self {
            spec: self.spec.on(cpus),
            ..self.clone()
        }
    }
}

impl From<KernelSpec> for KernelWorkload {
    fn from(spec: KernelSpec) -> Self {
        Self {
            label: None,
            fixed_threads: false,
            spec,
        }
    }
}

/// What runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Workload {
    /// A built-in kernel.
    Kernel(KernelWorkload),
    /// The user's own command.
    Command(CommandSpec),
}

impl Workload {
    /// The name used in cells and tables; unique within a study.
    pub fn name(&self) -> &str {
        match self {
            Self::Kernel(kernel) => kernel
                .label
                .as_deref()
                .unwrap_or_else(|| kernel.spec.kernel.name()),
            Self::Command(_) => "command",
        }
    }

    /// The metrics it yields, exactly one of them primary.
    pub fn metrics(&self) -> Vec<Metric> {
        match self {
            Self::Kernel(kernel) => kernel.spec.kernel.metrics(),
            Self::Command(_) => CommandSpec::metrics(),
        }
    }

    /// Threads that work; `None` where that is not known.
    pub fn threads(&self) -> Option<u32> {
        match self {
            Self::Kernel(kernel) => Some(kernel.spec.threads),
            Self::Command(_) => None,
        }
    }

    /// The names of the timed parts of a slice, each that of the metric that it is the
    /// figure of.
    pub fn parts(&self) -> &'static [&'static str] {
        match self {
            Self::Kernel(kernel) => kernel.spec.kernel.parts(),
            Self::Command(_) => &["wall"],
        }
    }

    /// The kernel behind it, if it is one.
    pub fn kernel(&self) -> Option<Kernel> {
        match self {
            Self::Kernel(kernel) => Some(kernel.spec.kernel),
            Self::Command(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str =
        r#"{"kind":"kernel","kernel":"stream","isa":"baseline","threads":1,"size":1024,"seconds":0.5}"#;

    #[test]
    fn workloads_of_older_results_are_read_and_written_as_they_were() {
        let workload: Workload = serde_json::from_str(OLD).unwrap();
        assert_eq!(workload.name(), "stream");
        assert_eq!(serde_json::to_string(&workload).unwrap(), OLD);
    }

    #[test]
    fn a_label_is_the_name_and_fixed_threads_stay() {
        let mut workload: KernelWorkload = serde_json::from_str(OLD).unwrap();
        assert_eq!(workload.on(Cpus::from_milli(4000)).spec.threads, 4);
        workload.fixed_threads = true;
        workload.label = Some("stream threads=1".to_owned());
        assert_eq!(workload.on(Cpus::from_milli(4000)).spec.threads, 1);
        let workload = Workload::Kernel(workload);
        assert_eq!(workload.name(), "stream threads=1");
        let text = serde_json::to_string(&workload).unwrap();
        assert_eq!(serde_json::from_str::<Workload>(&text).unwrap(), workload);
    }
}
