//! Reading a results file: every version, and what a later one added.

use super::older;
use super::{Header, READABLE, Record, SCHEMA, Session, TrialRecord};
use crate::VERSION;
use crate::group::GroupRecord;
use crate::looks::LookRecord;
use crate::study::Study;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use tare_sys::regular;

/// Bytes that are asked of the disk at a time.
const READ_AT_ONCE: usize = 1 << 18;

/// Why a results file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be read.
    #[error("cannot read results file {path}: {source}; check the path and who may read it")]
    Io { path: String, source: std::io::Error },
    /// It is a folder, a device or a pipe.
    #[error("{path} is not a file: give a file written by 'tare run'")]
    NoFile { path: String },
    /// It is larger than any run makes one.
    #[error("{path} has over {} MiB, more than a results file can have", MOST_BYTES >> 20)]
    TooLarge { path: String },
    /// It has more of something than any run writes.
    #[error("{path} has over {most} {of}, more than a results file can have")]
    TooMany {
        path: String,
        /// As many as it may have.
        most: usize,
        of: &'static str,
    },
    /// Nothing is in it.
    #[error("{path} is empty: give a results file, as written by 'tare run'")]
    Empty { path: String },
    /// It is somebody's table.
    #[error("{path} is a table, not a results file: analyse it with 'tare analyze {path}'")]
    Table { path: String },
    /// There is no complete first line.
    #[error(
        "{path} is not a results file, or is truncated: it has no complete header line; give a file written by 'tare run'"
    )]
    NoHeader { path: String },
    /// The header is of another format or version.
    #[error(
        "{path} has format '{found}', written by {writer}; this tare {VERSION} reads {}: \
         read it with the tare that wrote it, or with a later one",
        READABLE.map(|known| format!("'{known}'")).join(", ")
    )]
    Version {
        path: String,
        /// The format named in the header.
        found: String,
        /// Who wrote it, as far as the header says.
        writer: Writer,
    },
    /// A line in the middle is damaged.
    #[error(
        "{path}:{line}: damaged record ({detail}): the file was altered after it was written; restore it from a copy"
    )]
    Damaged {
        path: String,
        /// Line, from 1.
        line: usize,
        /// What the parser says.
        detail: String,
    },
}

/// The tare that wrote a file, as far as its first line says in the keys that every version has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Writer {
    version: Option<String>,
    build: Option<String>,
}

impl Writer {
    /// Whatever else is in the header: only a later tare may know what it means.
    fn of(header: &serde_json::Value) -> Self {
        let named = |key| header.get(key).and_then(serde_json::Value::as_str);
        let told = |key| named(key).filter(|name| !name.is_empty()).map(name_in_message);
        Self {
            version: told("tare"),
            build: told("build"),
        }
    }
}

impl std::fmt::Display for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.version, &self.build) {
            (Some(version), Some(build)) => write!(f, "tare {version} (build {build})"),
            (Some(version), None) => write!(f, "tare {version}"),
            (None, Some(build)) => write!(f, "a tare of build {build}"),
            (None, None) => f.write_str("a tare that its first line does not name"),
        }
    }
}

/// A name of a file for a message: whoever wrote the file may have made it as long as they liked.
fn name_in_message(name: &str) -> String {
    /// No version, build or format has as many characters.
    const MOST: usize = 64;
    name.chars().take(MOST).collect()
}

/// Most cells of a study that is read: the largest published one has 240.
const MOST_CELLS: usize = 4096;
/// Most metrics of one workload.
const MOST_METRICS: usize = 256;
/// Bytes of the largest results file that is read; the default study's has one million. Read,
/// small records take some thirty times their bytes.
pub const MOST_BYTES: u64 = 256 << 20;
/// Bytes of a line. The longest true one is a group: 18 cells of four timed parts for four minutes.
/// Keys that are unknown take some twenty times their bytes until the line is read.
const MOST_LINE: usize = 32 << 20;
/// Records of such a file: of 300 bytes each in the mean, where the shortest true one has 60.
const MOST_RECORDS: usize = 1 << 20;
/// Bytes of its header: that of the default study has 12 thousand. Read before it is known what
/// it is, a header takes some fifty times its bytes.
const MOST_HEADER: usize = 4 << 20;

/// A results file as read.
#[derive(Debug, Clone)]
pub struct Results {
    pub header: Header,
    /// Every complete record after it, in order.
    pub records: Vec<Record>,
    /// How many records there are beside them of kinds that only a later version knows,
    /// by the name of the kind.
    pub unknown: BTreeMap<String, usize>,
    /// Length in bytes of the complete lines: what follows is half a record,
    /// left by a run that was killed while it wrote.
    pub complete_bytes: u64,
    /// Whether such a half record was found and left out.
    pub torn: bool,
}

