//! Samples and slices, row by row.

use crate::common::*;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use tare_model::finding::Reason;
use tare_model::results::{Record, Session};
use tare_report::export::{Form, Rows, Writer, samples, slices};

fn written(form: Form, all: &[&Rows]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(form, &mut bytes);
    all.iter().for_each(|rows| writer.add((*rows).clone()).unwrap());
    let rows: usize = all.iter().map(|rows| rows.len()).sum();
    assert_eq!(writer.finish().unwrap(), rows);
    bytes
}

fn csv_rows(rows: &Rows) -> Vec<Vec<String>> {
    let bytes = written(Form::Csv, &[rows]);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(&bytes[..]);
    reader
        .records()
        .map(|r| r.unwrap().iter().map(str::to_owned).collect())
        .collect()
}

#[test]
fn every_sample_is_a_row_and_a_trial_without_one_is_a_row_without_a_value() {
    let mut results = Synthetic::new().build();
    let whole = csv_rows(&samples(&results));
    assert_eq!(whole.len(), 1 + 40);
    assert_eq!(
        whole[0][..8],
        [
            "run",
            "host",
            "trial",
            "block",
            "attempt",
            "started",
            "platform",
            "provisioning"
        ]
    );
    fail(&mut results, "docker", 1, Reason::Timeout);
    let with_failures = csv_rows(&samples(&results));
    let column = |name: &str| whole[0].iter().position(|head| head == name).unwrap();
    let failed: Vec<_> = with_failures
        .iter()
        .filter(|r| r[column("outcome")].starts_with("failed: "))
        .collect();
    assert!(!failed.is_empty());
    assert!(
        failed
            .iter()
            .all(|r| r[column("value")].is_empty() && r[column("metric")].is_empty())
    );
}

#[test]
fn every_row_has_the_run_that_measured_it_and_the_host_of_the_file() {
    let mut results = Synthetic::new().build();
    slice(&mut results, 8, |_| 1.0);
    results.header.host.id = Some("1f2e3d4c".to_owned());
    let session = |run: &str| {
        Record::Session(Session {
            run: run.to_owned(),
            started_unix_ns: 1,
            boot_id: None,
            blocks: None,
        })
    };
    results
        .records
        .retain(|record| !matches!(record, Record::Session(_)));
    let is_later = |record: &Record| match record {
        Record::Trial(trial) => trial.block >= 5,
        Record::Group(group) => group.block >= 5,
        _ => false,
    };
    results.records.sort_by_key(is_later);
    let later = results.records.iter().position(is_later).unwrap();
    results.records.insert(later, session("tare-00000002"));
    results.records.insert(0, session("tare-00000001"));
    for rows in [samples(&results), slices(&results)] {
        let rows = csv_rows(&rows);
        assert_eq!(rows[0][..2], ["run", "host"]);
        assert!(rows[1..].iter().all(|row| row[1] == "1f2e3d4c"));
        let runs: Vec<&str> = rows[1..].iter().map(|row| row[0].as_str()).collect();
        assert_eq!(
            (runs[0], runs[runs.len() - 1]),
            ("tare-00000001", "tare-00000002")
        );
        assert!(runs.is_sorted());
    }
}

#[test]
fn a_parquet_file_holds_the_same_to_the_last_bit() {
    let results = Synthetic::new().noise(0.01).build();
    let rows = samples(&results);
    let bytes = written(Form::Parquet, &[&rows]);
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    assert_eq!(reader.metadata().file_metadata().num_rows(), 40);
    let texts = csv_rows(&rows);
    let value = texts[0].iter().position(|head| head == "value").unwrap();
    for (row, text) in reader.get_row_iter(None).unwrap().zip(&texts[1..]) {
        let read = row.unwrap().get_double(value).unwrap();
        assert_eq!(read.to_bits(), text[value].parse::<f64>().unwrap().to_bits());
    }
}

#[test]
fn every_slice_is_a_row() {
    let mut results = Synthetic::new().build();
    slice(&mut results, 8, |_| 1.0);
    let rows = csv_rows(&slices(&results));
    assert_eq!(rows.len(), 1 + 20 * 2 * 8);
    assert!(csv_rows(&slices(&Synthetic::new().build())).len() == 1);
}

#[test]
fn rows_of_several_files_are_in_one_in_their_order() {
    let rows: Vec<Rows> = [1, 2, 3]
        .map(|seed| samples(&Synthetic::new().seed(seed).build()))
        .into();
    let all: Vec<&Rows> = rows.iter().cycle().take(900).collect();
    let reader = SerializedFileReader::new(bytes::Bytes::from(written(Form::Parquet, &all))).unwrap();
    assert_eq!(reader.metadata().file_metadata().num_rows(), 900 * 40);
    assert_eq!(reader.num_row_groups(), 2);
    let text = String::from_utf8(written(Form::Csv, &all[..3])).unwrap();
    let (first, second) = (csv_rows(&rows[0]), csv_rows(&rows[1]));
    assert_eq!(text.lines().count(), 1 + 3 * 40);
    assert_eq!(text.lines().nth(1).unwrap(), first[1].join(","));
    assert_eq!(text.lines().nth(41).unwrap(), second[1].join(","));
}
