//! Everything in tare that reads what others wrote. A target takes bytes as they would come
//! and goes as far with them as tare does. What it returns is a mark of what came of them,
//! without the figures: inputs with the same mark are much alike.

use crate::corpus::hash;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use tare_analysis::foreign::{self, Wishes};
use tare_analysis::{analyze, change, pilot};
use tare_image::Store;
use tare_lab::resume;
use tare_load::answers_to;
use tare_model::frame::{Decoder, encode};
use tare_model::gate::{Order, Slice};
use tare_model::host::HostFacts;
use tare_model::kernel::{BurnReport, KernelReport, TouchReport};
use tare_model::load::{Asked, Query};
use tare_model::protocol::{Reply, Request};
use tare_model::results::Results;
use tare_published::{Library, check, tally};
use tare_report::document::Document;
use tare_report::sections::{self, published as published_sections};
use tare_report::text::TextOptions;
use tare_report::{html, json, markdown, tabular, text};
use tare_stats::Latencies;
use tare_study::plan::{self, Room};
use tare_study::{images, study_file, workload_file};

/// What is fuzzed.
#[derive(Debug)]
pub struct Target {
    /// Its name, and that of its folders.
    pub name: &'static str,
    /// What reads the bytes.
    pub run: fn(&[u8]) -> u64,
    /// Tokens of its format.
    pub words: &'static [&'static str],
}

/// All there are.
pub const TARGETS: &[Target] = &[
    Target {
        name: "frames",
        run: frames,
        words: &[
            "\u{0}\u{0}\u{0}\u{0}",
            "\u{0}\u{10}\u{0}\u{0}",
            "\u{1}",
            "\u{6}",
            "t",
        ],
    },
    Target {
        name: "protocol",
        run: protocol,
        words: &[
            "null",
            "true",
            "[]",
            "{}",
            "\"request\"",
            "\"reply\"",
            "\"code\"",
            "\"signal\"",
            "\"argv\"",
            "\"bounds\"",
        ],
    },
    Target {
        name: "results",
        run: results,
        words: RESULTS,
    },
    Target {
        name: "headers",
        run: headers,
        words: RESULTS,
    },
    Target {
        name: "study-files",
        run: study_files,
        words: &[
            "[small]",
            "[[workload]]",
            "include = \"quick\"",
            "include = \"study.toml\"",
            "platforms = ",
            "[protocol]",
            "blocks = ",
            "adaptive = true",
            "'''",
            "\"\"\"",
            "inf",
            "nan",
            "0x7fffffffffffffff",
            "1979-05-27",
            "4G",
            "10s",
            "vm/docker",
            "docker?seccomp=off",
        ],
    },
    Target {
        name: "workload-files",
        run: workload_files,
        words: &[
            "[command]",
            "[[role]]",
            "[[metric]]",
            "[[check]]",
            "[parameters]",
            "argv = [",
            "ready = { ",
            "place = \"outside\"",
            "{port}",
            "{server.address}",
            "equals = ",
            "csv = { column = ",
            "regex = '(",
            "'''",
            "inf",
            "nan",
        ],
    },
    Target {
        name: "published",
        run: published,
        words: &[
            "[[tables]]",
            "[[claims]]",
            "[study]",
            "inf",
            "nan",
            "'''",
            "rows = [",
            "{}",
            "kind = ",
            "mean",
            "median",
            "sd",
        ],
    },
    Target {
        name: "csv",
        run: foreign_table,
        words: &[
            "block",
            "cell",
            "metric",
            "value",
            "baseline",
            "direction",
            "unit",
            ",",
            ";",
            "\t",
            "\"",
            "\"\"",
            "\r\n",
            "\n",
            "lower",
            "higher",
            "nan",
            "inf",
        ],
    },
    Target {
        name: "json-lines",
        run: foreign_table,
        words: &[
            "\"block\":",
            "\"cell\":",
            "\"metric\":",
            "\"value\":",
            "\"baseline\":",
            "\"direction\":\"lower\"",
            "null",
            "{",
            "}",
            "[",
            "\n",
        ],
    },
    Target {
        name: "gate",
        run: gate,
        words: &[
            "\"units\":",
            "\"lead\":",
            "\"parts\":",
            "\"untimed_ns\":",
            "null",
            "[]",
            "18446744073709551615",
        ],
    },
    Target {
        name: "answers",
        run: answers,
        words: &[
            "HTTP/1.1 200 OK\r\n",
            "Content-Length: ",
            "Transfer-Encoding: chunked\r\n",
            "Connection: close\r\n",
            "\r\n\r\n",
            "$-1\r\n",
            "*2\r\n",
            "-ERR ",
            "Z\u{0}\u{0}\u{0}\u{5}I",
            "T\u{0}\u{0}\u{0}",
        ],
    },
    Target {
        name: "archives",
        run: archives,
        words: &[
            "ustar\u{0}00",
            "ustar  \u{0}",
            "../",
            "/",
            ".wh.",
            ".wh..wh..opq",
            "path=",
            "linkpath=",
            "SCHILY.xattr.",
            "GNU.sparse.",
            "\u{0}",
            "manifest.json",
            "index.json",
            "oci-layout",
            "sha256:",
            "\"layers\":",
        ],
    },
    Target {
        name: "image-files",
        run: image_files,
        words: &[
            "name = ",
            "suite = ",
            "components = [",
            "packages = [",
            "snapshot = ",
            "20250520T000000Z",
            "'''",
            "nan",
            "{}",
            "=1:2~3",
        ],
    },
];

