//! Archives, hostile ones among them, and what comes of them.

use super::{Counts, Fault, Limits, UnpackError, Unpacker};
use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use tar::{Builder, EntryType, Header};

/// Entries as an archive has them, without the care that builders of archives take.
#[derive(Default)]
struct Layer(Vec<u8>);

impl Layer {
    fn raw(mut self, path: &[u8], kind: EntryType, link: &[u8], mode: u32, data: &[u8]) -> Self {
        let mut header = Header::new_gnu();
        let put = |field: &mut [u8], text: &[u8]| field[..text.len()].copy_from_slice(text);
        let gnu = header.as_gnu_mut().unwrap();
        put(&mut gnu.name, path);
        put(&mut gnu.linkname, link);
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_size(data.len() as u64);
        header.set_mtime(1_600_000_000);
        header.set_uid(u64::from(rustix::process::geteuid().as_raw()));
        header.set_gid(u64::from(rustix::process::getegid().as_raw()));
        header.set_cksum();
        self.0.extend_from_slice(header.as_bytes());
        self.0.extend_from_slice(data);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }
    fn file(self, path: &str, data: &str) -> Self {
        self.raw(path.as_bytes(), EntryType::Regular, b"", 0o644, data.as_bytes())
    }
    fn folder(self, path: &str) -> Self {
        self.raw(path.as_bytes(), EntryType::Directory, b"", 0o755, b"")
    }
    fn symlink(self, path: &str, to: &str) -> Self {
        self.raw(path.as_bytes(), EntryType::Symlink, to.as_bytes(), 0o777, b"")
    }
    fn link(self, path: &str, to: &str) -> Self {
        self.raw(path.as_bytes(), EntryType::Link, to.as_bytes(), 0o644, b"")
    }
    fn end(mut self) -> Vec<u8> {
        self.0.resize(self.0.len() + 1024, 0);
        self.0
    }
}

/// A folder `in` to unpack into, with a file beside it that nothing may touch.
struct UnpackFolder(tempfile::TempDir);

impl UnpackFolder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("in")).unwrap();
        fs::create_dir(folder.path().join("out")).unwrap();
        fs::write(folder.path().join("out/kept"), "kept").unwrap();
        Self(folder)
    }
    fn at(&self, path: &str) -> std::path::PathBuf {
        self.0.path().join("in").join(path)
    }
    fn out(&self) -> String {
        self.0.path().join("out").to_str().unwrap().to_owned()
    }
    fn unpack(&self, layers: &[Vec<u8>]) -> Result<Counts, UnpackError> {
        self.unpack_within(layers, Limits::default())
    }
    fn unpack_within(&self, layers: &[Vec<u8>], limits: Limits) -> Result<Counts, UnpackError> {
        let mut unpacker = Unpacker::new(&self.at(""), limits, || false)?;
        for layer in layers {
            unpacker.layer(&layer[..])?;
        }
        unpacker.finish()
    }
    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }
    fn is_there(&self, path: &str) -> bool {
        fs::symlink_metadata(self.at(path)).is_ok()
    }
    /// The refusal of an archive, after a look at what lies beside the folder.
    fn refused(&self, layer: Layer) -> Fault {
        let refused = self.unpack(&[layer.end()]);
        self.nothing_happened_outside();
        match refused {
            Err(UnpackError::Entry { fault, .. }) => fault,
            other => panic!("{other:?}"),
        }
    }
    fn nothing_happened_outside(&self) {
        assert_eq!(fs::read_dir(self.out()).unwrap().count(), 1);
        let kept = Path::new(&self.out()).join("kept");
        assert_eq!(fs::read(&kept).unwrap(), b"kept");
        assert_eq!(fs::metadata(&kept).unwrap().nlink(), 1);
        assert_eq!(fs::read_dir(self.0.path()).unwrap().count(), 2);
    }
}

