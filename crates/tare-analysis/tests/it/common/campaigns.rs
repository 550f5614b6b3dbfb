//! Results that tests of the analysis and of its forms build alike.

use super::*;
use tare_analysis::Brief;
use tare_model::finding::Reason;
use tare_model::kernel::Kernel;
use tare_model::size::{Cpus, InstanceType};
use tare_model::study::{Effect, Instance, Stopping};
use tare_model::tuning::{Tuning, TuningDesign, TuningFactor, TuningSetting};
use tare_stats::Design;

/// `native`, `docker` and `vm` in random order; a trial right after one of `vm` costs `cost`.
pub fn after_vm(cost: f64) -> Results {
    campaign(cost, 5)
}

pub fn campaign(cost: f64, seed: u64) -> Results {
    let mut results = Synthetic::new()
        .platforms(&["native", "docker", "vm"])
        .blocks(30)
        .noise(0.002)
        .seed(seed)
        .build();
    let mut random = Random::seeded(seed);
    let records = std::mem::take(&mut results.records);
    let (trials, mut others): (Vec<Record>, Vec<Record>) =
        records.into_iter().partition(|r| matches!(r, Record::Trial(_)));
    for block in trials.chunks(3) {
        let mut block = block.to_vec();
        block.sort_by_cached_key(|_| random.uniform().to_bits());
        let mut after_vm = false;
        for (order, record) in (0..).zip(&mut block) {
            let Record::Trial(trial) = record else { continue };
            trial.order = order;
            if after_vm {
                scale(trial, cost);
            }
            after_vm = is_vm(trial);
        }
        others.extend(block);
    }
    results.records = others;
    results
}

pub fn is_vm(trial: &TrialRecord) -> bool {
    trial.cell.kind.platform.to_string() == "vm"
}

/// Five trials of `docker` that failed and were repeated; two of them failed again.
pub fn repeated() -> Results {
    let mut results = Synthetic::new().build();
    let mut second = |block: u32, first: Reason, then: Option<Reason>| {
        let trial = trials_of(&mut results, "docker", Pinned).find(|t| t.block == block);
        let trial = trial.unwrap();
        let mut repeated = trial.clone();
        trial.outcome = Outcome::Failed(failure(first, "seen"));
        repeated.attempt = 1;
        if let Some(reason) = then {
            repeated.outcome = Outcome::Failed(failure(reason, "seen again"));
        }
        results.records.push(repeated.into());
    };
    second(0, Reason::Timeout, None);
    second(1, Reason::ExitStatus, None);
    second(2, Reason::ExitStatus, Some(Reason::ExitStatus));
    second(3, Reason::Timeout, Some(Reason::ExitStatus));
    results
}

/// Native and docker, both provisionings, boxes of one CPU on hosts of these sizes; vanilla docker
/// costs `cost` of the host's CPUs, all else what it always does.
pub fn hosted(hosts: &[u32], cost: impl Fn(u32) -> f64) -> Results {
    let mut synthetic = Synthetic::new()
        .provisioning(&[Vanilla, Pinned])
        .blocks(12)
        .noise(0.002)
        .block_noise(0.01);
    let of = synthetic.study.instances[0].clone();
    let instance = |n: &u32| Instance {
        name: Some(format!("on{n}")),
        host_cpus: Some(*n),
        host_set: (0..*n).collect(),
        ..of.clone()
    };
    synthetic.study.instances = hosts.iter().map(instance).collect();
    let mut results = synthetic.build();
    results.header.host.cpus = 16;
    for record in &mut results.records {
        if let Record::Trial(trial) = record
            && trial.cell.kind.platform.to_string() == "docker"
            && trial.cell.kind.provisioning == Vanilla
        {
            let name = trial.cell.kind.instance.clone().expect("a name");
            scale(trial, cost(name[2..].parse().expect("CPUs")));
        }
    }
    results
}

