//! Every platform that measures something real keeps what every platform
//! promises, on its real engine.

use crate::common;
use crate::common::schema::Schema;
use crate::common::{Tare, ended, ready};
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// A variable of the host's environment, which no box may get to see.
const SECRET: (&str, &str) = ("TARE_TEST_SECRET", "open sesame");

/// Boxes in a row: fewer than `tare check` makes by itself, since all platforms wait for one another.
const CONTAINERS: &str = "20";
/// And where each takes seconds.
const MACHINES: &str = "2";

/// The checks that a network has something to do with.
const ON_NETWORKS: &str = "network,freeze,two-boxes,dropped,dead-run,nothing-left";

/// The checks that look for what options ask for, and of what they open.
const ON_OPTIONS: &str = "security,work-folder,files,host-files,closed,binary,nothing-left";

/// The checks of what a layer adds to the boxes in it.
const ON_LAYERS: &str = "hello,quota,binary,freeze,two-boxes,killed-engine,dead-run,nothing-left";

/// The checks that do not apply to a box with a kernel of its own.
const OF_MACHINES: [&str; 3] = ["killed-agent", "kernel", "own-limits"];

/// Checks a platform; `skipped` are the checks that do not apply to it.
fn keeps_its_promises(platform: &str, boxes: &str, skipped: &[&str]) {
    // Without a network there is none to lead anywhere.
    let skipped = [&["closed-network"], skipped].concat();
    keeps(platform, &["--boxes", boxes], &skipped);
}

/// Checks a platform with a network.
fn is_reached(platform: &str) {
    keeps(platform, &["--only", ON_NETWORKS], &[]);
}

fn keeps(platform: &str, options: &[&str], skipped: &[&str]) {
    if ready(platform) {
        keeps_here(&Tare::new(), platform, options, skipped);
    }
}

fn keeps_here(tare: &Tare, platform: &str, options: &[&str], skipped: &[&str]) {
    let mut command = tare.command(&["check", "--json", platform]);
    command.args(options);
    let done = ended(command.env(SECRET.0, SECRET.1).output().unwrap());
    let found: Value = serde_json::from_str(&done.stdout)
        .unwrap_or_else(|e| panic!("{platform}: {e}: {}\n{}", done.stdout, done.stderr));
    Schema::of("tare-check").holds(&done.stdout);
    let checks = found["platforms"][0]["checks"].as_array().unwrap();
    let name = |check: &Value| check["check"].as_str().unwrap().to_owned();
    let of = |outcome: &str| -> Vec<String> {
        let found = checks.iter().filter(|check| check["outcome"] == outcome);
        found.map(name).collect()
    };
    for check in checks {
        eprintln!(
            "{platform}: {} {} {:.1} s {} {}",
            check["outcome"], check["check"], check["seconds"], check["note"], check["why"]
        );
    }
    assert_eq!(of("failed"), Vec::<String>::new(), "{platform}");
    let in_any_order = |names: Vec<String>| BTreeSet::from_iter(names);
    let skipped = skipped.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(in_any_order(of("skipped")), in_any_order(skipped), "{platform}");
    assert_eq!(done.code, 0, "{platform}: {}", done.stderr);
    let left: Vec<_> = std::fs::read_dir(tare.path("state")).unwrap().flatten().collect();
    let runs = left
        .iter()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("tare-"));
    assert_eq!(runs.count(), 0, "{platform}: {left:?}");
}

#[test]
fn native() {
    let of_the_host = ["host-files", "killed-engine", "binary", "kernel", "own-limits"];
    keeps_its_promises("native", CONTAINERS, &of_the_host);
}

#[test]
fn docker() {
    keeps_its_promises("docker", CONTAINERS, &[]);
}

#[test]
#[ignore = "slow: make test-all"]
fn podman() {
    keeps_its_promises("podman", CONTAINERS, &[]);
}

#[test]
fn lxc() {
    keeps_its_promises("lxc", CONTAINERS, &[]);
}

#[test]
fn runc() {
    keeps_its_promises("runc", CONTAINERS, &[]);
}

#[test]
fn crun() {
    keeps_its_promises("crun", CONTAINERS, &[]);
}

#[test]
fn containerd() {
    keeps_its_promises("containerd", CONTAINERS, &[]);
}

#[test]
fn runsc() {
    keeps_its_promises("runsc", CONTAINERS, &OF_MACHINES);
}

#[test]
fn nspawn() {
    keeps_its_promises("nspawn", CONTAINERS, &[]);
}

#[test]
fn vm() {
    keeps_its_promises("vm?accel=tcg", MACHINES, &OF_MACHINES);
}

