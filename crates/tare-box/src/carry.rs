//! Carrying a user's command into boxes that do not have the host's files.

use crate::libraries;
use crate::linked::Linked;
use crate::script::{LONGEST_LINE, ScriptLine};
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, mkdirat, openat, openat2, unlinkat};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};
use std::fs::{File, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Component, Path, PathBuf};
use tare_sys::regular;

/// Search path of every process in a box.
pub const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Largest file that is carried into a box, in bytes.
pub const MAX_FILE: u64 = 512 << 20;

const NO_FILE: &str = "it is neither a file nor a folder";
const NOT_ELF: &str = "it is not an ELF file, which a loader and what it loads must be";
const RELATIVE: &str = "the interpreter in its first line is no absolute path: write '#!/bin/sh', or '#!/usr/bin/env' with the interpreter's name";
const TOO_LARGE: &str = "it exceeds 512 MiB";

/// Why a command cannot be carried.
#[derive(Debug, thiserror::Error)]
pub enum CarryError {
    /// No such program.
    #[error("there is no program '{0}' on PATH: check the name, or give its path, such as ./{0}")]
    NotFound(String),
    /// A line for a shell in the place of a program.
    #[error("there is no program '{0}': a line for a shell needs one, as in sh -c '{0}'")]
    ShellLine(String),
    /// No file at the program's path.
    #[error("there is no file {0}: check the path of the program")]
    NoFile(PathBuf),
    /// A folder in the program's place.
    #[error("{0} is a folder, not a program: give the path of a program in it")]
    Folder(PathBuf),
    /// A file that nobody may run, or not this user.
    #[error(
        "{0} is not executable: make it so with 'chmod +x {0}', or put its interpreter before it, such as sh {0}"
    )]
    NotExecutable(PathBuf),
    /// The program's file cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable { path: PathBuf, source: std::io::Error },
    /// The first line of a script starts nothing.
    #[error("{script} cannot run: {fault}")]
    Script { script: PathBuf, fault: &'static str },
    /// The interpreter or the loader of a program is not on this host.
    #[error(
        "{program} needs {path}, which is not on this host: install it, or correct what the program names"
    )]
    NotOnHost { program: PathBuf, path: PathBuf },
    /// A library of a program is not on this host.
    #[error("{program} needs the library {library}, which its loader cannot find on this host: install it")]
    NoLibrary { program: PathBuf, library: String },
    /// A file to carry is unfit.
    #[error("cannot copy {path} into boxes: {why}")]
    Unfit { path: PathBuf, why: &'static str },
}

/// Finds a program as a shell would, as an absolute path.
///
/// # Errors
/// [`CarryError`]: why the file of this path, or no file on the search path, is a program.
pub fn find_program(name: &str) -> Result<PathBuf, CarryError> {
    let search = std::env::var_os("PATH").unwrap_or_else(|| PATH.into());
    let candidates: Vec<PathBuf> = if name.contains('/') {
        vec![PathBuf::from(name)]
    } else {
        std::env::split_paths(&search)
            .map(|folder| folder.join(name))
            .collect()
    };
    let found = candidates
        .into_iter()
        .find(|path| is_program(path))
        .ok_or_else(|| no_program(name))?;
    std::path::absolute(&found).map_err(|source| CarryError::Unreadable { path: found, source })
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Why there is no program of this name or at this path.
fn no_program(name: &str) -> CarryError {
    let path = PathBuf::from(name);
    if name.contains([' ', '|', ';', '>', '<', '&']) && !path.exists() {
        return CarryError::ShellLine(name.to_owned());
    }
    if !name.contains('/') {
        return CarryError::NotFound(name.to_owned());
    }
    match std::fs::metadata(&path) {
        Err(source) if source.kind() == io::ErrorKind::NotFound => CarryError::NoFile(path),
        Err(source) => CarryError::Unreadable { path, source },
        Ok(meta) if meta.is_dir() => CarryError::Folder(path),
        Ok(_) => CarryError::NotExecutable(path),
    }
}

/// What a program needs to run besides its own file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Needs {
    /// This dynamic loader, and libraries that the loader looks for.
    Loader(String),
    /// This interpreter of a script.
    Interpreter(String),
}

impl Needs {
    fn path(&self) -> &String {
        match self {
            Self::Loader(path) | Self::Interpreter(path) => path,
        }
    }
}

/// Interpreters of interpreters that are followed: Linux follows as many.
const MOST_INTERPRETERS: usize = 5;

