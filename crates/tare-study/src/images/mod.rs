//! Images for boxes: the one place that finds the image which is meant by a text, and makes it
//! if it is not in the store.
//!
//! | text | image |
//! |---|---|
//! | `micro` | of Debian's packages, as a file says that comes with tare |
//! | `./mine.toml` | as the user's own file says |
//! | `./rootfs`, `/srv/image.tar.gz` | a folder or an archive, told by what is in it |
//! | `docker:NAME`, `podman:NAME` | of the local engine |
//! | `NAME[:TAG]`, 8 or more digits of a digest | the store's, that of a local engine, or a registry's |
//! | `HOST/NAME[:TAG]` | the store's, or that registry's |

mod engine;
mod error;
mod file;
mod names;
mod path;
mod printed;
mod progress;
mod shipped;
#[cfg(test)]
mod tests;
mod wanted;

pub use engine::EngineError;
pub use error::{NoImage, Nowhere};
pub use file::{ImageFile, parse};
pub use names::NoName;
pub use printed::{PrintedImage, PrintedList, Removed, Unbuilt, Whole};
pub use progress::Progress;
pub use shipped::{names, shipped, with_both};

use std::path::{Path, PathBuf};
use tare_host::carry;
use tare_host::interrupt;
use tare_image::{Deadlines, Image, ImageError, Mirrors, NoReference, Reference, Store};
use tare_model::size::counted;
use tare_model::suggest;
use tare_platforms::IMAGE_ENGINES;
use wanted::Wanted;

/// Of the state folder, that of the store.
const FOLDER: &str = "images";
/// What the images of a store may occupy together unless the user says otherwise, in bytes: some
/// ten images of tools.
pub const DEFAULT_LIMIT: u64 = 20 << 30;
/// The registry of names without one, as Docker has it, and where its own images are.
const HUB: &str = "docker.io";

/// Where images are kept, and what is needed to get others.
#[derive(Debug)]
pub struct ImageSources {
    store: Store,
    path: PathBuf,
    state: PathBuf,
    passwords: PathBuf,
}

impl ImageSources {
    /// Opens the store in a state folder and makes it if it is not there; its images may occupy so
    /// many bytes together. Long waits end with the user's wish to stop.
    ///
    /// # Errors
    /// [`NoImage::Image`] if others can reach the folder, or it cannot be made.
    pub fn open(state: &Path, limit_bytes: u64) -> Result<Self, NoImage> {
        let path = folder(state);
        let store = Store::open(&path, limit_bytes)?.with_stop(interrupt::requested);
        Ok(Self {
            path: path.canonicalize().unwrap_or(path),
            store,
            state: state.to_owned(),
            passwords: passwords(),
        })
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The folder of the store.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn state(&self) -> &Path {
        &self.state
    }
}

/// The folder of the store in a state folder.
pub fn folder(state: &Path) -> PathBuf {
    state.join(FOLDER)
}

/// The user's passwords for registries: the file of `docker login`.
fn passwords() -> PathBuf {
    let folder = std::env::var_os("DOCKER_CONFIG").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".docker");
    folder.unwrap_or_else(home).join("config.json")
}

/// An image that is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    /// The text that means it.
    pub what: &'a str,
    /// Which of an archive's or a layout's images, by its name there.
    pub part: Option<&'a str>,
    /// Taken from where it comes from, whatever the store has under its name.
    pub anew: bool,
}

impl<'a> Wish<'a> {
    /// What a text means, from the store if it is there.
    pub const fn of(what: &'a str) -> Self {
        Self {
            what,
            part: None,
            anew: false,
        }
    }
}

/// The image that is wished for: from the store if it is there, else made. It stays as long as it
/// is kept.
///
/// # Errors
/// [`NoImage`], which says what to do next.
pub fn take(wish: &Wish<'_>, within: &ImageSources, say: &mut dyn FnMut(Progress)) -> Result<Image, NoImage> {
    match Wanted::read(wish.what)? {
        Wanted::Debian(file) => build(&file, within, say),
        Wanted::Path(path) => path::take(&path, wish, within, say),
        Wanted::Engine(engine, image) => {
            let taken = engine::take(engine, &image, within, say);
            taken.map_err(|error| NoImage::engine(engine, &image, error))
        }
        Wanted::Name(name) => named(&name, wish.anew, within, say),
    }
}

/// Whether a user may give an image this name.
///
/// # Errors
/// [`NoImage::Name`] for one that means something else, [`NoImage::Reserved`].
pub fn check_name(name: &str) -> Result<(), NoImage> {
    names::check(name)?;
    if shipped(name).is_some() {
        return Err(NoImage::Reserved(name.to_owned()));
    }
    Ok(())
}

/// An image that the store has, by a name, a digest or what it was taken from: nothing is made.
///
/// # Errors
/// Those of the store.
pub fn kept(wanted: &str, within: &ImageSources) -> Result<Image, NoImage> {
    let unknown = match within.store.get(wanted) {
        Err(error @ ImageError::Unknown { .. }) => error,
        found => return Ok(found?),
    };
    let real = || Some(Path::new(wanted).canonicalize().ok()?.to_str()?.to_owned());
    let whole = || {
        Reference::parse(wanted)
            .ok()
            .map(|reference| reference.to_string())
    };
    let other = if names::is_path(wanted) { real() } else { whole() };
    other
        .map_or(Err(unknown), |name| within.store.get(&name))
        .map_err(NoImage::from)
}

