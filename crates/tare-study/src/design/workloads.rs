//! What runs: built-in kernels as they fit this host, or a command.

use super::{DesignError, Programs, StudyRequest, WorkloadWish, in_image, parameters, refuse_twice};
use crate::command::CommandWish;
use crate::printed;
use crate::workload_file::{self, CatalogueWorkload};
use std::path::Path;
use tare_host::carry::{self, CarryError, Needs};
use tare_model::catalogue;
use tare_model::host::HostFacts;
use tare_model::kernel::{Isa, Kernel, KernelSpec, UnknownKernel};
use tare_model::size::Cpus;
use tare_model::suggest;
use tare_model::template::Missing;
use tare_model::topology::Topology;
use tare_model::workload::{CommandRun, KernelRun, Place, Role, Run, Workload};

/// Last-level cache assumed where the host does not tell.
const UNKNOWN_LLC: u64 = 32 << 20;
/// As many threads as a kernel takes.
pub const MAX_THREADS: u32 = 4096;
/// Largest array of `stream`, and buffer of `latency`, in slices. Boxes stand side by side with the arrays of all of
/// them: what one box has in a cache shared by all, the slices of the others drive out
/// before its next one, and no core's own cache holds a quarter of an array. Larger ones
/// only add the luck of their pages: the rate of a process is its own for life, and over
/// processes it varied by 1.2 % with 32 MiB and by 4.5 % with 128 MiB.
const SLICED_ARRAY: u64 = 32 << 20;
/// What runs: the command, or the kernels that are named, by default the usual ones.
pub(super) fn workloads(
    wishes: &StudyRequest,
    cpus: Cpus,
    facts: &HostFacts,
    seconds: f64,
) -> Result<Vec<Workload>, DesignError> {
    if let Some(command) = &wishes.command {
        if !command.argv.is_empty() && !wishes.workloads.is_empty() {
            return Err(DesignError::WorkloadsAndCommand);
        }
        if wishes.isa.is_some() {
            return Err(DesignError::IsaAndCommand);
        }
        let mut workload = catalogue::command(role(command, wishes)?);
        workload.metrics = printed::metrics(&command.metrics, workload.metrics)?;
        workload.checks.extend(printed::checks(&command.checks)?);
        return Ok(vec![workload]);
    }
    let all = Kernel::USUAL.map(|kernel| WorkloadWish::from(kernel.name()));
    let chosen = match (wishes.workloads.is_empty(), names_missing_ones(wishes)) {
        (true, false) => &all[..],
        _ => &wishes.workloads,
    };
    let sliced = !wishes.protocol.slicing().is_off();
    let read = chosen.iter().enumerate().map(|(i, wish)| {
        if workload_file::is_known(&wish.kernel) {
            return of_catalogue(&wish.kernel, wishes).map(Chosen::Command);
        }
        let name = wish.kernel.split('?').next().unwrap_or_default();
        if name.parse::<Kernel>().is_err() {
            return Err(unknown(name));
        }
        let wish = parameters::taken(wish)?;
        kernel(&wish, i, wishes.isa, cpus, facts, seconds, sliced).map(Chosen::Kernel)
    });
    let chosen = read.collect::<Result<Vec<Chosen>, _>>()?;
    let kernels = chosen.iter().filter_map(|chosen| match chosen {
        Chosen::Kernel(run) => Some(run.clone()),
        Chosen::Command(_) => None,
    });
    let kernels: Vec<KernelRun> = kernels.collect();
    let workloads = chosen.into_iter().map(|chosen| match chosen {
        Chosen::Kernel(run) => Workload {
            name: name(&run, &kernels),
            ..catalogue::kernel(run)
        },
        Chosen::Command(workload) => *workload,
    });
    let workloads: Vec<Workload> = workloads.collect();
    let names: Vec<&str> = workloads.iter().map(Workload::name).collect();
    refuse_twice("workload", &names)?;
    Ok(workloads)
}

/// A workload that was asked for by its name.
enum Chosen {
    Kernel(KernelRun),
    Command(Box<Workload>),
}

