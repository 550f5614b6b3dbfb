//! A transient domain of libvirt's, by `virsh`: the same guest as `vm`, made,
//! limited and stopped by libvirt.

use super::child::{ChildBox, Start, allowed_cpus, last_words, run_within};
use super::vm::{Accelerator, Machine, PORT, Parts, Vm, clock};
use super::{
    Absent, BoxError, BoxSpec, END_DEADLINE, HELLO_DEADLINE, MemoryView, Options, Platform, QuotaView,
    RunningBox,
};
use crate::cgroup::{Cgroup, Layout, Limits, Meter, PERIOD_US, cpu_list};
use crate::link::{FdStream, Link, Stream};
use crate::{footprint, interrupt};
use std::fs;
use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};
use tare_model::results::PlatformVersion;

const VIRSH: &str = "virsh";
/// Names the connection, as for all of libvirt's programs.
const URI: &str = "LIBVIRT_DEFAULT_URI";
/// The connection where none is named.
const SYSTEM: &str = "qemu:///system";
/// Time for one command of virsh's.
const DEADLINE: Duration = Duration::from_secs(30);
/// Where libvirt keeps a log for each domain that it ever had.
const LOGS: &str = "/var/log/libvirt/qemu";
/// The cgroup of a domain's own threads, within that of the domain.
const EMULATOR: &str = "emulator";
/// What a session is told: the domain goes when the session does. The file lies
/// in the session's working folder, so that no path has to be quoted.
const CREATE: &[u8] = b"create domain.xml --autodestroy\n";

pub(super) struct Libvirt {
    /// The guest, and whether it can have KVM.
    vm: Vm,
}

impl Libvirt {
    pub(super) fn open(options: Options, cache: &Path) -> Result<Self, String> {
        let vm = Vm::open(options, &[Machine::Q35, Machine::Pc], cache)?;
        Ok(Self { vm })
    }