/// The file that first needs something that is not among the files that are carried, and
/// what it needs: the program its loader or interpreter, or the interpreter its own.
/// Libraries are not looked for.
///
/// # Errors
/// Those of [`needs`] for the program. An interpreter that cannot be read may be
/// one of the boxes alone.
pub fn missing(program: &Path, carried: &[String]) -> Result<Option<(PathBuf, Needs)>, CarryError> {
    Ok(first_missing(
        program,
        needs(program)?,
        carried,
        MOST_INTERPRETERS,
    ))
}

fn first_missing(
    file: &Path,
    needed: Vec<Needs>,
    carried: &[String],
    depth: usize,
) -> Option<(PathBuf, Needs)> {
    let below = |path: &Path| {
        let depth = depth.checked_sub(1)?;
        first_missing(path, needs(path).unwrap_or_default(), carried, depth)
    };
    needed.into_iter().find_map(|need| {
        if carried.contains(need.path()) {
            return below(Path::new(need.path()));
        }
        Some((file.to_owned(), need))
    })
}

/// What a program's file needs: the interpreter that an ELF file or a script names, and what env(1)
/// starts as that of a script.
///
/// # Errors
/// [`CarryError::Unreadable`], and [`CarryError::Script`] for one that cannot run.
pub fn needs(path: &Path) -> Result<Vec<Needs>, CarryError> {
    let Some(line) = script_line(path).map_err(unreadable(path))? else {
        let interpreter = Linked::read(path).and_then(|linked| linked.interpreter);
        return Ok(interpreter.map(Needs::Loader).into_iter().collect());
    };
    let script = |fault| CarryError::Script {
        script: path.to_owned(),
        fault,
    };
    if let Some(fault) = line.fault() {
        return Err(script(fault));
    }
    let interpreter = Path::new(&line.interpreter);
    if interpreter.is_relative() && !interpreter.exists() {
        return Err(script(RELATIVE));
    }
    let started = line.started_by_env().and_then(on_path_of_boxes);
    let started = started.map(|path| Needs::Interpreter(path.to_string_lossy().into_owned()));
    let interpreter = Needs::Interpreter(line.interpreter);
    Ok([interpreter].into_iter().chain(started).collect())
}

/// A program as env(1) finds it in boxes that have this host's files.
fn on_path_of_boxes(name: &str) -> Option<PathBuf> {
    let mut folders = std::env::split_paths(PATH);
    // An absolute path stays as it is.
    folders.find_map(|folder| Some(folder.join(name)).filter(|path| is_program(path)))
}

/// The first line of a script.
fn script_line(path: &Path) -> io::Result<Option<ScriptLine>> {
    let file = regular::open(path)?.ok_or(io::ErrorKind::InvalidInput)?;
    let mut head = Vec::new();
    file.take(LONGEST_LINE).read_to_end(&mut head)?;
    Ok(ScriptLine::of(&head))
}

/// A program with all that it needs to be started: see [`runtime_files`].
///
/// # Errors
/// [`CarryError`].
pub fn program_files(name: &str) -> Result<Vec<PathBuf>, CarryError> {
    let program = find_program(name)?;
    let needed = runtime_files(&program)?;
    Ok([program].into_iter().chain(needed).collect())
}

/// What a program needs beside itself to be started: the interpreters of a script, the loader,
/// all libraries. Nothing of it is run.
///
/// # Errors
/// [`CarryError`].
pub fn runtime_files(program: &Path) -> Result<Vec<PathBuf>, CarryError> {
    let mut files = Vec::new();
    add_needed(program, MOST_INTERPRETERS, &mut files)?;
    Ok(files)
}

fn add_needed(program: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), CarryError> {
    for need in needs(program)? {
        let path = PathBuf::from(need.path());
        if !path.exists() {
            let program = program.to_owned();
            return Err(CarryError::NotOnHost { program, path });
        }
        match need {
            Needs::Loader(_) => files.extend(loader_and_libraries(program, path)?),
            Needs::Interpreter(_) if depth > 0 => {
                files.push(path.clone());
                add_needed(&path, depth - 1, files)?;
            }
            Needs::Interpreter(_) => {}
        }
    }
    Ok(())
}

fn loader_and_libraries(program: &Path, loader: PathBuf) -> Result<Vec<PathBuf>, CarryError> {
    let linked = Linked::read(program).ok_or_else(|| unfit(program, NOT_ELF))?;
    Linked::read(&loader).ok_or_else(|| unfit(&loader, NOT_ELF))?;
    let libraries = libraries::of(program, linked, &loader)?;
    Ok([loader].into_iter().chain(libraries).collect())
}

