//! What each tool writes, shortened.

use crate::foreign::{Input, Table, Wishes, analyze, read, read_all};

const fn wishes(baseline: &str) -> Wishes<'_> {
    Wishes {
        baseline: Some(baseline),
        direction: None,
        margin: 0.01,
        threads: 1,
    }
}

/// Cell, metric, unit, whether higher is better, and values of each series.
fn series(table: &Table) -> Vec<String> {
    let of = |series: &crate::foreign::table::Series| {
        let metric = crate::foreign::comparison::metric(table, series.metric, None);
        let values: Vec<f64> = series.values.iter().map(|v| v.value).collect();
        format!(
            "{}: {} {} {:?} {values:?}",
            table.cells.name(series.cell),
            metric.name,
            metric.unit.unwrap_or("-"),
            metric.direction,
        )
    };
    table.series.iter().map(of).collect()
}

fn one(source: &str, text: &str) -> Vec<String> {
    series(&read(source, text.as_bytes()).unwrap())
}

fn refused(text: &str) -> String {
    read("data", text.as_bytes()).unwrap_err().to_string()
}

const HYPERFINE: &str = r#"{
  "results": [
    {"command": "sleep 0.1", "mean": 9.0, "stddev": 0.1, "times": [0.5, 1.0], "exit_codes": [0, 0]},
    {"command": "sleep 0.2", "mean": 9.0, "times": [2.0, 3.0], "exit_codes": [0, 1]},
    {"command": "sleep 0.3", "mean": 9.0}
  ]
}
"#;

#[test]
fn a_figure_of_hyperfine_is_the_mean_of_its_runs() {
    let expected = [
        "sleep 0.1: time s Lower [0.75]",
        "sleep 0.2: time s Lower [NaN]",
        "sleep 0.3: time s Lower [9.0]",
    ];
    assert_eq!(one("h.json", HYPERFINE), expected);
    // On one line, as jq writes it.
    assert_eq!(one("h.json", &HYPERFINE.replace('\n', "")), expected);
}

#[test]
fn a_figure_of_jmh_is_the_mean_of_its_forks() {
    let text = r#"[
    {"jmhVersion": "1.36", "benchmark": "a.B.c", "mode": "thrpt", "params": {"n": "10"},
     "primaryMetric": {"score": 1.0, "scoreError": "NaN", "scoreUnit": "ops/s", "rawData": [[12.0, 14.0], [15.0]]}},
    {"benchmark": "a.B.d", "mode": "avgt",
     "primaryMetric": {"score": 2.5, "scoreError": "NaN", "scoreUnit": "ns/op"}}
]"#;
    assert_eq!(
        one("jmh.json", text),
        [
            "a.B.c n=10: throughput ops/s Higher [14.0]",
            "a.B.d: time ns/op Lower [2.5]"
        ]
    );
}

#[test]
fn pytest_benchmark_is_read_with_and_without_its_rounds() {
    let text = r#"{
    "machine_info": {"node": "h"},
    "benchmarks": [
        {"name": "test_a", "fullname": "t.py::test_a", "stats": {"mean": 9.0, "data": [1.0, 2.0]}},
        {"name": "test_b", "fullname": "t.py::test_b", "stats": {"mean": 9.0}}
    ]
}"#;
    let expected = [
        "t.py::test_a: time s Lower [1.5]",
        "t.py::test_b: time s Lower [9.0]",
    ];
    assert_eq!(one("p.json", text), expected);
}

#[test]
fn criterion_is_read_by_sample_and_by_message() {
    let sample = r#"{"sampling_mode":"Linear","iters":[1.0,3.0],"times":[10.0,50.0]}"#;
    let path = "target/criterion/fib/20/new/sample.json";
    assert_eq!(one(path, sample), ["fib/20: time ns Lower [15.0]"]);
    let messages = "{\"reason\":\"benchmark-complete\",\"id\":\"fib/20\",\"iteration_count\":[1,3],\
        \"measured_values\":[10,50],\"unit\":\"ns\"}\n{\"reason\":\"group-complete\",\"group_name\":\"fib\"}\n";
    assert_eq!(one("m.json", messages), ["fib/20: time ns Lower [15.0]"]);
}

#[test]
fn entries_of_github_action_benchmark_are_told_apart_by_their_units() {
    let text = r#"[
    {"name": "CPU", "unit": "Percent", "value": 50},
    {"name": "Sort", "unit": "ops/sec", "value": 1.5, "range": "0.1", "extra": "x"},
    {"name": "Bare", "value": 2}
]"#;
    let expected = [
        "CPU: Percent Percent Lower [50.0]",
        "Sort: ops/sec ops/sec Higher [1.5]",
        "Bare: value - Lower [2.0]",
    ];
    assert_eq!(one("g.json", text), expected);
    assert_eq!(one("g.json", &text.replace('\n', "")), expected);
}

#[test]
fn bencher_metric_format_is_read_whatever_its_benchmarks_are_called() {
    let text = r#"{
  "results": {"latency": {"value": 88.0, "lower_value": 87.4, "upper_value": 88.9}, "throughput": {"value": 5.5}},
  "docker pinned syscall": {"cost": {"value": 1.25}}
}"#;
    let expected = [
        "docker pinned syscall: cost - Lower [1.25]",
        "results: latency ns Lower [88.0]",
        "results: throughput ops/s Higher [5.5]",
    ];
    assert_eq!(one("b.json", text), expected);
    assert_eq!(one("b.json", &text.replace('\n', "")), expected);
    assert!(refused("{\n}").contains("this is a JSON document"));
}

