//! Every document that is printed or stored is what its schema in `docs/schemas` says, and has no key that the
//! schema does not name.

use crate::common::*;
use serde::Serialize;
use serde_json::Value;
use tare_analysis::advice::{Criterion, Weights, advise};
use tare_analysis::change::compare;
use tare_analysis::density::Estimated;
use tare_analysis::merge::merge;
use tare_analysis::pilot::pilot;
use tare_analysis::trend::trend;
use tare_analysis::{Analysis, analyze, foreign};
use tare_model::density::{Density, IdleBox, PlatformDensity, SCHEMA as DENSITY, Start};
use tare_model::finding::{Finding, Reason};
use tare_model::kernel::Kernel;
use tare_model::looks::{LookFigures, LookJudgement, LookRecord, LookedAt, WarmUpRecord};
use tare_model::results::{EndReason, Outcome, PlatformVersion, Record, Results};
use tare_model::size::{Cpus, InstanceType};
use tare_model::study::{Against, Cell, Effect, Instance, Stopping};
use tare_published::{Brief, Checked, DEFINITIONS, Library, beside};
use tare_report::glossary;
use tare_stats::Latencies;

/// What a command prints.
fn printed(figures: &impl Serialize) -> String {
    tare_report::json::render(figures).unwrap()
}

