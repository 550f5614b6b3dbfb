//! Foreign data: what is read, what is said, what is refused and in which words.

use crate::common::*;
use proptest::prelude::*;
use tare_analysis::foreign::{ForeignAnalysis, Table, Wishes, analyze, read};
use tare_analysis::{Refusal, Word, analyze as analyze_results};
use tare_model::metric::Direction;
use tare_model::results::Outcome;
use tare_report::sections;
use tare_report::text::{self, TextOptions};

const WISHES: Wishes = Wishes {
    baseline: Some("a"),
    direction: None,
    margin: 0.01,
    threads: 2,
};

fn table(data: &str) -> Table {
    read("data", data.as_bytes()).unwrap()
}

/// What is said of data that cannot be analysed.
fn refused(data: impl AsRef<[u8]>) -> String {
    match read("data", data.as_ref()) {
        Ok(table) => analyze(&table, WISHES).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    }
}

fn shown(analysis: &ForeignAnalysis) -> String {
    text::render(&sections::foreign(analysis), TextOptions::default())
}

/// `a` and `b` in so many blocks, by their values.
fn pairs(values: &[(f64, f64)]) -> String {
    let rows = values
        .iter()
        .enumerate()
        .map(|(block, (a, b))| format!("{block},a,time,{a}\n{block},b,time,{b}\n"));
    "block,cell,metric,value\n".to_owned() + &rows.collect::<String>()
}

fn verdict<'a>(analysis: &'a ForeignAnalysis) -> (Word, &'a [Refusal]) {
    let verdict = analysis.comparisons[0].figures.verdict.as_ref().unwrap();
    (verdict.word, &verdict.refusals)
}

