//! Headers of versions 1 and 2, which say which workloads ran and not what they yield.

use crate::catalogue;
use crate::workload::{CommandRun, KernelRun, Role, Run, Workload};
use serde::Deserialize;
use serde_json::Value;

/// A workload as versions 1 and 2 store it.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Stored {
    Kernel(Kernel),
    Command(Command),
}

#[derive(Deserialize)]
struct Kernel {
    label: Option<String>,
    #[serde(flatten)]
    run: KernelRun,
}

#[derive(Deserialize)]
struct Command {
    argv: Vec<String>,
    env: Vec<(String, String)>,
    carried: Vec<String>,
    host_only: Option<String>,
}

/// Makes of a header of version 1 or 2 one of this version.
///
/// # Errors
/// That of the parser, if a workload is none of these versions.
pub(super) fn raise(header: &mut Value) -> serde_json::Result<()> {
    let workloads = header
        .pointer_mut("/study/workloads")
        .and_then(Value::as_array_mut);
    for workload in workloads.into_iter().flatten() {
        let stored: Stored = serde_json::from_value(workload.take())?;
        *workload = serde_json::to_value(Workload::from(stored))?;
    }
    Ok(())
}

impl From<Stored> for Workload {
    fn from(stored: Stored) -> Self {
        match stored {
            Stored::Kernel(Kernel { label, run }) => {
                let workload = catalogue::kernel(run);
                Self {
                    name: label.unwrap_or_else(|| workload.name.clone()),
                    ..workload
                }
            }
            Stored::Command(Command {
                argv,
                env,
                carried,
                host_only,
            }) => catalogue::command(Role {
                env,
                files: carried,
                host_only,
                ..catalogue::main(Run::Command(CommandRun { argv }))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel;

    fn raised(text: &str) -> Workload {
        let workload: Value = serde_json::from_str(text).unwrap();
        let mut header = serde_json::json!({ "study": { "workloads": [workload] } });
        raise(&mut header).unwrap();
        serde_json::from_value(header["study"]["workloads"][0].take()).unwrap()
    }

    #[test]
    fn a_kernel_gets_its_metrics_and_keeps_its_label() {
        let workload = raised(
            r#"{"kind":"kernel","label":"stream threads=1","fixed_threads":true,"kernel":"stream","isa":"baseline","threads":1,"size":1024,"seconds":0.5}"#,
        );
        assert_eq!(
            (workload.name(), workload.family.as_str()),
            ("stream threads=1", "stream")
        );
        assert_eq!(workload.metrics, kernel::Kernel::Stream.metrics());
        let four = crate::size::Cpus::from_milli(4000);
        assert_eq!(workload.on(four).kernel().map(|spec| spec.threads), Some(1));
        let plain =
            raised(r#"{"kind":"kernel","kernel":"spawn","isa":"v3","threads":1,"size":0,"seconds":0.5}"#);
        assert_eq!(plain.name(), "spawn");
    }

    #[test]
    fn a_command_keeps_its_environment_files_and_why_it_stays_on_the_host() {
        let workload = raised(
            r#"{"kind":"command","argv":["/bin/x","y"],"env":[["A","b"]],"carried":["/bin/x"],"host_only":"why"}"#,
        );
        let role = workload.timed().unwrap();
        assert_eq!(role.run.to_string(), "/bin/x y");
        assert_eq!(role.env, [("A".to_owned(), "b".to_owned())]);
        assert_eq!(
            (role.files.as_slice(), role.host_only.as_deref()),
            (&["/bin/x".to_owned()][..], Some("why"))
        );
        let primary: Vec<&str> = workload
            .metrics
            .iter()
            .filter(|m| m.primary)
            .map(|m| m.name.as_str())
            .collect();
        assert_eq!(primary, ["wall"]);
    }

    #[test]
    fn what_was_no_workload_of_these_versions_is_an_error() {
        let mut header = serde_json::json!({ "study": { "workloads": [{ "kind": "service" }] } });
        assert!(raise(&mut header).is_err());
    }
}
