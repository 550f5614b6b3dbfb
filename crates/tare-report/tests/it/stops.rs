//! Why cells of an adaptive study stopped.

use crate::common::*;
use tare_analysis::{Comparison, analyze};
use tare_model::kernel::Kernel;
use tare_model::looks::{LookFigures, LookJudgement, LookRecord, LookedAt, WarmUpRecord};
use tare_model::results::{EndReason, Record, Results};
use tare_model::study::{Against, Cell, Stopping};

/// `native` and `docker` both ways, 20 blocks: `docker` is settled at the first
/// look, the price of the quota at the first too, and nothing else.
fn results() -> Results {
    let mut synthetic = Synthetic::new()
        .provisioning(&[Vanilla, Pinned])
        .kernels(&[Kernel::Syscall])
        .blocks(20)
        .noise(0.004)
        .cost("docker", Vanilla, "syscall", 1.3);
    synthetic.study.protocol.stopping = Stopping::Adaptive {
        half_width: 0.005,
        precise: false,
    };
    let mut results = synthetic.build();
    let cells = results.header.study.cells();
    let look = |blocks: u32, open: &[(usize, Against, LookJudgement)], settled: &[usize]| {
        let at = |&(cell, against, judgement): &(usize, Against, LookJudgement)| LookedAt {
            cell: cells[cell].clone(),
            against,
            n: blocks,
            lost: 0,
            figures: Some(LookFigures {
                mean: 0.1,
                interval: [0.09, 0.11],
                precise: [0.08, 0.12],
                autocorrelated: false,
                skewed: false,
            }),
            judgement,
        };
        Record::Look(LookRecord {
            blocks,
            comparisons: open.iter().map(at).collect(),
            settled: settled.iter().map(|i| cells[*i].clone()).collect(),
        })
    };
    use {Against::*, LookJudgement::*};
    // Cells in order: native vanilla, native pinned, docker vanilla, docker pinned.
    let first = [
        (0, NativeSet, Narrow),
        (2, Native, Beyond),
        (2, NativeSet, Beyond),
        (3, Native, TooWide),
    ];
    let second = [(3, Native, Skewed)];
    results.records.insert(1, look(10, &first, &[0, 2]));
    results.records.insert(2, look(15, &second, &[]));
    results.records.insert(
        1,
        Record::WarmUp(WarmUpRecord {
            seconds: 60.0,
            trials: 12,
            failed: 1,
        }),
    );
    if let Some(Record::End(end)) = results.records.last_mut() {
        end.reason = EndReason::BudgetSpent;
    }
    results
}

fn pairs_of(comparisons: &[Comparison], cell: &Cell) -> Vec<usize> {
    let own = comparisons.iter().filter(|c| c.cell == *cell);
    own.filter_map(|c| c.primary().map(|m| m.n)).collect()
}

#[test]
fn what_a_settled_cell_measured_as_a_baseline_is_not_for_its_own_comparisons() {
    let results = results();
    let cells = results.header.study.cells();
    let comparisons = analyze(&results).comparisons;
    assert_eq!(pairs_of(&comparisons, &cells[0]), [10], "the price of the quota");
    assert_eq!(pairs_of(&comparisons, &cells[2]), [10, 10]);
    assert_eq!(pairs_of(&comparisons, &cells[3]), [20]);
}

#[test]
fn every_form_tells_why_each_cell_stopped() {
    let analysis = analyze(&results());
    let text = whole(&analysis);
    let page = page(&analysis);
    for words in [
        "looks after 10, 15 blocks",
        "docker vanilla against native-set",
        "surely beyond the margin",
        "open: delayed: skewed, under 30 pairs",
        "+-1.01 %",
        "12 trials in 1 min 00 s, not recorded, 1 more failed",
    ] {
        let found = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(found.contains(words), "'{words}' is not in:\n{text}");
        let page = page.replace('\u{a0}', " ");
        assert!(page.contains(words), "'{words}' is not in the page");
    }
    let json: serde_json::Value = serde_json::from_str(&json(&analysis)).expect("JSON");
    assert_eq!(json["stops"]["taken"], serde_json::json!([10, 15]));
    let stops = json["stops"]["comparisons"].as_array().expect("a list");
    let last = stops
        .iter()
        .find(|s| s["platform"] == "docker" && s["provisioning"] == "pinned");
    let last = last.expect("a comparison");
    assert_eq!(
        (&last["judgement"], &last["blocks"]),
        (&"skewed".into(), &15.into())
    );
    assert_eq!(last["settled"], false);
}

#[test]
fn a_study_of_fixed_blocks_has_no_looks_whatever_its_file_says() {
    let mut results = results();
    results.header.study.protocol.stopping = Stopping::Fixed;
    let cells = results.header.study.cells();
    let analysis = analyze(&results);
    assert!(analysis.stops.is_none());
    assert_eq!(pairs_of(&analysis.comparisons, &cells[0]), [20]);
    assert!(!whole(&analysis).contains("Why each cell stopped"));
}
