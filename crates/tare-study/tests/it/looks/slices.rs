//! What looks go by where cells ran in slices: the same losses as the report's.

use super::{file, study, trial};
use std::collections::BTreeMap;
use tare_model::group::{GroupRecord, Member, Series, WorkDone};
use tare_model::looks::LookedAt;
use tare_model::results::Record;
use tare_model::study::{Against, Cell, Study};
use tare_study::looks::Looks;
use tare_study::shares::Shares;

/// Costs of one slice in each round, in nanoseconds; each block has a group of its own.
fn group<const N: usize>(members: &[(&Cell, [u64; N])], block: u32) -> Record {
    let member = |(cell, costs): &(&Cell, [u64; N])| Member {
        cell: (*cell).clone(),
        box_id: 0,
        every: 1,
        units: 1,
        lead: 0,
        places: vec![0; costs.len()],
        gate_ns: 0,
        turns: 0,
        frozen: false,
        processes: 1,
        parts: BTreeMap::from([(
            "latency".to_owned(),
            Series {
                work: WorkDone::Same(1.0),
                wall_ns: costs.to_vec(),
                cpu_ns: costs.to_vec(),
            },
        )]),
    };
    Record::Group(GroupRecord {
        group: block,
        block,
        slice_ns: 100,
        rounds: u32::try_from(N).unwrap(),
        members: members.iter().map(member).collect(),
    })
}

/// A trial that ran in the group of its block.
fn in_group(mut record: Record) -> Record {
    if let Record::Trial(trial) = &mut record {
        trial.group = Some(trial.block);
    }
    record
}

/// What the first look says of a cell against its baseline, live and from the file.
fn first_look(study: &Study, records: &[Record], cell: &Cell) -> LookedAt {
    let mut live = Looks::of(study).unwrap();
    for record in records {
        match record {
            Record::Trial(trial) => live.note(trial),
            Record::Group(group) => live.note_group(group),
            _ => {}
        }
    }
    let look = live.take(10).unwrap();
    assert_eq!(
        Looks::resumed(&file(study, records)).unwrap().take(10),
        Some(look.clone()),
        "a file tells the same"
    );
    let of_cell = |at: &&LookedAt| at.cell == *cell && at.against == Against::Native;
    look.comparisons.iter().find(of_cell).unwrap().clone()
}

/// A cell, and the baseline that it is held against.
fn pair(study: &Study) -> [Cell; 2] {
    let is_compared = |cell: &&Cell| cell.kind.platform.to_string() == "fake?cost=2";
    let cell = study.cells().iter().find(is_compared).unwrap().clone();
    let baseline = study.baseline_cell(&cell, Against::Native).unwrap();
    [cell, baseline]
}

#[test]
fn cells_in_slices_are_looked_at_by_what_is_typical_of_their_rounds() {
    let study = study(&[]);
    let [cell, baseline] = pair(&study);
    // The host slows down from round to round; in the last one the cell stalls, so that
    // the figures of the trials say something else.
    let records = |block| {
        vec![
            group(&[(&cell, [110, 220, 4000]), (&baseline, [100, 200, 300])], block),
            in_group(trial(&cell, block, Some(9.0))),
            in_group(trial(&baseline, block, Some(1.0))),
        ]
    };
    let records: Vec<Record> = (0..10).flat_map(records).collect();
    let found = first_look(&study, &records, &cell);
    assert_eq!((found.n, found.lost), (10, 0));
    assert!((found.figures.unwrap().mean - 1.1_f64.ln()).abs() < 1e-9);
}

#[test]
fn each_process_of_a_cell_counts_for_half() {
    let study = study(&[]);
    let [cell, baseline] = pair(&study);
    let mut records = Vec::new();
    for block in 0..10 {
        records.push(of_two_processes(group(
            &[(&cell, [0; 3]), (&baseline, [0; 3])],
            block,
        )));
        records.push(in_group(trial(&cell, block, Some(9.0))));
        records.push(in_group(trial(&baseline, block, Some(1.0))));
    }
    let found = first_look(&study, &records, &cell);
    assert!((found.figures.unwrap().mean - 1.2_f64.ln() / 2.0).abs() < 1e-9);
}

