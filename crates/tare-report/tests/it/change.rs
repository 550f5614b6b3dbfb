//! Two results files held against each other.

use crate::common::*;
use tare_analysis::change::{Change, NothingInCommon, OverheadChange, compare};
use tare_analysis::{Refusal, Word};
use tare_model::finding::{Finding, Reason};
use tare_model::results::Results;
use tare_model::workload::Run;
use tare_report::sections;
use tare_report::text::{TextOptions, render};

/// A run in which docker costs so much, on a host that is so fast.
fn run(docker: f64, host: f64, seed: u64) -> Results {
    let mut results = Synthetic::new()
        .cost("docker", Pinned, "syscall", docker)
        .noise(0.004)
        .block_noise(0.03)
        .seed(seed)
        .build();
    for platform in ["native", "docker"] {
        trials_of(&mut results, platform, Pinned).for_each(|t| scale(t, host));
    }
    results
}

fn text(change: &Change) -> String {
    render(
        &sections::change(change, ["before.jsonl", "after.jsonl"]),
        TextOptions::default(),
    )
}

fn changed(before: &Results, after: &Results, margin: Option<f64>) -> Change {
    compare(before, after, margin).unwrap()
}

fn only(change: &Change) -> &OverheadChange {
    assert_eq!(change.overheads.len(), 1);
    &change.overheads[0]
}

#[test]
fn a_box_that_costs_more_than_before_is_a_regression() {
    let change = changed(&run(1.10, 1.0, 2), &run(1.16, 1.0, 3), None);
    let overhead = only(&change);
    let found = overhead.change.unwrap();
    assert!(found.low < 1.16 / 1.10 && 1.16 / 1.10 < found.high, "{found:?}");
    assert_eq!((overhead.verdict.row, overhead.verdict.word), (2, Word::Slower));
    assert_eq!(change.regressions().count(), 1);
    assert_eq!((change.family, change.margin, change.level), (1, 0.01, 0.95));
}

#[test]
fn a_box_that_costs_less_is_none() {
    let change = changed(&run(1.16, 1.0, 2), &run(1.10, 1.0, 3), None);
    assert_eq!(
        (only(&change).verdict.row, only(&change).verdict.word),
        (4, Word::Faster)
    );
    assert_eq!((change.regressions().count(), change.doubtful().count()), (0, 0));
}

#[test]
fn what_slows_box_and_baseline_alike_is_in_the_raw_figures_alone() {
    let change = changed(&run(1.10, 1.0, 2), &run(1.10, 1.5, 3), None);
    assert_eq!(only(&change).verdict.word, Word::Equal);
    assert_eq!(change.raw.len(), 2);
    for raw in &change.raw {
        let found = raw.change.unwrap();
        assert!(found.low > 1.4 && found.high < 1.6, "{raw:?}");
    }
    let text = text(&change);
    assert!(text.contains("confounded, no verdict"));
    assert!(
        text.contains("syscall itself, whatever the cause: ") && text.contains(" in 2 of 2 cells"),
        "{text}"
    );
}

#[test]
fn a_margin_of_the_users_takes_the_place_of_the_study_s() {
    let (before, after) = (run(1.10, 1.0, 2), run(1.16, 1.0, 3));
    let change = changed(&before, &after, Some(0.10));
    assert_eq!(only(&change).verdict.word, Word::Equal);
    let change = changed(&before, &after, Some(0.0545));
    assert_eq!((only(&change).verdict.row, change.doubtful().count()), (3, 1));
    assert_eq!(change.regressions().count(), 0);
}

#[test]
fn a_cell_without_a_verdict_in_one_file_has_none() {
    let mut after = run(1.16, 1.0, 3);
    fail(&mut after, "docker", 4, Reason::Timeout);
    let change = changed(&run(1.10, 1.0, 2), &after, None);
    let verdict = &only(&change).verdict;
    assert_eq!(verdict.word, Word::None);
    assert!(
        text(&change).contains("after: 4 of 20 pairs lost"),
        "{}",
        text(&change)
    );
    assert!(!change.judged());
    assert!(only(&change).change.is_some());
}

#[test]
fn other_work_and_other_sizes_are_not_compared() {
    let before = run(1.10, 1.0, 2);
    let mut after = run(1.10, 1.0, 3);
    if let Run::Kernel(kernel) = &mut after.header.study.workloads[0].roles[0].run {
        kernel.spec.isa = tare_model::kernel::Isa::Baseline;
    }
    let change = changed(&before, &after, None);
    assert_eq!(only(&change).verdict.refusals, [Refusal::OtherWork]);
    assert_eq!((only(&change).change, change.raw.len()), (None, 0));

    let mut after = run(1.10, 1.0, 3);
    after.header.study.instances[0].size.memory_bytes += 1;
    let change = changed(&before, &after, None);
    assert_eq!(only(&change).verdict.refusals, [Refusal::OtherSize]);
}

#[test]
fn another_part_of_the_work_is_not_compared() {
    let part = |share: f64, seed: u64| {
        let mut results = run(1.3, 1.0, seed);
        find(
            &mut results,
            "docker",
            Pinned,
            u32::MAX,
            &Finding::PartialWork { share },
        );
        results
    };
    let whole = run(1.5, 1.0, 2);
    let refused = changed(&whole, &part(0.3, 3), None);
    assert!(only(&refused).verdict.refusals.contains(&Refusal::OtherWork));
    let alike = changed(&part(0.3, 3), &part(0.31, 4), None);
    assert_eq!(only(&alike).verdict.refusals, []);
}

#[test]
fn cells_of_one_file_are_listed() {
    let after = Synthetic::new().platforms(&["native", "docker", "lxc"]).build();
    let change = changed(&run(1.10, 1.0, 2), &after, None);
    assert_eq!(change.only_after.len(), 1);
    assert!(text(&change).contains("Only in the second file\n  - lxc pinned syscall"));
}

#[test]
fn files_with_nothing_in_common_are_refused() {
    let other = Synthetic::new().platforms(&["lxc", "vm"]).build();
    let refused: NothingInCommon = compare(&run(1.0, 1.0, 2), &other, None).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the two files measure nothing in common: the first has native pinned syscall, docker pinned syscall; \
         the second has lxc pinned syscall, vm pinned syscall; give two runs of the same study"
    );
}

#[test]
fn what_differs_between_the_environments_is_told() {
    let before = run(1.0, 1.0, 2);
    let mut after = run(1.0, 1.0, 3);
    after.header.host.kernel = "6.13.0\u{1b}[2J".to_owned();
    after.header.host.smt = None;
    after.header.study.protocol.trial_seconds = 1.0;
    after.header.build = "ffffffffffffffff".to_owned();
    let change = changed(&before, &after, None);
    let names: Vec<&str> = change.differences.iter().map(|d| d.what.as_str()).collect();
    assert_eq!(names, ["build", "host.kernel", "host.smt", "study.trial_seconds"]);
    let shown = text(&change);
    assert!(
        shown.contains("host.kernel: 6.12.0 -> 6.13.0\\u{1b}[2J"),
        "{shown}"
    );
    assert!(shown.contains("host.smt: true -> —"), "{shown}");
    assert!(change.notices.iter().any(|n| n.name() == "builds"));
    assert!(!shown.contains('\u{1b}'));
}

#[test]
fn a_file_held_against_itself_says_that_it_is_one_run() {
    let results = run(1.1, 1.0, 2);
    let change = changed(&results, &results, None);
    assert_eq!(only(&change).verdict.word, Word::Equal);
    assert!(change.notices.iter().any(|n| n.name() == "same-run"));
    assert!(change.differences.is_empty());
}
