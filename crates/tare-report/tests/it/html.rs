//! The page.

use crate::common::*;
use tare_analysis::analyze;
use tare_model::finding::Reason;
use tare_model::results::Outcome;
use tare_model::template::Template;
use tare_report::document::{Document, Whole};
use tare_report::{html, sections};

fn default_page() -> String {
    page(&analyze(&default_study().build()))
}

/// Names of the elements left open, or a complaint.
fn unbalanced(page: &str) -> Result<Vec<String>, String> {
    // A cell ends where the next one or its row does: its end tag is left out.
    const VOID: [&str; 3] = ["meta", "!DOCTYPE", "td"];
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
        } else if !VOID.contains(&name.as_str()) && !tag.ends_with('/') {
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
fn it_needs_no_network() {
    let page = default_page().replace(" href=\"#part-", " to its part ");
    for forbidden in [
        "http:",
        "https:",
        "//",
        "url(",
        "@import",
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
fn its_contents_name_every_part_that_it_has_and_nothing_else() {
    let page = default_page();
    let links = page.matches("<li><a href=\"#part-").count();
    assert!(links > 3, "{links}");
    assert_eq!(page.matches(" id=\"part-").count(), links);
    assert_eq!(page.matches("<section>").count(), links);
}

#[test]
fn a_part_that_is_for_machines_alone_is_not_in_the_page() {
    let results = Synthetic::new().build();
    let mut analysis = analyze(&results);
    assert!(page(&analysis).contains("Every block over time"));
    // Without a second block there is no picture along time, and the table is for machines.
    for comparison in &mut analysis.comparisons {
        comparison.course.truncate(1);
    }
    assert!(!page(&analysis).contains("Every block over time"));
}

#[test]
fn no_template_turns_escaping_off() {
    let files = ["templates", "templates/pictures"]
        .into_iter()
        .flat_map(|folder| {
            let folder = format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"));
            std::fs::read_dir(folder).expect("a folder of templates")
        });
    let files = files
        .map(|entry| entry.expect("a template").path())
        .filter(|path| path.is_file());
    for path in files {
        let template = std::fs::read_to_string(&path).expect("a template is text");
        for off in ["|safe", "| safe", "{% autoescape", "{% filter"] {
            assert!(!template.contains(off), "{off} in {}", path.display());
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
    assert_eq!(page.matches("<script").count(), 1, "that of the page itself");
    assert_eq!(unbalanced(&page), Ok(Vec::new()));
    assert!(!page.contains(|c: char| c != '\n' && c.is_control()));
    assert!(!page.contains('\u{202e}'));
}

#[test]
fn every_comparison_is_drawn_and_told_in_words() {
    let page = default_page().replace('\u{a0}', " ");
    // What is shown, what is open, and all that is held against native-set.
    assert_eq!(
        page.matches("<g class=\"mark ").count(),
        40,
        "one point per primary metric"
    );
    assert_eq!(page.matches(": costs with 95 % intervals\"").count(), 3);
    assert!(page.contains("22 of 24 costs decided: "));
    assert!(
        page.contains("<li>syscall: vanilla: docker 19 % slower, lxc 3.0 % slower, lxc faster than docker; ")
    );
    assert!(page.contains("; inconclusive: vm vanilla ("));
}

#[test]
fn what_is_shown_is_drawn_by_its_verdict_and_what_is_open_by_itself() {
    let page = page(&analyze(
        &default_study()
            .noise(0.02)
            .cost("docker", Pinned, "syscall", 1.2)
            .build(),
    ));
    let shown = page.find("Shown to differ").expect("a group of what differs");
    let open = page.find(">Inconclusive<").expect("a group of what is open");
    assert!(shown < open);
    assert!(page.contains("aria-label=\"Workloads against platforms\""));
}

#[test]
fn a_wide_span_of_ratios_is_drawn_on_a_log_scale() {
    let of_cost = |cost| {
        let results = Synthetic::new().cost("docker", Pinned, "syscall", cost).build();
        page(&analyze(&results))
    };
    assert!(!of_cost(1.2).contains("(log scale)"));
    assert!(of_cost(30.0).contains("by half and more (log scale)"));
}

#[test]
fn figures_that_are_missing_are_dashes() {
    let mut results = Synthetic::new().build();
    fail(&mut results, "docker", 20, Reason::Launch);
    let page = page(&analyze(&results));
    assert!(page.contains("<td class=interval>—"));
    assert!(!page.contains("class=\"mark"));
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
    let text = whole(&analysis);
    assert!(text.starts_with("Is <b> dear?\\u{1b}[2J\n"), "{text}");
}

/// The page that a report writes unasked.
fn brief_page() -> String {
    let command = "tare report a.jsonl --details --html a.html".to_owned();
    let document = Document {
        whole: Some(Whole::Command(command)),
        ..sections::report(
            &analyze(&default_study().build()),
            tare_report::text::Where::default(),
        )
    };
    html::render(&document).unwrap()
}

/// What people read of a page, folded or not, without what a pointer shows.
fn words(page: &str) -> usize {
    let mut rest = page;
    let mut words = 0;
    while let Some((text, tag)) = rest.split_once('<') {
        words += text.split_whitespace().count();
        let hidden = ["style", "script", "title"]
            .iter()
            .find(|name| tag.starts_with(**name));
        let after = match hidden {
            Some(name) => tag.split_once(&format!("</{name}>")).unwrap().1,
            None => tag.split_once('>').unwrap().1,
        };
        rest = after;
    }
    words
}

#[test]
fn a_page_is_short_and_tells_how_the_whole_one_is_written() {
    let (brief, whole) = (brief_page(), default_page());
    let words = [&brief, &whole].map(|page| words(page));
    assert!(words[0] <= 4000 && words[0] < words[1], "{words:?}");
    assert!(brief.contains("<code>tare report a.jsonl --details --html a.html</code> adds: Against native"));
    assert_eq!(unbalanced(&brief), Ok(Vec::new()));
    assert!(!whole.contains(" adds: "));
}
