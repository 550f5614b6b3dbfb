//! Two arms on one platform, as a study that the runner of every measurement runs.

use super::log::{Header, Options};
use anyhow::Context;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;
use tare_box::host;
use tare_box::state::Run;
use tare_lab::Writer;
use tare_lab::design::{self, ProtocolOptions, Wishes, WorkloadWish};
use tare_lab::preflight::{self, Platforms};
use tare_lab::resume::Progress;
use tare_lab::runner::{Event, Runner};
use tare_model::kernel::{Isa, Kernel};
use tare_model::platform::Provisioning;
use tare_model::results::{EndReason, Outcome, Record, Results, TrialRecord};
use tare_model::study::{BoxKind, Cell, Slicing, Study};
use tare_selftest::campaign::{Campaign, Pair, seed};

/// The arms are instance types of one size: each has boxes of its own.
const ARMS: [&str; 2] = ["a", "b"];
/// CPUs and memory of each box. With one thread on a CPU of its own nothing is
/// throttled.
const SIZE: &str = "1:512M";
/// Iterations are a multiple of this: any tenth of a percent of them is whole.
const UNIT: u64 = 1000;
/// Iterations by which the host is timed.
const PROBE: u64 = 200_000;

/// Iterations of both arms for a trial of so many seconds on this host: by CPU time,
/// since others may be at work.
pub fn iterations(trial_seconds: f64, tenths: u32) -> anyhow::Result<[u64; 2]> {
    let facts = tare_box::host::facts();
    let mut spec = design::kernel_spec(Kernel::Integer, Some(Isa::Baseline), 1, &facts, trial_seconds);
    spec.size = PROBE;
    let report = tare_kernels::run(&spec)?;
    #[expect(clippy::cast_precision_loss, reason = "200,000")]
    let each = report.metrics["cpu"] / PROBE as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, as it should"
    )]
    let units = ((trial_seconds / each) as u64 / UNIT).clamp(1, 1 << 20);
    Ok([units * UNIT, units * (UNIT + u64::from(tenths))])
}

/// The study of one campaign.
pub fn study(options: &Options, iterations: [u64; 2], seed: u64) -> anyhow::Result<Study> {
    let workload = |size: u64| WorkloadWish {
        size: Some(size),
        ..WorkloadWish::from(Kernel::Integer.name())
    };
    let mut workloads = vec![workload(iterations[0])];
    if iterations[0] != iterations[1] {
        workloads.push(workload(iterations[1]));
    }
    let wishes = Wishes {
        platforms: vec![options.platform.clone()],
        provisioning: vec![Provisioning::Pinned],
        instances: ARMS.map(|arm| format!("{arm}={SIZE}")).to_vec(),
        workloads,
        protocol: ProtocolOptions {
            blocks: Some(options.blocks),
            fresh: Some(options.fresh),
            trial_seconds: Some(options.trial_seconds),
            slicing: Some(Slicing::Off),
            settle: Some(options.settle),
            margin_percent: Some(options.margin_percent),
            seed: Some(seed),
            ..ProtocolOptions::default()
        },
        ..Wishes::default()
    };
    let mut study = design::study(&wishes, &tare_box::host::facts())?;
    // Each arm has its own amount of work, and not that of the other.
    study.listed = (0..2).filter_map(|arm| cell(&study, arm)).collect();
    Ok(study)
}

/// The cell of an arm.
fn cell(study: &Study, arm: usize) -> Option<Cell> {
    let workload = study.workloads.get(arm).or_else(|| study.workloads.first())?;
    Some(Cell {
        kind: BoxKind {
            platform: study.baseline.clone(),
            provisioning: Provisioning::Pinned,
            instance: Some(ARMS[arm].to_owned()),
        },
        workload: workload.name().to_owned(),
    })
}

/// Where campaigns run.
pub struct Site<'a> {
    pub run: &'a Run,
    pub platforms: &'a mut Platforms,
    pub binary: PathBuf,
    /// Kinds of box whose limits a campaign of this process proved.
    pub proven: BTreeSet<BoxKind>,
    /// Boxes made so far: each has a name of its own.
    pub boxes: u32,
}

