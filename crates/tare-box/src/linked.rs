//! What an ELF file says of its loader and of the libraries that it is linked with. It is read alone: a loader
//! that was asked for them would be the file's own choice, and run what the file says.

use elf::abi;
use elf::dynamic::Dyn;
use elf::endian::AnyEndian;
use elf::file::Class;
use elf::segment::ProgramHeader;
use elf::string_table::StringTable;
use elf::{ElfStream, ParseError};
use std::fs::File;
use std::path::Path;
use tare_sys::regular;

/// Entries of a linker's table that are read, in bytes: those of the largest programs take some KiB.
const MAX_DYNAMIC: u64 = 1 << 20;
/// Strings that are read, in bytes: the largest libraries of C++ have some 10 MiB.
const MAX_STRINGS: u64 = 64 << 20;

type Stream = ElfStream<AnyEndian, File>;

/// The word size and the machine (`EM_`) of a file: a loader passes over libraries of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    class: Class,
    pub machine: u16,
}

/// What a loader reads of a file.
#[derive(Debug)]
pub(crate) struct Linked {
    pub kind: Kind,
    pub interpreter: Option<String>,
    pub soname: Option<String>,
    pub needed: Vec<String>,
    pub rpath: Vec<String>,
    pub runpath: Vec<String>,
}

impl Linked {
    /// Reads a file; `None` if it is no ELF file, or cannot be read.
    pub fn read(path: &Path) -> Option<Self> {
        Self::parse(regular::open(path).ok()??).ok()
    }

    /// # Errors
    /// Whatever makes a file none that a kernel or a loader would take.
    pub fn parse(file: File) -> Result<Self, ParseError> {
        let mut stream = Stream::open_stream(file)?;
        let kind = Kind {
            class: stream.ehdr.class,
            machine: stream.ehdr.e_machine,
        };
        let interpreter = match segment(&stream, abi::PT_INTERP) {
            Some(header) => Some(text(stream.segment_data(&header)?)),
            None => None,
        };
        let dynamic = dynamic(&mut stream)?;
        let strings = strings(&mut stream, &dynamic)?;
        let strings = StringTable::new(strings);
        let all = |tag| -> Vec<String> {
            let offsets = dynamic.iter().filter(|entry| entry.d_tag == tag);
            let found = offsets.filter_map(|entry| strings.get(usize::try_from(entry.d_val()).ok()?).ok());
            found.map(str::to_owned).collect()
        };
        let folders = |tag| -> Vec<String> {
            let paths = all(tag);
            paths
                .iter()
                .flat_map(|path| path.split(':'))
                .map(str::to_owned)
                .collect()
        };
        Ok(Self {
            kind,
            interpreter,
            soname: all(abi::DT_SONAME).pop(),
            needed: all(abi::DT_NEEDED),
            rpath: folders(abi::DT_RPATH),
            runpath: folders(abi::DT_RUNPATH),
        })
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned()
}

fn segment(stream: &Stream, kind: u32) -> Option<ProgramHeader> {
    let mut headers = stream.segments().iter();
    headers.find(|header| header.p_type == kind).copied()
}

/// The entries of the linker's table, by the segment that a loader goes by.
fn dynamic(stream: &mut Stream) -> Result<Vec<Dyn>, ParseError> {
    let Some(mut header) = segment(stream, abi::PT_DYNAMIC) else {
        return Ok(Vec::new());
    };
    header.p_filesz = header.p_filesz.min(MAX_DYNAMIC);
    let (endianness, class) = (stream.ehdr.endianness, stream.ehdr.class);
    let table = elf::dynamic::DynamicTable::new(endianness, class, stream.segment_data(&header)?);
    Ok(table
        .iter()
        .take_while(|entry| entry.d_tag != abi::DT_NULL)
        .collect())
}

/// The strings that the table points into, by the address at which they would be loaded.
fn strings<'a>(stream: &'a mut Stream, dynamic: &[Dyn]) -> Result<&'a [u8], ParseError> {
    let value = |tag| dynamic.iter().find(|entry| entry.d_tag == tag).map(Dyn::d_val);
    let (Some(address), Some(size)) = (value(abi::DT_STRTAB), value(abi::DT_STRSZ)) else {
        return Ok(&[]);
    };
    let holds = |header: &&ProgramHeader| {
        let offset = address.checked_sub(header.p_vaddr);
        header.p_type == abi::PT_LOAD && offset.is_some_and(|offset| offset < header.p_filesz)
    };
    let Some(loaded) = stream.segments().iter().find(holds).copied() else {
        return Ok(&[]);
    };
    let before = address - loaded.p_vaddr;
    stream.segment_data(&ProgramHeader {
        p_offset: loaded
            .p_offset
            .checked_add(before)
            .ok_or(ParseError::IntegerOverflow)?,
        p_filesz: size.min(MAX_STRINGS).min(loaded.p_filesz - before),
        ..loaded
    })
}
