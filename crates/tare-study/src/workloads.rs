//! The workloads that come with tare, and what a trial of one told.

use crate::workload_file::{self, WorkloadFileError};
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::kernel::Kernel;
use tare_model::results::Outcome;
use tare_model::workload::Workload;

/// What `tare workloads --json` prints: the workloads that come with tare.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Shipped {
    /// First those that are built in, then commands by their names.
    pub workloads: Vec<Brief>,
}

/// A workload in short.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Brief {
    /// Its name, which `-w` takes.
    pub name: String,
    /// What it measures, in a line.
    pub about: String,
    pub kind: Kind,
}

/// What a workload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Part of tare itself, the same machine code on every platform.
    BuiltIn,
    /// A program of the host or of an image.
    Command,
}

/// What `tare workloads check NAME --json` prints: a workload and one trial of it, natively.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Tried<'a> {
    /// The workload, as it would stand in the header of a results file: a list of one.
    pub workload: &'a [Workload],
    /// How the trial ended; null if none was made.
    pub outcome: Option<&'a Outcome>,
}

/// Every workload that comes with tare, in short.
///
/// # Errors
/// [`WorkloadFileError`] if the file of one cannot be read.
pub fn list() -> Result<Shipped, WorkloadFileError> {
    let kernels = Kernel::ALL.into_iter().map(|kernel| Ok(of_kernel(kernel)));
    let commands = workload_file::names().into_iter().map(of_command);
    let workloads = kernels.chain(commands).collect::<Result<_, _>>()?;
    Ok(Shipped { workloads })
}

fn of_kernel(kernel: Kernel) -> Brief {
    Brief {
        name: kernel.name().to_owned(),
        about: kernel.about().to_owned(),
        kind: Kind::BuiltIn,
    }
}

fn of_command(name: &str) -> Result<Brief, WorkloadFileError> {
    let read = workload_file::read(name)?;
    Ok(Brief {
        name: read.family,
        about: read.about,
        kind: Kind::Command,
    })
}
