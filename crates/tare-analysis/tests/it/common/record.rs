//! Records as a run would write them.

use super::Pinned;
use std::collections::BTreeMap;
use tare_model::catalogue;
use tare_model::host::{BoxFacts, HostFacts};
use tare_model::kernel::{BurnReport, Isa, Kernel, KernelSpec};
use tare_model::metric::{Direction, Metric};
use tare_model::results::*;
use tare_model::size::{Cpus, InstanceType};
use tare_model::study::{BoxKind, Cell, Fresh, Instance, Protocol, Slicing, Stopping, Study};
use tare_model::topology::Topology;
use tare_model::workload::{KernelRun, Workload};

pub const START_NS: u64 = 1_795_253_999_000_000_000;

pub fn study() -> Study {
    Study {
        template: None,
        platforms: vec!["native".parse().unwrap(), "docker".parse().unwrap()],
        baseline: "native".parse().unwrap(),
        provisioning: vec![Pinned],
        instances: vec![Instance {
            name: None,
            size: InstanceType {
                cpus: Cpus::from_milli(2000),
                memory_bytes: 2 << 30,
            },
            pinned_set: vec![0, 1],
            host_cpus: None,
            host_set: Vec::new(),
        }],
        workloads: vec![workload(Kernel::Syscall)],
        image: None,
        effects: Vec::new(),
        tuning: None,
        listed: std::collections::BTreeSet::new(),
        protocol: Protocol {
            blocks: 20,
            stopping: Stopping::Fixed,
            budget_seconds: None,
            blocks_before_budget: 0,
            warm_up_seconds: 0.0,
            pause_seconds: 0.0,
            fresh: Fresh::Block,
            slicing: Slicing::Off,
            trial_seconds: 0.5,
            timeout_seconds: 30.0,
            settle: true,
            evidence: false,
            margin: 0.01,
            seed: 42,
        },
    }
}

pub fn workload(kernel: Kernel) -> Workload {
    catalogue::kernel(KernelRun {
        ends: Topology::Loopback,
        fixed_threads: false,
        spec: spec(kernel),
    })
}

pub fn spec(kernel: Kernel) -> KernelSpec {
    KernelSpec {
        kernel,
        isa: Isa::V3,
        threads: if kernel == Kernel::Stream { 2 } else { 1 },
        size: 0,
        seconds: 0.5,
    }
}

pub fn header(study: Study) -> Header {
    let version = |accelerator: Option<&str>| PlatformVersion {
        version: "1.2.3".to_owned(),
        details: accelerator
            .map(|a| ("accelerator".to_owned(), a.to_owned()))
            .into_iter()
            .collect(),
    };
    let platforms = study
        .platforms
        .iter()
        .map(|p| {
            (
                p.clone(),
                version(p.to_string().starts_with("vm").then_some("kvm")),
            )
        })
        .collect();
    Header {
        agent: None,
        schema: SCHEMA.to_owned(),
        tare: "0.1.0".to_owned(),
        build: "00112233aabbccdd".to_owned(),
        study,
        host: host(),
        platforms,
        files: BTreeMap::new(),
    }
}

pub fn host() -> HostFacts {
    HostFacts {
        cpu_model: Some("Xeon E3-1220 v3".to_owned()),
        cpus: 4,
        cores: 2,
        sockets: 1,
        numa_nodes: 1,
        llc_bytes: Some(32 << 20),
        memory_bytes: 16 << 30,
        kernel: "6.12.0".to_owned(),
        os: Some("Debian GNU/Linux 12".to_owned()),
        boot_id: Some("boot-1".to_owned()),
        cgroup: Some("v2".to_owned()),
        governor: Some("performance".to_owned()),
        smt: Some(true),
        ..HostFacts::default()
    }
}

pub fn session(run: &str, boot: &str) -> Session {
    Session {
        run: run.to_owned(),
        started_unix_ns: START_NS,
        boot_id: Some(boot.to_owned()),
        blocks: None,
    }
}

pub fn proof(kind: &BoxKind, instance: InstanceType) -> ProofRecord {
    let cores = instance.cpus.as_f64();
    ProofRecord {
        kind: kind.clone(),
        proven: true,
        remarks: Vec::new(),
        limit_cores: cores,
        host_cores: Some(cores * 0.998),
        burn: Some(BurnReport {
            cpu_seconds: cores,
            wall_seconds: 1.0,
            edges: 10,
            cores_between_edges: Some(cores * 0.999),
            allowed_cpus: vec![0, 1],
        }),
        burn_threads: 4,
        limit_bytes: instance.memory_bytes,
        touched_bytes: Some(instance.memory_bytes - (20 << 20)),
        refused_bytes: Some(instance.memory_bytes),
        kernel_share_bytes: None,
        host_limit_bytes: None,
        outer: Vec::new(),
        findings: Vec::new(),
        rests_on: None,
    }
}

pub fn made(box_id: u32, kind: &BoxKind, block: u32) -> BoxRecord {
    BoxRecord {
        box_id,
        kind: kind.clone(),
        role: None,
        block,
        warm_up: false,
        hello_seconds: 0.25 + f64::from(block) * 0.01,
        facts: BoxFacts::default(),
        footprint: None,
        resident_bytes: None,
    }
}

pub fn ended_well(
    trial: u32,
    block: u32,
    order: u32,
    cell: &Cell,
    metrics: &[Metric],
    cost: f64,
) -> TrialRecord {
    let sample = |m: &Metric| match m.direction {
        Direction::Higher => (m.name.clone(), 1.2e10 / cost),
        Direction::Lower => (m.name.clone(), 1e-3 * cost),
    };
    let usage = ProcessUsage {
        wall_ns: 500_000_000,
        user_ns: 400_000_000,
        system_ns: 100_000_000,
        max_rss_bytes: 4 << 20,
        major_faults: Some(0),
        ..ProcessUsage::default()
    };
    TrialRecord {
        trial,
        block,
        order,
        attempt: 0,
        cell: cell.clone(),
        box_id: Some(0),
        group: None,
        started_unix_ns: START_NS + u64::from(trial) * 1_000_000_000,
        outcome: Outcome::Ok(Success {
            samples: metrics.iter().map(sample).collect::<BTreeMap<_, _>>(),
            process: usage,
            kernel: None,
            repetitions: None,
            padding_bytes: 17,
            latencies: None,
            reconnects: None,
        }),
        findings: Vec::new(),
        host: Some(HostReadings {
            wall_ns: 510_000_000,
            others_load: Some(0.001),
            steal: Some(0.0),
            ..HostReadings::default()
        }),
    }
}
