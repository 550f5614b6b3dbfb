//! What of a study cannot go well, as far as it can be told before the first trial.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::study::Study;
use tare_model::workload::{Role, Run, Workload};

/// A workload that cannot run in boxes of some platforms: its trials there are skipped.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Barred {
    pub workload: String,
    /// The platforms, in the order of the study.
    pub platforms: Vec<PlatformPath>,
    /// Why, and the ways out.
    pub why: String,
}

/// Platforms whose boxes cannot be pinned: trials in pinned boxes are skipped.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Unpinned {
    /// The platforms, in the order of the study.
    pub platforms: Vec<PlatformPath>,
    /// Why, and the ways out.
    pub why: String,
}

/// Files of this host that a command names and boxes of some platforms do not have.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct LeftBehind {
    /// The workload's name.
    pub workload: String,
    pub files: Vec<NamedFile>,
    /// Whether a workload file describes it, rather than the command line.
    #[serde(skip)]
    pub is_of_file: bool,
    /// The platforms, in the order of the study.
    pub platforms: Vec<PlatformPath>,
}

/// A file that a command names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
pub struct NamedFile {
    /// As the command names it.
    pub name: String,
    /// Its absolute path.
    pub path: String,
    /// Whether boxes have it at that path, but not as the command names it.
    pub copied: bool,
}

/// What can be told before the first trial.
#[derive(Debug, Default, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Foresight {
    /// What cannot run, one entry for each workload and reason.
    #[serde(rename = "cannot_run")]
    pub barred: Vec<Barred>,
    /// Platforms without pinned boxes.
    #[serde(rename = "cannot_pin")]
    pub unpinned: Option<Unpinned>,
    /// What will probably fail, one entry for each workload.
    pub left_behind: Vec<LeftBehind>,
}

/// The row of a plan for what is [`Foresight::barred`].
pub const CANNOT_RUN: &str = "cannot run";
/// The row of a plan for what is [`Foresight::unpinned`].
pub const NOT_PINNED: &str = "not pinned";

/// That a study would end without what it is for.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Futile {
    /// No box can run anything.
    #[error("nothing can be measured: {why}")]
    NothingRuns {
        /// Of the first workload, why.
        why: String,
    },
    /// What can run has nothing to compare it with.
    #[error(
        "nothing can be compared: of {platforms} only {runs} can run {workload}; '{row}' says how to fix it, or measure only -p {runs}"
    )]
    NothingCompared {
        /// The platforms of the study.
        platforms: String,
        workload: String,
        /// The platform that can run it.
        runs: PlatformPath,
        /// The row of the plan that has the reason.
        row: &'static str,
    },
}

impl Foresight {
    /// Of a study, where boxes of `bare` platforms have none of the host's files.
    pub(super) fn of(study: &Study, bare: &[PlatformPath]) -> Self {
        let barred = study
            .workloads
            .iter()
            .filter_map(|workload| behind_barrier(study, workload));
        if bare.is_empty() {
            return Self {
                barred: barred.collect(),
                ..Self::default()
            };
        }
        let host_only = study.workloads.iter().filter_map(|workload| {
            Some(Barred {
                workload: workload.name().to_owned(),
                platforms: bare.to_vec(),
                why: workload.boxed().find_map(|role| role.host_only.clone())?,
            })
        });
        let barred = barred.chain(host_only);
        Self {
            barred: barred.collect(),
            left_behind: all_left_behind(study, bare, |_| true),
            ..Self::default()
        }
    }

    /// Of boxes with an image, which may have files that nobody here knows: those that are copied beside it under another name.
    pub(super) fn with_image(mut self, study: &Study) -> Self {
        self.left_behind = all_left_behind(study, &study.platforms, |file| file.copied);
        self
    }

