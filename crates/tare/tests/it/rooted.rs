//! Boxes whose root is an image: the same files, and the same way to run them, on every platform.

use crate::common::{Tare, left_of, ready};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Platforms without a kernel of their own whose boxes can have an image.
const CONTAINERS: [&str; 9] = [
    "native",
    "docker",
    "podman",
    "lxc",
    "nspawn",
    "runc",
    "crun",
    "runsc",
    "containerd",
];

/// And those with one.
const MACHINES: [&str; 2] = ["vm", "uml"];

/// Those whose root is another user of the host.
const WITH_USERNS: [&str; 3] = ["lxc?userns=on", "nspawn?userns=on", "runc?userns=on"];

/// Boxes in boxes, one for each way in which the outer one holds the image for the inner.
const NESTED: [&str; 5] = [
    "native/runc",
    "docker/runc",
    "lxc/crun",
    "runc/native/runc",
    "vm/docker",
];

/// What the image runs: it tells by figures who it is and whether all is as the image says.
const SCRIPT: &str = r#"#!/bin/sh
while read -r key value rest; do [ "$key" = Uid: ] && echo "user: $value"; done </proc/self/status
[ "$(pwd)" = /srv/app ] && [ "$GREETING" = hello ] && echo "right: 1"
[ -f /etc/in-image ] && [ ! -e /etc/not-in-image ] && echo "files: 1"
echo "arguments: $#"
"#;

fn run(program: &str, words: &[&str]) {
    let done = Command::new(program).args(words).output().unwrap();
    assert!(done.status.success(), "{program} {words:?}: {done:?}");
}

