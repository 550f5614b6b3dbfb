//! Figures of results whose truth is known.

use crate::common::*;
use tare_analysis::{Against, Family, Flag, IdleMemory, analyze};
use tare_model::finding::Reason;
use tare_model::kernel::Kernel;
use tare_model::results::{Outcome, Record, Results};

#[test]
fn with_hardly_any_noise_every_figure_is_the_truth() {
    let results = Synthetic::new().cost("docker", Pinned, "syscall", 1.19).build();
    let analysis = analyze(&results);
    let metric = headline(&analysis);
    let paired = metric.paired.as_ref().unwrap();
    assert_eq!((metric.n, metric.lost), (20, 0));
    for figure in [paired.ratio.value, paired.ratio.low, paired.ratio.high] {
        near(figure, 1.19);
    }
    near(metric.ratio_of_means.unwrap().value, 1.19);
    near(metric.loss.unwrap().value, 0.19);
    near(metric.op.unwrap().value, 0.19);
    assert!(metric.op.unwrap().worse && !metric.op.unwrap().ignored);
    assert_eq!(metric.flags, []);
}

#[test]
fn times_and_rates_agree_on_what_a_platform_costs() {
    let results = Synthetic::new()
        .kernels(&[Kernel::Syscall, Kernel::Linpack])
        .cost("docker", Pinned, "syscall", 1.25)
        .cost("docker", Pinned, "linpack", 1.25)
        .build();
    let analysis = analyze(&results);
    for workload in ["syscall", "linpack"] {
        let metric = compared(&analysis, "docker", workload).primary().unwrap();
        near(metric.paired.as_ref().unwrap().ratio.value, 1.25);
        near(metric.ratio_of_means.unwrap().value, 1.25);
    }
    // Loss is a share of the baseline's mean, so there they differ.
    let loss = |workload| {
        compared(&analysis, "docker", workload)
            .primary()
            .unwrap()
            .loss
            .unwrap()
            .value
    };
    near(loss("syscall"), 0.25);
    near(loss("linpack"), 0.2);
}

#[test]
fn pairing_removes_what_a_block_shares() {
    let analysis = analyze(
        &Synthetic::new()
            .cost("docker", Pinned, "syscall", 1.05)
            .block_noise(0.3)
            .noise(0.001)
            .build(),
    );
    let metric = headline(&analysis);
    let paired = metric.paired.as_ref().unwrap().ratio;
    assert!(paired.high - paired.low < 0.003, "{paired:?}");
    assert!(metric.pair_correlation.unwrap() > 0.99);
}

/// 300 studies at a true cost of 1.03; 95 % of 300 is 285, sd 3.8.
#[test]
fn the_interval_covers_the_truth_as_often_as_it_says() {
    let covers = |seed| {
        let synthetic = Synthetic::new()
            .seed(seed)
            .cost("docker", Pinned, "syscall", 1.03);
        let analysis = analyze(&synthetic.noise(0.02).block_noise(0.05).build());
        let ratio = headline(&analysis).paired.as_ref().unwrap().ratio;
        ratio.low <= 1.03 && 1.03 <= ratio.high
    };
    let covered = (0..300).filter(|seed| covers(*seed)).count();
    assert!((273..=297).contains(&covered), "{covered} of 300");
}

#[test]
fn figures_of_a_cell_are_those_of_its_trials() {
    let mut results = Synthetic::new().blocks(2).build();
    for trial in trials_of(&mut results, "docker", Pinned).filter(|t| t.block == 1) {
        scale(trial, 3.0);
    }
    let analysis = analyze(&results);
    let cell = analysis
        .cells
        .iter()
        .find(|c| c.cell.kind.platform.to_string() == "docker");
    let figures = &cell.unwrap().metrics[0];
    assert_eq!(figures.n, 2);
    near(figures.mean.unwrap(), 2e-3);
    near(figures.sd.unwrap(), 2e-3 / 2_f64.sqrt());
    near(figures.cv.unwrap(), 1.0 / 2_f64.sqrt());
    let interval = figures.interval.unwrap();
    // t = 12.706 with 1 degree of freedom; sd / sqrt(2) = 1e-3, half of the mean.
    near((interval.high / interval.value).ln(), 12.706_204_736 / 2.0);
}

