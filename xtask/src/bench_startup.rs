//! `bench-startup`: how long a box takes from the request to the agent's hello,
//! beside the engine's own fastest way to the first byte of a program that says
//! one byte, its start and its attachment included.
//!
//! The two start in turns and are used for about as long. Both get every CPU of the host
//! and 512 MiB. The rival's
//! program is made as long as the tare binary, so that images are of one size; its
//! image or its root is made beforehand, while ours copies the binary into a new
//! root where the engine has no images.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tare_model::results::{Record, Results};

/// How much to run.
#[derive(clap::Args)]
pub struct Options {
    /// Rounds: each starts as many of either, in turns first
    #[arg(long, default_value_t = 9)]
    rounds: u32,
    /// Starts of each in a round
    #[arg(long, default_value_t = 5)]
    starts: u32,
    /// Only these engines, such as docker,runc
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// What a box may take, as a multiple of the rival.
const TARGET: f64 = 1.15;

/// The program: says its byte, and ends with its input.
const ONE_BYTE: &str = r#"#include <unistd.h>
int main(void)
{
    char byte;
    if (write(1, ".", 1) != 1) return 1;
    while (read(0, &byte, 1) > 0) {}
    return 0;
}
"#;

/// Its name in boxes.
const PROGRAM: &str = "onebyte";

/// Image and container are known by it.
const NAME: &str = "tare-bench-startup";

/// Podman as our driver configures its service: it shall not ask for what needs an
/// init system, or the right to raise limits of resources.
const PODMAN: &str = "[containers]\ndefault_ulimits = []\n\
    [engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\n";

/// How long the rival is used before it ends, about as long as a box of ours. In cgroups of
/// version 1 whoever moves a process waits for a grace period of the kernel's, but for some
/// milliseconds after another such move: one after the other at once, crun's byte came after
/// 11 ms, and after a rest of 100 or 300 ms after 22 (runc 25 and 30).
const USE: Duration = Duration::from_millis(100);

/// Longest wait for the byte, and for the end of what said it.
const DEADLINE: Duration = Duration::from_secs(60);

/// Memory of either, in bytes.
const MEMORY: u64 = 512 << 20;

/// An engine's own way, which starts containers from a folder or an image made beforehand.
#[derive(Clone, Copy)]
enum Engine {
    Docker,
    Podman,
    Runc,
    Crun,
    Lxc,
}

/// One engine beside the platform of that name.
struct Rival<'a> {
    engine: Engine,
    folder: &'a Path,
    started: u32,
}

/// Measures and prints a table.
pub fn run(options: &Options) -> Result<()> {
    let tare = super::tare_bin()?;
    for name in &options.only {
        ensure!(
            Engine::ALL.iter().any(|engine| engine.name() == name),
            "no engine is called '{name}'"
        );
    }
    // Below /var/tmp: roots of boxes lie there, and /tmp may forbid programs.
    let folder = tempfile::tempdir_in("/var/tmp")?;
    let program = program(folder.path(), &tare)?;
    let mut lines = Vec::new();
    for engine in Engine::ALL {
        if !options.only.is_empty() && !options.only.iter().any(|name| name == engine.name()) {
            continue;
        }
        let line = hold(engine, options, &tare, folder.path(), &program);
        lines.push(line.unwrap_or_else(|why| format!("  {:7} not held: {why:#}", engine.name())));
    }
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "milliseconds from the request, medians; the ratio is the median over rounds, target {TARGET}"
    )?;
    writeln!(out, "  engine     first byte       hello    hello / byte")?;
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// The program, as long as the tare binary.
fn program(folder: &Path, tare: &Path) -> Result<PathBuf> {
    let program = super::compile(folder, PROGRAM, ONE_BYTE)?;
    let length = fs::metadata(tare)?.len();
    let file = fs::File::options().write(true).open(&program)?;
    // What follows a program's sections is never read.
    file.set_len(length.max(file.metadata()?.len()))?;
    Ok(program)
}

