//! Network kernels whose ends are in two places: one in the box, one on the host.

use crate::common::{self, Tare, alone, ended, installed, left_of, processes_that_bear, ready};
use serde_json::Value;
use std::process::Command;
use std::time::{Duration, Instant};

/// Platforms with the network by which the host reaches their boxes.
const REACHED: [&str; 7] = [
    "native?network=host",
    "docker?network=bridge",
    "docker?network=published",
    "runc?network=bridge",
    "lxc?network=bridge",
    "crun?network=host",
    "vm?accel=tcg&network=bridge",
];

fn run(platforms: &str, workloads: &str, more: &str) -> String {
    format!(
        "run -p {platforms} -w {workloads} --no-settle --blocks 1 --trial-time 100ms --cpus 1 --memory 512M -o r.jsonl {more}"
    )
}

/// The trials in the end, all of which must have succeeded, and so many: on a host that others
/// use one may need its second try.
fn good(tare: &Tare, many: usize) -> Vec<Value> {
    let trials = tare.trials_in_the_end("r.jsonl");
    assert_eq!(trials.len(), many, "{trials:?}");
    assert!(
        trials.iter().all(|t| t["outcome"]["ok"].is_object()),
        "{trials:?}"
    );
    trials
}

fn sample(trial: &Value, metric: &str) -> f64 {
    let value = &trial["outcome"]["ok"]["samples"][metric];
    value.as_f64().unwrap_or_else(|| panic!("no {metric}: {trial}"))
}

#[test]
fn messages_cross_into_every_box_and_out_of_it_and_the_box_is_counted() {
    let _alone = alone();
    let workloads = ["client-outside", "server-outside"].map(|ends| {
        ["tcp-rr", "udp-rr", "tcp-stream", "tcp-connect"].map(|kernel| format!("{kernel}?ends={ends}"))
    });
    for platform in REACHED.into_iter().filter(|p| ready(p)) {
        eprintln!("on {platform}");
        let mut asked: Vec<String> = workloads.iter().flatten().cloned().collect();
        asked.push("tcp-rr?ends=server-apart".to_owned());
        // A port of TCP alone is published.
        let has_way =
            |workload: &String| !(platform.contains("published") && workload == "udp-rr?ends=client-outside");
        let asked: Vec<String> = asked.into_iter().filter(has_way).collect();
        let tare = Tare::new();
        tare.ok(&run(platform, &asked.join(","), "--provisioning pinned"));
        let boxes = tare.records_of("r.jsonl", "box");
        let apart = |b: &&Value| b["role"] == "server";
        assert!(
            boxes
                .iter()
                .find(apart)
                .is_some_and(|b| b["platform"] == platform),
            "{boxes:?}"
        );
        for trial in good(&tare, asked.len()) {
            assert!(sample(&trial, "box-cpu") > 0.0, "{trial}");
            assert!(trial["group"].is_u64(), "{trial}");
        }
        assert_eq!(left_of(&tare.run_name("r.jsonl")), Vec::<String>::new());
    }
}

#[test]
fn ends_are_told_in_plan_header_and_report() {
    let _alone = alone();
    let tare = Tare::new();
    let args = "-p native,native?network=host -w tcp-rr?ends=client-outside&size=1K,tcp-rr --cpus 1";
    let plan = tare.ok(&format!("plan {args}")).stdout;
    let plan = plan.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        plan.contains("tcp-rr ends=client-outside size=1K: server in the box; client outside, on CPU"),
        "{plan}"
    );
    let short = "--no-settle --blocks 1 --trial-time 50ms --provisioning pinned -o r.jsonl";
    let report = tare.ok(&format!("run {args} {short}")).stdout;
    let study = tare.records_of("r.jsonl", "header").remove(0)["study"].clone();
    let workloads = study["workloads"].as_array().unwrap();
    let places: Vec<&Value> = workloads[0]["roles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["place"])
        .collect();
    assert_eq!(places, ["tested", "outside"]);
    assert_eq!(workloads[1]["roles"].as_array().unwrap().len(), 1);
    let boxes = &study["instances"][0]["pinned_set"];
    for cpu in workloads[0]["roles"][1]["cpus"].as_array().unwrap() {
        assert!(!boxes.as_array().unwrap().contains(cpu), "{study}");
    }
    let details = tare.ok("report r.jsonl --details").stdout;
    let all = format!("{report}{details}");
    assert!(all.contains("ran outside its box"), "{all}");
}

