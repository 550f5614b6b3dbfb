//! Results files with a known truth.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test that is built wrongly fails"
)]

use std::collections::BTreeMap;
use tare_model::finding::{Finding, Reason};
use tare_model::host::{BoxFacts, HostFacts};
use tare_model::kernel::{BurnReport, Isa, Kernel, KernelSpec};
use tare_model::metric::{Direction, Metric};
use tare_model::platform::Provisioning;
use tare_model::results::*;
use tare_model::size::{Cpus, InstanceType};
use tare_model::study::{BoxKind, Cell, CommandSpec, Fresh, Study, Workload};
use tare_report::analysis::{Against, Analysis, Comparison, MetricComparison, Verdict, analyze};

pub use tare_model::platform::Provisioning::{Pinned, Vanilla};

/// Builds the results of a study in which a cell costs what it is told to.
pub struct Synthetic {
    pub study: Study,
    costs: Vec<(&'static str, Provisioning, &'static str, f64)>,
    noise: f64,
    block_noise: f64,
    random: Random,
}

impl Synthetic {
    /// `native` and `docker`, pinned, `syscall`, 20 blocks, everything costs the same.
    pub fn new() -> Self {
        Self {
            study: study(),
            costs: Vec::new(),
            noise: 0.0,
            block_noise: 0.0,
            random: Random(2),
        }
    }

    pub fn platforms(mut self, names: &[&str]) -> Self {
        self.study.platforms = names.iter().map(|n| n.parse().unwrap()).collect();
        self
    }

    pub fn provisioning(mut self, provisioning: &[Provisioning]) -> Self {
        self.study.provisioning = provisioning.to_vec();
        self
    }

    pub fn kernels(mut self, kernels: &[Kernel]) -> Self {
        self.study.workloads = kernels.iter().map(|k| Workload::Kernel(spec(*k))).collect();
        self
    }

    pub fn command(mut self, argv: &[&str]) -> Self {
        self.study.workloads.push(Workload::Command(CommandSpec {
            argv: argv.iter().map(ToString::to_string).collect(),
            env: Vec::new(),
            carried: Vec::new(),
            host_only: None,
        }));
        self
    }

    pub fn blocks(mut self, blocks: u32) -> Self {
        self.study.blocks = blocks;
        self
    }

    /// What one unit of work costs over the same on pinned native.
    pub fn cost(
        mut self,
        platform: &'static str,
        by: Provisioning,
        workload: &'static str,
        cost: f64,
    ) -> Self {
        self.costs.push((platform, by, workload, cost));
        self
    }

    /// Standard deviation in logs of each trial by itself.
    pub fn noise(mut self, sd: f64) -> Self {
        self.noise = sd;
        self
    }

    /// Standard deviation in logs of what all trials of a block share.
    pub fn block_noise(mut self, sd: f64) -> Self {
        self.block_noise = sd;
        self
    }

    pub fn seed(mut self, seed: u64) -> Self {
        self.random = Random(seed);
        self
    }

    pub fn build(mut self) -> Results {
        let mut records = vec![Record::Session(session("run-1", "boot-1"))];
        let kinds = self.study.box_kinds();
        records.extend(
            kinds
                .iter()
                .map(|kind| Record::Proof(proof(kind, self.study.instance))),
        );
        for block in 0..self.study.blocks {
            let base = (0..kinds.len() as u32).map(|i| block * kinds.len() as u32 + i);
            records.extend(
                base.zip(&kinds)
                    .map(|(id, kind)| Record::Box(made(id, kind, block))),
            );
            self.block(block, &mut records);
        }
        records.push(Record::End(EndRecord {
            reason: EndReason::Complete,
            ended_unix_ns: START_NS + 3_600_000_000_000,
        }));
        Results {
            header: header(self.study),
            records,
            complete_bytes: 0,
            torn: false,
        }
    }

