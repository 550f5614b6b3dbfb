//! Evidence of causes, in words and drawn.

use crate::common::*;
use std::collections::BTreeMap;
use tare_analysis::analyze;
use tare_model::evidence::*;
use tare_model::mechanism::MECHANISMS;
use tare_model::results::{Record, Results};

const UNITS: u64 = 1000;

/// A thousand units, each of 100 ns on the CPU, and in the filter for a fifth of that if there is one.
fn look(probes: ProbeSet, filter: bool) -> Look {
    let stack = |frames: &str, n: u64| Stack {
        state: State::OnCpu,
        frames: frames.to_owned(),
        n,
        ns: n * 100,
    };
    let mut seen = Seen::default();
    match probes {
        ProbeSet::Times => {
            let ns = UNITS * if filter { 120 } else { 100 };
            let stretches = Histogram {
                n: 10,
                ns,
                log2: vec![0, 0, 4, 6],
            };
            seen.times = BTreeMap::from([(State::OnCpu, stretches)]);
            seen.counts = BTreeMap::from([(Count::Faults, 3 * UNITS), (Count::Forks, 0)]);
        }
        ProbeSet::Calls => {
            seen.calls.insert(
                "getppid".to_owned(),
                Timed {
                    n: UNITS,
                    ns: 50 * UNITS,
                },
            );
        }
        ProbeSet::Stacks => {
            seen.stacks.push(stack("[user]", 500));
            seen.stacks.push(stack("do_syscall_64;<hostile>&", 500));
            seen.stacks
                .extend(filter.then(|| stack("do_syscall_64;__seccomp_filter", 200)));
        }
    }
    Look {
        probes,
        units: UNITS,
        wall_ns: UNITS * if filter { 120 } else { 100 },
        seen,
    }
}

fn results() -> Results {
    let mut results = Synthetic::new()
        .cost("docker", Pinned, "syscall", 1.2)
        .noise(0.001)
        .build();
    for (i, cell) in results.header.study.cells().into_iter().enumerate() {
        let filter = cell.kind.platform.to_string() == "docker";
        results.records.push(Record::Evidence(EvidenceRecord {
            cell,
            box_id: u32::try_from(i).unwrap(),
            settings: BTreeMap::from([("THP_enabled".to_owned(), u8::from(!filter).to_string())]),
            looks: ProbeSet::ALL.map(|set| look(set, filter)).into(),
        }));
    }
    results
}

#[test]
fn time_is_told_for_a_unit_of_work_beside_that_of_the_baseline() {
    let analysis = analyze(&results());
    let [of] = &analysis.evidence[..] else {
        panic!("{:?}", analysis.evidence)
    };
    let first = &of.figures[0];
    assert_eq!(
        (first.what.as_str(), first.per_unit.difference()),
        ("on CPU", 20.0)
    );
    let filter = &of.functions[0];
    assert_eq!(
        (filter.name.as_str(), filter.per_unit.cell),
        ("__seccomp_filter", 20.0)
    );
    assert!(filter.differs && !of.functions[1].differs);
    let named = |key| {
        MECHANISMS
            .iter()
            .find(|mechanism| mechanism.switch.key() == key)
            .unwrap()
    };
    let found = of.of_mechanism(named("seccomp")).unwrap();
    assert!(
        (found.adds - 0.2).abs() < 1e-9 && found.standard_error > 0.0,
        "{found:?}"
    );
    assert_eq!(of.of_mechanism(named("storage")), None);
    json(&analysis);
}

#[test]
fn the_report_names_the_function_and_draws_where_time_goes() {
    let analysis = analyze(&results());
    let text = whole(&analysis);
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains(
            "docker pinned syscall against native pinned: +20.0 ns (20 %) in __seccomp_filter; its processes have THP_enabled 0 instead of 1"
        ),
        "{text}"
    );
    let answer = tare_report::text::answer(&analysis, tare_report::text::Where::default(), unwrapped());
    assert!(
        answer.contains("why    docker pinned syscall +20.0 ns (20 %) in __seccomp_filter"),
        "{answer}"
    );
    assert!(text.contains("page faults") && !text.contains("forks"), "{text}");
    let page = page(&analysis);
    assert!(
        page.contains("cell slower-") && page.contains("__secc"),
        "no flame graph"
    );
    assert!(page.contains("on CPU: 10 (baseline 10)"), "no histogram");
    assert!(!page.contains("<hostile>"));
}