#[test]
fn repeated_benchmarks_of_go_are_one_figure() {
    let text = "goos: linux\npkg: x\nBenchmarkFib-8   \t 100\t 400 ns/op\t 16 B/op\t 2 allocs/op\n\
        BenchmarkFib-8   \t 100\t 500 ns/op\t 16 B/op\t 2 allocs/op\nBenchmarkCopy-8 9 10.5 ns/op 95.2 MB/s\nPASS\nok x 1s\n";
    assert_eq!(
        one("go.txt", text),
        [
            "Fib-8: time ns/op Lower [450.0]",
            "Fib-8: bytes B/op Lower [16.0]",
            "Fib-8: allocations allocs/op Lower [2.0]",
            "Copy-8: time ns/op Lower [10.5]",
            "Copy-8: bandwidth MB/s Higher [95.2]"
        ]
    );
}

#[test]
fn each_file_of_a_cell_is_a_block() {
    let old: Vec<String> = (0..12)
        .map(|n| format!("BenchmarkA-8 9 {}.5 ns/op 1 B/op\n", 100 + n % 3))
        .collect();
    let new: Vec<String> = (0..12)
        .map(|n| format!("BenchmarkA-8 9 {}.5 ns/op 1 B/op\n", 110 + n % 4))
        .collect();
    let inputs = old.iter().zip(&new).flat_map(|(old, new)| {
        [("old", old), ("new", new)].map(|(cell, text)| Input {
            source: "x.txt",
            cell: Some(cell),
            bytes: text.as_bytes(),
        })
    });
    let table = read_all(inputs.collect()).unwrap();
    assert_eq!(table.blocks.count(), 12);
    let analysis = analyze(&table, wishes("old")).unwrap();
    let metrics: Vec<_> = analysis
        .comparisons
        .iter()
        .map(|c| (c.figures.metric.name, c.figures.n))
        .collect();
    assert_eq!(metrics, [("A-8", 12), ("A-8 bytes", 12)]);
    assert_eq!(analysis.notices[0].name(), "repetitions");
}

#[test]
fn what_has_no_figures_is_told_with_what_to_do() {
    let rows = r#"[{"block": 1, "cell": "old", "metric": "t", "value": 10.01}]"#;
    for (text, told) in [
        (
            rows,
            "data: this is a JSON document, not a table: write one object per line",
        ),
        ("[]", "this is a JSON document"),
        ("{\n\"a\": 1\n}", "this is a JSON document"),
        ("{\n\"results\": [", "a JSON document that cannot be read: "),
        (
            "name old time/op new time/op delta\n",
            "give the files that benchstat read",
        ),
        (
            "      │   old.txt   │  new.txt │\n",
            "give the files that benchstat read",
        ),
        ("goos: linux\nFAIL\n", "no benchmark in it has a figure"),
        ("{\"results\": []}", "no benchmark in it has a figure"),
    ] {
        assert!(refused(text).contains(told), "{text}: {}", refused(text));
    }
    // Rows are rows, whatever is wrong with them.
    assert!(
        refused("{\"block\":1}").contains("data:1:"),
        "{}",
        refused("{\"block\":1}")
    );
    let alone = read("go.txt", &b"BenchmarkA-8 9 1.5 ns/op\n"[..]).unwrap();
    let error = analyze(&alone, wishes("A-8")).unwrap_err().to_string();
    assert!(error.contains("name a cell before each file"), "{error}");
    let table = "block,cell,metric,value\n1,a,t,1\n";
    let cell = Some("old");
    let named = read_all(vec![Input {
        source: "t.csv",
        cell,
        bytes: table.as_bytes(),
    }])
    .unwrap_err();
    assert!(named.to_string().contains("give it alone"), "{named}");
}

#[test]
fn a_figure_of_google_benchmark_is_the_mean_of_its_repetitions() {
    let text = r#"{"context": {"num_cpus": 2}, "benchmarks": [
        {"name": "copy/8", "run_type": "iteration", "real_time": 2.0, "cpu_time": 9.0, "time_unit": "us"},
        {"name": "copy/8", "run_type": "iteration", "real_time": 4.0, "cpu_time": 9.0, "time_unit": "us"},
        {"name": "copy/8_mean", "run_type": "aggregate", "real_time": 3.0, "cpu_time": 9.0, "time_unit": "us"},
        {"name": "sort", "error_occurred": true, "error_message": "no input"}
    ]}"#;
    assert_eq!(
        one("g.json", text),
        ["copy/8: time s Lower [3e-6]", "sort: time s Lower [NaN]"]
    );
}

#[test]
fn what_is_no_single_document_is_told_with_the_way_out() {
    let two = format!("{HYPERFINE}{HYPERFINE}");
    assert!(refused(&two).contains("another document begins in line 8: give each a file of its own"));
    let rows = "{\n  \"block\": 1\n}\n{\n  \"block\": 2\n}\n";
    assert!(
        refused(rows).contains("each row of a table one line"),
        "{}",
        refused(rows)
    );
    let nan = HYPERFINE.replace("0.1,", "NaN,");
    assert!(
        refused(&nan).contains("line 3: expected value: JSON has no NaN"),
        "{}",
        refused(&nan)
    );
}