#[test]
fn a_vanilla_cell_is_held_against_both_baselines_and_a_pinned_one_against_its_own() {
    let results = Synthetic::new()
        .provisioning(&[Vanilla, Pinned])
        .cost("native", Vanilla, "syscall", 1.5)
        .cost("docker", Vanilla, "syscall", 1.8)
        .cost("docker", Pinned, "syscall", 1.1)
        .build();
    let analysis = analyze(&results);
    let found: Vec<(String, Against, String)> = analysis
        .comparisons
        .iter()
        .map(|c| {
            let ratio = c.primary().unwrap().paired.as_ref().unwrap().ratio.value;
            (c.cell.kind.to_string(), c.against, format!("{ratio:.2}"))
        })
        .collect();
    let expected = [
        ("docker vanilla", Against::Native, "1.20"),
        ("docker pinned", Against::Native, "1.10"),
        ("native vanilla", Against::NativeSet, "1.50"),
        ("docker vanilla", Against::NativeSet, "1.80"),
    ];
    assert_eq!(
        found,
        expected.map(|(kind, against, ratio)| (kind.to_owned(), against, ratio.to_owned()))
    );
    assert_eq!(analysis.family, 2);
    let families = analysis.comparisons.iter().map(|c| c.family);
    assert_eq!(
        families.collect::<Vec<_>>(),
        [Family::Native, Family::Native, Family::Quota, Family::NativeSet]
    );
    let quota = analysis.comparisons.iter().filter(|c| c.is_price_of_quota());
    assert_eq!(quota.count(), 1);
}

#[test]
fn variability_overhead_is_over_all_trials_of_each_cell() {
    let mut results = Synthetic::new().noise(0.01).build();
    for trial in trials_of(&mut results, "docker", Pinned) {
        if let Outcome::Ok(success) = &mut trial.outcome {
            for value in success.samples.values_mut() {
                *value = 1e-3 + (*value - 1e-3) * 4.0;
            }
        }
    }
    let overhead = |results: &Results| headline(&analyze(results)).variability_overhead.unwrap();
    assert!(overhead(&results) > 1.0);
    for trial in trials_of(&mut results, "docker", Pinned) {
        if let Outcome::Ok(success) = &mut trial.outcome {
            success.samples.values_mut().for_each(|v| *v = 1e-3);
        }
    }
    near(overhead(&results), 0.0);
}

#[test]
fn slow_drift_of_a_ratio_is_flagged_and_widens_its_interval() {
    let mut results = Synthetic::new().build();
    for trial in trials_of(&mut results, "docker", Pinned) {
        let drift = 1.0 + f64::from(trial.block) * 0.001;
        scale(trial, drift);
    }
    let analysis = analyze(&results);
    let metric = headline(&analysis);
    assert!(matches!(metric.flags[..], [Flag::Autocorrelated { widening, .. }] if widening > 3.0));
    assert!(metric.paired.as_ref().unwrap().widening > 3.0);
}

#[test]
fn rare_stalls_are_flagged_as_skewed_and_with_a_tail() {
    let mut results = Synthetic::new().noise(0.001).build();
    for trial in trials_of(&mut results, "docker", Pinned).filter(|t| t.block == 7) {
        scale(trial, 10.0);
    }
    let analysis = analyze(&results);
    let names: Vec<_> = headline(&analysis).flags.iter().map(Flag::name).collect();
    assert_eq!(names, ["skewed", "tail"]);
}

#[test]
fn a_repetition_counts_where_the_first_attempt_has_no_result() {
    let mut results = Synthetic::new().build();
    let first = trials_of(&mut results, "docker", Pinned).next().unwrap();
    let mut repeated = first.clone();
    first.outcome = Outcome::Failed(failure(Reason::Timeout, "took 30 s"));
    repeated.attempt = 1;
    scale(&mut repeated, 2.0);
    results.records.push(repeated.into());
    let analysis = analyze(&results);
    let metric = headline(&analysis);
    assert_eq!((metric.n, metric.lost), (20, 0));
    near(metric.paired.as_ref().unwrap().mean_log, 2_f64.ln() / 20.0);
    let trials = &analysis.run.trials;
    assert_eq!((trials.failed, trials.repeated), (0, 1));
    assert_eq!((trials.ok, trials.attempts), (trials.all(), trials.all() + 1));
}

