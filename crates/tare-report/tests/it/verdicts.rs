//! The decision table, from results to verdict.

use crate::common::*;
use insta::assert_snapshot;
use tare_analysis::{Family, Refusal, Word, analyze};
use tare_model::finding::{Finding, Reason};
use tare_model::results::{Outcome, Record, Results};
use tare_model::study::Fresh;

fn of_cost(cost: f64, noise: f64) -> Results {
    Synthetic::new()
        .cost("docker", Pinned, "syscall", cost)
        .noise(noise)
        .build()
}

/// The words of the headline's verdict, which must be of this row.
#[track_caller]
fn decided(results: &Results, row: u8, word: Word) -> String {
    let verdict = verdict(results);
    let words = phrase(&verdict);
    assert_eq!((verdict.row, verdict.word), (row, word), "{words}");
    let is_beyond = words.starts_with("by more than the margin");
    assert_eq!(verdict.beyond_margin, is_beyond, "{words}");
    words
}

#[test]
fn cells_that_cost_alike_are_equal() {
    assert_snapshot!(decided(&of_cost(1.0, 0.005), 1, Word::Equal), @"within 1 %");
}

#[test]
fn a_difference_within_the_margin_is_equal_and_says_its_sign() {
    assert_snapshot!(decided(&of_cost(1.004, 0.001), 1, Word::Equal), @"measurably 0.4 % slower, within the margin of 1 %");
    assert_snapshot!(decided(&of_cost(0.996, 0.001), 1, Word::Equal), @"measurably 0.4 % faster, within the margin of 1 %");
}

#[test]
fn a_cost_beyond_the_margin_is_slower() {
    assert_snapshot!(decided(&of_cost(1.19, 0.01), 2, Word::Slower), @"by more than the margin");
}

#[test]
fn a_cost_around_the_margin_is_slower_perhaps_by_less() {
    assert_snapshot!(decided(&of_cost(1.0105, 0.004), 3, Word::Slower), @"possibly by less than the margin");
}

#[test]
fn a_gain_is_faster() {
    assert_snapshot!(decided(&of_cost(0.8, 0.01), 4, Word::Faster), @"by more than the margin");
    assert_snapshot!(decided(&of_cost(0.988, 0.004), 4, Word::Faster), @"possibly by less than the margin");
}

#[test]
fn noise_is_inconclusive_and_says_what_it_takes() {
    let results = of_cost(1.0, 0.02);
    assert_snapshot!(decided(&results, 5, Word::Inconclusive), @"not slower by more than 1.6 %, not faster by more than 1.2 %; about 93 more blocks needed");
    assert!(verdict(&results).more_blocks.unwrap() > 10);
    let results = of_cost(1.0, 0.05);
    assert_snapshot!(decided(&results, 5, Word::Inconclusive), @"not slower by more than 4.0 %, not faster by more than 2.9 %; more blocks will not settle it here; try a quieter host, longer trials or a wider margin");
    assert!(verdict(&results).more_blocks.unwrap() > 300);
}

#[test]
fn equality_with_hardly_any_noise_is_equal() {
    assert_snapshot!(decided(&of_cost(1.0, 1e-7), 1, Word::Equal), @"within 1 %");
    assert_snapshot!(decided(&of_cost(1.19, 1e-7), 2, Word::Slower), @"by more than the margin");
}

#[test]
fn a_difference_among_many_tests_must_pass_holm() {
    let alone = Synthetic::new()
        .seed(3)
        .noise(0.02)
        .cost("docker", Pinned, "syscall", 1.02);
    let alone = analyze(&alone.build());
    let paired = headline(&alone).paired.clone().unwrap();
    assert_eq!(paired.p, paired.p_holm);
    let many = default_study().build();
    let many = analyze(&many);
    let families = many.families.iter().map(|f| (f.family, f.tests));
    assert_eq!(
        families.collect::<Vec<_>>(),
        [(Family::Native, 24), (Family::NativeSet, 12), (Family::Quota, 4)]
    );
    assert_eq!(many.family, 24);
    for metric in many.comparisons.iter().filter_map(|c| c.primary()) {
        let paired = metric.paired.as_ref().unwrap();
        assert!(paired.p_holm >= paired.p);
    }
}

