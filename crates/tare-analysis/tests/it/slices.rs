//! Trials that ran in slices, in rounds with their baseline.

use crate::common::*;
use tare_analysis::{Flag, MetricComparison, SliceFigures, Word, analyze};
use tare_model::finding::Reason;
use tare_model::kernel::Kernel;
use tare_model::results::{HostReadings, Outcome, Record, Results};
use tare_model::size::Cpus;

fn slices(metric: &MetricComparison) -> &SliceFigures {
    metric.slices.as_ref().expect("slices")
}

fn ratio(metric: &MetricComparison) -> f64 {
    metric.paired.as_ref().expect("a ratio").ratio.value
}

fn word(metric: &MetricComparison) -> Word {
    metric.verdict.as_ref().expect("a verdict").word
}

#[track_caller]
fn about(found: f64, expected: f64, bound: f64) {
    assert!((found - expected).abs() < bound, "{found} is not {expected}");
}

#[test]
fn the_typical_cost_is_the_headline_and_free_of_what_a_round_shares() {
    let analysis = analyze(&sliced(|_| 1.05));
    let metric = headline(&analysis);
    let paired = metric.paired.as_ref().expect("a ratio");
    assert_eq!((metric.n, metric.lost), (20, 0));
    about(paired.ratio.value, 1.05, 0.002);
    assert!(paired.ratio.low < 1.05 && 1.05 < paired.ratio.high);
    assert!(paired.ratio.high - paired.ratio.low < 0.002, "{paired:?}");
    assert_eq!(word(metric), Word::Slower);
    let slices = slices(metric);
    assert_eq!((slices.blocks, slices.rounds), (20, 1000));
    assert_eq!(slices.typical.expect("a cost").value, paired.ratio.value);
    about(slices.mean.expect("a cost").value, 1.05, 0.005);
    about(slices.stall.expect("a share").value, 0.0, 0.001);
    assert!(!metric.flags.iter().any(Flag::is_tail));
}

/// The cell's first process costs what the baseline does, its second a tenth more; a slice
/// of the first stalls in every block, so that the second has more of the middle rounds.
#[test]
fn the_typical_cost_is_that_of_both_processes() {
    let cost = |slot: &Slot| match slot.round {
        10 => 5.0,
        round => [1.0, 1.1][round as usize % 2],
    };
    let mut results = sliced(cost);
    about(ratio(headline(&analyze(&results))), 1.1, 0.02);
    members(&mut results, "docker").for_each(|m| m.processes = 2);
    let analysis = analyze(&results);
    about(ratio(headline(&analysis)), 1.1_f64.sqrt(), 0.002);
}

#[test]
fn times_and_rates_agree_on_the_typical_cost() {
    let mut results = Synthetic::new()
        .kernels(&[Kernel::Syscall, Kernel::Linpack])
        .build();
    slice(
        &mut results,
        10,
        |slot| if slot.is("docker") { 1.25 } else { 1.0 },
    );
    let analysis = analyze(&results);
    for workload in ["syscall", "linpack"] {
        let metric = compared(&analysis, "docker", workload).primary().expect("one");
        near(ratio(metric), 1.25);
        near(slices(metric).mean.expect("a cost").value, 1.25);
        near(metric.ratio_of_means.expect("a ratio").value, 1.25);
    }
}

#[test]
fn stalls_are_in_the_mean_and_raise_the_tail() {
    let analysis = analyze(&sliced(|slot| if slot.round % 10 == 3 { 11.0 } else { 1.0 }));
    let metric = headline(&analysis);
    about(ratio(metric), 1.0, 0.005);
    assert_eq!(word(metric), Word::Equal);
    let slices = slices(metric);
    about(slices.mean.expect("a cost").value, 2.0, 0.1);
    about(slices.stall.expect("a share").value, 11.0 / 20.0, 0.05);
    assert!(
        metric
            .flags
            .iter()
            .any(|f| matches!(f, Flag::TailOfSlices { .. }))
    );
}