/// A workload of the catalogue, or of a file.
fn of_catalogue(asked: &str, wishes: &StudyRequest) -> Result<Box<Workload>, DesignError> {
    let read = workload_file::read(asked)?;
    let unfound = |error| without_program(error, &read);
    let mut servers = Vec::new();
    for wish in &read.roles {
        let role = placed(&wish.command, &wish.place, wishes).map_err(unfound)?;
        servers.extend(wish.each().map(|(name, one_of)| Role {
            name,
            one_of,
            ready: Some(wish.ready.clone()),
            stands: wish.stands,
            ..role.clone()
        }));
    }
    let role = placed(&read.command, &read.place, wishes).map_err(unfound)?;
    of_file(read, role, servers).map(Box::new)
}

/// The error that a packaged workload has no program, where that is what is wrong.
fn without_program(error: DesignError, read: &CatalogueWorkload) -> DesignError {
    let program = match &error {
        DesignError::Carry(CarryError::NotFound(name)) => name.clone(),
        DesignError::Carry(CarryError::NoFile(path)) => text(path),
        _ => return error,
    };
    match &read.package {
        Some(package) => DesignError::NoProgram {
            workload: read.family.clone(),
            program,
            package: package.clone(),
        },
        None => error,
    }
}

/// The role of a command that runs in this place. With an image both places are made of it.
fn placed(wish: &CommandWish, place: &Place, wishes: &StudyRequest) -> Result<Role, DesignError> {
    Ok(Role {
        place: place.clone(),
        ..role(wish, wishes)?
    })
}

/// A workload of a file, run by this role with these servers.
///
/// # Errors
/// [`DesignError::Printed`].
pub fn of_file(read: CatalogueWorkload, role: Role, servers: Vec<Role>) -> Result<Workload, DesignError> {
    let own = catalogue::with_servers(role, servers);
    let mut checks = own.checks;
    checks.extend(printed::checks(&read.command.checks)?);
    Ok(Workload {
        name: read.name,
        family: read.family,
        about: read.about,
        feature: read.feature,
        version: read.version,
        image: read.image,
        cannot_run: read.cannot_run,
        cold: read.cold,
        seconds: read.seconds,
        memory_bytes: read.memory_bytes,
        metrics: printed::metrics(&read.command.metrics, own.metrics)?,
        roles: own.roles,
        checks,
    })
}

/// Whether a study file names workloads that tare does not have.
fn names_missing_ones(wishes: &StudyRequest) -> bool {
    let mut left_out = wishes.template.iter().flat_map(|t| &t.left_out);
    left_out.any(|item| item.what == Missing::Workload)
}

fn kernel(
    wish: &WorkloadWish,
    index: usize,
    isa: Option<Isa>,
    cpus: Cpus,
    facts: &HostFacts,
    seconds: f64,
    sliced: bool,
) -> Result<KernelRun, DesignError> {
    let kernel: Kernel = wish.kernel.parse()?;
    let threads = wish.threads.unwrap_or_else(|| cpus.whole());
    let mut spec = kernel_spec(kernel, isa, threads, facts, seconds);
    if matches!(kernel, Kernel::Stream | Kernel::Latency) && sliced {
        spec.size = spec.size.min(SLICED_ARRAY);
    }
    if let Some(threads) = wish.threads {
        refuse_threads(kernel, threads, index)?;
    }
    if let Some(size) = wish.size {
        refuse_size(kernel, spec.threads, size, index)?;
    }
    let ends = wish.ends.unwrap_or_default();
    refuse_ends(kernel, ends, index)?;
    Ok(KernelRun {
        fixed_threads: wish.threads.is_some(),
        ends,
        spec: KernelSpec {
            size: wish.size.unwrap_or(spec.size),
            ..spec
        },
    })
}

/// Refuses a kernel of a stored study with parameters that none could have been given.
pub(super) fn refuse_parameters(run: &KernelRun, index: usize) -> Result<(), DesignError> {
    let KernelSpec {
        kernel,
        threads,
        size,
        ..
    } = run.spec;
    refuse_threads(kernel, threads, index)?;
    refuse_ends(kernel, run.ends, index)?;
    match kernel {
        // They have no size, which is told as 0.
        _ if kernel.sizes().is_none() && size == 0 => Ok(()),
        _ => refuse_size(kernel, threads, size, index),
    }
}

