//! What a new user mistypes, each with the whole message: it says what is wrong and what
//! to type instead. `bad_input.rs` has what is hostile, damaged or in the way.

use crate::common::{self, Refusals, Tare};
use insta::assert_snapshot;

/// A folder with files of several kinds.
fn folder() -> Tare {
    let tare = Tare::beside_others();
    std::fs::create_dir(tare.path("folder")).unwrap();
    for (name, content) in [
        ("data.txt", &b"x\n"[..]),
        ("empty.jsonl", b""),
        ("picture.png", b"\x89PNG\r\n\x1a\nxx\n"),
        ("table.csv", b"block,cell,metric,value\n1,a,time,1\n"),
    ] {
        std::fs::write(tare.path(name), content).unwrap();
    }
    tare
}

/// The page of these lines, in which `''` is an empty argument; no line leaves a new file.
fn page(lines: &[&str]) -> String {
    page_in(&folder(), lines)
}

fn page_in(tare: &Tare, lines: &[&str]) -> String {
    let before = names(tare);
    let mut refusals = Refusals::of(tare);
    for line in lines {
        let word = |word| if word == "''" { "" } else { word };
        refusals.add(&line.split(' ').map(word).collect::<Vec<_>>());
    }
    assert_eq!(names(tare), before);
    refusals.page()
}

/// The names in the folder, but for the state folder.
fn names(tare: &Tare) -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir(tare.path("")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.filter(|name| name != "state").collect();
    names.sort();
    names
}

#[test]
fn without_arguments_the_help_is_shown() {
    let tare = Tare::beside_others();
    let (none, help) = (tare.run(&[]), tare.ok("--help"));
    assert_eq!((none.code, none.stdout.as_str()), (2, ""));
    for told in [&none.stderr, &help.stdout] {
        assert!(told.contains("Usage: tare <COMMAND>"), "{told}");
        assert!(told.contains("Exit codes: 0 success"), "{told}");
    }
    for name in ["fake", "run-hold"] {
        assert!(!help.stdout.contains(name), "{name}: {}", help.stdout);
    }
}

#[test]
fn a_command_without_its_dashes_is_told_where_it_goes() {
    let page = page(&[
        "run sleep 1",
        "run sleep",
        "plan sleep 1",
        "run -p native ls -l /tmp",
        "run /bin/ls --its options",
        "sleep 1",
        "plan -p fake --",
    ]);
    assert_snapshot!(page);
}

#[test]
fn a_list_without_commas_is_told_how_it_is_written() {
    let page = page(&[
        "run -p native docker",
        "run -p native, docker",
        "run -p native docker lxc --blocks 3",
        "run docker",
        "run -w stream linpack",
        "plan stream",
        "plan -p ''",
        "plan -p native,,docker",
        "plan -p all",
        "plan -w all",
        "plan -p native,native",
    ]);
    assert_snapshot!(page);
}

#[test]
fn what_is_misspelt_is_told_what_it_may_mean() {
    let page = page(&[
        "rnu",
        "frobnicate",
        "selftest covrage",
        "plan -p native -w linpak",
        "plan -p native -w sort",
        "kernel sort",
        "plan -p doker",
        "plan -p native,gvisor",
        "--details r.jsonl",
        "-p native,docker",
        "plan -p virtualbox",
        "plan -p native --blcoks 3",
        "plan quik",
        "plan nosuch",
        "plan nosuch.toml",
        "plan -p docker?netwrk=none",
        "plan -p docker?network=brigde",
        "plan -p docker?colour=red",
        "check nosuch",
        "check fake",
        "check --only helo",
        "man nosuch",
        "man rum",
        "published show li2108",
        "completions tcsh",
    ]);
    assert_snapshot!(page);
}

#[test]
fn values_that_cannot_be_are_told_what_can() {
    let page = page(&[
        "plan -p fake --cpus 0",
        "plan -p fake --cpus abc",
        "plan -p fake --cpus 99999",
        "plan -p fake --memory 1",
        "plan -p fake --memory lots",
        "plan -p fake --memory 1000TB",
        "plan -p fake --blocks 0",
        "plan -p fake --blocks -1",
        "plan -p fake --slices 0",
        "plan -p fake --margin five",
        "plan -p fake --pause -3s",
        "plan -p fake --budget -3s",
        "plan -p fake --budget soon",
        "plan -p fake --provisioning quota",
        "plan -p fake --isa avx2",
        "plan --baseline lxc -p native,docker",
        "run -p",
        "run --small",
        "plan quick -w stream",
    ]);
    assert_snapshot!(page);
}

#[test]
fn programs_that_are_none_are_told_why() {
    let page = page(&[
        "plan -p fake -- no-such-program",
        "plan -p fake -- ./no-such-program",
        "plan -p fake -- ./folder",
        "plan -p fake -- ./data.txt",
    ]);
    assert_snapshot!(page);
}

