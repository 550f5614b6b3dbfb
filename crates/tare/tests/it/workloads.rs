//! Workload files: listed, shown, tried natively, measured in boxes.

use crate::common::{self, Tare, alone, installed};

const TOOL: &str = r#"about = "a tool that prints a rate"
feature = { property = "memory", capacity = "throughput" }

[command]
argv = ["sh", "-c", "echo samples: {samples}; echo rate: 5 MB/s; read line < /etc/hostname; echo $line"]
with = ["/etc/hostname"]
version = { argv = ["sh", "-c", "echo tool 1.2.3"], regex = 'tool ([0-9.]+)' }

[parameters]
samples = { about = "how many", small = "10", paper = "100" }

[[metric]]
name = "rate"
unit = "MB/s"
regex = '^rate: (\S+) MB/s$'

[[check]]
figure = "samples"
regex = '^samples: (\d+)$'
at_least = 1
"#;

fn with_tool() -> Tare {
    let tare = Tare::new();
    std::fs::write(tare.path("tool.toml"), TOOL).unwrap();
    tare
}

#[test]
fn workloads_are_listed_and_shown() {
    let tare = with_tool();
    let list = tare.ok("workloads").stdout;
    for name in ["stream", "futex", "integer", "sysbench-cpu", "openssl-sha256"] {
        let begin = format!("{name} ");
        assert!(
            list.lines().any(|line| line.starts_with(&begin)),
            "{name}: {list}"
        );
    }
    let more = "[command]\npackage = \"toolbox\"\ncannot_run = { platforms = [\"runc\", \"lxc\"], why = \"it is so\" }";
    std::fs::write(tare.path("tool.toml"), TOOL.replacen("[command]", more, 1)).unwrap();
    let shown = tare.ok("workloads show tool.toml?samples=7").stdout;
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for told in [
        "tool samples=7 a tool that prints a rate",
        "throughput of memory",
        "version by sh -c echo tool 1.2.3",
        "parameter samples = 7 (preset=paper: 100): how many",
        "package toolbox",
        "cannot run in runc, lxc: it is so",
        "figure rate: higher is better, carries the verdict",
        "counts if of samples at least 1 is right",
    ] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
}

#[test]
fn a_workload_of_ones_own_is_tried_natively() {
    let _alone = alone();
    if !common::ready("native") {
        return;
    }
    let tare = with_tool();
    let tried = tare.ok("workloads check tool.toml").stdout;
    assert!(
        tried
            .lines()
            .any(|line| line.starts_with("rate") && line.ends_with("5.000 MB/s")),
        "{tried}"
    );
    let failed = tare.run("workloads check tool.toml?samples=0");
    assert_eq!(failed.code, 1, "{failed:?}");
    for told in ["samples is 0, and at least 1 is right", "rate: 5 MB/s"] {
        assert!(failed.stdout.contains(told), "{failed:?}");
    }
    assert!(!tare.path("check.jsonl").exists());
}

#[test]
fn a_trial_of_a_workload_tells_how_it_goes_and_can_be_given_up_and_stopped() {
    let _alone = alone();
    if !common::ready("native") {
        return;
    }
    let tare = Tare::new();
    // Its process is known by a number that nobody else sleeps for.
    let sleeps = "about = \"sleeps\"\n\n[command]\nargv = [\"sleep\", \"73.91\"]\n";
    std::fs::write(tare.path("s.toml"), sleeps).unwrap();
    let given_up = tare.run("workloads check ./s.toml --timeout 1s");
    assert_eq!(given_up.code, 1, "{given_up:?}");
    assert!(
        given_up.stdout.contains("killed when its time was over"),
        "{given_up:?}"
    );
    assert!(given_up.stderr.contains("left"), "{given_up:?}");
    tare.refused("workloads check ./s.toml --timeout 0", &["--timeout"]);
    let child = tare.spawn("workloads check ./s.toml");
    let begun = || !common::processes_that_bear("73.91").is_empty();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !begun() && std::time::Instant::now() < deadline {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.unwrap().success());
    let stopped = common::ended(child.wait_with_output().unwrap());
    assert_eq!(stopped.code, 130, "{stopped:?}");
}

#[test]
fn a_workload_of_ones_own_is_measured_in_boxes_with_what_it_needs() {
    let _alone = alone();
    if !common::ready("native") || !common::ready("runc") {
        return;
    }
    let tare = with_tool();
    tare.ok("run -p native,runc -w ./tool.toml,syscall --provisioning pinned --cpus 1 --blocks 2 --no-settle -o r.jsonl");
    let trials = tare.records_of("r.jsonl", "trial");
    assert_eq!(trials.len(), 8);
    assert!(
        trials.iter().all(|trial| trial["outcome"]["ok"].is_object()),
        "{trials:?}"
    );
    let rates = trials.iter().filter(|trial| trial["workload"] == "tool");
    assert!(
        rates
            .clone()
            .all(|trial| trial["outcome"]["ok"]["samples"]["rate"] == 5e6),
        "{trials:?}"
    );
    let header = tare.records_of("r.jsonl", "header");
    let workload = &header[0]["study"]["workloads"][0];
    assert_eq!(
        (&workload["name"], &workload["version"]["found"]),
        (&"tool".into(), &"1.2.3".into())
    );
    // A file explains its own figures: the workload's is not needed any more.
    std::fs::remove_file(tare.path("tool.toml")).unwrap();
    assert!(tare.ok("report r.jsonl").stdout.contains("tool"));
}

