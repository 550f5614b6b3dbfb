//! By programs that take the place of mmdebstrap, and by itself where that is asked for.

use super::*;
use crate::fixture::WorkFolder;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Instant;

fn spec(packages: &[&str]) -> DebianSpec {
    DebianSpec {
        suite: "bookworm".to_owned(),
        components: vec!["main".to_owned()],
        packages: packages.iter().map(ToString::to_string).collect(),
        snapshot: None,
        prepare: None,
        maven: Vec::new(),
    }
}

/// One program in the place of both.
fn by(program: &OsStr) -> Programs<'_> {
    Programs {
        mmdebstrap: program,
        mvn: program,
    }
}

fn mirrors() -> Mirrors {
    Mirrors {
        present: Some("http://mirror.example/debian".to_owned()),
        snapshots: None,
    }
}

fn program(site: &WorkFolder, text: &str) -> PathBuf {
    let path = site.at("program");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_script_is_handed_over_apart_from_the_command_line_and_makes_an_image_of_its_own() {
    let site = WorkFolder::new();
    let store = site.store();
    let (log, rootfs) = (site.at("log"), site.at("rootfs"));
    let text = format!(
        "echo \"$TARE_PREPARE\" >> {}\nexec tar -C {} -c .",
        log.display(),
        rootfs.display()
    );
    let program = program(&site, &text);
    let script = |text: &str| DebianSpec {
        prepare: Some(text.to_owned()),
        ..spec(&["a"])
    };
    let make = |spec: &DebianSpec| build(&store, spec, mirrors, by(program.as_os_str())).unwrap();
    make(&spec(&["a"]));
    make(&script("echo '\"$1\"' `id`"));
    make(&script("true"));
    let log = fs::read_to_string(log).unwrap();
    assert_eq!(log, "\necho '\"$1\"' `id`\ntrue\n");
    assert!(matches!(script("a\0b").checked(), Err(NoSpec::Prepare)));
    let words = command(
        &script("x"),
        "http://m.example",
        "mmdebstrap".as_ref(),
        &site.at("x"),
        None,
    );
    let words: Vec<_> = words.get_args().collect();
    let at = |text: &str| words.iter().position(|word| *word == text);
    assert!(at(PREPARE).unwrap() < at(FORGET).unwrap());
}

fn with_maven() -> DebianSpec {
    DebianSpec {
        prepare: Some("true".to_owned()),
        maven: vec![crate::MavenSpec {
            artifacts: vec!["g:a:1".to_owned()],
            take: crate::Take::Alone,
            exclude: Vec::new(),
            folder: "/opt/a".to_owned(),
        }],
        ..spec(&["a"])
    }
}

#[test]
fn artifacts_are_unpacked_before_the_script_runs() {
    let archive = Path::new("/it's here/maven.tar");
    let command = command(
        &with_maven(),
        "http://m.example",
        "mmdebstrap".as_ref(),
        Path::new("/x"),
        Some(archive),
    );
    let words: Vec<_> = command.get_args().collect();
    let at = |text: &str| words.iter().position(|word| *word == text).unwrap();
    assert!(at(r"--customize-hook=tar-in '/it'\''s here/maven.tar' /") < at(PREPARE));
}

#[test]
fn artifacts_are_not_asked_for_where_no_image_can_be_made() {
    let site = WorkFolder::new();
    let log = site.at("log");
    let program = program(&site, &format!("echo asked > {}", log.display()));
    let programs = Programs {
        mmdebstrap: "no-such-program".as_ref(),
        mvn: program.as_os_str(),
    };
    let absent = build(&site.store(), &with_maven(), mirrors, programs);
    let absent = absent.unwrap_err().to_string();
    assert!(absent.contains("cannot run no-such-program"), "{absent}");
    assert!(!log.exists());
}

#[test]
fn maven_is_needed_by_images_with_artifacts_alone() {
    let site = WorkFolder::new();
    let store = site.store();
    let program = program(
        &site,
        &format!("exec tar -C {} -c .", site.at("rootfs").display()),
    );
    let make = |spec: &DebianSpec| {
        let programs = Programs {
            mmdebstrap: program.as_os_str(),
            mvn: "no-such-program".as_ref(),
        };
        build(&store, spec, mirrors, programs)
    };
    let absent = make(&with_maven()).unwrap_err().to_string();
    assert!(absent.contains("cannot run no-such-program"), "{absent}");
    assert!(site.is_clean());
    make(&spec(&["a"])).unwrap();
}

#[test]
fn the_same_specification_is_made_once() {
    let site = WorkFolder::new();
    let store = site.store();
    let (log, rootfs) = (site.at("log"), site.at("rootfs"));
    let text = format!(
        "echo \"$@\" >> {}\nexec tar -C {} -c .",
        log.display(),
        rootfs.display()
    );
    let program = program(&site, &text);
    let make = |packages: &[&str]| build(&store, &spec(packages), mirrors, by(program.as_os_str())).unwrap();
    let image = make(&["b", "a", "b"]);
    assert_eq!(image.manifest().names, make(&["a", "b"]).manifest().names);
    assert!(
        image
            .manifest()
            .source
            .starts_with("Debian bookworm of http://mirror.example/debian: a b")
    );
    make(&["c"]);
    let log = fs::read_to_string(log).unwrap();
    assert_eq!(log.lines().count(), 2, "{log}");
    assert!(
        log.lines()
            .next()
            .unwrap()
            .ends_with("--components=main --include=a,b bookworm - http://mirror.example/debian")
    );
}

#[test]
fn a_failure_tells_the_last_lines_and_where_all_are() {
    let site = WorkFolder::new();
    let store = site.store();
    let program = program(
        &site,
        "echo first >&2; printf 'E: no \\033[31mpackage\\n' >&2; exit 25",
    );
    let error = build(&store, &spec(&["x"]), mirrors, by(program.as_os_str())).unwrap_err();
    let ImageError::Program { output, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(fs::read_to_string(output).unwrap().lines().count(), 2);
    let text = error.to_string();
    assert!(
        text.contains("(exit status: 25): first / E: no [31mpackage; its"),
        "{text}"
    );
    assert!(site.is_clean());
    let absent = build(&store, &spec(&["x"]), mirrors, by("no-such-program".as_ref())).unwrap_err();
    assert!(absent.to_string().contains("install it"), "{absent}");
}

#[test]
fn what_was_asked_to_stop_is_ended_with_what_it_started() {
    let site = WorkFolder::new();
    let pid = site.at("pid");
    let program = program(&site, &format!("sleep 60 & echo $! > {}; wait", pid.display()));
    let store = site
        .store()
        .with_stop(|| std::thread::current().name() == Some("stops"));
    let begin = Instant::now();
    let stopped = std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("stops".to_owned());
        let run = || build(&store, &spec(&[]), mirrors, by(program.as_os_str())).map(|_| ());
        builder.spawn_scoped(scope, run).unwrap().join().unwrap()
    });
    assert!(matches!(stopped, Err(ImageError::Stopped)), "{stopped:?}");
    assert!(begin.elapsed() < Duration::from_secs(8));
    if let Ok(pid) = fs::read_to_string(pid) {
        std::thread::sleep(Duration::from_millis(100));
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    }
}

#[test]
fn what_cannot_be_a_specification_is_refused() {
    let wrong = |change: &dyn Fn(&mut DebianSpec)| {
        let mut spec = spec(&[]);
        change(&mut spec);
        spec.checked().unwrap_err().to_string()
    };
    assert!(wrong(&|s| s.suite = "--help".to_owned()).contains("release"));
    assert!(wrong(&|s| s.components = vec!["../x".to_owned()]).contains("component"));
    assert!(wrong(&|s| s.components.clear()).contains("give at least main"));
    for package in ["-o", "a,b", "a b", "A", "", "a=", "./x.deb", "~"] {
        assert!(
            wrong(&|s| s.packages = vec![package.to_owned()]).contains("package"),
            "{package}"
        );
    }
    assert!(wrong(&|s| s.snapshot = Some("2025-05-20".to_owned())).contains("20250520T000000Z"));
    assert!(spec(&["libc6:i386", "g++", "fio=3.33-3"]).checked().is_ok());
}
