//! Boxes that run out of memory: whom the kernel killed is the reason of the trial that failed by it.

use crate::common::{Tare, left_of, ready};
use serde_json::Value;

/// Runs a workload file in boxes of 64 MiB on each of these platforms that is ready, where no trial
/// ends well: the failures.
fn failures(platforms: &[&str], file: &str, more: &str) -> Vec<Value> {
    let ready: Vec<&str> = platforms.iter().copied().filter(|p| ready(p)).collect();
    if ready.is_empty() {
        return Vec::new();
    }
    let tare = Tare::new();
    std::fs::write(tare.path("w.toml"), file).unwrap();
    let ended = tare.run(&format!(
        "run -w ./w.toml -p {} --cpus 1 --memory 64M --provisioning vanilla --blocks 1 --no-settle -o r.jsonl {more}",
        ready.join(",")
    ));
    assert_eq!(ended.code, 1, "{ended:?}");
    let told = "the box's limit of 64 MiB was reached and the kernel killed ";
    assert!(ended.stderr.contains("out of memory: "), "{ended:?}");
    assert!(ended.stderr.contains(told), "{ended:?}");
    let report = tare.ok("report r.jsonl --details").stdout;
    assert!(report.contains("out of memory"), "{report}");
    let trials = tare.records_of("r.jsonl", "trial");
    assert!(trials.len() >= ready.len(), "{trials:?}");
    assert_eq!(left_of(&tare.run_name("r.jsonl")), Vec::<String>::new());
    trials
        .iter()
        .map(|trial| trial["outcome"]["failed"].clone())
        .inspect(|failure| {
            assert_eq!(failure["reason"], "out-of-memory", "{failure}");
            let detail = failure["detail"].as_str().unwrap();
            assert!(detail.contains("was reached and the kernel killed "), "{failure}");
            // Others may be killed meanwhile, and then the kernel tells the cgroup of no more than ten in five seconds.
            assert!(detail.contains("tail") || detail.contains("process"), "{failure}");
        })
        .collect()
}

fn detail(failure: &Value) -> &str {
    failure["detail"].as_str().unwrap()
}

/// A command of this script, which may call `tail`.
fn script(text: &str) -> String {
    format!(
        "about = \"it takes memory without end\"\n[command]\nargv = [\"sh\", \"-c\", '''{text}''']\ncalls = [\"tail\", \"sleep\"]\n"
    )
}

const PLATFORMS: [&str; 7] = ["native", "docker", "runc", "lxc", "nspawn", "crun", "podman"];

#[test]
fn a_command_that_the_kernel_kills_ran_out_of_memory() {
    let one = "about = \"it takes memory without end\"\n[command]\nargv = [\"tail\", \"/dev/zero\"]\n";
    for failure in failures(&PLATFORMS, one, "") {
        assert!(detail(&failure).ends_with("; then: signal 9"), "{failure}");
    }
}

#[test]
fn a_trial_that_lost_a_process_failed_though_its_command_ended_with_status_0() {
    for slices in ["off", "auto", "turns"] {
        let file = script("tail /dev/zero; exit 0");
        for failure in failures(&PLATFORMS[..3], &file, &format!("--slices {slices}")) {
            assert!(
                detail(&failure).ends_with("ended with status 0"),
                "{slices}: {failure}"
            );
        }
    }
}

#[test]
fn what_else_failed_by_that_stands_behind_it_with_what_was_printed() {
    let check = "[[check]]\nsays = 'all of it'\n";
    let file = script("echo some of it; tail /dev/zero; exit 0") + check;
    for failure in failures(&["native"], &file, "") {
        assert!(detail(&failure).contains("; then: "), "{failure}");
        assert_eq!(failure["printed"]["stdout"], "some of it\n", "{failure}");
    }
}

#[test]
fn a_setup_that_is_killed_and_a_server_that_is_killed_while_it_serves_are_told_so() {
    let setup = "setup = [\"tail\", \"/dev/zero\"]\n";
    for failure in failures(&["native", "runc"], &(script("sleep 0") + setup), "") {
        assert!(detail(&failure).contains("; then: its setup, "), "{failure}");
    }
    let server = "[[role]]\nname = \"db\"\nplace = \"tested\"\n\
        argv = [\"sh\", \"-c\", \"echo ready; sleep 0.5; exec tail /dev/zero\"]\ncalls = [\"sleep\", \"tail\"]\nready = { line = '^ready$' }\n";
    for failure in failures(&["native", "runc"], &(script("sleep 2") + server), "") {
        assert!(
            detail(&failure).contains("the server db ended: signal 9"),
            "{failure}"
        );
    }
    // In a box of its own it takes no memory of its client's.
    let apart = script("sleep 2") + &server.replace("\"tested\"", "\"apart\"");
    for failure in failures(&["native", "runc?network=bridge"], &apart, "") {
        assert!(
            detail(&failure).starts_with("in the box of db: the box's limit"),
            "{failure}"
        );
    }
}

#[test]
#[ignore = "slow: make test-all"]
fn a_machine_tells_whom_its_own_kernel_killed() {
    for platform in ["vm", "uml"] {
        if !ready(platform) {
            continue;
        }
        let tare = Tare::new();
        let args = "--cpus 1 --provisioning vanilla --blocks 1 --no-settle --with-libraries -o r.jsonl -- tail /dev/zero";
        let ended = tare.run(&format!("run -p {platform} --memory 256M {args}"));
        assert_eq!(ended.code, 1, "{ended:?}");
        for trial in tare.records_of("r.jsonl", "trial") {
            let failure = &trial["outcome"]["failed"];
            assert_eq!(failure["reason"], "out-of-memory", "{failure}");
            let told = "the 256 MiB of the box were full and its kernel killed tail";
            assert!(detail(failure).starts_with(told), "{failure}");
        }
    }
}

#[test]
fn what_another_box_was_killed_for_is_no_reason_of_a_trial_beside_it() {
    if !["native", "runc"].into_iter().all(ready) {
        return;
    }
    let tare = Tare::new();
    let first = tare.path("first").display().to_string();
    // Natively, and the first time alone.
    let script = format!("mkdir {first} && exec tail /dev/zero; exit 0");
    let options = "run -p native,runc --cpus 1 --memory 64M --provisioning vanilla --blocks 1 --no-settle \
        --with-libraries --slices off --trial-time 0 -o r.jsonl -- /bin/sh -c";
    let mut words: Vec<&str> = options.split_whitespace().collect();
    words.push(&script);
    tare.ok(&words);
    let trials = tare.records_of("r.jsonl", "trial");
    let failed = |t: &&Value| t["outcome"]["failed"]["reason"] == "out-of-memory";
    assert_eq!(
        (trials.len(), trials.iter().filter(failed).count()),
        (3, 1),
        "{trials:?}"
    );
}