#[test]
fn files_that_are_of_another_kind_are_told_what_they_are_for() {
    let tare = folder();
    tare.ok("run -p fake,fake?cost=2 --cpus 1 -w syscall --blocks 2 --no-settle -o good.jsonl");
    let page = page_in(
        &tare,
        &[
            "run good.jsonl",
            "run --resume good.jsonl",
            "run --resume good.jsonl --blocks 20",
            "report",
            "report nosuch.jsonl",
            "report empty.jsonl",
            "report picture.png",
            "report table.csv",
            "report folder",
            "compare good.jsonl",
            "compare good.jsonl ./good.jsonl",
            "analyze good.jsonl",
            "run -p fake -o good.jsonl",
            "run -p fake -o nosuch/r.jsonl",
            "run -p fake -o folder",
            "run -p fake --html folder",
            "run -p fake --html data.txt",
            "report good.jsonl --html folder",
        ],
    );
    assert_snapshot!(page);
}

#[test]
fn what_is_plain_enough_is_taken() {
    let tare = Tare::beside_others();
    for line in [
        &["plan", "-p", "fake", "--margin", "5%"][..],
        &["plan", "-p", "fake", "--margin", "5 %"],
        &["plan", "-p", "fake, fake?cost=2"],
    ] {
        tare.ok(line);
    }
    let planned = tare.ok("plan -p fake --margin 5% --trial-time 5s --json").stdout;
    let planned: serde_json::Value = serde_json::from_str(&planned).unwrap();
    assert_eq!(planned["study"]["margin"], 0.05);
    assert_eq!(planned["study"]["trial_seconds"], 5.0);
}

/// The test bed has none of the host's files, as a container has none.
#[test]
fn a_command_that_cannot_run_in_a_box_is_told_before_the_first_trial() {
    let tare = Tare::beside_others();
    let words = [
        "fake, fake?cost=2: ",
        "needs the loader /",
        "build it statically",
        "--with-libraries",
    ];
    let planned = tare.run("plan -p fake,fake?cost=2 --cpus 1 -- sleep 0");
    // Lines are broken at blanks.
    let told = planned.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(told.contains(word.trim()), "{word}: {told}");
    }
    let json = tare.run("plan -p fake,fake?cost=2 --cpus 1 --json -- sleep 0");
    assert_eq!((planned.code, json.code), (2, 2));
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["cannot_run"][0]["workload"], "command");
    assert_eq!(json["cannot_run"][0]["platforms"][1], "fake?cost=2");
    let ran = tare.run("run -p fake,fake?cost=2 --cpus 1 --blocks 2 --no-settle -o r.jsonl -- sleep 0");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    for told in [&ran.stderr, &planned.stderr] {
        assert!(told.contains("tare: nothing can be measured: /"), "{told}");
        assert!(told.contains("--with-libraries"), "{told}");
    }
    assert!(!tare.path("r.jsonl").exists());
    let with = tare
        .ok("plan -p fake --cpus 1 --with-libraries -- sleep 0")
        .stdout;
    assert!(!with.contains("cannot run"), "{with}");
}

#[test]
fn what_runs_natively_alone_is_not_compared_until_its_files_are_carried() {
    if !common::ready("native") || !common::ready("runc") {
        return;
    }
    let tare = Tare::new();
    let run = |output: &str, more: &str| {
        tare.run(&format!(
            "run -p native,runc --provisioning vanilla --cpus 1 --memory 512M --blocks 3 --trial-time 0 --no-settle -o {output} {more}"
        ))
    };
    let barred = run("barred.jsonl", "-- sleep 0");
    assert_eq!(barred.code, 2, "{barred:?}");
    assert!(
        barred.stderr.contains("cannot run    command in runc: "),
        "{barred:?}"
    );
    // A program that needs no loader, and a file that the box does not have.
    let fake = tare.ok("run -p fake -w syscall --cpus 1 --blocks 1 --no-settle -o data.jsonl");
    assert!(fake.stderr.contains("results in"));
    let (program, data) = (common::binary(), tare.path("data.jsonl"));
    let alone = run(
        "alone.jsonl",
        &format!("-- {} report {}", program.display(), data.display()),
    );
    assert!(alone.stderr.contains("not there     /"), "{alone:?}");
    let last = alone.stderr.lines().last().unwrap();
    assert!(last.starts_with("nothing was compared: "), "{alone:?}");
    // What failed once and once more in the first block would fail in all others.
    assert!(
        alone.stdout.contains("1 of 2 trials, 1 failed, 1 of 3 blocks"),
        "{alone:?}"
    );
    assert!(
        alone.stdout.contains("! 1 trial failed in runc (2 attempts): "),
        "{alone:?}"
    );
    let told = alone
        .stderr
        .lines()
        .filter(|line| line.contains("ended with an error"));
    assert_eq!(told.count(), 1, "{alone:?}");
    let carried = run("carried.jsonl", "--with-libraries -- sleep 0");
    assert!(!carried.stderr.contains("nothing was"), "{}", carried.stderr);
    let trials = tare.records_of("carried.jsonl", "trial");
    assert!(
        trials.iter().all(|trial| trial["outcome"]["ok"].is_object()),
        "{trials:?}"
    );
}