impl Results {
    /// Reads a results file. A last line without its newline is a half-written
    /// record and is left out.
    ///
    /// # Errors
    /// [`ReadError`], with the line where there is one.
    pub fn read(path: &std::path::Path) -> Result<Self, ReadError> {
        let shown = path.display().to_string();
        let failed = |source| ReadError::Io {
            path: shown.clone(),
            source,
        };
        let Some(file) = regular::open(path).map_err(failed)? else {
            return Err(ReadError::NoFile { path: shown });
        };
        Self::read_file(&shown, &file)
    }

    /// Reads a file that is open; `path` is for messages.
    ///
    /// # Errors
    /// As [`Results::read`].
    pub fn read_file(path: &str, file: &File) -> Result<Self, ReadError> {
        let shown = || path.to_owned();
        let about = file.metadata().map_err(|source| ReadError::Io {
            path: shown(),
            source,
        })?;
        if !about.is_file() {
            return Err(ReadError::NoFile { path: shown() });
        }
        if about.len() > MOST_BYTES {
            return Err(ReadError::TooLarge { path: shown() });
        }
        Self::parse_lines(
            path,
            BufReader::with_capacity(READ_AT_ONCE, file.take(MOST_BYTES)),
        )
    }

    /// Parses the bytes of a results file; `path` is for messages.
    ///
    /// # Errors
    /// As [`Results::read`], without its I/O errors.
    pub fn parse(path: &str, bytes: &[u8]) -> Result<Self, ReadError> {
        Self::parse_lines(path, bytes)
    }

    /// Line by line, so that the bytes of a large file are never there beside its records.
    fn parse_lines(path: &str, mut from: impl BufRead) -> Result<Self, ReadError> {
        let mut line = Vec::new();
        let mut next = |line: &mut Vec<u8>| next_line(path, &mut from, line);
        let path_of = || path.to_owned();
        if next(&mut line)? == 0 {
            return Err(ReadError::Empty { path: path_of() });
        }
        if is_table(&line) {
            return Err(ReadError::Table { path: path_of() });
        }
        let Some(first) = line.strip_suffix(b"\n") else {
            return Err(ReadError::NoHeader { path: path_of() });
        };
        let mut results = Self {
            header: parse_header(path, first)?,
            records: Vec::new(),
            unknown: BTreeMap::new(),
            complete_bytes: line.len() as u64,
            torn: false,
        };
        for number in 2.. {
            if next(&mut line)? == 0 {
                break;
            }
            let Some(whole) = line.strip_suffix(b"\n") else {
                results.torn = true;
                break;
            };
            if number - 2 == MOST_RECORDS {
                return Err(too_many(path, MOST_RECORDS, "records"));
            }
            results.add(parse_record(whole).map_err(|detail| ReadError::Damaged {
                path: path_of(),
                line: number,
                detail,
            })?);
            results.complete_bytes += line.len() as u64;
        }
        Ok(results)
    }

    fn add(&mut self, line: Line) {
        match line {
            Line::Known(record) => self.records.push(record),
            Line::Unknown(kind) => *self.unknown.entry(kind).or_default() += 1,
        }
    }

    /// Blocks to run: those of the study, or more that a session asked for.
    pub fn blocks_planned(&self) -> u32 {
        let asked = self.sessions().filter_map(|session| session.blocks);
        asked.fold(self.header.study.protocol.blocks, u32::max)
    }

    /// The sessions, in their order.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.records
            .iter()
            .filter_map(|r| if let Record::Session(s) = r { Some(s) } else { None })
    }

    /// The looks of an adaptive study, in their order.
    pub fn looks(&self) -> impl Iterator<Item = &LookRecord> {
        self.records
            .iter()
            .filter_map(|r| if let Record::Look(l) = r { Some(l) } else { None })
    }

    /// The groups of cells that ran slice by slice.
    pub fn groups(&self) -> impl Iterator<Item = &GroupRecord> {
        self.records
            .iter()
            .filter_map(|r| if let Record::Group(g) = r { Some(g) } else { None })
    }

    /// The trials, in the order in which they were carried out.
    pub fn trials(&self) -> impl Iterator<Item = &TrialRecord> {
        self.records.iter().filter_map(|r| {
            if let Record::Trial(t) = r {
                Some(&**t)
            } else {
                None
            }
        })
    }
}