fn refuse_ends(kernel: Kernel, ends: Topology, index: usize) -> Result<(), DesignError> {
    if ends.are_together() || kernel.has_ends() {
        return Ok(());
    }
    Err(DesignError::NoEnds { kernel, index })
}

fn refuse_threads(kernel: Kernel, threads: u32, index: usize) -> Result<(), DesignError> {
    let range = match kernel {
        Kernel::Stream => 1..=MAX_THREADS,
        _ => 1..=1,
    };
    if range.contains(&threads) {
        return Ok(());
    }
    Err(DesignError::Parameter {
        kernel,
        parameter: "threads",
        value: threads.into(),
        range: format!("{} to {}", range.start(), range.end()),
        index,
    })
}

/// Refuses a size out of the bounds of `tare_kernels`, before anything runs.
fn refuse_size(kernel: Kernel, threads: u32, size: u64, index: usize) -> Result<(), DesignError> {
    let range = match kernel.sizes() {
        Some(sizes) => {
            let pages = if kernel == Kernel::Stream {
                threads.into()
            } else {
                1
            };
            let least = sizes.least * pages;
            if (least..=sizes.most).contains(&size) {
                return Ok(());
            }
            format!("{least} to {} ({})", sizes.most, sizes.unit)
        }
        None => String::new(),
    };
    Err(DesignError::Parameter {
        kernel,
        parameter: "size",
        value: size,
        range,
        index,
    })
}

/// The name of a run: the kernel's, with the parameters in which its runs differ.
fn name(run: &KernelRun, runs: &[KernelRun]) -> String {
    let kernel = run.spec.kernel;
    let others = || runs.iter().filter(|other| other.spec.kernel == kernel);
    let mut name = kernel.name().to_owned();
    if !run.ends.are_together() {
        name += &format!(" {}={}", Topology::PARAMETER, run.ends);
    }
    if others().any(|other| shown_size(other) != shown_size(run)) {
        name += &format!(" size={}", shown_size(run));
    }
    if others().any(|other| shown_threads(other) != shown_threads(run)) {
        name += &format!(" threads={}", shown_threads(run));
    }
    name
}

/// The size as a study file gives it: `64M`, `500`.
fn shown_size(run: &KernelRun) -> String {
    let size = run.spec.size;
    let bytes = run.spec.kernel.sizes().is_some_and(|sizes| sizes.in_bytes);
    let units = [(30, "G"), (20, "M"), (10, "K")];
    let unit = units
        .into_iter()
        .find(|(shift, _)| bytes && size > 0 && size.is_multiple_of(1 << shift));
    unit.map_or_else(
        || size.to_string(),
        |(shift, name)| format!("{}{name}", size >> shift),
    )
}

fn shown_threads(run: &KernelRun) -> String {
    if run.fixed_threads {
        run.spec.threads.to_string()
    } else {
        "auto".to_owned()
    }
}

/// The run of a kernel that fits this host: the same for `tare kernel` and for every box.
pub fn kernel_spec(
    kernel: Kernel,
    isa: Option<Isa>,
    threads: u32,
    facts: &HostFacts,
    seconds: f64,
) -> KernelSpec {
    let size = match kernel {
        // STREAM's rule: each array at least four times the last-level cache.
        Kernel::Stream => 4 * facts.llc_bytes.unwrap_or(UNKNOWN_LLC),
        _ => kernel.sizes().map_or(0, |sizes| sizes.usual),
    };
    let threads = if kernel == Kernel::Stream { threads } else { 1 };
    KernelSpec {
        kernel,
        isa: isa.unwrap_or(Isa::Baseline),
        threads,
        size,
        seconds,
    }
}