#[test]
#[ignore = "slow: make test-all"]
fn uml() {
    keeps_its_promises("uml", MACHINES, &OF_MACHINES);
}

#[test]
#[ignore = "slow: make test-all"]
fn libvirt() {
    let skipped = [&["weight"], &OF_MACHINES[..]].concat();
    keeps_its_promises("libvirt?accel=tcg", MACHINES, &skipped);
}

#[test]
#[ignore = "slow: make test-all"]
fn a_machine_of_another_cpu() {
    if cfg!(target_arch = "aarch64") {
        return;
    }
    let tare = Tare::new();
    std::fs::create_dir_all(tare.path("state")).unwrap();
    // Its kernel is where 'make test-all' puts it.
    std::os::unix::fs::symlink("/var/lib/tare/aarch64", tare.path("state/aarch64")).unwrap();
    let [vm, libvirt] = ["vm?arch=aarch64&storage=raw", "libvirt?arch=aarch64"];
    for platform in [vm, libvirt] {
        let planned = tare.run(&["plan", "-p", platform, "-w", "syscall"]);
        if planned.code != 0 {
            common::skipped(&format!("{platform}: {}", planned.stderr));
            return;
        }
    }
    let skipped = [&["closed-network"], &OF_MACHINES[..]].concat();
    keeps_here(&tare, vm, &["--boxes", MACHINES], &skipped);
    keeps_here(
        &tare,
        libvirt,
        &["--only", "hello,quota,same-name,nothing-left"],
        &[],
    );
    let both = format!("native,{vm}");
    for (more, told) in [
        (&["--", "true"][..], "for this host's CPUs"),
        (&["-w", "linpack", "--isa", "v3"], "no such level of instructions"),
    ] {
        let refused = tare.run(&[&["run", "-p", &both], more].concat());
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains(told), "{refused:?}");
    }
}

#[test]
#[ignore = "slow: make test-all"]
fn a_container_in_a_vm() {
    keeps("vm?accel=tcg/runc", &["--only", ON_LAYERS], &[]);
}

#[test]
#[ignore = "slow: make test-all"]
fn a_container_in_a_vm_keeps_every_promise() {
    keeps_its_promises("vm?accel=tcg/runc", MACHINES, &["killed-agent", "own-limits"]);
}

#[test]
#[ignore = "slow: make test-all"]
fn a_container_in_a_container() {
    keeps_its_promises("docker/runc", MACHINES, &[]);
}

#[test]
fn what_sets_a_container_apart_is_turned_off_and_on() {
    let platforms = [
        "docker?seccomp=off",
        "docker?capabilities=all",
        "podman?capabilities=all",
        "podman?seccomp=off",
        "runc?capabilities=all",
        "runc?userns=on",
        "runc?pidns=off",
        "docker?pidns=off",
        "containerd?pidns=off",
        "containerd?storage=overlay&userns=on",
        "crun?capabilities=none&userns=on",
        "nspawn?seccomp=off",
        "nspawn?userns=on",
        "lxc?seccomp=common",
        "lxc?userns=on",
        "docker?storage=volume",
        "podman?storage=tmpfs",
        "runc?storage=volume&userns=on",
        "crun?storage=own",
        "crun?storage=overlay",
        "runc?storage=overlay&userns=on",
        "nspawn?storage=overlay",
        "lxc?storage=overlay",
        "nspawn?storage=volume",
        "lxc?storage=tmpfs",
    ];
    for platform in platforms {
        if !ready(platform) {
            continue;
        }
        let tare = Tare::new();
        let state = tare.path("state");
        std::fs::create_dir_all(&state).unwrap();
        // Root in a box with a user namespace must get to its files.
        for folder in [state.parent().unwrap(), &state] {
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o711)).unwrap();
        }
        tare.ok(&["check", "--only", ON_OPTIONS, platform]);
    }
}

#[test]
#[ignore = "slow: make test-all"]
fn the_work_folder_of_a_machine_lies_on_every_storage() {
    have_their_options(&[
        "vm?accel=tcg&storage=raw&cache=writethrough",
        "libvirt?accel=tcg&storage=qcow2&cache=directsync",
        "vm?accel=tcg&storage=own",
        "vm?accel=tcg&storage=tmpfs",
        "vm?accel=tcg&machine=q35&storage=qcow2&cache=none",
        "vm?accel=tcg&machine=pc&storage=raw&cache=unsafe",
    ]);
}

/// Checks platforms for what their options ask for.
fn have_their_options(platforms: &[&str]) {
    for platform in platforms {
        keeps(platform, &["--only", ON_OPTIONS], &[]);
    }
}

