//! Which cells of an adaptive study run, whatever their figures are.

mod slices;

use proptest::prelude::*;
use std::collections::BTreeMap;
use tare_model::finding::Reason;
use tare_model::host::HostFacts;
use tare_model::looks::{LookJudgement, LookRecord};
use tare_model::results::{
    Failure, Header, Outcome, ProcessUsage, Record, Results, SCHEMA, Success, TrialRecord,
};
use tare_model::study::{Against, Cell, Study};
use tare_study::design::{self, ProtocolOptions, StudyRequest};
use tare_study::looks::Looks;

const BLOCKS: u32 = 60;

fn study(instances: &[&str]) -> Study {
    let wishes = StudyRequest {
        platforms: ["fake", "fake?cost=2", "fake?cost=3"].map(str::to_owned).to_vec(),
        workloads: vec!["syscall".into()],
        cpus: instances.is_empty().then(|| "1".parse().unwrap()),
        instances: instances.iter().map(ToString::to_string).collect(),
        protocol: ProtocolOptions {
            adaptive: Some(true),
            seed: Some(1),
            ..ProtocolOptions::default()
        },
        ..StudyRequest::default()
    };
    let facts = HostFacts {
        memory_bytes: 16 << 30,
        llc_bytes: Some(1 << 20),
        ..HostFacts::default()
    };
    design::study(&wishes, &facts).unwrap()
}

fn trial(cell: &Cell, block: u32, figure: Option<f64>) -> Record {
    let failed = Outcome::Failed(Failure::new(Reason::Timeout, String::new()));
    let ended_well = |figure| {
        Outcome::Ok(Success {
            samples: BTreeMap::from([("latency".to_owned(), figure)]),
            process: ProcessUsage {
                wall_ns: 1,
                user_ns: 1,
                system_ns: 1,
                max_rss_bytes: 1,
                ..ProcessUsage::default()
            },
            kernel: None,
            repetitions: None,
            padding_bytes: 0,
            latencies: None,
            reconnects: None,
        })
    };
    Record::from(TrialRecord {
        trial: 0,
        block,
        order: 0,
        attempt: 0,
        cell: cell.clone(),
        box_id: None,
        group: None,
        started_unix_ns: 0,
        outcome: figure.map_or(failed, ended_well),
        findings: Vec::new(),
        host: None,
    })
}

/// Runs the study with these figures; the records, as a file would hold them.
fn run(study: &Study, mut figure: impl FnMut(usize, u32) -> Option<f64>) -> Vec<Record> {
    let mut looks = Looks::of(study).unwrap();
    let mut records = Vec::new();
    for block in 0..BLOCKS {
        for (i, cell) in study.cells().iter().enumerate() {
            if looks.runs(cell, block) {
                let record = trial(cell, block, figure(i, block));
                if let Record::Trial(trial) = &record {
                    looks.note(trial);
                }
                records.push(record);
            }
        }
        records.extend(looks.take(block + 1).map(Record::Look));
    }
    records
}

fn file(study: &Study, records: &[Record]) -> Results {
    Results {
        header: Header {
            agent: None,
            schema: SCHEMA.to_owned(),
            tare: String::new(),
            build: String::new(),
            study: study.clone(),
            host: HostFacts::default(),
            platforms: BTreeMap::new(),
            files: BTreeMap::new(),
        },
        records: records.to_vec(),
        unknown: BTreeMap::new(),
        complete_bytes: 0,
        torn: false,
    }
}

fn taken(records: &[Record]) -> Vec<&LookRecord> {
    fn look(record: &Record) -> Option<&LookRecord> {
        match record {
            Record::Look(look) => Some(look),
            _ => None,
        }
    }
    records.iter().filter_map(look).collect()
}

/// Blocks in which a cell was tried.
fn blocks_of(records: &[Record], cell: &Cell) -> Vec<u32> {
    let block = |r: &Record| match r {
        Record::Trial(t) if t.cell == *cell => Some(t.block),
        _ => None,
    };
    records.iter().filter_map(block).collect()
}

/// The last block in which a comparison with this cell was open.
fn needed_until(study: &Study, looks: &[&LookRecord], cell: &Cell) -> u32 {
    let settled = |cell: &Cell| {
        let look = looks.iter().find(|l| l.settled.contains(cell));
        look.map_or(BLOCKS, |l| l.blocks)
    };
    let pairs = study.cells().into_iter().filter_map(|own| {
        let baseline = study.baseline_cell(&own, Against::Native)?;
        Some((own, baseline))
    });
    let concerned = pairs.filter(|(own, baseline)| own == cell || baseline == cell);
    concerned.map(|(own, _)| settled(&own)).max().unwrap()
}