    fn boot(&self, spec: &BoxSpec, parts: &Parts) -> Result<LibvirtBox, BoxError> {
        let requested = Instant::now();
        let folder = spec.folder()?;
        fs::write(
            folder.join("domain.xml"),
            domain(spec, parts, self.vm.machine(), &folder),
        )
        .map_err(BoxError::host("write the domain's description"))?;
        let mut command = virsh();
        command
            .current_dir(&folder)
            // virsh keeps a history of what it was told.
            .env("XDG_CACHE_HOME", &folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        let start = Start {
            command,
            folder: folder.clone(),
            name: &spec.name,
            limits: None,
            hello_within: HELLO_DEADLINE,
            requested,
        };
        let mut child = ChildBox::start(start, None, |session| connect(session, &folder))?;
        let qemu =
            qemu_of(&spec.name).ok_or_else(|| fails(format!("{}: its QEMU is not found", spec.name)))?;
        child.use_cgroup(Cgroup::of_process(&Layout::detect()?, qemu)?.whole(EMULATOR));
        Ok(LibvirtBox {
            child,
            name: spec.name.clone(),
            qemu,
        })
    }
}

fn fails(message: String) -> BoxError {
    BoxError::Engine {
        engine: "libvirt",
        message,
    }
}

fn uri() -> String {
    std::env::var(URI).unwrap_or_else(|_| SYSTEM.to_owned())
}

fn virsh() -> Command {
    let mut command = Command::new(VIRSH);
    command.args(["-q", "-c", &uri()]);
    command
}

/// Has one thing done; the names in it are ours.
fn execute(arguments: &[&str]) -> Result<String, BoxError> {
    let doing = arguments.join(" ");
    let ended = run_within(virsh().args(arguments), DEADLINE)
        .map_err(BoxError::host(format!("have 'virsh {doing}' done")))?;
    if ended.status.success() {
        return Ok(String::from_utf8_lossy(&ended.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&ended.stderr);
    let words: Vec<&str> = words.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    Err(fails(format!("'virsh {doing}': {}", words.join(" | "))))
}

/// Has the domain made by a session of virsh's, and connects to its port.
fn connect(session: &mut Child, folder: &Path) -> io::Result<Held> {
    let mut orders = session.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    orders.write_all(CREATE)?;
    let deadline = Instant::now() + HELLO_DEADLINE;
    loop {
        if let Ok(port) = UnixStream::connect(folder.join("link")) {
            let port = FdStream::over_socket(port.into())?;
            return Ok(Held {
                port,
                _orders: orders,
            });
        }
        let words = last_words(folder);
        if words.contains("error:") || session.try_wait()?.is_some() {
            return Err(io::Error::other(words));
        }
        interrupt::next_slice(deadline)?;
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The stream to the agent, and the session that holds the domain: both end together.
struct Held {
    port: FdStream,
    _orders: ChildStdin,
}

impl Stream for Held {
    fn send(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.port.send(bytes, deadline)
    }

    fn receive(&mut self, buffer: &mut Vec<u8>, deadline: Instant) -> io::Result<usize> {
        self.port.receive(buffer, deadline)
    }

    fn readiness(&self) -> Option<BorrowedFd<'_>> {
        self.port.readiness()
    }
}

/// The process of a domain, by the name on its command line.
fn qemu_of(name: &str) -> Option<u32> {
    let guest = format!("guest={name}");
    let found = footprint::processes(&[guest]).next()?;
    found.file_name()?.to_str()?.parse().ok()
}

/// Ends a domain and removes what libvirt would keep of it.
fn end(name: &str) -> Result<(), BoxError> {
    // Refused where it has ended by itself: whether it has, its process tells.
    let refused = execute(&["destroy", name]).err();
    let deadline = Instant::now() + END_DEADLINE;
    while qemu_of(name).is_some() {
        if Instant::now() > deadline {
            return Err(refused.unwrap_or_else(|| fails(format!("domain {name} does not end"))));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let log = Path::new(LOGS).join(format!("{name}.log"));
    match fs::remove_file(&log) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            Err(BoxError::host(format!("remove {}", log.display()))(e))
        }
        _ => Ok(()),
    }
}

/// The domain's description; each part's reason is in `docs/platforms.md`.
fn domain(spec: &BoxSpec, parts: &Parts, machine: Machine, folder: &Path) -> String {
    let (kind, cpu) = match parts.accelerator {
        Accelerator::Kvm => ("kvm", "host-passthrough"),
        Accelerator::Tcg => ("qemu", "maximum"),
    };
    let file = |path: &Path| escaped(&path.to_string_lossy());
    let (cpuset, tune) = cpus(&spec.limits());
    format!(
        "<domain type='{kind}'>
  <name>{name}</name>
  <memory unit='MiB'>{memory}</memory>
  <vcpu placement='static'{cpuset}>{vcpus}</vcpu>{tune}
  <os>
    <type arch='x86_64' machine='{machine}'>hvm</type>
    <kernel>{kernel}</kernel>
    <initrd>{initramfs}</initrd>
    <cmdline>{words}</cmdline>
  </os>
  <features><acpi/></features>
  <cpu mode='{cpu}'/>
  <on_poweroff>destroy</on_poweroff>
  <on_reboot>destroy</on_reboot>
  <on_crash>destroy</on_crash>
  <devices>
    <controller type='usb' model='none'/>
    <memballoon model='none'/>
    <serial type='file'><source path='{console}'/></serial>
    <channel type='unix'>
      <source mode='bind' path='{link}'/>
      <target type='virtio' name='{PORT}'/>
    </channel>
  </devices>
  <seclabel type='static' model='dac' relabel='no'><label>+0:+0</label></seclabel>
</domain>
",
        name = escaped(&spec.name),
        memory = spec.instance.memory_bytes >> 20,
        vcpus = spec.instance.cpus.whole(),
        machine = machine.name(),
        kernel = file(&parts.kernel),
        initramfs = file(&parts.initramfs),
        words = escaped(&parts.command_line),
        console = file(&folder.join("console")),
        link = file(&folder.join("link")),
    )
}

/// The attribute that names the set, and the element with the quota.
fn cpus(limits: &Limits) -> (String, String) {
    let set = limits.cpuset.as_deref().map(cpu_list);
    let quota = limits.quota.map(|quota| quota.quota_us(PERIOD_US));
    (
        set.map(|set| format!(" cpuset='{set}'")).unwrap_or_default(),
        quota
            .map(|us| format!("\n  <cputune><global_period>{PERIOD_US}</global_period><global_quota>{us}</global_quota></cputune>"))
            .unwrap_or_default(),
    )
}

/// Text as XML has it, in elements and in attributes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\'' => escaped.push_str("&apos;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => escaped.push_str(&format!("&#{};", u32::from(c))),
            other => escaped.push(other),
        }
    }
    escaped
}

impl Platform for Libvirt {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        let absent = |e: &dyn std::fmt::Display, fix: &str| Absent::new(e.to_string(), fix);
        let install = "install it (Debian: apt-get install libvirt-clients libvirt-daemon-system)";
        super::installed(VIRSH, install)?;
        let uri = uri();
        if !uri.starts_with("qemu:///") {
            let reason = format!("{URI} names '{uri}', which is not QEMU on this host");
            return Err(Absent::new(reason, format!("unset it, or set it to {SYSTEM}")));
        }
        let start = "start libvirt's daemon (systemctl start libvirtd), or name its connection by LIBVIRT_DEFAULT_URI";
        let told = execute(&["version"]).map_err(|e| absent(&e, start))?;
        let library = told.lines().find_map(|line| line.strip_prefix("Using API:"));
        let mut version = self.vm.probe()?;
        version.details.insert(
            "libvirt".to_owned(),
            library.unwrap_or("unknown").trim().to_owned(),
        );
        Ok(version)
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        // What is made once per run is no part of a box's start-up.
        let parts = self.vm.parts(spec)?;
        let mut made = self.boot(spec, &parts).inspect_err(|_| {
            let _ = end(&spec.name);
        })?;
        clock::check(&mut made)?;
        Ok(Box::new(made))
    }