#[test]
fn trials_are_counted_once_and_their_attempts_beside() {
    let analysis = analyze(&repeated());
    let trials = &analysis.run.trials;
    let all = trials.all();
    assert_eq!((trials.ok, trials.failed, trials.repeated), (all - 2, 2, 4));
    let docker = analysis
        .cells
        .iter()
        .find(|c| c.cell.kind.platform.to_string() == "docker");
    let failures = &docker.unwrap().failures;
    let counted: Vec<_> = failures
        .iter()
        .map(|f| (f.reason.as_str(), f.trials, f.attempts))
        .collect();
    let [exit, timeout] = [Reason::ExitStatus, Reason::Timeout].map(|r| r.to_string());
    assert_eq!(counted, [(exit.as_str(), 2, 4), (timeout.as_str(), 0, 2)]);
    let lost: usize = failures.iter().map(|f| f.trials).sum();
    assert_eq!(lost, trials.failed);
}

/// Bytes read by one trial in many: the mean of what cannot be below 0 is not told to lie there.
#[test]
fn no_mean_of_a_cell_reaches_below_nought() {
    let mut results = Synthetic::new().build();
    for trial in trials_of(&mut results, "docker", Pinned).filter(|t| t.block > 0) {
        scale(trial, 0.0);
    }
    let analysis = analyze(&results);
    let docker = analysis
        .cells
        .iter()
        .find(|c| c.cell.kind.platform.to_string() == "docker");
    let latency = &docker.unwrap().metrics[0];
    let interval = latency.interval.unwrap();
    assert_eq!(Some(interval.value), latency.mean);
    assert!(
        0.0 < interval.low && interval.low < interval.value,
        "{interval:?}"
    );
    near(interval.high / interval.value, interval.value / interval.low);
}

#[test]
fn a_figure_of_nought_has_no_ratio_and_loses_its_pair() {
    let mut results = Synthetic::new().build();
    for trial in trials_of(&mut results, "docker", Pinned).filter(|t| t.block < 3) {
        scale(trial, 0.0);
    }
    let metric = headline(&analyze(&results)).clone();
    assert_eq!((metric.n, metric.lost), (17, 3));
}

#[test]
fn a_block_that_was_cut_short_loses_no_pair() {
    let mut results = Synthetic::new().build();
    results.records.retain(|r| match r {
        Record::Trial(t) => t.block < 19 || t.cell.kind.platform.to_string() == "native",
        _ => true,
    });
    let metric = headline(&analyze(&results)).clone();
    assert_eq!((metric.n, metric.lost), (19, 0));
}

#[test]
fn start_up_is_told_per_kind_of_box() {
    let analysis = analyze(&Synthetic::new().blocks(3).build());
    let startup = &analysis.boxes[0].startup;
    assert_eq!(startup.n, 3);
    near(startup.mean.unwrap(), 0.26);
    near(startup.min.unwrap(), 0.25);
    near(startup.median.unwrap(), 0.26);
    near(startup.sd.unwrap(), 0.01);
}

#[test]
fn memory_of_idle_boxes_is_a_median_and_absent_in_files_that_have_none() {
    let mut results = Synthetic::new().blocks(3).build();
    assert_eq!(analyze(&results).boxes[0].memory, IdleMemory::default());
    let mut read = 0;
    for record in &mut results.records {
        if let Record::Box(made) = record {
            read += 1;
            made.resident_bytes = Some(read << 20);
        }
    }
    let memory = &analyze(&results).boxes[0].memory;
    assert_eq!(memory.n, 3);
    assert!(
        memory.min < memory.median && memory.median < memory.max,
        "{memory:?}"
    );
}
