//! The parts of a hostile command : each tries all that it can and prints
//! what it could do, a line each. Nothing that succeeds harms more than its own box and its run.

use rustix::fs::{CWD, FileType, FsWord, Mode, PROC_SUPER_MAGIC, fstatfs, makedev, mknodat};
use rustix::mount::{MountFlags, mount, mount_remount};
use rustix::process::{getegid, geteuid, getppid};
use std::fmt::Display;
use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use tare_box::kernel::parse_cpu_list;

/// Begins a line about a program that is not the box's own.
pub const FOREIGN: &str = "foreign:";
/// Is in a line about what the kernel runs, as root of the host, when a cgroup empties.
pub const RELEASE_AGENT: &str = "release_agent";

fn tell(done: impl Display) -> io::Result<()> {
    writeln!(io::stdout(), "{done}")
}

/// Does to the binary whatever can be done.
pub fn spoil_binary() -> io::Result<()> {
    let own = Path::new("/proc/self/exe");
    let first = Path::new("/proc/1/exe");
    let inode = |file: &Path| fs::metadata(file).map(|meta| (meta.dev(), meta.ino()));
    if let (Ok(ours), Ok(theirs)) = (inode(own), inode(first))
        && ours != theirs
    {
        try_foreign(first)?;
    }
    let binary = Path::new(tare_box::places::BINARY);
    spoil(own)?;
    spoil(binary)?;
    // Both what is mounted here alone and the file system that it is of.
    for flags in [MountFlags::BIND, MountFlags::empty()] {
        if mount_remount(binary, flags, c"").is_ok() {
            tell(format!("remount {}", binary.display()))?;
            spoil(own)?;
            spoil(binary)?;
        }
    }
    if fs::write("/tare.new", "").is_ok() && fs::rename("/tare.new", binary).is_ok() {
        tell("replace the binary")?;
    }
    if fs::remove_file(binary).is_ok() {
        tell("remove the binary")?;
    }
    Ok(())
}

/// Whether a program that is not the box's own could be changed, without a change.
fn try_foreign(program: &Path) -> io::Result<()> {
    let mode = fs::metadata(program)?.permissions();
    if fs::set_permissions(program, mode).is_ok() {
        tell(format!("{FOREIGN} set the mode of {}", program.display()))?;
    }
    if File::options().write(true).open(program).is_ok() {
        tell(format!("{FOREIGN} open {} to write", program.display()))?;
    }
    Ok(())
}

fn spoil(file: &Path) -> io::Result<()> {
    let name = file.display();
    if let Ok(mut open) = File::options().write(true).open(file) {
        tell(format!("open {name} to write"))?;
        if open.write_all(b"spoilt").is_ok() {
            tell(format!("write {name}"))?;
        }
        if open.set_len(0).is_ok() {
            tell(format!("empty {name}"))?;
        }
    }
    if fs::set_permissions(file, Permissions::from_mode(0o000)).is_ok() {
        tell(format!("take all rights from {name}"))?;
    }
    Ok(())
}

/// Files by which the kernel is told what to do, for the whole host. Some do harm by any write:
/// they are opened only.
const TO_WRITE: [&str; 10] = [
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/vm/panic_on_oom",
    "/proc/sysrq-trigger",
    "/proc/irq/default_smp_affinity",
    "/proc/acpi/wakeup",
    "/proc/bus/pci/devices",
    "/sys/kernel/uevent_helper",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/power/state",
];

/// Files that tell of the host's memory and of its other processes.
const TO_READ: [&str; 8] = [
    "/proc/kcore",
    "/proc/keys",
    "/proc/timer_list",
    "/proc/sched_debug",
    "/proc/latency_stats",
    "/dev/kmsg",
    "/dev/mem",
    "/dev/port",
];

/// Devices of characters by their numbers: the memory, its ports and the kernel's log.
const DEVICES: [(u32, u32); 3] = [(1, 1), (1, 4), (1, 11)];

/// Whether a file is in /proc or /sys, rather than /dev/null or an empty file that an engine mounts over it.
fn is_of_kernel(file: &File) -> bool {
    const SYSFS_MAGIC: FsWord = 0x6265_6572;
    let of_kernel = [PROC_SUPER_MAGIC, SYSFS_MAGIC];
    fstatfs(file).map_or(true, |system| of_kernel.contains(&system.f_type))
}

/// Opens what would give the host's kernel away; `disk` is a block device of the host's.
pub fn open_kernel(disk: &str) -> io::Result<()> {
    for file in TO_WRITE {
        let opened = File::options().write(true).open(file);
        if opened.is_ok_and(|opened| is_of_kernel(&opened)) {
            tell(format!("open {file} to write"))?;
        }
    }
    for file in TO_READ {
        if reads(Path::new(file)) {
            tell(format!("read {file}"))?;
        }
    }
    for (major, minor) in DEVICES {
        try_device(FileType::CharacterDevice, major, minor)?;
    }
    if let Some((major, minor)) = disk.split_once(':') {
        let number = |text: &str| text.parse().map_err(|_| io::ErrorKind::InvalidInput);
        try_device(FileType::BlockDevice, number(major)?, number(minor)?)?;
    }
    become_root_of_namespaces().map_or(Ok(()), |()| {
        let mut inside = Command::new("/proc/self/exe");
        inside.args(["run-act", "open-fresh-proc"]).status().map(drop)
    })
}