/// Tools are those of the image that they name where it can be made here, else the host's; what is
/// neither here nor there is left out.
#[test]
#[ignore = "slow: make test-all"]
fn every_workload_that_ships_runs_natively_and_in_a_container() {
    let _alone = alone();
    // The kernels need nothing.
    run_natively_and_in_a_container("full --small -p native,runc?network=bridge", 33);
    run_natively_and_in_a_container("apps --small -p native,runc?network=bridge", 0);
    run_natively_and_in_a_container("clusters --small -p native?network=bridge,runc?network=bridge", 0);
}

/// Two kernels, two tools, and two applications, one of which is loaded from outside; programs are
/// those of this host, since an image takes minutes.
#[test]
fn two_workloads_of_each_kind_run_natively_and_in_a_container() {
    let _alone = alone();
    let programs = ["sysbench", "openssl", "sqlite3", "redis-server"];
    if programs.into_iter().all(installed) {
        let workloads = "syscall,stream?size=32M,sysbench-cpu,openssl-sha256,sqlite?rows=100,redis-get";
        let options = "--image none --provisioning pinned --cpus 1 --memory 1G";
        let asked = format!("-w {workloads} {options} -p native,runc?network=bridge");
        run_natively_and_in_a_container(&asked, 6);
    }
}

fn run_natively_and_in_a_container(study: &str, least: usize) {
    if !common::ready("native") || !common::ready("runc") {
        return;
    }
    let tare = Tare::new();
    let ended = tare.run(&format!(
        "run {study} --blocks 1 --slices off --no-settle --trial-time 100ms --timeout 10m -o r.jsonl",
    ));
    let header = &tare.records_of("r.jsonl", "header")[0]["study"];
    let names = |list: &serde_json::Value| {
        let list = list.as_array().cloned().unwrap_or_default();
        let names = list
            .iter()
            .filter_map(|item| item["name"].as_str().map(str::to_owned));
        names.collect::<Vec<String>>()
    };
    let (workloads, left_out) = (
        names(&header["workloads"]),
        names(&header["template"]["left_out"]),
    );
    assert!(workloads.len() >= least, "{workloads:?}");
    if header["image"].is_object() {
        assert!(left_out.is_empty(), "the image has every tool: {left_out:?}");
    }
    let trials = tare.trials_in_the_end("r.jsonl");
    let failed = trials
        .iter()
        .filter(|trial| trial["outcome"]["failed"].is_object());
    let failed = failed.filter(|trial| !is_of_a_busy_host(trial));
    let failed: Vec<_> = failed.map(|trial| trial.to_string()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(trials.len(), 2 * workloads.len(), "{}", ended.stderr);
}

/// Whether a load was refused for what the host had no time for, the second time too: a rate is a share of what
/// the host could do at another moment.
fn is_of_a_busy_host(trial: &serde_json::Value) -> bool {
    let detail = trial["outcome"]["failed"]["detail"].as_str().unwrap_or_default();
    let has_rate = trial["workload"]
        .as_str()
        .is_some_and(|name| name.contains("rate="));
    has_rate && (detail.starts_with("overload: ") || detail.starts_with("the client used "))
}

#[test]
fn what_cannot_run_on_a_platform_is_skipped_there_and_refused_where_nothing_is_left() {
    let _alone = alone();
    if !common::ready("native") || !common::ready("runc") {
        return;
    }
    let tare = with_tool();
    let barred = TOOL.replace(
        "[command]",
        "[command]\ncannot_run = { platforms = [\"runc\"], if_host_has = \"/proc/self\", why = \"it is so\" }",
    );
    std::fs::write(tare.path("tool.toml"), barred).unwrap();
    let short = "--provisioning pinned --cpus 1 --blocks 1 --no-settle";
    let alone = format!("-p runc -w ./tool.toml {short}");
    tare.refused(&format!("run {alone}"), &["nothing can be measured: it is so"]);
    let plan = tare.ok(&format!("plan -p native,runc -w ./tool.toml,syscall {short}"));
    assert!(
        plan.stdout.contains("cannot run    tool in runc: it is so"),
        "{plan:?}"
    );
    tare.ok(&format!(
        "run -p native,runc -w ./tool.toml,syscall {short} -o r.jsonl"
    ));
    for trial in tare.records_of("r.jsonl", "trial") {
        let skipped = &trial["outcome"]["skipped"];
        let is_barred = trial["workload"] == "tool" && trial["platform"] == "runc";
        assert_eq!(skipped.is_object(), is_barred, "{trial}");
        assert!(!is_barred || skipped["detail"] == "it is so", "{trial}");
    }
}

#[test]
fn what_is_wrong_with_a_workload_is_told() {
    let tare = with_tool();
    let wrong = TOOL.replace("MB/s\"", "mb/s\"");
    std::fs::write(tare.path("wrong.toml"), wrong).unwrap();
    let missing = TOOL.replace(
        "\"sh\", \"-c\", \"echo samples",
        "\"no-such-tool\", \"echo samples",
    );
    let missing = missing.replace("[parameters]", "package = \"no-such\"\n[parameters]");
    std::fs::write(
        tare.path("missing.toml"),
        missing.replace("package = \"no-such\"\n", ""),
    )
    .unwrap();
    tare.refused(
        "plan -p fake -w ./wrong.toml",
        &["wrong.toml:12:1: metric 'rate': 'mb/s' can be bits or bytes: write Mbit/s or MB/s"],
    );
    tare.refused(
        "plan -p fake -w ./missing.toml",
        &["there is no program 'no-such-tool' on PATH"],
    );
    tare.refused(
        "plan -p fake -w ./none.toml",
        &["./none.toml: cannot read the workload file: No such file"],
    );
    tare.refused(
        "plan -p fake -w ./tool.toml?sample=1",
        &["has no parameter 'sample'", "did you mean 'samples'?"],
    );
    tare.refused("workloads show sysbenhc-cpu", &["did you mean 'sysbench-cpu'?"]);
}
