//! `tare image`: images taken into the store from everywhere, listed and removed.

use crate::common::schema::Schema;
use crate::common::{self, Tare, can_build_images};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A tare with a root filesystem in `rootfs`.
fn with_rootfs() -> Tare {
    let tare = Tare::new();
    fs::create_dir_all(tare.path("rootfs/etc")).unwrap();
    fs::write(tare.path("rootfs/etc/motd"), "welcome\n").unwrap();
    tare
}

fn succeeds(command: &mut Command) {
    let done = command.output().unwrap();
    assert!(
        done.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
}

fn tar(tare: &Tare, folder: &str, to: &str, more: &[&str]) {
    let mut tar = Command::new("tar");
    tar.arg("-C")
        .arg(tare.path(folder))
        .args(["-cf"])
        .arg(tare.path(to))
        .args(more)
        .arg(".");
    succeeds(&mut tar);
}

/// What `tare image list --json` tells.
fn listed(tare: &Tare) -> Value {
    let list = tare.ok("image list --json").stdout;
    Schema::of("tare-image-list").holds(&list);
    serde_json::from_str(&list).unwrap()
}

/// The names of all images, an image by an image.
fn names(tare: &Tare) -> Vec<Vec<String>> {
    let list = listed(tare);
    let names = |image: &Value| serde_json::from_value(image["names"].clone()).unwrap();
    list["images"].as_array().unwrap().iter().map(names).collect()
}

/// Whether the store holds nothing of an image that was not made.
fn is_clean(tare: &Tare) -> bool {
    let entries = fs::read_dir(tare.path("state/images")).unwrap();
    !entries
        .map(|e| e.unwrap().file_name())
        .any(|name| name.to_string_lossy().starts_with('.'))
}

#[test]
fn an_image_is_imported_listed_shown_and_removed() {
    let tare = with_rootfs();
    let none = tare.ok("image").stdout;
    assert!(
        none.contains("tare image build micro") && none.contains("0 images, 0 B of at most 20 GiB"),
        "{none}"
    );
    let taken = tare.ok("image import ./rootfs --name mine:1").stdout;
    assert!(
        taken.starts_with("mine:1: ") && taken.contains(", 3 files, "),
        "{taken}"
    );
    let list = listed(&tare);
    assert_eq!(list["limit_bytes"], 20_u64 << 30);
    let unbuilt: Vec<&Value> = list["unbuilt"]
        .as_array()
        .unwrap()
        .iter()
        .map(|image| &image["name"])
        .collect();
    assert_eq!(unbuilt, ["all", "apps", "clusters", "micro"]);
    let image = &list["images"][0];
    assert_eq!(
        (&image["names"][1], &image["in_use"]),
        (&"mine:1".into(), &false.into())
    );
    let digest = image["digest"].as_str().unwrap();
    // By its name, its digest, the beginning of that, and where it came from.
    for name in ["mine:1", digest, &digest["sha256:".len()..][..8], "./rootfs"] {
        let shown: Value = serde_json::from_str(&tare.ok(&["image", "show", name, "--json"]).stdout).unwrap();
        assert_eq!(shown["digest"], digest, "{name}");
        let motd = Path::new(shown["rootfs"].as_str().unwrap()).join("etc/motd");
        assert_eq!(fs::read_to_string(motd).unwrap(), "welcome\n");
    }
    let shown = tare.ok("image show mine:1").stdout;
    assert!(
        shown.starts_with("mine:1\n") && shown.contains("for         linux/amd64"),
        "{shown}"
    );
    let cleaned = tare.ok("clean").stdout;
    assert!(
        cleaned.contains("left 1 image of ") && cleaned.contains("'tare image prune'"),
        "{cleaned}"
    );
    let removed = tare.ok("image remove mine:1").stdout;
    assert!(removed.starts_with("removed mine:1: "), "{removed}");
    assert!(names(&tare).is_empty() && is_clean(&tare));
    tare.refused(
        "image remove mine:1",
        &["there is no image \"mine:1\" in the store"],
    );
}

#[test]
fn archives_are_told_by_what_is_in_them() {
    let tare = with_rootfs();
    tar(&tare, "rootfs", "plain.tar", &[]);
    tar(&tare, "rootfs", "packed.tgz", &["-z"]);
    saved(&tare, "amd64", &["tools:1", "tools:2"]);
    tare.ok("image import ./plain.tar");
    tare.ok("image import ./packed.tgz");
    assert_eq!(names(&tare).len(), 1, "the same content is one image");
    tare.refused(
        "image import ./saved.tar",
        &["several images", "tools:1, tools:2"],
    );
    let one = tare
        .ok("image import ./saved.tar --part tools:2 --name two --json")
        .stdout;
    Schema::of("tare-image-show").holds(&one);
    let one: Value = serde_json::from_str(&one).unwrap();
    assert_eq!(one["config"]["env"][0], "A=1");
    assert_eq!(names(&tare).len(), 2, "one of them says how it is run");
    saved(&tare, "arm64", &["tools:1"]);
    tare.refused(
        "image import ./saved.tar",
        &["no image for linux/amd64, only for linux/arm64"],
    );
    assert!(is_clean(&tare));
}

/// An archive as `docker save` writes it, in `saved.tar`.
fn saved(tare: &Tare, architecture: &str, tags: &[&str]) {
    let at = tare.path("save");
    fs::create_dir_all(&at).unwrap();
    tar(tare, "rootfs", "save/layer.tar", &[]);
    let sum = Command::new("sha256sum")
        .arg(at.join("layer.tar"))
        .output()
        .unwrap();
    let digest = String::from_utf8_lossy(&sum.stdout)
        .split(' ')
        .next()
        .unwrap()
        .to_owned();
    let config = serde_json::json!({
        "architecture": architecture, "os": "linux", "config": {"Env": ["A=1"]},
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{digest}")]},
    });
    fs::write(at.join("c.json"), config.to_string()).unwrap();
    let image =
        |tag: &&str| serde_json::json!({"Config": "c.json", "RepoTags": [tag], "Layers": ["layer.tar"]});
    let list: Vec<Value> = tags.iter().map(image).collect();
    fs::write(at.join("manifest.json"), serde_json::json!(list).to_string()).unwrap();
    tar(tare, "save", "saved.tar", &[]);
}

#[test]
fn what_is_no_image_is_refused_and_leaves_nothing() {
    let tare = with_rootfs();
    fs::write(tare.path("text"), "no archive\n").unwrap();
    fs::write(tare.path("bad.toml"), "name = \"a\"\nsiute = \"bookworm\"\n").unwrap();
    let workload = "about = \"a\"\n[command]\nargv = [\"true\"]\nimage = \"./bad.toml\"\n";
    fs::write(tare.path("workload.toml"), workload).unwrap();
    let maven = "name = \"a\"\nsuite = \"bookworm\"\n[[maven]]\nartifacts = [\"-Dmaven.ext.class.path=/tmp/x.jar\"]\n\
        folder = \"/opt/a\"\n";
    fs::write(tare.path("maven.toml"), maven).unwrap();
    fs::write(
        tare.path("micro.toml"),
        "name = \"micro\"\nsuite = \"bookworm\"\n",
    )
    .unwrap();
    for (line, told) in [
        (
            "image import ./none",
            &["cannot read ./none", "give a folder"][..],
        ),
        ("image import ./text", &["it is not a tar archive"]),
        ("image import /dev/null", &["neither a folder nor a regular file"]),
        ("image import .", &["would be copied into itself"]),
        (
            "image import ./rootfs --name micro",
            &["ships with tare: choose another"],
        ),
        ("image import ./rootfs --name ./a", &["would be read as a file"]),
        ("image build bad.toml", &["bad.toml:2:1: unknown key 'siute'"]),
        (
            "run -p native -w ./workload.toml",
            &["bad.toml:2:1: unknown key 'siute'"],
        ),
        (
            "image build maven.toml",
            &["maven.toml:4:13: \"-Dmaven.ext.class.path=/tmp/x.jar\" is not a Maven artifact"],
        ),
        ("image build micro.toml", &["ships with tare: choose another"]),
        (
            "image build ./rootfs",
            &["no image './rootfs' to build: choose one of all, apps, clusters, micro"],
        ),
        ("image show mirco", &["no image \"mirco\""]),
        ("image import docker:a?b", &["is not an image name"]),
        ("image list --limit much", &["much"]),
    ] {
        tare.refused(line, told);
    }
    assert!(names(&tare).is_empty() && is_clean(&tare));
}

#[test]
fn a_hostile_archive_reaches_nothing_outside() {
    let tare = with_rootfs();
    let evil = tare.path("evil");
    fs::create_dir_all(&evil).unwrap();
    fs::write(evil.join("file"), "evil\n").unwrap();
    let mut pack = Command::new("tar");
    pack.arg("-C")
        .arg(&evil)
        .args(["-cPf"])
        .arg(tare.path("evil.tar"));
    succeeds(pack.args(["--transform", "s,^,../../../outside/,", "file"]));
    tare.refused("image import ./evil.tar", &["contains .."]);
    // A link that leads out of the image, and a file below it.
    fs::create_dir(tare.path("outside")).unwrap();
    std::os::unix::fs::symlink(tare.path("outside"), evil.join("out")).unwrap();
    let mut pack = Command::new("tar");
    pack.arg("-C")
        .arg(&evil)
        .args(["-cPf"])
        .arg(tare.path("evil.tar"));
    succeeds(pack.args(["--transform", "s,^file,out/file,", "out", "file"]));
    let _ = tare.run("image import ./evil.tar");
    assert_eq!(fs::read_dir(tare.path("outside")).unwrap().count(), 0);
    assert!(is_clean(&tare));
}

#[test]
fn what_was_used_last_is_kept_within_the_limit() {
    let tare = with_rootfs();
    for name in ["a", "b", "c"] {
        fs::write(tare.path("rootfs/etc/motd"), name.repeat(1 << 20)).unwrap();
        tare.ok(&format!("image import ./rootfs --name {name}"));
        // Times of use are those of the file system.
        std::thread::sleep(Duration::from_millis(20));
    }
    tare.ok("image show a");
    let pruned = tare.ok("image prune --limit 2M").stdout;
    assert!(pruned.starts_with("removed b: "), "{pruned}");
    let mut kept: Vec<String> = names(&tare)
        .into_iter()
        .flatten()
        .filter(|n| n.len() == 1)
        .collect();
    kept.sort();
    assert_eq!(kept, ["a"], "{pruned}");
    tare.ok("image prune --all");
    assert!(names(&tare).is_empty() && is_clean(&tare));
    assert_eq!(tare.ok("image prune").stdout, "nothing to remove\n");
}

#[test]
fn two_at_once_take_an_image_whole() {
    let tare = with_rootfs();
    fs::write(tare.path("rootfs/large"), vec![7; 64 << 20]).unwrap();
    tar(&tare, "rootfs", "plain.tar", &[]);
    let start = |what: &str| tare.command(&format!("image import {what}")).spawn().unwrap();
    let all = [
        start("./plain.tar"),
        start("./plain.tar"),
        start("./rootfs"),
        start("./rootfs"),
    ];
    for one in all {
        let ended = common::ended(one.wait_with_output().unwrap());
        assert_eq!(ended.code, 0, "{ended:?}");
    }
    assert_eq!(names(&tare).len(), 1);
    assert!(is_clean(&tare));
}

#[test]
fn an_import_that_is_killed_leaves_nothing_for_long() {
    let tare = with_rootfs();
    for file in 0..2000 {
        fs::write(tare.path(&format!("rootfs/{file}")), vec![1; 16 << 10]).unwrap();
    }
    let mut import = tare.spawn("image import ./rootfs");
    let begun = Instant::now();
    let is_begun = || fs::read_dir(tare.path("state/images")).is_ok_and(|_| !is_clean(&tare));
    while !is_begun() && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(1));
    }
    import.kill().unwrap();
    import.wait().unwrap();
    assert!(names(&tare).is_empty());
    tare.ok("image import ./rootfs");
    assert_eq!(names(&tare).len(), 1);
    assert!(is_clean(&tare));
}

