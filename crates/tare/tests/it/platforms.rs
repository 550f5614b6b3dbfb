//! Every platform that measures something real, on its real engine.

use crate::common::{self, Tare, left_of, processes_that_bear, ready};
use serde_json::Value;
use std::time::Duration;

const CONTAINERS: [&str; 10] = [
    "native",
    "docker",
    "docker?runtime=runsc",
    "podman",
    "lxc",
    "runc",
    "crun",
    "runsc",
    "containerd",
    "nspawn",
];

/// Platforms with a kernel of their own. TCG is asked for: whether KVM works is another question,
/// which takes long to answer.
const MACHINES: [&str; 4] = ["vm?accel=tcg", "uml", "libvirt?accel=tcg", "ssh:tare-test"];

/// Those on which promises are tested that 'tare check' tests on the others (check.rs): a process,
/// a container, a machine.
const FEW: [&str; 3] = ["native", "docker", "vm?accel=tcg"];

/// Three that check.rs leaves out, or has for `make test-all` only.
const UNCHECKED: [&str; 3] = ["docker?runtime=runsc", "libvirt?accel=tcg", "ssh:tare-test"];

/// Boxes in boxes: a container's rights to hold others, and cgroups of version 2 by the drivers
/// that make their own.
const NESTED: [&str; 4] = ["docker/runc", "lxc/crun", "runc/runc", "vm?accel=tcg/nspawn"];

/// And in VMs: with a whole engine carried there, and three deep.
const NESTED_IN_VM: [&str; 3] = [
    "vm?accel=tcg/native",
    "vm?accel=tcg/docker",
    "vm?accel=tcg/runc/runc",
];

/// Checks `with` on each of these platforms that can run here.
fn on_each(platforms: &[&str], with: impl Fn(&str, &Tare)) {
    for platform in platforms.iter().copied().filter(|p| ready(p)) {
        eprintln!("on {platform}");
        with(platform, &Tare::new());
    }
}

#[test]
#[ignore = "slow: make test-all"]
fn what_few_platforms_keep_the_unchecked_ones_keep_too() {
    let promises: [fn(&str, &Tare); 6] = [
        carries_a_static_command,
        has_half_a_cpu,
        has_its_quota_on_one_cpu,
        carries_libraries,
        is_swept_after_a_kill,
        is_removed_by_ctrl_c,
    ];
    for promise in promises {
        on_each(&UNCHECKED, promise);
    }
    are_frozen_and_thawed(&UNCHECKED);
}

/// The arguments of a short run.
fn short(platform: &str, more: &str) -> String {
    let given = |option| more.split(' ').any(|word| word == option);
    let cpus = if given("--cpus") { "" } else { "--cpus 1" };
    let blocks = if given("--blocks") { "" } else { "--blocks 1" };
    format!("run -p {platform} --no-settle --trial-time 50ms -o r.jsonl {cpus} {blocks} {more}")
}

/// A static program from this C source.
fn compiled(tare: &Tare, source: &str) -> String {
    let (file, program) = (tare.path("program.c"), tare.path("program"));
    std::fs::write(&file, source).unwrap();
    let built = std::process::Command::new("musl-gcc")
        .args(["-static", "-O1", "-o"])
        .args([&program, &file])
        .status();
    assert!(built.unwrap().success());
    program.display().to_string()
}

/// Whether a platform is another host, which has its own files and whose counters
/// cannot be read from here.
fn is_host(platform: &str) -> bool {
    platform.starts_with("ssh")
}

