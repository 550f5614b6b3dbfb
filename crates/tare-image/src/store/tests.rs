use super::*;
use crate::ImageError as E;
use std::os::unix::fs::{PermissionsExt, symlink};

fn store(limit: u64) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store"), limit).unwrap();
    (folder, store.with_patience(Duration::from_millis(300)))
}

fn put(store: &Store, name: &str, text: &str) -> Result<Image, ImageError> {
    store.make(
        name,
        || None,
        |at| {
            fs::write(at.join("rootfs/text"), text).unwrap();
            symlink("text", at.join("rootfs/link")).unwrap();
            Ok(Filled {
                config: Config::default(),
                source: "a test".to_owned(),
                left_out: 0,
            })
        },
    )
}

fn left(store: &Store) -> usize {
    fs::read_dir(&store.path).unwrap().count() - 2
}

#[test]
fn images_are_found_by_name_and_digest() {
    let (_folder, store) = store(1 << 30);
    let one = put(&store, "one", "1").unwrap();
    let digest = one.manifest().digest.clone();
    for name in ["one", digest.as_str(), digest.hex(), &digest.hex()[..8]] {
        assert_eq!(store.get(name).unwrap().manifest(), one.manifest());
    }
    assert_eq!(fs::read_to_string(one.rootfs().join("text")).unwrap(), "1");
    let unknown = store.get("two").unwrap_err().to_string();
    assert_eq!(unknown, "there is no image \"two\" in the store: it has one");
    // The same content is the same image, under both names.
    let again = put(&store, "two", "1").unwrap();
    assert_eq!(again.manifest().digest, digest);
    assert_eq!(again.manifest().names, ["one", "two"]);
    // A name goes over to the newest; another content is another image.
    let other = put(&store, "two", "2").unwrap();
    assert_ne!(other.manifest().digest, digest);
    assert_eq!(store.get("one").unwrap().manifest().names, ["one"]);
    assert_eq!(store.list().unwrap().len(), 2);
    assert_eq!(left(&store), 0);
    for wrong in ["", "a\nb", "sha256:x", &"n".repeat(301)] {
        assert!(matches!(put(&store, wrong, "1"), Err(E::Name(_))), "{wrong}");
    }
}

#[test]
fn an_image_is_found_in_the_state_alone_that_its_source_had() {
    let (_folder, store) = store(1 << 30);
    let one = put(&store, "one", "1").unwrap();
    let found = |name, state| store.get_as(name, state).unwrap().is_some();
    assert!(!found("one", "s") && !found("two", "s"));
    let called = store.call(&one, "two", Some("s")).unwrap();
    assert_eq!(called.manifest().names, ["one", "two"]);
    assert!(found("two", "s") && !found("two", "t") && !found("one", "s"));
    // Made anew by a source that says nothing of its state.
    put(&store, "two", "1").unwrap();
    assert!(!found("two", "s"));
    // Another image takes the name and what was known of it.
    store.call(&one, "two", Some("s")).unwrap();
    let other = put(&store, "other", "2").unwrap();
    store.call(&other, "two", Some("t")).unwrap();
    assert!(found("two", "t") && !found("two", "s"));
    assert_eq!(store.get("one").unwrap().manifest().names, ["one"]);
    assert!(matches!(store.call(&one, "a\nb", None), Err(E::Name(_))));
}

#[test]
fn an_image_in_use_is_not_removed() {
    let (_folder, store) = store(1 << 30);
    let image = put(&store, "one", "1").unwrap();
    let second = store.get("one").unwrap();
    assert!(store.list().unwrap()[0].in_use);
    drop(image);
    assert!(matches!(store.remove("one"), Err(E::InUse(_))));
    drop(second);
    assert_eq!(store.remove("one").unwrap().names, ["one"]);
    assert!(matches!(store.get("one"), Err(E::Unknown { .. })));
    assert_eq!(left(&store), 0);
}

