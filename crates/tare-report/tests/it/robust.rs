//! Results that no run of ours writes: no panic, and a word about it.

use crate::common::*;
use proptest::prelude::*;
use tare_analysis::{Analysis, analyze};
use tare_model::group::{Member, WorkDone};
use tare_model::results::{EndReason, Outcome, Record, Results};
use tare_report::text::{TextOptions, Where};

/// Everything that can be made of an analysis.
fn rendered(analysis: &Analysis) -> [String; 5] {
    let narrow = TextOptions {
        width: 40,
        ..TextOptions::default()
    };
    [
        whole(analysis),
        tare_report::text::answer(analysis, Where::default(), TextOptions::default()),
        tare_report::text::answer(analysis, Where::default(), narrow),
        page(analysis),
        json(analysis),
    ]
}

fn notices(results: &Results) -> Vec<&'static str> {
    let analysis = analyze(results);
    rendered(&analysis);
    analysis.notices.iter().map(|n| n.name()).collect()
}

#[test]
fn a_complete_file_of_one_session_needs_no_notice() {
    assert_eq!(notices(&Synthetic::new().build()), Vec::<&str>::new());
}

#[test]
fn a_header_larger_than_any_study_is_refused_at_once() {
    let golden = include_str!("golden/results-3.jsonl");
    let line = golden.lines().next().unwrap();
    let parsed = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut header: serde_json::Value = serde_json::from_str(line).unwrap();
        change(&mut header["study"]);
        let read = Results::parse("r.jsonl", format!("{header}\n").as_bytes());
        read.map(drop).map_err(|e| e.to_string())
    };
    assert_eq!(parsed(&|_| {}), Ok(()));
    let platforms: Vec<_> = (0..5000).map(|i| format!("fake?cost=1.{i}")).collect();
    let error = parsed(&|study| study["platforms"] = platforms.clone().into()).unwrap_err();
    assert!(error.contains("cells: no report has over 4096"), "{error}");
    let error = parsed(&|study| {
        let metrics = &mut study["workloads"][0]["metrics"];
        *metrics = vec![metrics[0].clone(); 300].into();
    });
    let error = error.unwrap_err();
    assert!(error.contains("300 metrics: no report has over 256"), "{error}");
}

#[test]
fn a_study_without_its_baseline_compares_nothing() {
    let mut results = Synthetic::new().build();
    results.header.study.baseline = "lxc".parse().unwrap();
    assert_eq!(notices(&results), ["no-baseline"]);
    assert!(analyze(&results).comparisons.is_empty());
}

#[test]
fn a_margin_that_is_none_gives_figures_without_verdicts() {
    for margin in [0.0, -0.5, -2.0, 1e9, 1e-9, f64::NAN, f64::INFINITY] {
        let mut results = Synthetic::new().build();
        results.header.study.protocol.margin = margin;
        assert_eq!(notices(&results), ["no-margin"], "{margin}");
        assert_eq!(verdict(&results).row, 0);
    }
}

#[test]
fn trials_of_no_cell_are_left_out_and_counted() {
    let mut results = Synthetic::new().build();
    for trial in trials_of(&mut results, "docker", Pinned).take(3) {
        trial.cell.workload = "sysbench".to_owned();
    }
    assert_eq!(notices(&results), ["stray-trials"]);
    assert_eq!(headline(&analyze(&results)).n, 17);
}

#[test]
fn platforms_and_workloads_named_twice_are_one() {
    let mut results = Synthetic::new().build();
    let study = &mut results.header.study;
    study.platforms.extend(study.platforms.clone());
    study.workloads.extend(study.workloads.clone());
    let analysis = analyze(&results);
    rendered(&analysis);
    assert_eq!((analysis.cells.len(), analysis.comparisons.len()), (2, 1));
}

#[test]
fn an_empty_file_and_an_empty_study_are_reported_as_such() {
    let mut results = Synthetic::new().blocks(0).build();
    let [text, ..] = rendered(&analyze(&results));
    assert!(text.contains("no pair; 10 are needed"), "{text}");
    results.records.clear();
    assert_eq!(notices(&results), ["incomplete", "not-reached", "unsound-study"]);
    results.header.study.platforms.clear();
    results.header.study.workloads.clear();
    let [text, ..] = rendered(&analyze(&results));
    assert!(text.contains("nothing to compare"));
}

#[test]
fn a_second_session_and_a_second_boot_are_told() {
    let mut results = Synthetic::new().build();
    results
        .records
        .insert(30, Record::Session(session("run-2", "boot-1")));
    assert_eq!(notices(&results), ["sessions"]);
    results
        .records
        .insert(40, Record::Session(session("run-3", "boot-2")));
    assert_eq!(notices(&results), ["sessions", "boots"]);
}

#[test]
fn a_run_that_did_not_end_says_so() {
    let mut results = Synthetic::new().build();
    results.torn = true;
    let Some(Record::End(end)) = results.records.last_mut() else {
        panic!("a file ends with its end");
    };
    end.reason = EndReason::BudgetSpent;
    assert_eq!(notices(&results), ["torn", "incomplete"]);
    results.records.push(Record::Session(session("run-2", "boot-1")));
    let analysis = analyze(&results);
    assert_eq!(analysis.run.end, None, "the last session has no end");
}