fn golden(name: &str) -> String {
    let path = format!("{}/tests/it/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

#[track_caller]
fn analysed(results: &Results) -> Analysis {
    let analysis = analyze(results);
    json(&analysis);
    analysis
}

/// `native` and `docker` in slices; `docker` costs a fifth more.
fn sliced() -> Results {
    let mut results = Synthetic::new().build();
    let mut random = Random::seeded(5);
    slice(&mut results, 50, |slot| {
        let cost = if slot.is("docker") { 1.2 } else { 1.0 };
        cost * (0.005 * random.normal()).exp()
    });
    results
}

#[test]
fn a_report_is_what_its_schema_says() {
    let analysis = analysed(&default_study().build());
    assert!(analysis.comparisons.len() > 20 && !analysis.scores.is_empty());
}

#[test]
fn a_report_of_slices_is_what_its_schema_says() {
    let analysis = analysed(&sliced());
    assert!(analysis.slicing.is_some() && headline(&analysis).slices.is_some());
}

#[test]
fn a_report_of_an_adaptive_study_is_what_its_schema_says() {
    let mut results = Synthetic::new().blocks(20).noise(0.004).build();
    results.header.study.protocol.stopping = Stopping::Adaptive {
        half_width: 0.005,
        precise: false,
    };
    let cells = results.header.study.cells();
    let looked = look_at(&cells[1], 10);
    results.records.insert(1, looked);
    let warm_up = WarmUpRecord {
        seconds: 60.0,
        trials: 12,
        failed: 1,
    };
    results.records.insert(1, Record::WarmUp(warm_up));
    if let Some(Record::End(end)) = results.records.last_mut() {
        end.reason = EndReason::BudgetSpent;
    }
    let analysis = analysed(&results);
    assert_eq!(analysis.stops.as_ref().map(|stops| stops.taken.len()), Some(1));
    stored(&results);
}

/// A look that left this cell open.
fn look_at(cell: &Cell, blocks: u32) -> Record {
    Record::Look(LookRecord {
        blocks,
        comparisons: vec![LookedAt {
            cell: cell.clone(),
            against: Against::Native,
            n: blocks,
            lost: 0,
            figures: Some(LookFigures {
                mean: 0.1,
                interval: [0.09, 0.11],
                precise: [0.08, 0.12],
                autocorrelated: false,
                skewed: false,
            }),
            judgement: LookJudgement::TooWide,
        }],
        settled: Vec::new(),
    })
}

#[test]
fn a_report_of_failures_and_findings_is_what_its_schema_says() {
    let mut results = Synthetic::new()
        .platforms(&["native", "docker", "lxc"])
        .provisioning(&[Vanilla, Pinned])
        .noise(0.02)
        .build();
    fail(&mut results, "docker", 12, Reason::Timeout);
    find(&mut results, "lxc", Vanilla, 5, &Finding::HostBusy { load: 0.5 });
    proof_of(&mut results, "lxc").proven = false;
    let analysis = analysed(&results);
    assert!(!analysis.findings.is_empty());
    let verdicts = analysis
        .comparisons
        .iter()
        .filter_map(|c| c.primary()?.verdict.as_ref());
    assert!(verdicts.map(|verdict| verdict.refusals.len()).sum::<usize>() > 1);
    stored(&results);
}

#[test]
fn a_report_of_an_emulated_machine_is_what_its_schema_says() {
    let mut results = Synthetic::new().platforms(&["native", "vm", "vm/docker"]).build();
    for version in results.header.platforms.values_mut() {
        version.details.insert("accelerator".to_owned(), "tcg".to_owned());
    }
    let analysis = analysed(&results);
    assert!(analysis.platforms.iter().any(|platform| platform.emulated()));
    assert!(!analysis.layers.is_empty());
}

/// `native` and `docker` in such boxes; docker costs more the larger they are.
fn in_boxes(instances: Vec<Instance>) -> Results {
    let mut synthetic = Synthetic::new()
        .provisioning(&[Vanilla, Pinned])
        .kernels(&[Kernel::Syscall, Kernel::Spawn])
        .blocks(12)
        .noise(0.002);
    synthetic.study.instances = instances;
    synthetic.study.effects.push(Effect {
        name: "spawn".to_owned(),
        of: "spawn".to_owned(),
        against: "syscall".to_owned(),
    });
    let mut results = synthetic.build();
    results.header.host.cpus = 16;
    for record in &mut results.records {
        if let Record::Trial(trial) = record
            && trial.cell.kind.platform.to_string() == "docker"
        {
            let name = trial.cell.kind.instance.as_deref().unwrap();
            scale(trial, 1.0 + name[1..].parse::<f64>().unwrap() / 10.0);
        }
    }
    results
}

#[test]
fn a_report_of_several_sizes_is_what_its_schema_says() {
    let instance = |n: u32| Instance {
        name: Some(format!("c{n}")),
        size: InstanceType {
            cpus: Cpus::from_milli(n * 1000),
            memory_bytes: 1 << 30,
        },
        pinned_set: (0..n).collect(),
        host_cpus: None,
        host_set: Vec::new(),
    };
    let analysis = analysed(&in_boxes([1, 2, 4, 8].map(instance).into()));
    assert!(!analysis.size_effects.effects.is_empty());
    assert!(!analysis.workload_effects.effects.is_empty());
}

#[test]
fn a_report_of_several_hosts_sizes_is_what_its_schema_says() {
    let of = Synthetic::new().study.instances[0].clone();
    let instance = |n: u32| Instance {
        name: Some(format!("h{n}")),
        host_cpus: Some(n),
        host_set: (0..n).collect(),
        ..of.clone()
    };
    let analysis = analysed(&in_boxes([2, 4, 8].map(instance).into()));
    assert!(!analysis.host_effects.effects.is_empty());
}

#[test]
fn a_report_of_varied_parameters_is_what_its_schema_says() {
    let analysis = analysed(&tuned_fraction(5, 3));
    assert!(analysis.tunings[0].best.is_some());
}

#[test]
fn a_report_of_latencies_is_what_its_schema_says() {
    let mut latencies = Latencies::default();
    (1..=1000).for_each(|n| latencies.record(n * 1000));
    let mut results = Synthetic::new().build();
    for record in &mut results.records {
        if let Record::Trial(trial) = record
            && let Outcome::Ok(success) = &mut trial.outcome
        {
            success.latencies = Some(latencies.text());
        }
    }
    assert_eq!(analysed(&results).latencies.len(), 2);
    stored(&results);
}

#[test]
fn a_report_of_figures_that_are_none_is_what_its_schema_says() {
    let mut results = default_study().build();
    trials_of(&mut results, "docker", Pinned).for_each(|t| scale(t, f64::NAN));
    analysed(&results);
}

#[test]
fn reports_of_files_of_every_version_are_what_their_schema_says() {
    for name in [
        "results-1.jsonl",
        "results-2.jsonl",
        "results-2-workloads.jsonl",
        "results-3.jsonl",
    ] {
        let results = Results::parse(name, golden(name).as_bytes()).unwrap();
        assert!(!analysed(&results).comparisons.is_empty(), "{name}");
    }
}

#[test]
fn every_line_of_a_results_file_is_what_its_schema_says() {
    let schema = Schema::of("tare-results-3");
    let file = golden("results-3.jsonl");
    let whole = file.rsplit_once('\n').unwrap().0;
    whole.lines().for_each(|line| schema.holds(line));
    for results in [default_study().build(), sliced()] {
        stored(&results);
    }
}

/// Holds the lines that a run would write against their schema.
#[track_caller]
fn stored(results: &Results) {
    let schema = Schema::of("tare-results-3");
    let header = Record::from(results.header.clone());
    for record in std::iter::once(&header).chain(&results.records) {
        schema.holds(&serde_json::to_string(record).unwrap());
    }
}

/// Runs of one study on hosts of these names, the last of which docker is dearer on.
fn runs(hosts: &[&str]) -> Vec<(String, Results)> {
    let run = |(number, host): (usize, &&str)| {
        let mut results = Synthetic::new()
            .cost("docker", Pinned, "syscall", if number < 4 { 1.1 } else { 1.3 })
            .noise(0.004)
            .seed(number as u64)
            .build();
        results.header.host.id = Some((*host).to_owned());
        for record in &mut results.records {
            if let Record::Session(session) = record {
                session.run = format!("run-{number}");
                session.started_unix_ns += number as u64 * 1_000_000_000;
            }
        }
        (format!("{number}.jsonl"), results)
    };
    hosts.iter().enumerate().map(run).collect()
}

#[test]
fn a_comparison_of_two_files_is_what_its_schema_says() {
    let files = runs(&["a", "a", "a", "a", "b"]);
    let change = compare(&files[0].1, &files[4].1, None).unwrap();
    assert!(change.regressions().count() == 1 && !change.differences.is_empty());
    let schema = Schema::of("tare-change-1");
    schema.holds(&printed(&change));
    schema.holds(&printed(&compare(&sliced(), &sliced(), Some(0.02)).unwrap()));
}

#[test]
fn files_of_several_hosts_are_what_their_schema_says() {
    let merged = merge(briefs(&runs(&["a", "b", "c"])), None).unwrap();
    assert_eq!(merged.hosts, 3);
    Schema::of("tare-merge-1").holds(&printed(&merged));
}

#[test]
fn costs_over_time_are_what_their_schema_says() {
    let trend = trend(briefs(&runs(&["a"; 12])), u64::MAX).unwrap();
    assert_eq!(trend.series[0].changes.len(), 1);
    Schema::of("tare-trend-1").holds(&printed(&trend));
}

#[test]
fn advice_is_what_its_schema_says() {
    let schema = Schema::of("tare-advice-1");
    let weights = Weights::new(Criterion::ALL.map(|criterion| (criterion, 1.0)).into());
    for (results, weights) in [(default_study().build(), Weights::default()), (sliced(), weights)] {
        schema.holds(&printed(&advise(&analyze(&results), &weights)));
    }
}

#[test]
fn an_analysis_of_foreign_data_is_what_its_schema_says() {
    let rows = (0..20).map(|n| format!("{n},a,time,{}\n{n},b,time,{}\n", 10 + n % 3, 12 + n % 4));
    let data = "block,cell,metric,value\n".to_owned() + &rows.collect::<String>();
    let table = foreign::read("data", data.as_bytes()).unwrap();
    let wishes = foreign::Wishes {
        baseline: Some("a"),
        direction: None,
        margin: 0.01,
        threads: 1,
    };
    let analysis = foreign::analyze(&table, wishes).unwrap();
    assert_eq!((analysis.comparisons.len(), analysis.cells.len()), (1, 2));
    Schema::of("tare-analyze-1").holds(&printed(&analysis));
}

#[test]
fn a_pilot_is_what_its_schema_says() {
    let results = Synthetic::new().build();
    Schema::of("tare-pilot-1").holds(&printed(&pilot(&results)));
}

#[test]
fn idle_boxes_are_what_their_schema_says() {
    let results = Synthetic::new().build();
    let start = |n: u32| Start {
        cold: n.is_multiple_of(2),
        hello_seconds: 0.1 + f64::from(n) / 1000.0,
        removed_seconds: 0.05,
    };
    let idle = |n: u32| IdleBox {
        hello_seconds: 0.1,
        processes: n + 1,
        pss_bytes: u64::from(n + 1) << 20,
        available_bytes: (1 << 33) - (u64::from(n + 1) << 21),
    };
    let measured = Density {
        schema: DENSITY.to_owned(),
        tare: "0.1.0".to_owned(),
        build: "b".to_owned(),
        host: results.header.host.clone(),
        limits: results.header.study.instances[0].size,
        platforms: vec![PlatformDensity {
            platform: "docker".parse().unwrap(),
            version: PlatformVersion::default(),
            starts: (0..6).map(start).collect(),
            no_cold: None,
            available_bytes: 1 << 33,
            boxes: (0..5).map(idle).collect(),
            disk_bytes: 1 << 20,
            stopped: None,
        }],
    };
    let estimated = Estimated::of(&measured);
    assert!(estimated.estimates[0].by_pss.is_some() && estimated.estimates[0].cold.is_some());
    Schema::of("tare-density-1").holds(&printed(&estimated));
}

#[test]
fn published_studies_are_what_their_schemas_say() {
    let library = Library::load().unwrap();
    let (show, workload) = (
        Schema::of("tare-published-show"),
        Schema::of("tare-published-workload"),
    );
    let against = Schema::of("tare-compare-published");
    let results = default_study().build();
    for study in &library.studies {
        show.holds(&printed(study));
        against.holds(&printed(&beside(&library, study, &results)));
        for table in &study.tables {
            let view = tare_published::workload(&library, &table.workload).unwrap();
            workload.holds(&printed(&view));
        }
    }
    let list: Vec<Brief<'_>> = library.studies.iter().map(Brief::of).collect();
    Schema::of("tare-published-list").holds(&printed(&list));
    let checked = library.studies.iter().map(tare_published::check).collect();
    Schema::of("tare-published-check").holds(&printed(&Checked::of(checked)));
    Schema::of("tare-published-scores").holds(&printed(&DEFINITIONS));
}

#[test]
fn words_and_kernels_are_what_their_schemas_say() {
    Schema::of("tare-explain").holds(&printed(&glossary::Glossary::default().entries()));
    let results = Results::parse("golden", golden("results-3.jsonl").as_bytes()).unwrap();
    let kernels = results.trials().filter_map(|trial| match &trial.outcome {
        Outcome::Ok(success) => success.kernel.as_ref(),
        _ => None,
    });
    let schema = Schema::of("tare-kernel");
    assert!(kernels.inspect(|report| schema.holds(&printed(report))).count() > 0);
}

#[test]
fn a_key_that_no_schema_names_is_found_and_borne_by_the_one_that_ships() {
    let schema = Schema::of("tare-analysis-2");
    let document: Value = serde_json::from_str(&printed(&analyze(&sliced()))).unwrap();
    assert_eq!(schema.refuses(&document), (false, false));
    for place in [
        "",
        "/comparisons/0",
        "/comparisons/0/metrics/0/paired",
        "/comparisons/0/baseline",
    ] {
        let mut document = document.clone();
        let object = document.pointer_mut(place).unwrap().as_object_mut().unwrap();
        object.insert("new".to_owned(), 1.into());
        assert_eq!(schema.refuses(&document), (false, true), "{place}");
    }
}

#[test]
fn a_key_that_is_missing_or_of_another_type_is_refused() {
    let schema = Schema::of("tare-analysis-2");
    let document: Value = serde_json::from_str(&printed(&analyze(&sliced()))).unwrap();
    let mut without = document.clone();
    without.as_object_mut().unwrap().remove("comparisons");
    let mut other = document;
    other["comparisons"][0]["metrics"][0]["n"] = "ten".into();
    for document in [without, other] {
        assert_eq!(schema.refuses(&document), (true, true));
    }
}
