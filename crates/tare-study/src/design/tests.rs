//! Every wish and what becomes of it.

use super::*;
use crate::command::CommandWish;
use tare_model::kernel::Kernel;
use tare_model::study::{Fresh, Slicing, Workload};

fn facts() -> HostFacts {
    HostFacts {
        memory_bytes: 8 << 30,
        llc_bytes: Some(32 << 20),
        ..HostFacts::default()
    }
}

fn default_study() -> Study {
    let wishes = StudyRequest {
        cpus: "1".parse().ok(),
        ..StudyRequest::default()
    };
    study(&wishes, &facts()).unwrap()
}

fn refused(wishes: &StudyRequest) -> String {
    study(wishes, &facts()).unwrap_err().to_string()
}

#[test]
fn the_default_study_has_every_kernel_both_ways() {
    let study = default_study();
    assert_eq!(study.workloads.len(), Kernel::USUAL.len());
    assert_eq!(study.provisioning, Provisioning::ALL);
    assert_eq!(study.instances[0].size.memory_bytes, 1 << 30);
    assert_eq!(study.baseline.to_string(), "native");
}

#[test]
fn two_processes_share_a_box_that_holds_the_data_of_both() {
    let study = default_study();
    let named = |name: &str| study.workloads.iter().find(|w| w.name() == name).unwrap();
    // Three arrays of 32 MiB each.
    let stream = named("stream");
    assert!(holds_two(stream, study.instances[0].size.memory_bytes));
    assert!(holds_two(stream, 320 << 20) && !holds_two(stream, 256 << 20));
    assert!(holds_two(named("syscall"), 64 << 20));
}

#[test]
fn each_bad_wish_is_named_with_what_would_be_right() {
    let cpus = |text: &str| text.parse().ok();
    let wishes = StudyRequest {
        cpus: cpus("1"),
        ..StudyRequest::default()
    };
    let with = |change: &dyn Fn(&mut StudyRequest)| {
        let mut changed = wishes.clone();
        change(&mut changed);
        refused(&changed)
    };
    assert!(with(&|w| w.platforms = vec!["Docker!".into()]).contains("'Docker!' is not a platform"));
    assert!(with(&|w| w.platforms = vec!["lxc".into(), "lxc".into()]).contains("given twice"));
    assert!(with(&|w| w.baseline = Some("lxc".into())).contains("not among the platforms native"));
    assert!(with(&|w| w.workloads = vec!["steam".into()]).contains("unknown workload 'steam'"));
    assert!(with(&|w| w.cpus = cpus("4096")).contains("4096 CPUs are requested"));
    assert!(with(&|w| w.cpus = cpus("0.5")).contains("--provisioning vanilla"));
    assert!(with(&|w| w.memory_bytes = Some(64 << 30)).contains("reduce --memory"));
    assert!(with(&|w| w.memory_bytes = Some(1 << 20)).contains("too little"));
    assert!(with(&|w| w.memory_bytes = Some(128 << 20)).contains("stream"));
    assert!(with(&|w| w.protocol.blocks = Some(0)).contains("--blocks"));
    assert!(with(&|w| w.protocol.margin_percent = Some(-1.0)).contains("--margin"));
    assert!(
        with(&|w| w.command = Some(CommandWish {
            argv: vec!["no-such-cmd".into()],
            ..CommandWish::default()
        }))
        .contains("no program 'no-such-cmd'")
    );
    assert!(
        with(&|w| {
            w.workloads = vec!["stream".into()];
            w.command = Some(CommandWish {
                argv: vec!["true".into()],
                ..CommandWish::default()
            });
        })
        .contains("omit --workloads")
    );
}

#[test]
fn instance_types_are_a_factor_and_those_that_do_not_fit_are_refused_with_the_numbers() {
    let wishes = |list: &[&str]| StudyRequest {
        workloads: vec!["syscall".into(), "stream".into()],
        provisioning: vec![Provisioning::Vanilla],
        instances: list.iter().map(ToString::to_string).collect(),
        ..StudyRequest::default()
    };
    let study = study(&wishes(&["half=0.5:1G", "whole=1:2G"]), &facts()).unwrap();
    let kinds: Vec<String> = study.box_kinds().iter().map(ToString::to_string).collect();
    assert_eq!(kinds, ["native vanilla half", "native vanilla whole"]);
    let whole = study.instance_of(&study.box_kinds()[1]).unwrap();
    assert_eq!(whole.size.memory_bytes, 2 << 30);
    let refused = |list: &[&str]| super::study(&wishes(list), &facts()).unwrap_err().to_string();
    let large = refused(&["16xlarge"]);
    assert!(
        large.contains("64 CPUs and 256 GiB") && large.contains("8 GiB"),
        "{large}"
    );
    assert!(refused(&["a=1:1G", "a=1:2G"]).contains("given twice"));
    assert!(refused(&["huge"]).contains("16xlarge"));
    assert!(refused(&["small=1:128M"]).contains("stream"));
    let both = StudyRequest {
        cpus: "1".parse().ok(),
        ..wishes(&["a=1:1G"])
    };
    assert!(
        super::study(&both, &facts())
            .unwrap_err()
            .to_string()
            .contains("omit --cpus")
    );
}

