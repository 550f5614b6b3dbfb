//! Root filesystems of Debian's packages, made by mmdebstrap.

mod mirror;
mod spec;
#[cfg(test)]
mod tests;

pub use mirror::Mirrors;
pub use spec::{DebianSpec, NoSpec};

use super::maven;
use crate::program::{self, Running, Time};
use crate::store::{Filled, ROOTFS};
use crate::unpack::{UnpackError, Unpacker};
use crate::{ARCHITECTURE, Config, Image, ImageError, Store};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The largest set of packages that was made took 160 s on a busy machine.
const MOST: Duration = Duration::from_secs(1800);
const OUTPUT: &str = "output";
/// Files that mmdebstrap takes from the host: they are of no image, and tell the host's name.
const FORGET: &str = r#"--customize-hook=rm -f "$1/etc/hostname" "$1/etc/resolv.conf""#;

/// Runs the script of an image in it. The script is a variable and no part of a command line; what it
/// prints is not part of the archive, which goes to standard output. The root is made a mount point, in a
/// namespace of its own, since Java asks for the one that a file is on and finds none else.
const PREPARE: &str = r#"--customize-hook=unshare --mount sh -euc 'mount --rbind "$1" "$1"; exec chroot "$1" /bin/sh -euc "$TARE_PREPARE"' sh "$1" >&2"#;
const SCRIPT: &str = "TARE_PREPARE";

/// Why there is no mirror.
#[derive(Debug, thiserror::Error)]
pub enum NoMirror {
    /// This host has no sources of Debian's.
    #[error("this host's apt has no Debian sources: give the address of a mirror")]
    Present,
    /// The archive does not say where its snapshots are.
    #[error(
        "this host's apt does not say where snapshots of Debian's archive are: give their address, with @SNAPSHOTID@ for the date, or omit the date"
    )]
    Snapshots,
}

/// A root filesystem of Debian's packages. The same specification is the same image, which is
/// made once: what its mirror has later makes no other. Mirrors are asked for only where it is
/// made.
///
/// # Errors
/// [`ImageError::Program`] with the last lines of what mmdebstrap said, and where all of it is.
pub fn from_debian(
    store: &Store,
    spec: &DebianSpec,
    mirrors: impl FnOnce() -> Mirrors,
) -> Result<Image, ImageError> {
    let programs = Programs {
        mmdebstrap: "mmdebstrap".as_ref(),
        mvn: "mvn".as_ref(),
    };
    build(store, spec, mirrors, programs)
}

/// What makes an image.
#[derive(Debug, Clone, Copy)]
struct Programs<'a> {
    mmdebstrap: &'a OsStr,
    mvn: &'a OsStr,
}

fn build(
    store: &Store,
    spec: &DebianSpec,
    mirrors: impl FnOnce() -> Mirrors,
    programs: Programs<'_>,
) -> Result<Image, ImageError> {
    let spec = spec.checked()?;
    let name = spec.name();
    let made = || store.get(&name).ok();
    if let Some(image) = made() {
        return Ok(image);
    }
    let mirror = mirrors().of(&spec)?;
    let source = source(&spec, &mirror);
    store.make(&name, made, |at| {
        let output = at.join(OUTPUT);
        let filled = fill(store, &spec, &mirror, programs, at, &output);
        let left_out = filled.map_err(|error| keep_output(error, store, &name))?;
        fs::remove_file(&output).map_err(ImageError::file("remove", &output))?;
        Ok(Filled {
            config: Config::default(),
            source,
            left_out,
        })
    })
}

/// What an image is made of, in a line.
fn source(spec: &DebianSpec, mirror: &str) -> String {
    let packages = format!("Debian {} of {mirror}: {}", spec.suite, spec.packages.join(" "));
    let artifacts: Vec<&str> = spec
        .maven
        .iter()
        .flat_map(|one| &one.artifacts)
        .map(String::as_str)
        .collect();
    if artifacts.is_empty() {
        return packages;
    }
    format!("{packages}; of Maven: {}", artifacts.join(" "))
}

