//! Settings of a process by which the kernel treats it otherwise than others.

use std::collections::BTreeMap;
use std::fs;

/// Lines of `/proc/PID/status` that cost time (proc_pid_status(5)).
const OF_STATUS: [&str; 4] = [
    "Seccomp_filters",
    "Speculation_Store_Bypass",
    "SpeculationIndirectBranch",
    "THP_enabled",
];

/// Settings of a process by their names, as the kernel shows them: its filters and mitigations, whether it gets huge pages, its
/// priority and policy, its timer slack, and how deep its cgroup lies. What cannot be read is absent.
pub fn of(pid: u32) -> BTreeMap<String, String> {
    let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let status = read("status");
    let mut settings: BTreeMap<String, String> = OF_STATUS
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), value_of(&status, name)?)))
        .collect();
    let mut add = |name: &str, value: Option<String>| {
        settings.extend(value.map(|value| (name.to_owned(), value)));
    };
    let stat = read("stat");
    add("nice", field(&stat, NICE));
    add("scheduling_policy", field(&stat, POLICY));
    let slack = read("timerslack_ns");
    add(
        "timer_slack_ns",
        Some(slack.trim().to_owned()).filter(|slack| !slack.is_empty()),
    );
    add(
        "cgroup_depth",
        depth(&read("cgroup")).map(|depth| depth.to_string()),
    );
    settings
}

/// Fields of `/proc/PID/stat` behind the name of the program (proc_pid_stat(5)), which may hold anything.
const NICE: usize = 19 - 3;
const POLICY: usize = 41 - 3;

fn field(stat: &str, place: usize) -> Option<String> {
    let (_, behind) = stat.rsplit_once(") ")?;
    behind.split(' ').nth(place).map(|value| value.trim().to_owned())
}

fn value_of(status: &str, name: &str) -> Option<String> {
    let line = |line: &str| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim().to_owned());
    status.lines().find_map(line)
}

/// Groups on the way to that in which a process gets its CPU time: the cpu controller's of version 1, else version 2's.
fn depth(cgroups: &str) -> Option<usize> {
    let path_of = |is_it: fn(&str) -> bool| {
        cgroups.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':');
            let controllers = parts.nth(1)?;
            parts.next().filter(|_| is_it(controllers))
        })
    };
    let of_cpu = path_of(|controllers| controllers.split(',').any(|one| one == "cpu"));
    let path = of_cpu.or_else(|| path_of(str::is_empty))?;
    Some(path.split('/').filter(|part| !part.is_empty()).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_settings() {
        let own = of(std::process::id());
        assert!(
            own.contains_key("nice") && own.contains_key("timer_slack_ns"),
            "{own:?}"
        );
        assert!(of(u32::MAX).is_empty());
    }

    #[test]
    fn a_program_may_be_called_anything() {
        let stat = format!(
            "7 (a) b) R {}",
            (4..60).map(|i| i.to_string()).collect::<Vec<_>>().join(" ")
        );
        assert_eq!(field(&stat, NICE).as_deref(), Some("19"));
        assert_eq!(field(&stat, POLICY).as_deref(), Some("41"));
        assert_eq!(field("", NICE), None);
    }

    #[test]
    fn depth_is_that_of_the_cpu_controller() {
        assert_eq!(
            depth("5:cpuset:/x\n4:cpu,cpuacct:/tare-1/box\n0::/a/b/c\n"),
            Some(2)
        );
        assert_eq!(depth("1:name=systemd:/\n0::/a/b/c\n"), Some(3));
        assert_eq!(depth("0::/\n"), Some(0));
        assert_eq!(depth(""), None);
        assert_eq!(
            value_of("THP_enabled:\t1\nTHP: 2\n", "THP_enabled").as_deref(),
            Some("1")
        );
    }
}
