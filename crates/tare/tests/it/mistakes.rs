//! What a new user mistypes, each with the whole message: it says what is wrong and what
//! to type instead. `bad_input.rs` has what is hostile, damaged or in the way.

use crate::common::{self, Tare};

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

/// Runs each line, in which `''` is an empty argument, and expects its message, exit code
/// 2, no result and no new file.
fn check(cases: &[(&str, &str)]) {
    check_in(&folder(), cases);
}

fn check_in(tare: &Tare, cases: &[(&str, &str)]) {
    let before = names(tare);
    for (line, expected) in cases {
        let words: Vec<&str> = line
            .split(' ')
            .map(|word| if word == "''" { "" } else { word })
            .collect();
        let ended = tare.run(&words);
        let told = of_any_host(ended.stderr.trim_end());
        assert_eq!(told, *expected, "tare {line}");
        assert_eq!(ended.code, 2, "tare {line}");
        assert_eq!(ended.stdout, "", "tare {line}");
    }
    assert_eq!(names(tare), before);
}

/// The names in the folder, but for the state folder.
fn names(tare: &Tare) -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir(tare.path("")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.filter(|name| name != "state").collect();
    names.sort();
    names
}

/// A message with `N` for the size of this host.
fn of_any_host(message: &str) -> String {
    const HOST: &str = "this host has ";
    let Some((before, after)) = message.split_once(HOST) else {
        return message.to_owned();
    };
    let end = after.find(" that").or_else(|| after.find(':')).unwrap();
    let (size, rest) = after.split_at(end);
    format!(
        "{before}{HOST}N{}",
        rest.replace(&format!("at most {size}"), "at most N")
    )
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
    check(&[
        (
            "run sleep 1",
            "tare: 'sleep' is not a study; put a command to measure after --: tare run -- sleep 1",
        ),
        (
            "run sleep",
            "tare: 'sleep' is not a study; put a command to measure after --: tare run -- sleep",
        ),
        (
            "plan sleep 1",
            "tare: 'sleep' is not a study; put a command to measure after --: tare plan -- sleep 1",
        ),
        (
            "run -p native ls -l /tmp",
            "tare: 'ls' is not a study; put a command to measure after --: tare run -p native -- ls -l /tmp",
        ),
        (
            "run /bin/ls --its options",
            "tare: '/bin/ls' is not a study; put a command to measure after --: tare run -- /bin/ls --its options",
        ),
        (
            "sleep 1",
            "tare: 'sleep' is not a subcommand; put a command to measure after --: tare run -- sleep 1",
        ),
        (
            "plan -p fake --",
            "tare: no command follows --: put the program to measure after it, or omit -- to run the built-in workloads",
        ),
    ]);
}

#[test]
fn a_list_without_commas_is_told_how_it_is_written() {
    check(&[
        (
            "run -p native docker",
            "tare: platforms are one list, joined with commas and without blanks: -p native,docker",
        ),
        (
            "run -p native, docker",
            "tare: platforms are one list, joined with commas and without blanks: -p native,docker",
        ),
        (
            "run -p native docker lxc --blocks 3",
            "tare: platforms are one list, joined with commas and without blanks: -p native,docker,lxc",
        ),
        (
            "run docker",
            "tare: 'docker' is one of the platforms, not a study: pass it with -p docker",
        ),
        (
            "run -w stream linpack",
            "tare: workloads are one list, joined with commas and without blanks: -w stream,linpack",
        ),
        (
            "plan stream",
            "tare: 'stream' is one of the workloads, not a study: pass it with -w stream",
        ),
        (
            "plan -p ''",
            "error: invalid value '' for '--platforms <LIST>': a name is missing: join names with commas, without blanks\n\nFor more information, try '--help'.",
        ),
        (
            "plan -p native,,docker",
            "error: invalid value '' for '--platforms <LIST>': a name is missing: join names with commas, without blanks\n\nFor more information, try '--help'.",
        ),
        (
            "plan -p all",
            "error: invalid value 'all' for '--platforms <LIST>': there is no name for all: omit the option for the default platforms, or join names with commas ('tare doctor' lists those that can run here)\n\nFor more information, try '--help'.",
        ),
        (
            "plan -w all",
            "error: invalid value 'all' for '--workloads <LIST>': there is no name for all: join names with commas ('tare workloads' lists them)\n\nFor more information, try '--help'.",
        ),
        (
            "plan -p native,native",
            "tare: platform 'native' is given twice: give each once",
        ),
    ]);
}

