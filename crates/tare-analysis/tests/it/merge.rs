//! Files of one study from several hosts, and one cost over many files.

use crate::common::*;
use tare_analysis::merge::{CannotMerge, merge};
use tare_analysis::trend::{NoTrend, trend};
use tare_analysis::{Notice, Refusal, Word};
use tare_model::results::{Record, Results};

#[test]
fn three_hosts_tell_of_hosts_and_two_do_not() {
    let files = [
        run_on_host(1.18, "a", 1),
        run_on_host(1.20, "b", 2),
        run_on_host(1.22, "c", 3),
    ];
    let merged = merge(briefs(&files), None).unwrap();
    let found = &merged.comparisons[0];
    assert_eq!((merged.hosts, merged.files.len(), found.hosts.len()), (3, 3, 3));
    let (cost, next) = (found.cost.unwrap(), found.next.unwrap());
    assert!((cost.value - 1.2).abs() < 0.005, "{cost:?}");
    assert!(
        cost.low < 1.18 && cost.high > 1.22,
        "t with two degrees of freedom: {cost:?}"
    );
    assert!(next.low < cost.low && next.high > cost.high, "{next:?}");
    assert_eq!(found.verdict.word, Word::Slower);
    let merged = merge(briefs(&files[..2]), None).unwrap();
    let verdict = &merged.comparisons[0].verdict;
    assert!(
        matches!(verdict.refusals[..], [Refusal::FewHosts { hosts: 2, needed: 3 }]),
        "{verdict:?}"
    );
}

#[test]
fn the_same_file_counts_once_and_days_of_one_host_are_one_host() {
    let again = [run_on_host(1.2, "a", 1), run_on_host(1.2, "a", 1)];
    assert!(matches!(merge(briefs(&again), None), Err(CannotMerge::OneRun(_))));
    let days = [
        run_on_host(1.18, "a", 1),
        run_on_host(1.22, "a", 2),
        run_on_host(1.2, "b", 3),
        run_on_host(1.2, "b", 3),
    ];
    let merged = merge(briefs(&days), None).unwrap();
    assert_eq!((merged.hosts, merged.files.len(), merged.copies), (2, 3, 1));
    let of_a = &merged.comparisons[0].hosts[0];
    assert_eq!(of_a.n, 40);
    assert!((of_a.cost.unwrap().value - 1.2).abs() < 0.005, "{of_a:?}");
}

#[test]
fn other_work_of_the_same_name_is_refused() {
    let (mut one, other) = (run_on_host(1.2, "a", 1), run_on_host(1.2, "b", 2));
    one.1.header.study.instances[0].size.cpus = "1".parse().unwrap();
    assert!(matches!(
        merge(briefs(&[one, other]), None),
        Err(CannotMerge::OtherWork { .. })
    ));
}

#[test]
fn a_cost_that_rose_is_found_where_it_rose_and_one_that_did_not_is_not() {
    let cost = |i: u64| if i < 8 { 1.1 } else { 1.2 };
    let mut files: Vec<_> = (0..14).map(|i| run_on_host(cost(i), "a", i)).collect();
    files.reverse();
    let found = trend(briefs(&files), u64::MAX).unwrap();
    let series = &found.series[0];
    assert_eq!(series.points.len(), 14);
    let [change] = series.changes[..] else {
        panic!("{:?}", series.changes)
    };
    assert_eq!(change.at, 8);
    assert!((change.ratio() - 1.2 / 1.1).abs() < 0.01, "{change:?}");
    assert_eq!(found.dearer(0.05).count(), 1);
    assert_eq!(found.dearer(0.2).count(), 0);
    let still: Vec<_> = (0..14).map(|i| run_on_host(1.1, "a", i)).collect();
    assert!(
        trend(briefs(&still), u64::MAX).unwrap().series[0]
            .changes
            .is_empty()
    );
}

#[test]
fn a_cost_that_wanders_is_said_to_drift_and_fails_no_gate() {
    let cost = |i: u64| 1.1 + 0.06 * (i as f64 / 3.0).sin();
    let files: Vec<_> = (0..30).map(|i| run_on_host(cost(i), "a", i)).collect();
    let found = trend(briefs(&files), u64::MAX).unwrap();
    assert!(
        found.series[0].changes.is_empty(),
        "{:?}",
        found.series[0].changes
    );
    let drifts: Vec<f64> = found.drifting().map(|(_, correlation)| correlation).collect();
    assert!(matches!(drifts[..], [r] if r > 0.5), "{drifts:?}");
    assert_eq!(found.dearer(0.0).count(), 0);
}

#[test]
fn files_whose_order_is_doubtful_are_named() {
    let mut files: Vec<_> = (1..5).map(|i| run_on_host(1.1, "a", i)).collect();
    let start = |file: &mut (String, Results), ns: u64| {
        for record in &mut file.1.records {
            if let Record::Session(session) = record {
                session.started_unix_ns = ns;
            }
        }
    };
    let now = 1_600_000_000_000_000_000;
    let starts = [20, 10, 10, 31].map(|ns| now + ns);
    files
        .iter_mut()
        .zip(starts)
        .for_each(|(file, ns)| start(file, ns));
    let of = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    let same = Notice::SameStart {
        files: of(&["a-2.jsonl", "a-3.jsonl"]),
    };
    let ahead = Notice::AheadOfNow {
        files: of(&["a-4.jsonl"]),
    };
    assert_eq!(trend(briefs(&files), now + 30).unwrap().notices, [ahead, same]);
    assert_eq!(trend(briefs(&files), now + 31).unwrap().notices.len(), 1);
    start(&mut files[0], 20);
    let unset = Notice::ClockUnset {
        files: of(&["a-1.jsonl"]),
    };
    assert_eq!(trend(briefs(&files), now + 31).unwrap().notices[0], unset);
}

#[test]
fn what_is_not_in_two_files_has_no_trend() {
    assert_eq!(trend(briefs(&[]), u64::MAX).unwrap_err(), NoTrend::FewFiles(0));
    let (one, mut other) = (run_on_host(1.1, "a", 1), run_on_host(1.1, "a", 2));
    assert_eq!(
        trend(briefs(std::slice::from_ref(&one)), u64::MAX).unwrap_err(),
        NoTrend::FewFiles(1)
    );
    other.1.header.study.instances[0].size.cpus = "1".parse().unwrap();
    assert!(matches!(
        trend(briefs(&[one, other]), u64::MAX),
        Err(NoTrend::NothingInCommon(_))
    ));
}
