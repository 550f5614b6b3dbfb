//! Files of every released version of the results format, read for ever.

use crate::common::*;
use tare_analysis::{Word, analyze};
use tare_model::results::{Outcome, Record, Results};

fn golden(name: &str) -> Results {
    let path = format!("{}/tests/it/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    Results::read(path.as_ref()).expect("a golden file stays readable")
}

/// Written once by the builder of these tests: `native` and `docker`, pinned,
/// `syscall` and a command, 10 blocks, seed 7, 0.5 % of noise; docker's `syscall`
/// costs 1.19. Every record, outcome and finding of the version occurs; the
/// last line is half a record.
#[test]
fn results_of_version_1_are_read() {
    let results = golden("results-1.jsonl");
    assert!(results.torn);
    let kinds = |f: fn(&Record) -> bool| results.records.iter().filter(|r| f(r)).count();
    assert_eq!(kinds(|r| matches!(r, Record::Session(_))), 1);
    assert_eq!(kinds(|r| matches!(r, Record::Box(_))), 20);
    assert_eq!(kinds(|r| matches!(r, Record::Proof(_))), 2);
    assert_eq!(kinds(|r| matches!(r, Record::End(_))), 1);
    assert_eq!(results.trials().count(), 42);
    let kernel = results.trials().find_map(|t| match &t.outcome {
        Outcome::Ok(success) => success.kernel.as_ref(),
        _ => None,
    });
    assert!(kernel.expect("a kernel's report").check.passed());
}

#[test]
fn what_version_1_said_is_still_said() {
    let analysis = analyze(&golden("results-1.jsonl"));
    let metric = headline(&analysis);
    let ratio = metric.paired.as_ref().expect("a ratio").ratio;
    assert_eq!((metric.n, metric.lost), (10, 0));
    assert_eq!(format!("{:.6}", ratio.value), "1.190831");
    assert_eq!(metric.verdict.as_ref().expect("a verdict").word, Word::Slower);
    // Nine of the file, and that half of its trials do not tell what else ran.
    assert_eq!(analysis.findings.len(), 10);
    let trials = &analysis.run.trials;
    assert_eq!(
        (trials.ok, trials.failed, trials.skipped, trials.repeated),
        (40, 0, 0, 1)
    );
    assert_eq!(trials.attempts, 42);
    // The heat map, what is shown, what is open, start-up, the scores, every block.
    let report = tare_report::sections::report(&analysis, tare_report::text::Where::default());
    let pictures: Vec<&str> = report.pictures().map(|p| p.id()).collect();
    assert_eq!(
        pictures,
        [
            "heat-map",
            "costs-shown",
            "costs-open",
            "start-up",
            "scores",
            "blocks",
            "steadiness"
        ]
    );
}

/// An adaptive run on the test bed after a warm-up, most boxes of which were left
/// out of the file: one cell was settled at the second look, which the
/// autocorrelation flag delayed, the other was open at the end.
#[test]
fn results_of_version_2_are_read() {
    let results = golden("results-2.jsonl");
    assert_eq!(results.looks().map(|l| l.blocks).collect::<Vec<_>>(), [10, 15]);
    let warm = |r: &&Record| matches!(r, Record::Box(made) if made.warm_up);
    assert_eq!(results.records.iter().filter(warm).count(), 3);
    let analysis = analyze(&results);
    assert_eq!(analysis.run.warm_ups.len(), 1);
    let pairs = analysis.comparisons.iter().map(|c| c.metrics[0].n);
    assert_eq!(pairs.collect::<Vec<_>>(), [15, 15]);
    let stops = analysis.stops.expect("looks").comparisons;
    assert_eq!(stops.iter().map(|s| s.settled).collect::<Vec<_>>(), [true, false]);
}

/// Kernels with other parameters than one another, of a study file run on the test bed:
/// their labels and numbers of threads stood in the header, their metrics did not. Most
/// boxes and stretches were left out of the file; `fake?cost=1.2` costs 1.2.
#[test]
fn workloads_of_version_2_get_what_their_header_did_not_say() {
    let results = golden("results-2-workloads.jsonl");
    let workloads = &results.header.study.workloads;
    let names: Vec<&str> = workloads.iter().map(|w| w.name()).collect();
    assert_eq!(
        names,
        [
            "linpack size=100",
            "linpack size=200",
            "stream threads=1",
            "stream threads=auto"
        ]
    );
    let families: Vec<&str> = workloads.iter().map(|w| w.family.as_str()).collect();
    assert_eq!(families, ["linpack", "linpack", "stream", "stream"]);
    let cells = results.header.study.cells();
    let threads = cells[..4].iter().map(|cell| {
        let workload = results.header.study.workload(cell).expect("a workload");
        workload.kernel().expect("a kernel").threads
    });
    assert_eq!(threads.collect::<Vec<_>>(), [1, 1, 1, 2]);
    let analysis = analyze(&results);
    let notices: Vec<_> = analysis.notices.iter().map(|n| n.name()).collect();
    assert_eq!(notices, ["noise-unknown"]);
    for comparison in &analysis.comparisons {
        let primary = comparison.metrics.iter().find(|m| m.metric.primary);
        let verdict = primary.and_then(|m| m.verdict.as_ref());
        assert_eq!(verdict.expect("a verdict").word, Word::Slower);
    }
    assert_eq!(analysis.comparisons.len(), 4);
}

/// Two platforms of the test bed in slices, `fake?cost=1.1` with every seventh slice five
/// times as long: the typical cost is 1.1, the mean cost that of the stalls too.
#[test]
fn results_of_version_3_are_read() {
    let results = golden("results-3.jsonl");
    assert_eq!((results.groups().count(), results.trials().count()), (20, 40));
    assert!(results.unknown.is_empty());
    let analysis = analyze(&results);
    assert_eq!(analysis.comparisons.len(), 2);
    for comparison in &analysis.comparisons {
        let metric = comparison.primary().expect("a primary metric");
        let typical = metric.paired.as_ref().expect("a ratio").ratio.value;
        let slices = metric.slices.as_ref().expect("figures of slices");
        assert!((typical / 1.1 - 1.0).abs() < 0.005, "{typical}");
        assert!(slices.mean.as_ref().expect("a mean cost").value > 1.5);
        assert_eq!(metric.verdict.as_ref().expect("a verdict").word, Word::Slower);
    }
}
