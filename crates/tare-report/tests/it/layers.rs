//! Gaps of boxes in boxes, split by layer.

use crate::common::*;
use tare_analysis::{Analysis, analyze};
use tare_model::finding::Reason;
use tare_model::results::{ProofRecord, Record, Results};
use tare_model::study::BoxKind;

fn nested(platforms: &[&str]) -> Results {
    Synthetic::new()
        .platforms(platforms)
        .cost("vm", Pinned, "syscall", 2.0)
        .cost("vm/docker", Pinned, "syscall", 3.0)
        .cost("vm/docker/runc", Pinned, "syscall", 3.3)
        .noise(0.01)
        .build()
}

fn shown(analysis: &Analysis) -> String {
    whole(analysis)
}

#[test]
fn the_steps_multiply_to_the_whole() {
    let analysis = analyze(&nested(&["native", "vm/docker/runc", "vm", "vm/docker"]));
    assert_eq!(
        analysis.layers.iter().map(|s| s.steps.len()).collect::<Vec<_>>(),
        [3, 2]
    );
    let split = &analysis.layers[0];
    let names: Vec<String> = split.steps.iter().map(|step| step.name()).collect();
    assert_eq!(
        names,
        ["native -> vm", "vm -> vm/docker", "vm/docker -> vm/docker/runc"]
    );
    let ratios: Vec<f64> = split.steps.iter().map(|s| s.ratio.unwrap().value).collect();
    for (ratio, truth) in ratios.iter().zip([2.0, 1.5, 1.1]) {
        assert!((ratio / truth - 1.0).abs() < 0.02, "{ratios:?}");
    }
    let whole = split.whole.ratio.unwrap().value;
    assert!((ratios.iter().product::<f64>() / whole - 1.0).abs() < 1e-9);
    for text in [shown(&analysis), page(&analysis)] {
        assert!(
            text.contains("vm -> vm/docker") || text.contains("vm -&#62; vm/docker"),
            "{text}"
        );
    }
}

#[test]
fn a_block_that_one_box_lacks_is_in_no_step() {
    let mut results = nested(&["native", "vm", "vm/docker"]);
    fail(&mut results, "vm", 1, Reason::Launch);
    let split = &analyze(&results).layers[0];
    let pairs: Vec<usize> = split.steps.iter().map(|s| s.n).collect();
    assert_eq!(pairs, [split.whole.n; 2]);
    let product: f64 = split.steps.iter().map(|s| s.ratio.unwrap().value).product();
    assert!((product / split.whole.ratio.unwrap().value - 1.0).abs() < 1e-9);
}

#[test]
fn layers_that_are_not_in_the_study_are_one_step() {
    let one = analyze(&nested(&["native", "vm/docker/runc"]));
    assert!(one.layers.is_empty());
    let two = analyze(&nested(&["native", "vm", "vm/docker/runc"]));
    assert_eq!(two.layers[0].steps[1].name(), "vm -> vm/docker/runc");
}

#[test]
fn the_proofs_of_the_boxes_around_a_box_are_shown() {
    let mut results = nested(&["native", "vm/docker"]);
    let outer = ProofRecord {
        kind: BoxKind {
            platform: "vm".parse().unwrap(),
            provisioning: Pinned,
            instance: None,
        },
        limit_bytes: 777 << 20,
        ..proof_of(&mut results, "vm/docker").clone()
    };
    for record in &mut results.records {
        if let Record::Proof(proof) = record
            && proof.kind.platform.to_string() == "vm/docker"
        {
            proof.outer.push(outer.clone());
        }
    }
    let analysis = analyze(&results);
    let text = shown(&analysis);
    assert!(text.contains("vm around it") && text.contains("777"), "{text}");
    assert!(page(&analysis).contains("vm around it"));
}