/// What is behind a path to carry: the file itself, or all files and empty folders below a folder,
/// links followed, as absolute paths. That of a folder ends with a slash.
///
/// # Errors
/// [`CarryError`] if a file cannot be read or is over [`MAX_FILE`].
pub fn files_below(path: &Path) -> Result<Vec<PathBuf>, CarryError> {
    let unreadable = |source| CarryError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let path = std::path::absolute(path).map_err(unreadable)?;
    let meta = std::fs::metadata(&path).map_err(unreadable)?;
    if meta.is_dir() {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&path).map_err(unreadable)? {
            files.extend(files_below(&entry.map_err(unreadable)?.path())?);
        }
        if files.is_empty() {
            files.push(path.join(""));
        }
        return Ok(files);
    }
    file(&path)?;
    Ok(vec![path])
}

/// Whether a path to carry is that of an empty folder, not of a file.
pub fn is_folder(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Whether this is a file that can be carried, or a folder.
///
/// # Errors
/// [`CarryError`] if it is neither, or over [`MAX_FILE`].
pub fn file(path: &Path) -> Result<(), CarryError> {
    let meta = std::fs::metadata(path).map_err(unreadable(path))?;
    if is_folder(path) {
        return Ok(());
    }
    if !meta.is_file() {
        return Err(unfit(path, NO_FILE));
    }
    if meta.len() > MAX_FILE {
        return Err(unfit(path, TOO_LARGE));
    }
    Ok(())
}

/// What is in a file that is carried, nothing for a folder. What another has put in its place since it was looked at
/// is not waited for, and not read without end.
///
/// # Errors
/// [`CarryError`], as [`file`].
pub fn content(path: &Path) -> Result<Vec<u8>, CarryError> {
    if is_folder(path) {
        return Ok(Vec::new());
    }
    let file = regular::open(path).map_err(unreadable(path))?;
    let file = file.ok_or_else(|| unfit(path, NO_FILE))?;
    let mut content = Vec::new();
    file.take(MAX_FILE + 1)
        .read_to_end(&mut content)
        .map_err(unreadable(path))?;
    if content.len() as u64 > MAX_FILE {
        return Err(unfit(path, TOO_LARGE));
    }
    Ok(content)
}

fn unreadable(path: &Path) -> impl Fn(io::Error) -> CarryError {
    move |source| CarryError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

fn unfit(path: &Path, why: &'static str) -> CarryError {
    CarryError::Unfit {
        path: path.to_owned(),
        why,
    }
}

/// Writes the file that a box with this root, a folder of the host, knows by `path`, as a
/// new one, or makes the folder. Links that the box has laid lead no further than they do in the box, and
/// nothing that it has put in the file's place is opened. The root's owner gets the file.
///
/// # Errors
/// Those of the file system; `InvalidInput` for a path that is not absolute or leads upwards.
pub fn put(root: &Path, path: &str, mode: u32, content: &[u8]) -> io::Result<()> {
    let below = Path::new(path)
        .strip_prefix("/")
        .map_err(|_| io::ErrorKind::InvalidInput)?;
    if below.components().any(|part| part == Component::ParentDir) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path leads upwards",
        ));
    }
    let name = below.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let root = Root::open(root)?;
    if is_folder(Path::new(path)) {
        return root.folder(below).map(drop);
    }
    let folder = root.folder(below.parent().unwrap_or_else(|| Path::new("")))?;
    match unlinkat(&folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(e) => return Err(e.into()),
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(openat(&folder, name, flags, Mode::RUSR | Mode::WUSR)?);
    file.write_all(content)?;
    root.own(&file)?;
    file.set_permissions(Permissions::from_mode(mode))
}

/// The root of a box, in which nothing that the box did leads out of it.
struct Root {
    folder: OwnedFd,
    owner: (u32, u32),
}

impl Root {
    fn open(path: &Path) -> io::Result<Self> {
        let folder = File::open(path)?;
        let meta = folder.metadata()?;
        Ok(Self {
            owner: (meta.uid(), meta.gid()),
            folder: folder.into(),
        })
    }

