//! Our side: a kernel at its gate.

use super::Figures;
use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use tare_model::gate::{Order, Slice};
use tare_model::kernel::{Isa, Kernel, KernelReport, KernelSpec};

/// A kernel with files of so many bytes, if it has a size.
pub fn spec(kernel: Kernel, bytes: u64) -> KernelSpec {
    KernelSpec {
        kernel,
        isa: Isa::Baseline,
        threads: 1,
        size: kernel.sizes().map_or(0, |_| bytes),
        seconds: 1.0,
    }
}

/// Runs a kernel in slices of about so long, for so long altogether.
pub fn run(program: &Path, folder: &Path, spec: &KernelSpec, slice_ms: f64, seconds: f64) -> Result<Figures> {
    let mut child = Command::new(program)
        .args(["run-kernel", "--gate", &serde_json::to_string(spec)?])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut gate = Gate {
        orders: child.stdin.take().context("it has a pipe")?,
        answers: BufReader::new(child.stdout.take().context("it has a pipe")?).lines(),
    };
    gate.line()?;
    let units = gate.units_of(slice_ms / 1e3)?;
    let (mut work, mut wall, mut cpu) = (0.0, 0.0, 0.0);
    while wall < seconds {
        let slice = gate.order(units)?;
        work += slice.parts[0].work;
        wall += slice.parts[0].wall_ns as f64 / 1e9;
        cpu += slice.parts[0].cpu_ns as f64 / 1e9;
    }
    drop(gate.orders);
    let report: KernelReport = serde_json::from_str(&gate.answers.next().context("no report")??)?;
    ensure!(
        child.wait()?.success() && report.check.passed(),
        "{:?}",
        report.check
    );
    Ok(Figures {
        operations_per_second: work / wall,
        cpu_seconds: cpu / work,
    })
}

struct Gate {
    orders: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Gate {
    fn line(&mut self) -> Result<String> {
        Ok(self.answers.next().context("the kernel has ended")??)
    }

    fn order(&mut self, units: u64) -> Result<Slice> {
        let order = serde_json::to_string(&Order { units, lead: 0 })?;
        writeln!(self.orders, "{order}")?;
        Ok(serde_json::from_str(&self.line()?)?)
    }

    /// Units that take so long, as a slice of at least half of it shows.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number; the cast saturates"
    )]
    fn units_of(&mut self, seconds: f64) -> Result<u64> {
        let mut units = 1;
        loop {
            let wall = self.order(units)?.parts[0].wall_ns as f64 / 1e9;
            let fit = (units as f64 * seconds / wall).round().max(1.0) as u64;
            if wall >= seconds / 2.0 {
                return Ok(fit);
            }
            units = fit.clamp(units + 1, 16 * units);
        }
    }
}