#[test]
fn layers_lie_on_one_another() {
    let site = UnpackFolder::new();
    let below = Layer::default()
        .folder("etc/")
        .file("etc/a", "1")
        .file("etc/b", "2")
        .file("opt/old/deep/x", "3")
        .folder("kept")
        .file("kept/below", "4");
    // Whiteouts hide what is below, wherever they stand in their layer.
    let above = Layer::default()
        .file("etc/.wh.a", "")
        .file("opt/new", "5")
        .file("opt/old/y", "6")
        .file("opt/.wh..wh..opq", "")
        .file("etc/c", "7")
        .file("etc/.wh.c", "")
        .file("nowhere/.wh.x", "")
        .file(".wh..wh.plnk", "");
    site.unpack(&[below.end(), above.end()]).unwrap();
    assert!(!site.is_there("etc/a") && !site.is_there("opt/old/deep") && !site.is_there("nowhere"));
    assert!(!site.is_there(".wh..wh.plnk"));
    assert_eq!((site.text("etc/b"), site.text("etc/c")), ("2".into(), "7".into()));
    assert_eq!(
        (site.text("opt/new"), site.text("opt/old/y")),
        ("5".into(), "6".into())
    );
    assert_eq!(site.text("kept/below"), "4");
}

#[test]
fn files_folders_and_links_take_the_place_of_one_another() {
    let site = UnpackFolder::new();
    let below = Layer::default()
        .file("a/inner/x", "1")
        .file("b", "2")
        .symlink("c", "a")
        .folder("d");
    let above = Layer::default().file("a", "3").file("b/x", "4");
    let refused = site.unpack(&[below.end(), above.end()]);
    assert!(
        matches!(
            refused,
            Err(UnpackError::Entry {
                fault: Fault::NoFolder,
                ..
            })
        ),
        "{refused:?}"
    );

    let site = UnpackFolder::new();
    let below = Layer::default()
        .file("a/inner/x", "1")
        .file("b", "2")
        .symlink("c", "a")
        .folder("d");
    let above = Layer::default()
        .file("a", "3")
        .folder("b")
        .file("b/x", "4")
        .folder("c")
        .file("d", "5");
    site.unpack(&[below.end(), above.end()]).unwrap();
    assert_eq!([site.text("a"), site.text("b/x"), site.text("d")].concat(), "345");
    assert!(fs::symlink_metadata(site.at("c")).unwrap().is_dir());
}

#[test]
fn links_stay_within_the_image() {
    let site = UnpackFolder::new();
    let layer = Layer::default()
        .folder("usr/bin")
        .symlink("bin", "usr/bin")
        .symlink("abs", "/usr")
        .symlink("up", "../../../../usr")
        .file("bin/a", "1")
        .file("abs/b", "2")
        .file("up/c", "3")
        .link("d", "bin/a")
        .link("/e", "/usr/bin/a");
    site.unpack(&[layer.end()]).unwrap();
    assert_eq!(
        [site.text("usr/bin/a"), site.text("usr/b"), site.text("usr/c")].concat(),
        "123"
    );
    assert_eq!(fs::metadata(site.at("usr/bin/a")).unwrap().nlink(), 3);
    assert_eq!(fs::read_link(site.at("bin")).unwrap(), Path::new("usr/bin"));
    site.nothing_happened_outside();
}

#[test]
fn nothing_is_written_outside() {
    for path in ["../x", "a/../../x", "..", "/../x", "a/.."] {
        let site = UnpackFolder::new();
        let fault = site.refused(Layer::default().file(path, "bad"));
        assert!(matches!(fault, Fault::Outside), "{path}: {fault}");
    }
    // An absolute path is one within the image.
    let site = UnpackFolder::new();
    let path = format!("{}/kept", site.out());
    site.unpack(&[Layer::default().file(&path, "bad").end()]).unwrap();
    site.nothing_happened_outside();

    // Through links that are in the archive, and through one that was there.
    for target in ["/", "..", "../out", "../../../../../../.."] {
        let site = UnpackFolder::new();
        let layer = Layer::default()
            .symlink("way", target)
            .file("way/out/kept", "bad");
        site.unpack(&[layer.end()]).unwrap();
        assert_eq!(
            site.text(if target == "../out" {
                "out/out/kept"
            } else {
                "out/kept"
            }),
            "bad"
        );
        site.nothing_happened_outside();
    }
    let site = UnpackFolder::new();
    symlink(site.out(), site.at("way")).unwrap();
    site.unpack(&[Layer::default().file("way/kept", "bad").end()])
        .unwrap();
    site.nothing_happened_outside();

    // The link itself is replaced, and not what it leads to.
    let site = UnpackFolder::new();
    let kept = format!("{}/kept", site.out());
    let layer = Layer::default()
        .symlink("f", "../out/kept")
        .file("f", "bad")
        .symlink("g", "../out/kept");
    let layer = layer.raw(b"g", EntryType::Directory, b"", 0o777, b"");
    site.unpack(&[layer.end()]).unwrap();
    assert_eq!(fs::read(kept).unwrap(), b"kept");
    site.nothing_happened_outside();
}

