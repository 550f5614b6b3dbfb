//! `tare kernel NAME`: one built-in workload, here and now, outside any box.

use crate::agent;
use crate::args::KernelArgs;
use crate::out;
use anyhow::Context;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;
use tare_host::host::{CpuTimes, HostMeter, own_cpu_ns};
use tare_model::digits::digits;
use tare_model::kernel::{Kernel, KernelReport, KernelSpec};
use tare_model::size::{counted, parse_memory, show_seconds};

/// Runs the kernel and prints its figures.
pub fn run(args: &KernelArgs) -> anyhow::Result<ExitCode> {
    let kernel: Kernel = args.name.parse()?;
    anyhow::ensure!(
        kernel == Kernel::Stream || args.threads == 1,
        "{kernel} runs on one thread: omit --threads, which only stream takes"
    );
    let size = args.size.as_deref().map(|text| size(kernel, text)).transpose()?;
    let facts = tare_host::host::facts();
    let spec = tare_study::design::kernel_spec(kernel, Some(args.isa), args.threads, &facts, args.time);
    let spec = KernelSpec {
        size: size.unwrap_or(spec.size),
        ..spec
    };
    let others = Others::watch();
    let report = agent::run_kernel(&spec)?;
    if let Some(warning) = others.and_then(|others| others.warning()) {
        out::say(&warning);
    }
    if args.json {
        out::print_json(&report)?;
    } else {
        out::print(&text(&report)?)?;
    }
    let passed = report.check.passed();
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(out::FAILED)
    })
}

/// CPU time of the host and of this process when it began to watch what others use.
struct Others {
    meter: HostMeter,
    host: CpuTimes,
    own_ns: u64,
}

impl Others {
    /// `None` where the host does not count.
    fn watch() -> Option<Self> {
        let meter = HostMeter::open().ok()?;
        Some(Self {
            host: meter.cpu_times().ok()?,
            own_ns: own_cpu_ns(),
            meter,
        })
    }

    /// What others used since, if that can have slowed down what ran.
    fn warning(&self) -> Option<String> {
        let now = self.meter.cpu_times().ok()?;
        let busy = now.busy_ns.saturating_sub(self.host.busy_ns);
        let own = own_cpu_ns().saturating_sub(self.own_ns);
        let used = Duration::from_nanos(busy.saturating_sub(own));
        warning(used, now.at.duration_since(self.host.at), self.meter.cpus())
    }
}

/// Ticks of 10 ms in which CPU time is counted: so few more are no load.
const FEW_TICKS: Duration = Duration::from_millis(30);
/// Share of the host's CPUs that others may use, as on a quiet host before a trial.
const QUIET_LOAD: f64 = 0.02;

fn warning(used: Duration, wall: Duration, cpus: u32) -> Option<String> {
    let by_others = used.as_secs_f64() / wall.as_secs_f64();
    let is_quiet = used <= FEW_TICKS || by_others < QUIET_LOAD * f64::from(cpus);
    (!is_quiet).then(|| {
        format!(
            "other programs used {} of {} while this ran: figures may be too slow; stop them and repeat",
            digits(by_others, 2),
            counted(cpus, "CPU")
        )
    })
}

/// Reads the size of a kernel's problem: what it is counted in depends on the kernel.
fn size(kernel: Kernel, text: &str) -> anyhow::Result<u64> {
    let sizes = kernel
        .sizes()
        .with_context(|| format!("{kernel} has no size: omit --size"))?;
    if sizes.in_bytes {
        return parse_memory(text).context("--size");
    }
    text.parse().map_err(|_| {
        let (unit, usual) = (sizes.unit, sizes.usual);
        anyhow::anyhow!(
            "--size: '{text}' is not a whole number ({unit}): give one for {kernel}, such as {usual}"
        )
    })
}

