//! Another baseline than the study's, and platforms against one another.

use crate::common::*;
use tare_analysis::{Family, Notice, OtherPair, analyze, analyze_against};
use tare_model::results::Results;

fn three() -> Results {
    Synthetic::new()
        .platforms(&["native", "docker", "lxc"])
        .cost("docker", Pinned, "syscall", 1.25)
        .cost("lxc", Pinned, "syscall", 1.10)
        .build()
}

#[test]
fn any_platform_of_a_study_may_be_the_baseline_and_it_is_told() {
    let analysis = analyze_against(three(), &"docker".parse().unwrap()).unwrap();
    let against = |platform| compared(&analysis, platform, "syscall").ratio().unwrap().value;
    near(against("native"), 1.0 / 1.25);
    near(against("lxc"), 1.10 / 1.25);
    assert!(
        analysis
            .comparisons
            .iter()
            .all(|c| c.family != Family::Quota || c.baseline.kind.platform.to_string() == "docker")
    );
    assert!(
        matches!(&analysis.notices[0], Notice::OtherBaseline { of_study } if of_study.to_string() == "native"),
        "{:?}",
        analysis.notices
    );
    let told = whole(&analysis).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("chosen after seeing the figures"), "{told}");
    let own = analyze_against(three(), &"native".parse().unwrap()).unwrap();
    assert_eq!(json(&own), json(&analyze(&three())));
    let unknown = analyze_against(three(), &"podman".parse().unwrap()).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "the study has no platform 'podman' to compare the others with: it has native, docker, lxc"
    );
}

#[test]
fn other_pairs_have_figures_and_no_verdict() {
    let analysis = analyze(&three());
    let of = |p: &&OtherPair| p.cell.workload == "syscall" && p.cell.kind.provisioning == Pinned;
    let [pair] = analysis.other_pairs.iter().filter(of).collect::<Vec<_>>()[..] else {
        panic!("{:?}", analysis.other_pairs)
    };
    assert_eq!(
        (pair.cell.kind.platform.to_string(), pair.against.to_string()),
        ("lxc".into(), "docker".into())
    );
    near(pair.ratio.value, 1.10 / 1.25);
    // As a report against that platform tells it.
    let asked = analyze_against(three(), &pair.against).unwrap();
    assert_eq!(compared(&asked, "lxc", "syscall").ratio(), Some(pair.ratio));
    assert!(page(&analysis).contains("Other pairs of platforms (exploratory)"));
    let two = analyze(&Synthetic::new().build());
    assert!(two.other_pairs.is_empty() && !page(&two).contains("Other pairs"));
}

#[test]
fn an_emulated_machine_is_held_against_no_real_box() {
    let mut results = three();
    let version = results
        .header
        .platforms
        .iter_mut()
        .find(|(path, _)| path.to_string() == "lxc");
    version
        .unwrap()
        .1
        .details
        .insert("accelerator".into(), "tcg".into());
    assert!(analyze(&results).other_pairs.is_empty());
}
