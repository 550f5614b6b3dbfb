//! fio's side.

use super::Figures;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use tare_model::kernel::Kernel;

/// Kernels with a job of fio's.
pub const JOBS: [Kernel; 5] = [
    Kernel::RandomRead,
    Kernel::RandomWrite,
    Kernel::SequentialRead,
    Kernel::SequentialWrite,
    Kernel::Fsync,
];

/// Runs the job of a kernel. Its files stay in `folder`, so that only the first run lays
/// them out; writes are overwrites, as ours are.
pub fn run(kernel: Kernel, folder: &Path, bytes: u64, seconds: f64) -> Result<Figures> {
    let queue = ["--ioengine=libaio", "--direct=1", "--iodepth=16", "--numjobs=8"].as_slice();
    let (rw, how) = match kernel {
        Kernel::RandomRead => ("randread", queue),
        Kernel::RandomWrite => ("randwrite", queue),
        Kernel::SequentialRead => ("read", queue),
        Kernel::SequentialWrite => ("write", queue),
        Kernel::Fsync => ("write", ["--ioengine=psync", "--fdatasync=1"].as_slice()),
        _ => bail!("there is no job of fio's for {kernel}"),
    };
    let bytes = if kernel == Kernel::Fsync { 1 << 20 } else { bytes };
    let output = Command::new("fio")
        .args([
            "--name=tare",
            "--bs=4k",
            "--overwrite=1",
            "--time_based",
            "--group_reporting",
        ])
        .args(["--output-format=json", "--rw", rw])
        .arg(format!("--filename_format=fio-$jobnum-{bytes}"))
        .arg(format!("--size={bytes}"))
        .arg(format!("--runtime={}ms", seconds * 1e3))
        .arg(format!("--directory={}", folder.display()))
        .args(how)
        .output()
        .context("cannot run fio")?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "fio failed: {stderr}");
    figures(&serde_json::from_slice(&output.stdout).context("read what fio printed")?)
}

fn figures(printed: &Value) -> Result<Figures> {
    let job = &printed["jobs"][0];
    let number = |value: &Value| value.as_f64().context("fio's figures are others than expected");
    let mut operations = 0.0;
    let mut operations_per_second = 0.0;
    for way in ["read", "write"] {
        operations += number(&job[way]["total_ios"])?;
        operations_per_second += number(&job[way]["iops"])?;
    }
    // Per cent of the time of all jobs together, which is told in milliseconds.
    let share = (number(&job["usr_cpu"])? + number(&job["sys_cpu"])?) / 100.0;
    Ok(Figures {
        operations_per_second,
        cpu_seconds: share * number(&job["job_runtime"])? / 1e3 / operations,
    })
}
