//! The table with few draws. The seed is fixed, so that it is the same table in
//! every run: a build that is right stays right.

use tare_selftest::simulate::simulate;
use tare_selftest::table::{Row, Verdict};

/// So few that it takes seconds; what is off by several percent shows.
const DRAWS: u32 = 300;

fn table(threads: usize) -> Vec<Row> {
    let experiments = tare_selftest::all();
    simulate(&experiments, DRAWS, 3, threads, &mut |_| true).expect("a table")
}

#[test]
fn every_claim_holds_and_the_number_of_threads_changes_nothing() {
    let rows = table(2);
    let differing: Vec<&Row> = rows
        .iter()
        .filter(|row| row.verdict == Verdict::Differs)
        .collect();
    assert!(differing.is_empty(), "{differing:#?}");
    assert!(
        rows.iter()
            .filter(|row| row.verdict == Verdict::AsPromised)
            .count()
            >= 40
    );
    assert_eq!(rows, table(1));
}

#[test]
fn whoever_watches_can_stop_it() {
    let mut shares = Vec::new();
    let stopped = simulate(&tare_selftest::all(), DRAWS, 3, 1, &mut |share| {
        shares.push(share);
        shares.len() < 2
    });
    assert_eq!(stopped, None);
    assert_eq!(shares.len(), 2);
}
