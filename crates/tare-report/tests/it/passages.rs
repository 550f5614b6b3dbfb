//! What the report says about results whose analysis tare-analysis proves.

use crate::common::*;
use insta::assert_snapshot;
use tare_analysis::trend::trend;
use tare_analysis::{Analysis, analyze};
use tare_model::conditions::Counter;
use tare_model::metric::Unit;
use tare_model::results::{HostReadings, Results};
use tare_report::text::Where;

/// The answer, unwrapped.
fn answer(analysis: &Analysis) -> String {
    tare_report::text::answer(analysis, Where::default(), unwrapped())
}

#[test]
fn carry_over_between_trials() {
    let analysis = analyze(&after_vm(1.05));
    assert_snapshot!(phrase(
        compared(&analysis, "vm", "syscall")
            .primary()
            .unwrap()
            .verdict
            .as_ref()
            .unwrap()
    ));
    assert_snapshot!(passages(&analysis, &["ran right before", "carry-over:"]));
}

#[test]
fn carry_over_between_slices() {
    let mut results = Synthetic::new()
        .platforms(&["native", "docker", "vm", "lxc"])
        .blocks(10)
        .build();
    let mut random = Random::seeded(5);
    slice(&mut results, 200, |slot| {
        let hit = slot.is("docker") && slot.after("vm");
        let cost = if hit { 1.1 } else { 1.0 };
        cost * (0.01 * random.normal()).exp()
    });
    let analysis = analyze(&results);
    let found = &compared(&analysis, "docker", "syscall").carry_over[0];
    assert_snapshot!(tare_report::words::carry_over::words(found), @"carry-over: vm pinned syscall right before a slice changes the typical cost by 0.9 (0.7 to 1.1) % (p <0.001)");
}

/// Words and tables count the same trials, and name attempts as such.
#[test]
fn trials_and_their_attempts() {
    let analysis = analyze(&repeated());
    assert_snapshot!(passages(
        &analysis,
        &["succeeded", "trials failed in", "attempts failed in"]
    ));
}

#[test]
fn intervals_of_a_study_with_looks() {
    let results = Synthetic::new().blocks(60).noise(0.01).build();
    let analysis = analyze(&adaptive(results));
    assert_snapshot!(passages(&analysis, &["Intervals:", "last look"]));
    assert!(page(&analysis).contains("(allowing for looks)."));
}

#[test]
fn ratios_of_quantiles() {
    let mut results = Synthetic::new().blocks(40).noise(0.001).build();
    for trial in trials_of(&mut results, "docker", Pinned).filter(|t| t.block % 8 == 7) {
        scale(trial, 10.0);
    }
    assert_snapshot!(passages(&analyze(&results), &["quantile ratios"]));
}

#[test]
fn pairs_that_do_not_move_together() {
    let together = Synthetic::new().noise(0.01).block_noise(0.2).build();
    assert_snapshot!(passages(&analyze(&together), &["pairing gained nothing", "the correlation"]), @"");
    assert_snapshot!(passages(&analyze(&moving_apart()), &["the correlation"]));
}

#[test]
fn the_typical_cost_of_two_processes() {
    let mut results = sliced(|slot| [1.0, 1.1][slot.round as usize % 2]);
    members(&mut results, "docker").for_each(|m| m.processes = 2);
    assert_snapshot!(passages(&analyze(&results), &["mean of their medians"]));
}

#[test]
fn the_tail_of_slices() {
    let analysis = analyze(&sliced(|slot| if slot.round % 10 == 3 { 11.0 } else { 1.0 }));
    assert_snapshot!(with(&answer(&analysis), &["slow moments"]), @"! slow moments make the mean cost differ from the typical one, by which verdicts go, in 1 row; mean: docker pinned syscall 100 % slower");
    assert!(json(&analysis).contains("\"flag\": \"tail\""));
}

#[test]
fn the_cpu_cost() {
    let analysis = analyze(&sliced(|_| 1.05));
    assert_snapshot!(passages(&analysis, &["separate family", "slower, by more than"]));
}

/// Changes the CPU time of all slices of these platforms.
fn cpu_time(results: &mut Results, platforms: &[&str], change: impl Fn(&mut u64)) {
    for platform in platforms {
        for member in members(results, platform) {
            let series = member.parts.get_mut("latency").expect("a part");
            series.cpu_ns.iter_mut().for_each(&change);
        }
    }
}