/// Native and docker, both provisionings, in these sizes; docker costs `cost` of
/// its CPUs, native what it always does.
pub fn sized(cpus: &[u32], cost: impl Fn(f64) -> f64) -> Results {
    let mut synthetic = Synthetic::new()
        .provisioning(&[Vanilla, Pinned])
        .blocks(12)
        .noise(0.002)
        .block_noise(0.01);
    let instance = |n: &u32| Instance {
        name: Some(format!("c{n}")),
        size: InstanceType {
            cpus: Cpus::from_milli(n * 1000),
            memory_bytes: 1 << 30,
        },
        pinned_set: (0..*n).collect(),
        host_cpus: None,
        host_set: Vec::new(),
    };
    synthetic.study.instances = cpus.iter().map(instance).collect();
    let mut results = synthetic.build();
    results.header.host.cpus = 16;
    for record in &mut results.records {
        if let Record::Trial(trial) = record
            && trial.cell.kind.platform.to_string() == "docker"
        {
            let name = trial.cell.kind.instance.clone().expect("a name");
            scale(trial, cost(name[1..].parse().expect("CPUs")));
        }
    }
    results
}

/// Native and docker, pinned; `spawn` is the workload that shows the effect, `syscall` the other.
pub fn held(of: f64, against: f64, noise: f64) -> Results {
    holding(of, against, noise).build()
}

/// The same with a size of its own for each workload: `spawn` in small boxes, `syscall` in large ones.
pub fn held_of_two_sizes(of: f64, against: f64) -> Results {
    let mut synthetic = holding(of, against, 0.001);
    let size = synthetic.study.instances[0].clone();
    let sizes = [("small", "spawn"), ("large", "syscall")];
    synthetic.study.instances = sizes
        .map(|(name, _)| Instance {
            name: Some(name.to_owned()),
            ..size.clone()
        })
        .to_vec();
    let mut cells = synthetic.study.cells();
    cells.retain(|cell| {
        let own = |(name, workload): &(&str, &str)| {
            cell.kind.instance.as_deref() == Some(name) && cell.workload == *workload
        };
        sizes.iter().any(own)
    });
    synthetic.study.listed = cells.into_iter().collect();
    synthetic.build()
}

fn holding(of: f64, against: f64, noise: f64) -> Synthetic {
    let mut synthetic = Synthetic::new()
        .kernels(&[Kernel::Syscall, Kernel::Spawn])
        .blocks(12)
        .noise(noise)
        .block_noise(0.02)
        .cost("docker", Pinned, "spawn", of)
        .cost("docker", Pinned, "syscall", against);
    synthetic.study.effects.push(Effect {
        name: "Crowding".to_owned(),
        of: "spawn".to_owned(),
        against: "syscall".to_owned(),
    });
    synthetic
}

/// The same, without the first three trials of `spawn` in `docker`.
pub fn held_with_losses() -> Results {
    let mut results = held(1.2, 1.0, 0.001);
    for record in &mut results.records {
        if let Record::Trial(trial) = record
            && trial.block < 3
            && trial.cell.workload == "spawn"
            && trial.cell.kind.platform.to_string() == "docker"
        {
            trial.outcome = Outcome::Failed(failure(Reason::Timeout, "slow"));
        }
    }
    results
}

pub fn adaptive(mut results: Results) -> Results {
    results.header.study.protocol.stopping = Stopping::Adaptive {
        half_width: 0.005,
        precise: false,
    };
    results
}

/// Makes the figures of `docker` vary `times` as much about their mean of 1 ms.
pub fn shake(results: &mut Results, times: f64) {
    for trial in trials_of(results, "docker", Pinned) {
        if let Outcome::Ok(success) = &mut trial.outcome {
            for value in success.samples.values_mut() {
                *value = 1e-3 * (*value / 1e-3).powf(times);
            }
        }
    }
}

/// `docker` is slow where `native` is fast.
pub fn moving_apart() -> Results {
    let mut results = Synthetic::new().noise(0.01).build();
    let native: Vec<f64> = trials_of(&mut results, "native", Pinned).map(latency).collect();
    for (trial, native) in trials_of(&mut results, "docker", Pinned).zip(native) {
        scale(trial, 1e-3 / native);
    }
    results
}

