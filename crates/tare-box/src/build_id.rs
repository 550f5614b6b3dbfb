//! Build IDs: the digest of a program's contents that the linker leaves in it as a note
//! (`--build-id`, section `.note.gnu.build-id`). Two files with one ID are one machine code.

use elf::ElfStream;
use elf::abi::{NT_GNU_BUILD_ID, PT_NOTE};
use elf::endian::AnyEndian;
use elf::note::Note;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::sync::OnceLock;

/// Hexadecimal digits of an ID that are kept: as many as tell any two builds from one another.
const DIGITS: usize = 16;

/// What stands for the ID of a program that was linked without one.
const UNKNOWN: &str = "unknown";

/// The build ID of an ELF file, in 16 hexadecimal digits; `None` where it has none or is no such file.
pub fn read(file: impl Read + Seek) -> Option<String> {
    let mut elf = ElfStream::<AnyEndian, _>::open_stream(file).ok()?;
    let notes: Vec<_> = elf
        .segments()
        .iter()
        .filter(|s| s.p_type == PT_NOTE)
        .copied()
        .collect();
    notes.iter().find_map(|segment| {
        let notes = elf.segment_data_as_notes(segment).ok()?;
        notes.into_iter().find_map(|note| match note {
            Note::GnuBuildId(id) => Some(digits(id.0)),
            Note::Unknown(any) if any.n_type == NT_GNU_BUILD_ID && any.name == b"GNU\0" => {
                Some(digits(any.desc))
            }
            _ => None,
        })
    })
}

fn digits(id: &[u8]) -> String {
    let text: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    text.chars().take(DIGITS).collect()
}

/// The build ID of the program in a file; `unknown` where it has none.
pub fn of_file(path: &Path) -> String {
    let found = File::open(path).ok().and_then(read);
    found.unwrap_or_else(|| UNKNOWN.to_owned())
}

/// The build ID of this program.
pub fn own() -> &'static str {
    static OWN: OnceLock<String> = OnceLock::new();
    OWN.get_or_init(|| of_file(Path::new("/proc/self/exe")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// An ELF file of one note segment.
    fn program(name: &[u8; 4], kind: u32, id: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
        bytes.resize(16, 0);
        let half = |bytes: &mut Vec<u8>, value: u16| bytes.extend(value.to_le_bytes());
        let word = |bytes: &mut Vec<u8>, value: u32| bytes.extend(value.to_le_bytes());
        let long = |bytes: &mut Vec<u8>, value: u64| bytes.extend(value.to_le_bytes());
        half(&mut bytes, 2);
        half(&mut bytes, 62);
        word(&mut bytes, 1);
        [0, 64, 0].iter().for_each(|value| long(&mut bytes, *value));
        word(&mut bytes, 0);
        [64, 56, 1, 64, 0, 0]
            .iter()
            .for_each(|value| half(&mut bytes, *value));
        let size = 12 + 4 + id.len() as u64;
        word(&mut bytes, PT_NOTE);
        word(&mut bytes, 4);
        [120, 0, 0, size, size, 4]
            .iter()
            .for_each(|value| long(&mut bytes, *value));
        [4, u32::try_from(id.len()).unwrap(), kind]
            .iter()
            .for_each(|value| word(&mut bytes, *value));
        bytes.extend(name);
        bytes.extend(id);
        bytes
    }

    #[test]
    fn it_is_read_from_the_note() {
        let id: Vec<u8> = (0..20).collect();
        let read_of = |bytes: Vec<u8>| read(Cursor::new(bytes));
        assert_eq!(
            read_of(program(b"GNU\0", 3, &id)).as_deref(),
            Some("0001020304050607")
        );
        assert_eq!(read_of(program(b"GNU\0", 4, &id)), None);
        assert_eq!(read_of(program(b"XYZ\0", 3, &id)), None);
    }

    #[test]
    fn what_is_no_program_has_none() {
        assert_eq!(read(Cursor::new(b"#!/bin/sh\n".to_vec())), None);
        let cut = program(b"GNU\0", 3, &[7; 20])[..130].to_vec();
        assert_eq!(read(Cursor::new(cut)), None);
        assert_eq!(of_file(Path::new("/no/such/program")), "unknown");
    }
}