/// `docker` and so many platforms that cost as much as the baseline.
fn beside_others(others: &[&'static str]) -> Results {
    let platforms: Vec<&str> = ["native", "docker"].iter().chain(others).copied().collect();
    let synthetic = Synthetic::new().platforms(&platforms).seed(3).noise(0.01);
    synthetic.cost("docker", Pinned, "syscall", 1.02).build()
}

#[test]
fn emulated_platforms_are_a_family_of_their_own() {
    let mut results = beside_others(&["lxc", "vm", "vm?machine=pc"]);
    for (platform, version) in &mut results.header.platforms {
        if platform.to_string().starts_with("vm") {
            version.details.insert("accelerator".to_owned(), "tcg".to_owned());
        }
    }
    let analysis = analyze(&results);
    let sizes = analysis.families.iter().map(|f| (f.family, f.tests));
    assert_eq!(
        sizes.collect::<Vec<_>>(),
        [(Family::Native, 2), (Family::Emulated, 2)]
    );
    let paired = headline(&analysis).paired.as_ref().unwrap();
    assert!(paired.p_holm.unwrap() <= 2.0 * paired.p.unwrap(), "{paired:?}");
    let text = whole(&analysis);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("2 against the baseline limited alike, 2 of emulated platforms"),
        "{text}"
    );
}

#[test]
fn what_gets_no_verdict_whatever_its_figures_are_makes_others_no_harder_to_decide() {
    let mut results = beside_others(&["lxc", "runc", "podman"]);
    assert_eq!(analyze(&results).family, 4);
    for platform in ["lxc", "runc", "podman"] {
        proof_of(&mut results, platform).proven = false;
    }
    let analysis = analyze(&results);
    let paired = headline(&analysis).paired.as_ref().unwrap();
    assert_eq!((analysis.family, paired.p_holm), (1, paired.p));
    let lxc = compared(&analysis, "lxc", "syscall").primary().unwrap();
    assert_eq!(lxc.paired.as_ref().unwrap().p_holm, None);
    // Figures that are all the same are a reason of their own: leaving them out would be a choice.
    for platform in ["lxc", "runc", "podman"] {
        proof_of(&mut results, platform).proven = true;
        for trial in trials_of(&mut results, platform, Pinned) {
            if let Outcome::Ok(success) = &mut trial.outcome {
                success.samples.values_mut().for_each(|v| *v = 1e-3);
            }
        }
    }
    assert_eq!(analyze(&results).family, 4);
}

#[test]
fn only_primary_metrics_carry_a_verdict() {
    let analysis = analyze(&default_study().build());
    for metric in analysis.comparisons.iter().flat_map(|c| &c.metrics) {
        assert_eq!(metric.verdict.is_some(), metric.metric.primary);
    }
}

#[test]
fn a_tenth_of_the_pairs_may_be_lost_and_no_more() {
    let mut results = of_cost(1.19, 0.01);
    fail(&mut results, "docker", 2, Reason::Timeout);
    assert_snapshot!(decided(&results, 2, Word::Slower), @"by more than the margin");
    fail(&mut results, "native", 3, Reason::Timeout);
    assert_snapshot!(decided(&results, 0, Word::None), @"3 of 20 pairs lost, as trials failed or have no figure: over 1 in 10, that is rarely by chance");
}

#[test]
fn fewer_than_ten_pairs_carry_no_verdict() {
    let of_blocks = |n| Synthetic::new().blocks(n).noise(0.001).build();
    assert_snapshot!(decided(&of_blocks(9), 0, Word::None), @"only 9 pairs; 10 are needed");
    assert_snapshot!(decided(&of_blocks(10), 1, Word::Equal), @"within 1 %");
}