#[test]
fn a_dynamic_command_says_why_it_stays_on_the_host() {
    let command = CommandWish {
        argv: vec!["sh".into()],
        ..CommandWish::default()
    };
    let wishes = StudyRequest {
        cpus: "1".parse().ok(),
        command: Some(command),
        ..StudyRequest::default()
    };
    let study = study(&wishes, &facts()).unwrap();
    let role = study.workloads[0].timed().unwrap();
    assert!(
        role.host_only.as_ref().is_some_and(|why| why.contains("--with")),
        "{role:?}"
    );
}

fn one_by_one() -> ProtocolOptions {
    ProtocolOptions {
        slicing: Some(Slicing::Off),
        ..ProtocolOptions::default()
    }
}

#[test]
fn boxes_that_are_kept_to_the_end_must_fit_the_host_together() {
    let kept = |memory_bytes| StudyRequest {
        platforms: vec!["native".into(), "docker".into()],
        workloads: vec!["syscall".into()],
        cpus: "1".parse().ok(),
        memory_bytes: Some(memory_bytes),
        protocol: ProtocolOptions {
            fresh: Some(Fresh::Study),
            ..one_by_one()
        },
        ..StudyRequest::default()
    };
    // One after another, and all of them there.
    let told = refused(&kept(2 << 30));
    assert!(
        told.contains("keeps all 4 boxes") && told.contains("8 GiB"),
        "{told}"
    );
    assert!(study(&kept(1 << 30), &facts()).is_ok());
}

#[test]
fn the_boxes_of_a_cell_must_fit_the_host_together() {
    for protocol in [ProtocolOptions::default(), one_by_one()] {
        let wishes = |memory_bytes| StudyRequest {
            platforms: vec!["runc?network=bridge".into()],
            workloads: vec!["tcp-rr?ends=server-apart".into()],
            cpus: "1".parse().ok(),
            memory_bytes: Some(memory_bytes),
            provisioning: vec![Provisioning::Vanilla],
            protocol,
            ..StudyRequest::default()
        };
        let told = refused(&wishes(4 << 30));
        assert!(
            told.contains("need 2 boxes at once, with 8 GiB of memory in total"),
            "{told}"
        );
        assert!(study(&wishes(1 << 30), &facts()).is_ok());
    }
}

#[test]
fn boxes_that_slices_need_side_by_side_must_fit_the_host_together() {
    let wishes = |memory_bytes| StudyRequest {
        platforms: vec!["native".into(), "docker".into()],
        workloads: vec!["syscall".into()],
        cpus: "1".parse().ok(),
        memory_bytes: Some(memory_bytes),
        ..StudyRequest::default()
    };
    // Docker's vanilla box, and beside it both of the baseline.
    let told = refused(&wishes(2 << 30));
    assert!(told.contains("3 boxes with 6 GiB of memory in total"), "{told}");
    assert!(
        told.contains("reduce --memory") && told.contains("--slices off"),
        "{told}"
    );
    assert!(study(&wishes(1 << 30), &facts()).is_ok());
    let of_one_kind = StudyRequest {
        provisioning: vec![Provisioning::Vanilla],
        ..wishes(2 << 30)
    };
    assert!(study(&of_one_kind, &facts()).is_ok());
    let off = StudyRequest {
        protocol: one_by_one(),
        ..wishes(7 << 30)
    };
    assert!(study(&off, &facts()).is_ok());
    let alone = StudyRequest {
        platforms: vec!["native".into()],
        ..of_one_kind
    };
    let memory_bytes = Some(7 << 30);
    assert!(
        study(
            &StudyRequest {
                memory_bytes,
                ..alone
            },
            &facts()
        )
        .is_ok()
    );
}

