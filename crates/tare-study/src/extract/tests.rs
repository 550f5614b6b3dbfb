//! Figures in output as tools print it.

use super::*;
use proptest::prelude::*;
use tare_model::output::{Field, Row};

fn of(find: Find, stdout: &str) -> Result<f64, ExtractError> {
    let output = Output {
        stdout: stdout.as_bytes(),
        stderr: b"",
    };
    figure(&Extractor::of(find), &Unit::One, output)
}

fn regex(pattern: &str, stdout: &str) -> Result<f64, ExtractError> {
    of(Find::Regex(pattern.to_owned()), stdout)
}

fn field(column: &str, row: Option<(&str, &str)>) -> Find {
    Find::Csv(Field {
        column: column.to_owned(),
        row: row.map(|(column, is)| Row {
            column: column.to_owned(),
            is: is.to_owned(),
        }),
    })
}

#[test]
fn a_pattern_finds_one_figure() {
    let text = "Copy: 18466.0 MB/s\nTriad: 15754.5 MB/s\n";
    assert_eq!(regex(r"^Triad: ([\d.]+) MB/s$", text), Ok(15754.5));
    assert_eq!(regex(r"^(Copy): (?<value>[\d.]+)", text), Ok(18466.0));
    assert!(matches!(
        regex(r"^Add: ([\d.]+)", text),
        Err(ExtractError::Missing { .. })
    ));
    assert!(matches!(
        regex(r": ([\d.]+) MB/s", text),
        Err(ExtractError::Several { .. })
    ));
}