#[test]
fn containers_are_reached_over_a_bridge_that_goes_with_the_run() {
    for engine in ["runc", "crun", "containerd", "lxc", "nspawn"] {
        is_reached(&format!("{engine}?network=bridge"));
    }
}

#[test]
fn containers_reach_one_another_by_macvlan() {
    for engine in ["runc", "crun", "lxc", "nspawn"] {
        is_reached(&format!("{engine}?network=macvlan"));
    }
}

#[test]
fn engines_have_a_bridge_and_publish_ports_on_the_loopback() {
    for engine in ["docker", "podman"] {
        is_reached(&format!("{engine}?network=bridge"));
        is_reached(&format!("{engine}?network=published"));
    }
}

#[test]
fn a_user_namespace_needs_a_way_to_the_boxes_root() {
    if !ready("runc") {
        return;
    }
    let tare = Tare::new();
    let done = tare.run("check --only hello runc?userns=on");
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(done.stdout.contains("chmod o+x"), "{}", done.stdout);
    // A platform that fails may leave things behind.
    assert!(done.stderr.contains("removed leftover: tare-"), "{}", done.stderr);
    assert_eq!(
        std::fs::read_dir(tare.path("state"))
            .unwrap()
            .flatten()
            .filter(is_run)
            .count(),
        0
    );
}

/// Whether an entry of a state folder is of a run.
fn is_run(entry: &std::fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with("tare-")
}

#[test]
#[ignore = "slow: make test-all"]
fn containers_share_the_network_of_the_host() {
    for engine in [
        "docker",
        "podman",
        "runc",
        "crun",
        "containerd",
        "runsc",
        "lxc",
        "nspawn",
    ] {
        is_reached(&format!("{engine}?network=host"));
    }
}

#[test]
#[ignore = "slow: make test-all"]
fn machines_are_reached_over_the_bridge() {
    is_reached("vm?accel=tcg&network=bridge");
    is_reached("uml?network=bridge");
}

/// Runs the checks of a bridge in a network where the host forwards IPv4, which no other test
/// shall suffer from: all that a host would lead a box to is there.
fn leads_nowhere(platform: &str, sent: &str) {
    if !ready(platform) {
        return;
    }
    let tare = Tare::new();
    let mut command = Command::new("unshare");
    command
        .args(["--net", "sh", "-c"])
        .arg("ip link set lo up && echo 1 >/proc/sys/net/ipv4/ip_forward && exec \"$@\"")
        .arg("sh")
        .arg(common::binary())
        .args([
            "check",
            platform,
            "--only",
            "network,closed-network,dead-run,nothing-left",
        ])
        .env("TARE_STATE_DIR", tare.path("state"));
    let done = ended(command.output().unwrap());
    assert_eq!(done.code, 0, "{platform}: {}\n{}", done.stdout, done.stderr);
    let seen = format!("with the host's forwarding on; the box sent {sent}");
    assert!(done.stdout.contains(&seen), "{platform}: {}", done.stdout);
}

#[test]
fn a_bridge_leads_containers_nowhere_on_a_host_that_forwards() {
    let both = "packets, router advertisements";
    for network in ["bridge", "macvlan"] {
        for engine in [
            "runc?capabilities=all&",
            "crun?capabilities=all&",
            "lxc?",
            "nspawn?",
        ] {
            leads_nowhere(&format!("{engine}network={network}"), both);
        }
        // Without the right to a way out: by frames of its own making.
        leads_nowhere(&format!("runc?network={network}"), both);
    }
}

#[test]
fn a_bridge_leads_machines_nowhere_on_a_host_that_forwards() {
    for machine in ["vm?accel=tcg&", "uml?"] {
        leads_nowhere(&format!("{machine}network=bridge"), "packets");
    }
}

#[test]
fn a_container_in_a_vm_is_reached_at_the_address_of_the_vm() {
    let checks = ["--only", "network,two-boxes,nothing-left"];
    keeps("vm?accel=tcg&network=bridge/runc?network=host", &checks, &[]);
}

#[test]
fn checks_are_chosen_by_name_and_listed_with_what_they_hold_a_platform_to() {
    let tare = Tare::new();
    let listed = tare.ok("check --list --only freeze,hello").stdout;
    // A line that begins with a blank goes on with the one before.
    let begun = listed.lines().filter(|line| !line.starts_with(' '));
    let names: Vec<&str> = begun.filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["freeze", "hello"], "{listed}");
    tare.refused("check --only frieze", &["unknown check 'frieze'", "freeze"]);
    tare.refused("check fake", &["'fake' is a scripted test bed", "tare doctor"]);
    tare.refused("check dokcer", &["unknown platform 'dokcer'"]);
    tare.refused("check --boxes 0 native", &["--boxes", "from 1 to"]);
}
