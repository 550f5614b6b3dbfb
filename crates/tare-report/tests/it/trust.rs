//! Files that no run writes, and trials of which little is known: nothing of it is silent.

use crate::common::*;
use tare_analysis::{Analysis, Refusal, Word, analyze};
use tare_model::group::WorkDone;
use tare_model::results::{HostReadings, Outcome, Record, Results, TrialRecord};
use tare_model::size::Cpus;

fn results() -> Results {
    Synthetic::new()
        .noise(0.002)
        .cost("docker", Pinned, "syscall", 1.19)
        .build()
}

fn notices(analysis: &Analysis) -> Vec<&'static str> {
    analysis.notices.iter().map(|n| n.name()).collect()
}

/// What is shown, on one line.
fn shown(analysis: &Analysis) -> String {
    let text = whole(analysis);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The trial of docker in this block.
fn trial(results: &mut Results, block: u32) -> &mut TrialRecord {
    let mut trials = trials_of(results, "docker", Pinned);
    trials.find(|t| t.block == block).unwrap()
}

fn set_samples(trial: &mut TrialRecord, value: f64) {
    let Outcome::Ok(success) = &mut trial.outcome else {
        panic!("a trial that succeeded");
    };
    success.samples.values_mut().for_each(|v| *v = value);
}

#[test]
fn a_study_that_cannot_be_has_a_notice_and_no_verdict() {
    for change in [
        |r: &mut Results| r.header.study.protocol.blocks = 0,
        |r: &mut Results| r.header.study.protocol.trial_seconds = -1.0,
        |r: &mut Results| r.header.study.instances[0].size.cpus = Cpus::from_milli(0),
        |r: &mut Results| r.header.study.instances[0].size.memory_bytes = 0,
    ] {
        let mut results = results();
        change(&mut results);
        let analysis = analyze(&results);
        assert!(
            notices(&analysis).contains(&"unsound-study"),
            "{:?}",
            analysis.notices
        );
        let verdict = headline(&analysis).verdict.as_ref().unwrap();
        assert_eq!(verdict.word, Word::None, "{}", phrase(verdict));
        let unsound = |r: &Refusal| matches!(r, Refusal::UnsoundStudy { .. });
        assert!(verdict.refusals.iter().any(unsound), "{}", phrase(verdict));
    }
}

#[test]
fn trials_of_blocks_that_the_study_does_not_have_are_left_out() {
    let mut results = results();
    results.header.study.protocol.blocks = 0;
    let text = shown(&analyze(&results));
    assert!(text.contains("(0 of 0 blocks)"), "{text}");
    assert!(text.contains("40 trials of no block of the study"), "{text}");
    assert!(text.contains("the header has 0 blocks"), "{text}");
    results.header.study.protocol.blocks = 15;
    let analysis = analyze(&results);
    assert_eq!((headline(&analysis).n, analysis.run.blocks), (15, 15));
    assert_eq!(notices(&analysis), ["stray-blocks"]);
}

#[test]
fn an_absurd_margin_is_told_in_few_digits_and_judges_nothing() {
    let mut results = results();
    results.header.study.protocol.margin = 1e9;
    let analysis = analyze(&results);
    assert_eq!(notices(&analysis), ["no-margin"]);
    assert_eq!(
        headline(&analysis).verdict.as_ref().unwrap().refusals,
        [Refusal::NoMargin]
    );
    assert!(!shown(&analysis).contains("100000000"), "{}", shown(&analysis));
}

#[test]
fn a_host_of_no_cpus_or_memory_is_told_as_unknown() {
    let mut results = results();
    (results.header.host.cpus, results.header.host.memory_bytes) = (0, 0);
    let analysis = analyze(&results);
    assert_eq!(notices(&analysis), ["host-unknown"]);
    let text = shown(&analysis);
    assert!(
        text.contains("does not record the host's CPUs and memory"),
        "{text}"
    );
}

#[test]
fn of_two_records_of_one_trial_neither_counts() {
    let mut results = results();
    let mut other = trial(&mut results, 3).clone();
    scale(&mut other, 0.5);
    results.records.push(other.into());
    let analysis = analyze(&results);
    assert_eq!(notices(&analysis), ["conflicting-trials"]);
    let metric = headline(&analysis);
    assert_eq!((metric.n, metric.lost), (19, 1));
    assert!(shown(&analysis).contains("1 trial in the file more than once with different contents"));
}

#[test]
fn two_results_of_a_cell_in_one_block_conflict_whatever_they_are_called() {
    for rename in [
        |t: &mut TrialRecord| t.attempt = 1,
        |t: &mut TrialRecord| t.trial = 7000,
    ] {
        let mut results = results();
        let mut other = trial(&mut results, 3).clone();
        scale(&mut other, 0.5);
        rename(&mut other);
        results.records.push(other.into());
        let analysis = analyze(&results);
        assert_eq!(notices(&analysis), ["conflicting-trials"]);
        assert_eq!(headline(&analysis).n, 19);
    }
}

#[test]
fn an_exact_copy_is_told_and_counts_once() {
    let mut results = results();
    let before = headline(&analyze(&results)).paired.clone();
    let copy = trial(&mut results, 3).clone();
    results.records.push(copy.into());
    let analysis = analyze(&results);
    assert_eq!(notices(&analysis), ["copied-records"]);
    assert_eq!(headline(&analysis).paired, before);
    assert_eq!(analysis.run.trials.ok, 40);
}

#[test]
fn trials_whose_slices_are_told_twice_do_not_count() {
    let mut results = Synthetic::new().blocks(12).build();
    slice(&mut results, 8, |slot| if slot.is("docker") { 1.1 } else { 1.0 });
    let mut other = groups(&mut results).next().unwrap().clone();
    for series in other.members.iter_mut().flat_map(|m| m.parts.values_mut()) {
        series.work = WorkDone::Same(1.0);
    }
    results.records.push(Record::Group(other));
    let analysis = analyze(&results);
    assert_eq!(notices(&analysis), ["conflicting-trials"]);
    assert_eq!(headline(&analysis).n, 11);
}

#[test]
fn what_no_machine_comes_to_is_no_figure_and_no_number_is_long() {
    for value in [1.7e308, 1e200, 5e-324, -3.0] {
        let mut results = results();
        for block in 0..2 {
            set_samples(trial(&mut results, block), value);
        }
        let analysis = analyze(&results);
        assert_eq!(notices(&analysis), ["no-figures"], "{value}");
        assert_eq!((headline(&analysis).n, headline(&analysis).lost), (18, 2));
        let text = shown(&analysis);
        assert!(text.contains("2 figures beyond what any machine"), "{text}");
        assert!(text.split(' ').all(|word| word.len() < 30), "{text}");
        assert!(!text.contains("inf"), "{text}");
    }
}

#[test]
fn slices_of_a_cost_that_no_machine_comes_to_are_told() {
    let mut results = Synthetic::new().blocks(12).build();
    slice(&mut results, 8, |_| 1.0);
    let member = members(&mut results, "docker").next().unwrap();
    member
        .parts
        .values_mut()
        .for_each(|series| series.work = WorkDone::Same(1e-300));
    let analysis = analyze(&results);
    assert_eq!(notices(&analysis), ["no-slices"]);
    assert!(shown(&analysis).contains("8 slices with a cost that no machine"));
}

#[test]
fn a_part_of_slices_that_the_header_does_not_name_is_told() {
    let mut results = Synthetic::new().blocks(12).build();
    slice(&mut results, 8, |_| 1.0);
    for member in members(&mut results, "docker") {
        let series = member.parts.values().next().unwrap().clone();
        member.parts.insert("joules".to_owned(), series);
    }
    let analysis = analyze(&results);
    assert_eq!(notices(&analysis), ["unnamed-figures"]);
    assert!(shown(&analysis).contains("syscall joules"));
    for member in members(&mut results, "docker") {
        member.parts.remove("joules");
        member.cell.workload = "other".to_owned();
    }
    assert_eq!(notices(&analyze(&results)), ["stray-members"]);
}

#[test]
fn figures_that_no_clock_tells_apart_are_not_judged() {
    let mut results = results();
    trials_of(&mut results, "docker", Pinned).for_each(|t| set_samples(t, 1e-3));
    let analysis = analyze(&results);
    assert_eq!(notices(&analysis), ["identical-figures"]);
    let verdict = headline(&analysis).verdict.as_ref().unwrap();
    assert_eq!(verdict.reasons(), "identical figures");
    // Two may be the same by chance.
    let mut two = Synthetic::new().blocks(2).build();
    trials_of(&mut two, "docker", Pinned).for_each(|t| set_samples(t, 1e-3));
    assert_eq!(notices(&analyze(&two)), Vec::<&str>::new());
}

#[test]
fn slices_that_all_take_the_same_time_are_not_judged() {
    let mut results = Synthetic::new().blocks(12).build();
    slice(&mut results, 8, |_| 1.0);
    for member in members(&mut results, "docker") {
        member.parts.values_mut().for_each(|s| s.wall_ns.fill(10_000_000));
    }
    let verdict = verdict(&results);
    assert!(
        phrase(&verdict).contains("identical figures in all 12 trials"),
        "{}",
        phrase(&verdict)
    );
}

#[test]
fn noise_that_nobody_read_is_unknown_and_not_none() {
    let mut results = Synthetic::new()
        .noise(0.002)
        .cost("docker", Pinned, "syscall", 0.8)
        .build();
    for (i, trial) in trials_of(&mut results, "docker", Pinned).enumerate() {
        trial.host = match i % 3 {
            0 => None,
            1 => Some(HostReadings::default()),
            _ => Some(HostReadings {
                others_load: Some(0.0),
                ..HostReadings::default()
            }),
        };
    }
    let analysis = analyze(&results);
    assert_eq!(
        phrase(headline(&analysis).verdict.as_ref().unwrap()),
        "by more than the margin"
    );
    assert_eq!(notices(&analysis), ["noise-unknown"]);
    let text = shown(&analysis);
    assert!(
        text.contains("other load unknown in 20 of 40 trials: the file has no readings"),
        "{text}"
    );
    assert!(
        text.contains("by more than the margin; noise-unknown x20"),
        "{text}"
    );
    assert!(page(&analysis).contains("noise-unknown"));
    assert!(json(&analysis).contains("noise-unknown"));
}

#[test]
fn trials_too_short_to_measure_other_load_say_what_to_do() {
    let mut results = Synthetic::new().build();
    for trial in trials_of(&mut results, "docker", Pinned) {
        trial.host = Some(HostReadings {
            wall_ns: 20_000_000,
            ..HostReadings::default()
        });
    }
    let text = shown(&analyze(&results));
    let told =
        "other load unknown in 20 of 40 trials, as measuring it takes --trial-time 500ms: the host counts";
    assert!(text.contains(told), "{text}");
}

#[test]
fn a_server_that_closes_connections_is_told_where_it_is_often() {
    let mut latencies = tare_stats::Latencies::default();
    (1..=1000).for_each(|n| latencies.record(n * 1000));
    for (closed, is_told) in [(20, false), (21, true)] {
        let mut results = results();
        for trial in trials_of(&mut results, "docker", Pinned) {
            if let Outcome::Ok(success) = &mut trial.outcome {
                (success.latencies, success.reconnects) = (Some(latencies.text()), Some(closed));
            }
        }
        let text = shown(&analyze(&results));
        let told = "the server closed connections that were to be kept";
        assert_eq!(text.contains(told), is_told, "{text}");
        assert_eq!(text.contains("closed in 20000 requests"), is_told, "{text}");
    }
}