/// Tokens of results files.
const RESULTS: &[&str] = &[
    "null",
    "true",
    "false",
    "[]",
    "{}",
    "\"native\"",
    "\"docker\"",
    "\"vm/docker\"",
    "\"vanilla\"",
    "\"pinned\"",
    "\"fixed\"",
    "\"record\":\"trial\"",
    "\"record\":\"group\"",
    "\"record\":\"end\"",
    "\"record\":\"session\"",
    "\"record\":\"look\"",
    "\"time\"",
    "\"rate\"",
    "\"lower\"",
    "\"higher\"",
    "\"lines\"",
    "\"seconds\"",
];

/// The target of this name.
pub fn named(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// A mark of words without their figures.
fn mark(words: &str) -> u64 {
    let letters: Vec<u8> = words.bytes().filter(u8::is_ascii_alphabetic).collect();
    hash(&letters)
}

/// The stream comes in pieces, whose length the first byte tells.
fn frames(input: &[u8]) -> u64 {
    let (first, stream) = input.split_first().unwrap_or((&0, &[]));
    let mut decoder = Decoder::default();
    let mut kinds = Vec::new();
    for piece in stream.chunks(usize::from(*first) * 16 + 1) {
        decoder.feed(piece);
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => {
                    kinds.push(frame.head.kind as u8);
                    let mut again = Vec::new();
                    encode(frame.head, &frame.payload, &mut again);
                }
                Ok(None) => break,
                Err(e) => return mark(&e.to_string()) ^ hash(&kinds),
            }
        }
    }
    hash(&kinds) ^ u64::from(decoder.is_mid_frame())
}

/// Reads JSON; what was read can be written and read again.
fn read_again<T: Serialize + DeserializeOwned>(input: &[u8]) -> u64 {
    match serde_json::from_slice::<T>(input) {
        Ok(read) => {
            let written = serde_json::to_string(&read).expect("what was read can be written");
            let again = serde_json::from_str::<T>(&written);
            // Numbers that are none are written as null, which is told apart by the reader.
            mark(&written) ^ u64::from(again.is_ok())
        }
        Err(e) => mark(&e.to_string()),
    }
}

fn protocol(input: &[u8]) -> u64 {
    read_again::<Request>(input) ^ read_again::<Reply>(input).rotate_left(1)
}

/// Lines of a process at its gate, of its end, and of the one that orders.
fn gate(input: &[u8]) -> u64 {
    let mut all = read_again::<Order>(input) ^ read_again::<KernelReport>(input).rotate_left(1);
    all ^= read_again::<BurnReport>(input).rotate_left(2) ^ read_again::<TouchReport>(input).rotate_left(3);
    if let Ok(slice) = serde_json::from_slice::<Slice>(input) {
        let times = slice.wall_ns().checked_add(slice.cpu_ns());
        all ^= u64::from(slice.is_sound()) ^ times.map_or(2, |_| 4);
        let read = slice.load.and_then(|load| Latencies::of_text(&load.latencies));
        if let Some(latencies) = read {
            let mut twice = latencies.clone();
            twice.add(&latencies);
            all ^= mark(&twice.text()) ^ u64::from(twice.percentile(0.99).is_some()) << 3;
        }
    }
    all
}

