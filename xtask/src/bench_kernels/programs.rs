//! The two programs of a comparison: how they are built and run.

use crate::{report_of, stdout_of};
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use tare_model::kernel::{Isa, Kernel, KernelSpec};

/// Kernels with a reference in C.
pub const REFERENCES: [Kernel; 20] = [
    Kernel::Stream,
    Kernel::Linpack,
    Kernel::Blowfish,
    Kernel::Cryptohash,
    Kernel::Fibonacci,
    Kernel::Nqueens,
    Kernel::Fft,
    Kernel::Raytrace,
    Kernel::Astar,
    Kernel::Simplex,
    Kernel::Latency,
    Kernel::Fault,
    Kernel::Switch,
    Kernel::Timer,
    Kernel::Thread,
    Kernel::Futex,
    Kernel::ByteRead,
    Kernel::ByteWrite,
    Kernel::BlockRead,
    Kernel::BlockWrite,
];

/// gcc turns the copy loop into a call of memcpy, whose stores are the C
/// library's choice; without, the loop that the source has stays a loop.
const LOOPS_STAY: &str = "-fno-tree-loop-distribute-patterns";

/// How gcc is to optimise: the loops of the two established benchmarks with all it has,
/// the rest as programs of a distribution are built.
const fn optimisation(kernel: Kernel) -> &'static str {
    match kernel {
        Kernel::Stream | Kernel::Linpack => "-O3",
        _ => "-O2",
    }
}

/// One kernel's run, by ours and by the reference.
pub struct Pair {
    ours: PathBuf,
    reference: PathBuf,
    spec: KernelSpec,
}

impl Pair {
    /// Compiles the reference for the instruction set of `spec`.
    pub fn build(ours: &Path, spec: KernelSpec) -> Result<Self> {
        if !REFERENCES.contains(&spec.kernel) {
            bail!("there is no reference for {}", spec.kernel);
        }
        let name = format!("reference-{}-{}", spec.kernel, spec.isa);
        let reference = ours.with_file_name(name);
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/reference");
        let status = Command::new("gcc")
            .args([optimisation(spec.kernel), LOOPS_STAY])
            .args(march(spec.isa))
            .arg(Path::new(source).join(format!("{}.c", spec.kernel)))
            .arg("-o")
            .arg(&reference)
            .arg("-lm")
            .status()
            .context("cannot run gcc")?;
        ensure!(status.success(), "gcc failed on the reference of {}", spec.kernel);
        Ok(Self {
            ours: ours.to_owned(),
            reference,
            spec,
        })
    }

    /// Our figures by metric.
    pub fn run_ours(&self) -> Result<BTreeMap<String, f64>> {
        Ok(report_of(&mut Command::new(&self.ours), &self.spec)?.metrics)
    }

    /// The reference's figures by metric, and its error.
    pub fn run_reference(&self) -> Result<BTreeMap<String, f64>> {
        let arguments = [self.spec.size.to_string(), self.spec.seconds.to_string()];
        let stdout = stdout_of(Command::new(&self.reference).args(arguments))?;
        let figures: BTreeMap<String, f64> = serde_json::from_str(&stdout)?;
        let (name, bound) = match self.spec.kernel {
            Kernel::Stream => ("error", 1e-13),
            Kernel::Linpack => ("residual", 16.0),
            _ => ("wrong", 0.0),
        };
        let right = figures.get(name).is_some_and(|found| *found <= bound);
        ensure!(right, "wrong answer of the reference: {stdout}");
        Ok(figures)
    }
}

fn march(isa: Isa) -> Option<&'static str> {
    match isa {
        Isa::Baseline => None,
        Isa::V3 => Some("-march=x86-64-v3"),
        Isa::V4 => Some("-march=x86-64-v4"),
    }
}