#[test]
fn what_a_later_version_added_is_told_and_left_out() {
    let mut results = Synthetic::new().build();
    results.unknown.insert("evidence".to_owned(), 3);
    let trial = trials_of(&mut results, "docker", Pinned).next().unwrap();
    if let Outcome::Ok(success) = &mut trial.outcome {
        success.samples.insert("joules".to_owned(), 1.5);
    }
    assert_eq!(notices(&results), ["unknown-records", "unnamed-figures"]);
    let [text, _, _, page, _] = rendered(&analyze(&results));
    for shown in [text, page] {
        assert!(shown.contains("3 records of kind"), "{shown}");
        assert!(shown.contains("syscall joules"), "{shown}");
    }
}

#[test]
fn emulation_is_said_plainly() {
    let mut results = Synthetic::new().platforms(&["native", "vm"]).build();
    let vm = results.header.platforms.get_mut(&"vm".parse().unwrap()).unwrap();
    vm.details.insert("accelerator".to_owned(), "tcg".to_owned());
    assert_eq!(notices(&results), ["emulated"]);
    let [words @ .., _] = rendered(&analyze(&results));
    for page in words {
        assert!(page.contains("vm was emulated: "), "{page}");
    }
}

#[test]
fn a_driver_that_never_ran_on_its_engine_is_named() {
    let mut results = Synthetic::new().platforms(&["native", "vmware"]).build();
    let vmware = results
        .header
        .platforms
        .get_mut(&"vmware".parse().unwrap())
        .unwrap();
    vmware.details.insert("driver".to_owned(), "untested".to_owned());
    assert_eq!(notices(&results), ["untested-driver"]);
    let [words @ .., _] = rendered(&analyze(&results));
    for page in words {
        assert!(page.contains("the driver of vmware was written"), "{page}");
    }
}

fn any_sample() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        prop_oneof![
            Just(f64::NAN),
            Just(0.0),
            Just(-1.0),
            Just(f64::MAX),
            Just(5e-324)
        ],
        0.9e-3..1.1e-3,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_was_measured_there_is_a_report(
        samples in prop::collection::vec(any_sample(), 60),
        blocks in prop::collection::vec(any::<u32>(), 60),
        margin in any::<f64>(),
    ) {
        let mut results = Synthetic::new().build();
        results.header.study.protocol.margin = margin;
        let mut values = samples.iter().zip(blocks).cycle();
        for record in &mut results.records {
            match record {
                Record::Trial(trial) => {
                    let (sample, block) = values.next().unwrap();
                    trial.block = if block % 3 == 0 { block } else { trial.block };
                    if let Outcome::Ok(success) = &mut trial.outcome {
                        success.samples.values_mut().for_each(|v| *v = *sample);
                    }
                }
                Record::Box(made) => made.hello_seconds = *values.next().unwrap().0,
                Record::Proof(proof) => proof.host_cores = Some(*values.next().unwrap().0),
                _ => {}
            }
        }
        for page in rendered(&analyze(&results)) {
            prop_assert!(!page.contains("NaN"), "{}", page);
        }
    }
}

/// What may be done to a member of a group.
fn damage(member: &mut Member, kind: u8, number: u32, work: f64) {
    let short = (number % 7) as usize;
    match kind % 9 {
        0 => member.every = number,
        1 => member.every = 0,
        2 => member.places.truncate(short),
        3 => member.places.fill(number),
        4 => member.gate_ns = u64::from(number) << 32,
        _ => {}
    }
    for series in member.parts.values_mut() {
        match kind % 9 {
            5 => series.work = WorkDone::Same(work),
            6 => series.work = WorkDone::Each(vec![work; short]),
            7 => series.wall_ns.truncate(short),
            8 => series.wall_ns.fill(u64::from(number) << 32),
            _ => series.cpu_ns.truncate(short),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_groups_hold_there_is_a_report(
        damages in prop::collection::vec((any::<u8>(), any::<u32>(), any_sample()), 36),
        groups_named in prop::collection::vec(prop::option::of(0..16_u32), 36),
    ) {
        let mut results = Synthetic::new()
            .platforms(&["native", "docker", "vm"])
            .blocks(12)
            .build();
        slice(&mut results, 8, |slot| f64::from(slot.round + 1));
        let mut damages = damages.into_iter();
        for group in groups(&mut results) {
            let twice = group.members[1].clone();
            for (member, (kind, number, work)) in group.members.iter_mut().zip(&mut damages) {
                damage(member, kind, number, work);
            }
            if group.block % 3 == 0 {
                group.members.push(twice);
            }
            if group.block % 5 == 4 {
                group.group = 3;
            }
        }
        let mut named = groups_named.into_iter();
        for record in &mut results.records {
            if let Record::Trial(trial) = record {
                trial.group = named.next().flatten().or(trial.group);
            }
        }
        for page in rendered(&analyze(&results)) {
            prop_assert!(!page.contains("NaN"), "{}", page);
        }
    }
}