#[test]
fn what_is_misspelt_is_told_what_it_may_mean() {
    check(&[
        (
            "rnu",
            "error: unrecognized subcommand 'rnu'\n\n  tip: a similar subcommand exists: 'run'\n\nUsage: tare <COMMAND>\n\nFor more information, try '--help'.",
        ),
        (
            "frobnicate",
            "error: unrecognized subcommand 'frobnicate'\n\nUsage: tare <COMMAND>\n\nFor more information, try '--help'.",
        ),
        (
            "selftest covrage",
            "error: unrecognized subcommand 'covrage'\n\n  tip: a similar subcommand exists: 'coverage'\n\nUsage: tare selftest <COMMAND>\n\nFor more information, try '--help'.",
        ),
        (
            "plan -p native -w linpak",
            "tare: unknown workload 'linpak': did you mean 'linpack'?",
        ),
        (
            "plan -p native -w sort",
            "tare: unknown workload 'sort': 'tare workloads' lists them all, and a file of your own ends with .toml",
        ),
        (
            "kernel sort",
            "tare: unknown workload 'sort': 'tare workloads' lists them all, and a file of your own ends with .toml",
        ),
        (
            "plan -p doker",
            "tare: unknown platform 'doker': did you mean 'docker'? ('tare doctor' lists those that can run here)",
        ),
        (
            "plan -p native,gvisor",
            "tare: unknown platform 'gvisor': did you mean 'runsc'? ('tare doctor' lists those that can run here)",
        ),
        (
            "--details r.jsonl",
            "tare: --details is an option of a subcommand; put it after one: tare report --details r.jsonl",
        ),
        (
            "-p native,docker",
            "tare: -p is an option of a subcommand; put it after one: tare run -p native,docker",
        ),
        (
            "plan -p virtualbox",
            "tare: unknown platform 'virtualbox': the platforms are native, docker, podman, lxc, runc, crun, runsc, nspawn, vm, libvirt, firecracker, cloud-hypervisor, vmware, uml, ssh ('tare doctor' lists those that can run here)",
        ),
        (
            "plan -p native --blcoks 3",
            "error: unexpected argument '--blcoks' found\n\n  tip: a similar argument exists: '--blocks'\n\nUsage: tare plan --platforms <LIST> --blocks <N> [STUDY] [-- <COMMAND>...]\n\nFor more information, try '--help'.",
        ),
        (
            "plan quik",
            "tare: there is no study 'quik': did you mean 'quick'? A file's name ends with .toml, and 'tare plan --list' lists the shipped ones",
        ),
        (
            "plan nosuch",
            "tare: there is no study 'nosuch': the shipped ones are quick, full, apps, multitasking, host-size, ruan2016, li2018, ghatrehsamani2020, conaboy2021. A file's name ends with .toml, and 'tare plan --list' lists the shipped ones",
        ),
        (
            "plan nosuch.toml",
            "tare: nosuch.toml: cannot read the study file: No such file or directory (os error 2); check the path",
        ),
        (
            "plan -p docker?netwrk=none",
            "tare: platform 'docker?netwrk=none': there is no option 'netwrk': did you mean 'network'?",
        ),
        (
            "plan -p docker?network=brigde",
            "tare: platform 'docker?network=brigde': 'brigde' is not a value of option 'network': did you mean 'bridge'?",
        ),
        (
            "plan -p docker?colour=red",
            "tare: platform 'docker?colour=red': there is no option 'colour': there are capabilities, network, runtime, seccomp, storage",
        ),
        (
            "check nosuch",
            "tare: unknown platform 'nosuch': the platforms are native, docker, podman, lxc, runc, crun, runsc, nspawn, vm, libvirt, firecracker, cloud-hypervisor, vmware, uml, ssh ('tare doctor' lists those that can run here)",
        ),
        (
            "check fake",
            "tare: platform 'fake' is a scripted test bed without real boxes: choose one that 'tare doctor' lists",
        ),
        (
            "check --only helo",
            "tare: unknown check 'helo': did you mean 'hello'?",
        ),
        (
            "man nosuch",
            "tare: there is no manual page for 'nosuch': the subcommands are doctor, plan, run, watch, report, compare, advise, merge, trend, serve, export, explain, workloads, image, clean, density, pilot, kernel, analyze, published, check, selftest, completions, man",
        ),
        (
            "man rum",
            "tare: there is no manual page for 'rum': did you mean 'run'? the subcommands are doctor, plan, run, watch, report, compare, advise, merge, trend, serve, export, explain, workloads, image, clean, density, pilot, kernel, analyze, published, check, selftest, completions, man",
        ),
        (
            "published show li2108",
            "tare: no study 'li2108': did you mean 'li2018'? The studies are agache2020, conaboy2021, conaboy2021-repo, docker-network-threads, docker-seccomp-threads, felter2015, ghatrehsamani2020, goyal2020, gvisor-threads, gvisor2020, jones2013, kata-threads, kuenzer2021, li2018, ruan2016",
        ),
        (
            "completions tcsh",
            "error: invalid value 'tcsh' for '<SHELL>'\n  [possible values: bash, elvish, fish, powershell, zsh]\n\n  tip: a similar value exists: 'zsh'\n\nFor more information, try '--help'.",
        ),
    ]);
}