/// The image that [`take`] would find in the store, as far as that can be told without asking
/// where it comes from. An image of packages is found by its list: one that an older list made is another.
///
/// # Errors
/// Those of an image file, and of the store.
pub fn made(wanted: &str, within: &ImageSources) -> Result<Image, NoImage> {
    match Wanted::read(wanted)? {
        Wanted::Debian(file) => {
            let spec = file.debian.checked().map_err(ImageError::from)?;
            Ok(within.store.get(&spec.name())?)
        }
        _ => kept(wanted, within),
    }
}

/// Whether a text means an image at all, before anything is looked for: a file of the user's is read.
///
/// # Errors
/// Those of an image file, and [`NoImage::Empty`].
pub fn meant(wanted: &str) -> Result<(), NoImage> {
    Wanted::read(wanted).map(drop)
}

/// Why an image of Debian's packages cannot be built on this host; `None` if nothing is known
/// that keeps it from that.
pub fn unbuildable(wanted: &str) -> Option<&'static str> {
    let Ok(Wanted::Debian(file)) = Wanted::read(wanted) else {
        return None;
    };
    if carry::find_program("mmdebstrap").is_err() {
        return Some(
            "mmdebstrap, which builds it, is missing: install it (Debian: apt-get install mmdebstrap e2fsprogs)",
        );
    }
    let wants_maven = !file.debian.maven.is_empty();
    (wants_maven && carry::find_program("mvn").is_err()).then_some(
        "Maven, which downloads parts of it, is missing: install it (Debian: apt-get install maven)",
    )
}

/// Gives an image of the store a name of the user's.
///
/// # Errors
/// As [`check_name`], and those of the store.
pub fn call(image: &Image, name: &str, within: &ImageSources) -> Result<Image, NoImage> {
    check_name(name)?;
    Ok(within.store.call(image, name, None)?)
}

/// An image of Debian's packages. The same packages are the same image, whatever it is called.
fn build(file: &ImageFile, within: &ImageSources, say: &mut dyn FnMut(Progress)) -> Result<Image, NoImage> {
    let mirrors = || {
        let packages = file.debian.packages.len();
        let artifacts: usize = file.debian.maven.iter().map(|spec| spec.artifacts.len()).sum();
        let of_maven = match artifacts {
            0 => String::new(),
            number => format!(" and {} of Maven", counted(number, "artifact")),
        };
        say(Progress::Step(format!(
            "building {} of Debian {} and {packages} packages{of_maven}, which takes minutes",
            file.name, file.debian.suite
        )));
        Mirrors::of_host(&file.debian.suite)
    };
    let image = tare_image::from_debian(&within.store, &file.debian, mirrors)?;
    if image.manifest().names.contains(&file.name) {
        return Ok(image);
    }
    Ok(within.store.call(&image, &file.name, None)?)
}

/// What a name means: the store's image, that of a local engine, or a registry's.
fn named(
    name: &str,
    anew: bool,
    within: &ImageSources,
    say: &mut dyn FnMut(Progress),
) -> Result<Image, NoImage> {
    let mut looked = Vec::new();
    if !anew {
        match within.store.get(name) {
            Err(ImageError::Unknown { known, .. }) => looked.push(("the store".to_owned(), known)),
            found => return Ok(found?),
        }
    }
    let reference = match Reference::parse(name) {
        // A registry is named: no engine is meant.
        Ok(reference) => return registry(&reference, anew, within, say),
        Err(NoReference::Registry(_)) => Reference::parse(&format!("{HUB}/{name}")),
        Err(other) => Err(other),
    };
    for engine in IMAGE_ENGINES {
        match engine::take(engine, name, within, say) {
            Ok(image) => return Ok(image),
            Err(error) if error.is_elsewhere() && !interrupt::requested() => {
                looked.push((engine.to_owned(), error.brief()));
            }
            Err(error) => return Err(NoImage::engine(engine, name, error)),
        }
    }
    let said = match reference {
        Ok(reference) => match registry(&reference, anew, within, say) {
            Err(NoImage::Image(ImageError::Registry(error))) => (reference.to_string(), error.to_string()),
            done => return done,
        },
        Err(error) => ("a registry".to_owned(), error.to_string()),
    };
    looked.push(said);
    Err(NoImage::Nowhere(Nowhere {
        near: near(name, within),
        name: name.chars().filter(|c| !c.is_control()).collect(),
        looked,
    }))
}

/// An image of a registry, under its whole name.
fn registry(
    reference: &Reference,
    anew: bool,
    within: &ImageSources,
    say: &mut dyn FnMut(Progress),
) -> Result<Image, NoImage> {
    let name = reference.to_string();
    if !anew {
        match within.store.get(&name) {
            Err(ImageError::Unknown { .. }) => {}
            found => return Ok(found?),
        }
    }
    say(Progress::Step(format!("pulling {name}")));
    let passwords = &within.passwords;
    let deadlines = Deadlines::default();
    Ok(tare_image::from_registry(
        &within.store,
        &name,
        &name,
        passwords,
        deadlines,
    )?)
}

/// What may be meant by a name that is found nowhere.
fn near(name: &str, within: &ImageSources) -> Option<String> {
    if Path::new(name).exists() {
        return Some(format!("./{name}"));
    }
    let listed = within.store.list().unwrap_or_default();
    let kept: Vec<String> = listed
        .into_iter()
        .flat_map(|listed| listed.manifest.names)
        .collect();
    let known: Vec<&str> = names()
        .into_iter()
        .chain(kept.iter().map(String::as_str))
        .collect();
    suggest::nearest(name, &known).map(str::to_owned)
}
