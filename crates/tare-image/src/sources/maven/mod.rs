//! Artifacts of Maven for images, fetched by the host's `mvn`: its settings say from where.

mod spec;
#[cfg(test)]
mod tests;

pub use spec::{MavenSpec, NoMaven, Take};

use crate::ImageError;
use crate::program::{self, Running, Time};
use crate::store::Store;
use crate::unpack::Unpacker;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tar::{Builder, HeaderMode};

/// A hundred artifacts took 8 s.
const MOST: Duration = Duration::from_secs(900);
/// Of the folder in which an image is made, what is Maven's.
const FOLDER: &str = "maven";
/// The goal by its whole name, so that no version of Maven chooses another.
const GOAL: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";
/// What of the user's environment says how Maven is run and where its settings are.
const KEPT: [&str; 3] = ["HOME", "JAVA_HOME", "MAVEN_OPTS"];
/// How lines begin that say what went wrong.
const ERROR: &str = "[ERROR] ";

/// Fetches artifacts and packs them into an archive, whose paths are those in the image. What Maven says goes
/// to the file `output`.
///
/// # Errors
/// [`ImageError::Start`] without Maven, [`ImageError::Program`] with what it said.
pub(super) fn archive(
    specs: &[MavenSpec],
    mvn: &OsStr,
    at: &Path,
    output: &Path,
    store: &Store,
) -> Result<PathBuf, ImageError> {
    let folder = at.join(FOLDER);
    make(&folder)?;
    let path = at.join("maven.tar");
    let packed = File::create(&path).map_err(ImageError::file("make", &path))?;
    let mut builder = Builder::new(packed);
    // Everything is root's, whoever ran Maven or packed an archive.
    builder.mode(HeaderMode::Deterministic);
    builder.follow_symlinks(false);
    for (number, spec) in specs.iter().enumerate() {
        let site = Fetcher {
            folder: folder.join(number.to_string()),
            repository: folder.join("repository"),
            mvn,
            output,
            store,
        };
        let files = site.fetch(spec)?;
        let inner = Path::new(spec.folder.trim_start_matches('/'));
        append(&mut builder, &files, inner).map_err(ImageError::file("pack", &files))?;
    }
    builder.finish().map_err(ImageError::file("write", &path))?;
    fs::remove_dir_all(&folder).map_err(ImageError::file("remove", &folder))?;
    Ok(path)
}

/// Where the artifacts of one specification are fetched.
struct Fetcher<'a> {
    folder: PathBuf,
    /// One of its own, so that nothing is left in the user's.
    repository: PathBuf,
    mvn: &'a OsStr,
    output: &'a Path,
    store: &'a Store,
}

impl Fetcher<'_> {
    /// The folder with what lands in the image.
    fn fetch(&self, spec: &MavenSpec) -> Result<PathBuf, ImageError> {
        make(&self.folder)?;
        let pom = self.folder.join("pom.xml");
        fs::write(&pom, spec.pom()).map_err(ImageError::file("write", &pom))?;
        let files = self.folder.join("files");
        make(&files)?;
        let time = Time {
            most: MOST,
            stop: self.store.stop(),
        };
        let running = Running::start_telling(self.command(&pom, &files), self.output, time)?;
        running.wait().map_err(|error| plain(error, self.output))?;
        match spec.take {
            Take::All | Take::Alone => Ok(files),
            Take::Unpacked => self.unpacked(&files),
        }
    }

    fn command(&self, pom: &Path, files: &Path) -> Command {
        let mut command = program::command(self.mvn, &self.folder);
        for name in KEPT {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        let property = |name: &str, path: &Path| {
            let mut property = std::ffi::OsString::from(format!("-D{name}="));
            property.push(path);
            property
        };
        command.args(["--batch-mode", "--quiet", "-Dstyle.color=never", GOAL]);
        command.arg(property("maven.repo.local", &self.repository));
        command.arg(property("outputDirectory", files));
        command.arg("--file").arg(pom);
        command
    }

    fn unpacked(&self, files: &Path) -> Result<PathBuf, ImageError> {
        let folder = self.folder.join("unpacked");
        make(&folder)?;
        let told = |what: &str| ImageError::unpack(what.to_owned());
        let mut unpacker = Unpacker::new(&folder, self.store.limits(), self.store.stop())
            .map_err(told("the archives of Maven"))?;
        for path in listed(files).map_err(ImageError::file("list", files))? {
            let file = File::open(&path).map_err(ImageError::file("open", &path))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            unpacker.layer(file).map_err(told(&format!("{name} of Maven")))?;
        }
        unpacker.finish().map_err(told("the archives of Maven"))?;
        Ok(folder)
    }
}

fn make(folder: &Path) -> Result<(), ImageError> {
    fs::create_dir(folder).map_err(ImageError::file("make the folder", folder))
}

/// What is in a folder, in order.
fn listed(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}

/// Appends what is in a folder, but not the folder: the image may have it with a mode of its own.
fn append(builder: &mut Builder<File>, folder: &Path, inner: &Path) -> io::Result<()> {
    for path in listed(folder)? {
        let name = inner.join(path.file_name().unwrap_or_default());
        if fs::symlink_metadata(&path)?.is_dir() {
            builder.append_dir_all(name, &path)?;
        } else {
            builder.append_path_with_name(&path, name)?;
        }
    }
    Ok(())
}

/// The first line that says what went wrong in place of the last ones, which tell where Maven's manual is.
fn plain(error: ImageError, output: &Path) -> ImageError {
    let said = fs::read(output).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let mut lines = said.lines().filter_map(|line| Some(line.split_once(ERROR)?.1));
    let Some(first) = lines.next() else {
        return error;
    };
    match error {
        ImageError::Program {
            program, how, output, ..
        } => ImageError::Program {
            program,
            how,
            last: first.chars().filter(|c| !c.is_control()).collect(),
            output,
        },
        other => other,
    }
}
