//! Every bad input: one message with what, why and what next, exit code 2, and
//! nothing written or left.

use crate::common::{self, Refusals, Tare, Words, ended};
use insta::assert_snapshot;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

fn run(tare: &Tare, more: &[&str], words: &[&str]) {
    let mut args = vec!["run", "-o", "out.jsonl"];
    args.extend(more);
    tare.refused(&args, words);
    assert!(!tare.path("out.jsonl").exists(), "{more:?} left a results file");
}

#[test]
fn hosts_that_cannot_be_used_are_refused_before_anything_is_sent() {
    let tare = Tare::beside_others();
    let mut page = Refusals::of(&tare);
    for hostile in [
        "ssh:-oProxyCommand=x",
        "ssh:a;b",
        "ssh:../x",
        "ssh:a b",
        "ssh:a\nb",
    ] {
        page.run(&["-p", hostile]);
    }
    page.run(&["-p", "docker:box"]);
    for path in [
        "docker?userns=on",
        "podman?seccomp=none",
        "runc?seccomp=default",
        "lxc?capabilities=some",
        "native?seccomp=off",
        "vm?cache=none",
        "libvirt?storage=volume",
        "vm?storage=raw&cache=off",
        "vm?storage=raw/runc",
        "docker?storage=overlay",
        "docker?storage=own/runc",
        "docker?seccomp=off/runc",
    ] {
        page.run(&["-p", path]);
    }
    page.run(&["-p", "ssh:box/dokcer"]);
    for path in ["ssh:box/fake", "ssh:box/ssh:other", "docker/ssh:box"] {
        page.run(&["-p", path]);
    }
    page.run(&["-p", "ssh:box/vm"]);
    let with = |program: &str, path: &str| {
        let mut command = tare.command(&["run", "-p", path, "-o", "out.jsonl"]);
        ended(command.env("TARE_SSH", program).output().unwrap())
    };
    for (program, path, words) in [
        ("/bin/true", "ssh", ["no host is given", "write ssh:HOST"]),
        (
            "/nowhere/ssh",
            "ssh:box",
            ["no /nowhere/ssh on PATH", "install it"],
        ),
        (
            "/bin/false",
            "ssh:box",
            ["box cannot be used", "make 'ssh box true' work"],
        ),
        ("/bin/echo", "ssh:box", ["prints more or less", "start files"]),
    ] {
        let refused = with(program, path);
        assert_eq!(refused.code, 2, "{program}: {}", refused.stderr);
        for word in words {
            assert!(refused.stderr.contains(word), "{word}: {}", refused.stderr);
        }
    }
    assert!(!tare.path("out.jsonl").exists());
    assert_snapshot!(page.page());
}

#[test]
fn unknown_names_are_named_with_the_known_ones() {
    let tare = Tare::beside_others();
    let mut page = Refusals::of(&tare);
    page.run(&["-p", "dokcer"]);
    page.run(&["-p", "native", "-w", "steam"]);
    page.run(&["--colour"]);
    page.run(&["-p", "fake?colour=red", "--cpus", "1"]);
    page.run(&["-p", "fake?cost=cheap", "--cpus", "1"]);
    page.run(&["-p", "docker/vm", "--cpus", "1"]);
    page.run(&["-p", "libvirt?machine=microvm", "--cpus", "1"]);
    page.run(&["-p", "vm/dokcer"]);
    page.run(&["-p", "native", "--instance", "16xlarge"]);
    page.run(&["-p", "native", "--instance", "a=1"]);
    page.run(&["-p", "native", "--instance", "a=2:1G:1"]);
    page.run(&["-p", "native", "--instance", "a=1:1G:4096"]);
    page.run(&["-p", "native", "--instance", "a=1:1G", "--memory", "1G"]);
    page.run(&["-p", "vm?accel=xen", "--cpus", "1"]);
    page.add("kernel steam");
    page.add("man rum");
    assert_snapshot!(page.page());
}