/// Makes the root filesystem. Artifacts come first: what is not there is told before minutes have passed.
fn fill(
    store: &Store,
    spec: &DebianSpec,
    mirror: &str,
    programs: Programs<'_>,
    at: &Path,
    output: &Path,
) -> Result<u64, ImageError> {
    if spec.maven.is_empty() {
        let command = command(spec, mirror, programs.mmdebstrap, at, None);
        return run(store, command, output, at);
    }
    program::find(programs.mmdebstrap)?;
    let archive = maven::archive(&spec.maven, programs.mvn, at, output, store)?;
    let command = command(spec, mirror, programs.mmdebstrap, at, Some(&archive));
    let left_out = run(store, command, output, at)?;
    fs::remove_file(&archive).map_err(ImageError::file("remove", &archive))?;
    Ok(left_out)
}

/// What is asked of mmdebstrap: an archive on its standard output. One of `artifacts` is unpacked before the
/// script runs.
fn command(
    spec: &DebianSpec,
    mirror: &str,
    mmdebstrap: &OsStr,
    at: &Path,
    artifacts: Option<&Path>,
) -> Command {
    let mut command = program::command(mmdebstrap, at);
    command.args(["--variant=minbase", "--format=tar"]);
    command.arg(format!("--architectures={ARCHITECTURE}"));
    if let Some(archive) = artifacts {
        command.arg(unpack_hook(archive));
    }
    if let Some(script) = &spec.prepare {
        command.env(SCRIPT, script).arg(PREPARE);
    }
    // Behind the script, which may ask other hosts for something.
    command.arg(FORGET);
    command.arg(format!("--components={}", spec.components.join(",")));
    if !spec.packages.is_empty() {
        command.arg(format!("--include={}", spec.packages.join(",")));
    }
    if spec.snapshot.is_some() {
        // What a snapshot says was valid then.
        command.arg(r#"--aptopt=Acquire::Check-Valid-Until "false""#);
    }
    command.args([&spec.suite, "-", mirror]).stdout(Stdio::piped());
    command
}

/// mmdebstrap unpacks an archive by itself, as root of the image. It takes the path apart as a shell does.
fn unpack_hook(archive: &Path) -> OsString {
    let mut hook = OsString::from("--customize-hook=tar-in '");
    let path = archive.as_os_str().as_bytes().split(|b| *b == b'\'');
    let quoted = path.collect::<Vec<_>>().join(&b"'\\''"[..]);
    hook.push(OsStr::from_bytes(&quoted));
    hook.push("' /");
    hook
}

/// Makes the root filesystem while mmdebstrap writes it. Returns what was left out.
fn run(store: &Store, command: Command, output: &Path, at: &Path) -> Result<u64, ImageError> {
    let time = Time {
        most: MOST,
        stop: store.stop(),
    };
    let mut running = Running::start(command, output, time)?;
    let stdout = running.stdout().ok_or(ImageError::Stopped)?;
    let unpack = || {
        let mut unpacker = Unpacker::new(&at.join(ROOTFS), store.limits(), store.stop())?;
        unpacker.layer(stdout)?;
        unpacker.finish()
    };
    let unpacked = unpack();
    let told = ImageError::unpack("what mmdebstrap made");
    if let Err(error @ (UnpackError::Bytes(_) | UnpackError::Entries(_))) = unpacked {
        return Err(told(error));
    }
    // Why it failed is told before what came of it: an archive that ends in the middle.
    running.wait()?;
    Ok(unpacked.map_err(told)?.left_out)
}

/// Keeps what a failed program said, which would go with the folder of the image.
fn keep_output(error: ImageError, store: &Store, name: &str) -> ImageError {
    let ImageError::Program {
        program,
        how,
        last,
        output,
    } = error
    else {
        return error;
    };
    let kept = store.failed_output(name);
    let moved = fs::rename(&output, &kept);
    ImageError::Program {
        program,
        how,
        last,
        output: if moved.is_ok() { kept } else { output },
    }
}
