//! What costs consist of, and what boxes would save.

use crate::common::*;
use tare_analysis::advice::{Weights, advise};
use tare_analysis::analyze;
use tare_report::sections;
use tare_report::text::{TextOptions, Where, render};

/// A quota costs half as much again, the filter a tenth; by quota the filter costs as much.
fn study() -> Synthetic {
    Synthetic::new()
        .platforms(&["native", "docker", "docker?seccomp=off"])
        .provisioning(&[Vanilla, Pinned])
        .noise(0.002)
        .cost("native", Vanilla, "syscall", 1.5)
        .cost("docker", Vanilla, "syscall", 1.6)
        .cost("docker?seccomp=off", Vanilla, "syscall", 1.5)
        .cost("docker", Pinned, "syscall", 1.1)
}

#[test]
fn a_quota_is_one_of_the_mechanisms_where_both_provisionings_are() {
    let analysis = analyze(&study().build());
    let all: Vec<String> = analysis
        .gaps
        .iter()
        .map(|gap| format!("{} over {}", gap.cell.kind, gap.baseline.kind))
        .collect();
    assert_eq!(
        all,
        [
            "docker pinned over native pinned",
            "native vanilla over native pinned",
            "docker vanilla over native pinned",
        ]
    );
    let by_quota = &analysis.gaps[2];
    for (part, name, adds) in [
        (&by_quota.parts[0], "quota", 0.5),
        (&by_quota.parts[1], "seccomp filter", 0.1),
    ] {
        let amount = part.amount.unwrap();
        assert_eq!(part.mechanism, name);
        assert!((amount.adds.value - adds).abs() < 0.01, "{part:?}");
        assert!(
            (amount.share.unwrap().value - adds / 0.6).abs() < 0.02,
            "{part:?}"
        );
        assert!(
            (amount.saves.unwrap().value - adds / 1.6).abs() < 0.01,
            "{part:?}"
        );
    }
    // Natively the baseline itself is the corner with all off.
    let [quota] = &analysis.gaps[1].parts[..] else {
        panic!("{:?}", analysis.gaps[1])
    };
    assert!((quota.amount.unwrap().share.unwrap().value - 1.0).abs() < 1e-9);
    let answer = tare_report::text::answer(&analysis, Where::default(), unwrapped());
    assert!(
        answer.contains("docker pinned syscall, 9.9 % slower than native: 101 % of that"),
        "{answer}"
    );
    assert!(whole(&analysis).contains("What adds how much"));
}

#[test]
fn advice_lists_what_boxes_would_save_once_and_what_saves_most_first() {
    let analysis = analyze(&study().build());
    let advice = advise(&analysis, &Weights::default());
    let told: Vec<(String, &str)> = advice
        .savings
        .iter()
        .map(|saving| (saving.cell.kind.to_string(), saving.mechanism))
        .collect();
    let due = [
        ("native vanilla", "quota"),
        ("docker vanilla", "quota"),
        ("docker pinned", "seccomp filter"),
        ("docker vanilla", "seccomp filter"),
    ];
    let due = due.map(|(kind, mechanism)| (kind.to_owned(), mechanism));
    assert_eq!(told[0], due[0]);
    assert!(
        told.len() == due.len() && due.iter().all(|one| told.contains(one)),
        "{told:?}"
    );
    let text = render(
        &sections::advice(&analysis, &advice, Where::default()),
        TextOptions::default(),
    );
    assert!(text.contains("pin it to a set of CPUs"), "{text}");
}

#[test]
fn a_study_without_variants_tells_of_no_mechanism_but_its_quota() {
    let analysis = analyze(&Synthetic::new().cost("docker", Pinned, "syscall", 1.2).build());
    assert!(analysis.gaps.is_empty());
    let both = Synthetic::new().provisioning(&[Vanilla, Pinned]).noise(0.002);
    let analysis = analyze(&both.build());
    assert!(!analysis.gaps.iter().any(|gap| gap.has_options()));
    assert!(!whole(&analysis).contains("What adds how much"));
    assert!(advise(&analysis, &Weights::default()).savings.is_empty());
}