    fn sweep(&mut self, run: &str) -> Result<Vec<String>, BoxError> {
        let mut removed = Vec::new();
        // A daemon that does not answer has no domain of ours: they ended with the run's sessions.
        let names = execute(&["list", "--all", "--name"]).unwrap_or_default();
        for name in names.lines().filter(|name| is_of(name, run)) {
            end(name)?;
            removed.push(format!("domain {name}"));
        }
        for entry in fs::read_dir(LOGS).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(|name| is_of(name, run)) {
                let log = entry.path();
                fs::remove_file(&log).map_err(BoxError::host(format!("remove {}", log.display())))?;
            }
        }
        Ok(removed)
    }

    fn clean(&mut self) -> Result<Vec<String>, BoxError> {
        self.vm.clean()
    }

    fn quota_view(&self) -> QuotaView {
        self.vm.quota_view()
    }

    fn memory_view(&self) -> MemoryView {
        self.vm.memory_view()
    }

    fn cpus_inside(&self, set: &[u32]) -> Vec<u32> {
        self.vm.cpus_inside(set)
    }

    fn cost(&self) -> (Duration, f64) {
        let (launch, stretch) = self.vm.cost();
        (launch + Duration::from_millis(1000), stretch)
    }
}

/// Whether this is the name of a box of the run's, or of its log.
fn is_of(name: &str, run: &str) -> bool {
    name.strip_prefix(run).is_some_and(|rest| rest.starts_with('-'))
}

struct LibvirtBox {
    child: ChildBox,
    name: String,
    qemu: u32,
}