/// The next line, with its end; the number of its bytes.
fn next_line(path: &str, from: &mut impl BufRead, line: &mut Vec<u8>) -> Result<usize, ReadError> {
    line.clear();
    let mut bounded = from.take(MOST_LINE as u64 + 1);
    let bytes = bounded.read_until(b'\n', line).map_err(|source| ReadError::Io {
        path: path.to_owned(),
        source,
    })?;
    if bytes > MOST_LINE {
        return Err(too_many(path, MOST_LINE >> 20, "MiB in one line"));
    }
    Ok(bytes)
}

fn too_many(path: &str, most: usize, of: &'static str) -> ReadError {
    ReadError::TooMany {
        path: path.to_owned(),
        most,
        of,
    }
}

/// Whether this begins as a table for `tare analyze`: with the names of its columns.
fn is_table(bytes: &[u8]) -> bool {
    /// Names of columns are no longer together.
    const MOST_NAMES: usize = 1000;
    let beginning = &bytes[..bytes.len().min(MOST_NAMES)];
    let line = beginning.split(|b| *b == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let columns = || {
        line.split([',', ';', '\t'])
            .map(|name| name.trim_matches(['"', '\r', ' ']))
    };
    ["cell", "value"]
        .iter()
        .all(|name| columns().any(|column| column.eq_ignore_ascii_case(name)))
}

/// A line after the header.
#[expect(clippy::large_enum_variant, reason = "lines are handled one at a time")]
enum Line {
    Known(Record),
    /// The kind of a record of a later version.
    Unknown(String),
}

/// Reads a line, or says what is wrong with it.
fn parse_record(line: &[u8]) -> Result<Line, String> {
    #[derive(Deserialize)]
    struct Kind {
        record: String,
    }
    // Not by serde's tag, for which all that stands in a line is kept first.
    let Kind { record: kind } = read(line)?;
    let record = match kind.as_str() {
        "trial" => Record::Trial(read(line)?),
        "group" => Record::Group(read_group(line)?),
        "session" => Record::Session(read(line)?),
        "box" => Record::Box(read(line)?),
        "removed" => Record::Removed(read(line)?),
        "proof" => Record::Proof(read(line)?),
        "warm-up" => Record::WarmUp(read(line)?),
        "peak" => Record::Peak(read(line)?),
        "look" => Record::Look(read(line)?),
        "evidence" => Record::Evidence(read(line)?),
        "end" => Record::End(read(line)?),
        "header" => return Err("a second header: two files were joined".to_owned()),
        _ => return Ok(Line::Unknown(kind)),
    };
    Ok(Line::Known(record))
}

fn read<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    serde_json::from_slice(line).map_err(|error| crate::plain::fault(&error))
}

fn read_group(line: &[u8]) -> Result<GroupRecord, String> {
    let group: GroupRecord = read(line)?;
    group.fault().map_or(Ok(group), Err)
}

fn parse_header(path: &str, line: &[u8]) -> Result<Header, ReadError> {
    let no_header = || ReadError::NoHeader {
        path: path.to_owned(),
    };
    if line.len() > MOST_HEADER {
        return Err(too_many(path, MOST_HEADER, "bytes in its header"));
    }
    // The version is read before the rest: another version may have other fields.
    let mut value: serde_json::Value = serde_json::from_slice(line).map_err(|_| no_header())?;
    let schema = value
        .get("schema")
        .and_then(|s| s.as_str())
        .ok_or_else(no_header)?;
    if !READABLE.contains(&schema) {
        return Err(ReadError::Version {
            path: path.to_owned(),
            found: name_in_message(schema),
            writer: Writer::of(&value),
        });
    }
    let damaged = |detail| ReadError::Damaged {
        path: path.to_owned(),
        line: 1,
        detail,
    };
    let is_current = schema == SCHEMA;
    let raised = if is_current {
        Ok(())
    } else {
        older::raise(&mut value)
    };
    match raised.and_then(|()| serde_json::from_value(value)) {
        Ok(Record::Header(header)) => match too_large(&header.study) {
            Some(fault) => Err(damaged(fault)),
            None => Ok(*header),
        },
        Ok(_) => Err(no_header()),
        Err(e) => Err(damaged(crate::plain::fault(&e))),
    }
}