#[test]
fn one_wrong_answer_forbids_a_verdict_even_if_its_repetition_was_right() {
    let mut results = of_cost(1.19, 0.01);
    let repeated = trials_of(&mut results, "docker", Pinned).next().unwrap();
    let mut wrong = repeated.clone();
    repeated.attempt = 1;
    wrong.outcome = Outcome::Failed(failure(Reason::WrongAnswer, "residual 3e7"));
    results.records.insert(5, wrong.into());
    assert_snapshot!(decided(&results, 0, Word::None), @"wrong answer in 1 trial of docker pinned syscall");
}

#[test]
fn a_workload_that_cannot_run_says_why() {
    let mut results = of_cost(1.0, 0.01);
    for trial in trials_of(&mut results, "docker", Pinned) {
        trial.outcome = Outcome::Skipped(failure(Reason::CannotRun, "no such file"));
    }
    assert_snapshot!(decided(&results, 0, Word::None), @"docker pinned syscall cannot run here: no such file");
    results
        .records
        .retain(|r| !matches!(r, Record::Proof(p) if p.kind.platform.to_string() == "docker"));
    assert_eq!(verdict(&results).reasons(), "cannot run here");
    assert_eq!(analyze(&results).run.trials.skipped, 20);
}

#[test]
fn a_workload_that_only_the_baseline_cannot_run_is_not_told_as_one_that_the_cell_cannot() {
    let mut results = of_cost(1.0, 0.01);
    for trial in trials_of(&mut results, "native", Pinned) {
        trial.outcome = Outcome::Skipped(failure(Reason::CannotRun, "no such file"));
    }
    assert_snapshot!(decided(&results, 0, Word::None), @"its baseline, native pinned syscall, cannot run here, so there is nothing to compare it with: no such file");
    assert_eq!(verdict(&results).reasons(), "baseline cannot run here");
    let phrase = phrase(&verdict(&results));
    assert!(!phrase.contains("docker"), "{phrase}");
    for trial in trials_of(&mut results, "docker", Pinned) {
        trial.outcome = Outcome::Skipped(failure(Reason::CannotRun, "no such file"));
    }
    let both = verdict(&results).reasons();
    assert_eq!(both, "cannot run here, baseline cannot run here");
}

#[test]
fn limits_that_are_not_proven_forbid_a_verdict_and_show_their_readings() {
    let mut results = of_cost(1.19, 0.01);
    let proof = proof_of(&mut results, "docker");
    proof.proven = false;
    proof.host_cores = Some(2.31);
    proof.remarks = vec!["2 CPUs granted, 2.31 used".to_owned()];
    assert_snapshot!(decided(&results, 0, Word::None), @"limits not proven for docker pinned: CPUs: 2.00 granted, 2.31 used by the host's counters, 2.00 by the box's clocks; memory: 2048 MiB granted, 2028 MiB touched, 2048 MiB refused");
    assert!(
        analyze(&results)
            .notices
            .iter()
            .any(|n| n.name() == "limits-not-proven")
    );
}

#[test]
fn limits_that_are_not_proven_of_several_kinds_are_named_once_among_the_rest() {
    let mut results = of_cost(1.19, 0.01);
    for record in &mut results.records {
        if let Record::Proof(proof) = record {
            proof.proven = false;
        }
    }
    let analysis = analyze(&results);
    let told = analysis
        .notices
        .iter()
        .filter(|n| n.name() == "limits-not-proven");
    assert!(told.count() > 1);
    let answer = tare_report::text::answer(&analysis, Default::default(), Default::default());
    assert!(answer.matches("limits-not-proven").count() <= 1, "{answer}");
}

