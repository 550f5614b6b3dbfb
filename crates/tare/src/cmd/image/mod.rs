//! `tare image`: images for boxes, listed, built, taken, shown and removed.

mod progress;
mod shown;

use crate::args::image::{ImageArgs, ImageCommand, StoreArgs};
use crate::out;
use anyhow::Context;
use progress::Watch;
use std::process::ExitCode;
use tare_host::interrupt;
use tare_image::store::Manifest;
use tare_image::{Image, ImageError};
use tare_model::size::{counted, show_memory};
use tare_platforms::state;
use tare_study::images::{self, EngineError, ImageSources, NoImage, Removed, Wish};

/// Does what is asked for.
///
/// # Errors
/// Those of the store and of what is taken; all that could not be removed, in one line.
pub fn run(args: &ImageArgs) -> anyhow::Result<ExitCode> {
    interrupt::install().context("cannot handle signals")?;
    let site = open(&args.store)?;
    let done = match &args.command {
        None | Some(ImageCommand::List) => shown::list(&site, args.store.limit, args.json),
        Some(ImageCommand::Build { name }) => build(&site, name, args.json),
        Some(ImageCommand::Import { source, name, part }) => {
            let wish = Wish {
                what: source,
                part: part.as_deref(),
                anew: true,
            };
            import(&site, &wish, name.as_deref(), args.json)
        }
        Some(ImageCommand::Show { name }) => shown::show(&site, name, args.json),
        Some(ImageCommand::Remove { names }) => remove(&site, names, args.json),
        Some(ImageCommand::Prune { all }) => prune(&site, *all, args.json),
    };
    match done {
        Err(error) if is_stopped(&error) => {
            out::say("stopped; the store is unchanged");
            Ok(ExitCode::from(out::INTERRUPTED))
        }
        done => done.map(|()| ExitCode::SUCCESS),
    }
}

fn open(store: &StoreArgs) -> anyhow::Result<ImageSources> {
    let folder = store.state();
    state::make(&folder)?;
    Ok(ImageSources::open(&folder, store.limit)?)
}

/// Whether the user stopped what made an image.
pub fn is_stopped(error: &anyhow::Error) -> bool {
    let stopped = |error: &ImageError| matches!(error, ImageError::Stopped);
    match error.downcast_ref::<NoImage>() {
        Some(NoImage::Image(error)) => stopped(error),
        Some(NoImage::Engine { source, .. }) => {
            matches!(&**source, EngineError::Image(error) if stopped(error))
        }
        _ => error.downcast_ref::<ImageError>().is_some_and(stopped),
    }
}

/// Only what is made of packages: what is meant otherwise is taken by `import`.
fn build(site: &ImageSources, name: &str, json: bool) -> anyhow::Result<()> {
    let is_file = name.ends_with(".toml");
    anyhow::ensure!(
        is_file || images::shipped(name).is_some(),
        "there is no image '{name}' to build: choose one of {}, or a file such as ./mine.toml; 'tare image import' gets all others",
        images::names().join(", ")
    );
    import(site, &Wish::of(name), None, json)
}

fn import(site: &ImageSources, wish: &Wish<'_>, name: Option<&str>, json: bool) -> anyhow::Result<()> {
    // What cannot be given is told before anything is taken.
    name.map_or(Ok(()), images::check_name)?;
    let mut image = take(site, wish)?;
    if let Some(name) = name {
        image = images::call(&image, name, site)?;
    }
    shown::taken(&image, name, json)
}

/// Takes an image, and shows that it is being made.
///
/// # Errors
/// [`NoImage`].
pub fn take(site: &ImageSources, wish: &Wish<'_>) -> Result<Image, NoImage> {
    let watch = Watch::begin();
    let taken = images::take(wish, site, &mut |step| watch.tell(step));
    watch.end();
    taken
}

/// The image that a user names who does not want it made.
fn kept(site: &ImageSources, name: &str) -> Result<Image, NoImage> {
    images::kept(name, site)
}

fn remove(site: &ImageSources, names: &[String], json: bool) -> anyhow::Result<()> {
    let mut removed = Vec::new();
    let mut failed = Vec::new();
    for name in names {
        // It is in use for as long as it is held here.
        let digest = kept(site, name).map(|image| image.manifest().digest.clone());
        let done = digest.and_then(|digest| match site.store().remove(digest.as_str()) {
            Err(ImageError::InUse(_)) => Err(ImageError::InUse(name.clone()).into()),
            done => Ok(done?),
        });
        match done {
            Ok(manifest) => removed.push(manifest),
            Err(error) => failed.push(error.to_string()),
        }
    }
    tell_removed(&removed, json)?;
    anyhow::ensure!(failed.is_empty(), "{}", failed.join("; "));
    Ok(())
}

fn prune(site: &ImageSources, all: bool, json: bool) -> anyhow::Result<()> {
    let mut removed = site.store().prune()?;
    let rest = if all { site.store().list()? } else { Vec::new() };
    for listed in rest {
        match site.store().remove(listed.manifest.digest.as_str()) {
            Ok(manifest) => removed.push(manifest),
            // In use, or another process was quicker.
            Err(ImageError::InUse(_) | ImageError::Unknown { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    tell_removed(&removed, json)
}

fn tell_removed(removed: &[Manifest], json: bool) -> anyhow::Result<()> {
    if json {
        return out::print_json(&Removed { removed });
    }
    let line = |manifest: &Manifest| {
        let name = out::one_line(&shown::title(manifest));
        format!("removed {name}: {}\n", show_memory(manifest.bytes))
    };
    let lines: String = removed.iter().map(line).collect();
    out::print(if lines.is_empty() {
        "nothing to remove\n"
    } else {
        &lines
    })
}

/// What the store of a state folder holds, in words, for whoever cleans that; `None` if nothing.
pub fn held(state: &std::path::Path) -> Option<String> {
    // A folder of images is not made to be looked at.
    let folder = images::folder(state);
    let site = folder.is_dir().then(|| ImageSources::open(state, u64::MAX))?;
    let listed = site.ok()?.store().list().ok()?;
    let bytes = listed.iter().map(|listed| listed.bytes).sum();
    (!listed.is_empty()).then(|| {
        format!(
            "{} of {} in {}: 'tare image remove' and 'tare image prune' remove them",
            counted(listed.len(), "image"),
            show_memory(bytes),
            folder.display()
        )
    })
}