#[test]
fn those_go_first_that_were_not_used_for_longest() {
    let (_folder, small) = store(1);
    let large = Store::open(&small.path, 1 << 30).unwrap();
    let pause = || std::thread::sleep(Duration::from_millis(20));
    for name in ["a", "b", "c"] {
        put(&large, name, name).unwrap();
        pause();
    }
    drop(large.get("a").unwrap());
    let used = large.get("c").unwrap();
    let each = large.list().unwrap()[0].bytes;
    let names = |gone: Vec<Manifest>| gone.into_iter().flat_map(|m| m.names).collect::<Vec<_>>();
    let two = Store::open(&small.path, 2 * each).unwrap();
    assert_eq!(names(two.prune().unwrap()), ["b"]);
    assert_eq!(names(small.prune().unwrap()), ["a"]);
    drop(used);
    assert_eq!(names(small.prune().unwrap()), ["c"]);
    assert_eq!(left(&small), 0);
}

#[test]
fn what_a_crash_left_is_swept() {
    let (_folder, store) = store(1 << 30);
    let dead = store.path.join(".building-dead/rootfs/deep");
    fs::create_dir_all(&dead).unwrap();
    fs::set_permissions(&dead, fs::Permissions::from_mode(0o000)).unwrap();
    let alive = store.building().unwrap();
    put(&store, "one", "1").unwrap();
    assert!(!dead.exists() && alive.path.exists());
    drop(alive);
    // Nor does a source leave anything that fails.
    let failed = store.make("two", || None, |_| Err(E::Stopped));
    assert!(matches!(failed, Err(E::Stopped)));
    assert_eq!(left(&store), 0);
}

#[test]
fn two_that_make_the_same_wait_for_one_another() {
    let (_folder, store) = store(1 << 30);
    let lock = store.lock_name("one").unwrap();
    let busy = put(&store, "one", "1").unwrap_err().to_string();
    assert!(busy.contains("another process makes the image \"one\""), "{busy}");
    put(&store, "other", "1").unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| put(&store, "one", "1").map(|_| ()));
        std::thread::sleep(Duration::from_millis(50));
        drop(lock);
        waiting.join().unwrap().unwrap();
    });
    // Whoever waited takes what the other made.
    let found = store
        .make("one", || store.get("one").ok(), |_| Err(E::Stopped))
        .unwrap();
    assert_eq!(found.manifest().names, ["other", "one"]);
}

#[test]
fn a_store_is_its_users_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    Store::open(&path, 1).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(Store::open(&path, 1), Err(E::Open { .. })));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(Store::open(&path, 1), Err(E::Open { .. })));
}

#[test]
fn a_digest_is_of_all_that_a_box_sees() {
    let digest = |change: &dyn Fn(&Path), config: &Config| {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        fs::set_permissions(at, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(at.join("d")).unwrap();
        fs::write(at.join("d/f"), "1").unwrap();
        fs::write(at.join("g"), "1").unwrap();
        symlink("g", at.join("l")).unwrap();
        change(at);
        tree::measure(at, config, 10, || false).unwrap().digest
    };
    let plain = digest(&|_| {}, &Config::default());
    assert_eq!(digest(&|_| {}, &Config::default()), plain);
    // Times and hard links do not count.
    let linked = |at: &Path| {
        fs::remove_file(at.join("g")).unwrap();
        fs::hard_link(at.join("d/f"), at.join("g")).unwrap();
    };
    assert_eq!(digest(&linked, &Config::default()), plain);
    let changes: [&dyn Fn(&Path); 5] = [
        &|at| fs::write(at.join("g"), "2").unwrap(),
        &|at| fs::rename(at.join("g"), at.join("h")).unwrap(),
        &|at| fs::set_permissions(at.join("g"), fs::Permissions::from_mode(0o4755)).unwrap(),
        &|at| fs::create_dir(at.join("e")).unwrap(),
        &|at| {
            fs::remove_file(at.join("l")).unwrap();
            symlink("d", at.join("l")).unwrap();
        },
    ];
    for change in changes {
        assert_ne!(digest(change, &Config::default()), plain);
    }
    let config = Config {
        user: Some("1000".to_owned()),
        ..Config::default()
    };
    assert_ne!(digest(&|_| {}, &config), plain);
}
