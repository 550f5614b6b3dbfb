//! The libraries that a loader would find for a program (ld.so(8); musl's `ldso/dynlink.c`).

use crate::carry::CarryError;
use crate::linked::{Kind, Linked};
use elf::abi;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

const CACHE: &str = "/etc/ld.so.cache";
const CACHE_MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
/// The cache's header and one entry of it, in bytes.
const CACHE_HEADER: usize = 48;
const CACHE_ENTRY: usize = 24;
/// Set for libraries of a CPU's level; any other bit is of a CPU that glibc before 2.33 knew by name.
const CACHE_LEVEL: u64 = 1 << 62;

/// The folder of libraries for CPUs of a level, below one of libraries for any.
const LEVELS: &str = "glibc-hwcaps";

/// Bounds for what a stranger's program may ask for; browsers and office suites need some 200 libraries.
const MOST_LIBRARIES: usize = 2048;
const MOST_FOLDERS: usize = 64;
const TOO_MANY: &str = "it needs more than 2048 libraries";

/// Names that musl keeps for itself: its loader holds them all.
const MUSL_OWN: [&str; 7] = [
    "libc",
    "libpthread",
    "librt",
    "libm",
    "libdl",
    "libutil",
    "libxnet",
];

/// All libraries of a program, without its loader.
///
/// # Errors
/// [`CarryError::NoLibrary`], and `Unfit` for one of too many.
pub(crate) fn of(program: &Path, linked: Linked, loader: &Path) -> Result<Vec<PathBuf>, CarryError> {
    let mut search = Search::new(program, linked, loader);
    let mut next = 0;
    while next < search.found.len() {
        for name in std::mem::take(&mut search.found[next].linked.needed) {
            search.add(&name, next)?;
        }
        next += 1;
    }
    Ok(search.found.into_iter().skip(1).map(|one| one.path).collect())
}

/// A program or a library that was found.
struct Found {
    path: PathBuf,
    linked: Linked,
    /// Which one needs it; the program itself.
    by: usize,
}

/// As a loader that finds libraries for one program.
struct Search {
    kind: Kind,
    is_musl: bool,
    /// Where to look first: `LD_LIBRARY_PATH`.
    first: Vec<String>,
    /// Where to look last.
    last: Vec<PathBuf>,
    cache: Vec<u8>,
    levels: Vec<&'static str>,
    /// The program, and all that was found for it.
    found: Vec<Found>,
    names: HashSet<String>,
}

impl Search {
    fn new(program: &Path, linked: Linked, loader: &Path) -> Self {
        let name = loader.file_name().unwrap_or_default().to_string_lossy();
        let is_musl = name.starts_with("ld-musl-");
        let of_loader = Linked::read(loader).and_then(|linked| linked.soname);
        let first = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
        Self {
            kind: linked.kind,
            is_musl,
            first: first
                .split([':', ';'])
                .filter(|folder| !folder.is_empty())
                .map(str::to_owned)
                .collect(),
            last: if is_musl {
                musl_folders(loader)
            } else {
                glibc_folders(linked.kind)
            },
            cache: if is_musl { Vec::new() } else { read_cache() },
            levels: if is_musl { Vec::new() } else { levels() },
            names: of_loader.into_iter().chain([name.into_owned()]).collect(),
            found: vec![Found {
                path: program.to_owned(),
                linked,
                by: 0,
            }],
        }
    }

    /// Finds a library that one of those that were found needs.
    fn add(&mut self, name: &str, by: usize) -> Result<(), CarryError> {
        if self.is_of_loader(name) || !self.names.insert(name.to_owned()) {
            return Ok(());
        }
        let program = &self.found[0].path;
        if self.found.len() > MOST_LIBRARIES {
            return Err(CarryError::Unfit {
                path: program.clone(),
                why: TOO_MANY,
            });
        }
        let (path, linked) = self.find(name, by).ok_or_else(|| CarryError::NoLibrary {
            program: program.clone(),
            library: name.to_owned(),
        })?;
        self.names.extend(linked.soname.clone());
        self.found.push(Found { path, linked, by });
        Ok(())
    }

    fn is_of_loader(&self, name: &str) -> bool {
        let stem = name.split('.').next().unwrap_or_default();
        self.is_musl && stem.len() < name.len() && MUSL_OWN.contains(&stem)
    }