#[test]
fn what_belongs_to_one_kernel_is_refused_with_the_others() {
    let tare = Tare::beside_others();
    let mut page = Refusals::of(&tare);
    for name in ["linpack", "syscall", "spawn"] {
        page.add(&["kernel", name, "--threads", "4"]);
    }
    for name in ["syscall", "spawn"] {
        page.add(&["kernel", name, "--size", "1M"]);
    }
    page.add("kernel linpack --size 1e99");
    page.add("kernel stream --size 1e99");
    page.add("kernel stream --threads 0");
    assert_snapshot!(page.page());
}

#[test]
fn a_missing_or_second_subject_is_refused() {
    let tare = Tare::beside_others();
    let mut page = Refusals::of(&tare);
    page.run(&["-p", "fake", "--cpus", "1", "--"]);
    page.add("plan -p fake --");
    page.run(&["-p", "fake", "-w", "stream", "--", "true"]);
    page.run(&["-p", "fake", "--isa", "v3", "--", "true"]);
    page.run(&["--resume", "r.jsonl"]);
    assert_snapshot!(page.page());
}

#[test]
fn arguments_that_are_no_text_are_shown() {
    use std::os::unix::ffi::OsStrExt;
    let tare = Tare::beside_others();
    let mut command = tare.command("run -p fake --");
    command.arg(std::ffi::OsStr::from_bytes(b"a\xffb"));
    let done = ended(command.output().unwrap());
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(
        done.stderr.contains("UTF-8")
            && done.stderr.contains(r#""a\xFFb""#)
            && done.stderr.contains("not in a command"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_page_never_takes_the_place_of_results() {
    let tare = Tare::beside_others();
    let same = ["is the results file", "--html"];
    run(&tare, &["-p", "fake", "--html", "./out.jsonl"], &same);
    std::fs::write(tare.path("old.jsonl"), "kept").unwrap();
    tare.refused("report old.jsonl --html ./old.jsonl", &same);
    assert_eq!(std::fs::read(tare.path("old.jsonl")).unwrap(), b"kept");
}

#[test]
fn a_page_takes_the_place_of_nothing_but_a_page() {
    let tare = Tare::beside_others();
    let mut page = Refusals::of(&tare);
    tare.ok("run -p fake --blocks 1 --no-settle -o r.jsonl --html p.html");
    tare.ok("report r.jsonl --html p.html");
    std::fs::write(tare.path("notes.txt"), "kept").unwrap();
    for path in ["notes.txt", "/dev/full", "/dev/null"] {
        page.add(&["report", "r.jsonl", "--html", path]);
        page.run(&["-p", "fake", "--html", path]);
    }
    assert_eq!(std::fs::read(tare.path("notes.txt")).unwrap(), b"kept");
    // A name that ends as a partial page might is nobody's but the user's.
    std::fs::write(tare.path("p.html.partial"), "kept").unwrap();
    std::os::unix::fs::symlink("p.html", tare.path("link.html")).unwrap();
    page.add("report r.jsonl --html link.html");
    page.run(&["-p", "fake", "--html", "link.html"]);
    tare.ok("report r.jsonl --html p.html");
    assert_eq!(std::fs::read(tare.path("p.html.partial")).unwrap(), b"kept");
    assert!(tare.path("link.html").is_symlink());
    assert_snapshot!(page.page());
}

/// What others may put where everybody may write: a link out of a folder of all users.
#[test]
fn no_link_of_another_user_is_followed_to_what_is_written() {
    use std::os::unix::fs::{PermissionsExt, lchown, symlink};
    let tare = Tare::beside_others();
    tare.ok("run -p fake --blocks 1 --no-settle -o r.jsonl --html p.html");
    let page = std::fs::read(tare.path("p.html")).unwrap();
    let shared = tare.path("shared");
    std::fs::create_dir(&shared).unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o1777)).unwrap();
    // A page, so that only the link is in the way; and a file that is not there yet.
    std::fs::write(tare.path("theirs.html"), "<!DOCTYPE html>kept").unwrap();
    for (name, target) in [
        ("page.html", "../theirs.html"),
        ("astray.html", "../new.html"),
        ("r.jsonl", "../r.jsonl"),
    ] {
        symlink(target, shared.join(name)).unwrap();
        if lchown(shared.join(name), Some(65534), Some(65534)).is_err() {
            // Without root nobody can be another user; a link is a link.
            eprintln!("not root: the links are our own");
        }
    }
    for page in ["shared/page.html", "shared/astray.html"] {
        let link = ["is a symbolic link", page];
        tare.refused(&["report", "r.jsonl", "--html", page], &link);
        run(&tare, &["-p", "fake", "--html", page], &link);
    }
    for output in ["shared/astray.html", "shared/r.jsonl"] {
        tare.refused(
            &["run", "-p", "fake", "--no-settle", "-o", output],
            &["already exists", output],
        );
    }
    let kept = std::fs::read(tare.path("theirs.html")).unwrap();
    assert_eq!(kept, b"<!DOCTYPE html>kept");
    assert!(!tare.path("new.html").exists());
    assert_eq!(std::fs::read(tare.path("p.html")).unwrap(), page);
    let left = std::fs::read_dir(&shared).unwrap().count();
    assert_eq!(left, 3, "nothing is left beside the links");
}

#[test]
fn a_pipe_is_not_waited_for() {
    let tare = Tare::beside_others();
    let mut page = Refusals::of(&tare);
    let made = Command::new("mkfifo").arg(tare.path("pipe")).status();
    assert!(made.unwrap().success());
    page.add("run -p fake --no-settle -o pipe");
    page.add("run --resume pipe");
    page.add("report pipe --html p.html");
    tare.ok("run -p fake --blocks 1 --no-settle -o r.jsonl");
    page.add("report r.jsonl --html pipe");
    assert_snapshot!(page.page());
}

#[test]
fn a_clock_that_was_set_back_spoils_nothing() {
    let tare = Tare::beside_others();
    tare.ok("run -p fake,fake?cost=2 --cpus 1 --blocks 2 --no-settle --seed 1 -w linpack -o r.jsonl");
    let text = std::fs::read_to_string(tare.path("r.jsonl")).unwrap();
    let end = text.rfind("{\"record\":\"end\"").unwrap();
    // Begun at the end of time, ended at its beginning.
    let set: Vec<String> = text[..end]
        .split("\"started_unix_ns\":")
        .enumerate()
        .map(|(i, part)| match i {
            0 => part.to_owned(),
            _ => format!(
                "{}{}",
                u64::MAX,
                part.trim_start_matches(|c: char| c.is_ascii_digit())
            ),
        })
        .collect();
    let altered = set.join("\"started_unix_ns\":")
        + "{\"record\":\"end\",\"reason\":\"interrupted\",\"ended_unix_ns\":0}\n";
    std::fs::write(tare.path("r.jsonl"), altered).unwrap();
    tare.ok("report r.jsonl --html p.html");
    tare.ok("run --resume r.jsonl");
}

#[test]
fn an_engine_that_cannot_be_asked_is_not_missing() {
    let tare = Tare::beside_others();
    let binary = common::binary();
    let few = format!(
        "ulimit -n 8; exec {} plan -p runc --state-dir state",
        binary.display()
    );
    let mut command = Command::new("sh");
    command.args(["-c", &few]).current_dir(tare.path("."));
    let done = ended(command.output().unwrap());
    if done.stderr.contains("not root") {
        return;
    }
    assert_eq!(done.code, 2, "{}", done.stderr);
    let words = ["cannot run runc", "it may be installed"];
    let told = words.iter().all(|word| done.stderr.contains(word));
    assert!(told && !done.stderr.contains("on PATH"), "{}", done.stderr);
}

/// A file of a stranger who altered its header or its records.
#[test]
fn a_study_that_no_options_could_have_made_is_not_gone_on_with() {
    let tare = Tare::beside_others();
    tare.ok("run -p fake,fake?cost=2 --cpus 1 --blocks 2 --no-settle --seed 1 -w linpack,stream -o r.jsonl");
    let text = std::fs::read_to_string(tare.path("r.jsonl")).unwrap();
    let (header, records) = text.split_once('\n').unwrap();
    let header: Value = serde_json::from_str(header).unwrap();
    let altered = |pointer: &str, value: &str| {
        let mut altered = header.clone();
        let place = altered
            .pointer_mut(pointer)
            .unwrap_or_else(|| panic!("{pointer}"));
        *place = serde_json::from_str(value).unwrap();
        std::fs::write(tare.path("bad.jsonl"), format!("{altered}\n{records}")).unwrap();
    };
    for (pointer, values) in [
        ("/study/trial_seconds", &["-1", "1e300", "0", "3601"][..]),
        ("/study/timeout_seconds", &["-1", "1e300", "0.1"]),
        ("/study/warm_up_seconds", &["-1", "1e300"]),
        ("/study/pause_seconds", &["-1", "1e300"]),
        ("/study/budget_seconds", &["-1", "1e300"]),
        ("/study/margin", &["-1", "0", "1e300"]),
        ("/study/slicing/seconds", &["-1", "0", "1e300"]),
        ("/study/blocks", &["0", "4294967295"]),
        ("/study/baseline", &["\"lxc\""]),
        ("/study/instances", &["[]"]),
        ("/study/instances/0/cpus", &["0", "4294967295"]),
        ("/study/instances/0/memory_bytes", &["0", "18446744073709551615"]),
        (
            "/study/workloads/0/roles/0/run/size",
            &["0", "18446744073709551615"],
        ),
        (
            "/study/workloads/1/roles/0/run/size",
            &["0", "18446744073709551615"],
        ),
        ("/study/workloads/1/roles/0/run/threads", &["0", "4294967295"]),
        ("/study/workloads/0/roles/0/run/seconds", &["-1", "1e300"]),
    ] {
        for value in values {
            altered(pointer, value);
            let ended = tare.run("run --resume bad.jsonl");
            assert_eq!(ended.code, 2, "{pointer} {value}: {}", ended.stderr);
            let told = ended.stderr.contains("bad.jsonl:1: the study in its header");
            assert!(told, "{pointer} {value}: {}", ended.stderr);
        }
    }
    for (from, to) in [
        ("\"box_id\":1,", "\"box_id\":4294967295,"),
        ("\"order\":1,", "\"order\":4294967295,"),
        ("\"group\":1,", "\"group\":4294967295,"),
    ] {
        let altered = text.replace(from, to);
        assert_ne!(altered, text, "{from}");
        std::fs::write(tare.path("bad.jsonl"), altered).unwrap();
        tare.refused("run --resume bad.jsonl", &["4294967295", "altered"]);
    }
}

/// Such a file names what is read, and where: devices have no end, pipes are waited for, and
/// another host is handed keys.
#[test]
fn a_file_that_names_devices_or_other_hosts_is_not_gone_on_with_unasked() {
    let tare = Tare::beside_others();
    tare.run("run -p fake --cpus 1 --blocks 2 --no-settle --seed 1 -o r.jsonl --with-libraries -- /bin/true");
    let text = std::fs::read_to_string(tare.path("r.jsonl")).unwrap();
    let (header, records) = text.split_once('\n').unwrap();
    let first = records.lines().next().unwrap();
    let mut header: Value = serde_json::from_str(header).unwrap();
    let pipe = tare.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let write =
        |header: &Value| std::fs::write(tare.path("bad.jsonl"), format!("{header}\n{first}\n")).unwrap();
    for file in ["/dev/zero", pipe.to_str().unwrap(), "/proc", "/nowhere/at/all"] {
        header["study"]["workloads"][0]["roles"][0]["files"] = serde_json::json!([file]);
        write(&header);
        tare.refused(
            "run --resume bad.jsonl",
            &["bad.jsonl:1: the study in its header", file],
        );
    }
    header["study"]["workloads"][0]["roles"][0]["files"] = serde_json::json!([]);
    header["study"]["platforms"] = serde_json::json!(["fake", "ssh:stranger.example/runc"]);
    let called = tare.path("called");
    let ssh = tare.path("ssh");
    std::fs::write(&ssh, format!("#!/bin/sh\n: >'{}'\nexit 1\n", called.display())).unwrap();
    std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755)).unwrap();
    let resume = |header: &Value, more: &[&str]| {
        write(header);
        let mut command = tare.command(&[&["run", "--resume", "bad.jsonl"], more].concat());
        let ended = ended(command.env("TARE_SSH", &ssh).output().unwrap());
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        ended.stderr
    };
    let told = resume(&header, &[]);
    assert!(
        told.contains("runs on another host (ssh:stranger.example/runc)"),
        "{told}"
    );
    // What is run is told before.
    assert!(
        told.find("/bin/true").unwrap() < told.find("another host").unwrap(),
        "{told}"
    );
    header["agent"] = "0000000000000000".into();
    let told = resume(&header, &["-p", "fake,ssh:stranger.example/runc"]);
    assert!(told.contains("agent 0000000000000000"), "{told}");
    assert!(!called.exists(), "a host of the file's was called");
}