#[test]
fn hard_links_lead_to_nothing_outside() {
    for target in ["/etc/passwd", "etc/passwd"] {
        let fault = UnpackFolder::new().refused(Layer::default().link("p", target));
        assert!(matches!(fault, Fault::Nothing), "{target}: {fault}");
    }
    let fault = UnpackFolder::new().refused(Layer::default().link("p", "../out/kept"));
    assert!(matches!(fault, Fault::Outside), "{fault}");
    let fault = UnpackFolder::new().refused(Layer::default().symlink("way", "../out").link("p", "way/kept"));
    assert!(matches!(fault, Fault::Nothing), "{fault}");
    // The link is linked, not the file behind it; what is written to it takes its place.
    let site = UnpackFolder::new();
    let layer = Layer::default()
        .symlink("way", "../out/kept")
        .link("p", "way")
        .file("p", "bad");
    site.unpack(&[layer.end()]).unwrap();
    site.nothing_happened_outside();
    let fault = UnpackFolder::new().refused(Layer::default().folder("d").link("p", "d"));
    assert!(matches!(fault, Fault::FolderLink), "{fault}");
    let site = UnpackFolder::new();
    site.unpack(&[Layer::default().file("a", "1").link("a", "a").end()])
        .unwrap();
    assert_eq!(site.text("a"), "1");
}

#[test]
fn whiteouts_hide_nothing_above() {
    for path in [".wh...", "a/.wh...", ".wh..", ".wh.", "a/../.wh.x", "../.wh.in"] {
        let fault = UnpackFolder::new().refused(Layer::default().file("a/x", "1").file(path, ""));
        assert!(
            matches!(fault, Fault::Whiteout | Fault::Outside),
            "{path}: {fault}"
        );
    }
    let site = UnpackFolder::new();
    let layer = Layer::default().symlink("way", "../out");
    let above = Layer::default()
        .file("way/.wh.kept", "")
        .file("way/.wh..wh..opq", "");
    site.unpack(&[layer.end(), above.end()]).unwrap();
    site.nothing_happened_outside();
}

#[test]
fn folders_are_bounded_however_they_are_reached() {
    let limits = Limits {
        depth: 4,
        ..Limits::default()
    };
    let deep = Layer::default().file("1/2/3/4/x", "");
    let by_link = Layer::default()
        .symlink("1/2/l", "/1/2")
        .file("1/2/l/3/4/5/x", "");
    let round = Layer::default()
        .symlink("a", "b")
        .symlink("b", "a")
        .file("a/x", "");
    let refused = |layer: Layer, limits| match UnpackFolder::new().unpack_within(&[layer.end()], limits) {
        Err(UnpackError::Entry { fault, .. }) => fault,
        other => panic!("{other:?}"),
    };
    assert!(matches!(refused(deep, limits), Fault::Deep(4)));
    assert!(matches!(refused(by_link, limits), Fault::Deep(4)));
    assert!(matches!(refused(round, limits), Fault::Links));
}

#[test]
fn what_comes_out_is_bounded() {
    let bomb = Layer::default().file("x", &"0".repeat(1 << 20)).end();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&bomb).unwrap();
    let gzip = gzip.finish().unwrap();
    assert!(gzip.len() < 4096);
    let limits = Limits {
        bytes: 1 << 19,
        ..Limits::default()
    };
    let refused = UnpackFolder::new().unpack_within(&[gzip], limits);
    assert!(matches!(refused, Err(UnpackError::Bytes(_))), "{refused:?}");

    let many = (0..20).fold(Layer::default(), |layer, n| layer.file(&n.to_string(), ""));
    let limits = Limits {
        entries: 19,
        ..Limits::default()
    };
    let refused = UnpackFolder::new().unpack_within(&[many.end()], limits);
    assert!(matches!(refused, Err(UnpackError::Entries(19))), "{refused:?}");

    // A name that would be kept in memory whole.
    let name = vec![b'x'; 8 << 20];
    let long = Layer::default()
        .raw(b"././@LongLink", EntryType::GNULongName, b"", 0, &name)
        .file("x", "");
    let refused = UnpackFolder::new().unpack(&[long.end()]);
    assert!(matches!(refused, Err(UnpackError::Archive(_))), "{refused:?}");

    // Data after the archive's end count too.
    let tail = [Layer::default().end(), vec![0; 1 << 20]].concat();
    let limits = Limits {
        bytes: 1 << 19,
        ..Limits::default()
    };
    let refused = UnpackFolder::new().unpack_within(&[tail], limits);
    assert!(matches!(refused, Err(UnpackError::Bytes(_))), "{refused:?}");
}

