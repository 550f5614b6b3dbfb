//! `bench-boot`: how long a VM takes from the request to the agent's hello,
//! beside the same QEMU, kernel and arguments with a first process that only
//! says one byte on the console.
//!
//! The two boot in turns. The box gets every CPU of the host, so that no quota
//! slows what the other does not have.

use anyhow::{Context, Result, ensure};
use cpio::newc::{Builder, ModeFileType, trailer};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tare_model::results::{Record, Results};

/// How much to run.
#[derive(clap::Args)]
pub struct Options {
    /// Rounds: each boots as many of either
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Boots of each in a round
    #[arg(long, default_value_t = 4)]
    boots: u32,
}

/// The byte that tells that the first process runs; no boot message has it.
const BYTE: u8 = b'~';

/// The first process: makes the console's node, says its byte, waits.
const INIT: &str = r#"#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
int main(void)
{
    mkdir("/dev", 0755);
    mknod("/dev/ttyS0", S_IFCHR | 0600, makedev(4, 64));
    int console = open("/dev/ttyS0", O_WRONLY);
    write(console, "~", 1);
    for (;;) pause();
}
"#;

/// Longest wait for the byte.
const DEADLINE: Duration = Duration::from_secs(120);

/// Measures and prints a table.
pub fn run(options: &Options) -> Result<()> {
    let tare = super::tare_bin()?;
    let folder = tempfile::tempdir()?;
    let initramfs = initramfs(folder.path())?;
    let mut ratios = Vec::new();
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for round in 0..options.rounds {
        let results = boot_boxes(&tare, folder.path(), options.boots)?;
        let hellos = hello_seconds(&results);
        let mut guest = Guest::of(&results, &initramfs)?;
        let boots: Vec<f64> = (0..options.boots).map(|_| guest.boot()).collect::<Result<_>>()?;
        eprintln!("round {}: hello {hellos:.2?} s, bare {boots:.2?} s", round + 1);
        ratios.push(super::median(hellos.clone()) / super::median(boots.clone()));
        ours.extend(hellos);
        bare.extend(boots);
    }
    let mut out = io::stdout().lock();
    writeln!(out, "seconds from launch, medians of {} boots each", ours.len())?;
    writeln!(
        out,
        "  one byte of a bare first process {:8.3}",
        super::median(bare)
    )?;
    writeln!(
        out,
        "  hello of the agent in a box      {:8.3}",
        super::median(ours)
    )?;
    writeln!(
        out,
        "  hello / byte                     {:8.3}",
        super::median(ratios)
    )?;
    Ok(())
}

/// A short study in a VM, which makes a box per block.
fn boot_boxes(tare: &Path, folder: &Path, boots: u32) -> Result<Results> {
    let file = folder.join("r.jsonl");
    let _ = std::fs::remove_file(&file);
    let cpus = std::thread::available_parallelism()?.to_string();
    let done = Command::new(tare)
        .args(["run", "-p", "vm", "-w", "syscall", "--provisioning", "vanilla"])
        .args(["--memory", "512M", "--trial-time", "50ms", "--cpus", &cpus])
        .args(["--blocks", &boots.to_string(), "-o"])
        .arg(&file)
        .arg("--state-dir")
        .arg(folder.join("state"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    ensure!(done.success(), "tare run failed");
    Ok(Results::read(&file)?)
}

fn hello_seconds(results: &Results) -> Vec<f64> {
    let hello = |record: &Record| match record {
        Record::Box(made) => Some(made.hello_seconds),
        _ => None,
    };
    results.records.iter().filter_map(hello).collect()
}

/// The same machine with a bare first process.
struct Guest {
    command: Command,
}

impl Guest {
    fn of(results: &Results, initramfs: &Path) -> Result<Self> {
        let platform = results.header.platforms.values().next().context("no platform")?;
        let detail = |name: &str| {
            let found = platform.details.get(name);
            found.with_context(|| format!("the results do not tell the {name}"))
        };
        let study = &results.header.study;
        let (cpu, clock) = if detail("accelerator")? == "kvm" {
            ("host", String::new())
        } else {
            let khz = tare_sys::tsc_khz(Duration::from_millis(50)).context("no time stamp counter")?;
            ("max", format!("tsc=reliable tsc_early_khz={khz} nokaslr "))
        };
        let mut command = Command::new("qemu-system-x86_64");
        command
            .args(["-M", detail("machine")?, "-accel", detail("accelerator")?])
            .args([
                "-cpu",
                cpu,
                "-smp",
                &study.instances[0].size.cpus.whole().to_string(),
            ])
            .args(["-m", &format!("{}M", study.instances[0].size.memory_bytes >> 20)])
            .args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"])
            .args(["-serial", "stdio"])
            .args(["-kernel", &format!("/boot/vmlinuz-{}", detail("guest-kernel")?)])
            .arg("-initrd")
            .arg(initramfs)
            .arg("-append")
            .arg(format!(
                "{clock}console=ttyS0 quiet loglevel=3 cryptomgr.notests reboot=t panic=-1"
            ));
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        Ok(Self { command })
    }

    /// Seconds until the byte came.
    fn boot(&mut self) -> Result<f64> {
        let begun = Instant::now();
        let mut child = self.command.spawn().context("start QEMU")?;
        let mut console = child.stdout.take().context("no console")?;
        let (said, heard) = std::sync::mpsc::channel();
        let listener = std::thread::spawn(move || {
            let mut byte = [0];
            while console.read_exact(&mut byte).is_ok() {
                if byte == [BYTE] {
                    let _ = said.send(Instant::now());
                    return;
                }
            }
        });
        let heard = heard.recv_timeout(DEADLINE);
        child.kill()?;
        child.wait()?;
        let _ = listener.join();
        let at = heard.context("the bare guest did not say its byte")?;
        Ok((at - begun).as_secs_f64())
    }
}

fn initramfs(folder: &Path) -> Result<PathBuf> {
    let program = super::compile(folder, "init", INIT)?;
    let content = std::fs::read(&program)?;
    let path = folder.join("initramfs");
    let entry = Builder::new("init")
        .mode(0o755)
        .set_mode_file_type(ModeFileType::Regular);
    let mut writer = entry.write(std::fs::File::create(&path)?, u32::try_from(content.len())?);
    writer.write_all(&content)?;
    trailer(writer.finish()?)?;
    Ok(path)
}