    /// A folder by its path from the root on, made where it is missing.
    fn folder(&self, path: &Path) -> io::Result<OwnedFd> {
        let found = self.look_up(path);
        let (Err(Errno::NOENT), Some(above), Some(name)) = (&found, path.parent(), path.file_name()) else {
            return Ok(found?);
        };
        let above = self.folder(above)?;
        match mkdirat(&above, name, Mode::from_raw_mode(0o755)) {
            Ok(()) => {
                let made = self.look_up(path)?;
                // A descriptor for looking up alone does not change owners.
                rustix::fs::chownat(
                    &made,
                    "",
                    Some(Uid::from_raw(self.owner.0)),
                    Some(Gid::from_raw(self.owner.1)),
                    AtFlags::EMPTY_PATH,
                )?;
                Ok(made)
            }
            Err(Errno::EXIST) => Ok(self.look_up(path)?),
            Err(e) => Err(e.into()),
        }
    }

    fn look_up(&self, path: &Path) -> Result<OwnedFd, Errno> {
        let path = if path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            path
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let within = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        openat2(&self.folder, path, flags, Mode::empty(), within)
    }

    fn own(&self, file: &File) -> io::Result<()> {
        fchown(file, Some(self.owner.0), Some(self.owner.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_a_shell_is_told_from_a_program() {
        let told = |name: &str| find_program(name).unwrap_err().to_string();
        assert!(told("ls -l | wc").ends_with("as in sh -c 'ls -l | wc'"));
        assert!(told("no-such-program").contains("on PATH"));
    }

    #[test]
    fn scripts_and_dynamic_programs_name_their_interpreter() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        std::fs::write(&script, "#!/bin/sh -e\necho\n").unwrap();
        assert_eq!(needs(&script).unwrap(), [Needs::Interpreter("/bin/sh".into())]);
        let shell = find_program("sh").unwrap();
        assert!(matches!(&needs(&shell).unwrap()[..], [Needs::Loader(loader)] if loader.contains("ld")));
        // The interpreter that is carried needs a loader, and that one nothing.
        let carried = ["/bin/sh".to_owned()];
        let Some((by, Needs::Loader(loader))) = missing(&script, &carried).unwrap() else {
            panic!("a shell of the host has a loader");
        };
        assert_eq!(by, Path::new("/bin/sh"));
        let carried = [carried[0].clone(), loader];
        assert_eq!(missing(&script, &carried).unwrap(), None);
    }

    #[test]
    fn what_a_script_needs_is_its_interpreter_and_what_that_needs() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        std::fs::write(&script, "#!/bin/sh\ntrue\n").unwrap();
        let files = runtime_files(&script).unwrap();
        assert_eq!(files[0], Path::new("/bin/sh"));
        let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        assert!(names.iter().any(|name| name.contains("ld-linux")), "{names:?}");
        assert!(names.iter().any(|name| name.contains("libc.so")), "{names:?}");
        assert!(missing(&script, &names).unwrap().is_none());
    }

    #[test]
    fn what_env_starts_for_a_script_is_carried_and_missed() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        for argument in ["sh", "-S sh -e"] {
            std::fs::write(&script, format!("#!/usr/bin/env {argument}\ntrue\n")).unwrap();
            let files = runtime_files(&script).unwrap();
            let mut names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
            assert!(missing(&script, &names).unwrap().is_none());
            names.retain(|name| !name.ends_with("/sh"));
            let (by, needed) = missing(&script, &names).unwrap().unwrap();
            assert_eq!(by, script);
            assert!(
                matches!(&needed, Needs::Interpreter(path) if path.ends_with("/sh")),
                "{needed:?}"
            );
        }
    }