#[test]
fn numbers_are_read_as_tools_print_them_and_nothing_else_is_one() {
    for (text, value) in [
        ("1", 1.0),
        (" 2.50 ", 2.5),
        ("1.5e3", 1500.0),
        ("1,234.0", 1234.0),
        ("1,234,567", 1_234_567.0),
        ("12,345,678.9", 12_345_678.9),
        ("-3", -3.0),
    ] {
        assert_eq!(number(text, None), Ok(value), "{text}");
    }
    for text in [
        "",
        "+++++",
        "inf",
        "nan",
        "-",
        ",",
        "1,2,3",
        "0,234,567",
        "1,23,456",
        "12 MB",
        "0x10",
        "1e999",
    ] {
        let found = number(text, None);
        assert!(
            matches!(found, Err(ExtractError::NoNumber(_))),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn a_comma_with_two_readings_is_refused_with_both() {
    let told = |text: &str| number(text, None).unwrap_err().to_string();
    assert!(told("1,234").starts_with("'1,234' is 1234 or 1.234: give --thousands-comma"));
    assert!(told("-12,500").starts_with("'-12,500' is -12500 or -12.5:"));
    for decimal in ["0,234", "+0,500", "00,123", "1,5", "1,2345", "1.234,5", "0,5e3"] {
        let found = number(decimal, None);
        assert_eq!(found, Err(ExtractError::DecimalComma(decimal.to_owned())));
    }
}

#[test]
fn commas_are_read_as_their_owner_says() {
    for (text, value) in [
        ("1,234", 1.234),
        ("0,234", 0.234),
        ("1.234,5", 1234.5),
        ("12", 12.0),
        ("5,5e3", 5500.0),
    ] {
        assert_eq!(number(text, Some(Comma::Decimal)), Ok(value), "{text}");
    }
    for (text, value) in [("1,234", 1234.0), ("999.5", 999.5), ("12", 12.0)] {
        assert_eq!(number(text, Some(Comma::Thousands)), Ok(value), "{text}");
    }
    for text in ["1,5", "0,234", "12,34", "1.234,5"] {
        let found = number(text, Some(Comma::Thousands));
        assert_eq!(found, Err(ExtractError::DecimalComma(text.to_owned())));
    }
}

#[test]
fn a_point_beside_decimal_commas_is_refused_unless_it_can_only_part_thousands() {
    let told = |text: &str| told(number(text, Some(Comma::Decimal)));
    assert!(told("1.234").starts_with("'1.234' is 1234 or 1.234: if the point begins the fraction, omit"));
    assert!(told("-12.500").starts_with("'-12.500' is -12500 or -12.5:"));
    for point in ["1.5", "0.234", "1.2345", "1.5e3"] {
        assert!(told(point).contains("has a decimal point: omit --decimal-comma"));
    }
    for none in ["1,234.5", "1.5.2", "1,2,3"] {
        assert_eq!(told(none), format!("'{none}' is not a number"));
    }
    assert_eq!(number("1.234.567", Some(Comma::Decimal)), Ok(1_234_567.0));
}

#[test]
fn a_pointer_finds_a_number_in_json() {
    let text = r#"{"jobs":[{"read":{"iops":80600.5,"text":"1,200.0","none":null}}]}"#;
    let at = |pointer: &str| of(Find::Json(pointer.to_owned()), text);
    assert_eq!(at("/jobs/0/read/iops"), Ok(80600.5));
    assert_eq!(at("/jobs/0/read/text"), Ok(1200.0));
    assert!(matches!(at("/jobs/0/read/none"), Err(ExtractError::NoNumber(_))));
    assert!(matches!(
        at("/jobs/1/read/iops"),
        Err(ExtractError::Missing { .. })
    ));
    let cut = of(Find::Json("/a".to_owned()), "{\"a\":");
    assert!(matches!(
        cut,
        Err(ExtractError::Unreadable { format: "JSON", .. })
    ));
}

#[test]
fn a_field_of_csv_is_found_by_name_or_number_and_its_line_by_what_stands_in_it() {
    let redis = "\"test\",\"rps\"\n\"SET\",\"183554.33\"\n\"GET\",\"192827.61\"\n";
    assert_eq!(of(field("rps", Some(("test", "GET"))), redis), Ok(192_827.61));
    assert_eq!(of(field("2", Some(("1", "SET"))), redis), Ok(183_554.33));
    assert_eq!(of(field("2", None), redis), Ok(192_827.61));
    let several = "a,1\na,2\n";
    assert!(matches!(
        of(field("2", Some(("1", "a"))), several),
        Err(ExtractError::Several { .. })
    ));
    // Bonnie++ prints crosses for what was too short to be timed.
    let crosses = "1.98,host,+++++,12\n";
    assert!(matches!(
        of(field("3", None), crosses),
        Err(ExtractError::NoNumber(_))
    ));
    assert!(matches!(
        of(field("9", None), crosses),
        Err(ExtractError::Missing { .. })
    ));
    assert!(matches!(
        of(field("0", None), crosses),
        Err(ExtractError::Missing { .. })
    ));
    assert!(matches!(
        of(field("1", None), ""),
        Err(ExtractError::Missing { .. })
    ));
}

#[test]
fn what_could_never_find_a_figure_is_refused() {
    let wrong = |pattern: &str| check(&Find::Regex(pattern.to_owned())).unwrap_err();
    assert!(matches!(wrong("("), ExtractError::Pattern(..)));
    assert!(matches!(wrong("x"), ExtractError::Group(_, 0)));
    assert!(matches!(wrong("(a)(b)"), ExtractError::Group(_, 2)));
    assert!(check(&Find::Regex("(a)(?<value>b)".to_owned())).is_ok());
    assert!(check(&Find::Json("iops".to_owned())).is_err());
}

#[test]
fn a_check_looks_at_standard_error_where_it_is_told_to() {
    let output = Output {
        stdout: b"errors: 3\n",
        stderr: b"warning: x\n",
    };
    let said = |stream, regex: &str| {
        let regex = regex.to_owned();
        said_in(&Said { stream, regex }, output)
    };
    assert_eq!(said(Stream::Stderr, "^warning"), Ok(Some(Stream::Stderr)));
    assert_eq!(said(Stream::Stdout, "^warning"), Ok(None));
    let none = Bounded {
        name: "errors".to_owned(),
        from: Extractor::of(Find::Regex(r"errors: (\d+)".to_owned())),
        at_least: None,
        at_most: Some(0.0),
    };
    assert_eq!(out_of_bounds(&none, output), Ok(Some(3.0)));
}

proptest! {
    #[test]
    fn no_output_makes_it_panic(text in ".{0,200}", pointer in ".{0,20}", column in ".{0,5}") {
        let _ = of(Find::Json(pointer), &text);
        let _ = of(field(&column, Some(("1", "a"))), &text);
        let _ = regex("a(.*)", &text);
    }

    #[test]
    fn a_number_that_was_printed_is_read_again(value in -1e12..1e12_f64) {
        prop_assert_eq!(number(&value.to_string(), None), Ok(value));
    }
}

fn both<'a>(stdout: &'a str, stderr: &'a str) -> Output<'a> {
    Output {
        stdout: stdout.as_bytes(),
        stderr: stderr.as_bytes(),
    }
}

fn told(result: Result<f64, ExtractError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn a_figure_is_found_in_either_stream_and_in_both_it_is_none() {
    let rate = Extractor::of(Find::Regex("^rate: ([0-9.]+)".to_owned()));
    let of = |stdout, stderr| figure(&rate, &Unit::One, both(stdout, stderr));
    assert_eq!(of("rate: 1\n", "done\n"), Ok(1.0));
    assert_eq!(of("", "rate: 2\n"), Ok(2.0));
    let twice = told(of("rate: 1\n", "rate: 2\n"));
    assert!(
        twice.ends_with("'1' in standard output and '2' in standard error"),
        "{twice}"
    );
    assert!(told(of("", "")).starts_with("the output has no match"));
    let json = Extractor::of(Find::Json("/rate".to_owned()));
    let of = |stdout, stderr| figure(&json, &Unit::One, both(stdout, stderr));
    assert_eq!(of("{\"rate\":1}", "a warning"), Ok(1.0));
    assert_eq!(of("\n", "{\"rate\":2}"), Ok(2.0));
}

#[test]
fn a_figure_of_the_stream_that_is_not_named_is_told() {
    let stdout = Extractor {
        stream: Stream::Stdout,
        ..Extractor::of(Find::Regex("([0-9.]+) GB/s".to_owned()))
    };
    let told = told(figure(&stdout, &Unit::One, both("", "1.5 GB/s\n")));
    assert!(
        told.contains("standard error has: set stream = \"stderr\""),
        "{told}"
    );
}

#[test]
fn a_check_of_no_stream_looks_at_both() {
    let said = |stream| {
        let regex = "ERROR".to_owned();
        said_in(&Said { stream, regex }, both("rate: 1\n", "ERROR\n")).unwrap()
    };
    assert_eq!(said(Stream::Both), Some(Stream::Stderr));
    assert_eq!(said(Stream::Stdout), None);
}

#[test]
fn a_unit_is_read_beside_its_figure() {
    let of = |pattern: &str, unit: &Unit, text: &str| {
        let from = Extractor {
            // Of the unit that was asked for, which the printed one takes the place of.
            scale: if *unit == Unit::Second { 1e-3 } else { 1.0 },
            ..Extractor::of(Find::Regex(pattern.to_owned()))
        };
        figure(&from, unit, both(text, ""))
    };
    let latency = |text: &str| of(r"Latency\s+{value} {unit}", &Unit::Second, text);
    let near = |found: Result<f64, ExtractError>, value: f64| {
        assert!((found.clone().unwrap() / value - 1.0).abs() < 1e-12, "{found:?}");
    };
    near(latency("Latency   935.00us    1.02ms   80.00%"), 935e-6);
    near(latency("Latency     1.02ms"), 1.02e-3);
    near(latency("Latency     1.50s"), 1.5);
    near(latency("Latency     2.00m"), 120.0);
    near(latency("Latency     3 seconds"), 3.0);
    assert!(told(latency("Latency 3 MB")).contains("'MB' is printed as the unit"));
    let named = r"(?<value>[0-9.]+)\s*(?<unit>[kMG]?bits/sec)";
    near(of(named, &Unit::BytePerSecond, "9.5 Gbits/sec"), 9.5e9 / 8.0);
    let rate = Unit::Other("op/s".to_owned());
    near(of("Req/Sec {value}{unit}?", &rate, "Req/Sec 12.3k"), 12300.0);
    near(of("Req/Sec {value}{unit}?", &rate, "Req/Sec 950"), 950.0);
}

#[test]
fn a_check_reads_no_unit() {
    let find = Find::Regex("{value} {unit}".to_owned());
    assert!(check(&find).is_ok());
    assert!(matches!(
        check_without_unit(&find),
        Err(ExtractError::UnitOfCheck(_))
    ));
}

#[test]
fn what_occurs_twice_is_refused_by_its_name() {
    let json = |pointer: &str, text: &str| told(of(Find::Json(pointer.to_owned()), text));
    let twice = "{\"rate\":1.5,\"rate\":1234.5}";
    assert_eq!(
        json("/rate", twice),
        "more than one '/rate' in standard output: 1.5 and 1234.5"
    );
    assert!(json("/a/b", r#"{"a":{"b":1},"a":{"b":2}}"#).starts_with("more than one '/a/b'"));
    assert!(json("/rate", "{\"rate\":1}\n{\"rate\":2}\n").starts_with("more than one"));
    let csv = told(of(field("rps", None), "test,rps,rps\nGET,1,1234.5\n"));
    assert_eq!(
        csv,
        "more than one column 'rps' in standard output: columns 2 and 3"
    );
    // Of what is not asked for there may be any number.
    assert_eq!(of(Find::Json("/b".to_owned()), r#"{"a":1,"a":2,"b":3}"#), Ok(3.0));
}

#[test]
fn a_json_document_is_found_among_lines_of_text_and_odd_numbers() {
    let iops = |text: &str| of(Find::Json("/jobs/0/iops".to_owned()), text);
    let note = "fio: note: \"both\" iodepth >= 1\n[12:01] start\n{ \"jobs\" : [{\"iops\": 5}] }\ndone\n";
    assert_eq!(iops(note), Ok(5.0));
    let rate = |text: &str| of(Find::Json("/rate".to_owned()), text);
    assert_eq!(rate("{\"event\":\"start\"}\n{\"rate\":5}\n"), Ok(5.0));
    assert_eq!(rate("\u{feff}{\"rate\":5}"), Ok(5.0));
    for odd in ["NaN", "-nan", "Infinity", "-inf"] {
        assert_eq!(rate(&format!("{{\"rate\":5,\"err\":{odd}}}")), Ok(5.0), "{odd}");
        let none = told(rate(&format!("{{\"rate\":{odd}}}")));
        assert_eq!(none, format!("'{odd}' is not a number"));
    }
    assert_eq!(rate("{\"rate\":5,\"text\":\"a NaN \\\" nan\"}"), Ok(5.0));
    assert!(told(rate("rate is low\n")).contains("it begins with 'rate is low'"));
    let cut = told(rate("note\n{\"rate\":5,}\n"));
    assert!(cut.contains("of the document that begins in line 2"), "{cut}");
    assert_eq!(of(Find::Json("/1".to_owned()), "[1.5, 2.5]"), Ok(2.5));
}

#[test]
fn odd_bytes_line_ends_and_colours_leave_figure_and_checks() {
    let pattern = "^rate: ([0-9.]+)$";
    for stdout in [
        &b"temp 40\xb0C\nrate: 1234.5\n"[..],
        b"rate: 1234.5\r\nerrors: 0\r\n",
        b"\x1b[1mrate:\x1b[0m \x1b[32m1234.5\x1b[0m\n",
    ] {
        let output = Output {
            stdout,
            stderr: b"\xff",
        };
        let found = figure(
            &Extractor::of(Find::Regex(pattern.to_owned())),
            &Unit::One,
            output,
        );
        assert_eq!(found, Ok(1234.5));
    }
}

#[test]
fn no_pattern_searches_for_long() {
    let begun = std::time::Instant::now();
    let text = "a".repeat(8 << 20);
    assert!(matches!(
        regex("a*b|(a)", &text),
        Err(ExtractError::Several { .. })
    ));
    assert!(matches!(
        regex("(?:a|aa|aaa)*b(x)", &text),
        Err(ExtractError::Missing { .. })
    ));
    // Quadratic, this took minutes.
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    assert!(matches!(
        check(&Find::Regex(r"(\w{1000})".to_owned())),
        Err(ExtractError::Large(..))
    ));
    // Of these no automaton can be made: a search takes as long as the pattern times the text.
    let slow = "([ab]*a[ab]{800}c)";
    assert!(matches!(regex(slow, &text), Err(ExtractError::Large(..))));
    assert!(matches!(
        regex(slow, &text[..1000]),
        Err(ExtractError::Missing { .. })
    ));
}

/// A figure that is printed with a known unit which the expression does not read.
fn with_unit(pattern: &str, unit: &str, text: &str) -> Result<f64, ExtractError> {
    let Scaled { unit, scale } = unit_words::read(unit).unwrap();
    let from = Extractor {
        scale,
        ..Extractor::of(Find::Regex(pattern.to_owned()))
    };
    figure(&from, &unit, both(text, ""))
}

#[test]
fn a_unit_behind_a_figure_that_is_not_the_given_one_is_refused_with_both() {
    let of = |unit: &str, text: &str| with_unit("^rate: ([0-9.]+)", unit, text);
    let refused = told(of("MB/s", "rate: 1.2 GB/s\n"));
    assert!(
        refused.starts_with("'1.2 GB/s' is printed, but the unit was given as MB/s: write"),
        "{refused}"
    );
    for (unit, text) in [
        ("us", "1.01ms"),
        ("ms", "990us"),
        ("ms", "990 \u{b5}s"),
        ("s", "2 min 3 s"),
        ("MB/s", "12 Mbit/s"),
        ("MB/s", "12 GBytes/sec,"),
        ("MB/s", "12 Gb/s"),
        ("MB", "1024 KB"),
        ("MB/s", "12 MiB/s"),
        ("op/s", "12.3k"),
        ("op/s", "12.3 kop/s"),
        ("1", "12.3M"),
    ] {
        let found = of(unit, &format!("rate: {text}\n"));
        assert!(
            matches!(found, Err(ExtractError::OtherUnit { .. })),
            "{text}: {found:?}"
        );
    }
    for (unit, text) in [
        ("MB/s", "12 MB/sec"),
        ("MB/s", "12 MBytes/s"),
        ("MB/s", "12 Mb/s"),
        ("MiB/s", "12 MB/s"),
        ("MB/s", "12 MB in 1 s"),
        ("us", "12 usec"),
        ("us", "12\u{3bc}s"),
        ("ms", "12 runs"),
        ("ms", "12\nns"),
        ("op/s", "12 op/s"),
        ("op/s", "12 requests/s"),
        ("1", "12 GB/s"),
        ("1", "12 K"),
    ] {
        let found = of(unit, &format!("rate: {text}\n"));
        assert!(found.is_ok(), "{text}: {found:?}");
    }
}

#[test]
fn units_of_bytes_are_read_as_tools_print_them() {
    let of = |text: &str| with_unit("{value} {unit}", "MB/s", text);
    for text in ["112 MBytes/sec", "112 MBps", "112000 KB/s", "896 Mbits/sec"] {
        assert_eq!(of(text), Ok(112e6), "{text}");
    }
    assert_eq!(with_unit("{value} {unit}", "B", "1024 KB"), Ok(1_024_000.0));
    let open = told(of("112 Mb/s"));
    assert!(open.ends_with("give --unit Mbit/s or --unit MB/s"), "{open}");
    assert_eq!(with_unit("{value} {unit}", "us/op", "5 \u{b5}s/op"), Ok(5.0));
}

#[test]
fn a_line_that_a_carriage_return_begins_is_one() {
    let progress = "rate: 10.0\rrate: 500.0\rrate: 1234.5\n";
    let refused = told(regex("^rate: ([0-9.]+)$", progress));
    assert!(
        refused.contains("'10.0' in standard output and '500.0'"),
        "{refused}"
    );
    assert!(refused.ends_with("begin the expression with (?s).*"), "{refused}");
    assert_eq!(regex("(?s).*^rate: ([0-9.]+)$", progress), Ok(1234.5));
}

#[test]
fn utf_16_is_named() {
    for in_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        for text in ["\u{feff}rate: 5\n", "rate: 5\n"] {
            let stdout: Vec<u8> = text.encode_utf16().flat_map(in_bytes).collect();
            let output = Output {
                stdout: &stdout,
                stderr: b"",
            };
            let found = figure(&Extractor::of(Find::Json("/rate".to_owned())), &Unit::One, output);
            assert!(told(found).starts_with("standard output is UTF-16: have"));
            let none = Said {
                stream: Stream::Both,
                regex: "ERROR".to_owned(),
            };
            assert!(said_in(&none, output).is_err());
        }
    }
    assert!(!is_utf16(b"") && !is_utf16(b"a\0") && !is_utf16(b"rate: 5\n") && !is_utf16(b"\x01\0\x02\0"));
}

#[test]
fn a_line_whose_end_is_missing_is_found() {
    let of = |said: &str| line_without_end(r"^port (\d+)$", said.as_bytes());
    assert_eq!(of("loading\n\x1b[1mport 5\x1b[m").as_deref(), Some("port 5"));
    assert_eq!(of("port 5\n"), None);
    assert_eq!(of("loading"), None);
}