#[test]
fn results_that_are_no_file_or_two_files_are_refused() {
    let tare = Tare::beside_others();
    let mut page = Refusals::of(&tare);
    tare.ok("run -p fake --blocks 1 --no-settle -o r.jsonl");
    page.add("report /dev/zero");
    page.add("report .");
    let one = std::fs::read(tare.path("r.jsonl")).unwrap();
    std::fs::write(tare.path("joined.jsonl"), [&one[..], &one[..]].concat()).unwrap();
    tare.refused(
        "report joined.jsonl",
        &["a second header", "two files were joined"],
    );
    assert_snapshot!(page.page());
}

#[test]
fn hostile_names_are_refused() {
    let tare = Tare::beside_others();
    let mut page = Refusals::of(&tare);
    for name in [
        "../native",
        "native;reboot",
        "native\nreboot",
        "$(reboot)",
        "native?x=$(y)",
    ] {
        page.run(&["-p", name]);
    }
    assert_snapshot!(page.page());
}

#[test]
fn sizes_that_do_not_fit_are_refused_with_the_numbers() {
    let tare = Tare::beside_others();
    let mut page = Refusals::of(&tare);
    page.run(&["-p", "fake", "--cpus", "100000"]);
    page.run(&["--cpus", "-1"]);
    page.run(&["--memory", "-5"]);
    page.run(&["-p", "fake", "--memory", "100T"]);
    page.run(&["-p", "fake", "--memory", "1M", "-w", "syscall"]);
    run(
        &tare,
        &["-p", "fake", "--memory", "200M", "-w", "stream"],
        &["stream", "needs at least"],
    );
    for bad in ["0", "-1", "NaN", "1e9", ""] {
        page.run(&["-p", "fake", &format!("--cpus={bad}")]);
        page.run(&["-p", "fake", &format!("--memory={bad}")]);
        page.run(&["-p", "fake", &format!("--blocks={bad}")]);
        page.run(&["-p", "fake", &format!("--budget={bad}")]);
    }
    for bad in ["0", "99999999999", "-1", "x"] {
        page.run(&["--blocks", bad]);
    }
    for bad in ["0", "x", "NaN"] {
        page.run(&["-p", "fake", "--margin", bad]);
    }
    for bad in ["-1", "1.5", "18446744073709551616"] {
        page.run(&["--seed", bad]);
    }
    for bad in ["0", "-1", "1h", "often"] {
        page.run(&["-p", "fake", "--slices", bad]);
    }
    page.run(&["-p", "fake", "--cpus", "0.5"]);
    page.run(&["-p", "fake", "-w", "linpack", "--trial-time", "0"]);
    assert_snapshot!(page.page());
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_anything_runs() {
    let tare = Tare::beside_others();
    let mut page = Refusals::of(&tare);
    std::fs::write(tare.path("there.jsonl"), "mine").unwrap();
    page.add("run -p fake --cpus 1 -o there.jsonl");
    assert_eq!(std::fs::read_to_string(tare.path("there.jsonl")).unwrap(), "mine");
    page.add("run -p fake --cpus 1 -o .");
    for args in [
        &["run", "-o", "-"][..],
        &["run", "--html", "-"],
        &["report", "there.jsonl", "--html", "-"],
    ] {
        page.add(args);
        assert!(!tare.path("-").exists());
    }
    page.add("run -p fake --cpus 1 -o no/such/out.jsonl");
    page.add("run -p fake --cpus 1 -o /proc/out.jsonl");
    page.run(&["-p", "fake", "--cpus", "1", "--html", "no/such/page.html"]);
    assert_snapshot!(page.page());
}

#[test]
fn missing_engines_say_how_to_get_them() {
    let tare = Tare::beside_others();
    let with = |name: &str, value: &str, platform: &str, words: &[&str]| {
        let args = format!("run -p {platform} --cpus 1 -w syscall -o out.jsonl");
        let done = ended(tare.command(&args).env(name, value).output().unwrap());
        assert_eq!(done.code, 2, "{}", done.stderr);
        words
            .iter()
            .for_each(|word| assert!(done.stderr.contains(word), "'{word}' is not in: {}", done.stderr));
        assert!(!tare.path("out.jsonl").exists());
    };
    with(
        "DOCKER_HOST",
        "unix:///no/such.sock",
        "docker",
        &["docker", "cannot run here", "usual one: unset DOCKER_HOST\n"],
    );
    with(
        "DOCKER_HOST",
        "tcp://127.0.0.1:1",
        "docker",
        &[
            "not a local socket",
            ": export DOCKER_HOST=unix:///var/run/docker.sock\n",
        ],
    );
    with("PATH", "/nowhere", "lxc", &["lxc-start", "install LXC"]);
    with("PATH", "/nowhere", "vm", &["qemu", "install QEMU"]);
    // A socket at which nobody listens is a stopped engine.
    drop(std::os::unix::net::UnixListener::bind(tare.path("dead.sock")).unwrap());
    let dead = format!("unix://{}", tare.path("dead.sock").display());
    with(
        "DOCKER_HOST",
        &dead,
        "docker",
        &["does not answer", ": sudo systemctl start docker\n"],
    );
    with(
        "TARE_STATE_DIR",
        "/proc/nowhere",
        "native",
        &["/proc/nowhere", "--state-dir"],
    );
}

/// Runs tare as the user `nobody`, if we are root.
fn as_nobody(tare: &Tare, args: &str) -> Option<common::Ended> {
    let program = tare.path("tare");
    let folder = program.parent().unwrap();
    // By a program of its own: a file that this process has open to write cannot be run
    // while another test's child has it open, too. The folder becomes that user's, since a
    // state folder that others can write to is refused.
    let of_nobody = [
        Command::new("cp").arg(common::binary()).arg(&program).status(),
        Command::new("chown")
            .args(["-R", "65534:65534"])
            .arg(folder)
            .status(),
        Command::new("chmod").args(["-R", "a+rX"]).arg(folder).status(),
    ];
    assert!(of_nobody.into_iter().all(|done| done.unwrap().success()));
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args(args.words());
    command
        .current_dir(folder)
        .env("TARE_STATE_DIR", tare.path("state-of-nobody"));
    let output = command.output().ok()?;
    Some(ended(output))
}

#[test]
fn without_root_the_reason_is_told() {
    let tare = Tare::beside_others();
    let args = "run -p native --cpus 1 -w syscall -o out.jsonl";
    let Some(done) = as_nobody(&tare, args) else {
        eprintln!("skipped: setpriv is not there to become another user");
        return;
    };
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(
        done.stderr.contains("not root") && done.stderr.contains("sudo"),
        "{}",
        done.stderr
    );
    assert!(!tare.path("out.jsonl").exists());
}

#[test]
fn a_socket_without_permission_is_told_from_a_stopped_engine() {
    use std::os::unix::fs::PermissionsExt;
    let tare = Tare::beside_others();
    let socket = tare.path("closed.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let Some(_) = as_nobody(&tare, "--version") else {
        eprintln!("skipped: setpriv is not there to become another user");
        return;
    };
    std::os::unix::fs::chown(&socket, Some(0), Some(0)).unwrap();
    std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o600)).unwrap();
    let host = format!("unix://{}", socket.display());
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(tare.path("tare"));
    command.args(["run", "-p", "docker", "--cpus", "1", "-w", "syscall"]);
    command
        .env("DOCKER_HOST", host)
        .env("TARE_STATE_DIR", tare.path("state-of-nobody"));
    let done = ended(command.current_dir(tare.path("")).output().unwrap());
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(done.stderr.contains("no permission"), "{}", done.stderr);
    let advice = "log in again: sudo usermod -aG docker $USER\n";
    assert!(done.stderr.ends_with(advice), "{}", done.stderr);
}