fn write(path: &Path, text: &str, mode: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A root filesystem with a shell of the host's, and links that lead to a file of the host's.
fn rootfs(tare: &Tare) -> PathBuf {
    let root = tare.path("rootfs");
    let told = Command::new("ldd").arg("/bin/sh").output().unwrap();
    let text = String::from_utf8(told.stdout).unwrap();
    let libraries = text.split_whitespace().filter(|word| word.starts_with('/'));
    for file in libraries.chain(["/bin/sh"]) {
        let copy = root.join(&file[1..]);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(file, &copy).unwrap();
    }
    write(&root.join("opt/app"), SCRIPT, 0o755);
    write(&root.join("etc/in-image"), "", 0o644);
    write(
        &root.join("etc/passwd"),
        "root:x:0:0::/:/bin/sh\napp:x:4242:4343::/:/bin/sh\n",
        0o644,
    );
    fs::create_dir_all(root.join("srv/app")).unwrap();
    fs::create_dir_all(root.join("tmp")).unwrap();
    let outside = tare.path("outside");
    fs::write(&outside, "of the host").unwrap();
    for name in ["tare", "work", "run"] {
        symlink(&outside, root.join(name)).unwrap();
    }
    root
}

/// An archive as engines save them, with a configuration.
fn archive(tare: &Tare, root: &Path) -> PathBuf {
    let folder = tare.path("saved");
    fs::create_dir(&folder).unwrap();
    let layer = folder.join("layer.tar");
    let tar = ["-C", root.to_str().unwrap(), "-cf", layer.to_str().unwrap(), "."];
    run("tar", &tar);
    let sum = Command::new("sha256sum").arg(&layer).output().unwrap();
    let digest = String::from_utf8_lossy(&sum.stdout[..64]).into_owned();
    let config = json!({
        "architecture": "amd64", "os": "linux",
        "config": {
            "Entrypoint": ["app", "one"], "Cmd": ["two"], "User": "app", "WorkingDir": "/srv/app",
            "Env": ["PATH=/opt:/bin", "GREETING=hello"],
        },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{digest}")] },
    });
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
    let manifest = json!([{ "Config": "config.json", "RepoTags": ["app:1"], "Layers": ["layer.tar"] }]);
    fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
    let saved = tare.path("app.tar");
    run(
        "tar",
        &[
            "-C",
            folder.to_str().unwrap(),
            "-cf",
            saved.to_str().unwrap(),
            ".",
        ],
    );
    saved
}

/// One short trial in boxes that every platform can make.
const RUN: &str =
    "run --provisioning pinned --cpus 1 --memory 512M --blocks 1 --no-settle --trial-time 100ms";

/// What is asked of the script: figures in what it prints.
fn asked<'a>(platforms: &'a str, output: &'a str) -> Vec<&'a str> {
    let mut words: Vec<&str> = RUN.split(' ').collect();
    words.extend(["-p", platforms, "-o", output]);
    for metric in ["uid", "right", "files", "arguments"] {
        words.extend([
            "--metric",
            match metric {
                "uid" => "uid=^user: (\\d+)$",
                "right" => "right=^right: (\\d+)$",
                "files" => "files=^files: (\\d+)$",
                _ => "arguments=^arguments: (\\d+)$",
            },
            "--unit",
            "op/s",
        ]);
    }
    words
}

fn samples(trial: &Value) -> Vec<f64> {
    let samples = &trial["outcome"]["ok"]["samples"];
    let names = ["uid", "right", "files", "arguments"];
    names.map(|name| samples[name].as_f64().unwrap_or(-1.0)).to_vec()
}

#[test]
fn an_image_runs_alike_in_every_container() {
    runs_alike(CONTAINERS.into_iter().chain(WITH_USERNS));
}

#[test]
#[ignore = "slow: make test-all"]
fn an_image_runs_alike_in_machines_and_in_boxes_in_boxes() {
    runs_alike(MACHINES.into_iter().chain(NESTED));
}

/// Runs an image on these platforms that are ready.
fn runs_alike(all: impl Iterator<Item = &'static str>) {
    let platforms: Vec<&str> = all.filter(|name| ready(name)).collect();
    let tare = Tare::new();
    // Those whose root is another user must get through.
    fs::create_dir_all(tare.path("state")).unwrap();
    for folder in ["", "state"] {
        fs::set_permissions(tare.path(folder), fs::Permissions::from_mode(0o711)).unwrap();
    }
    let root = rootfs(&tare);
    let saved = archive(&tare, &root);
    let list = platforms.join(",");
    let mut words = asked(&list, "r.jsonl");
    words.extend(["--image", saved.to_str().unwrap()]);
    let done = tare.run(&words);
    assert!(done.code < 2, "{done:?}");
    let trials = tare.records_of("r.jsonl", "trial");
    assert_eq!(trials.len(), platforms.len(), "{done:?}");
    for trial in &trials {
        assert_eq!(samples(trial), [4242.0, 1.0, 1.0, 2.0], "{trial}");
    }
    let header = &tare.records_of("r.jsonl", "header")[0];
    let digest = header["study"]["image"]["digest"].as_str().unwrap();
    assert!(digest.starts_with("sha256:"), "{header}");
    assert_eq!(fs::read_to_string(tare.path("outside")).unwrap(), "of the host");
    let left = left_of(&tare.run_name("r.jsonl"));
    assert!(left.is_empty(), "{left:?}");
    // The same again finds the image in the store, by its digest too.
    let short = &digest["sha256:".len()..][..12];
    let mut words = asked("native", "again.jsonl");
    words.extend([
        "--image",
        short,
        "--env",
        "GREETING=bye",
        "--",
        "three",
        "four",
        "five",
    ]);
    tare.run(&words);
    let trial = &tare.records_of("again.jsonl", "trial")[0];
    let why = trial["outcome"]["failed"].to_string();
    assert!(why.contains("right"), "an overridden variable is told: {trial}");
}

/// What cksum(1) of the host tells of a file.
fn checksum(file: &Path) -> f64 {
    let told = Command::new("cksum").arg(file).output().unwrap();
    let text = String::from_utf8(told.stdout).unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn what_is_carried_arrives_whole_beside_an_image() {
    arrives_whole(&["native", "docker", "lxc", "runc", "vm"]);
}

#[test]
#[ignore = "slow: make test-all"]
fn what_is_carried_arrives_whole_beside_an_image_on_every_platform() {
    arrives_whole(&[&CONTAINERS[..], &MACHINES].concat());
}

/// Carries a large file beside an image into a box of each platform.
fn arrives_whole(platforms: &[&str]) {
    let platforms: Vec<&str> = platforms.iter().copied().filter(|name| ready(name)).collect();
    let tare = Tare::new();
    let root = rootfs(&tare);
    fs::copy("/usr/bin/cksum", root.join("bin/cksum")).unwrap();
    let carried = tare.path("carried");
    // No part of it is like another one.
    let content = (0..400_000).fold(String::new(), |text, n| text + &n.to_string());
    fs::write(&carried, content).unwrap();
    let read = format!("cksum <{}", carried.display());
    let list = platforms.join(",");
    let mut words: Vec<&str> = RUN.split(' ').collect();
    words.extend(["-p", &list, "-o", "r.jsonl", "--image", root.to_str().unwrap()]);
    words.extend(["--with", carried.to_str().unwrap()]);
    words.extend(["--metric", "sum=^(\\d+) \\d+$", "--unit", "op/s"]);
    words.extend(["--", "sh", "-c", &read]);
    let done = tare.run(&words);
    let trials = tare.records_of("r.jsonl", "trial");
    assert_eq!(trials.len(), platforms.len(), "{done:?}");
    for trial in &trials {
        let sum = &trial["outcome"]["ok"]["samples"]["sum"];
        assert_eq!(sum.as_f64(), Some(checksum(&carried)), "{trial}");
    }
}

#[test]
fn an_entry_point_is_overridden_and_a_program_that_is_not_there_is_refused() {
    if !ready("native") {
        return;
    }
    let tare = Tare::new();
    let saved = archive(&tare, &rootfs(&tare));
    let image = saved.to_str().unwrap();
    let run = [
        "run",
        "-p",
        "native",
        "--provisioning",
        "pinned",
        "--cpus",
        "1",
        "--blocks",
        "1",
        "--no-settle",
        "--trial-time",
        "100ms",
    ];
    let with = |more: &[&'static str]| {
        let mut words = run.to_vec();
        words.extend(["--image", image]);
        words.extend(more);
        words
    };
    tare.refused(
        &with(&["--entrypoint", "", "--", "no-such"]),
        &["no program 'no-such' in the image", "/opt:/bin"],
    );
    tare.refused(&with(&["--entrypoint", "/tare"]), &["no program '/tare'"]);
    tare.ok(&with(&[
        "--entrypoint",
        "",
        "-o",
        "r.jsonl",
        "--",
        "sh",
        "-c",
        ":",
    ]));
    tare.ok(&with(&["--entrypoint", "sh", "-o", "s.jsonl", "--", "-c", ":"]));
    tare.ok(&with(&["-w", "syscall", "-o", "k.jsonl"]));
    // A platform whose boxes can have no image is told before anything is made.
    let mut words = with(&[]);
    words[2] = "native,fake";
    tare.refused(&words, &["fake", "image"]);
    words[2] = "native,runsc/native";
    tare.refused(&words, &["runsc/native", "image", "choose runc or crun"]);
    words[2] = "native,vm/podman";
    tare.refused(&words, &["vm/podman", "a copy of the image", "choose docker"]);
}

/// A workload of a program that is in its image alone.
const TOOL: &str = r#"about = "what an image holds"
metric = [{ name = "files", unit = "op/s", regex = '^files: (\d+)$' }]
[command]
argv = ["in-image-alone"]
package = "none-has-it"
image = "./rootfs"
"#;

/// A tare with that workload as `tool.toml`, its image, and one of a program that is nowhere as `nowhere.toml`.
fn with_tool_in_image() -> Tare {
    let tare = Tare::new();
    let root = rootfs(&tare);
    write(&root.join("bin/in-image-alone"), SCRIPT, 0o755);
    fs::write(tare.path("tool.toml"), TOOL).unwrap();
    let nowhere = TOOL.replace("in-image-alone", "in-no-image");
    fs::write(tare.path("nowhere.toml"), nowhere).unwrap();
    tare
}

/// How the runs of these tests are made.
const SHORT: &str = "--provisioning pinned --cpus 1 --memory 512M --blocks 1 --no-settle --trial-time 100ms";

#[test]
fn the_image_that_a_workload_names_is_taken_by_itself() {
    if !ready("native") || !ready("runc") {
        return;
    }
    let tare = with_tool_in_image();
    let asked = format!("-p native,runc -w ./tool.toml {SHORT}");
    let plan = tare.ok(&format!("plan {asked}")).stdout;
    assert!(
        plan.contains("./rootfs, not built yet: 'tare run' builds it"),
        "{plan}"
    );
    assert!(!tare.path("state/images").exists(), "a plan makes nothing");
    tare.ok(&format!("run {asked} -o r.jsonl"));
    let header = tare.records_of("r.jsonl", "header");
    assert_eq!(header[0]["study"]["image"]["name"], "./rootfs");
    let trials = tare.records_of("r.jsonl", "trial");
    assert_eq!(trials.len(), 2);
    for trial in &trials {
        assert_eq!(trial["outcome"]["ok"]["samples"]["files"], 1.0, "{trial}");
    }
    let plan = tare.ok(&format!("plan {asked}")).stdout;
    assert!(plan.contains("./rootfs (sha256:"), "{plan}");
    // Whoever goes on with the file means its image: it is the same study, and complete.
    let again = format!("run --resume r.jsonl {asked}");
    tare.refused(&again, &["r.jsonl is complete"]);
    let host = format!("plan {asked} --image none");
    tare.refused(&host, &["in-image-alone", "apt-get install none-has-it"]);
    // One platform without an image: the host's programs, and why.
    let bare = format!("plan {asked}").replace("runc", "fake");
    tare.refused(&bare, &["no image: ./rootfs", "'fake'", "in-image-alone"]);
    let twice = TOOL.replace("./rootfs", "./other");
    fs::write(tare.path("other.toml"), twice).unwrap();
    let two = asked.replace("./tool.toml", "./tool.toml,./other.toml");
    tare.refused(
        &format!("plan {two}"),
        &["one image", "./tool.toml names ./rootfs"],
    );
}

/// A client outside that prints what it can do to the host, of a server in the box.
const CONFINED: &str = r#"about = "what an end outside may do"
[command]
image = "./rootfs"
place = "outside"
argv = ["/bin/sh", "-c", """
while read -r key value; do case "$key" in CapEff:|CapBnd:) rights="$rights$value";; esac; done </proc/self/status
case "$rights" in *[!0]*) ;; *) echo "rightless: 1";; esac
for process in /proc/[0-9]*; do processes="x$processes"; done; echo "processes: ${#processes}"
for device in /dev/*; do devices="$devices ${device##*/}"; done
[ "$devices" = " fd full null random shm stderr stdin stdout urandom zero" ] && echo "devices: 1"
for file in /proc/sys/kernel/core_pattern /sys/kernel/mm/transparent_hugepage/enabled /proc/sysrq-trigger; do
  ( : >>"$file" ) 2>/dev/null && writes="x$writes"
done; [ -z "$writes" ] && echo "unwritten: 1"
: >/dev/null && [ -r /proc/cpuinfo ] && echo "works: 1"
"""]
[[role]]
name = "server"
place = "tested"
argv = ["/bin/sh", "-c", "echo ready; exec /bin/sleep 99"]
ready = { line = '^ready$' }
"#;

#[test]
fn an_end_outside_that_is_of_the_image_has_no_rights_on_the_host() {
    if !ready("native") || !ready("runc") {
        return;
    }
    let tare = Tare::new();
    let root = rootfs(&tare);
    fs::copy("/bin/sleep", root.join("bin/sleep")).unwrap();
    let names = ["rightless", "devices", "unwritten", "works", "processes"];
    let metric =
        |name: &&str| format!("[[metric]]\nname = \"{name}\"\nunit = \"op/s\"\nregex = '^{name}: (\\d+)$'\n");
    let metrics: String = names.iter().map(metric).collect();
    fs::write(tare.path("w.toml"), format!("{CONFINED}{metrics}")).unwrap();
    let asked = format!("-p native,runc?network=bridge -w ./w.toml {SHORT}");
    let plan = tare
        .ok(&format!("plan {asked}"))
        .stdout
        .replace("\n              ", " ");
    assert!(plan.contains("native does not isolate the image"), "{plan}");
    assert!(plan.contains("with its network, without capabilities"), "{plan}");
    tare.ok(&format!("run {asked} -o r.jsonl"));
    let mut trials = tare.records_of("r.jsonl", "trial");
    // On a host that others use one may have been repeated.
    trials.retain(|trial| trial["outcome"]["ok"].is_object());
    assert_eq!(trials.len(), 2, "{trials:?}");
    for trial in &trials {
        let samples = &trial["outcome"]["ok"]["samples"];
        let value = |name: &str| {
            samples[name]
                .as_f64()
                .unwrap_or_else(|| panic!("{name}: {trial}"))
        };
        assert!(names[..4].iter().all(|name| value(name) == 1.0), "{trial}");
        // The agent, what starts the shell, and the shell.
        assert!(value("processes") <= 3.0, "{trial}");
    }
}

/// What keeps a study from running here, whatever its image holds, is told before that is made.
#[test]
fn no_image_is_made_for_boxes_that_lack_the_network_that_is_needed() {
    if !ready("native") || !ready("runc") {
        return;
    }
    let tare = with_tool_in_image();
    let study = "title = \"reach\"
image = \"./rootfs\"
workload = [{ name = \"tcp-rr\", ends = \"client-outside\" }]
[factors]
platforms = [\"runc\"]
provisioning = \"pinned\"
cpus = 1
memory = \"256M\"
[protocol]
blocks = 1
settle = false
";
    fs::write(tare.path("s.toml"), study).unwrap();
    let reach = "no network with this host";
    let options = format!("run -p native,runc -w tcp-rr?ends=client-outside {SHORT} --image ./rootfs");
    for (args, words) in [
        (options.as_str(), [reach, "platform 'runc' cannot run"]),
        ("run s.toml", [reach, "nothing can be measured"]),
        // Boxes of this platform can have none at all.
        (
            "run -p fake -w syscall --cpus 1 --image ./rootfs",
            ["'fake'", "cannot use an image"],
        ),
    ] {
        tare.refused(&format!("{args} -o r.jsonl"), &words);
        let images: Value = serde_json::from_str(&tare.ok("image list --json").stdout).unwrap();
        assert_eq!(images["images"], json!([]), "{args}");
    }
    assert!(!tare.path("r.jsonl").exists());
}

#[test]
#[ignore = "slow: make test-all"]
fn a_study_leaves_out_what_the_image_of_its_workloads_does_not_have() {
    if !ready("native") {
        return;
    }
    let tare = with_tool_in_image();
    let study = "title = \"what an image has\"
workload = [{ name = \"./tool.toml\" }, { name = \"./nowhere.toml\" }]
[factors]
platforms = [\"native\"]
provisioning = \"pinned\"
cpus = 1
memory = \"512M\"
[protocol]
blocks = 1
settle = false
";
    fs::write(tare.path("s.toml"), study).unwrap();
    let told = tare.ok("run ./s.toml -o r.jsonl").stderr;
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("skipped: workload nowhere: its program in-no-image is not in the image ./rootfs"),
        "{told}"
    );
    let trials = tare.records_of("r.jsonl", "trial");
    assert_eq!(trials.len(), 1);
    assert!(trials[0]["outcome"]["ok"].is_object(), "{trials:?}");
    let told = tare.run("plan ./s.toml --image none").stdout;
    for program in ["in-image-alone", "in-no-image"] {
        assert!(told.contains(&format!("its program {program} is not")), "{told}");
    }
}

#[test]
fn nothing_is_left_of_a_run_with_an_image_that_was_killed() {
    if !ready("native") || !ready("lxc") {
        return;
    }
    let tare = Tare::new();
    let saved = archive(&tare, &rootfs(&tare));
    let line = "run -p native,lxc --provisioning pinned --cpus 1 --no-settle --blocks 1 --trial-time 60s --timeout 100s -o r.jsonl --entrypoint sh --image";
    let mut words: Vec<&str> = line.split(' ').collect();
    words.extend([saved.to_str().unwrap(), "--", "-c", "while :; do :; done"]);
    let mut child = tare.spawn(&words);
    let deadline = Instant::now() + Duration::from_secs(60);
    let state = tare.path("state").display().to_string();
    let roots = || {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        let ours = mounts.lines().filter(|line| line.contains(&state));
        ours.map(str::to_owned).collect::<Vec<String>>()
    };
    while !roots().iter().any(|line| line.contains("/rootfs overlay")) {
        assert!(Instant::now() < deadline, "no box with an image was made");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let cleaned = tare.ok("clean");
    assert!(roots().is_empty(), "{:?}\n{cleaned:?}", roots());
}