/// What servers answer. The first byte tells by which protocol, the second in pieces of what length.
fn answers(input: &[u8]) -> u64 {
    let (head, stream) = input.split_at(input.len().min(2));
    let query = || Query {
        user: String::new(),
        database: String::new(),
        text: String::new(),
    };
    let asked = match head.first().map(|kind| kind % 4) {
        Some(1) => Asked::Resp {
            words: Vec::new(),
            first: Vec::new(),
        },
        Some(2) => Asked::Postgresql(query()),
        Some(3) => Asked::Mysql(query()),
        _ => Asked::Http(String::new()),
    };
    let mut answers = answers_to(&asked);
    let mut told = 0_u64;
    let mut there = Vec::new();
    for piece in stream.chunks(head.get(1).map_or(1, |length| usize::from(*length) + 1)) {
        there.extend_from_slice(piece);
        loop {
            match answers.take(&there) {
                Ok((0, None)) => break,
                Ok((taken, answer)) => {
                    there.drain(..taken);
                    told = told.rotate_left(3) ^ answer.map_or(1, |answer| mark(&format!("{answer:?}")));
                }
                Err(e) => return mark(&e) ^ told,
            }
        }
    }
    told ^ u64::from(answers.is_within()) ^ answers.at_end().map_or(0, |_| 2)
}

fn results(input: &[u8]) -> u64 {
    match Results::parse("fuzzed.jsonl", input) {
        Ok(results) => reported(&results),
        Err(e) => mark(&e.to_string()),
    }
}

/// The input is a header; the records are those of an example.
fn headers(input: &[u8]) -> u64 {
    let rest = EXAMPLE.split_once('\n').map_or("", |(_, rest)| rest);
    let header = input.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let whole = [header, b"\n", rest.as_bytes()].concat();
    results(&whole)
}

/// A short results file of today's version.
const EXAMPLE: &str = include_str!("../../../fuzz/corpus/results/slices.jsonl");

/// All that is made of results, and what is asked before a run goes on with them.
fn reported(results: &Results) -> u64 {
    let analysis = analyze(results);
    text::answer(&analysis, text::Where::default(), TextOptions::default());
    json::render(&analysis).expect("an analysis can be written");
    told(&sections::pilot(&pilot::cells(results)));
    let _ = change::compare(results, results, None);
    let _ = resume::study("fuzzed.jsonl", results, None);
    let _ = resume::check("fuzzed.jsonl", results, &results.header);
    resume::Progress::of(results);
    told(&sections::report(&analysis, text::Where::default()))
}

/// A document in every form.
fn told(document: &Document) -> u64 {
    html::render(document).expect("a page is made in memory");
    tabular::render(document, None).expect("tables are made in memory");
    for picture in document.pictures() {
        picture.svg().expect("a picture is made in memory");
    }
    markdown::render(document);
    mark(&text::render(document, TextOptions::default()))
}

/// A folder with one file, which goes with this process. The file stays open: some file systems
/// write one to the disk that is closed after it was cut short, and an input then waits for that.
struct Folder {
    folder: tempfile::TempDir,
    file: fs::File,
}

impl Folder {
    /// Of the file.
    const NAME: &str = "study.toml";

    fn make() -> std::io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = fs::File::create(folder.path().join(Self::NAME))?;
        Ok(Self { folder, file })
    }

    fn with(&self, input: &[u8]) -> std::io::Result<PathBuf> {
        self.file.write_all_at(input, 0)?;
        self.file.set_len(input.len() as u64)?;
        Ok(self.folder.path().join(Self::NAME))
    }
}

thread_local! {
    static FOLDER: RefCell<Option<Folder>> = const { RefCell::new(None) };
}

/// The path of a file that holds the input.
fn file_of(input: &[u8]) -> String {
    let path = FOLDER.with_borrow_mut(|folder| {
        let folder = folder.get_or_insert_with(|| Folder::make().expect("a folder for a file"));
        folder.with(input).expect("a file of a few KB")
    });
    path.to_string_lossy().into_owned()
}