/// Entries below a path of 64 KiB, which each of them reaches through links of a few bytes.
fn far_below(entries: usize) -> Vec<u8> {
    const NAMES: usize = 250;
    const AT_ONCE: usize = 15;
    let names = vec!["n".repeat(255); AT_ONCE].join("/");
    let long = vec!["n".repeat(255); NAMES].join("/") + "\0";
    let mut layer = Layer::default()
        .raw(b"././@LongLink", EntryType::GNULongName, b"", 0, long.as_bytes())
        .folder("long");
    for n in 0..NAMES / AT_ONCE {
        let target = match n {
            0 => names.clone(),
            n => format!("{}/{names}", n - 1),
        };
        layer = layer
            .raw(
                b"././@LongLink",
                EntryType::GNULongLink,
                b"",
                0,
                target.as_bytes(),
            )
            .symlink(&n.to_string(), "long");
    }
    let last = NAMES / AT_ONCE - 1;
    let layer = (0..entries).fold(layer, |layer, n| {
        layer
            .file(&format!("{last}/f{n}"), "")
            .folder(&format!("{last}/d{n}"))
    });
    layer.end()
}

/// Runs an ignored test of this file in a process of its own, within what a shell sets first.
fn run_within(set: &str, test: &str) {
    let run = std::process::Command::new("sh")
        .args(["-c", &format!("{set} && exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--test-threads=1"])
        .arg(format!("unpack::tests::{test}"))
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&run.stdout);
    assert!(output.contains("1 passed"), "{run:?}");
}

#[test]
#[ignore = "run by the test below, within a bound of memory"]
fn within_little_memory() {
    let site = UnpackFolder::new();
    site.unpack(&[far_below(1000)]).unwrap();
}

#[test]
fn long_paths_are_not_kept_in_memory() {
    // Twice the KiB that it takes; the paths whole take 190 MiB.
    run_within("ulimit -v 65536", "within_little_memory");
}

#[test]
#[ignore = "run by the test below, with a umask"]
fn with_a_umask() {
    let site = UnpackFolder::new();
    site.unpack(&[Layer::default().file("a/b/x", "").end()]).unwrap();
    for path in ["", "a", "a/b"] {
        assert_eq!(
            fs::metadata(site.at(path)).unwrap().mode() & 0o777,
            0o755,
            "{path}"
        );
    }
}

#[test]
fn the_umask_is_no_part_of_an_image() {
    run_within("umask 077", "with_a_umask");
}

#[test]
fn folders_and_paths_that_are_no_entries_are_bounded() {
    let layer = || Layer::default().file("a/b/c/d/e/f", "").file("g", "");
    let refused = |limits| UnpackFolder::new().unpack_within(&[layer().end()], limits);
    let few = refused(Limits {
        entries: 6,
        ..Limits::default()
    });
    assert!(matches!(few, Err(UnpackError::Entries(6))), "{few:?}");
    let short = refused(Limits {
        path_bytes: 11,
        ..Limits::default()
    });
    assert!(matches!(short, Err(UnpackError::Paths(11))), "{short:?}");
}

#[test]
fn whiteouts_without_number_take_no_longer_than_their_files() {
    const MANY: usize = 3000;
    let below = Layer::default().file("d/in/old", "1").file("d/old", "1");
    let mut above = Layer::default();
    for n in 0..MANY {
        above = above
            .file(&format!("d/in/{n}"), "")
            .file("d/in/.wh..wh..opq", "")
            .file("d/.wh..wh..opq", "")
            .file("d/.wh.in", "");
    }
    let site = UnpackFolder::new();
    let begin = std::time::Instant::now();
    site.unpack(&[below.end(), above.end()]).unwrap();
    // With a look at each file for each whiteout, it took minutes.
    assert!(begin.elapsed().as_secs() < 30, "{:?}", begin.elapsed());
    assert!(!site.is_there("d/old") && !site.is_there("d/in/old"));
    assert_eq!(fs::read_dir(site.at("d/in")).unwrap().count(), MANY);
}

