//! Own figures beside a study's.

use crate::common::*;
use tare_analysis::analyze;
use tare_model::kernel::Kernel;
use tare_model::results::Results;
use tare_model::workload::Run;
use tare_published::{Beside, BesideRow, Library, Verdict, beside};
use tare_report::sections::published as sections;
use tare_report::text::{TextOptions, render};

/// What stands beside a study where `docker` costs so much of linpack, and of stream.
fn costs(study: &str, linpack: f64, stream: f64, noise: f64) -> Beside {
    let synthetic = Synthetic::new()
        .kernels(&[Kernel::Linpack, Kernel::Stream])
        .noise(noise)
        .cost("docker", Pinned, "linpack", linpack)
        .cost("docker", Pinned, "stream", stream);
    put(study, synthetic)
}

fn put(study: &str, synthetic: Synthetic) -> Beside {
    let library = Library::load().unwrap();
    let study = library.study(study).unwrap();
    beside(&library, study, &with_order(synthetic, 1000).build())
}

fn with_order(mut synthetic: Synthetic, order: u64) -> Synthetic {
    for workload in &mut synthetic.study.workloads {
        if let Run::Kernel(run) = &mut workload.roles[0].run
            && run.spec.kernel == Kernel::Linpack
        {
            run.spec.size = order;
        }
    }
    synthetic
}

fn row<'a>(beside: &'a Beside, workload: &str, metric: &str, platform: &str) -> &'a BesideRow {
    let is_it = |r: &&BesideRow| r.workload == workload && r.metric == metric && r.platform == platform;
    beside.rows.iter().find(is_it).unwrap()
}

fn why(row: &BesideRow) -> &str {
    match &row.verdict {
        Verdict::NotComparable { why } => why,
        other => panic!("{other:?}"),
    }
}

fn beside_words(beside: &Beside) -> String {
    render(&sections::beside(beside), TextOptions::default())
}

#[test]
fn the_same_cost_agrees_and_says_what_would_not_show() {
    let beside = costs("conaboy2021", 1.0024, 1.005, 0.002);
    let row = row(&beside, "linpack", "rate", "docker");
    let Verdict::Agrees(seen) = row.verdict else {
        panic!("{row:?}")
    };
    // sd of 44.3 and 74.8 MFLOPS over n = 10 runs, about 2,120: 1.4 % of their ratio, times t.
    assert!(
        seen.with_their_error && (0.025..0.035).contains(&seen.share),
        "{seen:?}"
    );
    let theirs = row.theirs.unwrap();
    assert!((theirs.ratio - 2123.695 / 2118.67).abs() < 1e-9);
    let (low, high) = theirs.interval.unwrap();
    assert!(low < 1.0 && 1.0 < high);
}

#[test]
fn another_cost_differs() {
    let beside = costs("conaboy2021", 1.3, 1.005, 0.002);
    let Verdict::Differs(by) = row(&beside, "linpack", "rate", "docker").verdict else {
        panic!("{beside:?}")
    };
    assert!(by.with_their_error);
    assert!((by.ratio.value - 1.297).abs() < 0.005, "{by:?}");
    assert!(by.ratio.low > 1.25 && by.ratio.high < 1.35, "{by:?}");
}

#[test]
fn a_study_without_spread_is_held_against_the_own_error_alone() {
    let beside = costs("li2018", 1.0, 1.1, 0.002);
    let row = row(&beside, "stream", "copy", "docker");
    assert_eq!(row.theirs.unwrap().interval, None);
    let Verdict::Differs(by) = row.verdict else {
        panic!("{row:?}")
    };
    assert!(!by.with_their_error);
    let shown = beside_words(&beside);
    let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("the study's own error, which it does not print, may explain it"),
        "{shown}"
    );
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn what_cannot_be_compared_says_why() {
    let beside = costs("conaboy2021", 1.0, 1.0, 0.002);
    assert_eq!(why(row(&beside, "iozone", "", "")), "tare has no such workload");
    assert_eq!(
        why(row(&beside, "stream", "triad", "vm")),
        "no vmware in the results"
    );

    let felter = costs("felter2015", 1.0, 1.0, 0.002);
    assert!(why(row(&felter, "linpack", "", "")).contains("order 45,000"));
    let other_size = Library::load().unwrap();
    let synthetic = Synthetic::new().kernels(&[Kernel::Linpack]);
    let other_size = beside_of(&other_size, &with_order(synthetic, 500).build());
    assert_eq!(
        why(row(&other_size, "linpack", "", "")),
        "size 500 here, 1000 there"
    );

    let lxc = Synthetic::new().platforms(&["native", "lxc"]);
    let gvisor = put("gvisor2020", lxc);
    let baseline = "the study has no figure of your baseline, native";
    assert_eq!(why(row(&gvisor, "system-call", "", "")), baseline);
    assert_eq!(
        why(row(&gvisor, "tensorflow", "", "")),
        "tare has no such workload"
    );
    assert_eq!(
        why(row(&gvisor, "ffmpeg", "", "")),
        "no workload ffmpeg in the results"
    );

    let drawn = put("ghatrehsamani2020", Synthetic::new());
    assert!(drawn.rows.is_empty() && !drawn.statements.is_empty());
    let shown = beside_words(&drawn);
    assert!(shown.contains("The study prints no table"), "{shown}");
}

