//! By programs that take the place of Maven; by Maven itself where it is.

use super::*;
use crate::fixture::WorkFolder as Folder;
use std::os::unix::fs::PermissionsExt;

fn program(site: &Folder, text: &str) -> PathBuf {
    let path = site.at("program");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn spec(artifact: &str, take: Take, folder: &str) -> MavenSpec {
    MavenSpec {
        artifacts: vec![artifact.to_owned()],
        take,
        exclude: Vec::new(),
        folder: folder.to_owned(),
    }
}

/// What would be unpacked into an image: paths with owner, mode and length.
fn entries(archive: &Path) -> Vec<(String, u64, u32, u64)> {
    let mut archive = tar::Archive::new(File::open(archive).unwrap());
    let entries = archive.entries().unwrap().map(|entry| {
        let entry = entry.unwrap();
        let header = entry.header();
        let path = entry.path().unwrap().display().to_string();
        (
            path,
            header.uid().unwrap(),
            header.mode().unwrap() & 0o7777,
            entry.size(),
        )
    });
    entries.collect()
}

fn fetched(site: &Folder, specs: &[MavenSpec], mvn: &Path) -> Result<PathBuf, ImageError> {
    let at = site.at("image");
    fs::create_dir(&at).unwrap();
    archive(specs, mvn.as_os_str(), &at, &at.join("output"), &site.store())
}

#[test]
fn artifacts_land_in_their_folders_and_archives_are_unpacked_there() {
    let site = Folder::new();
    fs::write(site.at("a.tar.gz"), crate::fixture::gzip(&site.tar(&[]))).unwrap();
    let text = format!(
        "for w; do case $w in -DoutputDirectory=*) to=${{w#*=}}; esac; done
        cp {} \"$to/a-1.tar.gz\"; chmod 600 \"$to/a-1.tar.gz\"",
        site.at("a.tar.gz").display()
    );
    let specs = [
        spec("g:a:1", Take::Alone, "/opt/whole"),
        spec("g:a:1:tar.gz", Take::Unpacked, "/srv/parts"),
    ];
    let archive = fetched(&site, &specs, &program(&site, &text)).unwrap();
    let entries = entries(&archive);
    let (path, owner, mode, _) = &entries[0];
    assert_eq!((path.as_str(), *owner, *mode), ("opt/whole/a-1.tar.gz", 0, 0o644));
    let su = entries
        .iter()
        .find(|entry| entry.0 == "srv/parts/usr/bin/su")
        .unwrap();
    assert_eq!(
        (su.1, su.2, su.3),
        (0, 0o755, 7),
        "nobody gets root's rights from an archive"
    );
    assert!(
        entries
            .iter()
            .all(|entry| entry.0.starts_with("opt/whole/") || entry.0.starts_with("srv/parts/"))
    );
    assert!(!site.at("image/maven").exists());
}

#[test]
fn the_first_error_is_told_and_what_to_install() {
    let site = Folder::new();
    let text = "printf '\\033[0m[ERROR] no artifact g:a:1 -> [Help 1]\\n[ERROR] \\n[ERROR] read the manual\\n'; exit 1";
    let specs = [spec("g:a:1", Take::All, "/opt/a")];
    let failed = fetched(&site, &specs, &program(&site, text))
        .unwrap_err()
        .to_string();
    assert!(
        failed.contains("(exit status: 1): no artifact g:a:1 -> [Help 1]; its"),
        "{failed}"
    );
    fs::remove_dir_all(site.at("image")).unwrap();
    let absent = fetched(&site, &specs, Path::new("mvn-that-is-absent"))
        .unwrap_err()
        .to_string();
    assert!(absent.contains("cannot run mvn-that-is-absent"), "{absent}");
    let absent = ImageError::Start {
        program: "mvn".to_owned(),
        source: io::ErrorKind::NotFound.into(),
    };
    assert!(absent.to_string().ends_with("apt-get install maven)"), "{absent}");
}

#[test]
fn maven_is_given_names_in_its_project_alone() {
    let site = Folder::new();
    let text = format!("echo \"$@\" > {}", site.at("log").display());
    fetched(
        &site,
        &[spec("g:a-name:1", Take::All, "/opt/a")],
        &program(&site, &text),
    )
    .unwrap();
    let log = fs::read_to_string(site.at("log")).unwrap();
    assert!(!log.contains("a-name") && !log.contains("/opt/a"), "{log}");
}