/// Starts both in turns; the table's line.
fn hold(engine: Engine, options: &Options, tare: &Path, folder: &Path, program: &Path) -> Result<String> {
    engine.answers()?;
    let folder = folder.join(engine.name());
    let mut rival = Rival::prepare(engine, &folder, program)?;
    let (mut bytes, mut hellos, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..options.rounds {
        let (said, greeted) = super::in_turn(
            round,
            || rival.starts(options.starts),
            || boxes(tare, engine, &folder, options.starts),
        )?;
        let (byte, hello) = (super::median(said.clone()), super::median(greeted.clone()));
        eprintln!(
            "{}: round {} of {}: byte {:.1} ms, hello {:.1} ms",
            engine.name(),
            round + 1,
            options.rounds,
            byte * 1e3,
            hello * 1e3
        );
        ratios.push(hello / byte);
        bytes.extend(said);
        hellos.extend(greeted);
    }
    Ok(format!(
        "  {:7} {:13.1} {:11.1} {:15.3}",
        engine.name(),
        super::median(bytes) * 1e3,
        super::median(hellos) * 1e3,
        super::median(ratios)
    ))
}

/// Seconds to the hello of as many boxes: a short study makes one per block.
fn boxes(tare: &Path, engine: Engine, folder: &Path, starts: u32) -> Result<Vec<f64>> {
    let file = folder.join("r.jsonl");
    let _ = fs::remove_file(&file);
    let cpus = cpus()?.to_string();
    let done = Command::new(tare)
        .args(["run", "-p", engine.name(), "-w", "syscall"])
        .args(["--provisioning", "vanilla", "--no-settle", "--trial-time", "50ms"])
        .args(["--memory", &format!("{}M", MEMORY >> 20), "--cpus", &cpus])
        .args(["--blocks", &starts.to_string(), "-o"])
        .arg(&file)
        .arg("--state-dir")
        .arg(folder.join("state"))
        .stdin(Stdio::null())
        .output()?;
    ensure!(
        done.status.success(),
        "tare run failed: {}",
        String::from_utf8_lossy(&done.stderr).trim()
    );
    let hello = |record: &Record| match record {
        Record::Box(made) => Some(made.hello_seconds),
        _ => None,
    };
    Ok(Results::read(&file)?.records.iter().filter_map(hello).collect())
}

fn cpus() -> Result<usize> {
    Ok(std::thread::available_parallelism()?.get())
}

impl Engine {
    const ALL: [Self; 5] = [Self::Docker, Self::Podman, Self::Runc, Self::Crun, Self::Lxc];

    const fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::Runc => "runc",
            Self::Crun => "crun",
            Self::Lxc => "lxc",
        }
    }

    const fn program(self) -> &'static str {
        match self {
            Self::Lxc => "lxc-start",
            _ => self.name(),
        }
    }

    const fn has_images(self) -> bool {
        matches!(self, Self::Docker | Self::Podman)
    }

    fn answers(self) -> Result<()> {
        let asked = if self.has_images() { "info" } else { "--version" };
        run_quietly(Command::new(self.program()).arg(asked))
    }
}

impl<'a> Rival<'a> {
    /// Makes the image, or the root with its configuration.
    fn prepare(engine: Engine, folder: &'a Path, program: &Path) -> Result<Self> {
        let root = folder.join("rootfs");
        fs::create_dir_all(&root)?;
        fs::copy(program, root.join(PROGRAM))?;
        let archive = folder.join("image.tar");
        match engine {
            Engine::Docker | Engine::Podman => {
                let mut tar = Command::new("tar");
                tar.arg("-cf").arg(&archive).arg("-C").arg(&root).arg(PROGRAM);
                run_quietly(&mut tar)?;
                let entry = format!("ENTRYPOINT [\"/{PROGRAM}\"]");
                let mut import = Command::new(engine.program());
                import
                    .args(["import", "--change", &entry])
                    .arg(&archive)
                    .arg(NAME);
                run_quietly(&mut import)?;
                fs::write(folder.join("containers.conf"), PODMAN)?;
            }
            Engine::Runc | Engine::Crun => {
                fs::write(folder.join("config.json"), bundle()?.to_string())?;
            }
            Engine::Lxc => fs::write(folder.join("config"), lxc_config(&root)?)?,
        }
        Ok(Self {
            engine,
            folder,
            started: 0,
        })
    }

    /// Seconds to the byte of as many starts.
    fn starts(&mut self, starts: u32) -> Result<Vec<f64>> {
        (0..starts)
            .map(|_| {
                self.started += 1;
                first_byte(self.command()?)
            })
            .collect()
    }

    fn command(&self) -> Result<Command> {
        // A name of its own each time: LXC does not take one again at once.
        let name = format!("{NAME}-{}-{}", std::process::id(), self.started);
        let mut command = Command::new(self.engine.program());
        match self.engine {
            Engine::Docker | Engine::Podman => {
                let memory = MEMORY.to_string();
                command
                    .args(["run", "-i", "--rm", "--network", "none"])
                    .args(["--cpus", &cpus()?.to_string()])
                    .args(["--memory", &memory, "--memory-swap", &memory]);
                if matches!(self.engine, Engine::Podman) && !Path::new("/run/systemd/system").exists() {
                    command.env("CONTAINERS_CONF", self.folder.join("containers.conf"));
                }
                command.arg(NAME);
            }
            Engine::Runc | Engine::Crun => {
                command
                    .arg("--root")
                    .arg(self.folder.join("runtime"))
                    .args(["run", "--bundle"])
                    .arg(self.folder)
                    .arg(name);
            }
            Engine::Lxc => {
                command
                    .arg("-P")
                    .arg(self.folder)
                    .args(["-n", &name, "-F", "-f"])
                    .arg(self.folder.join("config"));
            }
        }
        if let Some(unified) = unified_beside_v1()
            && matches!(self.engine, Engine::Crun | Engine::Podman)
        {
            // crun, which Podman uses too, refuses version 2 beside version 1: it is shown none.
            tare_sys::hide_mount(&mut command, &unified);
        }
        Ok(command)
    }
}

