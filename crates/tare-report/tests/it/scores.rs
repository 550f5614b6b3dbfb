//! Scores as published studies define them.

use crate::common::*;
use tare_analysis::{Analysis, ScoreTable, analyze};
use tare_model::finding::Finding;

fn pinned(analysis: &Analysis) -> &ScoreTable {
    let of = |t: &&ScoreTable| t.name() == "pinned";
    analysis.scores.iter().find(of).expect("scores")
}

fn score(table: &ScoreTable, axis: &str, platform: &str) -> Option<f64> {
    let axis = table.axes.iter().find(|a| a.name() == axis).expect("an axis");
    let of = |s: &&tare_analysis::Score| s.platform.to_string() == platform;
    axis.scores.iter().find(of).expect("a platform").score
}

#[test]
fn the_best_platform_has_1_for_rates_and_for_times() {
    let results = Synthetic::new()
        .kernels(&tare_model::kernel::Kernel::ALL)
        .cost("docker", Pinned, "stream", 1.25)
        .cost("docker", Pinned, "syscall", 0.5)
        .build();
    let analysis = analyze(&results);
    let table = pinned(&analysis);
    near(score(table, "stream triad", "native").expect("a score"), 1.0);
    near(score(table, "stream triad", "docker").expect("a score"), 0.8);
    near(score(table, "syscall latency", "native").expect("a score"), 0.5);
    near(score(table, "syscall latency", "docker").expect("a score"), 1.0);
}

#[test]
fn what_did_less_of_the_work_is_not_the_best() {
    let scores = |cost: f64| {
        let mut results = Synthetic::new()
            .kernels(&tare_model::kernel::Kernel::ALL)
            .cost("docker", Pinned, "stream", cost)
            .build();
        for trial in trials_of(&mut results, "docker", Pinned) {
            trial.findings.push(Finding::PartialWork { share: 0.2 });
        }
        let analysis = analyze(&results);
        ["native", "docker"].map(|platform| score(pinned(&analysis), "stream triad", platform))
    };
    assert_eq!(scores(0.5), [Some(1.0), None]);
    near(scores(1.25)[1].expect("a score"), 0.8);
}

#[test]
fn a_missing_score_is_a_dash_and_a_gap() {
    let mut results = default_study().build();
    for trial in trials_of(&mut results, "lxc", Pinned).filter(|t| t.cell.workload == "spawn") {
        trial.outcome =
            tare_model::results::Outcome::Failed(failure(tare_model::finding::Reason::Killed, "x"));
    }
    let analysis = analyze(&results);
    assert_eq!(score(pinned(&analysis), "spawn latency", "lxc"), None);
    let text = whole(&analysis);
    let of = text
        .split("pinned spawn latency\n")
        .nth(1)
        .expect("the scores of spawn");
    assert!(
        of.lines().any(|line| line.split_whitespace().eq(["lxc", "—"])),
        "{text}"
    );
    // Seven metrics of four platforms, pinned and vanilla, and one gap.
    assert_eq!(page(&analysis).matches("<g class=\"cell score-").count(), 55);
}

#[test]
fn one_platform_has_no_scores_and_more_have_a_picture() {
    let alone = analyze(&Synthetic::new().platforms(&["native"]).build());
    assert!(alone.scores.is_empty());
    let few = analyze(&Synthetic::new().build());
    assert_eq!(few.scores.len(), 1);
    assert!(page(&few).contains("Standardised scores, pinned"));
    assert!(page(&analyze(&default_study().build())).contains("Standardised scores, pinned"));
}

#[test]
fn every_score_says_whose_it_is() {
    let analysis = analyze(&Synthetic::new().build());
    let text = whole(&analysis);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("no metric of tare counts rounds"), "{text}");
    for study in ["li2018", "ghatrehsamani2020"] {
        assert!(tare_published::DEFINITIONS.iter().any(|d| d.defined_by == study));
    }
}
