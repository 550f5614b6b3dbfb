//! `tare kernel NAME`: one built-in workload, here and now, outside any box.

use crate::args::KernelArgs;
use crate::out;
use anyhow::Context;
use std::fmt::Write as _;
use std::process::ExitCode;
use tare_model::kernel::{Kernel, KernelReport, KernelSpec};
use tare_model::size::{counted, parse_memory, show_seconds};

/// Runs the kernel and prints its figures.
pub fn run(args: &KernelArgs) -> anyhow::Result<ExitCode> {
    let kernel: Kernel = args.name.parse()?;
    anyhow::ensure!(
        kernel == Kernel::Stream || args.threads == 1,
        "{kernel} runs on one thread, only stream on several: leave out --threads"
    );
    let size = args.size.as_deref().map(|text| size(kernel, text)).transpose()?;
    let facts = tare_box::host::facts();
    let spec = tare_lab::design::kernel_spec(kernel, Some(args.isa), args.threads, &facts, args.time);
    let spec = KernelSpec {
        size: size.unwrap_or(spec.size),
        ..spec
    };
    let report = tare_kernels::run(&spec)?;
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

/// Reads the size of a kernel's problem: what it is counted in depends on the kernel.
fn size(kernel: Kernel, text: &str) -> anyhow::Result<u64> {
    let sizes = kernel
        .sizes()
        .with_context(|| format!("{kernel} has no size: leave out --size"))?;
    if sizes.in_bytes {
        return parse_memory(text).context("--size");
    }
    text.parse().map_err(|_| {
        let (unit, usual) = (sizes.unit, sizes.usual);
        anyhow::anyhow!("--size: '{text}' is no whole number ({unit}): give {kernel} one, such as {usual}")
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
        "  answer {verdict}: {} {:.3e}, at most {:.3e}",
        check.what, check.found, check.bound
    )?;
    Ok(text)
}
