//! Times of what the store does with a Debian base: `import STORE SOURCE...`.
//!
//! `debian:SUITE` and `registry:REFERENCE` are sources too. Each is imported by what it is, found again, and made a disk of.

#![expect(clippy::print_stdout, reason = "it is a tool whose figures are its output")]

use std::fs::File;
use std::path::Path;
use std::time::Instant;
use tare_image::{Deadlines, DebianSpec, Image, ImageError, Mirrors, Store};

fn main() -> Result<(), ImageError> {
    let mut args = std::env::args().skip(1);
    let store = Store::open(Path::new(&args.next().unwrap_or_default()), 64 << 30)?;
    let stop = || false;
    for what in args {
        let begin = Instant::now();
        let image = import(&store, &what)?;
        let made = begin.elapsed();
        let manifest = image.manifest();
        println!(
            "{what}: {:.2} s, {} MB, {}",
            made.as_secs_f64(),
            manifest.bytes / 1_000_000,
            manifest.digest
        );
        let begin = Instant::now();
        import_again(&store, &what)?;
        println!("  found again: {:.3} s", begin.elapsed().as_secs_f64());
        let begin = Instant::now();
        image.disk(stop)?;
        println!("  disk: {:.2} s", begin.elapsed().as_secs_f64());
    }
    Ok(())
}

fn import(store: &Store, what: &str) -> Result<Image, ImageError> {
    let path = Path::new(what);
    let open = || {
        File::open(path).map_err(|source| ImageError::Tree {
            path: path.to_owned(),
            source,
        })
    };
    if let Some(suite) = what.strip_prefix("debian:") {
        return tare_image::from_debian(store, &spec(suite), || Mirrors::of_host(suite));
    }
    if let Some(reference) = what.strip_prefix("registry:") {
        let passwords = Path::new("/nowhere");
        return tare_image::from_registry(store, what, reference, passwords, Deadlines::default());
    }
    if path.join("index.json").exists() {
        return tare_image::from_oci_layout(store, what, path, None);
    }
    if path.is_dir() {
        return tare_image::from_directory(store, what, path);
    }
    if what.contains("archive") {
        return tare_image::from_archive(store, what, what, None, open()?);
    }
    tare_image::from_tarball(store, what, what, open()?)
}

fn import_again(store: &Store, what: &str) -> Result<Image, ImageError> {
    match what.strip_prefix("debian:") {
        Some(suite) => tare_image::from_debian(store, &spec(suite), || Mirrors::of_host(suite)),
        None => store.get(what),
    }
}

fn spec(suite: &str) -> DebianSpec {
    DebianSpec {
        suite: suite.to_owned(),
        components: vec!["main".to_owned()],
        packages: vec!["ca-certificates".to_owned()],
        snapshot: None,
        prepare: None,
        maven: Vec::new(),
    }
}