    fn block(&mut self, block: u32, records: &mut Vec<Record>) {
        let shared = self.block_noise * self.random.normal();
        let cells = self.study.cells();
        for (order, cell) in (0..).zip(&cells) {
            let noise = shared + self.noise * self.random.normal();
            let cost = self.cost_of(cell) * noise.exp();
            let trial = block * cells.len() as u32 + order;
            let metrics = self.study.workload(&cell.workload).unwrap().metrics();
            records.push(Record::Trial(ended_well(
                trial, block, order, cell, &metrics, cost,
            )));
        }
    }

    fn cost_of(&self, cell: &Cell) -> f64 {
        let matches = |(platform, by, workload, _): &&(&str, Provisioning, &str, f64)| {
            cell.kind.platform.to_string() == *platform
                && cell.kind.provisioning == *by
                && cell.workload == *workload
        };
        self.costs.iter().find(matches).map_or(1.0, |c| c.3)
    }
}

const START_NS: u64 = 1_795_253_999_000_000_000;

fn study() -> Study {
    Study {
        platforms: vec!["native".parse().unwrap(), "docker".parse().unwrap()],
        baseline: "native".parse().unwrap(),
        provisioning: vec![Pinned],
        instance: InstanceType {
            cpus: Cpus::from_milli(2000),
            memory_bytes: 2 << 30,
        },
        pinned_set: vec![0, 1],
        workloads: vec![Workload::Kernel(spec(Kernel::Syscall))],
        blocks: 20,
        budget_seconds: None,
        fresh: Fresh::Block,
        trial_seconds: 0.5,
        timeout_seconds: 30.0,
        settle: true,
        margin: 0.01,
        seed: 42,
    }
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

fn header(study: Study) -> Header {
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
        schema: SCHEMA.to_owned(),
        tare: "0.1.0".to_owned(),
        build: "00112233aabbccdd".to_owned(),
        study,
        host: host(),
        platforms,
    }
}

fn host() -> HostFacts {
    HostFacts {
        cpu_model: Some("AMD EPYC 7B13".to_owned()),
        cpus: 4,
        cores: 2,
        sockets: 1,
        numa_nodes: 1,
        llc_bytes: Some(32 << 20),
        memory_bytes: 16 << 30,
        kernel: "6.18.5".to_owned(),
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
        findings: Vec::new(),
    }
}

fn made(box_id: u32, kind: &BoxKind, block: u32) -> BoxRecord {
    BoxRecord {
        box_id,
        kind: kind.clone(),
        block,
        hello_seconds: 0.25 + f64::from(block) * 0.01,
        facts: BoxFacts::default(),
    }
}

fn ended_well(trial: u32, block: u32, order: u32, cell: &Cell, metrics: &[Metric], cost: f64) -> TrialRecord {
    let sample = |m: &Metric| match m.direction {
        Direction::Higher => (m.name.clone(), 1.2e10 / cost),
        Direction::Lower => (m.name.clone(), 1e-3 * cost),
    };
    let usage = ProcessUsage {
        wall_ns: 500_000_000,
        user_ns: 400_000_000,
        system_ns: 100_000_000,
        max_rss_bytes: 4 << 20,
    };
    TrialRecord {
        trial,
        block,
        order,
        attempt: 0,
        cell: cell.clone(),
        box_id: Some(0),
        started_unix_ns: START_NS + u64::from(trial) * 1_000_000_000,
        outcome: Outcome::Ok(Success {
            samples: metrics.iter().map(sample).collect::<BTreeMap<_, _>>(),
            process: usage,
            kernel: None,
            repetitions: None,
            padding_bytes: 17,
        }),
        findings: Vec::new(),
        host: None,
    }
}

/// The trials of one kind of box.
pub fn trials_of<'a>(
    results: &'a mut Results,
    platform: &'a str,
    by: Provisioning,
) -> impl Iterator<Item = &'a mut TrialRecord> {
    results.records.iter_mut().filter_map(move |r| match r {
        Record::Trial(t)
            if t.cell.kind.platform.to_string() == platform && t.cell.kind.provisioning == by =>
        {
            Some(t)
        }
        _ => None,
    })
}