#[test]
fn a_full_disk_is_told_and_leaves_nothing() {
    let tare = with_rootfs();
    let state = tare.path("state");
    fs::create_dir(&state).unwrap();
    let mut mount = Command::new("mount");
    mount
        .args(["-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs"])
        .arg(&state)
        .stderr(Stdio::null());
    if !mount.status().unwrap().success() {
        eprintln!("skipped: no tmpfs can be mounted");
        return;
    }
    let _mounted = Mounted(state);
    fs::write(tare.path("rootfs/large"), vec![7; 8 << 20]).unwrap();
    tar(&tare, "rootfs", "plain.tar", &[]);
    for what in ["./rootfs", "./plain.tar"] {
        tare.refused(&format!("image import {what}"), &["No space left on device"]);
        assert!(names(&tare).is_empty() && is_clean(&tare), "{what}");
    }
    fs::remove_file(tare.path("rootfs/large")).unwrap();
    tare.ok("image import ./rootfs");
}

/// A file system that goes with this.
struct Mounted(std::path::PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// An engine's command line, if the engine can be used.
fn engine(name: &str) -> bool {
    let asked = Command::new(name)
        .arg("images")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let answers = asked.is_ok_and(|status| status.success());
    let required = std::env::var_os("TARE_REQUIRE_ENGINES").is_some();
    assert!(answers || !required, "{name} does not answer");
    if !answers {
        eprintln!("skipped: {name} does not answer");
    }
    answers
}

/// An image of an engine, removed with this.
struct Imported {
    engine: &'static str,
    name: String,
    id: String,
}

impl Imported {
    fn new(engine: &'static str, tare: &Tare) -> Self {
        // As the folder of the test, which no other one has.
        let folder = tare.path("");
        let unique = folder.file_name().unwrap().to_string_lossy().to_lowercase();
        let name = format!("{}:1", unique.replace("tare-test-", "tare-test-image"));
        tar(tare, "rootfs", "engine.tar", &[]);
        let mut import = Command::new(engine);
        import.arg("import").arg(tare.path("engine.tar")).arg(&name);
        let told = common::ended(import.output().unwrap());
        assert_eq!(told.code, 0, "{told:?}");
        let id = told.stdout.lines().last().unwrap().trim().to_owned();
        Self { engine, name, id }
    }
}

impl Drop for Imported {
    fn drop(&mut self) {
        let _ = Command::new(self.engine)
            .args(["rmi", "--force", &self.id])
            .output();
    }
}

fn an_engines_image_is_taken_anew_when_it_changed(name: &'static str) {
    if !engine(name) {
        return;
    }
    let tare = with_rootfs();
    let first = Imported::new(name, &tare);
    let import = format!("image import {name}:{}", first.name);
    let digest = |of: &str| -> Value {
        let ended = tare.ok(&format!("{of} --json"));
        serde_json::from_str::<Value>(&ended.stdout).unwrap()["digest"].clone()
    };
    let taken = digest(&import);
    let made = |tare: &Tare| listed(tare)["images"][0]["made_seconds"].clone();
    let before = made(&tare);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(digest(&import), taken);
    assert_eq!(
        made(&tare),
        before,
        "an image that did not change is not taken again"
    );
    fs::write(tare.path("rootfs/etc/motd"), "changed\n").unwrap();
    let changed = Imported::new(name, &tare);
    assert_ne!(digest(&import), taken);
    assert_eq!(names(&tare).iter().filter(|names| names.len() == 1).count(), 1);
    drop((first, changed));
    tare.refused(&import, &[name, "no image of that name"]);
    assert!(is_clean(&tare));
}

#[test]
fn an_image_of_docker_is_taken_anew_when_it_changed() {
    an_engines_image_is_taken_anew_when_it_changed("docker");
}

#[test]
fn an_image_of_podman_is_taken_anew_when_it_changed() {
    an_engines_image_is_taken_anew_when_it_changed("podman");
}

#[test]
fn a_name_without_a_place_is_looked_for_in_engines_before_registries() {
    if !engine("docker") {
        return;
    }
    let tare = with_rootfs();
    let image = Imported::new("docker", &tare);
    tare.ok(&format!("image import {}", image.name));
    assert_eq!(names(&tare), [[format!("docker:{}", image.name)]]);
}

#[test]
fn a_name_that_is_nowhere_is_told_with_all_places() {
    let tare = with_rootfs();
    // No engine and no registry: the places are told all the same.
    let mut command = tare.command("image show rootfs");
    let shown = common::ended(command.output().unwrap());
    assert_eq!(shown.code, 2, "{shown:?}");
    let mut command = tare.command("image import rootfs");
    command
        .env("DOCKER_HOST", "unix:///nowhere/docker.sock")
        .env("https_proxy", "http://127.0.0.1:9");
    let ended = common::ended(command.output().unwrap());
    assert_eq!(ended.code, 2, "{ended:?}");
    for told in [
        "there is no image \"rootfs\": did you mean './rootfs'?",
        "docker (no Docker engine",
        "podman (",
        "docker.io/library/rootfs:latest (cannot reach docker.io",
    ] {
        assert!(
            ended.stderr.contains(told),
            "'{told}' is not in: {}",
            ended.stderr
        );
    }
    assert!(is_clean(&tare));
}

/// A registry on loopback with the image of `saved.tar` as `a/b:1`, which wants a password if there is one.
struct Registry {
    port: u16,
}

/// `user:right`, as a client sends it.
const RIGHT: &str = "authorization: Basic dXNlcjpyaWdodA==";

impl Registry {
    fn start(tare: &Tare, wants_password: bool) -> Self {
        let blobs = blobs(tare);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        // It ends with the process of the tests.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let _ = answer(&stream.unwrap(), &blobs, wants_password);
            }
        });
        Self { port }
    }

    fn name(&self, rest: &str) -> String {
        format!("127.0.0.1:{}/{rest}", self.port)
    }
}