/// Boxes that reach one another, though not the host.
#[test]
#[ignore = "slow: make test-all"]
fn two_boxes_of_a_platform_talk_to_one_another_on_cpus_of_their_own() {
    let _alone = alone();
    if !ready("runc") {
        return;
    }
    let tare = Tare::new();
    let workload = "tcp-rr?ends=server-apart";
    tare.ok(&run(
        "native,runc?network=macvlan",
        workload,
        "--provisioning pinned",
    ));
    good(&tare, 2);
    let boxes = tare.records_of("r.jsonl", "box");
    assert_eq!(boxes.len(), 4, "{boxes:?}");
    assert_eq!(tare.records_of("r.jsonl", "removed").len(), 4);
    let cpus = |apart: bool| {
        let of = boxes.iter().filter(move |b| b["role"].is_string() == apart);
        of.map(|b| b["facts"]["allowed_cpus"].clone()).collect::<Vec<_>>()
    };
    let (own, apart) = (cpus(false), cpus(true));
    assert_eq!((own.len(), apart.len()), (2, 2), "{boxes:?}");
    assert!(own.iter().all(|set| !apart.contains(set)), "{boxes:?}");
    // What the boxes of a platform cost to start is told of those that are compared.
    let report = tare.ok("report r.jsonl --details").stdout;
    assert!(
        report.contains("server in a box of its own beside it"),
        "{report}"
    );
    assert_eq!(left_of(&tare.run_name("r.jsonl")), Vec::<String>::new());
}

/// With a quota below a CPU the box is throttled, and its trials run in one piece.
#[test]
fn a_quota_throttles_the_end_in_the_box_and_not_the_one_outside() {
    let _alone = alone();
    let tare = Tare::new();
    let stream = "tcp-stream?ends=server-outside";
    let run = run("native", stream, "--provisioning vanilla");
    // Some of the quota's periods.
    tare.ok(&run.replace("--cpus 1", "--cpus 0.2").replace("100ms", "1s"));
    let trial = good(&tare, 1).remove(0);
    assert!(trial["group"].is_null(), "{trial}");
    let host = &trial["host"];
    assert!(host["throttled_ns"].as_u64().unwrap() > 0, "{trial}");
    let share = host["cpu_ns"].as_f64().unwrap() / host["wall_ns"].as_f64().unwrap();
    assert!(share < 0.5, "{trial}");
    assert!(sample(&trial, "rate") > 0.0 && sample(&trial, "box-cpu") > 0.0);
}

/// A container that may not make networks stands for a kernel that does not.
#[test]
fn a_bridge_that_cannot_be_made_is_told_when_platforms_are_looked_for() {
    if !installed("setpriv") {
        return;
    }
    let tare = Tare::new();
    for (platform, network) in [
        ("runc", "bridge"),
        ("lxc", "macvlan"),
        ("vm?accel=tcg", "bridge"),
        ("uml", "bridge"),
    ] {
        if !ready(platform) {
            continue;
        }
        let with = if platform.contains('?') { '&' } else { '?' };
        let path = format!("{platform}{with}network={network}");
        let plan = [
            "plan", "-p", &path, "-w", "syscall", "--cpus", "1", "--memory", "256M",
        ];
        let without = |capabilities: &str| {
            let mut command = Command::new("setpriv");
            command.arg(capabilities).arg(common::binary()).args(plan);
            command.env("TARE_STATE_DIR", tare.path("state"));
            ended(command.output().unwrap())
        };
        let refused = without("--bounding-set=-net_admin");
        let why = format!("'{path}' cannot run here: the kernel makes no bridge for network={network}: ");
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains(&why), "{refused:?}");
        let told = without("--bounding-set=-sys_boot");
        assert_eq!(told.code, 0, "{told:?}");
    }
}

#[test]
fn a_box_that_shares_no_network_with_the_host_is_refused_before_anything_runs() {
    let tare = Tare::new();
    let ends = "-w tcp-rr?ends=client-outside --memory 256M";
    for (platform, why) in [
        ("runc", "no network with this host"),
        ("vm?accel=tcg", "as in runc?network=bridge"),
        ("runc?network=macvlan", "keeps the host and a macvlan on it apart"),
        ("vm?accel=tcg/runc", "no network with this host"),
        ("fake", "no network with this host"),
    ] {
        if platform != "fake" && !ready(platform) {
            continue;
        }
        for verb in ["plan", "run"] {
            let words = ["tcp-rr ends=client-outside", why];
            tare.refused(&format!("{verb} -p {platform} {ends}"), &words);
        }
    }
    if ready("runc") {
        let args = "run -p native,runc -w tcp-rr?ends=server-apart --memory 256M";
        tare.refused(args, &["tcp-rr ends=server-apart", "share no network"]);
    }
    for (workload, why) in [
        (
            "tcp-rr?ends=outside",
            "choose one of loopback, client-outside, server-outside, server-apart",
        ),
        ("syscall?ends=client-outside", "syscall has no client and server"),
        ("tcp-rr?end=loopback", "did you mean 'ends'?"),
        ("tcp-rr?size=1", "tcp-rr cannot have size 1"),
        ("tcp-rr?size", "is not a parameter"),
    ] {
        tare.refused(&format!("plan -p native -w {workload}"), &[why]);
    }
}

