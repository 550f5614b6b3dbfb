//! The report on a terminal.

use crate::common::*;
use insta::assert_snapshot;
use tare_analysis::analyze;
use tare_model::finding::{Finding, Reason};
use tare_model::results::{Outcome, Record, Results};
use tare_report::text::{TextOptions, Where, answer};

const PLAIN: TextOptions = TextOptions {
    colour: false,
    width: 80,
    ascii: false,
    drawings: true,
};

const COLOURED: TextOptions = TextOptions {
    colour: true,
    width: 80,
    ascii: false,
    drawings: true,
};

const HERE: Where<'_> = Where {
    again: None,
    resume: "tare run {}",
    program: "tare",
    file: "box.jsonl",
    page: Some("box.html"),
};

#[test]
fn the_answer_reads_like_this() {
    let synthetic = Synthetic::new().provisioning(&[Vanilla, Pinned]).noise(0.002);
    let synthetic = synthetic
        .cost("docker", Pinned, "syscall", 1.19)
        .cost("docker", Vanilla, "syscall", 3.2);
    let text = answer(&analyze(&synthetic.build()), HERE, PLAIN);
    assert_snapshot!(text);
}

/// The default study on a bad day: an emulated machine, every kind of doubt, open comparisons.
fn bad_day() -> Results {
    let mut results = default_study().noise(0.03).build();
    fail(&mut results, "lxc", 2, Reason::Timeout);
    let vm = "vm".parse().expect("a platform");
    let vm = results.header.platforms.get_mut(&vm).expect("it was probed");
    vm.details.insert("accelerator".to_owned(), "tcg".to_owned());
    let kinds = [
        Finding::HostBusy { load: 0.5 },
        Finding::Swapped { pages: 1 },
        Finding::MajorFaults { faults: 9 },
        Finding::Overheated { times: 1 },
    ];
    for record in &mut results.records {
        if let Record::Trial(trial) = record {
            trial.findings.extend(kinds.clone());
        }
    }
    results
}

#[test]
fn the_answer_of_the_default_study_is_thirty_lines_of_eighty_columns_whatever_is_in_doubt() {
    let text = answer(&analyze(&bad_day()), HERE, PLAIN);
    assert!(text.lines().count() <= 30, "{}\n{text}", text.lines().count());
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert_snapshot!(text);
}

#[test]
fn the_answer_keeps_to_narrow_and_to_wide_terminals() {
    let analysis = analyze(&bad_day());
    for width in [40, 60, 64, 100, 200] {
        let text = answer(&analysis, Where::default(), TextOptions { width, ..PLAIN });
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}\n{text}");
        }
    }
}

#[test]
fn a_terminal_of_ascii_gets_ascii() {
    let ascii = TextOptions { ascii: true, ..PLAIN };
    let analysis = analyze(&bad_day());
    let (plain, whole) = (answer(&analysis, HERE, ascii), whole_in(&analysis, ascii));
    assert!(plain.is_ascii() && whole.is_ascii(), "{plain}");
    assert!(plain.contains("-o-"), "{plain}");
}

