//! Why a program was not started, where the system's own word leaves people alone: it tells of a
//! folder or an interpreter that is not there as of the program, and of a script by a number.

use crate::process::found;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use tare_box::script::{LONGEST_LINE, ScriptLine};
use tare_wire::protocol::CommandTask;

const ELF: &[u8] = b"\x7fELF";
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
    let (inner, head) = innermost(&file, cwd)?;
    let is_inner = inner != file;
    let why = match errno {
        rustix::io::Errno::NOENT => without_interpreter(&head),
        rustix::io::Errno::NOEXEC | rustix::io::Errno::IO => {
            Some(unknown_format(&head, (!is_inner).then_some(program)))
        }
        _ => None,
    }?;
    Some(match is_inner {
        true => format!("its interpreter {}: {why}", inner.display()),
        false => why,
    })
}

/// What the kernel could not start: the file, or the interpreter behind it that is itself none. With
/// what it begins with.
fn innermost(file: &Path, cwd: Option<&str>) -> Option<(PathBuf, Vec<u8>)> {
    /// Linux follows as many.
    const MOST_INTERPRETERS: usize = 5;
    let (mut file, mut begins) = (file.to_owned(), head(file)?);
    for _ in 0..MOST_INTERPRETERS {
        let Some(line) = ScriptLine::of(&begins) else {
            break;
        };
        let interpreter = Path::new(cwd.unwrap_or_default()).join(line.interpreter);
        let Some(its_head) = head(&interpreter) else { break };
        (file, begins) = (interpreter, its_head);
    }
    Some((file, begins))
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
    File::open(file)
        .ok()?
        .take(LONGEST_LINE)
        .read_to_end(&mut head)
        .ok()?;
    Some(head)
}

/// Of a file that is there, although the system says that something is not.
fn without_interpreter(head: &[u8]) -> Option<String> {
    if head.starts_with(ELF) {
        return Some("its loader is not in this box: use --with-libraries, or link it statically".to_owned());
    }
    let line = ScriptLine::of(head)?;
    if let Some(fault) = line.fault() {
        return Some(fault.to_owned());
    }
    let interpreter = line.interpreter;
    if Path::new(&interpreter).is_relative() {
        return Some(format!(
            "its interpreter {interpreter} is no absolute path: begin it with '#!/bin/sh', or '#!/usr/bin/env {interpreter}'"
        ));
    }
    Some(format!(
        "its interpreter {interpreter} is not in this box: install it, or bring it with --with {interpreter}"
    ))
}

/// What a file is that the kernel does not start; `program` is how it was called, if it was.
fn unknown_format(head: &[u8], program: Option<&str>) -> String {
    let machine = head.get(18..20).and_then(|machine| machine.try_into().ok());
    if let Some(fault) = ScriptLine::of(head).and_then(|line| line.fault()) {
        return fault.to_owned();
    }
    let name = program.unwrap_or("FILE");
    match machine.map(u16::from_le_bytes) {
        _ if head.is_empty() => "the file is empty".to_owned(),
        Some(machine) if head.starts_with(ELF) && machine != MACHINE => {
            format!("it is a program for other CPUs (machine {machine} of ELF): build it for this one")
        }
        _ if head.starts_with(ELF) => "it is damaged or cut off: build or copy it again".to_owned(),
        _ => other_format(head).map_or_else(|| no_format(head, program), |told| told.replace("FILE", name)),
    }
}

/// Of a file that nothing tells by its first bytes.
fn no_format(head: &[u8], program: Option<&str>) -> String {
    if head.contains(&0) {
        return "it is no program of Linux".to_owned();
    }
    let run = program.map_or_else(String::new, |program| format!("run it as 'sh {program}', or "));
    format!("it is a script without '#!': {run}begin it with '#!/bin/sh'")
}

/// What a file is that begins like those of other systems and uses; `FILE` stands for its name.
fn other_format(head: &[u8]) -> Option<&'static str> {
    const ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
    const MACOS: &str = "it is a program of macOS: build it for Linux";
    let told = match head {
        _ if head
            .strip_prefix(ORDER_MARK)
            .is_some_and(|rest| rest.starts_with(b"#!")) =>
        {
            "a byte order mark stands before its '#!': save it as UTF-8 without one"
        }
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            "it is text in UTF-16: save it as UTF-8 without a byte order mark"
        }
        _ if head.trim_ascii_start().starts_with(b"#!") => {
            "'#!' does not begin its first line: remove what stands before it"
        }
        [0xce | 0xcf, 0xfa, 0xed, 0xfe, ..] | [0xfe, 0xed, 0xfa, 0xce | 0xcf, ..] => MACOS,
        // Programs for several CPUs begin like classes of Java, whose versions began with 45.
        [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, ..=44, ..] => MACOS,
        [0xca, 0xfe, 0xba, 0xbe, ..] => "it is a class of Java: run it as 'java', with the name of the class",
        [b'M', b'Z', ..] if head.contains(&0) => "it is a program of Windows: build it for Linux",
        [0, b'a', b's', b'm', ..] => "it is WebAssembly: run it by a runtime, such as 'wasmtime FILE'",
        [b'P', b'K', 3, 4, ..] => "it is an archive (zip): run one of Java as 'java -jar FILE', or unpack it",
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] | [0xfd, b'7', b'z', b'X', b'Z', ..] => {
            "it is compressed: unpack it"
        }
        _ => return None,
    };
    Some(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_program_of_linux_is_told_by_its_first_bytes() {
        for (head, told) in [
            (&b"\xef\xbb\xbf#!/bin/sh\n"[..], "a byte order mark stands before"),
            (b"\xff\xfe#\0!\0", "text in UTF-16"),
            (b"\n#!/bin/sh\n", "does not begin its first line"),
            (b"\xcf\xfa\xed\xfe\x07", "a program of macOS"),
            (b"\xca\xfe\xba\xbe\0\0\0\x02", "a program of macOS"),
            (b"\xca\xfe\xba\xbe\0\0\0\x34", "a class of Java"),
            (b"MZ\x90\0", "a program of Windows"),
            (b"MZ=1\n", "a script without '#!'"),
            (b"\0asm\x01\0\0\0", "such as 'wasmtime ./it'"),
            (b"PK\x03\x04", "run one of Java as 'java -jar ./it'"),
            (b"\x1f\x8b\x08", "unpack it"),
            (b"#!\necho\n", "names no interpreter"),
            (b"\x01\0", "no program of Linux"),
        ] {
            let format = unknown_format(head, Some("./it"));
            assert!(format.contains(told), "{format}");
        }
    }
}