/// A run long enough to be disturbed. By the size its processes are known.
fn long_run(platform: &str, ends: &str, size: u32) -> String {
    let workload = format!("tcp-rr?ends={ends}&size={size}");
    run(platform, &workload, "--provisioning pinned").replace("100ms", "3s")
}

/// The number of the first process whose command line has this word and the mark, once there is one.
fn appears(word: &str, mark: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let found = processes_that_bear(mark);
        let found = found.iter().find(|line| line.contains(word));
        if let Some(pid) = found.and_then(|line| line.strip_prefix("process /proc/")?.split(':').next()) {
            return pid.to_owned();
        }
        assert!(Instant::now() < deadline, "no {word}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Kills that process in the middle of its work.
fn kill(word: &str, mark: &str) {
    let pid = appears(word, mark);
    std::thread::sleep(Duration::from_millis(300));
    std::process::Command::new("kill")
        .args(["-KILL", &pid])
        .status()
        .unwrap();
}

#[test]
fn a_server_that_is_killed_fails_its_trial_and_the_next_one_has_another() {
    let _alone = alone();
    for (ends, platform) in [
        ("client-outside", "native"),
        ("server-outside", "native"),
        ("client-outside", "runc?network=bridge"),
    ] {
        if !ready(platform) {
            continue;
        }
        let tare = Tare::new();
        let child = tare.command(&long_run(platform, ends, 7777)).spawn().unwrap();
        kill("run-server", "\"size\":7777");
        let ended = common::ended(child.wait_with_output().unwrap());
        assert_eq!(ended.code, 0, "{ended:?}");
        let trials = tare.records_of("r.jsonl", "trial");
        let failure = &trials[0]["outcome"]["failed"];
        let detail = failure["detail"].as_str().unwrap_or_default();
        assert!(detail.starts_with("the server ended: signal 9"), "{trials:?}");
        assert!(detail.contains("; then its client: exit status"), "{detail}");
        assert!(trials[1]["outcome"]["ok"].is_object(), "{trials:?}");
        assert_eq!(left_of(&tare.run_name("r.jsonl")), Vec::<String>::new());
    }
}

#[test]
fn a_client_that_is_killed_fails_its_trial_and_its_server_goes_with_it() {
    let _alone = alone();
    let tare = Tare::new();
    let args = long_run("native", "client-outside", 7778);
    let child = tare.command(&args).spawn().unwrap();
    kill("--server", "\"size\":7778");
    let ended = common::ended(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 0, "{ended:?}");
    let trials = tare.records_of("r.jsonl", "trial");
    assert_eq!(trials[0]["outcome"]["failed"]["reason"], "killed", "{trials:?}");
    assert!(trials[1]["outcome"]["ok"].is_object(), "{trials:?}");
    assert_eq!(processes_that_bear("\"size\":7778"), Vec::<String>::new());
}

#[test]
fn a_run_that_is_killed_leaves_nothing_that_the_next_start_does_not_remove() {
    let _alone = alone();
    let tare = Tare::new();
    let args = long_run("native", "client-outside", 7779);
    let mut child = tare.command(&args).spawn().unwrap();
    appears("--server", "\"size\":7779");
    child.kill().unwrap();
    child.wait().unwrap();
    let run = tare.run_name("r.jsonl");
    tare.ok("clean");
    assert_eq!(left_of(&run), Vec::<String>::new());
    assert_eq!(processes_that_bear("\"size\":7779"), Vec::<String>::new());
}

#[test]
fn a_study_file_names_ends_and_a_run_with_them_is_gone_on_with() {
    let _alone = alone();
    let tare = Tare::new();
    let study = "title = \"ends\"
[requirement]
questions = [\"does it cross?\"]
[[workload]]
name = \"tcp-rr\"
ends = [\"loopback\", \"server-outside\"]
[factors]
platforms = [\"native\"]
provisioning = \"pinned\"
cpus = 1
memory = \"512M\"
[protocol]
blocks = 2
trial_time = \"50ms\"
settle = false
";
    std::fs::write(tare.path("s.toml"), study).unwrap();
    tare.ok("run s.toml --budget 1ms -o r.jsonl");
    good(&tare, 2);
    tare.ok("run s.toml --resume r.jsonl");
    let names: Vec<Value> = good(&tare, 4).iter().map(|t| t["workload"].clone()).collect();
    assert!(names.contains(&Value::from("tcp-rr")), "{names:?}");
    assert!(
        names.contains(&Value::from("tcp-rr ends=server-outside")),
        "{names:?}"
    );
    std::fs::write(
        tare.path("s.toml"),
        study.replace("server-outside", "server-outsid"),
    )
    .unwrap();
    tare.refused("plan s.toml", &["s.toml:6:21", "did you mean 'server-outside'?"]);
}