#[test]
fn the_report_keeps_to_eighty_columns() {
    let mut results = default_study().command(&["/usr/bin/true"]).build();
    fail(&mut results, "lxc", 2, Reason::Timeout);
    let text = whole_in(&analyze(&results), PLAIN);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn wide_ratios_keep_clear_of_what_stands_beside_them() {
    for (cost, ratio, word) in [(0.0123, "0.0123", "faster"), (1234.5, "1234.5", "slower")] {
        let synthetic = Synthetic::new().cost("docker", Pinned, "syscall", cost);
        let text = whole_in(&analyze(&synthetic.build()), PLAIN);
        let row = format!("{ratio} ({ratio} to {ratio})  {word}");
        assert_eq!(text.matches(&row).count(), 1, "{text}");
        // The ratio of means beside it, and once more among the tests.
        let means = format!("{ratio} ({ratio} to {ratio})");
        assert_eq!(text.matches(&means).count(), 3, "{text}");
    }
}

#[test]
fn readings_of_memory_have_room() {
    let mut results = Synthetic::new().build();
    let proof = proof_of(&mut results, "docker");
    (proof.limit_bytes, proof.touched_bytes) = (1 << 30, Some((1 << 30) - 10_695_475));
    let text = whole_in(&analyze(&results), PLAIN);
    let expected = "  docker pinned  proven  2.00     2.00    2.00  1024   1013.8     2048";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn one_of_a_kind_has_no_plural_and_a_command_is_named_once() {
    let mut results = Synthetic::new().blocks(1).command(&["/bin/true", "x"]).build();
    results.header.study.instances[0].size.cpus = "1".parse().unwrap();
    let text = whole_in(&analyze(&results), PLAIN);
    assert_snapshot!(text);
}

#[test]
fn tests_are_spoken_of_only_where_there_are_some() {
    let told = |blocks| {
        let analysis = analyze(&Synthetic::new().blocks(blocks).build());
        passages(&analysis, &["Holm's correction"])
    };
    assert_snapshot!(told(20));
    assert_snapshot!(told(1), @"");
}

#[test]
fn colours_come_only_when_asked_for() {
    let analysis = analyze(&default_study().build());
    assert!(!whole_in(&analysis, PLAIN).contains('\u{1b}'));
    let coloured = whole_in(&analysis, COLOURED);
    assert!(coloured.contains("\u{1b}[31m  slower"));
}

#[test]
fn hostile_strings_cannot_drive_the_terminal() {
    let mut results = Synthetic::new().build();
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\r\nfake line\u{202e}\u{9b}31m";
    results.header.host.kernel = evil.to_owned();
    results.header.tare = evil.to_owned();
    let docker = results
        .header
        .platforms
        .get_mut(&"docker".parse().unwrap())
        .unwrap();
    docker.version = evil.to_owned();
    docker.details.insert(evil.to_owned(), evil.to_owned());
    for trial in trials_of(&mut results, "docker", Pinned) {
        trial.outcome = Outcome::Skipped(failure(Reason::CannotRun, evil));
    }
    let proof = proof_of(&mut results, "docker");
    proof.proven = false;
    proof.remarks.push(evil.to_owned());
    let text = whole_in(&analyze(&results), PLAIN);
    let control = |c: char| c != '\n' && c.is_control();
    assert!(!text.contains(control), "{text:?}");
    assert!(!text.contains('\u{202e}'));
    assert!(!text.lines().any(|l| l.trim_start().starts_with("fake line")));
    let coloured = whole_in(&analyze(&results), COLOURED);
    for sequence in coloured.split('\u{1b}').skip(1) {
        let ours = ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m"];
        assert!(ours.iter().any(|o| sequence.starts_with(o)), "{sequence:?}");
    }
}

#[test]
fn what_is_missing_is_a_dash_and_not_nought() {
    let mut results = Synthetic::new().blocks(1).build();
    for trial in trials_of(&mut results, "docker", Pinned) {
        trial.outcome = Outcome::Failed(failure(Reason::Launch, "no space"));
    }
    let text = whole_in(&analyze(&results), PLAIN);
    assert!(text.contains("  syscall   latency  0  —  "), "{text}");
    let tests = text
        .split("docker pinned against native pinned\n")
        .nth(1)
        .expect("the tests");
    let row: String = tests.lines().take(2).collect();
    assert!(row.matches('—').count() >= 10 && !row.contains("0.0"), "{row}");
    assert!(text.contains("the box could not be made x1 (first: no space)"));
    assert!(text.contains("turbo: —"));
}

#[test]
fn evidence_and_caveats_are_there() {
    let mut results = default_study().build();
    let finding = tare_model::finding::Finding::HostBusy { load: 0.2 };
    find(&mut results, "vm", Pinned, 3, &finding);
    let text = whole_in(&analyze(&results), PLAIN);
    assert_snapshot!(text);
}

#[test]
fn a_finding_of_one_workload_names_it() {
    let mut results = default_study().build();
    for record in &mut results.records {
        if let Record::Trial(trial) = record
            && trial.cell.workload == "spawn"
        {
            trial.findings.push(Finding::HostBusy { load: 0.2 });
        }
    }
    let text = whole_in(&analyze(&results), PLAIN);
    assert_snapshot!(with(&text, &["all in spawn"]));
}

#[test]
fn one_block_tells_its_ratio_and_that_it_is_of_one_block() {
    let synthetic = Synthetic::new().blocks(1).cost("docker", Pinned, "syscall", 1.25);
    let analysis = analyze(&synthetic.build());
    let text = answer(&analysis, HERE, PLAIN);
    assert_snapshot!(text);
    assert!(whole_in(&analysis, PLAIN).contains("1.250 (one block)"));
    assert!(page(&analysis).contains("one block"));
    assert!(headline(&analysis).paired.is_none());
}

#[test]
fn kinds_of_box_stand_above_their_workloads_where_both_find_no_room_in_a_line() {
    let platform = "docker?network=bridge&storage=volume";
    let synthetic = Synthetic::new().platforms(&["native", platform]).noise(0.002);
    let text = answer(&analyze(&synthetic.build()), HERE, PLAIN);
    let kind = text.lines().position(|line| line.starts_with(platform));
    let row = text.lines().nth(kind.expect("a line with the kind of box") + 1);
    assert!(row.expect("a row below").starts_with("  syscall  "), "{text}");
    assert!(!text.lines().any(|line| line.chars().count() > 80), "{text}");
}

#[test]
fn the_evidence_has_the_command_that_measures_the_same_again() {
    let told = |synthetic: Synthetic| {
        let text = whole(&analyze(&synthetic.blocks(12).seed(7).build()));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let kernels = told(Synthetic::new());
    assert!(
        kernels.contains("to measure again: tare run -w syscall --cpus ")
            && kernels.contains(" -p native,docker --provisioning "),
        "{kernels}"
    );
    assert!(kernels.contains(" --blocks 12 --seed "), "{kernels}");
    // Whoever reads the page has not the program.
    assert!(!told(Synthetic::new().command(&["./own"])).contains("to measure again"));
}