/// What is served, by the end of its address.
fn blobs(tare: &Tare) -> BTreeMap<String, Vec<u8>> {
    saved(tare, "amd64", &["a/b:1"]);
    let mut blobs = BTreeMap::new();
    let mut put = |kind: &str, file: &str| {
        let bytes = fs::read(tare.path(file)).unwrap();
        let sum = Command::new("sha256sum").arg(tare.path(file)).output().unwrap();
        let hex = String::from_utf8_lossy(&sum.stdout)
            .split(' ')
            .next()
            .unwrap()
            .to_owned();
        let kind = format!("application/vnd.oci.image.{kind}");
        let described =
            serde_json::json!({"mediaType": kind, "size": bytes.len(), "digest": format!("sha256:{hex}")});
        blobs.insert(format!("sha256:{hex}"), bytes);
        described
    };
    let config = put("config.v1+json", "save/c.json");
    let layer = put("layer.v1.tar", "save/layer.tar");
    let kind = "application/vnd.oci.image.manifest.v1+json";
    let manifest =
        serde_json::json!({"schemaVersion": 2, "mediaType": kind, "config": config, "layers": [layer]});
    blobs.insert("1".to_owned(), manifest.to_string().into_bytes());
    blobs
}

/// Answers one question, and closes the connection.
fn answer(mut stream: &TcpStream, blobs: &BTreeMap<String, Vec<u8>>, wants_password: bool) -> io::Result<()> {
    let mut head = BufReader::new(stream).lines();
    let first = head.next().unwrap_or_else(|| Ok(String::new()))?;
    let mut is_known = !wants_password;
    for line in head {
        let line = line?;
        is_known |= line.eq_ignore_ascii_case(RIGHT);
        if line.is_empty() {
            break;
        }
    }
    let path = first.split(' ').nth(1).unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or_default();
    let found = blobs.get(last).filter(|_| path.starts_with("/v2/a/b/"));
    let (status, body) = match found {
        _ if !is_known => ("401 X\r\nwww-authenticate: Basic realm=\"r\"", &[][..]),
        Some(body) => ("200 X", &body[..]),
        None => ("404 X", &[][..]),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    )?;
    stream.write_all(body)
}