#[test]
fn the_baseline_s_limits_must_be_proven_too_and_the_latest_proof_counts() {
    let mut results = of_cost(1.19, 0.01);
    let mut refused = proof_of(&mut results, "native").clone();
    let proven = refused.clone();
    refused.proven = false;
    results.records.push(Record::Proof(refused));
    assert_snapshot!(decided(&results, 0, Word::None), @"limits not proven for native pinned: CPUs: 2.00 granted, 2.00 used by the host's counters, 2.00 by the box's clocks; memory: 2048 MiB granted, 2028 MiB touched, 2048 MiB refused");
    results.records.push(Record::Proof(proven));
    assert_snapshot!(decided(&results, 2, Word::Slower), @"by more than the margin");
    results.records.retain(|r| !matches!(r, Record::Proof(_)));
    assert_snapshot!(decided(&results, 0, Word::None), @"limits not proven for native pinned: no proof in the file; limits not proven for docker pinned: no proof in the file");
}

#[test]
fn a_run_that_stopped_before_a_box_says_so_and_says_it_once() {
    let mut results = of_cost(1.0, 0.0);
    results.records.truncate(1);
    let refusals = verdict(&results).refusals;
    let phrases: Vec<String> = refusals.iter().map(tare_report::words::refusal::words).collect();
    assert_eq!(
        phrases,
        [
            "the run stopped before the limits of native pinned and docker pinned were proven",
            "no pair; 10 are needed"
        ]
    );
    assert_eq!(verdict(&results).reasons(), "run stopped, too few pairs");
    let notices: Vec<_> = analyze(&results).notices.iter().map(|n| n.name()).collect();
    assert_eq!(notices, ["incomplete", "not-reached"]);
}

#[test]
fn what_holds_for_a_cell_and_its_baseline_is_told_once_in_short() {
    let mut results = of_cost(1.19, 0.01);
    for platform in ["native", "docker"] {
        proof_of(&mut results, platform).proven = false;
    }
    assert_eq!(verdict(&results).reasons(), "limits not proven");
}

#[test]
fn a_trial_short_for_its_quota_is_unfit_beside_one_without_quota() {
    let mut results = Synthetic::new()
        .provisioning(&[Vanilla, Pinned])
        .noise(0.001)
        .build();
    find(
        &mut results,
        "docker",
        Vanilla,
        1,
        &Finding::ShortForQuota { periods: 5 },
    );
    let rows: Vec<(String, u8)> = analyze(&results)
        .comparisons
        .iter()
        .map(|c| {
            let verdict = c.primary().unwrap().verdict.as_ref().unwrap();
            (format!("{} {:?}", c.cell.kind, c.against), verdict.row)
        })
        .collect();
    let expected = [
        ("docker vanilla Native", 1),
        ("docker pinned Native", 1),
        ("native vanilla NativeSet", 1),
        ("docker vanilla NativeSet", 0),
    ];
    assert_eq!(rows, expected.map(|(name, row)| (name.to_owned(), row)));
}

/// The row and the phrase where native and docker did such shares of the work.
fn judged(cost: f64, native: f64, docker: f64) -> (u8, String) {
    let mut results = of_cost(cost, 0.01);
    for (platform, share) in [("native", native), ("docker", docker)] {
        if share < 1.0 {
            find(
                &mut results,
                platform,
                Pinned,
                u32::MAX,
                &Finding::PartialWork { share },
            );
        }
    }
    let verdict = verdict(&results);
    (verdict.row, phrase(&verdict))
}

#[test]
fn a_part_of_the_work_is_never_called_better_than_the_whole() {
    assert_eq!(judged(1.19, 1.0, 0.2).0, 2);
    assert_eq!(judged(0.81, 0.2, 1.0).0, 4);
    for (cost, native, docker) in [
        (0.81, 1.0, 0.2),
        (1.0, 1.0, 0.2),
        (1.19, 0.2, 1.0),
        (1.0, 0.2, 1.0),
    ] {
        let (row, phrase) = judged(cost, native, docker);
        assert_eq!(row, 0, "{native} and {docker} at {cost}");
        assert!(phrase.contains("partial-work in 20 trials"), "{phrase}");
    }
}