/// The proof of one kind of box.
pub fn proof_of<'a>(results: &'a mut Results, platform: &str) -> &'a mut ProofRecord {
    let found = results.records.iter_mut().find_map(|r| match r {
        Record::Proof(p) if p.kind.platform.to_string() == platform => Some(p),
        _ => None,
    });
    found.unwrap()
}

pub fn failure(reason: Reason, detail: &str) -> Failure {
    Failure {
        reason,
        detail: detail.to_owned(),
    }
}

/// Makes the trials of `platform` in the first `blocks` blocks fail.
pub fn fail(results: &mut Results, platform: &str, blocks: u32, reason: Reason) {
    for trial in trials_of(results, platform, Pinned).filter(|t| t.block < blocks) {
        trial.outcome = Outcome::Failed(failure(reason, "what was seen"));
    }
}

/// Adds a finding to the trials of `platform` in the first `blocks` blocks.
pub fn find(results: &mut Results, platform: &str, by: Provisioning, blocks: u32, finding: &Finding) {
    for trial in trials_of(results, platform, by).filter(|t| t.block < blocks) {
        trial.findings.push(finding.clone());
    }
}

/// Changes every sample of a trial.
pub fn scale(trial: &mut TrialRecord, factor: f64) {
    if let Outcome::Ok(success) = &mut trial.outcome {
        success.samples.values_mut().for_each(|v| *v *= factor);
    }
}

/// Numbers that look random and are the same each time (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let (a, b) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

/// The study that `tare run` carries out unasked: everything a report can show.
pub fn default_study() -> Synthetic {
    let costs = [
        ("docker", 1.002, 1.19),
        ("lxc", 1.001, 1.03),
        ("vm", 1.013, 1.004),
    ];
    let mut synthetic = Synthetic::new()
        .platforms(&["native", "docker", "lxc", "vm"])
        .provisioning(&[Vanilla, Pinned])
        .kernels(&Kernel::ALL)
        .blocks(12)
        .noise(0.006)
        .block_noise(0.02);
    for (platform, memory, calls) in costs {
        for by in [Vanilla, Pinned] {
            synthetic = synthetic
                .cost(platform, by, "stream", memory)
                .cost(platform, by, "syscall", calls)
                .cost(platform, by, "spawn", if platform == "vm" { 2.4 } else { 1.08 });
        }
    }
    synthetic.cost("native", Vanilla, "stream", 1.05)
}

/// The one comparison of `platform`, pinned, with `native`.
pub fn compared<'a>(analysis: &'a Analysis, platform: &str, workload: &str) -> &'a Comparison {
    let found = analysis.comparisons.iter().find(|c| {
        c.against == Against::Native
            && c.cell.kind.platform.to_string() == platform
            && c.cell.kind.provisioning == Pinned
            && c.cell.workload == workload
    });
    found.unwrap()
}

/// The primary metric of `docker` pinned running `syscall`.
pub fn headline(analysis: &Analysis) -> &MetricComparison {
    compared(analysis, "docker", "syscall").primary().unwrap()
}

/// The verdict of the same.
pub fn verdict(results: &Results) -> Verdict {
    headline(&analyze(results)).verdict.clone().unwrap()
}

#[track_caller]
pub fn near(found: f64, expected: f64) {
    let off = (found - expected).abs() / expected.abs().max(1.0);
    assert!(off < 1e-9, "{found} is not {expected}");
}

/// The page of an analysis.
pub fn page(analysis: &Analysis) -> String {
    tare_report::html::render(analysis).unwrap()
}

/// The JSON text of an analysis.
pub fn json(analysis: &Analysis) -> String {
    tare_report::json::render(analysis).unwrap()
}
