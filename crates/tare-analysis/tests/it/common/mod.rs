//! Results files with a known truth.

#![allow(dead_code, unused_imports, reason = "tare-report's tests use a part of it")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a test that is built wrongly fails"
)]

mod campaigns;
mod edit;
mod group;
mod look;
mod record;

pub use campaigns::*;
pub use edit::*;
pub use group::*;
pub use look::*;
pub use record::session;
use record::{START_NS, ended_well, header, made, proof, study, workload};
use tare_model::catalogue;
use tare_model::kernel::Kernel;
use tare_model::platform::Provisioning;
use tare_model::results::*;
use tare_model::study::{Cell, Study};
use tare_model::workload::{CommandRun, Run};

pub use tare_model::platform::Provisioning::{Pinned, Vanilla};

/// Noise of trials where none is asked for: no clock tells the same each time.
const TICK: f64 = 1e-9;

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
            noise: TICK,
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
        self.study.workloads = kernels.iter().map(|k| workload(*k)).collect();
        self
    }

    pub fn command(mut self, argv: &[&str]) -> Self {
        let argv = argv.iter().map(ToString::to_string).collect();
        let role = catalogue::main(Run::Command(CommandRun { argv }));
        self.study.workloads.push(catalogue::command(role));
        self
    }

    pub fn blocks(mut self, blocks: u32) -> Self {
        self.study.protocol.blocks = blocks;
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
                .map(|kind| Record::Proof(proof(kind, self.study.instances[0].size))),
        );
        for block in 0..self.study.protocol.blocks {
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
            unknown: std::collections::BTreeMap::new(),
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
            let metrics = self.study.workload(cell).unwrap().metrics();
            records.push(Record::from(ended_well(
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

/// Numbers that look random and are the same each time (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn seeded(seed: u64) -> Self {
        Self(seed)
    }

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
        .kernels(&Kernel::USUAL)
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