impl RunningBox for LibvirtBox {
    fn link(&mut self) -> &mut Link {
        self.child.link()
    }

    fn hello_after(&self) -> Duration {
        self.child.hello_after()
    }

    fn marks(&self) -> Vec<String> {
        self.child.marks()
    }

    fn meter(&self) -> Option<Meter> {
        self.child.meter()
    }

    /// By thread: libvirt puts them into cgroups of their own.
    fn host_allowed_cpus(&self) -> Option<Vec<u32>> {
        let threads = fs::read_dir(PathBuf::from(format!("/proc/{}/task", self.qemu))).ok()?;
        let threads = threads
            .flatten()
            .filter_map(|thread| thread.file_name().to_str()?.parse().ok());
        let mut cpus: Vec<u32> = threads.filter_map(allowed_cpus).flatten().collect();
        cpus.sort_unstable();
        cpus.dedup();
        (!cpus.is_empty()).then_some(cpus)
    }

    fn freeze(&mut self) -> Result<(), BoxError> {
        execute(&["suspend", &self.name]).map(drop)
    }

    fn thaw(&mut self) -> Result<(), BoxError> {
        execute(&["resume", &self.name])?;
        clock::set(self)
    }

    fn destroy(&mut self) -> Result<(), BoxError> {
        end(&self.name)?;
        self.child.destroy()
    }
}

impl Drop for LibvirtBox {
    fn drop(&mut self) {
        let _ = self.destroy();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_model::platform::Provisioning;
    use tare_model::size::{Cpus, InstanceType};

    fn described(provisioning: Provisioning, folder: &str) -> String {
        let spec = BoxSpec {
            name: "tare-00c0ffee-1".to_owned(),
            run: "tare-00c0ffee".to_owned(),
            instance: InstanceType {
                cpus: Cpus::from_milli(1500),
                memory_bytes: 256 << 20,
            },
            provisioning,
            pinned_set: vec![2, 3],
            scratch: folder.into(),
            binary: "/tare".into(),
        };
        let parts = Parts {
            kernel: "/boot/vmlinuz".into(),
            initramfs: "/i".into(),
            command_line: "a=\"1\" & b".to_owned(),
            accelerator: Accelerator::Tcg,
        };
        domain(&spec, &parts, Machine::Q35, Path::new(folder))
    }

    #[test]
    fn limits_stand_in_the_description() {
        let vanilla = described(Provisioning::Vanilla, "/x");
        assert!(
            vanilla.contains("<global_quota>150000</global_quota>"),
            "{vanilla}"
        );
        assert!(vanilla.contains("<vcpu placement='static'>2</vcpu>"), "{vanilla}");
        assert!(vanilla.contains("<memory unit='MiB'>256</memory>"), "{vanilla}");
        let pinned = described(Provisioning::Pinned, "/x");
        assert!(
            pinned.contains("cpuset='2-3'>2</vcpu>") && !pinned.contains("quota"),
            "{pinned}"
        );
    }

    #[test]
    fn hostile_texts_stay_text() {
        let text = described(Provisioning::Vanilla, "/a'/><on_crash>&\n");
        assert!(
            text.contains("path='/a&apos;/&gt;&lt;on_crash&gt;&amp;&#10;/link'"),
            "{text}"
        );
        assert!(
            text.contains("<cmdline>a=&quot;1&quot; &amp; b</cmdline>"),
            "{text}"
        );
    }

    #[test]
    fn only_boxes_of_the_run_are_its_own() {
        assert!(is_of("tare-00c0ffee-1", "tare-00c0ffee") && is_of("tare-00c0ffee-1.log", "tare-00c0ffee"));
        for foreign in ["tare-00c0ffee", "tare-00c0ffeed-1", "my-tare-00c0ffee-1", "web"] {
            assert!(!is_of(foreign, "tare-00c0ffee"), "{foreign}");
        }
    }
}
