//! Every example, and everything that was ever found, is read without a fault.

use tare_fuzz::corpus;
use tare_fuzz::targets::{TARGETS, named};

#[test]
fn examples_and_earlier_findings_are_read_without_a_fault() {
    for target in TARGETS {
        for kind in ["corpus", "found"] {
            for (path, input) in corpus::files(&corpus::folder().join(kind).join(target.name)).unwrap() {
                // The last line tells the input whose fault it was.
                eprintln!("{}", path.display());
                (target.run)(&input);
            }
        }
    }
}

#[test]
fn every_target_has_examples_that_differ_in_what_is_made_of_them() {
    for target in TARGETS {
        let files = corpus::files(&corpus::folder().join("corpus").join(target.name)).unwrap();
        let marks: std::collections::BTreeSet<u64> =
            files.iter().map(|(_, input)| (target.run)(input)).collect();
        assert!(
            marks.len() > 1,
            "{}: {} examples, {} marks",
            target.name,
            files.len(),
            marks.len()
        );
        // As nothing at all is taken, no example is.
        assert!(!marks.contains(&(target.run)(b"!")), "{}", target.name);
    }
}

#[test]
fn targets_are_found_by_name() {
    assert!(TARGETS.iter().all(|target| named(target.name).is_some()));
    assert!(named("nothing").is_none());
}