#[test]
fn damaged_foreign_and_future_results_are_refused() {
    let tare = Tare::beside_others();
    tare.ok("run -p fake --cpus 1 -w syscall --no-settle --blocks 2 -o good.jsonl");
    let good = std::fs::read_to_string(tare.path("good.jsonl")).unwrap();
    let check = |content: &str, words: &[&str]| {
        std::fs::write(tare.path("bad.jsonl"), content).unwrap();
        tare.refused("report bad.jsonl", words);
        tare.refused("run --resume bad.jsonl", words);
        assert_eq!(
            std::fs::read_to_string(tare.path("bad.jsonl")).unwrap(),
            content,
            "the file was touched"
        );
    };
    check("", &["is empty"]);
    check(&good[..200], &["truncated"]);
    check("hello\n", &["not a results file"]);
    check(
        &good.replace("tare-results/3", "tare-results/99"),
        &["tare-results/99", "written by tare 0.", "reads 'tare-results/1'"],
    );
    // What drives a terminal is spelled out, whatever else stands in the header.
    check(
        "{\"schema\":\"tare-results/99\",\"tare\":\"9\\u001b[2J\\nfake\",\"build\":\"b\\u202e\"}\n",
        &["written by tare 9\\u{1b}[2J fake (build b\\u{202e})"],
    );
    check(
        &good.replacen("\"record\":\"session\"", "\"record\":\"se", 1),
        &["bad.jsonl:2", "damaged"],
    );
    tare.refused("report absent.jsonl", &["absent.jsonl"]);
    tare.refused("run --resume absent.jsonl", &["absent.jsonl"]);
}