    /// Whether it is worth to begin.
    ///
    /// # Errors
    /// [`Futile`]: nothing can be measured, or nothing compared where that was asked for.
    pub fn worth(&self, study: &Study) -> Result<(), Futile> {
        let able: Vec<Able<'_>> = study.workloads.iter().map(|w| self.able(study, w)).collect();
        if able.iter().all(|able| able.platforms.is_empty()) {
            let barred = self.barred.first().map(|barred| &barred.why);
            let why = barred.or_else(|| self.unpinned.as_ref().map(|unpinned| &unpinned.why));
            return why.map_or(Ok(()), |why| Err(Futile::NothingRuns { why: why.clone() }));
        }
        let compared =
            |able: &Able<'_>| able.platforms.len() > 1 && able.platforms.contains(&&study.baseline);
        if study.platforms.len() == 1 || able.iter().any(compared) {
            return Ok(());
        }
        let alone = able
            .iter()
            .find_map(|able| Some((able.workload, *able.platforms.first()?)));
        alone.map_or(Ok(()), |(workload, runs)| {
            let platforms: Vec<String> = study.platforms.iter().map(ToString::to_string).collect();
            Err(Futile::NothingCompared {
                platforms: platforms.join(", "),
                workload: workload.to_owned(),
                runs: runs.clone(),
                row: if self.barred.iter().any(|barred| barred.workload == workload) {
                    CANNOT_RUN
                } else {
                    NOT_PINNED
                },
            })
        })
    }

    /// The platforms that can run a workload.
    fn able<'a>(&self, study: &'a Study, workload: &'a Workload) -> Able<'a> {
        let barred = || self.barred.iter().filter(|b| b.workload == workload.name());
        let unpinned = self.unpinned.as_ref();
        let unpinned =
            |path: &PlatformPath| unpinned.is_some_and(|unpinned| unpinned.platforms.contains(path));
        let is_vanilla = study.provisioning.contains(&Provisioning::Vanilla);
        let can = |path: &&PlatformPath| {
            !barred().any(|barred| barred.platforms.contains(path)) && (is_vanilla || !unpinned(path))
        };
        Able {
            workload: workload.name(),
            platforms: study.platforms.iter().filter(can).collect(),
        }
    }
}

/// The platforms of a study in whose boxes a workload cannot run by what its file says.
fn behind_barrier(study: &Study, workload: &Workload) -> Option<Barred> {
    let barrier = workload.cannot_run.as_ref()?;
    let barred = study.platforms.iter().filter(|path| barrier.bars(path));
    let platforms: Vec<PlatformPath> = barred.cloned().collect();
    (!platforms.is_empty()).then(|| Barred {
        workload: workload.name().to_owned(),
        platforms,
        why: barrier.why.clone(),
    })
}

/// What boxes of these platforms lack of such files, by workload.
fn all_left_behind(
    study: &Study,
    platforms: &[PlatformPath],
    such: impl Fn(&NamedFile) -> bool,
) -> Vec<LeftBehind> {
    let of = |workload: &Workload| {
        let files: Vec<NamedFile> = workload.boxed().flat_map(left_behind).filter(&such).collect();
        (!files.is_empty()).then(|| LeftBehind {
            workload: workload.name().to_owned(),
            files,
            is_of_file: !workload.about.is_empty(),
            platforms: platforms.to_vec(),
        })
    };
    study.workloads.iter().filter_map(of).collect()
}

/// A workload, and the platforms that can run it.
struct Able<'a> {
    workload: &'a str,
    platforms: Vec<&'a PlatformPath>,
}

/// Places of which every box has its own, with what stands in them.
const EVERYWHERE: [&str; 3] = ["/dev", "/proc", "/sys"];
/// One that every box has, empty.
const EMPTY: &str = "/tmp";

