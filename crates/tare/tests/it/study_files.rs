//! Study files from the command line: plan, run, resume, and what is refused.

use crate::common::{self, Tare};

const STUDY: &str = "title = \"Does twice the cost show?\"
image = \"none\"
[requirement]
questions = [\"is \\u001b[31mit\\u001b[0m twice?\"]
[features]
application = [\"latency\"]
[[workload]]
name = \"linpack\"
size = [100, 200]
[[workload]]
name = \"spot-prices\"
[factors]
platforms = [\"fake\", \"fake?cost=2\", \"ecs\"]
provisioning = \"vanilla\"
cpus = 1
memory = \"256M\"
[protocol]
blocks = 12
settle = false
seed = 7
[small.protocol]
blocks = 2
";

fn tare_with(study: &str) -> Tare {
    let tare = Tare::new();
    std::fs::write(tare.path("s.toml"), study).unwrap();
    tare
}

#[test]
fn a_study_is_planned_with_its_chapters_and_what_is_missing() {
    let tare = tare_with(STUDY);
    let plan = tare.ok("plan s.toml").stdout;
    for part in [
        "Does twice the cost show?",
        "fake vanilla, fake?cost=2 vanilla: linpack size=100, linpack size=200,\n  [spot-prices]",
        "application latency: spot-prices",
        "4 cells x 12 blocks",
        "- workload spot-prices: this workload only runs in an image",
        "- platform ecs: ",
    ] {
        assert!(plan.contains(part), "'{part}' is not in: {plan}");
    }
    assert!(!plan.contains('\u{1b}'), "the study drives the terminal: {plan}");
    let small = tare.ok("plan s.toml --small").stdout;
    assert!(small.contains("verdicts need at least 10 blocks"), "{small}");
    let json: serde_json::Value = serde_json::from_str(&tare.ok("plan s.toml --json").stdout).unwrap();
    assert_eq!(json["cells"].as_array().unwrap().len(), 4);
    assert_eq!(json["blueprint"][2]["available"], false);
    assert_eq!(json["missing"].as_array().unwrap().len(), 2);
}

/// Every key of `value` and of what it holds.
fn keys(value: &serde_json::Value, found: &mut std::collections::BTreeSet<String>) {
    if let serde_json::Value::Object(map) = value {
        for (key, value) in map {
            found.insert(key.clone());
            keys(value, found);
        }
    }
    value
        .as_array()
        .into_iter()
        .flatten()
        .for_each(|v| keys(v, found));
}

#[test]
fn every_key_of_a_plan_is_in_its_document() {
    let tare = tare_with(STUDY);
    let mut found = std::collections::BTreeSet::new();
    for plan in [
        "plan s.toml --json",
        "plan --list --json",
        "plan -p fake,fake?cost=2 --cpus 1 --adaptive --json",
        // Refused, and told all the same.
        "plan -p fake --cpus 1 --json -- true /etc/hostname",
    ] {
        keys(&serde_json::from_str(&tare.run(plan).stdout).unwrap(), &mut found);
    }
    for expected in ["side_by_side", "capacity", "small", "half_width", "argv"] {
        assert!(found.contains(expected), "{expected} is not in {found:?}");
    }
    let document = include_str!("../../../../docs/results-format.md");
    let missing: Vec<_> = found
        .iter()
        .filter(|key| !document.contains(&format!("`{key}`")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_platform_that_is_not_here_is_planned_as_missing_and_not_run() {
    let tare = tare_with(&STUDY.replace("fake?cost=2", "fake?fail=probe"));
    let plan = tare.ok("plan s.toml").stdout;
    assert!(
        plan.contains("platform 'fake?fail=probe' cannot run here"),
        "{plan}"
    );
    tare.refused("run s.toml -o r.jsonl", &["'fake?fail=probe' cannot run here"]);
    assert!(!tare.path("r.jsonl").exists());
}

#[test]
fn a_study_is_run_kept_with_its_results_and_resumed_without_its_file() {
    let tare = tare_with(STUDY);
    let ended = tare.ok("run s.toml --blocks 3 -o r.jsonl");
    assert!(
        ended.stderr.contains("skipped: workload spot-prices"),
        "{}",
        ended.stderr
    );
    let header = &tare.records_of("r.jsonl", "header")[0];
    assert_eq!(header["study"]["template"]["title"], "Does twice the cost show?");
    assert_eq!(header["study"]["blocks"], 3);
    assert_eq!(tare.records_of("r.jsonl", "trial").len(), 12);
    // Cut after a trial: the file alone says what is left.
    let text = std::fs::read_to_string(tare.path("r.jsonl")).unwrap();
    let kept: Vec<&str> = text.lines().take_while(|l| !l.contains("\"trial\":9,")).collect();
    std::fs::write(tare.path("r.jsonl"), kept.join("\n") + "\n").unwrap();
    std::fs::rename(tare.path("s.toml"), tare.path("t.toml")).unwrap();
    tare.ok("run --resume r.jsonl");
    assert_eq!(tare.records_of("r.jsonl", "trial").len(), 12);
}

#[test]
fn cells_that_are_listed_are_those_that_are_run() {
    let study = STUDY.replace(
        "[protocol]",
        "[design]\nkind = \"cells\"\ncells = [{ workload = \"linpack size=100\" }, \
         { platform = \"fake\", workload = \"linpack size=200\" }]\n[protocol]",
    );
    let tare = tare_with(&study);
    tare.ok("run s.toml --small -o r.jsonl");
    let trials = tare.records_of("r.jsonl", "trial");
    let of = |platform: &str| trials.iter().filter(|t| t["platform"] == platform).count();
    assert_eq!((of("fake"), of("fake?cost=2")), (4, 2));
}

#[test]
fn networks_and_storages_are_factors_of_every_platform_that_has_them() {
    let study = STUDY
        .replace(
            "[\"fake\", \"fake?cost=2\", \"ecs\"]",
            "[\"native\", \"runc\", \"vm\"]",
        )
        .replace(
            "cpus = 1",
            "networks = [\"host\", \"bridge\"]\nstorages = \"tmpfs\"\ncpus = 1",
        );
    let tare = tare_with(&study);
    let plan: serde_json::Value = serde_json::from_str(&tare.ok("plan ./s.toml --json").stdout).unwrap();
    assert_eq!(
        plan["study"]["platforms"],
        serde_json::json!([
            "native",
            "runc?network=host&storage=tmpfs",
            "runc?network=bridge&storage=tmpfs",
            "vm?network=bridge&storage=tmpfs"
        ])
    );
    let missing = plan["missing"].to_string();
    assert!(
        missing.contains("platform vm?network=host&storage=tmpfs: 'host' is not a value of option 'network'"),
        "{missing}"
    );
    tare.refused(
        "plan ./s.toml --networks host",
        &["--networks conflicts with the study"],
    );
    tare.refused("plan --networks brige", &["'brige'", "bridge"]);
    if common::ready("native") && common::ready("runc") {
        let run = "run -p native,runc -w syscall --networks host,macvlan,published --provisioning pinned --cpus 1 --blocks 1 --trial-time 100ms -o r.jsonl";
        let told = tare.ok(run).stderr;
        assert!(told.contains("skipped: runc?network=published:"), "{told}");
        let header = tare.records_of("r.jsonl", "header");
        assert_eq!(
            header[0]["study"]["platforms"],
            serde_json::json!(["native", "runc?network=host", "runc?network=macvlan"])
        );
    }
}

#[test]
fn shipped_studies_are_listed_and_take_other_platforms() {
    let tare = Tare::new();
    let json: serde_json::Value = serde_json::from_str(&tare.ok("plan --list --json").stdout).unwrap();
    assert_eq!(json["studies"][0]["name"], "quick");
    assert_eq!(json["studies"][0]["small"], false);
    let list = tare.ok("plan --list").stdout;
    for name in [
        "quick",
        "full",
        "multitasking",
        "host-size",
        "container-service",
        "ruan2016",
        "li2018",
        "ghatrehsamani2020",
        "ghatrehsamani2020-causes",
        "conaboy2021",
    ] {
        assert!(list.contains(name), "{list}");
    }
    let plan = tare.ok("plan quick -p fake,fake?cost=2").stdout;
    assert!(plan.contains("8 cells x 10 blocks"), "{plan}");
}

#[test]
fn bad_studies_end_with_code_2_and_leave_nothing() {
    let tare = tare_with(&STUDY.replace("blocks = 12", "bloks = 12"));
    let run = |args: &[&str], words: &[&str]| {
        let args = [&["run", "-o", "r.jsonl"], args].concat();
        let ended = tare.refused(&args, words);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        assert!(!tare.path("r.jsonl").exists(), "{args:?} left a results file");
    };
    run(
        &["s.toml"],
        &["s.toml:18:1: unknown key 'bloks' in [protocol]: did you mean 'blocks'?"],
    );
    tare.refused("plan s.toml", &["s.toml:18:1: "]);
    run(&["gone.toml"], &["gone.toml: cannot read the study file"]);
    run(&["qick"], &["there is no study 'qick': did you mean 'quick'?"]);
    run(&["/dev/zero"], &["/dev/zero: is not a regular file"]);
    std::fs::write(tare.path("bytes.toml"), b"\xff\xfe").unwrap();
    run(&["bytes.toml"], &["bytes.toml:1:1: the byte 0xff is not UTF-8"]);
    std::fs::write(tare.path("s.toml"), STUDY).unwrap();
    run(
        &["s.toml", "-w", "stream"],
        &["--workloads conflicts with the study s.toml"],
    );
    run(
        &["s.toml", "--", "true"],
        &["a command conflicts with the study s.toml"],
    );
    run(
        &["quick", "--small"],
        &[
            "quick: has no small size: omit --small; of the shipped studies, ",
            "li2018",
        ],
    );
    run(
        &["s.toml", "--timeout", "1ms"],
        &["--timeout is 1 ms but a trial should take"],
    );
    run(
        &["s.toml", "--blocks", "1", "--baseline", "lxc"],
        &["the baseline 'lxc' is not among"],
    );
    // Before the image of its workloads is made.
    let args = ["run", "-o", "r.jsonl", "ghatrehsamani2020"];
    tare.refused(&args, &["ghatrehsamani2020.toml:", "and this host has"]);
    assert!(!tare.path("r.jsonl").exists());
    let small = tare.run("run --small");
    assert_eq!(small.code, 2, "{}", small.stderr);
}