#[test]
fn the_cpu_cost_of_work_bound_by_the_cpu_has_a_verdict_in_its_own_family() {
    let analysis = analyze(&sliced(|_| 1.05));
    let cpu = slices(headline(&analysis)).cpu.as_ref().expect("a CPU cost");
    about(cpu.cost.ratio.value, 1.05, 0.005);
    about(cpu.cpu_shares[0], CPU_SHARE, 0.001);
    assert_eq!((analysis.family, analysis.cpu_family), (1, 1));
    assert_eq!(cpu.verdict.as_ref().expect("a verdict").word, Word::Slower);
    assert_eq!(cpu.cost.p, cpu.cost.p_holm);
}

#[test]
fn a_cpu_cost_without_the_cpu_s_bound_is_told_without_verdict() {
    let mut results = sliced(|_| 1.05);
    for member in members(&mut results, "docker") {
        let series = member.parts.get_mut("latency").expect("a part");
        series.cpu_ns.iter_mut().for_each(|ns| *ns /= 2);
    }
    let analysis = analyze(&results);
    let cpu = slices(headline(&analysis)).cpu.as_ref().expect("a CPU cost");
    assert!(!cpu.bound && cpu.verdict.is_none() && cpu.cost.p_holm.is_none());
    assert_eq!(analysis.cpu_family, 0);
}

/// Something else has two fifths of the CPU: the typical cost of a true 2 % may show 1.2 %.
#[test]
fn where_others_use_the_cpu_the_interval_reaches_to_what_may_be_hidden() {
    let uncontended = analyze(&sliced(|_| 1.012));
    let mut results = sliced(|_| 1.012);
    for platform in ["native", "docker"] {
        for member in members(&mut results, platform) {
            let series = member.parts.get_mut("latency").expect("a part");
            series.cpu_ns.iter_mut().for_each(|ns| *ns = *ns * 3 / 5);
        }
    }
    let analysis = analyze(&results);
    let (plain, metric) = (headline(&uncontended), headline(&analysis));
    let ends = |metric: &MetricComparison| {
        let ratio = metric.paired.as_ref().expect("a ratio").ratio;
        (ratio.value.ln(), ratio.low.ln(), ratio.high.ln())
    };
    let times = 1.0 / (CPU_SHARE * 0.6);
    let reach = |end: f64| (times * end.exp_m1()).ln_1p();
    let ((value, low, high), found) = (ends(plain), ends(metric));
    about(found.0, value, 1e-12);
    about(found.1, low, 1e-12);
    about(found.2, reach(high), 1e-4);
    assert!(ends(metric).2 > 0.02_f64.ln_1p());
    assert_eq!((word(plain), word(metric)), (Word::Slower, Word::Slower));
    let cpu = slices(metric).cpu.as_ref().expect("a CPU cost");
    assert!(cpu.bound && cpu.verdict.is_some(), "it never waits by itself");
}

#[test]
fn without_cpu_time_there_is_no_cpu_cost() {
    let mut results = sliced(|_| 1.05);
    let member = members(&mut results, "native").nth(7).expect("a member");
    let series = member.parts.get_mut("latency").expect("a part");
    series.cpu_ns.iter_mut().for_each(|ns| *ns = 0);
    assert!(slices(headline(&analyze(&results))).cpu.is_none());
}

/// The trial of `docker` in block 3 failed and was repeated when everything cost three
/// times as much, beside `native` in a group of its own.
#[test]
fn a_repeated_trial_is_paired_with_the_baseline_of_its_own_group() {
    let mut results = sliced(|_| 1.05);
    let index = results.records.iter().position(
        |r| matches!(r, Record::Trial(t) if t.block == 3 && t.cell.kind.platform.to_string() == "docker"),
    );
    let index = index.expect("a trial");
    let Record::Trial(failed) = &mut results.records[index] else {
        panic!("a trial")
    };
    let mut repeated = failed.clone();
    failed.outcome = Outcome::Failed(failure(Reason::Timeout, "late"));
    repeated.attempt = 1;
    let native = results
        .trials()
        .find(|t| t.cell.kind.platform.to_string() == "native")
        .expect("a baseline");
    let cells = [native.cell.clone(), repeated.cell.clone()];
    let mut cost = |slot: &Slot| if slot.is("docker") { 3.0 * 1.05 } else { 3.0 };
    let group = group(100, 3, &cells, 50, &mut Random::seeded(1), &mut cost);
    set_group(&mut repeated, &group);
    results
        .records
        .splice(index + 1..=index, [Record::Group(group), Record::Trial(repeated)]);
    name_metrics(&mut results);
    let analysis = analyze(&results);
    let metric = headline(&analysis);
    assert_eq!((metric.n, metric.lost), (20, 0));
    about(ratio(metric), 1.05, 0.002);
    near(slices(metric).by_block[3].typical, 1.05_f64.ln());
}

