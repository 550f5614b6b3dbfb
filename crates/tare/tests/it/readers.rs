//! What `tare export` writes is read by other programs, as it was measured.

use crate::common::Tare;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// Prints, for each program, what it reads of the file whose name it is given.
const READ: &str = r#"
import json, sys
import duckdb, pandas, polars
name = sys.argv[1]
sql = "select count(*), sum(value), count(distinct platform), cast(max(block) as bigint) from read_parquet(?)"
frame, table = pandas.read_parquet(name), polars.read_parquet(name)
print(json.dumps({
    "DuckDB": list(duckdb.execute(sql, [name]).fetchone()),
    "pandas": [len(frame), float(frame["value"].sum()), int(frame["platform"].nunique()), int(frame["block"].max())],
    "Polars": [table.height, table["value"].sum(), table["platform"].n_unique(), table["block"].max()],
}))
"#;

/// The Python that `scripts/setup test-all` made, if it has them all.
fn python() -> Option<PathBuf> {
    // Relative to the workspace where the Makefile sets it.
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let workspace = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = workspace.join(target).join("readers/bin/python3");
    let has_all = Command::new(&python)
        .args(["-c", "import duckdb, pandas, polars, pyarrow"])
        .output()
        .is_ok_and(|done| done.status.success());
    has_all.then_some(python)
}

#[test]
#[ignore = "slow: make test-all"]
fn duckdb_pandas_and_polars_read_the_samples_as_they_were_measured() {
    let Some(python) = python() else {
        eprintln!(
            "skipped: DuckDB, pandas and Polars are not in target/readers ('scripts/setup test-all' puts them there)"
        );
        return;
    };
    let tare = Tare::beside_others();
    tare.ok("run -p fake,fake?cost=1.5 --cpus 1 -w syscall,spawn --no-settle --blocks 3 --seed 1 -o r.jsonl");
    tare.ok("export r.jsonl -o r.parquet");
    let read = Command::new(python)
        .args(["-c", READ, "r.parquet"])
        .current_dir(tare.path("."))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&read.stdout);
    let read: Value = serde_json::from_str(&told).unwrap_or_else(|e| panic!("{e}: {read:?}"));
    let trials = tare.records_of("r.jsonl", "trial");
    let samples = trials
        .iter()
        .filter_map(|trial| trial["outcome"]["ok"]["samples"].as_object());
    let values: Vec<f64> = samples
        .flat_map(|of| of.values().filter_map(Value::as_f64))
        .collect();
    assert!(!values.is_empty());
    for program in ["DuckDB", "pandas", "Polars"] {
        // Rows count blocks from 1, as people do.
        let [rows, sum, platforms, block] = [0, 1, 2, 3].map(|i| read[program][i].as_f64().unwrap());
        assert_eq!(
            (rows, platforms, block),
            (values.len() as f64, 2.0, 3.0),
            "{program}: {read}"
        );
        let expected: f64 = values.iter().sum();
        assert!(
            (sum / expected - 1.0).abs() < 1e-9,
            "{program}: {sum} for {expected}"
        );
    }
}