#[test]
fn values_that_cannot_be_are_told_what_can() {
    check(&[
        (
            "plan -p fake --cpus 0",
            "error: invalid value '0' for '--cpus <N>': '0' is not a number of CPUs: give a positive number with at most three decimals, such as 2 or 0.5\n\nFor more information, try '--help'.",
        ),
        (
            "plan -p fake --cpus abc",
            "error: invalid value 'abc' for '--cpus <N>': 'abc' is not a number of CPUs: give a positive number with at most three decimals, such as 2 or 0.5\n\nFor more information, try '--help'.",
        ),
        (
            "plan -p fake --cpus 99999",
            "tare: 99999 CPUs are requested, but this host has N that tare may use: set --cpus to at most N",
        ),
        (
            "plan -p fake --memory 1",
            "tare: 1 B of memory are too little: a box needs at least 64 MiB: set --memory to 64M or more (a number without a unit counts bytes)",
        ),
        (
            "plan -p fake --memory lots",
            "error: invalid value 'lots' for '--memory <SIZE>': 'lots' is not an amount of memory: give a positive number with K, M or G (powers of 1024), such as 512M\n\nFor more information, try '--help'.",
        ),
        (
            "plan -p fake --memory 1000TB",
            "tare: 1000 TiB of memory are requested, but this host has N: reduce --memory",
        ),
        (
            "plan -p fake --blocks 0",
            "error: invalid value '0' for '--blocks <N>': give a whole number from 1 to 1000000\n\nFor more information, try '--help'.",
        ),
        (
            "plan -p fake --blocks -1",
            "error: invalid value '-1' for '--blocks <N>': give a whole number from 1 to 1000000\n\nFor more information, try '--help'.",
        ),
        (
            "plan -p fake --slices 0",
            "error: invalid value '0' for '--slices <HOW>': '0' is not a slicing: give auto, off, turns, or a slice length from 1ms to 1s\n\nFor more information, try '--help'.",
        ),
        (
            "plan -p fake --margin five",
            "error: invalid value 'five' for '--margin <PERCENT>': give a percentage from 0.01 to 100\n\nFor more information, try '--help'.",
        ),
        (
            "plan -p fake --pause -3s",
            "error: invalid value '-3s' for '--pause <TIME>': '-3s' is negative: give a positive number with ms, s, m or h, such as 5m\n\nFor more information, try '--help'.",
        ),
        (
            "plan -p fake --budget -3s",
            "error: invalid value '-3s' for '--budget <TIME>': '-3s' is negative: give a positive number with ms, s, m or h, such as 5m\n\nFor more information, try '--help'.",
        ),
        (
            "plan -p fake --budget soon",
            "error: invalid value 'soon' for '--budget <TIME>': 'soon' is not a duration: give a positive number with ms, s, m or h, such as 5m\n\nFor more information, try '--help'.",
        ),
        (
            "plan -p fake --provisioning quota",
            "error: invalid value 'quota' for '--provisioning <LIST>'\n  [possible values: vanilla, pinned]\n\nFor more information, try '--help'.",
        ),
        (
            "plan -p fake --isa avx2",
            "error: invalid value 'avx2' for '--isa <ISA>': unknown instruction set 'avx2': choose baseline, v3 (x86-64-v3, with AVX2) or v4 (x86-64-v4, with AVX-512)\n\nFor more information, try '--help'.",
        ),
        (
            "plan --baseline lxc -p native,docker",
            "tare: the baseline 'lxc' is not among the platforms native, docker: add it with --platforms, or choose another with --baseline",
        ),
        (
            "run -p",
            "error: a value is required for '--platforms <LIST>' but none was supplied\n\nFor more information, try '--help'.",
        ),
        (
            "run --small",
            "error: the following required arguments were not provided:\n  <STUDY>\n\nUsage: tare run --small --state-dir <DIR> <STUDY> [-- <COMMAND>...]\n\nFor more information, try '--help'.",
        ),
        (
            "plan quick -w stream",
            "tare: --workloads conflicts with the study quick, which defines what is compared: omit one of them, or edit a copy of the study",
        ),
    ]);
}

