//! Advice: nothing that was not measured.

use crate::common::*;
use tare_analysis::advice::{Advice, Criterion, Missing, Outcome, Weights, advise};
use tare_analysis::{Word, analyze};
use tare_report::sections;
use tare_report::text::{TextOptions, Where, render};

fn advised(synthetic: Synthetic, weights: &Weights) -> (Advice, String) {
    let analysis = analyze(&synthetic.build());
    let advice = advise(&analysis, weights);
    let text = render(
        &sections::advice(&analysis, &advice, Where::default()),
        TextOptions::default(),
    );
    (advice, text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn both() -> Synthetic {
    Synthetic::new().provisioning(&[Vanilla, Pinned]).noise(0.002)
}

#[test]
fn platforms_are_put_in_order_and_what_is_shown_is_told() {
    let study = both().cost("docker", Pinned, "syscall", 1.25);
    let (advice, text) = advised(study, &Weights::default());
    let pinned = advice.settings.iter().find(|s| s.provisioning == Pinned).unwrap();
    let names: Vec<String> = pinned.choices.iter().map(|c| c.platform.to_string()).collect();
    assert_eq!(names, ["native", "docker"]);
    assert_eq!(pinned.choices[1].word, Word::Slower);
    assert!(pinned.winner.is_none());
    assert!(
        text.contains("syscall (pinned): docker is 25.0 % slower"),
        "{text}"
    );
    assert!(
        text.contains("syscall (vanilla): docker costs as much as native within 1 %"),
        "{text}"
    );
}

#[test]
fn what_has_no_verdict_anywhere_is_told_once() {
    let (_, text) = advised(both().blocks(3), &Weights::default());
    assert!(
        text.contains(
            "no verdict on any platform: syscall (vanilla), syscall (pinned); verdicts need at least 10 blocks"
        ),
        "{text}"
    );
    assert!(!text.contains("no verdict on docker"), "{text}");
}

/// Costs, noise and lengths of all kinds: whatever advice says follows from a verdict of the report.
#[test]
fn advice_never_says_more_than_the_verdicts() {
    let (mut told, mut orders) = (0, 0);
    for n in 0..200_u64 {
        let cost = |i: u64| [1.0, 1.004, 1.02, 0.97, 1.3][((n / i) % 5) as usize];
        let synthetic = Synthetic::new()
            .platforms(&["native", "docker", "lxc"])
            .provisioning(&[Vanilla, Pinned])
            .blocks([3, 10, 12, 30][(n % 4) as usize])
            .noise([0.0005, 0.003, 0.01, 0.06][((n / 4) % 4) as usize])
            .cost("docker", Pinned, "syscall", cost(1))
            .cost("docker", Vanilla, "syscall", cost(2))
            .cost("lxc", Pinned, "syscall", cost(3))
            .cost("native", Vanilla, "syscall", cost(7))
            .seed(n);
        let analysis = analyze(&synthetic.build());
        let advice = advise(&analysis, &Weights::new(vec![(Criterion::Typical, 1.0)]));
        let word = |platform: &str, by| {
            let of = |c: &&tare_analysis::Comparison| {
                c.cell.kind.platform.to_string() == platform && c.cell.kind.provisioning == by
            };
            analysis.asked().find(of).unwrap().word()
        };
        let price = analysis
            .comparisons
            .iter()
            .find(|c| c.is_price_of_quota())
            .unwrap();
        for pinning in advice.pinning.iter().filter(|p| p.cheaper.is_some()) {
            told += 1;
            if pinning.platform.to_string() == "native" {
                let expected = [(Word::Slower, Pinned), (Word::Faster, Vanilla)];
                assert!(
                    expected.contains(&(price.word(), pinning.cheaper.unwrap())),
                    "{n}"
                );
            } else {
                let of_pinned = word(&pinning.platform.to_string(), Pinned);
                assert!(!matches!(of_pinned, Word::None | Word::Inconclusive), "{n}");
            }
        }
        for setting in &advice.settings {
            for choice in setting.choices.iter().filter(|c| !c.is_baseline) {
                let platform = choice.platform.to_string();
                assert_eq!(choice.word, word(&platform, setting.provisioning), "{n}");
            }
            if let Some(winner) = &setting.winner {
                orders += 1;
                let winner = winner.platform.to_string();
                let is_judged = winner == "native" || word(&winner, setting.provisioning) != Word::None;
                assert!(is_judged, "{n}: {winner}");
            }
        }
        for row in advice
            .rules
            .iter()
            .flat_map(|rule| &rule.rows)
            .filter(|row| row.beside.is_some())
        {
            let apart =
                |a: tare_analysis::Estimate, b: tare_analysis::Estimate| a.high < b.low || b.high < a.low;
            let shown = row.shows.is_none() || apart(row.figure.unwrap(), row.beside.unwrap());
            assert!(shown, "{n}: {}", row.what);
        }
    }
    assert!(
        told > 50 && orders > 100,
        "{told} {orders}: the files show next to nothing"
    );
}

#[test]
fn whether_to_pin_is_told_where_intervals_do_not_meet() {
    let (advice, text) = advised(
        both().cost("docker", Vanilla, "syscall", 1.3),
        &Weights::default(),
    );
    let docker = advice
        .pinning
        .iter()
        .find(|p| p.platform.to_string() == "docker")
        .unwrap();
    assert_eq!(docker.cheaper, Some(Pinned));
    let native = advice
        .pinning
        .iter()
        .find(|p| p.platform.to_string() == "native")
        .unwrap();
    assert_eq!(native.cheaper, None, "{native:?}");
    assert!(text.contains("not shown"), "{text}");
}

#[test]
fn a_box_with_all_cpus_of_its_host_is_no_small_one() {
    let mut results = both().cost("docker", Vanilla, "syscall", 1.3).build();
    results.header.host.cpus = 2;
    let advice = advise(&analyze(&results), &Weights::default());
    let held = advice
        .rules
        .iter()
        .find(|held| held.rule.id == "ghatrehsamani2020-1");
    assert!(held.is_some_and(|held| held.rows.is_empty()), "{held:?}");
}

#[test]
fn a_rule_is_confirmed_contradicted_or_left_open_by_its_rows() {
    let outcome = |study: Synthetic, id: &str| {
        let (advice, _) = advised(study, &Weights::default());
        let held = advice.rules.into_iter().find(|held| held.rule.id == id).unwrap();
        (held.outcome, held.rows.len())
    };
    let dear = both().cost("docker", Vanilla, "syscall", 1.3);
    assert_eq!(outcome(dear, "ghatrehsamani2020-1"), (Outcome::Confirmed, 1));
    assert_eq!(outcome(both(), "ghatrehsamani2020-1"), (Outcome::Contradicted, 1));
    assert_eq!(
        outcome(both().noise(0.1), "ghatrehsamani2020-1"),
        (Outcome::CannotTell, 1)
    );
    assert_eq!(outcome(both(), "ghatrehsamani2020-4"), (Outcome::CannotTell, 0));
}

#[test]
fn what_was_not_measured_is_said() {
    let (advice, text) = advised(Synthetic::new(), &Weights::default());
    for what in [
        Missing::OtherProvisioning,
        Missing::OtherSizes,
        Missing::Steadiness,
        Missing::OtherHosts,
    ] {
        assert!(advice.missing.contains(&what), "{what:?}");
    }
    assert!(text.contains("Not measured"), "{text}");
    let (whole, _) = advised(both().blocks(40), &Weights::default());
    assert!(!whole.missing.contains(&Missing::OtherProvisioning));
}

#[test]
fn weights_choose_and_tell_where_they_would_choose_otherwise() {
    let weights = Weights::new(vec![(Criterion::Start, 0.5)]);
    let (advice, text) = advised(both().cost("docker", Pinned, "syscall", 1.25), &weights);
    let pinned = advice.settings.iter().find(|s| s.provisioning == Pinned).unwrap();
    assert_eq!(pinned.winner.as_ref().unwrap().platform.to_string(), "native");
    assert!(text.contains("Ranking by your weights"), "{text}");
}

#[test]
fn emulated_machines_are_last_and_show_nothing() {
    let mut results = Synthetic::new()
        .platforms(&["native", "vm"])
        .cost("vm", Pinned, "syscall", 0.5)
        .build();
    let vm = results.header.platforms.get_mut(&"vm".parse().unwrap()).unwrap();
    vm.details.insert("accelerator".to_owned(), "tcg".to_owned());
    let advice = advise(&analyze(&results), &Weights::new(vec![(Criterion::Typical, 1.0)]));
    let choices = &advice.settings[0].choices;
    assert_eq!(choices.last().unwrap().platform.to_string(), "vm");
    assert_eq!(
        advice.settings[0].winner.as_ref().unwrap().platform.to_string(),
        "native"
    );
    assert!(advice.missing.contains(&Missing::RealMachines));
    assert!(
        advice
            .rules
            .iter()
            .all(|held| held.rows.iter().all(|row| !row.what.starts_with("vm")))
    );
}