/// Files that a command names which are on this host, and which boxes do not have under that name, each once.
fn left_behind(role: &Role) -> Vec<NamedFile> {
    let Run::Command(run) = &role.run else {
        return Vec::new();
    };
    let named = run.argv.iter().skip(1).flat_map(|argument| {
        // `--input=data` and `of=/srv/out` name files too.
        let value = argument.split_once('=').map(|(_, value)| value);
        std::iter::once(argument.as_str()).chain(value)
    });
    // An interpreter that is copied for a script is among the files.
    let programs = run.argv.first().into_iter().chain(&role.files);
    let modules = programs.filter_map(|program| python_modules(program));
    let found = named
        .map(str::to_owned)
        .chain(modules)
        .filter_map(|name| Some((name.clone(), on_host(&name)?)))
        .map(|(name, path)| NamedFile {
            name,
            copied: is_in_boxes(&path, &role.files),
            path: path.to_string_lossy().into_owned(),
        })
        .filter(|file| !file.copied || Path::new(&file.name).is_relative());
    found.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The folder of Python's own modules, without which it does not start: `/usr/lib/python3.11` of
/// `/usr/bin/python3`.
fn python_modules(program: &str) -> Option<String> {
    let program = Path::new(program).canonicalize().ok()?;
    let version = program.file_name()?.to_str()?;
    let modules = program.parent()?.parent()?.join("lib").join(version);
    (version.starts_with("python3.") && modules.is_dir()).then(|| modules.display().to_string())
}

/// The absolute path of a file that is there.
fn on_host(name: &str) -> Option<PathBuf> {
    if name.is_empty() || name.starts_with('-') {
        return None;
    }
    let path = std::path::absolute(name).ok()?;
    path.symlink_metadata().ok()?;
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    Some(plain)
}

/// Whether boxes have this file, or at least one below it.
fn is_in_boxes(path: &Path, copied: &[String]) -> bool {
    path.parent().is_none()
        || path == Path::new(EMPTY)
        || EVERYWHERE.iter().any(|place| path.starts_with(place))
        || copied.iter().any(|file| Path::new(file).starts_with(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_model::catalogue;
    use tare_model::workload::CommandRun;

    fn role(argv: &[&str], files: &[&str]) -> Role {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let argv = owned(argv);
        Role {
            files: owned(files),
            ..catalogue::main(Run::Command(CommandRun { argv }))
        }
    }

    #[test]
    fn a_file_of_the_host_that_is_not_copied_is_named() {
        let root = tempfile::tempdir().unwrap();
        let kept = root.path().join("data");
        std::fs::write(&kept, "").unwrap();
        let (kept, option) = (kept.display().to_string(), format!("--in={}", kept.display()));
        let nothing = role(&["/bin/x", "-v", "1", "/", "/tmp", "/dev/null", "/no/such"], &[]);
        assert!(left_behind(&nothing).is_empty());
        let both = left_behind(&role(&["/bin/x", &kept, &option], &["/bin/x"]));
        let named = NamedFile {
            name: kept.clone(),
            path: kept.clone(),
            copied: false,
        };
        assert_eq!(both, [named]);
        assert!(left_behind(&role(&["/bin/x", &kept], &["/bin/x", &kept])).is_empty());
        let above = root.path().display().to_string();
        assert!(left_behind(&role(&["/bin/x", &above], &[&kept])).is_empty());
    }

    #[test]
    fn python_needs_its_modules() {
        let root = tempfile::tempdir().unwrap();
        let [bin, lib] = ["bin", "lib/python3.99"].map(|name| root.path().join(name));
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::create_dir_all(&lib).unwrap();
        std::fs::write(bin.join("python3.99"), "").unwrap();
        std::os::unix::fs::symlink("python3.99", bin.join("python3")).unwrap();
        let python = bin.join("python3").display().to_string();
        let left = left_behind(&role(&[&python, "-c", "pass"], &[&python]));
        let path = lib.canonicalize().unwrap().display().to_string();
        assert_eq!(left.iter().map(|file| &file.path).collect::<Vec<_>>(), [&path]);
        let script = left_behind(&role(&["/srv/script"], &["/srv/script", &python]));
        assert_eq!(script, left);
        let module = lib.join("os.py").display().to_string();
        assert!(left_behind(&role(&[&python], &[&python, &module])).is_empty());
    }

    #[test]
    fn a_relative_name_is_told_with_its_absolute_path() {
        // Tests run in the folder of their package.
        let found = left_behind(&role(&["/bin/x", "src/../Cargo.toml"], &[]));
        assert_eq!(found[0].name, "src/../Cargo.toml");
        let here = std::env::current_dir().unwrap();
        let path = here.join("Cargo.toml");
        assert_eq!(Path::new(&found[0].path), path);
        let copied = left_behind(&role(&["/bin/x", "Cargo.toml"], &[&path.display().to_string()]));
        assert_eq!([found[0].copied, copied[0].copied], [false, true]);
    }
}
