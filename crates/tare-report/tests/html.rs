//! The page.

mod common;

use common::*;
use tare_model::finding::Reason;
use tare_model::results::Outcome;
use tare_model::template::Template;
use tare_report::analysis::analyze;
use tare_report::text::{TextOptions, render};

fn default_page() -> String {
    page(&analyze(&default_study().build()))
}

/// Names of the elements left open, or a complaint.
fn unbalanced(page: &str) -> Result<Vec<String>, String> {
    const VOID: [&str; 2] = ["meta", "!DOCTYPE"];
    let mut open: Vec<String> = Vec::new();
    for piece in page.split('<').skip(1) {
        let (tag, _) = piece
            .split_once('>')
            .ok_or_else(|| format!("unclosed tag <{piece}"))?;
        if tag.matches('"').count() % 2 != 0 {
            return Err(format!("unbalanced quotes in <{tag}>"));
        }
        let name: String = tag.chars().take_while(|c| !c.is_whitespace()).collect();
        if let Some(closed) = tag.strip_prefix('/') {
            let last = open.pop();
            if last.as_deref() != Some(closed) {
                return Err(format!("</{closed}> closes {last:?}"));
            }
        } else if !VOID.contains(&name.as_str()) {
            open.push(name);
        }
    }
    Ok(open)
}

#[test]
fn its_elements_are_balanced() {
    assert_eq!(unbalanced(&default_page()), Ok(Vec::new()));
}

#[test]
fn it_needs_no_network_and_runs_no_script() {
    let page = default_page();
    for forbidden in [
        "http:",
        "https:",
        "//",
        "url(",
        "@import",
        "<script",
        "<link",
        "<img",
        "<iframe",
        " src=",
        " href=",
        "javascript:",
    ] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(page.contains("prefers-color-scheme: dark"));
}

#[test]
fn no_template_turns_escaping_off() {
    for template in [
        include_str!("../templates/report.html"),
        include_str!("../templates/chart.html"),
        include_str!("../templates/sizes.html"),
        include_str!("../templates/radar.html"),
        include_str!("../templates/table.html"),
        include_str!("../templates/style.html"),
    ] {
        for off in ["|safe", "| safe", "{% autoescape", "{% filter"] {
            assert!(!template.contains(off), "{off}");
        }
    }
}

#[test]
fn hostile_strings_stay_text() {
    let mut results = Synthetic::new()
        .command(&["/bin/sh", "-c", "<script>alert(1)</script>"])
        .build();
    let evil = "</style></svg><script>alert('x')</script>\"onload=\u{1b}[31m\r\n\u{202e}&amp;";
    results.header.host.kernel = evil.to_owned();
    results.header.host.cpu_model = Some(evil.to_owned());
    results.header.build = evil.to_owned();
    let docker = results
        .header
        .platforms
        .get_mut(&"docker".parse().unwrap())
        .unwrap();
    docker.details.insert("accelerator".to_owned(), evil.to_owned());
    for trial in trials_of(&mut results, "docker", Pinned) {
        trial.outcome = Outcome::Skipped(failure(Reason::CannotRun, evil));
    }
    proof_of(&mut results, "docker").remarks.push(evil.to_owned());
    let page = page(&analyze(&results));
    assert!(!page.contains("<script"), "{page}");
    assert_eq!(unbalanced(&page), Ok(Vec::new()));
    assert!(!page.contains(|c: char| c != '\n' && c.is_control()));
    assert!(!page.contains('\u{202e}'));
}

#[test]
fn every_comparison_is_drawn_and_told_in_words() {
    let page = default_page().replace('\u{a0}', " ");
    assert_eq!(
        page.matches(": paired ratios with 95 % intervals\"").count(),
        2,
        "one chart per baseline"
    );
    assert_eq!(
        page.matches("<g class=\"mark ").count(),
        40,
        "one point per primary metric"
    );
    assert!(page.contains("<strong>docker (pinned, n = 12)</strong>: stream"));
    assert!(page.contains("price of the quota"));
    assert!(page.contains("vm (pinned, kvm, n = 12)"));
}

#[test]
fn a_wide_span_of_ratios_is_drawn_on_a_log_scale() {
    let of_cost = |cost| {
        let results = Synthetic::new().cost("docker", Pinned, "syscall", cost).build();
        page(&analyze(&results))
    };
    assert!(!of_cost(1.2).contains("(log scale)"));
    assert!(of_cost(30.0).contains("syscall latency (log scale)"));
}

#[test]
fn figures_that_are_missing_are_dashes() {
    let mut results = Synthetic::new().build();
    fail(&mut results, "docker", 20, Reason::Launch);
    let page = page(&analyze(&results));
    assert!(page.contains("— n = 0"));
    assert!(!page.contains("<circle"));
}

#[test]
fn the_title_of_a_study_heads_the_report() {
    let mut results = default_study().build();
    assert!(page(&analyze(&results)).contains("<h1>What does the box cost?</h1>"));
    results.header.study.template = Some(Box::new(Template {
        source: "s.toml".to_owned(),
        small: false,
        title: "Is <b> dear?\u{1b}[2J".to_owned(),
        questions: Vec::new(),
        features: Vec::new(),
        texts: std::collections::BTreeMap::new(),
        left_out: Vec::new(),
    }));
    let analysis = analyze(&results);
    let page = page(&analysis);
    assert!(
        page.contains("<h1>Is &#60;b&#62; dear?\\u{1b}[2J</h1>"),
        "{}",
        &page[..9000]
    );
    assert!(page.contains("<title>tare: Is &#60;b&#62; dear?"));
    let text = render(&analysis, TextOptions::default());
    assert!(text.starts_with("Is <b> dear?\\u{1b}[2J\n"), "{text}");
}