#[test]
fn an_image_of_a_registry_is_pulled_and_found_again() {
    let tare = with_rootfs();
    let registry = Registry::start(&tare, false);
    let name = registry.name("a/b:1");
    let pulled = tare.ok(&format!("image import {name} --name mine")).stdout;
    assert!(pulled.starts_with("mine: "), "{pulled}");
    assert_eq!(names(&tare), [[name.clone(), "mine".to_owned()]]);
    assert!(
        tare.ok(&format!("image show {name}"))
            .stdout
            .contains("variables   A=1")
    );
    tare.refused(
        &format!("image import {}", registry.name("a/b:2")),
        &["has no", "check its name and tag"],
    );
    assert!(is_clean(&tare));
}

#[test]
fn a_registry_gets_the_password_of_docker_login_and_a_wrong_one_is_told() {
    let tare = with_rootfs();
    let registry = Registry::start(&tare, true);
    let import = |auth: Option<&str>| {
        let auths = auth.map(|auth| serde_json::json!({registry.name(""): {"auth": auth}}));
        let config = serde_json::json!({"auths": auths.unwrap_or_else(|| serde_json::json!({}))});
        fs::write(tare.path("config.json"), config.to_string().replace("/\"", "\"")).unwrap();
        let mut command = tare.command(&format!("image import {}", registry.name("a/b:1")));
        common::ended(command.env("DOCKER_CONFIG", tare.path("")).output().unwrap())
    };
    for (auth, hint) in [
        (
            Some("dXNlcjp3cm9uZw=="),
            "the password of docker login may be wrong",
        ),
        (None, "log in with: docker login 127.0.0.1:"),
    ] {
        let refused = import(auth);
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains(hint), "{refused:?}");
        assert!(!refused.stderr.contains("dXNlcjp3cm9uZw"), "{refused:?}");
    }
    let pulled = import(Some("dXNlcjpyaWdodA=="));
    assert_eq!(pulled.code, 0, "{pulled:?}");
    assert!(is_clean(&tare));
}

