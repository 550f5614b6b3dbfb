//! What a VM boots: a kernel of the host's with the modules that its devices
//! need, and an initramfs that holds little else than the tare binary; and what
//! every VMM's guest is asked.

use super::architecture::Architecture;
use super::contract::{ANSWER_DEADLINE, Absent, BoxError, RunningBox};
use cpio::newc::{Builder, ModeFileType, trailer};
use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tare_host::places::MODULE_LIST;
use tare_model::protocol::Request;

/// Time for a guest's kernel to change to the clock source that it will keep:
/// the time stamp counter counts as provisional for about a second, and for over 20 on a host whose
/// CPUs are all busy: it is held against another clock again until nothing comes between.
const CLOCK_DEADLINE: Duration = Duration::from_secs(60);
/// Time between two looks at it.
const CLOCK_POLL: Duration = Duration::from_millis(20);

/// Clock sources under which a guest's intervals are right. Others (such as
/// refined-jiffies) run slow when the vCPUs are throttled.
const GOOD_CLOCKS: [&str; 4] = ["tsc", "kvm-clock", "hpet", "arch_sys_counter"];

/// Waits until the guest has the clock that it will keep, and refuses one that
/// cannot be trusted.
pub(super) fn check_clock(engine: &'static str, running: &mut dyn RunningBox) -> Result<(), BoxError> {
    let deadline = Instant::now() + CLOCK_DEADLINE;
    loop {
        let clock = running.link().facts(ANSWER_DEADLINE)?.clocksource;
        if clock.as_deref().is_some_and(|clock| GOOD_CLOCKS.contains(&clock)) {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(BoxError::Engine {
                engine,
                message: format!(
                    "the guest's clock source is {}, which runs slow when the VM is throttled: a guest kernel that takes one of {} is needed",
                    clock.as_deref().unwrap_or("unknown"),
                    GOOD_CLOCKS.join(", ")
                ),
            });
        }
        std::thread::sleep(CLOCK_POLL);
    }
}

/// Sets the guest's wall clock to the host's, after it stood still with the guest. An agent
/// that was stopped in the middle of what it was asked is asked nothing.
pub(super) fn set_clock(running: &mut dyn RunningBox) -> Result<(), BoxError> {
    if running.link().is_owed() {
        return Ok(());
    }
    let unix_ns = tare_host::host::unix_ns();
    running
        .link()
        .request(&Request::SetClock { unix_ns }, ANSWER_DEADLINE)?;
    Ok(())
}

/// Whether a kernel is not one for another CPU, by the headers of Linux's boot protocols (Documentation/arch/x86/boot.rst,
/// Documentation/arch/arm64/booting.rst).
fn may_be_for(architecture: Architecture, kernel: &fs::File) -> bool {
    let is_marked = |mark: &[u8], at: u64| {
        let mut found = vec![0; mark.len()];
        kernel.read_exact_at(&mut found, at).is_ok() && found == mark
    };
    match architecture {
        Architecture::X86 => !is_marked(b"ARM\x64", 0x38),
        Architecture::Arm => !is_marked(b"HdrS", 0x202),
    }
}

/// A kernel and the modules to load in it.
pub(super) struct Guest {
    pub kernel: PathBuf,
    pub release: String,
    /// Files of modules, in the order of loading.
    modules: Vec<PathBuf>,
}

impl Guest {
    /// Finds the host's newest kernel that has these modules, or has them built in.
    pub(super) fn find(modules: &[&str]) -> Result<Self, BoxError> {
        Self::find_for(Architecture::HERE, Path::new("/"), modules)
    }

    /// The newest kernel for an architecture in `boot` of a folder, with the modules in its `lib/modules`.
    pub(super) fn find_for(
        architecture: Architecture,
        folder: &Path,
        modules: &[&str],
    ) -> Result<Self, BoxError> {
        let boot = folder.join("boot");
        let mut kernels: Vec<(String, PathBuf)> = fs::read_dir(&boot)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|e| {
                Some((
                    e.file_name().to_str()?.strip_prefix("vmlinuz-")?.to_owned(),
                    e.path(),
                ))
            })
            .collect();
        kernels.sort_by_key(|(release, _)| version_key(release));
        let usable = |(release, kernel): (String, PathBuf)| {
            let file = fs::File::open(&kernel).ok()?;
            let modules = resolve(&folder.join("lib/modules").join(&release), modules)?;
            if !may_be_for(architecture, &file) {
                return None;
            }
            Some(Self {
                kernel,
                release,
                modules,
            })
        };
        kernels
            .into_iter()
            .rev()
            .find_map(usable)
            .ok_or_else(|| BoxError::Engine {
                engine: "guest",
                message: format!(
                    "no readable kernel {}/vmlinuz-* with the modules {}",
                    boot.display(),
                    modules.join(", ")
                ),
            })
    }

    /// As [`Guest::find`], for a probe.
    pub(super) fn probe(modules: &[&str]) -> Result<Self, Absent> {
        let advice = Architecture::HERE.kernel_advice(Path::new("/"));
        Self::find(modules).map_err(|e| Absent::new(e.to_string(), advice))
    }

    /// A kernel for tests.
    #[cfg(test)]
    pub(super) fn of(kernel: PathBuf, release: &str) -> Self {
        Self {
            kernel,
            release: release.to_owned(),
            modules: Vec::new(),
        }
    }

    /// The initramfs, made once per run.
    pub(super) fn initramfs(&self, scratch: &Path, binary: &Path) -> Result<PathBuf, BoxError> {
        let path = scratch.join(format!("initramfs-{}-{:016x}", self.release, self.digest(binary)));
        if !path.exists() {
            let partial = path.with_extension("partial");
            self.write_initramfs(&partial, binary)
                .and_then(|()| fs::rename(&partial, &path))
                .map_err(BoxError::host(format!("write {}", path.display())))?;
        }
        Ok(path)
    }

    /// Tells initramfs apart: machines of different kinds may take part in one run.
    fn digest(&self, binary: &Path) -> u64 {
        let mut hasher = DefaultHasher::new();
        binary.hash(&mut hasher);
        self.modules.hash(&mut hasher);
        hasher.finish()
    }

    fn write_initramfs(&self, path: &Path, binary: &Path) -> io::Result<()> {
        let mut archive = io::BufWriter::new(fs::File::create(path)?);
        let mut list = String::new();
        for name in ["dev", "modules", "proc", "root", "run", "sys", "tmp"] {
            let entry = Builder::new(name)
                .mode(0o755)
                .set_mode_file_type(ModeFileType::Directory);
            entry.write(&mut archive, 0).finish()?;
        }
        add_file(&mut archive, "tare", 0o755, &fs::read(binary)?)?;
        for module in &self.modules {
            let name = format!(
                "modules/{}",
                module.file_name().unwrap_or_default().to_string_lossy()
            );
            add_file(&mut archive, &name, 0o644, &fs::read(module)?)?;
            list.push_str(&format!("/{name}\n"));
        }
        add_file(
            &mut archive,
            MODULE_LIST.trim_start_matches('/'),
            0o644,
            list.as_bytes(),
        )?;
        trailer(archive)?.flush()
    }
}