    fn find(&self, name: &str, by: usize) -> Option<(PathBuf, Linked)> {
        if name.contains('/') {
            let mut paths = expanded(name, &self.found[by].path).into_iter();
            return paths.find_map(|path| self.fits(path));
        }
        let in_folders = |folders: &[PathBuf]| {
            let mut paths = folders.iter().flat_map(|folder| self.in_folder(folder, name));
            paths.find_map(|path| self.fits(path))
        };
        in_folders(&self.folders(by))
            .or_else(|| self.in_cache(name))
            .or_else(|| in_folders(&self.last))
    }

    /// The library at this path, if the program can be linked with it.
    fn fits(&self, path: PathBuf) -> Option<(PathBuf, Linked)> {
        let path = std::path::absolute(path).ok()?;
        let linked = Linked::read(&path)?;
        (linked.kind == self.kind).then_some((path, linked))
    }

    /// The folders that the environment, the one that needs a library, and those that need that one name.
    fn folders(&self, by: usize) -> Vec<PathBuf> {
        let needs = &self.found[by];
        let first = self.first.iter().map(|folder| (folder, &self.found[0]));
        let all: Vec<(&String, &Found)> = if self.is_musl {
            first.chain(self.inherited(by)).collect()
        } else if needs.linked.runpath.is_empty() {
            self.inherited(by).chain(first).collect()
        } else {
            let own = needs.linked.runpath.iter().map(|folder| (folder, needs));
            first.chain(own).collect()
        };
        let all = all.into_iter().take(MOST_FOLDERS);
        all.flat_map(|(folder, of)| expanded(folder, &of.path)).collect()
    }

    /// The folders of one and of those above it, for all that they need.
    fn inherited(&self, by: usize) -> impl Iterator<Item = (&String, &Found)> {
        let above = std::iter::successors(Some(by), |&one| (one != 0).then(|| self.found[one].by));
        above.flat_map(|one| {
            let found = &self.found[one];
            self.passed_on(&found.linked)
                .iter()
                .map(move |folder| (folder, found))
        })
    }

    /// glibc keeps the newer table for the file that has it, musl takes both for the same.
    fn passed_on<'a>(&self, linked: &'a Linked) -> &'a [String] {
        match linked.runpath.is_empty() {
            true => &linked.rpath,
            false if self.is_musl => &linked.runpath,
            false => &[],
        }
    }

    /// Where a folder may have a library: that for the CPU before that for all.
    fn in_folder(&self, folder: &Path, name: &str) -> Vec<PathBuf> {
        let levels = self.levels.iter();
        let of_levels = levels.map(|level| folder.join(LEVELS).join(level).join(name));
        of_levels.chain([folder.join(name)]).collect()
    }

    fn in_cache(&self, name: &str) -> Option<(PathBuf, Linked)> {
        let mut paths: Vec<(usize, PathBuf)> = (0..)
            .map_while(|nth| cached(&self.cache, nth))
            .filter(|(cached, _)| *cached == name.as_bytes())
            .filter_map(|(_, path)| Some((self.rank(path?)?, PathBuf::from(path?))))
            .collect();
        paths.sort_by_key(|(rank, _)| *rank);
        paths.into_iter().find_map(|(_, path)| self.fits(path))
    }

    /// The place of a path among those of one library, the best first; `None` if it is for other CPUs.
    fn rank(&self, path: &str) -> Option<usize> {
        let mut parts = path.split('/').skip_while(|part| *part != LEVELS).skip(1);
        let Some(level) = parts.next() else {
            return Some(self.levels.len());
        };
        self.levels.iter().position(|known| *known == level)
    }
}

/// The paths that a name may stand for in the tables of a file.
fn expanded(name: &str, of: &Path) -> Vec<PathBuf> {
    let put = |text: &str, token: &str, value: &str| {
        text.replace(&format!("${{{token}}}"), value)
            .replace(&format!("${token}"), value)
    };
    let origin = of.parent().unwrap_or(of).to_string_lossy();
    let arch = std::env::consts::ARCH;
    let name = put(&put(name, "ORIGIN", &origin), "PLATFORM", arch);
    let folders = [
        format!("lib/{arch}-linux-gnu"),
        "lib64".to_owned(),
        "lib".to_owned(),
    ];
    let mut paths: Vec<PathBuf> = folders.iter().map(|lib| put(&name, "LIB", lib).into()).collect();
    paths.dedup();
    paths
}