/// What is set of a folder at the end is of that folder, though the number of one that is gone
/// may be given to it.
#[test]
fn a_folder_that_is_gone_leaves_no_mode_to_another() {
    let site = UnpackFolder::new();
    let below = (0..20).fold(Layer::default(), |layer, n| {
        layer.raw(
            format!("old/{n}").as_bytes(),
            EntryType::Directory,
            b"",
            0o500,
            b"",
        )
    });
    let above = (0..20).fold(Layer::default().file("old", ""), |layer, n| {
        layer.file(&format!("new/{n}/x"), "")
    });
    site.unpack(&[below.end(), above.end()]).unwrap();
    for n in 0..20 {
        let mode = fs::metadata(site.at(&format!("new/{n}"))).unwrap().mode();
        assert_eq!(mode & 0o700, 0o700);
    }
}

#[test]
fn what_is_broken_is_refused() {
    let whole = Layer::default().file("a", &"1".repeat(3000)).end();
    let refused = UnpackFolder::new().unpack(&[whole[..2000].to_vec()]);
    assert!(
        matches!(
            refused,
            Err(UnpackError::Entry {
                fault: Fault::Short,
                ..
            })
        ),
        "{refused:?}"
    );
    let mut lies = whole.clone();
    let mut header = Header::new_gnu();
    header.as_mut_bytes().copy_from_slice(&lies[..512]);
    header.set_size(1 << 40);
    header.set_cksum();
    lies[..512].copy_from_slice(header.as_bytes());
    let refused = UnpackFolder::new().unpack(&[lies]);
    assert!(
        matches!(
            refused,
            Err(UnpackError::Entry {
                fault: Fault::Short,
                ..
            })
        ),
        "{refused:?}"
    );
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&whole).unwrap();
    let gzip = gzip.finish().unwrap();
    assert!(
        UnpackFolder::new()
            .unpack(&[gzip[..gzip.len() - 4].to_vec()])
            .is_err()
    );
    assert!(
        UnpackFolder::new()
            .unpack(&[b"no archive at all, but some text".repeat(40)])
            .is_err()
    );
    let refused =
        UnpackFolder::new().refused(Layer::default().raw(b".", EntryType::Regular, b"", 0o644, b"x"));
    assert!(matches!(refused, Fault::Top), "{refused}");
}

#[test]
fn devices_are_left_out_and_counted() {
    let site = UnpackFolder::new();
    let below = Layer::default().file("dev/null", "a file").file("pipe/x", "1");
    let layer = Layer::default()
        .raw(b"dev/sda", EntryType::Block, b"", 0o666, b"")
        .raw(b"dev/null", EntryType::Char, b"", 0o666, b"")
        .link("dev/zero", "/dev/null")
        .link("dev/full", "./dev/zero")
        .raw(b"pipe", EntryType::Fifo, b"", 0o666, b"")
        .raw(b"far/pipe", EntryType::Fifo, b"", 0o666, b"")
        .file("x", "1");
    let counts = site.unpack(&[below.end(), layer.end()]).unwrap();
    assert_eq!(
        counts,
        Counts {
            entries: 9,
            left_out: 6
        }
    );
    // They take the place of what had their names all the same.
    let left = fs::read_dir(site.at("")).unwrap().count() + fs::read_dir(site.at("dev")).unwrap().count();
    assert_eq!(left, 2);
}