#[test]
fn a_cpu_cost_that_the_cpu_does_not_bound() {
    let mut results = sliced(|_| 1.05);
    cpu_time(&mut results, &["docker"], |ns| *ns /= 2);
    assert_snapshot!(passages(&analyze(&results), &["not CPU-bound"]), @"no verdict: not CPU-bound (49 % of its time on the CPU, the baseline 98 %; for the rest they waited: for input or output or, on a busy host, for a CPU)");
}

#[test]
fn contended_slices() {
    let mut results = sliced(|_| 1.012);
    cpu_time(&mut results, &["native", "docker"], |ns| *ns = *ns * 3 / 5);
    let analysis = analyze(&results);
    assert_snapshot!(with(&answer(&analysis), &["contended 1 of 1"]), @"! intervals widened or to read with care (see --details): contended 1 of 1");
    assert_snapshot!(passages(&analysis, &["something else had", "times as large"]));
}

#[test]
fn trials_in_one_piece_among_slices() {
    let mut results = sliced(|_| 1.05);
    for trial in trials_of(&mut results, "docker", Pinned).filter(|t| t.block < 2) {
        trial.group = None;
    }
    assert_snapshot!(passages(&analyze(&results), &["in slices in"]), @"by more than the margin; in slices in 18 of 20 blocks");
    for trial in trials_of(&mut results, "docker", Pinned) {
        trial.group = None;
        trial.host = Some(HostReadings {
            throttled_periods: Some(3),
            ..HostReadings::default()
        });
    }
    assert_snapshot!(passages(&analyze(&results), &["throttled by its quota"]), @"in one piece: docker pinned syscall (20 of 20 trials, throttled by its quota)");
}

#[test]
fn what_the_harness_took() {
    let mut results = sliced(|_| 1.0);
    members(&mut results, "docker").for_each(|m| m.gate_ns = 31_000);
    let analysis = analyze(&results);
    assert_snapshot!(passages(&analysis, &["31.00 us", "in rounds"]));
    assert!(page(&analysis).contains("<h2>Slices: mean cost, CPU cost"));
}

