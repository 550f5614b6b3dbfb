//! What is told of images.

use super::kept;
use crate::out;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tare_image::store::{Listed, Manifest};
use tare_image::{Image, ImageError};
use tare_model::size::{counted, show_memory, show_seconds};
use tare_study::images::{self, ImageFile, ImageSources, NoImage, PrintedImage, PrintedList};

/// Columns that a name takes at most before words begin on its line.
const NAME: usize = 34;
/// Column at which the words of one image begin.
const INDENT: usize = 14;
/// How the names of images of packages begin, which a digest of these ends.
const PACKAGES: &str = "debian-";
/// Of a digest, as much as tells images apart.
const DIGITS: usize = 12;

/// The images of the store, and what of those that come with tare was not built.
pub fn list(site: &ImageSources, limit_bytes: u64, as_json: bool) -> anyhow::Result<()> {
    let listed = site.store().list()?;
    let is_built = |name: &&str| listed.iter().any(|l| l.manifest.names.iter().any(|n| n == *name));
    let unbuilt: Vec<ImageFile> = images::names()
        .into_iter()
        .filter(|name| !is_built(name))
        .filter_map(images::shipped)
        .collect();
    if as_json {
        return out::print_json(&PrintedList::new(site, limit_bytes, &listed, &unbuilt));
    }
    let bytes = listed.iter().map(|listed| listed.bytes).sum();
    let mut text: String = listed.iter().map(line).collect();
    for file in &unbuilt {
        let words = format!("not built ('tare image build {}'): {}", file.name, file.about);
        text += &out::wrapped(&file.name, NAME, &words);
    }
    text += &format!(
        "{}, {} of at most {} in {}\n",
        counted(listed.len(), "image"),
        show_memory(bytes),
        show_memory(limit_bytes),
        out::path(site.path())
    );
    out::print(&text)
}

fn line(listed: &Listed) -> String {
    let used = if listed.in_use {
        "in use".to_owned()
    } else {
        format!("used {}", ago(listed.used))
    };
    let more: String = other_names(&listed.manifest)
        .map(|name| format!(", also {name}"))
        .collect();
    let words = format!(
        "{}, {used}, {}{more}",
        show_memory(listed.bytes),
        digits(&listed.manifest)
    );
    out::wrapped(&out::one_line(&title(&listed.manifest)), NAME, &words)
}

/// What an image is called: by a name that was given to it, else by where it came from, else by its
/// digest.
pub fn title(manifest: &Manifest) -> String {
    let given = manifest.names.iter().find(|name| !is_derived(name));
    let name = given.or_else(|| manifest.names.first()).cloned();
    name.unwrap_or_else(|| digits(manifest))
}

/// The other names that mean something to a user.
fn other_names(manifest: &Manifest) -> impl Iterator<Item = &str> {
    let title = title(manifest);
    let names = manifest.names.iter().map(String::as_str);
    names.filter(move |name| *name != title && !name.starts_with(PACKAGES))
}

/// Whether a name was made of a path, or of the packages that an image consists of.
fn is_derived(name: &str) -> bool {
    name.starts_with('/') || name.starts_with(PACKAGES)
}

fn digits(manifest: &Manifest) -> String {
    manifest.digest.hex().chars().take(DIGITS).collect()
}

fn ago(time: SystemTime) -> String {
    let seconds = SystemTime::now()
        .duration_since(time)
        .unwrap_or_default()
        .as_secs_f64();
    if seconds < 1.0 {
        return "just now".to_owned();
    }
    format!("{} ago", show_seconds(seconds))
}

/// What is known of an image of the store, or of one that could be built.
pub fn show(site: &ImageSources, name: &str, as_json: bool) -> anyhow::Result<()> {
    let image = match kept(site, name) {
        Ok(image) => image,
        Err(error @ NoImage::Image(ImageError::Unknown { .. })) => {
            let file = images::shipped(name).ok_or(error)?;
            return show_file(&file, as_json);
        }
        Err(error) => return Err(error.into()),
    };
    if as_json {
        return out::print_json(&PrintedImage::of(&image));
    }
    out::print(&explained(&image))
}

fn show_file(file: &ImageFile, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return out::print_json(&PrintedImage::of_file(file));
    }
    let mut text = out::wrapped(&file.name, INDENT, &file.about);
    let mut row = |name: &str, words: &str| text += &out::wrapped(&format!("  {name}"), INDENT, words);
    row(
        "not built",
        &format!("build it with 'tare image build {}'", file.name),
    );
    let debian = &file.debian;
    let date = debian
        .snapshot
        .as_deref()
        .map_or_else(String::new, |date| format!(" of {date}"));
    row(
        "Debian",
        &format!("{}{date}, {}", debian.suite, debian.components.join(" ")),
    );
    row("packages", &debian.packages.join(" "));
    out::print(&text)
}

fn explained(image: &Image) -> String {
    let (manifest, config) = (image.manifest(), image.config());
    let mut text = out::wrapped(&out::one_line(&title(manifest)), INDENT, "");
    let mut row = |name: &str, words: &str| {
        if !words.is_empty() {
            text += &out::wrapped(&format!("  {name}"), INDENT, words);
        }
    };
    row("digest", manifest.digest.as_str());
    for name in other_names(manifest) {
        row("also", name);
    }
    row("from", &manifest.source);
    row(
        "made",
        &ago(UNIX_EPOCH + Duration::from_secs(manifest.made_seconds)),
    );
    let entries = counted(manifest.entries, "file");
    row("size", &format!("{}, {entries}", show_memory(manifest.bytes)));
    if manifest.left_out > 0 {
        row(
            "left out",
            &format!("{} devices, pipes and sockets", manifest.left_out),
        );
    }
    row("for", &format!("linux/{}", config.architecture));
    row("entrypoint", &config.entrypoint.join(" "));
    row("command", &config.cmd.join(" "));
    row("variables", &config.env.join(" "));
    row("user", config.user.as_deref().unwrap_or_default());
    row("starts in", config.working_dir.as_deref().unwrap_or_default());
    row("root", &image.rootfs().display().to_string());
    text
}

/// An image that was taken, or was there.
pub fn taken(image: &Image, name: Option<&str>, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return out::print_json(&PrintedImage::of(image));
    }
    let manifest = image.manifest();
    let name = name.map_or_else(|| title(manifest), str::to_owned);
    let entries = counted(manifest.entries, "file");
    let text = format!(
        "{}: {}, {entries}, {}\n",
        out::one_line(&name),
        show_memory(manifest.bytes),
        digits(manifest)
    );
    out::print(&text)
}