/// Figures from a number each: a cost per cell and noise per trial.
fn figures(seed: u64, noise: f64, lost: u64) -> impl FnMut(usize, u32) -> Option<f64> {
    use rand::{RngExt, SeedableRng};
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let costs: Vec<f64> = (0..64).map(|_| rng.random_range(-0.02..0.02)).collect();
    move |cell, _| {
        let value: f64 = rng.random_range(-1.0..1.0);
        (rng.random_range(0..100) >= lost).then(|| (costs[cell] + noise * value).exp())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn cells_leave_for_good_and_baselines_stay_while_they_are_needed(
        seed: u64, noise in 0.0..0.1f64, lost in 0u64..30
    ) {
        let study = study(&[]);
        let records = run(&study, figures(seed, noise, lost));
        let looks = taken(&records);
        prop_assert!(looks.iter().all(|l| tare_stats::LOOKS.contains(&l.blocks)));
        prop_assert!(looks.windows(2).all(|w| w[0].blocks < w[1].blocks));
        for cell in study.cells() {
            let blocks = blocks_of(&records, &cell);
            // Without a gap, from the first block on, until nothing open needs it.
            let last = u32::try_from(blocks.len()).unwrap();
            prop_assert!(blocks.into_iter().eq(0..last));
            prop_assert_eq!(last, needed_until(&study, &looks, &cell));
        }
        for look in &looks {
            for at in &look.comparisons {
                let baseline = study.baseline_cell(&at.cell, at.against).unwrap();
                prop_assert!(blocks_of(&records, &baseline).len() >= look.blocks as usize);
                prop_assert!(at.n + at.lost <= look.blocks);
            }
            for cell in &look.settled {
                let mut own = look.comparisons.iter().filter(|c| c.cell == *cell);
                prop_assert!(own.all(|c| c.judgement.is_settled()));
            }
        }
    }

    #[test]
    fn a_file_cut_anywhere_tells_the_same_state(seed: u64, noise in 0.0..0.05f64, share in 0usize..100) {
        let study = study(&[]);
        let records = run(&study, figures(seed, noise, 5));
        let cut = records.len() * share / 100;
        let mut looks = Looks::resumed(&file(&study, &records[..cut])).unwrap();
        // Only whole blocks can be gone on with: the rest of the block is run again as it was.
        for (i, record) in records.iter().enumerate().skip(cut) {
            match record {
                Record::Trial(trial) => {
                    prop_assert!(looks.runs(&trial.cell, trial.block));
                    looks.note(trial);
                }
                Record::Look(look) => {
                    let again = looks.take(look.blocks);
                    prop_assert_eq!(again.as_ref(), Some(look));
                }
                other => prop_assert!(false, "record {}: {:?}", i, other),
            }
        }
        prop_assert_eq!(looks.take(BLOCKS), None, "no look is repeated");
    }

    #[test]
    fn sizes_of_a_cell_leave_together(seed: u64, noise in 0.0..0.03f64) {
        let study = study(&["one=1:1G", "two=1:2G"]);
        let records = run(&study, figures(seed, noise, 0));
        for look in taken(&records) {
            for cell in &look.settled {
                let mut other = cell.clone();
                let is_one = cell.kind.instance.as_deref() == Some("one");
                other.kind.instance = Some(if is_one { "two" } else { "one" }.to_owned());
                prop_assert!(look.settled.contains(&other), "{} without {}", cell, other);
            }
        }
    }
}

#[test]
fn what_never_has_a_pair_is_given_up_at_the_first_look() {
    let study = study(&[]);
    let cells = study.cells();
    let dead = |i: usize| cells[i].kind.platform.to_string() == "fake?cost=3";
    let records = run(&study, |i, _| (!dead(i)).then_some(1.0));
    let looks = taken(&records);
    assert_eq!(looks.len(), 1, "equal figures are settled at once");
    let given_up = looks[0]
        .comparisons
        .iter()
        .filter(|c| c.judgement == LookJudgement::NoPairs);
    assert_eq!(given_up.count(), 2, "vanilla and pinned, each against its own");
    assert_eq!(blocks_of(&records, &cells[0]).len(), 10);
}

#[test]
fn with_a_lost_pair_the_first_look_settles_nothing() {
    let study = study(&[]);
    let records = run(&study, |_, block| (block > 0).then_some(1.0));
    let looks = taken(&records);
    assert!(looks[0].settled.is_empty());
    assert!(
        looks[0]
            .comparisons
            .iter()
            .all(|c| c.judgement == LookJudgement::TooFewPairs && c.n == 9)
    );
    assert_eq!(looks[1].blocks, 15);
}

#[test]
fn a_study_that_cannot_be_looked_at_is_refused() {
    let wishes = |change: &dyn Fn(&mut StudyRequest)| {
        let mut wishes = StudyRequest {
            platforms: vec!["fake".into(), "fake?cost=2".into()],
            workloads: vec!["syscall".into()],
            cpus: "1".parse().ok(),
            protocol: ProtocolOptions {
                adaptive: Some(true),
                ..ProtocolOptions::default()
            },
            ..StudyRequest::default()
        };
        change(&mut wishes);
        let facts = HostFacts {
            memory_bytes: 8 << 30,
            ..HostFacts::default()
        };
        design::study(&wishes, &facts)
            .map(|s| s.protocol.blocks)
            .map_err(|e| e.to_string())
    };
    assert_eq!(wishes(&|_| ()), Ok(60));
    assert!(
        wishes(&|w| w.protocol.blocks = Some(9))
            .unwrap_err()
            .contains("none after 9 blocks")
    );
    assert!(
        wishes(&|w| w.protocol.blocks = Some(61))
            .unwrap_err()
            .contains("none after 61 blocks")
    );
    let alone = wishes(&|w| {
        w.platforms.truncate(1);
        w.provisioning = vec![tare_model::platform::Provisioning::Pinned];
    });
    assert!(alone.unwrap_err().contains("nothing to compare"));
}
