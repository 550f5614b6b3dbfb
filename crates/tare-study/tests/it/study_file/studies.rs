//! Right studies: the example of the documentation, the shipped ones, and anything at all.

use super::{facts, study};
use proptest::prelude::*;
use std::collections::BTreeSet;
use tare_model::kernel::Kernel;
use tare_model::study::{Study, Workload};
use tare_study::design::Programs;
use tare_study::study_file::{self, SHIPPED};
use tare_study::workload_file;

#[test]
fn everything_the_documented_example_says_reaches_the_study() {
    let page = include_str!("../../../../../docs/study-files.md");
    let (_, example) = page.split_once("```toml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let study = study(example).unwrap();
    let template = study.template.as_ref().unwrap();
    assert_eq!(template.questions.len(), 1);
    assert_eq!(study.cells().len(), 2 * 2 * 4);
    let names: Vec<&str> = study.workloads.iter().map(Workload::name).collect();
    assert_eq!(
        names,
        [
            "stream threads=1",
            "stream threads=auto",
            "linpack size=500",
            "linpack size=1000"
        ]
    );
    assert_eq!((study.protocol.blocks, study.protocol.seed), (20, 42));
    let text = serde_json::to_string(&study).unwrap();
    assert_eq!(serde_json::from_str::<Study>(&text).unwrap(), study);
}

#[test]
fn the_shipped_studies_are_right_and_the_small_ones_fit_a_small_machine() {
    for (name, _) in SHIPPED {
        // Of this one nothing is left where programs are those of the host.
        let programs = match name {
            "clusters" | "li2018-tuning" | "container-service" => Programs::Unmade("clusters".to_owned()),
            _ => Programs::Host,
        };
        let file = study_file::read_with(name, false, &programs).unwrap();
        file.sketch(file.wishes(), &facts()).unwrap();
    }
    let small = [
        "full",
        "multitasking",
        "host-size",
        "container-service",
        "ruan2016",
        "li2018",
        "li2018-tuning",
        "ghatrehsamani2020",
        "ghatrehsamani2020-causes",
        "conaboy2021",
    ];
    let all = Programs::Unmade("all".to_owned());
    for name in small {
        let file = study_file::read_with(name, true, &all).unwrap();
        let (study, _) = file.sketch(file.wishes(), &facts()).unwrap();
        assert!(study.template.as_ref().is_some_and(|t| t.small));
        for instance in &study.instances {
            let size = instance.size;
            assert!(
                size.cpus.milli() <= 2000 && size.memory_bytes <= 4 << 30,
                "{name}"
            );
        }
        assert!(!study.cells().is_empty(), "{name}");
    }
}

#[test]
fn the_small_studies_full_apps_and_clusters_have_every_workload_that_comes_with_tare() {
    let read = |name, image: &str| {
        let study = study_file::read_with(name, true, &Programs::Unmade(image.to_owned())).unwrap();
        let wanted = study.wishes().image_of_workloads().unwrap();
        assert_eq!(wanted.as_deref(), Some(image));
        study
    };
    let studies = [("full", "micro"), ("apps", "apps"), ("clusters", "clusters")];
    let studies = studies.map(|(name, image)| read(name, image));
    let workloads = studies.iter().flat_map(|study| &study.wishes().workloads);
    let asked: BTreeSet<&str> = workloads
        .filter_map(|wish| wish.kernel.split('?').next())
        .collect();
    let kernels = Kernel::ALL.map(Kernel::name);
    // SPEC CPU is sold: its trees are their owners'.
    let tools = workload_file::names()
        .into_iter()
        .filter(|name| !name.starts_with("spec-cpu"));
    let every: BTreeSet<&str> = kernels.into_iter().chain(tools).collect();
    assert_eq!(asked, every);
}

#[test]
fn the_multitasking_study_holds_many_tasks_against_one() {
    for small in [false, true] {
        let apps = Programs::Unmade("apps".to_owned());
        let file = study_file::read_with("multitasking", small, &apps).unwrap();
        let (study, _) = file.sketch(file.wishes(), &facts()).unwrap();
        let effects: Vec<String> = study.effects.iter().map(ToString::to_string).collect();
        assert_eq!(effects, ["Multitasking effect (ffmpeg tasks=30 against ffmpeg)"]);
    }
    // Without the program both workloads are left out, and the effect with them.
    let file = study_file::read("multitasking", true).unwrap();
    let (study, _) = file.sketch(file.wishes(), &facts()).unwrap();
    assert!(study.workloads.is_empty() && study.effects.is_empty());
}

#[test]
fn what_a_published_study_ran_and_tare_does_not_have_is_kept_in_the_study() {
    let file = study_file::read("li2018", false).unwrap();
    let (study, _) = file.sketch(file.wishes(), &facts()).unwrap();
    assert_eq!(
        (study.protocol.budget_seconds, study.protocol.warm_up_seconds),
        (Some(86400.0), 3600.0)
    );
    let left_out = study.template.iter().flat_map(|t| &t.left_out);
    // A tool that is not installed is left out as well, and what needs an image where there is none.
    let missing = left_out.filter(|l| !l.why.contains("is not on PATH"));
    let missing: Vec<&str> = missing.map(|l| l.name.as_str()).collect();
    assert_eq!(missing, ["spot-prices preset=paper&heap=256&memory=1280"]);
    let file = study_file::read("ghatrehsamani2020", false).unwrap();
    let (study, misfits) = file.sketch(file.wishes(), &facts()).unwrap();
    assert!(study.cells().is_empty());
    assert!(!misfits.is_empty());
}

proptest! {
    #[test]
    fn random_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = study(bytes);
    }

    #[test]
    fn mutated_studies_are_read_or_refused(
        which in 0..SHIPPED.len(),
        at in any::<proptest::sample::Index>(),
        cut in 0_usize..40,
        put in "[\\[\\]{}\"'=,.#a-z0-9 \\n\u{e9}-]{0,12}",
    ) {
        let chars: Vec<char> = SHIPPED[which].1.chars().collect();
        let at = at.index(chars.len());
        let end = (at + cut).min(chars.len());
        let around = (&chars[..at], &chars[end..]);
        let mutated: String = around.0.iter().copied().chain(put.chars()).chain(around.1.iter().copied()).collect();
        let _ = study(mutated);
    }
}