/// The one role of a command, or of a load in its place.
fn role(wish: &CommandWish, wishes: &StudyRequest) -> Result<Role, DesignError> {
    if let Some(load) = &wish.load {
        return Ok(catalogue::main(Run::Load(load.clone())));
    }
    match &wishes.programs {
        Programs::Image(chosen) => in_image::role(wish, chosen),
        Programs::Host => of_host(wish),
        Programs::Unmade(_) => in_image::role_of_unmade(wish),
    }
}

/// That of a command of the host's, with all that it needs in a box.
fn of_host(wish: &CommandWish) -> Result<Role, DesignError> {
    if wish.entrypoint.is_some() && wish.argv.is_empty() {
        return Err(DesignError::EntryPointWithoutImage);
    }
    let (name, arguments) = wish.argv.split_first().ok_or(DesignError::WithoutCommand)?;
    if wish.image_only {
        return Err(DesignError::ImageOnly);
    }
    let program = carry::find_program(name)?;
    let mut files = vec![text(&program)];
    if wish.with_libraries {
        files.extend(carry::runtime_files(&program)?.iter().map(|p| text(p)));
    }
    for path in &wish.with {
        files.extend(carry::files_below(path)?.iter().map(|p| text(p)));
    }
    // Before the loader of other programs is among them, which brings not the command's libraries.
    let host_only = host_only(&program, &files)?;
    let aside = [&wish.setup, &wish.teardown];
    let aside = aside.into_iter().filter_map(|argv| argv.first());
    for called in wish.calls.iter().chain(aside) {
        files.extend(carry::program_files(called)?.iter().map(|p| text(p)));
    }
    files.sort();
    files.dedup();
    let mut env = vec![("PATH".to_owned(), carry::PATH.to_owned())];
    for given in &wish.env {
        env.push(variable(given)?);
    }
    let argv = std::iter::once(text(&program))
        .chain(arguments.iter().cloned())
        .collect();
    Ok(Role {
        env,
        files,
        host_only,
        setup: by_path(&wish.setup, find)?,
        teardown: by_path(&wish.teardown, find)?,
        ..catalogue::main(Run::Command(CommandRun { argv }))
    })
}

/// What runs before a trial or behind it, if anything, by the path of its program.
pub(super) fn by_path(
    argv: &[String],
    find: impl FnOnce(&str) -> Result<String, DesignError>,
) -> Result<Vec<String>, DesignError> {
    let mut argv = argv.to_vec();
    if let Some(name) = argv.first_mut() {
        *name = find(name)?;
    }
    Ok(argv)
}

/// The error that there is no such workload, with the nearest of all.
pub(crate) fn unknown(name: &str) -> DesignError {
    let kernels = Kernel::ALL.map(Kernel::name);
    let known = [&kernels, &workload_file::names()[..]].concat();
    let name = name.to_owned();
    match suggest::nearest(&name, &known) {
        Some(near) => DesignError::NearWorkload { name, near },
        None => UnknownKernel(name).into(),
    }
}

/// The path of a program of this host.
fn find(name: &str) -> Result<String, DesignError> {
    Ok(text(&carry::find_program(name)?))
}

/// Why a program cannot run in boxes that hold nothing but these files, and the ways out.
fn host_only(program: &Path, files: &[String]) -> Result<Option<String>, DesignError> {
    let Some((by, needs)) = carry::missing(program, files)? else {
        return Ok(None);
    };
    let by = by.display();
    Ok(Some(match needs {
        Needs::Loader(loader) => format!(
            "{by} needs the loader {loader}, which the box does not have: build it statically, or add --with-libraries, which copies the loader and every library that it finds into the box"
        ),
        Needs::Interpreter(interpreter) => format!(
            "{by} needs the interpreter {interpreter}, which the box does not have: add --with-libraries, which copies it with its loader and libraries into the box, or measure a program that is built statically"
        ),
    }))
}

/// The name and the value of `NAME=VALUE`.
pub(super) fn variable(given: &str) -> Result<(String, String), DesignError> {
    let named = given.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = named.ok_or_else(|| DesignError::Environment(given.to_owned()))?;
    Ok((name.to_owned(), value.to_owned()))
}

pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