fn text(report: &KernelReport) -> anyhow::Result<String> {
    let spec = &report.spec;
    let mut text = format!("{}: {}\n", spec.kernel, spec.kernel.about());
    for metric in spec.kernel.metrics() {
        let value = report.metrics.get(&metric.name).copied().unwrap_or(f64::NAN);
        writeln!(text, "  {:8} {}", metric.name, metric.unit.show(value))?;
    }
    let stretches: usize = report.raw_seconds.values().map(Vec::len).sum();
    writeln!(
        text,
        "  one run of {} with {}, {} code",
        show_seconds(report.wall_seconds),
        counted(stretches, "timed stretch"),
        spec.isa
    )?;
    if let Some(disk) = &report.disk {
        writeln!(text, "  files on {disk}")?;
    }
    let check = &report.check;
    let verdict = if check.passed() { "right" } else { "WRONG" };
    writeln!(
        text,
        "  answer {verdict}: {} {}, at most {}",
        check.what,
        plainly(check.found),
        plainly(check.bound)
    )?;
    if spec.kernel == Kernel::Stream {
        text += &as_stream_prints(report);
    }
    Ok(text)
}

/// A count as it is, any other number with an exponent.
fn plainly(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e9 {
        value.to_string()
    } else {
        format!("{value:.3e}")
    }
}

/// The figures as STREAM 5.10 prints them, for whatever reads its output: the best rate of a pass
/// in millions of bytes per second, and seconds per pass. The rates above are those of all passes.
fn as_stream_prints(report: &KernelReport) -> String {
    let mut text = "Function    Best Rate MB/s  Avg time     Min time     Max time\n".to_owned();
    for (name, label, arrays) in [
        ("copy", "Copy:", 2.0),
        ("scale", "Scale:", 2.0),
        ("add", "Add:", 3.0),
        ("triad", "Triad:", 3.0),
    ] {
        let bytes = report.work_per_stretch.get(name).copied().unwrap_or(f64::NAN);
        // Small arrays are gone over several times in a stretch, and large ones in a slow box not whole.
        let a_pass = (arrays * report.spec.size as f64).min(bytes);
        let seconds = report.raw_seconds.get(name).map_or(&[][..], Vec::as_slice);
        let per_pass = seconds.iter().map(|s| s * a_pass / bytes);
        let least = per_pass.clone().fold(f64::INFINITY, f64::min);
        let most = per_pass.clone().fold(0.0, f64::max);
        let mean = per_pass.sum::<f64>() / seconds.len() as f64;
        let rate = a_pass / least / 1e6;
        text += &format!("{label:11}{rate:12.1}  {mean:11.6}  {least:11.6}  {most:11.6}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_load_of_others_is_told_and_a_quiet_host_is_not() {
        let ms = Duration::from_millis;
        assert_eq!(warning(ms(30), ms(10), 2), None);
        assert_eq!(warning(ms(39), ms(1000), 2), None);
        assert_eq!(
            warning(ms(1500), ms(1000), 2).unwrap(),
            "other programs used 1.50 of 2 CPUs while this ran: figures may be too slow; stop them and repeat"
        );
    }

    #[test]
    fn what_another_process_uses_is_no_time_of_ours() {
        let others = Others::watch().unwrap();
        let mut busy = std::process::Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(500));
        let warning = others.warning();
        busy.kill().unwrap();
        busy.wait().unwrap();
        assert!(warning.is_some());
    }

    #[test]
    fn stream_tells_its_figures_as_the_original_does() {
        let facts = tare_host::host::facts();
        let spec = tare_study::design::kernel_spec(Kernel::Stream, None, 1, &facts, 0.02);
        let spec = KernelSpec {
            size: 1 << 20,
            ..spec
        };
        let mut report = agent::run_kernel(&spec).unwrap();
        for (name, arrays) in [("copy", 2.0), ("scale", 2.0), ("add", 3.0), ("triad", 3.0)] {
            let passes = 4.0 * arrays * f64::from(1 << 20);
            report.work_per_stretch.insert(name.to_owned(), passes);
        }
        let seconds = |all: &[f64]| all.to_vec();
        report.raw_seconds = BTreeMap::from([
            ("copy".to_owned(), seconds(&[0.004, 0.008])),
            ("scale".to_owned(), seconds(&[0.004])),
            ("add".to_owned(), seconds(&[0.004])),
            ("triad".to_owned(), seconds(&[0.012, 0.008])),
        ]);
        assert_eq!(
            as_stream_prints(&report),
            "Function    Best Rate MB/s  Avg time     Min time     Max time\n\
             Copy:            2097.2     0.001500     0.001000     0.002000\n\
             Scale:           2097.2     0.001000     0.001000     0.001000\n\
             Add:             3145.7     0.001000     0.001000     0.001000\n\
             Triad:           1572.9     0.002500     0.002000     0.003000\n"
        );
    }
}