fn beside_of(library: &Library, results: &Results) -> Beside {
    beside(library, library.study("conaboy2021").unwrap(), results)
}

#[test]
fn where_the_study_has_another_baseline_what_both_measured_is_held_against_it() {
    let synthetic = Synthetic::new()
        .platforms(&["native", "docker", "lxc"])
        .kernels(&[Kernel::Stream])
        .noise(0.002)
        .cost("docker", Pinned, "stream", 1.2)
        .cost("lxc", Pinned, "stream", 1.2);
    let beside = put("ruan2016", synthetic);
    assert_eq!(beside.own_baseline, "lxc");
    assert_eq!(beside.instead_of.as_deref(), Some("native"));
    let row = row(&beside, "stream", "triad", "docker");
    let own = row.own.as_ref().unwrap();
    assert!((own.ratio.value - 1.0).abs() < 0.003 && own.n == 20, "{own:?}");
    assert!(
        matches!(row.verdict, Verdict::Differs(_) | Verdict::Agrees(_)),
        "{row:?}"
    );
    let shown = beside_words(&beside);
    assert!(shown.contains("Costs over lxc, here"), "{shown}");
}

#[test]
fn an_interval_that_hides_a_tenth_confirms_nothing() {
    let noisy = costs("li2018", 1.0, 1.0, 0.5);
    let row = row(&noisy, "stream", "copy", "docker");
    let Verdict::CannotTell(seen) = row.verdict else {
        panic!("{row:?}")
    };
    assert!(seen.share > 0.1, "{seen:?}");
    let shown = beside_words(&noisy);
    assert!(shown.contains("not known"), "{shown}");
    assert!(shown.contains("too much noise: differences under"), "{shown}");
}

#[test]
fn figures_without_a_verdict_are_not_held_against_any() {
    let synthetic = Synthetic::new().kernels(&[Kernel::Linpack]);
    let results = with_order(synthetic.blocks(6), 1000).build();
    let few = beside_of(&Library::load().unwrap(), &results);
    let why = why(row(&few, "linpack", "rate", "docker"));
    assert!(why.starts_with("no verdict here: "), "{why}");
}

#[test]
fn every_study_can_stand_beside_any_results() {
    let library = Library::load().unwrap();
    let synthetic = Synthetic::new().platforms(&["native", "docker", "vm", "lxc"]);
    let kernels = [Kernel::Linpack, Kernel::Stream, Kernel::Syscall, Kernel::Spawn];
    let whole = synthetic.kernels(&kernels).build();
    let empty = Synthetic::new().kernels(&kernels).blocks(1).build();
    for study in &library.studies {
        for results in [&whole, &empty] {
            let shown = beside_words(&beside(&library, study, results));
            assert!(!shown.contains("NaN") && !shown.contains("inf "), "{shown}");
        }
    }
}

#[test]
fn a_report_has_what_studies_have_of_its_work_and_nothing_of_other_work() {
    let report = |synthetic: Synthetic| {
        let document =
            tare_report::sections::report(&analyze(&synthetic.build()), tare_report::text::Where::default());
        tare_report::tabular::render(&document, Some("published")).unwrap_or_default()
    };
    let of_stream = Synthetic::new().kernels(&[Kernel::Stream]);
    let table = report(of_stream.cost("docker", Pinned, "stream", 1.5));
    let row = table
        .lines()
        .find(|line| line.starts_with("conaboy2021,stream,copy,docker,docker pinned stream,"));
    assert!(row.is_some_and(|row| row.ends_with(",differs")), "{table}");
    assert!(!table.contains("not comparable"), "{table}");
    assert_eq!(report(Synthetic::new().command(&["true"])).lines().count(), 0);
}