fn add_file(archive: &mut impl Write, name: &str, mode: u32, content: &[u8]) -> io::Result<()> {
    let size = u32::try_from(content.len()).map_err(|_| io::Error::other(format!("{name} is over 4 GiB")))?;
    let entry = Builder::new(name)
        .mode(mode)
        .set_mode_file_type(ModeFileType::Regular);
    let mut writer = entry.write(archive, size);
    writer.write_all(content)?;
    writer.finish().map(drop)
}

/// Sorts releases as people do: 6.10 after 6.9.
fn version_key(release: &str) -> Vec<u64> {
    release
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|part| part.parse().ok())
        .collect()
}

/// The files to load for these modules, dependencies first, by `modules.dep`;
/// `None` if one is neither there nor built in.
fn resolve(folder: &Path, wanted: &[&str]) -> Option<Vec<PathBuf>> {
    let dependencies = fs::read_to_string(folder.join("modules.dep")).unwrap_or_default();
    let built_in = fs::read_to_string(folder.join("modules.builtin")).unwrap_or_default();
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    for name in wanted {
        if built_in.lines().any(|line| module_name(line) == *name) {
            continue;
        }
        let line = dependencies
            .lines()
            .find(|l| l.split(':').next().is_some_and(|path| module_name(path) == *name))?;
        let (file, needs) = line.split_once(':')?;
        // depmod lists what a module needs with the deepest last.
        let files = needs.split_whitespace().rev().chain([file]);
        order.extend(
            files
                .filter(|file| seen.insert((*file).to_owned()))
                .map(|file| folder.join(file)),
        );
    }
    Some(order)
}

/// `kernel/drivers/virtio/virtio-mmio.ko.xz` -> `virtio_mmio`.
fn module_name(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.split(".ko").next().unwrap_or(file).replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_loaded_after_what_they_need() {
        let folder = tempfile::tempdir().unwrap();
        let dep = "kernel/a/virtio_mmio.ko: kernel/a/virtio_ring.ko kernel/a/virtio.ko\n\
                   kernel/b/virtio_console.ko: kernel/a/virtio_ring.ko kernel/a/virtio.ko\n";
        fs::write(folder.path().join("modules.dep"), dep).unwrap();
        let files = resolve(folder.path(), &["virtio_mmio", "virtio_console"]).unwrap();
        let names: Vec<_> = files.iter().map(|f| module_name(&f.to_string_lossy())).collect();
        assert_eq!(names, ["virtio", "virtio_ring", "virtio_mmio", "virtio_console"]);
        assert!(resolve(folder.path(), &["virtio_pci", "virtio_console"]).is_none());
    }

    #[test]
    fn built_in_modules_need_no_file() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(
            folder.path().join("modules.builtin"),
            "kernel/x/virtio_mmio.ko\nkernel/x/virtio-console.ko\n",
        )
        .unwrap();
        assert_eq!(
            resolve(folder.path(), &["virtio_mmio", "virtio_console"]).unwrap(),
            Vec::<PathBuf>::new()
        );
    }

    #[test]
    fn a_kernel_for_other_cpus_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let boot = folder.path().join("boot");
        fs::create_dir_all(&boot).unwrap();
        let image = |at: usize, mark: &[u8]| [&vec![0; at], mark].concat();
        fs::write(boot.join("vmlinuz-6.1"), image(0x202, b"HdrS")).unwrap();
        fs::write(boot.join("vmlinuz-6.2"), image(0x38, b"ARM\x64")).unwrap();
        let found = |architecture| Guest::find_for(architecture, folder.path(), &[]).unwrap().release;
        assert_eq!(found(Architecture::X86), "6.1");
        assert_eq!(found(Architecture::Arm), "6.2");
    }

    #[test]
    fn newer_releases_sort_last() {
        assert!(version_key("6.10.1-amd64") > version_key("6.9.12-amd64"));
    }
}