#[test]
fn modes_times_names_and_holes_are_kept() {
    let site = UnpackFolder::new();
    let odd = b"odd-\xff\xfe-name";
    let mut layer = Layer::default()
        .raw(b"locked", EntryType::Directory, b"", 0o500, b"")
        .file("locked/x", "1")
        .raw(b"su", EntryType::Regular, b"", 0o4755, b"1")
        .raw(odd, EntryType::Regular, b"", 0o640, &vec![0; 1 << 20])
        .0;
    let long = "n".repeat(150) + "/" + &"m".repeat(150);
    let mut builder = Builder::new(&mut layer);
    let mut header = Header::new_gnu();
    header.set_size(1);
    header.set_mode(0o600);
    header.set_uid(u64::from(rustix::process::geteuid().as_raw()));
    header.set_gid(u64::from(rustix::process::getegid().as_raw()));
    builder.append_data(&mut header, &long, &b"L"[..]).unwrap();
    let pax = [("path", "by-pax".as_bytes()), ("mtime", b"1500000000.25")];
    builder.append_pax_extensions(pax).unwrap();
    builder.append_data(&mut header, "short", &b"P"[..]).unwrap();
    drop(builder);
    site.unpack(&[layer]).unwrap();
    let meta = |path: &str| fs::metadata(site.at(path)).unwrap();
    assert_eq!(meta("locked").mode() & 0o7777, 0o500);
    assert_eq!(
        (meta("locked").mtime(), meta("locked/x").mtime()),
        (1_600_000_000, 1_600_000_000)
    );
    assert_eq!(meta("su").mode() & 0o7777, 0o4755);
    assert_eq!(site.text(&long), "L");
    assert_eq!(
        (meta("by-pax").mtime(), meta("by-pax").mtime_nsec()),
        (1_500_000_000, 250_000_000)
    );
    let hole = fs::metadata(site.at("").join(OsStr::from_bytes(odd))).unwrap();
    assert_eq!((hole.len(), hole.mode() & 0o777), (1 << 20, 0o640));
    assert!(hole.blocks() < 64, "{}", hole.blocks());
}

/// An archive by the `tar` of the host, which writes sparse files in both forms.
#[test]
fn sparse_files_of_gnu_tar_are_read_or_refused() {
    for (format, is_read) in [("gnu", true), ("posix", false)] {
        let site = UnpackFolder::new();
        let from = tempfile::tempdir().unwrap();
        let file = fs::File::create(from.path().join("big")).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, b"end", 5_000_000).unwrap();
        let format = format!("--format={format}");
        let mut tar = std::process::Command::new("tar");
        tar.args(["-cS", &format, "-C"]).arg(from.path()).arg("big");
        let archive = tar.output().unwrap().stdout;
        assert!(archive.len() < 100_000);
        match site.unpack(std::slice::from_ref(&archive)) {
            Ok(_) => {
                assert!(is_read);
                let mut all = Vec::new();
                fs::File::open(site.at("big"))
                    .unwrap()
                    .read_to_end(&mut all)
                    .unwrap();
                let limits = Limits {
                    bytes: 1_000_000,
                    ..Limits::default()
                };
                let refused = UnpackFolder::new().unpack_within(&[archive], limits);
                assert!(matches!(refused, Err(UnpackError::Bytes(_))), "{refused:?}");
                assert_eq!((all.len(), all.ends_with(b"end")), (5_000_003, true));
            }
            Err(e) => assert!(!is_read && e.to_string().contains("pax"), "{e}"),
        }
    }
}

proptest::proptest! {
    /// Whatever names an archive bears and whatever they are: it ends, and nothing changes outside.
    #[test]
    fn no_archive_leads_out(entries in proptest::collection::vec((0..6_usize, 0..40_usize, 0..40_usize), 1..12)) {
        const NAMES: [&str; 10] = [
            "..", "a", "b", "a/b", "b/a", "/", ".wh.a", "a/.wh..wh..opq", "a/out/kept", "../out/kept",
        ];
        let site = UnpackFolder::new();
        let name = |n: usize| format!("{}/{}", NAMES[n % 10], NAMES[n / 4]);
        let layer = entries.iter().fold(Layer::default(), |layer, (kind, path, link)| {
            let (path, link) = (name(*path), name(*link));
            match kind {
                0 => layer.file(&path, "bad"),
                1 => layer.folder(&path),
                2 | 3 => layer.symlink(&path, &link),
                4 => layer.link(&path, &link),
                _ => layer.file(NAMES[path.len() % 10], "bad"),
            }
        });
        drop(site.unpack(&[layer.end()]));
        site.nothing_happened_outside();
    }

    /// Any bytes are an archive or an error.
    #[test]
    fn broken_archives_are_errors(at in 0..2560_usize, byte: u8, keep in 0..4096_usize) {
        let site = UnpackFolder::new();
        let mut bytes = Layer::default().file("a", &"1".repeat(600)).symlink("b", "a").end();
        bytes[at] = byte;
        bytes.truncate(keep);
        drop(site.unpack(&[bytes]));
        site.nothing_happened_outside();
    }
}