#[test]
fn foreign_data_and_results_files_are_one_analysis() {
    let results = default_study().build();
    let mut rows = String::from("block,cell,metric,value,baseline,direction\n");
    let study = &results.header.study;
    for trial in results.trials() {
        let Outcome::Ok(success) = &trial.outcome else {
            continue;
        };
        let baseline = tare_model::study::Cell {
            kind: study.baseline_of(&trial.cell.kind),
            workload: trial.cell.workload.clone(),
        };
        for metric in study.workload(&trial.cell).unwrap().metrics() {
            let direction = if metric.direction == Direction::Lower {
                "lower"
            } else {
                "higher"
            };
            rows += &format!(
                "{},{},{} {},{},{baseline},{direction}\n",
                trial.block, trial.cell, trial.cell.workload, metric.name, success.samples[&metric.name]
            );
        }
    }
    let table = table(&rows);
    let foreign = analyze(
        &table,
        Wishes {
            baseline: None,
            ..WISHES
        },
    )
    .unwrap();
    let analysis = analyze_results(&results);
    let mut compared = 0;
    for comparison in analysis
        .comparisons
        .iter()
        .filter(|c| c.against == tare_analysis::Against::Native)
    {
        for metric in &comparison.metrics {
            let name = format!("{} {}", comparison.cell.workload, metric.metric.name);
            let same = |c: &&tare_analysis::foreign::ForeignComparison| {
                c.cell == comparison.cell.to_string() && c.figures.metric.name == name
            };
            let found = &foreign.comparisons.iter().find(same).unwrap().figures;
            let (one, other) = (found.paired.as_ref().unwrap(), metric.paired.as_ref().unwrap());
            assert_eq!((found.n, found.lost), (metric.n, metric.lost));
            assert_eq!(
                (one.mean_log, one.sd_log, one.p),
                (other.mean_log, other.sd_log, other.p)
            );
            assert_eq!(found.ratio_of_means, metric.ratio_of_means);
            assert_eq!(found.variability_overhead, metric.variability_overhead);
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared}");
}

#[test]
fn separators_quotation_marks_and_json_lines_give_the_same_rows() {
    let forms = [
        "block,cell,metric,value\n1,a,time,1.5\n1,b,time,3\n",
        "\u{feff}block;cell;metric;value\r\n1;a;time;1.5\r\n\r\n1;b;time;3\r\n",
        "value\tmetric\tcell\tblock\n1.5\ttime\ta\t1\n3\ttime\t\"b\"\t1\n",
        "{\"block\":1,\"cell\":\"a\",\"metric\":\"time\",\"value\":1.5}\n{\"value\":3,\"block\":\"1\",\"cell\":\"b\",\"metric\":\"time\"}",
    ];
    for form in forms {
        let table = table(form);
        let analysis = analyze(&table, WISHES).unwrap();
        assert_eq!((analysis.rows, analysis.blocks), (2, 1), "{form}");
        let figures = &analysis.comparisons[0].figures;
        assert_eq!((figures.n, figures.paired.as_ref()), (1, None));
        assert_eq!(analysis.cells[1].mean, Some(3.0));
        assert!(shown(&analysis).contains("only 1 pair; 10 are needed"));
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let head = "block,cell,metric,value\n";
    let known = "block, cell, metric, value, baseline, direction and unit";
    for (data, expected) in [
        (String::new(), "data: no data: give a table with columns block, cell, metric and value, or one JSON object with these keys per line".to_owned()),
        ("\n \n".to_owned(), "data: no data: give a table with columns block, cell, metric and value, or one JSON object with these keys per line".to_owned()),
        (head.to_owned(), "data: a header without rows: there is nothing to analyse".to_owned()),
        ("1,a,time,1\n".to_owned(), format!("data:1:1: unknown column '1': there are {known}; remove other columns")),
        ("block,cell,metric\n".to_owned(), "data:1:1: no column 'value': the first line must name the columns block, cell, metric and value, and may name baseline, direction and unit".to_owned()),
        ("block,cell,metric,value,host\n".to_owned(), format!("data:1:25: unknown column 'host': there are {known}; remove other columns")),
        ("block,cell,cell,metric,value\n".to_owned(), "data:1:12: column 'cell' is given twice: remove one".to_owned()),
        (format!("{head}1,a,time\n"), "data:2:1: 3 fields instead of 4 as in the first line: quote fields that contain the separator".to_owned()),
        (format!("{head}1,a,time,1,5\n"), "data:2:1: 5 fields instead of 4 as in the first line: quote fields that contain the separator".to_owned()),
        (format!("{head}1,\"a,time,1\n2,b,time,1\n"), "data:2:3: the closing quotation mark is missing: a field must end on its line, and quotation marks in it must be doubled".to_owned()),
        (format!("{head}1,\"a\"b,time,1\n"), "data:2:6: text after a closing quotation mark: double the quotation marks inside a field".to_owned()),
        (format!("{head}1,a,time,x\n"), "data:2:10: value 'x' is not a number: leave it empty if a trial has no result".to_owned()),
        (format!("{head}1,é,time,NaN\n"), "data:2:10: value 'NaN' is not finite: leave it empty if a trial has no result; its pair counts as lost".to_owned()),
        (format!("{head}1,a,time,-inf\n"), "data:2:10: value '-inf' is not finite: leave it empty if a trial has no result; its pair counts as lost".to_owned()),
        (format!("{head}1,a,time,1e999\n"), "data:2:10: value '1e999' is not finite: leave it empty if a trial has no result; its pair counts as lost".to_owned()),
        ("block;cell;metric;value\n1;a;time;1,5\n".to_owned(), "data:2:10: value '1,5' is not a number: write it with a point, as 1.5".to_owned()),
        (format!("{head}1,,time,1\n"), "data:2:3: the cell is empty: fill it in every row".to_owned()),
        (format!("{head}1,a,time,1\n1.0,b,time,1\n1.0,a,time,2\n"), "data:4: a second value of metric 'time' of cell 'a' in block '1', the first is in line 2: give each trial its own block".to_owned()),
        (format!("{head}1,a,time,1\n"), "data: one cell, 'a': there is nothing to compare it with".to_owned()),
        (format!("{head}1,b x,time,1\n1,c,time,1\n"), "data: no cell 'a' to use as the baseline: choose one of 'b x', c".to_owned()),
        ("block,cell,metric,value,baseline\n1,a,time,1,x\n1,b,time,1,\n".to_owned(), "data:2: baseline 'x' of cell 'a' is not a cell: choose one of a, b".to_owned()),
        ("block,cell,metric,value,baseline\n1,b,time,1,a\n2,b,time,1,c\n".to_owned(), "data:3:12: baseline 'c' of cell 'b', which was 'a' before: give each cell one baseline".to_owned()),
        ("block,cell,metric,value,direction\n1,a,time,1,up\n".to_owned(), "data:2:12: direction 'up': give higher or lower, whichever is better".to_owned()),
        ("block,cell,metric,value,direction\n1,a,time,1,lower\n1,b,time,1,higher\n".to_owned(), "data:3:12: direction 'higher' of metric 'time', which was 'lower' before: give each metric one direction".to_owned()),
        ("block,cell,metric,value,unit\n1,a,time,1,s\n1,b,time,1,ms\n".to_owned(), "data:3:12: unit 'ms' of metric 'time', which was 's' before: give each metric one unit".to_owned()),
        (format!("{head}1,a,{},1\n", "x".repeat(70_000)), "data:2: a line of over 65536 bytes: this is not a table in long form".to_owned()),
        ("{\"record\":\"header\"}\n".to_owned(), "data: this is a results file of tare: view it with 'tare report'".to_owned()),
    ] {
        assert_eq!(refused(&data), expected, "{data:.100}");
    }
}

#[test]
fn what_is_wrong_with_json_lines_is_told_with_its_place() {
    let keys = "write one object per line with the keys block, cell, metric, value and optionally baseline, direction, unit";
    let good = "{\"block\":1,\"cell\":\"a\",\"metric\":\"time\",\"value\":1}\n";
    for (line, place, expected) in [
        (
            "{\"block\":1,\"cell\":\"a\",\"metric\":\"time\"}",
            "2:38",
            "missing field `value`",
        ),
        (
            "{\"block\":1,\"cel\":\"a\"}",
            "2:16",
            "unknown field `cel`, expected one of `block`, `cell`, `metric`, `value`, `baseline`, `direction`, `unit`",
        ),
        ("{\"block\":1,\"block\":1}", "2:18", "duplicate field `block`"),
        (
            "{\"block\":1,\"cell\":\"a\",\"metric\":\"time\",\"value\":\"1\"}",
            "2:49",
            "invalid type: string \"1\", expected a number",
        ),
        (
            "{\"block\":1,\"cell\":\"a\",\"metric\":\"time\",\"value\":.5}",
            "2:47",
            "expected value",
        ),
        (
            "{\"block\":1,\"cell\":\"a\",\"metric\":\"time\",\"value\":1e999}",
            "2:51",
            "number out of range",
        ),
        (
            "{\"block\":[],\"cell\":\"a\"}",
            "2:11",
            "invalid type: sequence, expected a number or a name of a block",
        ),
        ("1,a,time,1", "2:1", "no object"),
        ("{\"block\":1", "2:10", "it ends in the middle"),
    ] {
        let found = refused(format!("{good}{line}\n"));
        assert_eq!(found, format!("data:{place}: {expected}: {keys}"), "{line}");
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    assert_eq!(
        refused(b"block,cell,metric,value\n1,\xc3\xa9\xff,time,1\n"),
        "data:2:4: not UTF-8: save the table as UTF-8"
    );
    let binary = "data:1:5: not text (NUL byte): give a table as text, such as CSV or JSON lines in UTF-8";
    assert_eq!(refused(b"\x7fELF\0\x01\x02"), binary);
    let wide: Vec<u8> = "block,cell".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(refused(wide).contains("not text (NUL byte)"));
}

#[test]
fn blocks_that_one_cell_lacks_are_pairs_lost() {
    let mut data = pairs(&[(1.0, 1.1); 20]);
    data = data
        .replace("\n3,b,time,1.1\n", "\n")
        .replace("\n4,b,time,1.1\n", "\n4,b,time,\n")
        .replace("\n5,a,time,1\n", "\n");
    let table = table(&data);
    let analysis = analyze(&table, WISHES).unwrap();
    let figures = &analysis.comparisons[0].figures;
    assert_eq!((figures.n, figures.lost), (17, 3));
    assert_eq!(
        verdict(&analysis),
        (Word::None, &[Refusal::PairsLost { lost: 3, of: 20 }][..])
    );
    assert_eq!((analysis.cells[1].n, analysis.cells[1].empty), (18, 1));
    assert!(analysis.cells.iter().any(|cell| cell.empty == 1));
}

#[test]
fn values_that_are_all_equal_are_answered_and_said_to_be_so() {
    let equal = table(&pairs(&[(2.0, 2.0); 12]));
    let analysis = analyze(&equal, WISHES).unwrap();
    assert_eq!(verdict(&analysis).0, Word::Equal);
    assert!(analysis.notices.iter().any(|n| n.name() == "no-spread"));
    let costly = table(&pairs(&[(2.0, 2.2); 12]));
    let analysis = analyze(&costly, WISHES).unwrap();
    assert_eq!(verdict(&analysis).0, Word::Slower);
    assert!(analysis.notices.iter().any(|n| n.name() == "no-spread"));
}

#[test]
fn values_without_a_logarithm_get_the_ratio_of_means_and_no_verdict() {
    let mut values = [(1.0, 1.2); 12];
    for (at, value) in values.iter_mut().enumerate() {
        value.1 += 0.01 * f64::from(u8::try_from(at % 3).unwrap());
    }
    values[4].1 = 0.0;
    values[5].0 = -1.0;
    let table = table(&pairs(&values));
    let analysis = analyze(&table, WISHES).unwrap();
    let comparison = &analysis.comparisons[0];
    assert_eq!((comparison.without_logs, comparison.figures.n), (2, 12));
    assert_eq!(
        (&comparison.figures.paired, comparison.figures.steadiness.as_ref()),
        (&None, None)
    );
    assert!(comparison.figures.ratio_of_means.is_some());
    assert_eq!(
        verdict(&analysis),
        (Word::None, &[Refusal::NoLogarithm { pairs: 2 }][..])
    );
    assert_eq!(analysis.family, 0);
    assert!(shown(&analysis).contains("1 of 1 comparison has values of 0 or less"));
}

#[test]
fn a_baseline_whose_mean_is_not_above_nought_has_no_ratio() {
    let table = table(&pairs(&[(-1.0, 1.0); 12]));
    let analysis = analyze(&table, WISHES).unwrap();
    let figures = &analysis.comparisons[0].figures;
    assert_eq!(
        (figures.ratio_of_means, figures.loss, figures.op),
        (None, None, None)
    );
    assert!(shown(&analysis).contains('—'));
}

#[test]
fn blocks_with_names_keep_the_order_of_the_file_and_say_so() {
    let named = pairs(&[(1.0, 1.1); 10]).replace("\n3,", "\nthree,");
    let table = table(&named);
    let analysis = analyze(&table, WISHES).unwrap();
    assert_eq!(analysis.block_order, "file");
    assert!(shown(&analysis).contains("the blocks have names"));
}

#[test]
fn baselines_of_rows_come_before_that_of_the_option() {
    let data = "block,cell,metric,value,baseline\n1,a,t,1,\n1,b,t,1,c\n1,c,t,1,c\n1,d,t,1,\n";
    let table = table(data);
    let analysis = analyze(&table, WISHES).unwrap();
    let held: Vec<_> = analysis
        .comparisons
        .iter()
        .map(|c| (c.cell, c.baseline))
        .collect();
    assert_eq!(held, [("b", "c"), ("d", "a")]);
    let without = analyze(
        &table,
        Wishes {
            baseline: None,
            ..WISHES
        },
    )
    .unwrap();
    let left = without
        .notices
        .iter()
        .find(|n| n.name() == "without-baseline")
        .unwrap();
    assert_eq!(
        tare_report::words::notices::words(left),
        "compared with nothing, as they have no baseline: a, d; choose one with --baseline"
    );
}

#[test]
fn directions_turn_the_sign_and_a_guess_is_told() {
    let data = pairs(&[(10.0, 9.0); 12]);
    let table = table(&data);
    let guessed = analyze(&table, WISHES).unwrap();
    assert_eq!(verdict(&guessed).0, Word::Faster);
    assert!(guessed.notices.iter().any(|n| n.name() == "direction"));
    let higher = analyze(
        &table,
        Wishes {
            direction: Some(Direction::Higher),
            ..WISHES
        },
    )
    .unwrap();
    assert_eq!(verdict(&higher).0, Word::Slower);
    assert!(!higher.notices.iter().any(|n| n.name() == "direction"));
}

#[test]
fn hostile_names_cannot_drive_the_terminal() {
    let data = pairs(&[(1.0, 1.1); 10]).replace(",b,time", ",\"b\u{1b}[2J\u{202e},x\",\"\u{9b}t\"\"\"");
    let table = table(&data.replace(",a,time", ",a,\"\u{9b}t\"\"\""));
    let analysis = analyze(&table, WISHES).unwrap();
    let shown = shown(&analysis);
    assert!(shown.contains("b\\u{1b}[2J\\u{202e},x against a"), "{shown}");
    assert!(!shown.contains(['\u{1b}', '\u{9b}', '\u{202e}']));
    let error = read("data", "block,cell,metric,value\n1,a,t,\u{1b}[2J\n".as_bytes()).unwrap_err();
    assert!(
        error.to_string().contains('\u{1b}'),
        "the binary cleans what it prints"
    );
}

#[test]
fn threads_do_not_change_a_figure() {
    let values: Vec<(f64, f64)> = (1..40)
        .map(|i| (1.0 + f64::from(i % 7) / 100.0, 1.02 + f64::from(i % 5) / 100.0))
        .collect();
    let table = table(&pairs(&values));
    let with =
        |threads| serde_json::to_string(&analyze(&table, Wishes { threads, ..WISHES }).unwrap()).unwrap();
    assert_eq!(with(1), with(7));
    assert_eq!(with(1), with(0));
}

/// Whatever is read: an error with a text, or an analysis that can be shown.
fn survives(data: &[u8]) {
    if let Ok(table) = read("data", data) {
        for baseline in [None, Some("a")] {
            match analyze(&table, Wishes { baseline, ..WISHES }) {
                Ok(analysis) => {
                    assert!(!shown(&analysis).contains('\u{1b}'));
                    serde_json::to_string(&analysis).unwrap();
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_survived(data in proptest::collection::vec(any::<u8>(), 0..300)) {
        survives(&data);
    }

    #[test]
    fn any_table_is_survived(rows in proptest::collection::vec(
        ("[0-9a.e-]{0,3}", "[ab\"]{0,2}", "[tu]", prop_oneof![any::<f64>().prop_map(|v| v.to_string()), "[0-9.e-]{0,5}"]), 0..40
    )) {
        let mut data = String::from("block,cell,metric,value\n");
        for (block, cell, metric, value) in rows {
            data += &format!("{block},{cell},{metric},{value}\n");
        }
        survives(data.as_bytes());
    }

    #[test]
    fn any_values_are_survived(values in proptest::collection::vec((any::<f64>(), any::<f64>()), 1..40)) {
        let finite: Vec<_> = values.into_iter().filter(|(a, b)| a.is_finite() && b.is_finite()).collect();
        survives(pairs(&finite).as_bytes());
    }

    /// Good data in both forms with a few bytes changed, left out or put in.
    #[test]
    fn mutations_are_survived(json in any::<bool>(), edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..6)) {
        let good = if json {
            (0..12).map(|b| format!("{{\"block\":{b},\"cell\":\"a\",\"metric\":\"t\",\"value\":1.{b}}}\n{{\"block\":{b},\"cell\":\"b\",\"metric\":\"t\",\"value\":1.{b}5}}\n")).collect()
        } else {
            pairs(&(0..12).map(|b| (1.0 + f64::from(b), 1.5)).collect::<Vec<_>>())
        };
        let mut data = good.into_bytes();
        for (at, byte, kind) in edits {
            let at = at.index(data.len());
            match kind {
                0 => data[at] = byte,
                1 => data.insert(at, byte),
                _ => drop(data.remove(at)),
            }
        }
        survives(&data);
    }
}

#[test]
fn an_interval_that_says_nothing_is_not_shown_but_what_the_blocks_cost() {
    let values = [1.0, 900.0, 0.002, 3.0, 0.3, 150.0, 0.01, 1.2, 0.05, 30.0].map(|b| (1.0, b));
    let table = table(&pairs(&values));
    let analysis = analyze(&table, WISHES).unwrap();
    let figures = &analysis.comparisons[0].figures;
    assert_eq!(verdict(&analysis), (Word::None, &[Refusal::NoEstimate][..]));
    assert!(figures.paired.is_none());
    let range = figures.range.unwrap();
    let near = |value: f64, of: f64| (value / of - 1.0).abs() < 1e-9;
    assert!(
        near(range.lowest, 0.002) && near(range.highest, 900.0),
        "{range:?}"
    );
    let lines = with(&shown(&analysis), &["too disturbed", "0.002"]);
    insta::assert_snapshot!(lines, @r"
    time    10  0.00200 to 900.0 in blocks  no verdict
    too disturbed for an interval: it would contain 1, with ends over a factor
    ");
    // Blocks that are as unlike but all dearer have an interval that tells so.
    let dearer = pairs(&values.map(|(a, b)| (a, 1e6 * b)));
    assert!(
        analyze(&self::table(&dearer), WISHES).unwrap().comparisons[0]
            .figures
            .paired
            .is_some()
    );
}
