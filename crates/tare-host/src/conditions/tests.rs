//! A host of files: two cores of two threads, CPUs 0 and 1 of one.

use super::*;
use std::time::Duration;

struct Host(PathBuf);

impl Host {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("tare-conditions-{name}-{}", std::process::id()));
        let host = Self(root);
        host.write(
            "proc/stat",
            "cpu  0 0 0 0\ncpu0 10 0 10 0 0 0 0\ncpu1 0 0 5 0 0 0 0\n",
        );
        for (cpu, siblings) in [(0, "0-1"), (1, "0-1")] {
            host.write(
                &format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"),
                siblings,
            );
        }
        host
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // In place: the meter holds the file open.
        let mut file = fs::OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .open(path)
            .unwrap();
        io::Write::write_all(&mut file, text.as_ref()).unwrap();
    }

    fn meter(&self) -> ConditionMeter {
        ConditionMeter::under(&self.0, vec![0, 1]).unwrap()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The conditions of one second in which `change` happens.
fn over(host: &Host, set: &[u32], own_ns: Option<u64>, change: impl FnOnce()) -> Conditions {
    let meter = host.meter();
    let first = meter.read().unwrap();
    change();
    let mut last = meter.read().unwrap();
    last.at = first.at + Duration::from_secs(1);
    meter.between(&first, &last, set, own_ns)
}

#[test]
fn load_of_others_on_the_set_is_told_from_the_box_s_own() {
    let host = Host::new("set");
    let ticks = 1_000_000_000 / tick_ns();
    let busy = || {
        let stat = format!(
            "cpu0 {} 0 10 0 0 0 0\ncpu1 {} 0 5 0 0 0 0\n",
            10 + ticks,
            ticks / 2
        );
        host.write("proc/stat", stat);
    };
    let found = over(&host, &[0], Some(600_000_000), busy);
    // 0.4 s of others and 0.5 s of the sibling, less two ticks.
    let tick = 1.0 / ticks as f64;
    assert!(
        (found.set_load.unwrap() - (0.4 - 2.0 * tick)).abs() < 1e-9,
        "{found:?}"
    );
    assert!(
        (found.sibling_load.unwrap() - (0.5 - 2.0 * tick)).abs() < 1e-9,
        "{found:?}"
    );
}

#[test]
fn what_a_host_does_not_count_is_absent() {
    let host = Host::new("none");
    let found = over(&host, &[0, 1], None, || {});
    assert_eq!(found, Conditions::default());
}

#[test]
fn heat_pressure_and_frequency_are_read_where_there_are_counters() {
    let host = Host::new("all");
    let cpu = |cpu: u32, name: &str| format!("sys/devices/system/cpu/cpu{cpu}/{name}");
    let pressure =
        |total: u32| format!("some avg10=0.00 avg60=0.00 total={total}\nfull avg10=0.00 total=1\n");
    host.write("proc/pressure/memory", pressure(1000));
    for n in 0..2 {
        host.write(&cpu(n, "thermal_throttle/core_throttle_count"), "3\n");
        host.write(&cpu(n, "cpufreq/scaling_cur_freq"), "2000000\n");
        host.write(&cpu(n, "cpufreq/cpuinfo_max_freq"), "4000000\n");
    }
    let found = over(&host, &[], None, || {
        host.write("proc/pressure/memory", pressure(101_000));
        host.write(&cpu(1, "thermal_throttle/core_throttle_count"), "5\n");
    });
    assert_eq!(found.heat_throttles, Some(2));
    assert_eq!(found.frequency, Some(0.5));
    assert!((found.memory_pressure.unwrap() - 0.1).abs() < 1e-9, "{found:?}");
}

#[test]
fn frequency_is_that_of_the_cycles_where_they_are_counted() {
    let host = Host::new("cycles");
    let meter = host.meter();
    let of = |aperf, mperf| Reading {
        cycles: Some((aperf, mperf)),
        ..meter.read().unwrap()
    };
    assert_eq!(frequency(&of(100, 1000), &of(1300, 2000)), Some(1.2));
    assert_eq!(frequency(&of(100, 1000), &of(100, 1000)), None);
    // Registers wrap around.
    assert_eq!(frequency(&of(u64::MAX, u64::MAX), &of(499, 999)), Some(0.5));
}

#[test]
fn this_host_can_be_read() {
    let reading = ConditionMeter::open().unwrap().read().unwrap();
    assert!(!reading.busy_ns.is_empty());
}
