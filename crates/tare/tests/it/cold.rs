//! Trials that begin with cold caches: what they read comes from storage, and not from memory.

use crate::common::{Tare, alone, left_of, ready};

/// Bytes of the file that is read.
const BYTES: f64 = 8e6;

/// Reads a file that its setup wrote.
fn file(cache: &str) -> String {
    format!(
        "about = \"reads a file\"\n[command]\nargv = [\"md5sum\", \"data\"]\ncache = \"{{cache}}\"\n\
         setup = [\"dd\", \"if=/dev/zero\", \"of=data\", \"bs=1000000\", \"count=8\", \"conv=fsync\"]\n\
         [parameters]\ncache = {{ about = \"warm or cold\", small = \"{cache}\", paper = \"cold\" }}\n"
    )
}

/// Bytes that the command read from storage in its one trial.
fn read(tare: &Tare, platform: &str, cache: &str) -> f64 {
    std::fs::write(tare.path("w.toml"), file(cache)).unwrap();
    let args = "--provisioning pinned --cpus 1 --memory 512M --no-settle --blocks 1 -o r.jsonl";
    let _ = std::fs::remove_file(tare.path("r.jsonl"));
    tare.ok(&format!("run -p {platform} -w ./w.toml {args}"));
    let trials = tare.trials_in_the_end("r.jsonl");
    assert_eq!(trials.len(), 1, "{trials:?}");
    let header = tare.records_of("r.jsonl", "header").remove(0);
    let cold = &header["study"]["workloads"][0]["cold"];
    assert_eq!(cold.as_bool().unwrap_or(false), cache == "cold");
    assert_eq!(left_of(&tare.run_name("r.jsonl")), Vec::<String>::new());
    let bytes = &trials[0]["outcome"]["ok"]["samples"]["storage-read"];
    bytes.as_f64().unwrap_or_else(|| panic!("{trials:?}"))
}

#[test]
fn a_cold_trial_reads_from_storage_what_a_warm_one_finds_in_memory() {
    reads_when_cold(&["native", "runc"]);
}

#[test]
#[ignore = "slow: make test-all"]
fn a_cold_trial_in_a_machine_reads_from_the_hosts_storage() {
    reads_when_cold(&["vm?accel=tcg&storage=raw"]);
}

fn reads_when_cold(platforms: &[&str]) {
    let _alone = alone();
    for platform in platforms {
        if !ready(platform) {
            continue;
        }
        let tare = Tare::new();
        let warm = read(&tare, platform, "warm");
        let cold = read(&tare, platform, "cold");
        assert!(cold >= BYTES, "{platform}: {cold} B read of {BYTES}");
        assert!(
            warm < BYTES / 2.0,
            "{platform}: {warm} B read though they were in memory"
        );
    }
}

#[test]
#[ignore = "slow: make test-all"]
fn what_is_neither_cold_nor_warm_and_a_cold_load_are_refused() {
    let tare = Tare::new();
    std::fs::write(tare.path("w.toml"), file("tepid")).unwrap();
    tare.refused(
        "plan -p native -w ./w.toml",
        &["w.toml:4:9: 'cache' cannot be 'tepid': choose warm or cold"],
    );
    let load = "about = \"x\"\n[command]\ncache = \"cold\"\nload = { http = \"/\" }\n[[role]]\nname = \"a\"\nplace = \"tested\"\n\
        argv = [\"true\"]\nready = { tcp = \"{port}\" }\n";
    std::fs::write(tare.path("w.toml"), load).unwrap();
    tare.refused("plan -p native -w ./w.toml", &["'cache' belongs to a program"]);
}
