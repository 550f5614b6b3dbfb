//! Workloads that a study holds together.

mod common;

use common::*;
use tare_analysis::{Shown, WorkloadEffect, analyze};
use tare_model::finding::Reason;
use tare_model::kernel::Kernel;
use tare_model::results::{Outcome, Record, Results};
use tare_model::study::Effect;

const NAME: &str = "Crowding";

/// Native and docker, pinned; `spawn` is the workload that shows the effect, `syscall` the other.
fn held(of: f64, against: f64, noise: f64) -> Results {
    let mut synthetic = Synthetic::new()
        .kernels(&[Kernel::Syscall, Kernel::Spawn])
        .blocks(12)
        .noise(noise)
        .block_noise(0.02)
        .cost("docker", Pinned, "spawn", of)
        .cost("docker", Pinned, "syscall", against);
    synthetic.study.effects.push(Effect {
        name: NAME.to_owned(),
        of: "spawn".to_owned(),
        against: "syscall".to_owned(),
    });
    synthetic.build()
}

fn only(results: &Results) -> WorkloadEffect {
    let found = analyze(results).workload_effects;
    let [effect] = &found.effects[..] else {
        panic!("one kind of box has a baseline: {found:?}");
    };
    assert_eq!(found.family, 1);
    effect.clone()
}

fn shown(of: f64, against: f64, noise: f64) -> Option<Shown> {
    only(&held(of, against, noise)).shown
}

#[test]
fn the_ratio_of_both_costs_is_the_one_that_was_put_in() {
    let effect = only(&held(1.2, 1.05, 0.001));
    let ratio = effect.ratio.expect("a ratio");
    assert!((ratio.value - 1.2 / 1.05).abs() < 0.002, "{ratio:?}");
    assert!(ratio.low < 1.2 / 1.05 && 1.2 / 1.05 < ratio.high, "{ratio:?}");
    let cost = |of: &tare_analysis::WorkloadCost| of.ratio.expect("a cost").value;
    assert!((cost(&effect.of) - 1.2).abs() < 0.002);
    assert!((cost(&effect.against) - 1.05).abs() < 0.002);
    assert_eq!(
        (effect.n, effect.lost, effect.shown),
        (12, 0, Some(Shown::Beyond))
    );
    // Both costs and their ratio are over the same blocks.
    assert!((cost(&effect.of) / cost(&effect.against) - ratio.value).abs() < 1e-9);
}

#[test]
fn it_is_shown_by_the_rows_of_every_other_verdict() {
    assert_eq!(shown(1.2, 1.2, 0.0005), Some(Shown::Within));
    assert_eq!(shown(1.0, 1.2, 0.0005), Some(Shown::Reversed));
    assert_eq!(shown(1.02, 1.0, 0.1), Some(Shown::Undecided));
}

#[test]
fn a_block_that_lacks_one_of_both_is_lost_and_too_many_forbid_a_verdict() {
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
    let effect = only(&results);
    assert_eq!((effect.n, effect.lost, effect.shown), (9, 3, None));
    let told = effect
        .refusals
        .iter()
        .map(tare_report::words::refusal::words)
        .collect::<Vec<_>>()
        .join("; ");
    assert!(
        told.contains("3 of 12 pairs lost") && told.contains("9 pairs"),
        "{told}"
    );
}

#[test]
fn a_study_that_holds_nothing_together_has_no_table() {
    let mut results = held(1.2, 1.0, 0.001);
    results.header.study.effects.clear();
    let analysis = analyze(&results);
    assert!(analysis.workload_effects.effects.is_empty());
    let text = whole(&analysis);
    assert!(!text.contains("their ratio") && !page(&analysis).contains("their ratio"));
}

#[test]
fn a_workload_that_the_file_lacks_is_no_row() {
    let mut results = held(1.2, 1.0, 0.001);
    results.header.study.effects[0].of = "no such".to_owned();
    assert!(analyze(&results).workload_effects.effects.is_empty());
}

#[test]
fn text_page_and_json_tell_the_same() {
    let analysis = analyze(&held(1.2, 1.0, 0.0005));
    let text = whole(&analysis);
    let place = tare_report::text::Where::default();
    let answer = tare_report::text::answer(&analysis, place, tare_report::text::TextOptions::default());
    let page = page(&analysis);
    for told in ["Crowding: spawn against syscall", "1.20"] {
        assert!(text.contains(told), "{told}\n{text}");
        assert!(page.contains(told), "{told}");
        assert!(answer.contains(told), "{told}\n{answer}");
    }
    let json: serde_json::Value = serde_json::from_str(&json(&analysis)).unwrap();
    let first = &json["workload_effects"]["effects"][0];
    assert_eq!(
        (&first["name"], &first["shown"], &first["of"]["workload"]),
        (&NAME.into(), &"beyond".into(), &"spawn".into())
    );
}