    #[test]
    fn a_script_that_cannot_run_is_named_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        for (line, told) in [
            ("#!", "cannot run: its first line names no interpreter"),
            (
                "#!sh",
                "cannot run: the interpreter in its first line is no absolute path",
            ),
            (
                "#!/usr/bin/env sh\r",
                "cannot run: its first line ends with a carriage return",
            ),
            (
                "#!/no/such -x",
                "needs /no/such, which is not on this host: install it",
            ),
        ] {
            std::fs::write(&script, format!("{line}\ntrue\n")).unwrap();
            let error = runtime_files(&script).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("{} {told}", script.display())),
                "{error}"
            );
        }
    }

    /// A loader that a program names is a program of whoever made it.
    #[test]
    fn what_a_program_names_as_its_loader_is_never_run() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let loader = at("loader");
        std::fs::write(&loader, format!("#!/bin/sh\ntouch {}\n", at("ran").display())).unwrap();
        std::fs::set_permissions(&loader, Permissions::from_mode(0o755)).unwrap();
        std::fs::write(at("script"), format!("#!{}\n", loader.display())).unwrap();
        std::fs::set_permissions(at("script"), Permissions::from_mode(0o755)).unwrap();
        let made = std::process::Command::new("gcc")
            .args(["-nostdlib", "-pie", "-x", "c", "/dev/null", "-Wl,-e,0", "-o"])
            .arg(at("program"))
            .arg(format!("-Wl,-I,{}", loader.display()))
            .status();
        assert!(made.unwrap().success());
        let told = program_files(at("program").to_str().unwrap()).unwrap_err();
        assert!(told.to_string().contains("not an ELF file"), "{told}");
        let files = program_files(at("script").to_str().unwrap()).unwrap();
        assert_eq!(files[..3], [at("script"), loader, PathBuf::from("/bin/sh")]);
        assert!(!at("ran").exists());
    }

    #[test]
    fn what_stands_in_the_place_of_a_program_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data");
        std::fs::write(&file, "x").unwrap();
        let told = |path: &Path| find_program(path.to_str().unwrap()).unwrap_err().to_string();
        assert!(told(folder.path()).contains("is a folder"));
        assert!(told(&file).contains("chmod +x"));
        assert!(told(&folder.path().join("none")).contains("there is no file"));
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = find_program("no-such-program-here").unwrap_err();
        assert!(error.to_string().contains("no-such-program-here"));
    }

    #[test]
    fn folders_are_carried_whole() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("below")).unwrap();
        std::fs::write(folder.path().join("below/file"), "x").unwrap();
        assert_eq!(
            files_below(folder.path()).unwrap(),
            [folder.path().join("below/file")]
        );
    }

    #[test]
    fn an_empty_folder_is_carried_as_a_folder() {
        let [host, root] = [(), ()].map(|()| tempfile::tempdir().unwrap());
        let empty = host.path().join("below/empty");
        std::fs::create_dir_all(&empty).unwrap();
        for above in [host.path(), &empty] {
            let files = files_below(above).unwrap();
            let [folder] = &files[..] else { panic!("{files:?}") };
            assert_eq!(folder.to_str().unwrap(), format!("{}/", empty.display()));
            file(folder).unwrap();
            let content = content(folder).unwrap();
            put(root.path(), folder.to_str().unwrap(), 0o755, &content).unwrap();
            assert!(root.path().join(empty.strip_prefix("/").unwrap()).is_dir());
        }
    }

    #[test]
    fn what_is_put_into_a_root_stays_in_it() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let (root, host) = (folder.path().join("root"), folder.path().join("host"));
        for made in [&root, &host] {
            std::fs::create_dir(made).unwrap();
        }
        let victim = host.join("victim");
        std::fs::write(&victim, "host").unwrap();
        // What a box can lay: links to a file, to a folder, upwards and to nothing, and a name of its own for a file.
        symlink(&victim, root.join("file")).unwrap();
        symlink(&host, root.join("folder")).unwrap();
        symlink("../../../host", root.join("upwards")).unwrap();
        symlink(host.join("made"), root.join("dangling")).unwrap();
        std::fs::hard_link(&victim, root.join("same")).unwrap();
        for path in [
            "/file",
            "/folder/victim",
            "/upwards/victim",
            "/folder/new/file",
            "/dangling/file",
            "/same",
        ] {
            // Refused, or in the box.
            let _ = put(&root, path, 0o600, b"box");
            assert_eq!(std::fs::read(&victim).unwrap(), b"host", "{path}");
            assert_eq!(std::fs::read_dir(&host).unwrap().count(), 1, "{path}");
        }
        assert_eq!(std::fs::read(root.join("file")).unwrap(), b"box");
        put(&root, "/a/b/c", 0o640, b"new").unwrap();
        put(&root, "/a/b/c", 0o600, b"newer").unwrap();
        assert_eq!(std::fs::read(root.join("a/b/c")).unwrap(), b"newer");
        assert!(put(&root, "/a", 0o600, b"x").is_err());
    }

    #[test]
    fn a_pipe_in_a_files_place_does_not_hold_the_host_up() {
        let root = tempfile::tempdir().unwrap();
        let pipe = root.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        put(root.path(), "/pipe", 0o600, b"x").unwrap();
        assert_eq!(std::fs::read(pipe).unwrap(), b"x");
    }
}
