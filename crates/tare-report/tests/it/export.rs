//! Samples and slices, row by row.

use crate::common::*;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use tare_model::finding::Reason;
use tare_report::export::{Rows, as_csv, parquet, samples, slices};

fn csv_rows(rows: &Rows) -> Vec<Vec<String>> {
    let mut bytes = Vec::new();
    as_csv(rows, &mut bytes).unwrap();
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
        whole[0][..6],
        ["trial", "block", "attempt", "started", "platform", "provisioning"]
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
fn a_parquet_file_holds_the_same_to_the_last_bit() {
    let results = Synthetic::new().noise(0.01).build();
    let rows = samples(&results);
    let mut bytes = Vec::new();
    parquet(&rows, &mut bytes).unwrap();
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