#[test]
fn another_study_or_build_is_not_continued() {
    let tare = Tare::beside_others();
    tare.ok("run -p fake --cpus 1 -w syscall --no-settle --blocks 2 -o r.jsonl");
    let text = std::fs::read_to_string(tare.path("r.jsonl")).unwrap();
    let cut: String = text.lines().take(4).map(|l| format!("{l}\n")).collect();
    std::fs::write(tare.path("r.jsonl"), &cut).unwrap();
    tare.refused(
        "run --resume r.jsonl -p fake,fake?cost=2 --cpus 1",
        &["a different study", "platforms"],
    );
    let header: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let other = cut.replace(header["agent"].as_str().unwrap(), "0000000000000000");
    std::fs::write(tare.path("r.jsonl"), other).unwrap();
    tare.refused("run --resume r.jsonl", &["agent 0000000000000000"]);
}

#[test]
fn what_differs_from_the_file_is_named_and_what_is_not_asked_for_is_as_in_the_file() {
    let tare = Tare::beside_others();
    // Longer than slices may be for the usual trial; a baseline that is not the first platform.
    let more =
        "--cpus 1 -w syscall,stream --no-settle --slices 600ms --trial-time 700ms --memory 512M --isa v3";
    tare.ok(&format!(
        "run -p fake?cost=3,fake --baseline fake {more} --blocks 2 -o whole.jsonl"
    ));
    let text = std::fs::read_to_string(tare.path("whole.jsonl")).unwrap();
    let cut: String = text.lines().take(6).map(|l| format!("{l}\n")).collect();
    let resume = |options: &str| {
        std::fs::write(tare.path("r.jsonl"), &cut).unwrap();
        format!("run --resume r.jsonl {options}")
    };
    for (options, differs) in [
        ("--slices 20ms", "other --slices"),
        ("--slices off", "other --slices"),
        ("--slices 20ms -w stream", "other --slices"),
        ("--trial-time 100ms", "different --trial-time"),
        ("--timeout 5s", "different --timeout"),
        ("--margin 2", "different --margin"),
        ("--adaptive", "different --adaptive"),
        ("--fresh trial", "different --fresh"),
        ("--warm-up 1s", "different --warm-up"),
        ("--pause 1s", "different --pause"),
        ("-p fake", "other platforms"),
        ("--baseline fake?cost=3", "other platforms"),
        ("--provisioning pinned", "other provisioning"),
        ("--memory 1G", "other CPUs or memory"),
        ("-w stream", "other workloads"),
        ("--isa v4", "other workloads"),
        ("-- true", "other workloads"),
    ] {
        let differs = format!("different study ({differs}");
        tare.refused(&resume(options), &[&differs]);
    }
    for options in [
        "--slices 600ms",
        "--isa v3",
        "--baseline fake",
        "--no-settle --margin 1",
        "-p fake?cost=3,fake",
        "--cpus 1",
        "--memory 512M",
        "-w syscall,stream",
        "--provisioning vanilla,pinned",
        more,
    ] {
        tare.ok(&resume(options));
    }
}