/// Runs a campaign; `None` if the user asked to stop.
pub fn campaign(site: &mut Site<'_>, header: &Header, number: u32) -> anyhow::Result<Option<Campaign>> {
    let begun = Instant::now();
    let started_unix_ns = host::unix_ns();
    let seed = seed(header.options.seed, number);
    let study = study(&header.options, header.iterations, seed)?;
    let Some(trials) = site.trials(&study)? else {
        return Ok(None);
    };
    let (pairs, lost) = pairs(&trials, header.options.blocks);
    anyhow::ensure!(
        !pairs.is_empty(),
        "not one pair was measured: {}",
        first_failure(&trials)
    );
    let batches = if header.options.batches {
        let Some(batches) = site.batches(&study)? else {
            return Ok(None);
        };
        Some(batches)
    } else {
        None
    };
    Ok(Some(Campaign {
        campaign: number,
        seed,
        started_unix_ns,
        seconds: begun.elapsed().as_secs_f64(),
        pairs,
        lost,
        batches,
    }))
}

impl Site<'_> {
    /// Runs a study with the runner of every measurement; `None` if interrupted.
    fn trials(&mut self, study: &Study) -> anyhow::Result<Option<Vec<TrialRecord>>> {
        let path = self.run.folder().join("campaign.jsonl");
        let header = preflight::header(study, self.platforms, &path);
        let mut writer = Writer::create(&path, &header)?;
        let mut progress = Progress::default();
        progress.boxes = self.boxes;
        let mut silent = |_: Event<'_>| {};
        let runner = Runner::new(
            study,
            self.platforms,
            &mut writer,
            self.run,
            self.binary.clone(),
            progress,
            &mut silent,
        )?;
        let ended = runner.trusting(self.proven.clone()).run()?;
        let results = Results::read(&path)?;
        std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        let trials = self.take(results)?;
        Ok((ended.reason != EndReason::Interrupted).then_some(trials))
    }

    /// Notes what was proven and made, and hands out the trials.
    fn take(&mut self, results: Results) -> anyhow::Result<Vec<TrialRecord>> {
        let mut trials = Vec::new();
        for record in results.records {
            match record {
                Record::Trial(trial) => trials.push(trial),
                Record::Box(made) => self.boxes = self.boxes.max(made.box_id + 1),
                Record::Proof(proof) => {
                    anyhow::ensure!(
                        proof.proven,
                        "the limits of {} are not proven: {}",
                        proof.kind,
                        proof.remarks.join("; ")
                    );
                    self.proven.insert(proof.kind);
                }
                _ => {}
            }
        }
        Ok(trials)
    }

    /// All trials of the first arm, then all of the second, as one does without
    /// blocks: their times.
    fn batches(&mut self, study: &Study) -> anyhow::Result<Option<[Vec<f64>; 2]>> {
        let mut times = [Vec::new(), Vec::new()];
        for (arm, times) in times.iter_mut().enumerate() {
            let alone = Study {
                listed: cell(study, arm).into_iter().collect(),
                ..study.clone()
            };
            let Some(trials) = self.trials(&alone)? else {
                return Ok(None);
            };
            times.extend(
                trials
                    .iter()
                    .filter_map(|trial| figures(trial).map(|(time, _)| time)),
            );
        }
        Ok(Some(times))
    }
}

/// Time and CPU time of a trial that ended well.
fn figures(trial: &TrialRecord) -> Option<(f64, f64)> {
    match &trial.outcome {
        Outcome::Ok(success) => Some((*success.samples.get("time")?, *success.samples.get("cpu")?)),
        Outcome::Failed(_) | Outcome::Skipped(_) => None,
    }
}

/// The pairs of the blocks, and how many blocks have none.
fn pairs(trials: &[TrialRecord], blocks: u32) -> (Vec<Pair>, u32) {
    let mut found: BTreeMap<(u32, usize), (f64, f64)> = BTreeMap::new();
    for trial in trials {
        let arm = ARMS
            .iter()
            .position(|arm| trial.cell.kind.instance.as_deref() == Some(*arm));
        if let Some((arm, figures)) = arm.zip(figures(trial)) {
            found.insert((trial.block, arm), figures);
        }
    }
    let pair = |block| {
        let (a, b) = found.get(&(block, 0)).zip(found.get(&(block, 1)))?;
        Some(Pair {
            block,
            time: [a.0, b.0],
            cpu: [a.1, b.1],
        })
    };
    let pairs: Vec<Pair> = (0..blocks).filter_map(pair).collect();
    let lost = blocks - u32::try_from(pairs.len()).unwrap_or(blocks);
    (pairs, lost)
}

fn first_failure(trials: &[TrialRecord]) -> String {
    let failure = trials.iter().find_map(|trial| match &trial.outcome {
        Outcome::Failed(failure) | Outcome::Skipped(failure) => Some(failure),
        Outcome::Ok(_) => None,
    });
    failure.map_or_else(
        || "no trial was begun".to_owned(),
        |failure| format!("{}: {}", failure.reason, failure.detail),
    )
}