#[test]
fn names_of_files_drive_no_terminal() {
    let tare = Tare::beside_others();
    let name = "a\u{1b}[2J\nb\u{202e}c";
    let plain = |told: &common::Ended| {
        let text = told.stderr.clone() + &told.stdout;
        for hidden in ["\u{1b}", "\u{202e}", "[2J\nb"] {
            assert!(!text.contains(hidden), "{hidden:?}: {text:?}");
        }
        assert!(text.contains("\\u{1b}[2J b\\u{202e}c"), "{text:?}");
    };
    let (results, page) = (format!("{name}.jsonl"), format!("{name}.html"));
    let run = [
        "run",
        "-p",
        "fake",
        "--cpus",
        "1",
        "--blocks",
        "1",
        "--no-settle",
        "-w",
        "syscall",
    ];
    fn with<'a>(run: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
        [run, more].concat()
    }
    plain(&tare.ok(&with(&run, &["-o", &results, "--html", &page])));
    plain(&tare.ok(&["report", &results, "--html", &page]));
    for refused in [
        with(&run, &["-o", &results]),
        with(&run, &["--html", &results]),
        with(
            &run,
            &["--state-dir", "/proc/none", "-o", &format!("{name}/r.jsonl")],
        ),
        with(&run, &["--state-dir", &format!("/proc/{name}")]),
        vec!["run", "--resume", &results],
        vec!["run", "--resume", name],
        vec!["run", &results],
        vec!["run", name, "x"],
        vec!["report", name],
        vec!["report", &results, "--html", &results],
        vec!["analyze", name],
        vec!["compare", &results, &results],
        vec!["density", "-o", &results],
        vec!["plan", &format!("{name}.toml")],
        vec!["plan", "--", name],
        vec![
            "selftest",
            "aa",
            "--platform",
            "fake",
            "--log",
            &format!("{name}/none/log"),
        ],
    ] {
        plain(&tare.refused(&refused, &[]));
    }
}

#[test]
fn bash_completes_names_and_lists() {
    let tare = Tare::beside_others();
    let script = tare.ok("completions bash").stdout;
    std::fs::write(tare.path("completions"), script).unwrap();
    let completed = |words: &[&str]| {
        let (last, before) = (words.len(), words.len() - 1);
        let ask = format!(
            "source ./completions; COMP_WORDS=(tare {}); COMP_CWORD={last}; \
             _tare tare \"${{COMP_WORDS[{last}]}}\" \"${{COMP_WORDS[{before}]}}\"; echo \"${{COMPREPLY[*]}}\"",
            words.join(" ")
        );
        let mut bash = std::process::Command::new("bash");
        let output = bash.args(["-c", &ask]).current_dir(tare.path("")).output();
        output
            .ok()
            .map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned())
    };
    let Some(subcommand) = completed(&["ru"]) else {
        eprintln!("skipped: bash is not there");
        return;
    };
    assert_eq!(subcommand, "run");
    for (words, expected) in [
        (&["run", "-p", "do"][..], "docker"),
        (&["run", "-p", "native,ns"], "native,nspawn"),
        (&["run", "--workloads", "stream,li"], "stream,linpack"),
        (&["run", "qui"], "quick"),
        (&["run", "--provisioning", "pi"], "pinned"),
        (&["run", "--isa", "v"], "v3 v4"),
        (&["run", "--fresh", "s"], "study"),
        (&["run", "--baseline", "lx"], "lxc"),
        (&["check", "--only", "hel"], "hello"),
        (&["kernel", "sp"], "spawn"),
        (&["man", "repo"], "report"),
        (&["published", "show", "li"], "li2018"),
    ] {
        assert_eq!(completed(words).unwrap(), expected, "{words:?}");
    }
}

#[test]
fn what_would_leave_nothing_to_compare_is_refused_before_the_first_trial() {
    let tare = Tare::beside_others();
    for line in [
        "plan -p fake,native -- sleep 0",
        "run -p fake,native -- sleep 0",
        "pilot -p fake,native -- sleep 0",
    ] {
        let ended = tare.run(line);
        assert_eq!(ended.code, 2, "{line}: {ended:?}");
        assert!(ended.stderr.contains(
            "tare: nothing can be compared: of fake, native only native can run command; 'cannot run' says how to fix it, or measure only -p native"
        ), "{line}: {ended:?}");
    }
}

#[test]
fn a_file_that_a_box_will_not_have_is_told_before_the_first_trial() {
    let tare = Tare::beside_others();
    let line = "plan -p native,fake --cpus 1 -- /proc/self/exe /etc/hostname --in=/etc/passwd /proc/stat";
    let told = |more: &str| {
        let line = line.replace("-- ", &format!("{more}-- "));
        let planned = tare.run(&line).stdout;
        planned.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(told("").contains(
        "not there /etc/hostname, /etc/passwd in fake, needed by command: to copy these files into the boxes, add --with /etc/hostname --with /etc/passwd"
    ), "{}", told(""));
    let with = told("--with /etc/hostname --with /etc/passwd ");
    assert!(!with.contains("not there"), "{with}");
}