fn latency(trial: &mut TrialRecord) -> f64 {
    match &trial.outcome {
        Outcome::Ok(success) => success.samples["latency"],
        other => panic!("{other:?}"),
    }
}

/// `native` and `docker`, 20 blocks of 50 rounds. A round makes all its slices dearer or
/// cheaper by a fifth, each slice by 0.5 %; `cost` is what a slice of `docker` costs.
pub fn sliced(mut cost: impl FnMut(&Slot) -> f64) -> Results {
    let mut results = Synthetic::new().build();
    let mut random = Random::seeded(5);
    let mut shared = 0.0;
    let mut last = None;
    slice(&mut results, 50, |slot| {
        if last != Some((slot.block, slot.round)) {
            last = Some((slot.block, slot.round));
            shared = 0.2 * random.normal();
        }
        let own = if slot.is("docker") { cost(slot) } else { 1.0 };
        own * (shared + 0.005 * random.normal()).exp()
    });
    results
}

/// A run in which docker costs so much, on a host of this name.
pub fn run_on_host(cost: f64, host: &str, seed: u64) -> (String, Results) {
    let mut results = Synthetic::new()
        .cost("docker", Pinned, "syscall", cost)
        .noise(0.004)
        .seed(seed)
        .build();
    results.header.host.id = Some(host.to_owned());
    for record in &mut results.records {
        if let Record::Session(session) = record {
            session.run = format!("run-{host}-{seed}");
            session.started_unix_ns += seed * 1_000_000_000;
        }
    }
    (format!("{host}-{seed}.jsonl"), results)
}

/// A workload with factors of so many levels on `docker`, in these settings; each costs what it is told to.
pub fn tuned(
    design: TuningDesign,
    factors: &[usize],
    settings: &[Vec<usize>],
    blocks: u32,
    seed: u64,
    cost: impl Fn(&[usize]) -> f64,
) -> Results {
    let mut synthetic = Synthetic::new()
        .platforms(&["docker"])
        .kernels(&vec![Kernel::Syscall; settings.len()])
        .blocks(blocks)
        .noise(0.02)
        .block_noise(0.05)
        .seed(seed);
    synthetic.study.baseline = "docker".parse().unwrap();
    let mut named = Vec::new();
    for (at, levels) in settings.iter().enumerate() {
        let name: &'static str = format!("job setting={at}").leak();
        name.clone_into(&mut synthetic.study.workloads[at].name);
        synthetic = synthetic.cost("docker", Pinned, name, cost(levels));
        named.push(TuningSetting {
            workload: name.to_owned(),
            levels: levels.clone(),
        });
    }
    let factor = |(at, levels): (usize, &usize)| TuningFactor {
        name: format!("f{at}"),
        levels: (0..*levels).map(|level| format!("l{level}")).collect(),
    };
    synthetic.study.tuning = Some(Tuning {
        design,
        factors: factors.iter().enumerate().map(factor).collect(),
        settings: named,
    });
    synthetic.build()
}

/// Sixteen settings of seven factors, of which the first saves a tenth and the fourth costs a fifth.
pub fn tuned_fraction(blocks: u32, seed: u64) -> Results {
    let levels = |set: u32| (0..7).map(|factor| (set >> factor & 1) as usize).collect();
    let settings: Vec<Vec<usize>> = Design::fraction(7).into_iter().map(levels).collect();
    let cost = |levels: &[usize]| [1.0, 0.9][levels[0]] * [1.0, 1.2][levels[3]];
    tuned(TuningDesign::Fractional, &[2; 7], &settings, blocks, seed, cost)
}

/// What files say beside others.
pub fn briefs(files: &[(String, Results)]) -> Vec<Brief> {
    let brief = |(name, results): &(String, Results)| Brief::of(name.clone(), results);
    files.iter().map(brief).collect()
}
