//! Why a program was not started, where the system's own word leaves people alone: it tells of a
//! folder or an interpreter that is not there as of the program, and of a script by a number.

use crate::process::found;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use tare_wire::protocol::CommandTask;

/// As much of a program as the kernel looks at.
const HEAD: u64 = 256;
/// Of this machine, as elf(5) numbers them.
const MACHINE: u16 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };

/// Names the program, what is wrong with it and what to do.
pub(crate) fn told(task: &CommandTask, error: &io::Error) -> String {
    let program = task.argv.first().map_or("", String::as_str);
    let why = explained(task, program, error).unwrap_or_else(|| error.to_string());
    format!("{program}: {why}")
}

fn explained(task: &CommandTask, program: &str, error: &io::Error) -> Option<String> {
    let cwd = task.cwd.as_deref();
    if let Some(folder) = cwd.filter(|folder| !Path::new(folder).is_dir()) {
        return Some(format!("there is no folder {folder} to start it in"));
    }
    let file = file(program, task)?;
    let errno = rustix::io::Errno::from_io_error(error)?;
    if errno == rustix::io::Errno::ACCESS {
        return file.is_dir().then(|| "it is a folder".to_owned());
    }
    let head = head(&file)?;
    match errno {
        rustix::io::Errno::NOENT => without_interpreter(&head),
        rustix::io::Errno::NOEXEC | rustix::io::Errno::IO => Some(unknown_format(&head, program)),
        _ => None,
    }
}

/// The file of the program, which is there.
fn file(program: &str, task: &CommandTask) -> Option<PathBuf> {
    let file = found(program, &task.env, task.cwd.as_deref()).ok()?;
    let file = task
        .cwd
        .as_ref()
        .map_or_else(|| file.clone(), |cwd| Path::new(cwd).join(&file));
    fs::metadata(&file).is_ok().then_some(file)
}

fn head(file: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    File::open(file).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    Some(head)
}

/// Of a file that is there, although the system says that something is not.
fn without_interpreter(head: &[u8]) -> Option<String> {
    if head.starts_with(b"\x7fELF") {
        return Some("its loader is not in this box: use --with-libraries, or link it statically".to_owned());
    }
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    if line.ends_with('\r') {
        return Some(
            "its first line ends with a carriage return: save it with line ends of Unix, as by 'dos2unix'"
                .to_owned(),
        );
    }
    let interpreter = line.split_whitespace().next()?;
    Some(format!(
        "its interpreter {interpreter} is not in this box: install it, or bring it with --with {interpreter}"
    ))
}

fn unknown_format(head: &[u8], program: &str) -> String {
    let machine = head.get(18..20).and_then(|machine| machine.try_into().ok());
    match machine.map(u16::from_le_bytes) {
        _ if head.is_empty() => "the file is empty".to_owned(),
        Some(machine) if head.starts_with(b"\x7fELF") && machine != MACHINE => {
            format!("it is a program for other CPUs (machine {machine} of ELF): build it for this one")
        }
        _ if head.starts_with(b"\x7fELF") => "it is damaged or cut off: build or copy it again".to_owned(),
        _ if head.contains(&0) => "it is no program of Linux".to_owned(),
        _ => format!("it is a script without '#!': run it as 'sh {program}', or begin it with '#!/bin/sh'"),
    }
}