/// A counter that nobody here knows is told as the file names it.
#[test]
fn counters_by_whatever_name() {
    let mut results = sliced(|_| 1.0);
    for (i, trial) in (0..).zip(trials_of(&mut results, "docker", Pinned)) {
        let counter = Counter {
            value: f64::from(i),
            unit: Unit::Other("leaps".to_owned()),
        };
        trial.host = Some(HostReadings {
            counters: [("tightrope".to_owned(), counter)].into(),
            ..HostReadings::default()
        });
    }
    let analysis = analyze(&results);
    let [counter] = &analysis.counters[..] else {
        panic!("{:?}", analysis.counters);
    };
    assert_eq!(
        (counter.trials, counter.least, counter.median, counter.most),
        (20, 0.0, 9.5, 19.0)
    );
    assert_snapshot!(passages(&analysis, &["tightrope", "leaps"]), @"
    tightrope syscall
    docker    pinned        20  9.500 leaps  0.000 leaps  19.00 leaps
    ");
}

#[test]
fn the_processes_of_a_trial() {
    let mut results = sliced(|_| 1.0);
    let analysis = analyze(&results);
    assert_snapshot!(passages(&analysis, &["processes of a trial"]), @"");
    assert!(!page(&analysis).contains("processes of a trial"));

    groups(&mut results).for_each(|g| g.members.iter_mut().for_each(|m| m.processes = 2));
    let analysis = analyze(&results);
    assert_snapshot!(passages(&analysis, &["processes of a trial"]), @"processes of a trial: 2, which took turns by round");
    assert!(page(&analysis).contains("2, which took turns by round"));

    members(&mut results, "docker")
        .take(3)
        .for_each(|m| m.processes = 1);
    assert_snapshot!(passages(&analyze(&results), &["processes of a trial"]), @"processes of a trial: 2 of syscall (37 times of 40), which took turns by round");
}

#[test]
fn a_trend_of_few_runs() {
    let told = |n: u64| {
        let files: Vec<_> = (0..n).map(|i| run_on_host(1.1, "a", i)).collect();
        let page = tare_report::markdown::render(&tare_report::sections::trend(
            &trend(briefs(&files), u64::MAX).unwrap(),
        ));
        with(&page, &["too few to find", "no change found"])
    };
    assert_snapshot!(told(2), @"- 1 of 1 cost have fewer than 10 runs, too few to find a change");
    assert_snapshot!(told(9), @"- 1 of 1 cost have fewer than 10 runs, too few to find a change");
    assert_snapshot!(told(10), @"- no change found in 1 of 1 cost");
}

#[test]
fn a_trend_of_runs_that_resemble_their_neighbours() {
    let cost = |i: u64| 1.1 + 0.06 * (i as f64 / 3.0).sin();
    let files: Vec<_> = (0..30).map(|i| run_on_host(cost(i), "a", i)).collect();
    let page = tare_report::markdown::render(&tare_report::sections::trend(
        &trend(briefs(&files), u64::MAX).unwrap(),
    ));
    assert_snapshot!(with(&page, &["drifts:", "no change found"]));
}

#[test]
fn a_trend_of_files_from_the_future() {
    let files: Vec<_> = (0..2).map(|i| run_on_host(1.1, "a", i)).collect();
    let page =
        tare_report::markdown::render(&tare_report::sections::trend(&trend(briefs(&files), 0).unwrap()));
    assert_snapshot!(with(&page, &["later than now"]));
}

#[test]
fn size_effects() {
    let analysis = analyze(&sized(&[1, 2, 4, 8], |c| 1.03 + 0.2 / c));
    let words = [
        "Size effects",
        "PTO is the cost",
        "dies out",
        "CHR 0.25",
        "lack of fit p",
    ];
    assert_snapshot!(passages(&analysis, &words));
    let page = page(&analysis);
    assert!(page.contains("Paired ratios against the size of the box"));
    assert!(page.contains("<polyline"));
    let json: serde_json::Value = serde_json::from_str(&json(&analysis)).unwrap();
    let first = &json["size_effects"]["effects"][0];
    assert_eq!(
        (&first["class"], &first["fit"]["standing"]),
        (&"both".into(), &"quoted".into())
    );
    assert!(first["range"]["within"].is_null());
}

#[test]
fn host_size_effects() {
    let analysis = analyze(&hosted(&[2, 4], f64::from));
    let words = ["Host-size effect", "docker vanilla 2 CPUs", "CHR 0.50"];
    assert_snapshot!(passages(&analysis, &words));
    let answer = answer(&analysis);
    let page = page(&analysis);
    for told in ["Host-size effect", "docker vanilla 2 CPUs", "shown"] {
        assert!(page.contains(told) && answer.contains(told), "{told}\n{answer}");
    }
    assert!(page.contains("above CHR 0.50"));
    let json: serde_json::Value = serde_json::from_str(&json(&analysis)).unwrap();
    let last = &json["host_effects"]["effects"][1]["hosts"][1];
    assert_eq!((&last["host_cpus"], &last["chr"]), (&4.into(), &0.5.into()));
}

#[test]
fn workload_effects() {
    let mut results = held(1.2, 1.0, 0.0005);
    let analysis = analyze(&results);
    let crowding = "Crowding: spawn against syscall";
    assert_snapshot!(passages(&analysis, &[crowding, "1.20"]));
    let (answer, page) = (answer(&analysis), page(&analysis));
    for told in [crowding, "1.20"] {
        assert!(page.contains(told) && answer.contains(told), "{told}\n{answer}");
    }
    let json: serde_json::Value = serde_json::from_str(&json(&analysis)).unwrap();
    let first = &json["workload_effects"]["effects"][0];
    assert_eq!(
        (&first["name"], &first["shown"], &first["of"]["workload"]),
        (&"Crowding".into(), &"beyond".into(), &"spawn".into())
    );

    results.header.study.effects.clear();
    let analysis = analyze(&results);
    let none = "their ratio";
    assert!(!whole(&analysis).contains(none) && !crate::common::page(&analysis).contains(none));
}

#[test]
fn workload_effects_with_too_many_losses() {
    let effects = analyze(&held_with_losses()).workload_effects.effects;
    let refusals = effects[0].refusals.iter();
    let told: Vec<String> = refusals.map(tare_report::words::refusal::words).collect();
    assert_snapshot!(told.join("\n"));
}

#[test]
fn parameters_that_matter() {
    let analysis = analyze(&tuned_fraction(5, 3));
    let document = tare_report::sections::tuning(&analysis);
    assert_snapshot!(tare_report::text::render(
        &document,
        tare_report::text::TextOptions::default()
    ));
    for told in ["Which parameters matter", "f3=l1"] {
        assert!(
            page(&analysis).contains(told) && answer(&analysis).contains(told),
            "{told}"
        );
    }
    let few = tare_report::sections::tuning(&analyze(&tuned_fraction(4, 3)));
    assert_eq!(
        few.answer,
        [
            "docker pinned syscall: nothing is concluded: that needs 5 blocks with all 16 settings, and there are 4"
        ]
    );
}