/// An image of Debian's smallest set with one artifact, by the mirrors of this host.
const MAVEN: &str = r#"name = "jvm"
suite = "bookworm"
prepare = "mountpoint / && ls /opt/junit > /srv/seen && stat -c %u:%a /opt/junit/*.jar >> /srv/seen"

[[maven]]
artifacts = ["junit:junit:4.13.2"]
exclude = ["org.hamcrest:hamcrest-core"]
folder = "/opt/junit"
"#;

#[test]
#[ignore = "slow: make test-all"]
fn an_image_has_artifacts_of_maven_when_its_script_runs() {
    let tare = Tare::new();
    if !can_build_images() {
        return;
    }
    fs::write(tare.path("absent.toml"), MAVEN.replace("4.13.2", "4.13.99")).unwrap();
    let absent = tare.run("image build absent.toml");
    assert_eq!(absent.code, 2, "{absent:?}");
    assert!(
        absent.stderr.contains("mvn failed") && absent.stderr.contains("junit:junit:jar:4.13.99"),
        "{absent:?}"
    );
    fs::write(tare.path("jvm.toml"), MAVEN).unwrap();
    tare.ok("image build jvm.toml");
    let shown: Value = serde_json::from_str(&tare.ok("image show jvm --json").stdout).unwrap();
    let seen = Path::new(shown["rootfs"].as_str().unwrap()).join("srv/seen");
    assert_eq!(fs::read_to_string(seen).unwrap(), "junit-4.13.2.jar\n0:644\n");
    assert!(
        shown["source"]
            .as_str()
            .unwrap()
            .ends_with("; of Maven: junit:junit:4.13.2"),
        "{shown}"
    );
    assert!(is_clean(&tare));
}