/// 41 rounds of the same group, in which the second process of its first cell costs a fifth more.
fn of_two_processes(mut record: Record) -> Record {
    if let Record::Group(group) = &mut record {
        group.members[0].processes = 2;
        for (member, second) in group.members.iter_mut().zip([120, 100]) {
            member.places = vec![0; 41];
            for series in member.parts.values_mut() {
                series.wall_ns = [100, second].into_iter().cycle().take(41).collect();
                series.cpu_ns.clone_from(&series.wall_ns);
            }
        }
    }
    record
}

#[test]
fn a_repeated_trial_is_looked_at_beside_the_baseline_of_its_own_group() {
    let study = study(&[]);
    let [cell, baseline] = pair(&study);
    let mut records = Vec::new();
    for block in 0..10 {
        // The baseline's trial is of an earlier group, in which the cell failed.
        records.push(trial(&baseline, block, Some(5.0)));
        records.push(trial(&cell, block, None));
        records.push(group(&[(&cell, [130; 3]), (&baseline, [100; 3])], block));
        records.push(in_group(trial(&cell, block, Some(1.0))));
    }
    let found = first_look(&study, &records, &cell);
    assert_eq!((found.n, found.lost), (10, 0));
    assert!((found.figures.unwrap().mean - 1.3_f64.ln()).abs() < 1e-9);
}

#[test]
fn what_did_not_run_side_by_side_is_looked_at_by_the_figures_of_its_trials() {
    let study = study(&[]);
    let [cell, baseline] = pair(&study);
    let mut records = Vec::new();
    for block in 0..10 {
        // In one piece, since a quota throttles it; or beside others, its baseline not among them.
        let own = trial(&cell, block, Some(1.2));
        records.push(group(&[(&cell, [500; 3])], block));
        records.push(if block < 5 { own } else { in_group(own) });
        records.push(in_group(trial(&baseline, block, Some(1.0))));
    }
    let found = first_look(&study, &records, &cell);
    assert_eq!((found.n, found.lost), (10, 0));
    assert!((found.figures.unwrap().mean - 1.2_f64.ln()).abs() < 1e-9);
}

#[test]
fn a_group_of_another_block_says_nothing_of_a_trial() {
    let study = study(&[]);
    let [cell, baseline] = pair(&study);
    let mut records = vec![group(&[(&cell, [500; 3]), (&baseline, [100; 3])], 99)];
    for block in 0..10 {
        for (cell, figure) in [(&cell, 1.2), (&baseline, 1.0)] {
            let mut own = trial(cell, block, Some(figure));
            if let Record::Trial(own) = &mut own {
                own.group = Some(99);
            }
            records.push(own);
        }
    }
    let found = first_look(&study, &records, &cell);
    assert!((found.figures.unwrap().mean - 1.2_f64.ln()).abs() < 1e-9);
}

#[test]
fn a_workload_with_quiet_rounds_gives_its_time_away() {
    let mut study = study(&[]);
    let [cell, baseline] = pair(&study);
    // 40 rounds of 100 ns are a trial.
    study.protocol.trial_seconds = 4e-6;
    let costs =
        |spread: usize| std::array::from_fn::<u64, 40, _>(|round| 1000 + (round * 7 % 40 * spread) as u64);
    let share = |spread| {
        let mut shares = Shares::of(&study).unwrap();
        let Record::Group(group) = group(&[(&cell, costs(spread)), (&baseline, [1000; 40])], 0) else {
            unreachable!("a group");
        };
        shares.note(&group);
        [0, 1].map(|block| {
            shares.begin_block(block, None, |_| true);
            shares.share("syscall")
        })
    };
    assert_eq!(share(20), [1.0, 1.4]);
    assert_eq!(share(0), [1.0, 0.4]);
    study.protocol.slicing = "10ms".parse().unwrap();
    assert!(Shares::of(&study).is_none());
}