impl Drop for Rival<'_> {
    fn drop(&mut self) {
        if self.engine.has_images() {
            let mut remove = Command::new(self.engine.program());
            // An image that is left is told, and replaced by the next run.
            if let Err(why) = run_quietly(remove.args(["rmi", NAME])) {
                eprintln!("{}: image {NAME} is left: {why:#}", self.engine.name());
            }
        }
    }
}

/// Seconds from the start of a command to its first byte; then it is made to end.
fn first_byte(mut command: Command) -> Result<f64> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let begun = Instant::now();
    let mut child = command.spawn().context("start the rival")?;
    let mut stdout = child.stdout.take().context("no output")?;
    let (said, heard) = mpsc::channel();
    let listener = std::thread::spawn(move || {
        let mut byte = [0];
        let read = stdout.read_exact(&mut byte);
        let _ = said.send(read.map(|()| Instant::now()));
    });
    let heard = heard.recv_timeout(DEADLINE);
    std::thread::sleep(USE);
    drop(child.stdin.take());
    let words = end(&mut child)?;
    let _ = listener.join();
    match heard {
        Ok(Ok(at)) => Ok((at - begun).as_secs_f64()),
        _ => bail!("the rival did not say its byte: {}", words.trim()),
    }
}

/// Waits for the end of a child, whose input has ended; what it said on standard error.
fn end(child: &mut Child) -> Result<String> {
    let deadline = Instant::now() + DEADLINE;
    while child.try_wait()?.is_none() {
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            bail!("the rival did not end with its input");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut words = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut words)?;
    }
    Ok(words)
}

fn run_quietly(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let done = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {program}"))?;
    let words = String::from_utf8_lossy(&done.stderr);
    ensure!(
        done.status.success(),
        "{program} failed: {}",
        words.trim().lines().next_back().unwrap_or_default()
    );
    Ok(())
}

/// Where version 2 of cgroups is mounted beside version 1.
fn unified_beside_v1() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let of = |kind: &'static str| {
        let mut found = mounts
            .lines()
            .filter(move |line| line.split(' ').nth(2) == Some(kind));
        found.next()?.split(' ').nth(1).map(PathBuf::from)
    };
    let unified = of("cgroup2");
    of("cgroup").and(unified)
}

/// The bundle's configuration: namespaces, mounts and limits as in our driver.
fn bundle() -> Result<Value> {
    let mount = |at: &str, kind: &str, options: &[&str]| json!({ "destination": at, "type": kind, "source": kind, "options": options });
    let namespaces = ["pid", "network", "ipc", "uts", "mount"].map(|kind| json!({ "type": kind }));
    Ok(json!({
        "ociVersion": "1.0.2",
        "root": { "path": "rootfs", "readonly": false },
        "process": {
            "terminal": false,
            "user": { "uid": 0, "gid": 0 },
            "args": [format!("/{PROGRAM}")],
            "cwd": "/",
        },
        "mounts": [
            mount("/proc", "proc", &["nosuid", "noexec", "nodev"]),
            mount("/dev", "tmpfs", &["nosuid", "strictatime", "mode=755", "size=65536k"]),
            mount("/sys", "sysfs", &["nosuid", "noexec", "nodev", "ro"]),
            mount("/sys/fs/cgroup", "cgroup", &["nosuid", "noexec", "nodev", "relatime", "ro"]),
        ],
        "linux": {
            "resources": {
                "devices": [{ "allow": false, "access": "rwm" }],
                "cpu": { "quota": 100_000 * cpus()?, "period": 100_000 },
                "memory": { "limit": MEMORY, "swap": MEMORY },
            },
            "namespaces": namespaces,
        },
    }))
}

/// The container's configuration: devices, mounts and limits as in our driver.
fn lxc_config(root: &Path) -> Result<String> {
    let limits = if Path::new("/sys/fs/cgroup/memory").is_dir() {
        format!(
            "lxc.cgroup.memory.limit_in_bytes = {MEMORY}\n\
             lxc.cgroup.cpu.cfs_period_us = 100000\n\
             lxc.cgroup.cpu.cfs_quota_us = {}\n",
            100_000 * cpus()?
        )
    } else {
        format!(
            "lxc.cgroup2.memory.max = {MEMORY}\nlxc.cgroup2.cpu.max = {} 100000\n",
            100_000 * cpus()?
        )
    };
    Ok(format!(
        "lxc.rootfs.path = dir:{}\n\
         lxc.init.cmd = /{PROGRAM}\n\
         lxc.console.path = none\n\
         lxc.tty.max = 0\n\
         lxc.net.0.type = empty\n\
         lxc.autodev = 1\n\
         lxc.mount.auto = proc:mixed sys:mixed cgroup:mixed:force\n\
         {limits}",
        root.display()
    ))
}