#[test]
fn a_baseline_that_reached_the_end_of_the_group_counts_without_its_own_trial() {
    let mut results = sliced(|_| 1.05);
    fail(&mut results, "native", 4, Reason::Timeout);
    let analysis = analyze(&results);
    let metric = headline(&analysis);
    assert_eq!((metric.n, metric.lost), (20, 0));
    assert_eq!(slices(metric).blocks, 20);
}

#[test]
fn a_member_of_some_rounds_is_paired_in_those() {
    let mut results = sliced(|slot| f64::from(slot.round + 1));
    for member in members(&mut results, "docker") {
        let series = member.parts.get_mut("latency").expect("a part");
        let kept = |values: &[u64]| values.iter().copied().step_by(5).collect();
        (series.wall_ns, series.cpu_ns) = (kept(&series.wall_ns), kept(&series.cpu_ns));
        member.places = member.places.iter().copied().step_by(5).collect();
        member.every = 5;
    }
    let analysis = analyze(&results);
    let metric = headline(&analysis);
    assert_eq!(slices(metric).rounds, 20 * 10);
    // The median of 1, 6, ..., 46.
    about(ratio(metric), (21.0 * 26.0_f64).sqrt(), 0.1);
}

#[test]
fn cells_in_one_piece_are_compared_by_their_samples() {
    let mut whole = sliced(|_| 1.05);
    for trial in trials_of(&mut whole, "docker", Pinned) {
        trial.group = None;
        trial.host = Some(HostReadings {
            throttled_periods: Some(3),
            ..HostReadings::default()
        });
    }
    let analysis = analyze(&whole);
    let metric = headline(&analysis);
    assert!(metric.slices.is_none());
    whole.records.retain(|r| !matches!(r, Record::Group(_)));
    let old = analyze(&whole);
    assert_eq!(metric.paired, headline(&old).paired);
}

#[test]
fn blocks_in_one_piece_among_others_fall_back_by_themselves() {
    let mut results = sliced(|_| 1.05);
    for trial in trials_of(&mut results, "docker", Pinned).filter(|t| t.block < 2) {
        trial.group = None;
    }
    let analysis = analyze(&results);
    let metric = headline(&analysis);
    assert_eq!((metric.n, slices(metric).blocks), (20, 18));
    about(ratio(metric), 1.05, 0.005);
}

#[test]
fn without_the_baseline_in_its_group_a_cell_is_compared_by_samples() {
    let mut results = sliced(|_| 1.05);
    for group in groups(&mut results) {
        group
            .members
            .retain(|m| m.cell.kind.platform.to_string() != "native");
    }
    let analysis = analyze(&results);
    assert!(headline(&analysis).slices.is_none());
    assert_eq!(headline(&analysis).n, 20);
}

#[test]
fn what_the_harness_took_is_told_by_platform() {
    let mut results = sliced(|_| 1.0);
    members(&mut results, "docker").for_each(|m| m.gate_ns = 31_000);
    let analysis = analyze(&results);
    let slicing = analysis.slicing.as_ref().expect("slices");
    assert_eq!((slicing.groups, slicing.rounds), (20, Some(50.0)));
    assert!(slicing.one_piece.is_empty());
}

#[test]
fn how_many_processes_a_trial_had_is_counted_by_workload() {
    let mut results = sliced(|_| 1.0);
    groups(&mut results).for_each(|g| g.members.iter_mut().for_each(|m| m.processes = 2));
    members(&mut results, "docker")
        .take(3)
        .for_each(|m| m.processes = 1);
    let json = serde_json::to_value(analyze(&results).slicing).expect("JSON");
    let two = serde_json::json!({"workload": "syscall", "processes": 2, "members": 37, "of": 40});
    assert_eq!(json["processes"][1], two);
}

