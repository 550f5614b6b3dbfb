//! Whether KVM works here: its device may open and no guest ever boot on it.

use super::super::architecture::Architecture;
use super::super::contract::{BoxError, BoxSpec, GuestMemory, RunningBox};
use super::machine::Accelerator;
use super::{Vm, qemu};
use crate::agent_file;
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tare_host::cgroup::Weight;
use tare_host::net::Network;
use tare_host::program::version_of;
use tare_model::platform::Provisioning;
use tare_model::size::{Cpus, InstanceType};

/// Time that a KVM guest has to boot before KVM is judged not to work here. A
/// working one needs about a second; one nested in a hypervisor without nested
/// virtualisation never answers, though /dev/kvm opens.
const KVM_DEADLINE: Duration = Duration::from_secs(10);

/// What was found out about KVM, kept in the state folder.
const PROBE_FILE: &str = "kvm-probe.json";
/// Beginning of the name of a probe's folder.
const PROBE_FOLDER: &str = "kvm-probe-";

/// What a program says that is short of descriptors, memory, processes or room on a disk.
const SHORT_OF: [&str; 4] = [
    "Too many open files",
    "Cannot allocate memory",
    "Resource temporarily unavailable",
    "No space left on device",
];

static PROBING: Mutex<()> = Mutex::new(());

/// What was found out about KVM, and for which boot and QEMU it holds.
#[derive(Serialize, Deserialize)]
struct KvmProbe {
    boot_id: Option<String>,
    qemu: Option<String>,
    failure: Option<String>,
}

impl KvmProbe {
    fn now() -> Self {
        Self {
            boot_id: tare_host::host::facts().boot_id,
            qemu: version_of(qemu(Architecture::HERE), "--version").ok(),
            failure: None,
        }
    }
}

/// Why a guest did not boot.
#[derive(Debug, thiserror::Error)]
enum NoBoot {
    /// There was no guest to be booted.
    #[error("/dev/kvm exists, but tare cannot try a guest on it: {0}")]
    Host(#[from] io::Error),
    /// There was.
    #[error("/dev/kvm exists, but a guest did not boot on it: {0}")]
    Box(#[from] BoxError),
}

impl NoBoot {
    /// Whether it tells of KVM, and not of what tare or the host was short of at that moment:
    /// QEMU was started, and did not say that it lacks any of that.
    fn is_about_kvm(&self) -> bool {
        match self {
            Self::Box(BoxError::NoHello { console, .. }) => {
                !SHORT_OF.iter().any(|words| console.contains(words))
            }
            Self::Box(_) | Self::Host(_) => false,
        }
    }
}

impl Vm {
    /// Whether a guest boots on KVM here, by trying; remembered until the next boot of the host.
    pub(super) fn probe_kvm(&self) -> Result<(), String> {
        if let Err(e) = fs::OpenOptions::new().read(true).write(true).open("/dev/kvm") {
            return Err(format!("/dev/kvm cannot be used: {e}"));
        }
        // Who asks at the same time waits for what the first finds out.
        let _one_at_a_time = PROBING.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.cache.join(PROBE_FILE);
        let now = KvmProbe::now();
        let known = fs::read(&file)
            .ok()
            .and_then(|bytes| serde_json::from_slice::<KvmProbe>(&bytes).ok());
        if let Some(known) = known.filter(|k| k.boot_id == now.boot_id && k.qemu == now.qemu) {
            return known.failure.map_or(Ok(()), Err);
        }
        let (failure, about_kvm) = match self.boot_on_kvm() {
            Ok(()) => (None, true),
            Err(e) => (Some(e.to_string()), e.is_about_kvm()),
        };
        if !about_kvm || now.qemu.is_none() || tare_host::interrupt::requested() {
            // Something of ours was missing, or the user stopped us: nothing was found out.
            return failure.map_or(Ok(()), Err);
        }
        let probe = KvmProbe {
            failure: failure.clone(),
            ..now
        };
        // Only a cache: where it cannot be written, the next run probes again.
        let _ = serde_json::to_vec(&probe).map(|json| fs::write(&file, json));
        failure.map_or(Ok(()), Err)
    }

    fn boot_on_kvm(&self) -> Result<(), NoBoot> {
        fs::create_dir_all(&self.cache)?;
        let scratch = tempfile::Builder::new()
            .prefix(PROBE_FOLDER)
            .tempdir_in(&self.cache)?;
        let spec = BoxSpec {
            name: format!("tare-probe{}", std::process::id()),
            run: "tare-probe".to_owned(),
            hostname: BoxSpec::HOSTNAME.to_owned(),
            instance: InstanceType {
                cpus: Cpus::from_milli(1000),
                memory_bytes: 256 << 20,
            },
            provisioning: Provisioning::Vanilla,
            pinned_set: Vec::new(),
            host_set: Vec::new(),
            weight: Weight::Usual,
            scratch: scratch.path().to_owned(),
            binary: agent_file::path()?,
            architecture: Architecture::HERE,
            holds_boxes: false,
            image: None,
        };
        let bare = Self {
            machine: self.machine,
            network: Network::None,
            storage: None,
            memory: GuestMemory::default(),
            wanted: None,
            cache: self.cache.clone(),
            accelerator: None,
            tsc_khz: OnceCell::new(),
        };
        let booted = bare.boot(&spec, Accelerator::Kvm, None, KVM_DEADLINE);
        // How it ends says nothing of KVM any more.
        let _ = booted?.destroy();
        Ok(())
    }
}

/// Removes what was found out, and what probes left that were killed.
pub(super) fn clean(cache: &Path) -> Result<Vec<String>, BoxError> {
    let mut removed = Vec::new();
    for entry in fs::read_dir(cache).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
        let gone = match name.as_str() {
            PROBE_FILE => fs::remove_file(&path),
            _ if name.starts_with(PROBE_FOLDER) => fs::remove_dir_all(&path),
            _ => continue,
        };
        gone.map_err(BoxError::host(format!("remove {}", path.display())))?;
        removed.push(format!("{}", path.display()));
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::LinkError;

    #[test]
    fn only_what_is_known_of_kvm_is_kept() {
        let no_hello = |console: &str| BoxError::NoHello {
            source: LinkError::Ended { doing: "hello" },
            console: console.to_owned(),
        };
        let about_kvm = |e: BoxError| NoBoot::from(e).is_about_kvm();
        assert!(about_kvm(no_hello("")));
        assert!(about_kvm(no_hello(
            "qemu: ioctl(KVM_CREATE_VM) failed: Invalid argument"
        )));
        assert!(!about_kvm(no_hello(
            "qemu: failed to initialize kvm: Too many open files"
        )));
        assert!(!about_kvm(no_hello(
            "cannot set up guest memory 'ram': Cannot allocate memory"
        )));
        let emfile = || io::Error::from_raw_os_error(rustix::io::Errno::MFILE.raw_os_error());
        assert!(!about_kvm(BoxError::host("start QEMU")(emfile())));
        assert!(!NoBoot::from(emfile()).is_about_kvm());
    }
}
