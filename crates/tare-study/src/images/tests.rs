//! What is found by which text.

use super::*;
use std::fs;
use std::process::Command;

struct Place {
    folder: tempfile::TempDir,
    site: ImageSources,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let site = ImageSources::open(&folder.path().join("state"), DEFAULT_LIMIT).unwrap();
        fs::create_dir_all(folder.path().join("rootfs/etc")).unwrap();
        fs::write(folder.path().join("rootfs/etc/motd"), "welcome\n").unwrap();
        Self { folder, site }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn obtain(&self, what: &str) -> Result<(Image, Vec<Progress>), NoImage> {
        let mut told = Vec::new();
        let image = take(&Wish::of(what), &self.site, &mut |step| told.push(step))?;
        Ok((image, told))
    }
}

#[test]
fn a_folder_is_taken_once_and_anew_when_it_changed() {
    let place = Place::new();
    let rootfs = place.path("rootfs");
    let (first, told) = place.obtain(&rootfs).unwrap();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(first.manifest().names, std::slice::from_ref(&rootfs));
    let (again, told) = place.obtain(&rootfs).unwrap();
    assert_eq!((again.manifest(), told.len()), (first.manifest(), 1));
    std::thread::sleep(std::time::Duration::from_millis(20));
    fs::write(place.folder.path().join("rootfs/etc/motd"), "hello\n").unwrap();
    let (other, _) = place.obtain(&rootfs).unwrap();
    assert_ne!(other.manifest().digest, first.manifest().digest);
    assert_eq!(
        fs::read_to_string(other.rootfs().join("etc/motd")).unwrap(),
        "hello\n"
    );
}

#[test]
fn an_archive_and_a_folder_of_the_same_content_are_one_image() {
    let place = Place::new();
    let tar = place.path("image.tar.gz");
    let packed = Command::new("tar")
        .args(["-C", &place.path("rootfs"), "-czf", &tar, "."])
        .status();
    assert!(packed.unwrap().success());
    let (image, _) = place.obtain(&tar).unwrap();
    let (same, _) = place.obtain(&place.path("rootfs")).unwrap();
    assert_eq!(same.manifest().digest, image.manifest().digest);
    assert_eq!(place.site.store().list().unwrap().len(), 1);
    // Both are found again.
    for what in [tar, place.path("rootfs")] {
        assert_eq!(place.obtain(&what).unwrap().1.len(), 1, "{what}");
    }
    let digest = image.manifest().digest.hex().get(..12).unwrap().to_owned();
    let named = call(&image, "mine:1", &place.site).unwrap();
    for what in ["mine:1", &digest, named.manifest().digest.as_str()] {
        let (found, told) = place.obtain(what).unwrap();
        assert_eq!((found.manifest(), told.len()), (named.manifest(), 0), "{what}");
    }
}

#[test]
fn names_that_mean_something_else_are_refused() {
    let place = Place::new();
    let (image, _) = place.obtain(&place.path("rootfs")).unwrap();
    assert!(matches!(
        call(&image, "micro", &place.site),
        Err(NoImage::Reserved(_))
    ));
    assert!(matches!(
        call(&image, "docker:a", &place.site),
        Err(NoImage::Name(_))
    ));
    fs::write(
        place.folder.path().join("f.toml"),
        "name = \"micro\"\nsuite = \"bookworm\"\n",
    )
    .unwrap();
    assert!(matches!(
        place.obtain(&place.path("f.toml")),
        Err(NoImage::Reserved(_))
    ));
}

#[test]
fn a_path_that_is_no_image_is_told() {
    let place = Place::new();
    let told = |what: &str| place.obtain(what).unwrap_err().to_string();
    let missing = told(&place.path("none"));
    assert!(
        missing.contains("none: No such file") && missing.contains("; give a folder"),
        "{missing}"
    );
    assert!(matches!(place.obtain("/dev/null"), Err(NoImage::Kind(_))));
    let around = told(&place.path(""));
    assert!(around.contains("would be copied into itself"), "{around}");
    fs::write(place.folder.path().join("text"), "no archive\n").unwrap();
    assert!(told(&place.path("text")).contains("it is not a tar archive"));
    assert!(place.site.store().list().unwrap().is_empty());
}

#[test]
fn a_name_that_is_nowhere_is_told_with_all_places() {
    let nowhere = Nowhere {
        name: "mirco".to_owned(),
        near: Some("micro".to_owned()),
        looked: vec![
            ("the store".to_owned(), "it has none with a name".to_owned()),
            ("docker".to_owned(), "no Docker engine".to_owned()),
        ],
    };
    assert_eq!(
        nowhere.to_string(),
        "there is no image \"mirco\": did you mean 'micro'? looked in the store (it has none with a name); \
         in docker (no Docker engine)"
    );
    let place = Place::new();
    assert_eq!(near("mirco", &place.site).unwrap(), "micro");
    assert_eq!(near("zzz", &place.site), None);
}