#[test]
fn another_number_of_processes_is_among_what_differs() {
    let (before, mut after) = (sliced(|_| 1.0), sliced(|_| 1.0));
    let differences = |after: &Results| {
        let change = tare_analysis::change::compare(&before, after, None).expect("cells in common");
        let told =
            |d: &tare_analysis::change::Difference| (d.what.clone(), d.before.clone(), d.after.clone());
        change.differences.iter().map(told).collect::<Vec<_>>()
    };
    assert_eq!(differences(&after), []);
    members(&mut after, "docker").for_each(|m| m.processes = 2);
    let what = "processes.syscall".to_owned();
    let (one, mixed) = ("1".to_owned(), "1 (native pinned), 2 (docker pinned)".to_owned());
    assert_eq!(
        differences(&after),
        [(what.clone(), Some(one.clone()), Some(mixed))]
    );
    members(&mut after, "native").for_each(|m| m.processes = 2);
    assert_eq!(differences(&after), [(what, Some(one), Some("2".to_owned()))]);
    // Without slices there is nothing to hold it against.
    after.records.retain(|r| !matches!(r, Record::Group(_)));
    assert_eq!(differences(&after), []);
}

#[test]
fn the_steps_of_layers_are_typical_costs() {
    let mut results = Synthetic::new().platforms(&["native", "vm", "vm/runc"]).build();
    slice(&mut results, 21, |slot| {
        match slot.cell.kind.platform.to_string().as_str() {
            "native" => 1.0,
            // The mean is dearer by stalls.
            _ if slot.round % 10 == 0 => 20.0,
            "vm" => 1.1,
            _ => 1.32,
        }
    });
    let analysis = analyze(&results);
    let [split] = &analysis.layers[..] else {
        panic!("{:?}", analysis.layers)
    };
    let ratios: Vec<f64> = split.steps.iter().map(|s| s.ratio.expect("one").value).collect();
    near(ratios[0], 1.1);
    near(ratios[1], 1.2);
    near(split.whole.ratio.expect("one").value, 1.32);
}

#[test]
fn two_runs_in_slices_are_compared_by_typical_costs() {
    let stalling = |slot: &Slot| if slot.round % 10 == 3 { 11.0 } else { 1.05 };
    let (before, after) = (sliced(|_| 1.05), sliced(stalling));
    let change = tare_analysis::change::compare(&before, &after, None).expect("cells in common");
    let overhead = &change.overheads[0];
    assert!(overhead.typical);
    about(overhead.change.expect("a change").value, 1.0, 0.003);
    assert_eq!(overhead.verdict.word, Word::Equal);
}

#[test]
fn a_run_in_slices_is_held_against_one_without_by_samples() {
    let (before, after) = (sliced(|_| 1.05), sliced(|_| 1.05));
    let mut whole = before.clone();
    whole.records.retain(|r| !matches!(r, Record::Group(_)));
    let change = tare_analysis::change::compare(&whole, &after, None).expect("cells in common");
    let overhead = &change.overheads[0];
    assert!(!overhead.typical);
    near(overhead.change.expect("a change").value, 1.0);
    assert!(change.notices.iter().any(|n| n.name() == "slices"));
}

#[test]
fn size_effects_are_those_of_typical_costs() {
    let mut sized = Synthetic::new();
    let study = &mut sized.study;
    let mut small = study.instances[0].clone();
    (small.name, small.size.cpus) = (Some("small".to_owned()), Cpus::from_milli(1000));
    study.instances[0].name = Some("large".to_owned());
    study.instances.push(small);
    let mut sized = sized.build();
    slice(&mut sized, 11, |slot| {
        let small = slot.cell.kind.instance.as_deref() == Some("small");
        match (slot.is("docker"), small) {
            (true, _) if slot.round == 4 => 30.0,
            (true, true) => 1.32,
            (true, false) => 1.1,
            _ => 1.0,
        }
    });
    let analysis = analyze(&sized);
    let [effect] = &analysis.size_effects.effects[..] else {
        panic!("{:?}", analysis.size_effects)
    };
    let ratios: Vec<f64> = effect.sizes.iter().map(|s| s.ratio.expect("one").value).collect();
    near(ratios[0], 1.32);
    near(ratios[1], 1.1);
}