#[test]
fn programs_that_are_none_are_told_why() {
    check(&[
        (
            "plan -p fake -- no-such-program",
            "tare: there is no program 'no-such-program' on PATH: check the name, or give its path, such as ./no-such-program",
        ),
        (
            "plan -p fake -- ./no-such-program",
            "tare: there is no file ./no-such-program: check the path of the program",
        ),
        (
            "plan -p fake -- ./folder",
            "tare: ./folder is a folder, not a program: give the path of a program in it",
        ),
        (
            "plan -p fake -- ./data.txt",
            "tare: ./data.txt is not executable: make it so with 'chmod +x ./data.txt', or put its interpreter before it, such as sh ./data.txt",
        ),
    ]);
}

#[test]
fn files_that_are_of_another_kind_are_told_what_they_are_for() {
    let tare = folder();
    tare.ok("run -p fake,fake?cost=2 --cpus 1 -w syscall --blocks 2 --no-settle -o good.jsonl");
    check_in(
        &tare,
        &[
            (
                "run good.jsonl",
                "tare: good.jsonl is a results file, not a study: view it with 'tare report good.jsonl', or continue it with 'tare run --resume good.jsonl'",
            ),
            (
                "run --resume good.jsonl",
                "tare: good.jsonl is complete: all 2 blocks were run; view it with 'tare report good.jsonl'; its number of blocks is fixed: for more, start a new one with -o and --blocks N",
            ),
            (
                "run --resume good.jsonl --blocks 20",
                "tare: good.jsonl was planned with 2 blocks: adding or dropping blocks after seeing a result makes intervals cover less than they claim; start a new one with -o and other --blocks, or with --adaptive",
            ),
            (
                "report",
                "error: the following required arguments were not provided:\n  <FILE>\n\nUsage: tare report <FILE>\n\nFor more information, try '--help'.",
            ),
            (
                "report nosuch.jsonl",
                "tare: cannot read results file nosuch.jsonl: No such file or directory (os error 2); check the path and who may read it",
            ),
            (
                "report empty.jsonl",
                "tare: empty.jsonl is empty: give a results file, as written by 'tare run'",
            ),
            (
                "report picture.png",
                "tare: picture.png is not a results file, or is truncated: it has no complete header line; give a file written by 'tare run'",
            ),
            (
                "report table.csv",
                "tare: table.csv is a table, not a results file: analyse it with 'tare analyze table.csv'",
            ),
            (
                "report folder",
                "tare: folder is not a file: give a file written by 'tare run'",
            ),
            (
                "compare good.jsonl",
                "error: the following required arguments were not provided:\n  <AFTER>\n\nUsage: tare compare [OPTIONS] <RESULTS> <AFTER>\n       tare compare [OPTIONS] <RESULTS> --published <STUDY>\n\nFor more information, try '--help'.",
            ),
            (
                "compare good.jsonl ./good.jsonl",
                "tare: good.jsonl is given twice: give the results of two runs",
            ),
            (
                "analyze good.jsonl",
                "tare: good.jsonl: this is a results file of tare: view it with 'tare report'",
            ),
            (
                "run -p fake -o good.jsonl",
                "tare: good.jsonl already exists: choose another name with -o, or continue it with --resume",
            ),
            (
                "run -p fake -o nosuch/r.jsonl",
                "tare: there is no folder nosuch: create it, or give another path",
            ),
            (
                "run -p fake -o folder",
                "tare: folder is a folder: give the path of a file with -o, such as folder/results.jsonl",
            ),
            (
                "run -p fake --html folder",
                "tare: folder is a folder: give the path of a page with --html, such as folder/report.html",
            ),
            (
                "run -p fake --html data.txt",
                "tare: data.txt exists and is not a page; tare does not overwrite it: give another path with --html",
            ),
            (
                "report good.jsonl --html folder",
                "tare: folder is a folder: give the path of a page with --html, such as folder/report.html",
            ),
        ],
    );
}

#[test]
fn what_is_plain_enough_is_taken() {
    let tare = Tare::beside_others();
    for line in [
        &["plan", "-p", "fake", "--margin", "5%"][..],
        &["plan", "-p", "fake", "--margin", "5 %"],
        &["plan", "-p", "fake, fake?cost=2"],
        // A time without a unit is in seconds.
        &["plan", "-p", "fake", "--trial-time", "5"],
    ] {
        tare.ok(line);
    }
    let planned = tare.ok("plan -p fake --margin 5% --trial-time 5 --json").stdout;
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
        alone
            .stdout
            .contains("1 of 2 trials succeeded, 1 failed, 1 of 3 blocks"),
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
        "not there /etc/hostname, /etc/passwd in fake, named by command: to copy these files into the boxes, add --with /etc/hostname --with /etc/passwd"
    ), "{}", told(""));
    let with = told("--with /etc/hostname --with /etc/passwd ");
    assert!(!with.contains("not there"), "{with}");
}