/// A workload from a file, with the values of either preset.
fn workload_files(input: &[u8]) -> u64 {
    let path = file_of(input);
    let read = |preset: &str| match workload_file::read(&format!("{path}?preset={preset}")) {
        Ok(read) => (read.command.metrics.len() + read.roles.len()) as u64,
        Err(e) => mark(&e.to_string()),
    };
    read("small") ^ read("paper").rotate_left(1)
}

/// A study from a file, in both its sizes, on a host of 8 CPUs, and a block of its plan.
fn study_files(input: &[u8]) -> u64 {
    let study = file_of(input);
    [false, true]
        .map(|small| planned(&study, small))
        .into_iter()
        .fold(0, |all, mark| all.rotate_left(1) ^ mark)
}

/// What every box costs in a plan.
const COST: plan::BoxCost = plan::BoxCost {
    launch_seconds: 0.1,
    stretch: 1.1,
};

fn planned(study: &str, small: bool) -> u64 {
    let facts = HostFacts {
        cpus: 8,
        cores: 8,
        sockets: 1,
        numa_nodes: 1,
        memory_bytes: 16 << 30,
        ..HostFacts::default()
    };
    let read = study_file::read(study, small).and_then(|file| file.sketch(file.wishes(), &facts));
    match read {
        Ok((study, misfits)) => {
            let room = Room::of_host(facts.memory_bytes);
            let stands = plan::block(&study, room, 0);
            plan::cost(&study, room, |_| COST);
            stands.len() as u64
                ^ misfits
                    .iter()
                    .fold(0, |all, misfit| all ^ mark(&misfit.to_string()))
        }
        Err(e) => mark(&e.to_string()),
    }
}

/// What an archive may hold here: any may try to make gigabytes of a few bytes.
const ARCHIVE_BYTES: u64 = 16 << 20;

/// A store in memory where there is such a place: every image is brought to the disk.
struct Images {
    store: Store,
    _folder: tempfile::TempDir,
}

impl Images {
    fn make() -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let folder = folder.expect("a folder for images");
        let store = Store::open(&folder.path().join("store"), ARCHIVE_BYTES);
        Self {
            store: store.expect("a store of one's own"),
            _folder: folder,
        }
    }
}

thread_local! {
    static IMAGES: RefCell<Option<Images>> = const { RefCell::new(None) };
}

/// An image in a tar archive, or a root filesystem, into a store and out of it.
fn archives(input: &[u8]) -> u64 {
    const NAME: &str = "fuzzed";
    IMAGES.with_borrow_mut(|images| {
        let store = &images.get_or_insert_with(Images::make).store;
        match tare_image::from_tar(store, NAME, NAME, None, input) {
            Ok(image) => {
                let entries = image.manifest().entries.min(8);
                drop(image);
                store
                    .remove(NAME)
                    .expect("an image that was just made is removed");
                entries
            }
            Err(e) => mark(&e.to_string()),
        }
    })
}

fn image_files(input: &[u8]) -> u64 {
    match images::parse("fuzzed.toml", &String::from_utf8_lossy(input)) {
        Ok(file) => file.debian.packages.len().min(8) as u64,
        Err(e) => mark(&e.to_string()),
    }
}

fn published(input: &[u8]) -> u64 {
    let study = match Library::parse("fuzzed", &String::from_utf8_lossy(input)) {
        Ok(study) => study,
        Err(e) => return mark(&e.to_string()),
    };
    let checked = [check(&study)];
    told(&published_sections::check(&checked, &tally(&checked)));
    let library = Library::load().expect("what ships can be read");
    told(&published_sections::study(&library, &study))
}

fn foreign_table(input: &[u8]) -> u64 {
    let wishes = Wishes {
        baseline: None,
        direction: None,
        margin: 0.01,
        threads: 1,
    };
    let table = match foreign::read("fuzzed", input) {
        Ok(table) => table,
        Err(e) => return mark(&e.to_string()),
    };
    match foreign::analyze(&table, wishes) {
        Ok(analysis) => {
            json::render(&analysis).expect("an analysis can be written");
            told(&sections::foreign(&analysis))
        }
        Err(e) => mark(&e.to_string()),
    }
}