/// A mounted file system of a few hundred KiB; `None` where mounting is not allowed.
struct Small(std::path::PathBuf);

impl Small {
    fn mount(at: std::path::PathBuf, options: &str) -> Option<Self> {
        std::fs::create_dir_all(&at).ok()?;
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(&at)
            .status();
        mounted.ok()?.success().then_some(Self(at))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_loses_no_finished_trial_and_leaves_no_half_record() {
    let tare = Tare::beside_others();
    let Some(small) = Small::mount(tare.path("small"), "size=128k") else {
        eprintln!("skipped: mounting a small file system is not allowed here");
        return;
    };
    let output = small.0.join("r.jsonl");
    let args = "run -p fake --cpus 1 --no-settle --blocks 5000 -o";
    tare.refused(
        &format!("{args} {}", output.display()),
        &["cannot write to results file", "--resume"],
    );
    let text = std::fs::read_to_string(&output).unwrap();
    assert!(text.ends_with('\n') && text.len() > 50_000);
    text.lines()
        .for_each(|line| drop(serde_json::from_str::<serde_json::Value>(line).expect("a whole record")));
    // Not even the header fits: nothing stays.
    let full = small.0.join("full");
    let _ = std::fs::write(&full, vec![0; 1 << 20]);
    let none = small.0.join("none.jsonl");
    let args = ["run", "-p", "fake", "--cpus", "1", "-o", none.to_str().unwrap()];
    tare.refused(&args, &["cannot create results file"]);
    assert!(!none.exists());
}

#[test]
fn a_state_folder_from_which_no_program_can_run_is_named_with_what_to_do() {
    if !common::ready("native") {
        return;
    }
    let tare = Tare::new();
    let Some(small) = Small::mount(tare.path("small"), "size=64m,mode=700,noexec") else {
        eprintln!("skipped: mounting a small file system is not allowed here");
        return;
    };
    let at = small.0.display();
    let run = "run -p native --provisioning pinned --cpus 1 -w syscall --blocks 1 --no-settle";
    let done = tare.run(&format!("{run} --state-dir {at} -o r.jsonl"));
    assert_eq!(done.code, 1, "{done:?}");
    let told = format!("{at} is mounted noexec, so no program can run from it");
    assert!(done.stderr.contains(&told), "{done:?}");
    assert!(done.stderr.contains("--state-dir or TARE_STATE_DIR"), "{done:?}");
}

#[test]
fn a_file_beyond_the_limit_of_the_system_is_an_error_and_not_the_end() {
    let tare = Tare::beside_others();
    let mut limited = std::process::Command::new("sh");
    limited
        .args(["-c", "ulimit -f 8; exec \"$@\"", "sh"])
        .arg(common::binary())
        .args(["run", "-p", "fake", "--no-settle", "-o", "r.jsonl"])
        .current_dir(tare.path(""))
        .env("TARE_STATE_DIR", tare.path("state"));
    let ended = common::ended(limited.output().unwrap());
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("File too large"), "{}", ended.stderr);
}