fn factors() -> StudyRequest {
    StudyRequest {
        platforms: vec!["native".into(), "docker".into()],
        instances: vec!["a=1:1G".into(), "b=1:2G".into()],
        workloads: vec![
            "syscall".into(),
            WorkloadWish {
                size: Some(500),
                ..WorkloadWish::from("linpack")
            },
            WorkloadWish {
                size: Some(600),
                ..WorkloadWish::from("linpack")
            },
        ],
        // Three boxes of 2 GiB are too many for this host.
        protocol: one_by_one(),
        ..StudyRequest::default()
    }
}

#[test]
fn runs_of_one_kernel_are_named_by_what_differs() {
    let threads = |n| WorkloadWish {
        size: Some(64 << 20),
        threads: n,
        ..WorkloadWish::from("stream")
    };
    let mut wishes = factors();
    wishes.workloads.extend([threads(Some(1)), threads(None)]);
    let study = study(&wishes, &facts()).unwrap();
    let names: Vec<&str> = study.workloads.iter().map(Workload::name).collect();
    assert_eq!(
        names,
        [
            "syscall",
            "linpack size=500",
            "linpack size=600",
            "stream threads=1",
            "stream threads=auto"
        ]
    );
    wishes.workloads.push(threads(Some(1)));
    let twice = refused(&wishes);
    assert!(
        twice.contains("workload 'stream threads=1' is given twice"),
        "{twice}"
    );
}

#[test]
fn parameters_that_a_kernel_does_not_take_are_refused() {
    let with = |kernel: &str, size, threads| StudyRequest {
        workloads: vec![WorkloadWish {
            kernel: kernel.into(),
            size,
            threads,
            ends: None,
        }],
        ..StudyRequest::default()
    };
    for (wishes, told) in [
        (
            with("spawn", Some(1), None),
            "spawn cannot have size 1: it has no size; omit it",
        ),
        (
            with("linpack", Some(9), None),
            "linpack cannot have size 9: give 50 to 16383 (order of the matrix)",
        ),
        (
            with("syscall", None, Some(2)),
            "syscall cannot have threads 2: give 1",
        ),
    ] {
        assert_eq!(refused(&wishes), told);
    }
}

#[test]
fn one_at_a_time_varies_each_factor_from_the_base_and_brings_baselines() {
    let base = Base {
        platform: Some("docker".into()),
        ..Base::default()
    };
    let wishes = StudyRequest {
        cells: Cells::OneAtATime(base),
        ..factors()
    };
    let study = study(&wishes, &facts()).unwrap();
    let cells: Vec<String> = study.cells().iter().map(ToString::to_string).collect();
    assert_eq!(
        cells,
        [
            "native vanilla a syscall",
            "native vanilla a linpack size=500",
            "native vanilla a linpack size=600",
            "native vanilla b syscall",
            "native pinned a syscall",
            "docker vanilla a syscall",
            "docker vanilla a linpack size=500",
            "docker vanilla a linpack size=600",
            "docker vanilla b syscall",
            "docker pinned a syscall",
        ]
    );
}

#[test]
fn listed_cells_are_expanded_and_each_has_its_baseline() {
    let levels = |platform: &[&str], workload: &str| Levels {
        platform: platform.iter().map(ToString::to_string).collect(),
        workload: vec![workload.to_owned()],
        ..Levels::default()
    };
    let with = |list: &[Levels]| StudyRequest {
        cells: Cells::List(list.to_vec()),
        ..factors()
    };
    let all = [levels(&[], "linpack"), levels(&["native"], "syscall")];
    assert_eq!(study(&with(&all), &facts()).unwrap().cells().len(), 20);
    let told = |list: &[Levels]| refused(&with(list));
    assert_eq!(
        told(&[levels(&["docker"], "syscall")]),
        "the baseline of the cell 'docker vanilla a syscall' is not among the cells: add 'native vanilla a syscall'"
    );
    assert_eq!(
        told(&[all[0].clone(), levels(&["native"], "linpack size=500")]),
        "the cell 'native vanilla a linpack size=500' is given twice: give each once"
    );
    assert_eq!(
        told(&[levels(&["vm"], "syscall")]),
        "a cell has the platform 'vm', which the study does not have: choose one of native, docker"
    );
    assert_eq!(
        told(&all[..1]),
        "the workload 'syscall' is in none of the cells: add a cell with it, or omit it"
    );
}