/// As the first process of a process namespace: mounts a /proc of its own, in which nothing is
/// hidden or read-only. Its root is a user of the host, to whom files of root's are open.
pub fn open_fresh_proc() -> io::Result<()> {
    let place = Path::new("/fresh-proc");
    let _ = fs::create_dir(place);
    let file = place.join("sys/kernel/core_pattern");
    let mounted = mount("proc", place, "proc", MountFlags::empty(), c"");
    if mounted.is_ok() && File::options().write(true).open(&file).is_ok() {
        tell(format!("open {} to write", file.display()))?;
    }
    Ok(())
}

/// Becomes root of a user namespace of its own, with namespaces of mounts, cgroups and processes.
fn become_root_of_namespaces() -> Option<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    tare_sys::become_root_of_namespaces().ok()?;
    // Whoever lacks the capabilities may not map root, and is nobody there: that is tried as well.
    let _ = fs::write("/proc/self/uid_map", format!("0 {user} 1"));
    let _ = fs::write("/proc/self/setgroups", "deny");
    let _ = fs::write("/proc/self/gid_map", format!("0 {group} 1"));
    Some(())
}

/// Whether there is something to be read; what is hidden is empty.
fn reads(file: &Path) -> bool {
    use rustix::fs::{OFlags, open};
    // A log without a new line would be waited for.
    let opened = open(
        file,
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC,
        Mode::empty(),
    );
    let mut bytes = [0; 4096];
    opened.is_ok_and(|fd| matches!(File::from(fd).read(&mut bytes), Ok(1..)))
}

/// Makes a device by its numbers and reads it.
fn try_device(kind: FileType, major: u32, minor: u32) -> io::Result<()> {
    // Where a file system takes no devices another one may.
    for folder in ["/", "/dev", "/dev/shm", "/run", "/work"] {
        let place = Path::new(folder).join(format!("device-{major}-{minor}"));
        let made = mknodat(CWD, &place, kind, Mode::RUSR | Mode::WUSR, makedev(major, minor));
        if made.is_ok() && reads(&place) {
            tell(format!("read the device {major}:{minor} made in {folder}"))?;
        }
        let _ = fs::remove_file(&place);
    }
    Ok(())
}

/// Values that lift a limit, by the files of both versions. Memory with swap comes first: it may
/// not be less than memory alone.
const LIFTED: [(&str, &str); 10] = [
    ("memory.memsw.limit_in_bytes", "-1"),
    ("memory.limit_in_bytes", "-1"),
    ("cpu.cfs_quota_us", "-1"),
    ("pids.max", "max"),
    ("devices.allow", "a"),
    ("memory.swap.max", "max"),
    ("memory.max", "max"),
    ("cpu.max", "max"),
    ("cpuset.cpus", ""),
    ("cpuset.cpus", ALL),
];
/// Stands for all CPUs.
const ALL: &str = "all";

/// Controllers of version 1, each a file system.
const CONTROLLERS: [&str; 7] = ["memory", "cpu", "cpuacct", "cpuset", "devices", "freezer", "pids"];

/// Where cgroups are mounted by the attack.
const PLACE: &str = "/lift";

/// Lifts the limits of the box by every cgroup that can be got at: first as this process is, then
/// as root of a user namespace with a cgroup namespace of its own, which may mount what it is in.
pub fn lift_limits() -> io::Result<()> {
    lift_below(Path::new("/sys/fs/cgroup"))?;
    mount_and_lift("mounted")?;
    become_root_of_namespaces().map_or(Ok(()), |()| mount_and_lift("mounted-by-user"))
}

fn mount_and_lift(folder: &str) -> io::Result<()> {
    // Each try gets a place of its own, on what can be written anywhere.
    let base = PathBuf::from(format!("{PLACE}-{folder}"));
    let _ = fs::create_dir(&base);
    for controller in CONTROLLERS {
        let place = base.join(controller);
        let _ = fs::create_dir(&place);
        let options = std::ffi::CString::new(controller).map_err(io::Error::other)?;
        if mount(
            "cgroup",
            &place,
            "cgroup",
            MountFlags::empty(),
            options.as_c_str(),
        )
        .is_ok()
        {
            tell(format!("mount {controller}"))?;
        }
    }
    let unified = base.join("unified");
    let _ = fs::create_dir(&unified);
    if mount("cgroup", &unified, "cgroup2", MountFlags::empty(), c"").is_ok() {
        tell("mount version 2")?;
    }
    lift_below(&base)
}

/// Lifts limits in a folder of cgroups and in those below it, and moves there.
fn lift_below(folder: &Path) -> io::Result<()> {
    for (file, value) in LIFTED {
        let all = all_cpus();
        let value = if value == ALL { &all } else { value };
        lift(&folder.join(file), value)?;
    }
    let agent = getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    // Out of the limits, if they are below.
    lift(&folder.join("cgroup.procs"), &agent.to_string())?;
    let release = folder.join(RELEASE_AGENT);
    if File::options().write(true).open(&release).is_ok() {
        tell(format!("open {} to write", release.display()))?;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            lift_below(&entry.path())?;
        }
    }
    Ok(())
}

fn lift(file: &Path, value: &str) -> io::Result<()> {
    // Never made: a folder of no cgroup has no such file.
    let written = File::options()
        .write(true)
        .open(file)
        .and_then(|mut file| file.write_all(value.as_bytes()));
    if written.is_ok() {
        tell(format!("write {}", file.display()))?;
    }
    Ok(())
}

/// The CPUs of the host as the kernel lists them.
fn all_cpus() -> String {
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    tare_box::kernel::cpu_list(&parse_cpu_list(&online))
}