fn glibc_folders(kind: Kind) -> Vec<PathBuf> {
    let arch = match kind.machine {
        abi::EM_386 => "i386",
        _ => std::env::consts::ARCH,
    };
    let names = [
        format!("lib/{arch}-linux-gnu"),
        "lib64".to_owned(),
        "lib".to_owned(),
    ];
    let folders = names
        .iter()
        .flat_map(|name| ["/", "/usr"].map(|above| Path::new(above).join(name)));
    folders.collect()
}

/// Those that the file beside musl's loader names, or its own.
fn musl_folders(loader: &Path) -> Vec<PathBuf> {
    let file = || {
        let name = loader.file_name()?.to_str()?.split_once(".so")?.0;
        Some(loader.parent()?.parent()?.join(format!("etc/{name}.path")))
    };
    let listed = file().and_then(|file| std::fs::read_to_string(file).ok());
    let listed = listed.unwrap_or_else(|| "/lib:/usr/local/lib:/usr/lib".to_owned());
    let folders = listed.split([':', '\n']).filter(|folder| !folder.is_empty());
    folders.map(PathBuf::from).collect()
}

fn read_cache() -> Vec<u8> {
    let bytes = std::fs::read(CACHE).unwrap_or_default();
    // A cache of an older format may come before it.
    let at = bytes
        .windows(CACHE_MAGIC.len())
        .position(|window| window == CACHE_MAGIC);
    at.map_or_else(Vec::new, |at| bytes[at..].to_vec())
}

/// The name and the path of the so many-th library in the cache; no path of one for CPUs of old.
fn cached(cache: &[u8], nth: usize) -> Option<(&[u8], Option<&str>)> {
    let number = |at: usize| Some(u32::from_ne_bytes(cache.get(at..at + 4)?.try_into().ok()?));
    if nth >= number(CACHE_MAGIC.len())? as usize {
        return None;
    }
    let string = |at: u32| cache.get(at as usize..)?.split(|byte| *byte == 0).next();
    let entry = CACHE_HEADER + nth * CACHE_ENTRY;
    let hwcap = u64::from_ne_bytes(cache.get(entry + 16..entry + 24)?.try_into().ok()?);
    let is_usable = hwcap == 0 || hwcap & CACHE_LEVEL != 0;
    let path = string(number(entry + 8)?)?;
    let path = std::str::from_utf8(path).ok().filter(|_| is_usable);
    Some((string(number(entry + 4)?)?, path))
}