/// What is more in a study than any can have. A report compares cells with one another, so that a
/// header of some kilobytes could keep it busy for hours, in all memory that there is.
fn too_large(study: &Study) -> Option<String> {
    let lists = [
        study.platforms.len(),
        study.provisioning.len(),
        study.instances.len(),
        study.workloads.len(),
    ];
    let cells = lists.into_iter().fold(1, usize::saturating_mul);
    let metrics = study.workloads.iter().map(|workload| workload.metrics.len());
    let metrics = metrics.max().unwrap_or(0);
    if cells.max(study.listed.len()) > MOST_CELLS {
        return Some(format!(
            "a study of {cells} cells: no report has over {MOST_CELLS}"
        ));
    }
    (metrics > MOST_METRICS)
        .then(|| format!("a workload of {metrics} metrics: no report has over {MOST_METRICS}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_are_those_that_the_parser_knows() {
        let schema = serde_json::to_value(schemars::schema_for!(Record)).unwrap();
        for kind in schema["oneOf"].as_array().unwrap() {
            let kind = kind["properties"]["record"]["const"].as_str().unwrap();
            let line = format!("{{\"record\":\"{kind}\"}}");
            assert!(
                parse_record(line.as_bytes()).is_err(),
                "{kind} is taken for a later version's"
            );
        }
    }

    #[test]
    fn no_more_is_read_than_a_run_writes() {
        let long = format!(
            "{{\"schema\":\"{SCHEMA}\",\"x\":\"{}\"}}\n",
            "x".repeat(MOST_HEADER)
        );
        let error = Results::parse("r.jsonl", long.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("bytes in its header"), "{error}");
        let long = "x".repeat(MOST_LINE + 1);
        let error = Results::parse("r.jsonl", long.as_bytes()).unwrap_err();
        let told = "r.jsonl has over 32 MiB in one line, more than a results file can have";
        assert_eq!(error.to_string(), told);
    }

    #[test]
    fn a_later_format_is_refused_with_the_tare_that_wrote_it() {
        let refused = |keys: &str| {
            let line = format!("{{\"schema\":\"tare-results/9\",\"study\":7{keys}}}\n");
            Results::parse("r.jsonl", line.as_bytes())
                .unwrap_err()
                .to_string()
        };
        let told = refused(r#","tare":"2.1.0","build":"0123abcd""#);
        let known = "reads 'tare-results/1', 'tare-results/2', 'tare-results/3': read it with the tare that wrote it, or with a later one";
        assert!(
            told.starts_with("r.jsonl has format 'tare-results/9', written by tare 2.1.0 (build 0123abcd); ")
                && told.contains(&format!("tare {VERSION} reads"))
                && told.ends_with(known),
            "{told}"
        );
        let writer = |keys| {
            let told = refused(keys);
            let (_, after) = told.split_once("written by ").unwrap();
            after.split_once(';').unwrap().0.to_owned()
        };
        assert_eq!(writer(r#","tare":"2.1.0","build":3"#), "tare 2.1.0");
        assert_eq!(
            writer(r#","tare":[],"build":"0123abcd""#),
            "a tare of build 0123abcd"
        );
        assert_eq!(
            writer(r#","tare":"""#),
            "a tare that its first line does not name"
        );
        let long = format!(r#","tare":"{}""#, "x".repeat(1000));
        assert_eq!(writer(&long), format!("tare {}", "x".repeat(64)));
    }

    #[test]
    fn a_table_is_told_from_a_damaged_file() {
        for (text, table) in [
            ("block,cell,metric,value\n", true),
            ("\"block\";\"Cell\";\"metric\";\"Value\"\r\n", true),
            ("{\"record\":\"header\",\"cell\":1,\"value\":2}\n", false),
            ("cell and value\n", false),
        ] {
            assert_eq!(is_table(text.as_bytes()), table, "{text}");
        }
        let refused = Results::parse("t.csv", b"cell,value\n").unwrap_err().to_string();
        assert!(refused.contains("'tare analyze t.csv'"), "{refused}");
        let refused = Results::parse("r.jsonl", b"").unwrap_err().to_string();
        assert!(refused.contains("r.jsonl is empty"), "{refused}");
    }

    #[test]
    fn a_record_of_a_kind_to_come_is_told_from_a_damaged_one() {
        let unknown = |line: &str| match parse_record(line.as_bytes()) {
            Ok(Line::Unknown(kind)) => Ok(Some(kind)),
            Ok(Line::Known(_)) => Ok(None),
            Err(detail) => Err(detail),
        };
        assert_eq!(
            unknown(r#"{"record":"forecast","x":[1]}"#),
            Ok(Some("forecast".to_owned()))
        );
        assert_eq!(
            unknown(r#"{"record":"warm-up","seconds":1.0,"trials":1,"failed":0,"x":1}"#),
            Ok(None)
        );
        for damaged in [
            r#"{"record":"trial"}"#,
            r#"{"record":"evidence""#,
            r#"{"record":7}"#,
            r#"{"kind":"evidence"}"#,
            "",
        ] {
            assert!(unknown(damaged).is_err(), "{damaged}");
        }
    }
}