/// What is slower does less in the same time, which makes it look rather better.
#[test]
fn of_two_that_did_a_part_each_the_one_that_did_more_is_judged() {
    assert_eq!(judged(1.19, 0.31, 0.27).0, 2);
    assert_eq!(judged(1.19, 0.27, 0.31).0, 0);
    assert_eq!(judged(0.81, 0.27, 0.31).0, 4);
    assert_eq!(judged(0.81, 0.31, 0.27).0, 0);
    assert_eq!(judged(1.0, 0.3, 0.31).0, judged(1.0, 1.0, 1.0).0);
    assert_eq!(judged(1.0, 0.3, 0.4).0, 0);
}

#[test]
fn a_clock_that_drifts_forbids_a_verdict() {
    let mut results = of_cost(1.19, 0.01);
    find(
        &mut results,
        "docker",
        Pinned,
        1,
        &Finding::ClockDrift { ratio: 0.8 },
    );
    assert_snapshot!(decided(&results, 0, Word::None), @"clock-drift in 1 trial: unfit for this comparison");
}

#[test]
fn findings_that_do_not_disqualify_are_counted_beside_the_figure() {
    let mut results = of_cost(1.19, 0.01);
    find(
        &mut results,
        "docker",
        Pinned,
        3,
        &Finding::HostBusy { load: 0.1 },
    );
    let analysis = analyze(&results);
    let cell = analysis.cells.iter().find(|c| !c.findings.is_empty()).unwrap();
    assert_eq!(
        (cell.findings[0].finding, cell.findings[0].trials),
        ("host-busy", 3)
    );
    assert_eq!(analysis.findings[0].times, 3);
    assert_snapshot!(decided(&results, 2, Word::Slower), @"by more than the margin");
}

#[test]
fn boxes_kept_for_the_study_carry_no_verdict() {
    let mut results = of_cost(1.19, 0.01);
    results.header.study.protocol.fresh = Fresh::Study;
    assert_eq!(verdict(&results).refusals, [Refusal::KeptBoxes]);
}

/// As [`of_cost`] of 1, where docker's trials of some blocks cost `cost` and the host disturbed them.
fn disturbed_in(blocks: &[u32], cost: f64) -> Results {
    let mut results = of_cost(1.0, 0.001);
    for record in &mut results.records {
        let Record::Trial(trial) = record else { continue };
        if trial.cell.kind.platform.to_string() != "docker" || !blocks.contains(&trial.block) {
            continue;
        }
        trial.findings.push(Finding::Disturbed { load: 0.3 });
        if let Outcome::Ok(success) = &mut trial.outcome {
            success.samples.values_mut().for_each(|sample| *sample *= cost);
        }
    }
    results
}

#[test]
fn whether_verdicts_stay_without_disturbed_trials_is_told() {
    let told = |results: &Results| with(&whole_in(&analyze(results), unwrapped()), &["the host disturbed"]);
    assert_eq!(told(&of_cost(1.0, 0.001)), "");
    let all: Vec<u32> = (0..20).collect();
    let every_other: Vec<u32> = (0..20).step_by(2).collect();
    let some = [(&all[..3], 1.0), (&every_other[..], 1.2), (&all[..], 1.2)];
    let told = some.map(|(blocks, cost)| told(&disturbed_in(blocks, cost)));
    assert_snapshot!(told.join("\n"), @r"
    - other work on the host disturbed 3 of 40 trials, which are counted; leaving them out changes no verdict
    - other work on the host disturbed 10 of 40 trials, which are counted; without them 0 of 1 verdict stay the same; docker pinned syscall is equal instead of slower
    - other work on the host disturbed 20 of 40 trials, which are counted; too few others are left to check any verdict
    ");
}