/// The levels of this CPU, the highest first (x86-64 psABI, 3.1.1).
#[cfg(target_arch = "x86_64")]
fn levels() -> Vec<&'static str> {
    use std::arch::is_x86_feature_detected as has;
    let v2 = has!("cmpxchg16b") && has!("popcnt") && has!("sse4.2") && has!("ssse3");
    let v3 = v2 && has!("avx2") && has!("bmi1") && has!("bmi2") && has!("f16c") && has!("fma");
    let v3 = v3 && has!("lzcnt") && has!("movbe");
    let v4 = v3 && has!("avx512f") && has!("avx512bw") && has!("avx512cd");
    let v4 = v4 && has!("avx512dq") && has!("avx512vl");
    let all = [(v4, "x86-64-v4"), (v3, "x86-64-v3"), (v2, "x86-64-v2")];
    all.into_iter()
        .filter_map(|(has, level)| has.then_some(level))
        .collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn levels() -> Vec<&'static str> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carry;
    use std::collections::BTreeSet;
    use std::process::Command;

    /// As a loader lists them that is run.
    fn listed(loader: &str, program: &Path) -> BTreeSet<PathBuf> {
        let output = Command::new(loader).arg("--list").arg(program).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let paths = text
            .lines()
            .filter_map(|line| line.split("=> ").nth(1)?.split(' ').next());
        let paths = paths.filter(|path| path.starts_with('/') && *path != loader);
        paths.map(|path| std::path::absolute(path).unwrap()).collect()
    }

    fn found(program: &Path) -> (String, BTreeSet<PathBuf>) {
        let linked = Linked::read(program).unwrap();
        let loader = linked.interpreter.clone().unwrap();
        let found = of(program, linked, Path::new(&loader)).unwrap();
        (loader, found.into_iter().collect())
    }

    #[test]
    fn the_libraries_of_the_hosts_programs_are_those_that_their_loader_lists() {
        let names = [
            "sh",
            "ls",
            "bash",
            "perl",
            "gcc",
            "ld",
            "git",
            "java",
            "dockerd",
            "runc",
            "ssh",
            "qemu-system-x86_64",
            "systemctl",
            "mount",
            "/usr/bin/python3",
        ];
        let programs = names.iter().filter_map(|name| carry::find_program(name).ok());
        let mut linked = 0;
        for program in programs.map(|program| program.canonicalize().unwrap()) {
            if carry::needs(&program).is_ok_and(|needed| matches!(needed[..], [carry::Needs::Loader(_)])) {
                let (loader, found) = found(&program);
                assert_eq!(found, listed(&loader, &program), "{}", program.display());
                linked += 1;
            }
        }
        assert!(linked > 3, "{linked}");
    }

    /// Makes a library, or with a loader a program, that needs those libraries.
    fn link(folder: &Path, name: &str, options: &[&str]) {
        std::fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        let mut gcc = Command::new("gcc");
        gcc.args([
            "-nostdlib",
            "-x",
            "c",
            "/dev/null",
            "-x",
            "none",
            "-Wl,--no-as-needed",
            "-Wl,-e,0",
        ]);
        let made = gcc.args(options).arg("-o").arg(name).current_dir(folder).status();
        assert!(made.unwrap().success(), "{name}");
    }

    const GLIBC: &str = "-Wl,-I,/lib64/ld-linux-x86-64.so.2";
    const MUSL: &str = "-Wl,-I,/lib/ld-musl-x86_64.so.1";
    const OLDER: &str = "-Wl,--disable-new-dtags";
    const NEWER: &str = "-Wl,--enable-new-dtags";

    /// A library in a folder that only the program names, which needs one beside it that it does not
    /// say where to find; and with the newer table one that does.
    #[test]
    fn folders_that_files_name_are_searched_as_their_loader_does() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        link(at, "lib/libb.so", &["-shared", "-Wl,-soname,libb.so"]);
        link(
            at,
            "lib/liba.so",
            &["-shared", "lib/libb.so", "-Wl,-soname,liba.so"],
        );
        link(
            at,
            "lib/libc2.so",
            &[
                "-shared",
                "lib/libb.so",
                "-Wl,-soname,libc2.so",
                "-Wl,-rpath,$ORIGIN",
                NEWER,
            ],
        );
        let rpath = "-Wl,-rpath,${ORIGIN}/nowhere:$ORIGIN/lib";
        let unresolved = "-Wl,--unresolved-symbols=ignore-all";
        let programs = [
            ("older", GLIBC, "lib/liba.so", OLDER),
            ("newer", GLIBC, "lib/libc2.so", NEWER),
            ("musl-older", MUSL, "lib/liba.so", OLDER),
            ("musl-newer", MUSL, "lib/liba.so", NEWER),
        ];
        for (name, loader, library, table) in programs {
            link(at, name, &["-pie", loader, library, rpath, table, unresolved]);
            if Linked::read(Path::new(loader.rsplit(',').next().unwrap())).is_some() {
                let (loader, found) = found(&at.join(name));
                assert!(found.contains(&at.join("lib/libb.so")), "{name}: {found:?}");
                assert_eq!(found, listed(&loader, &at.join(name)), "{name}");
            }
        }
        // The newer table is for what the program itself needs.
        link(
            at,
            "lacks",
            &["-pie", GLIBC, "lib/liba.so", rpath, NEWER, unresolved],
        );
        let linked = Linked::read(&at.join("lacks")).unwrap();
        let told = of(
            &at.join("lacks"),
            linked,
            Path::new("/lib64/ld-linux-x86-64.so.2"),
        )
        .unwrap_err();
        assert!(told.to_string().contains("needs the library libb.so"), "{told}");
    }

    #[test]
    fn no_byte_of_a_program_makes_the_search_panic() {
        use proptest::prelude::*;
        let program = std::fs::read(carry::find_program("sh").unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let changed = proptest::collection::vec((0..program.len().min(4096), any::<u8>()), 1..20);
        proptest!(ProptestConfig::with_cases(100), |(changes in changed)| {
            let mut bytes = program.clone();
            for (at, byte) in changes {
                bytes[at] = byte;
            }
            std::fs::write(&path, bytes).unwrap();
            if let Some(linked) = Linked::read(&path) {
                let _ = of(&path, linked, Path::new("/nowhere"));
            }
        });
    }
}