/// Cores that a burn could use: by the host's counters, where they can be read.
fn cores(platform: &str, proof: &Value) -> f64 {
    if !is_host(platform) {
        return number(&proof["host_cores"]);
    }
    assert!(proof["host_cores"].is_null(), "{proof}");
    let burn = &proof["burn"];
    let whole = || number(&burn["cpu_seconds"]) / number(&burn["wall_seconds"]);
    burn["cores_between_edges"].as_f64().unwrap_or_else(whole)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn kernels_run_in_containers_under_proven_limits_and_nothing_is_left() {
    on_each(&CONTAINERS, runs_kernels);
}

#[test]
fn kernels_run_in_machines_under_proven_limits_and_nothing_is_left() {
    on_each(&MACHINES, runs_kernels);
}

fn runs_kernels(platform: &str, tare: &Tare) {
    tare.ok(&short(platform, "-w syscall,spawn --blocks 1 --memory 256M"));
    let trials = tare.records_of("r.jsonl", "trial");
    let failed: Vec<_> = trials
        .iter()
        .filter(|t| !t["outcome"]["ok"].is_object())
        .collect();
    assert!(failed.is_empty() && trials.len() == 4, "{platform}: {failed:?}");
    let proofs = tare.records_of("r.jsonl", "proof");
    assert_eq!(proofs.len(), 2);
    for proof in &proofs {
        assert_eq!(proof["proven"], true, "{proof}");
        assert!(cores(platform, proof) <= 1.02, "{proof}");
        let limit = if platform.contains("runsc") {
            &proof["host_limit_bytes"]
        } else {
            &proof["refused_bytes"]
        };
        assert_eq!(number(limit), f64::from(256 << 20), "{proof}");
    }
    // gVisor counts every page of a mapped file.
    let counted = if platform.contains("runsc") { 0 } else { usize::MAX };
    for made in tare.records_of("r.jsonl", "box").iter().take(counted) {
        assert!(
            number(&made["facts"]["agent_rss_bytes"]) <= f64::from(4 << 20),
            "{made}"
        );
    }
    assert_eq!(left_of(&tare.run_name("r.jsonl")), Vec::<String>::new());
}

#[test]
fn boxes_in_boxes_have_their_limits_proven_at_every_layer() {
    have_their_limits_proven(&NESTED);
}

#[test]
#[ignore = "slow: make test-all"]
fn boxes_in_vms_have_their_limits_proven_at_every_layer() {
    have_their_limits_proven(&NESTED_IN_VM);
}

fn have_their_limits_proven(nested: &[&str]) {
    on_each(nested, |platform, tare| {
        let args = "-w syscall --cpus 0.5 --provisioning vanilla --memory 256M";
        tare.ok(&short(platform, args));
        let trials = tare.records_of("r.jsonl", "trial");
        assert!(trials[0]["outcome"]["ok"].is_object(), "{trials:?}");
        let proof = &tare.records_of("r.jsonl", "proof")[0];
        assert_eq!(proof["proven"], true, "{proof}");
        assert_eq!(number(&proof["refused_bytes"]), f64::from(256 << 20), "{proof}");
        let layers = proof["outer"].as_array().unwrap();
        assert_eq!(layers.len(), platform.matches('/').count(), "{proof}");
        for (layer, inside) in layers.iter().zip(layers.iter().skip(1).chain([proof])) {
            assert!(
                platform.starts_with(layer["platform"].as_str().unwrap()),
                "{proof}"
            );
            assert_eq!(layer["proven"], true, "{proof}");
            assert!(number(&layer["host_cores"]) <= 0.51, "{proof}");
            assert!(
                number(&layer["limit_bytes"]) > number(&inside["limit_bytes"]),
                "{proof}"
            );
        }
        assert_eq!(
            left_of(&tare.run_name("r.jsonl")),
            Vec::<String>::new(),
            "{platform}"
        );
    });
}

/// From 3 GiB on a guest's kernel keeps more for itself, which the inner box must not lack.
#[test]
#[ignore = "slow: make test-all"]
fn a_box_in_a_vm_has_all_of_its_memory() {
    let platform = "vm?accel=tcg/runc";
    if !ready(platform) {
        return;
    }
    let tare = Tare::new();
    tare.ok(&short(platform, "-w syscall --provisioning vanilla --memory 3G"));
    let proof = &tare.records_of("r.jsonl", "proof")[0];
    assert_eq!(proof["proven"], true, "{proof}");
}

/// cgroups of version 2 are at hand in a VM: what tare does there as a user, a tare
/// that runs as root in the VM's box sees by the exit code.
#[test]
fn a_user_with_a_delegated_cgroup_needs_no_root() {
    if !ready("vm") {
        return;
    }
    let tare = Tare::new();
    let program = compiled(&tare, include_str!("delegated.c"));
    let inside = common::binary().display().to_string();
    let as_user = |more: &[&str]| {
        let mut args = vec![
            "run",
            "-p",
            "vm?accel=tcg",
            "--cpus",
            "2",
            "--provisioning",
            "pinned",
            "--memory",
            "1G",
            "--blocks",
            "1",
            "--trial-time",
            "0",
            "--timeout",
            "200s",
            "--no-settle",
            "--with",
            &inside,
            "-o",
            "r.jsonl",
            "--",
            &program,
            &inside,
            "run",
            "-p",
            "native",
            "--no-settle",
            "--trial-time",
            "50ms",
            "-w",
            "syscall",
            "--blocks",
            "1",
            "--cpus",
            "1",
            "-o",
            "/tmp/user/r.jsonl",
        ];
        args.extend(more);
        let ended = tare.run(&args);
        let trial = tare.records_of("r.jsonl", "trial").pop().unwrap();
        std::fs::remove_file(tare.path("r.jsonl")).unwrap();
        (ended.code, trial)
    };
    let (code, trial) = as_user(&["--memory", "64M"]);
    assert!(code == 0 && trial["outcome"]["ok"].is_object(), "{trial}");
    // It does fail where it must: the size of the inner box is the VM's.
    let (code, trial) = as_user(&["--memory", "4G"]);
    assert!(code == 1 && trial["outcome"]["failed"].is_object(), "{trial}");
}

#[test]
fn half_a_cpu_is_half_a_cpu_by_the_hosts_counters() {
    on_each(&FEW, has_half_a_cpu);
}

fn has_half_a_cpu(platform: &str, tare: &Tare) {
    let half = "--cpus 0.5 --provisioning vanilla -w syscall --memory 256M";
    tare.ok(&short(platform, half));
    let proof = &tare.records_of("r.jsonl", "proof")[0];
    assert_eq!(proof["proven"], true, "{proof}");
    let cores = cores(platform, proof);
    // A busy host may grant less, but never more.
    assert!((0.05..=0.51).contains(&cores), "{proof}");
}

#[test]
fn boxes_on_one_cpu_of_the_host_have_their_quota_and_no_other_cpu() {
    on_each(&FEW, has_its_quota_on_one_cpu);
}

fn has_its_quota_on_one_cpu(platform: &str, tare: &Tare) {
    let of_one = "--instance of1=0.5:256M:1 --provisioning vanilla -w syscall --blocks 1";
    tare.ok(&format!(
        "run -p {platform} --no-settle --trial-time 50ms -o r.jsonl {of_one}"
    ));
    let proof = &tare.records_of("r.jsonl", "proof")[0];
    assert_eq!(proof["proven"], true, "{proof}");
    assert!((0.05..=0.51).contains(&cores(platform, proof)), "{proof}");
    let header = &tare.records_of("r.jsonl", "header")[0];
    let instance = &header["study"]["instances"][0];
    assert_eq!(instance["host_cpus"], 1);
    assert_eq!(instance["host_set"].as_array().unwrap().len(), 1, "{instance}");
    // A kernel of its own numbers its CPUs itself.
    let own_kernels = ["vm", "uml", "libvirt", "ssh", "runsc"];
    if !own_kernels.iter().any(|own| platform.contains(own)) {
        assert_eq!(proof["burn"]["allowed_cpus"], instance["host_set"], "{platform}");
    }
}

#[test]
fn a_static_command_is_carried_into_every_box() {
    on_each(&FEW, carries_a_static_command);
}

fn carries_a_static_command(platform: &str, tare: &Tare) {
    let program = common::binary();
    let program = program.display();
    let run = |slices: &str| {
        let options = format!("--slices {slices} --provisioning pinned --memory 256M");
        tare.ok(&short(platform, &format!("{options} -- {program} man")));
        let trial = tare.records_of("r.jsonl", "trial").remove(0);
        std::fs::remove_file(tare.path("r.jsonl")).unwrap();
        let samples = &trial["outcome"]["ok"]["samples"];
        assert!(
            number(&samples["wall"]) > 0.0 && number(&samples["peak-memory"]) > 0.0,
            "{trial}"
        );
        trial
    };
    let in_one_piece = run("off");
    assert!(
        !in_one_piece["outcome"]["ok"]["repetitions"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    let in_slices = ["native", "docker", "vm?accel=tcg"].contains(&platform);
    for slices in ["auto", "turns"].into_iter().filter(|_| in_slices) {
        assert!(run(slices)["group"].is_u64(), "{platform}: {slices}");
    }
}

/// What GNU time tells of a program here, in bytes; `None` where it is not installed.
fn peak_by_time(program: &str) -> Option<f64> {
    let mut command = std::process::Command::new("/usr/bin/time");
    let told = command.args(["-f", "%M", program]).output().ok()?.stderr;
    let kilobytes: f64 = String::from_utf8(told).unwrap().trim().parse().unwrap();
    Some(kilobytes * 1024.0)
}

/// The peak of a command's memory in a box of this platform, in bytes.
fn peak_in(platform: &str, program: &str) -> Option<f64> {
    let tare = Tare::new();
    let options = "--slices off --provisioning vanilla --memory 256M";
    tare.ok(&short(platform, &format!("{options} -- {program}")));
    let trial = tare.records_of("r.jsonl", "trial").remove(0);
    trial["outcome"]["ok"]["samples"]["peak-memory"].as_f64()
}

#[test]
fn the_peak_memory_of_a_command_is_its_own_and_not_that_of_the_agent() {
    // Linux counts in steps of 32 pages for each CPU, and a process may move between CPUs.
    let step = 128.0 * 1024.0 * 2.0;
    let source = |bytes: u32| {
        let touch = format!("for (int i = 0; i < {bytes}; i++) ((volatile char *)memory)[i] = 1;");
        format!("static char memory[{bytes}]; int main(void) {{ {touch} return 0; }}")
    };
    let (of_empty, of_large) = (Tare::new(), Tare::new());
    let empty = compiled(&of_empty, &source(1));
    let large = compiled(&of_large, &source(8 << 20));
    let by_time = [&empty, &large].map(|program| peak_by_time(program));
    let [Some(empty_by_time), Some(large_by_time)] = by_time else {
        eprintln!("skipped: /usr/bin/time is not installed (Debian: apt-get install time)");
        return;
    };
    for platform in ["native", "runc", "lxc", "docker"]
        .into_iter()
        .filter(|p| ready(p))
    {
        // What time tells of it is rather more: time itself is no small process.
        let peak = peak_in(platform, &empty).unwrap_or(0.0);
        assert!(
            peak <= empty_by_time + step,
            "{platform}: {peak}, by time {empty_by_time}"
        );
        let peak = peak_in(platform, &large).unwrap();
        let off = (peak - large_by_time).abs();
        assert!(off <= step, "{platform}: {peak}, by time {large_by_time}");
    }
    if ready("runsc") {
        // The agent has some 12 MB there, an empty program up to 3.
        let peak = peak_in("runsc", &empty).unwrap_or(0.0);
        assert!(peak <= 4e6, "runsc: {peak}");
    }
}

/// The baseline's command fails in its first turn, those of all others are under way then:
/// their boxes are removed, and all is run again in new ones.
#[test]
fn turns_are_given_up_with_the_baseline_and_repeated_in_new_boxes() {
    let list = FEW.into_iter().chain(["lxc", "podman", "runc"]);
    let list: Vec<&str> = list.filter(|p| ready(p)).collect();
    let tare = Tare::new();
    let program = compiled(&tare, include_str!("fails_once.c"));
    let folder = tare.path("folder");
    std::fs::create_dir(&folder).unwrap();
    let options = "--slices turns --provisioning pinned --memory 256M";
    let command = format!("{program} {}", folder.display());
    tare.ok(&short(&list.join(","), &format!("{options} -- {command}")));
    let trials = tare.records_of("r.jsonl", "trial");
    let outcomes = |platform: &str| {
        let own = trials.iter().filter(|t| t["platform"] == platform);
        own.map(|t| t["outcome"]["ok"].is_object()).collect::<Vec<_>>()
    };
    for platform in &list {
        let expected: &[bool] = if *platform == "native" {
            &[false, true]
        } else {
            &[true]
        };
        assert_eq!(outcomes(platform), expected, "{platform}: {trials:?}");
    }
    // They stand in several sets, the first of which is run again.
    let groups = tare.records_of("r.jsonl", "group");
    let members = groups.iter().map(|g| g["members"].as_array().unwrap().len());
    let boxes = tare.records_of("r.jsonl", "box").len();
    assert!(boxes > members.sum(), "{boxes}: {groups:?}");
    assert_eq!(tare.records_of("r.jsonl", "removed").len(), boxes);
    assert_eq!(left_of(&tare.run_name("r.jsonl")), Vec::<String>::new());
}

#[test]
fn a_dynamic_command_runs_natively_and_elsewhere_with_its_libraries() {
    on_each(&FEW, carries_libraries);
}

fn carries_libraries(platform: &str, tare: &Tare) {
    let args = "--blocks 1 --provisioning vanilla --memory 256M -- /bin/true";
    let has_libraries = platform == "native" || is_host(platform);
    if !has_libraries {
        let refused = tare.run(&short(platform, args));
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        for told in ["nothing can be measured: ", "--with-libraries"] {
            assert!(refused.stderr.contains(told), "{told}: {}", refused.stderr);
        }
        assert!(!tare.path("r.jsonl").exists());
    }
    let with = format!("--with-libraries {args}");
    let ran = tare.run(&short(platform, if has_libraries { args } else { &with }));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let trial = &tare.records_of("r.jsonl", "trial")[0];
    assert!(trial["outcome"]["ok"].is_object(), "{trial}");
}

#[test]
fn kept_boxes_are_frozen_and_thawed() {
    are_frozen_and_thawed(&FEW);
}

fn are_frozen_and_thawed(platforms: &[&str]) {
    let list: Vec<&str> = platforms.iter().copied().filter(|p| ready(p)).collect();
    let tare = Tare::new();
    let args = "-w syscall --blocks 3 --provisioning pinned --memory 256M --fresh study";
    tare.ok(&short(&list.join(","), args));
    assert_eq!(tare.records_of("r.jsonl", "box").len(), list.len());
    let trials = tare.records_of("r.jsonl", "trial");
    assert!(
        trials.iter().all(|t| t["outcome"]["ok"].is_object()),
        "{trials:?}"
    );
    let thawed = trials.iter().filter(|t| t["host"]["thaw_ns"].is_u64()).count();
    assert_eq!(thawed, 2 * list.len());
    assert_eq!(left_of(&tare.run_name("r.jsonl")), Vec::<String>::new());
}

#[test]
fn what_a_killed_run_left_is_swept_by_the_next_start_and_its_trials_are_kept() {
    on_each(&FEW, is_swept_after_a_kill);
    on_each(&["containerd"], is_swept_after_a_kill);
}

fn is_swept_after_a_kill(platform: &str, tare: &Tare) {
    let args = "-w syscall,spawn --blocks 50 --memory 256M --fresh study";
    let mut child = tare.spawn(&short(platform, args));
    let deadline = std::time::Instant::now() + Duration::from_secs(120);
    let finished = |t: &Tare| t.path("r.jsonl").exists() && t.records_of("r.jsonl", "trial").len() >= 3;
    while !finished(tare) && std::time::Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let run = tare.run_name("r.jsonl");
    let before = tare.records_of("r.jsonl", "trial");
    assert!(before.len() >= 3);
    let next = tare.ok("run -p fake -w syscall --cpus 1 --no-settle -o next.jsonl");
    assert!(next.stderr.contains(&run), "the sweep is told: {}", next.stderr);
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while is_host(platform) && !left_of(&run).is_empty() && std::time::Instant::now() < deadline {
        // Another host is not swept from here: what is there ends by itself.
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(left_of(&run), Vec::<String>::new(), "{platform}");
    // A container's shim bears the engine's name of it, not ours.
    for line in next.stderr.lines() {
        if let Some((_, container)) = line.split_once(": container ") {
            assert_eq!(processes_that_bear(container), Vec::<String>::new(), "{platform}");
        }
    }
    assert_eq!(tare.records_of("r.jsonl", "trial"), before);
}

#[test]
fn ctrl_c_removes_the_boxes_and_leaves_a_whole_file() {
    on_each(&FEW, is_removed_by_ctrl_c);
}

fn is_removed_by_ctrl_c(platform: &str, tare: &Tare) {
    let args = "-w syscall --blocks 1000 --memory 256M";
    let mut child = tare.spawn(&short(platform, args));
    let deadline = std::time::Instant::now() + Duration::from_secs(120);
    let finished = |t: &Tare| t.path("r.jsonl").exists() && !t.records_of("r.jsonl", "trial").is_empty();
    while !finished(tare) && std::time::Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let sent = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(130), "{platform}");
    assert_eq!(tare.records_of("r.jsonl", "end")[0]["reason"], "interrupted");
    assert_eq!(
        left_of(&tare.run_name("r.jsonl")),
        Vec::<String>::new(),
        "{platform}"
    );
}
