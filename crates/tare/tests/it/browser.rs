//! The pages as a browser shows them: what is drawn and where, what its script does, what it asks
//! for. How soon a page is painted is printed, not judged: it depends on what else the host does.

use crate::common::Tare;
use crate::common::served::{Served, folder};
use crate::devtools::Browser;

/// Everything that folds, opened.
const UNFOLD: &str = "document.querySelectorAll('details').forEach(fold => fold.open = true)";

/// Pictures without a size, and those that neither end within the page nor within something that
/// scrolls by itself.
const BAD_PICTURES: &str = r#"[...document.querySelectorAll("svg")].filter((svg) => {
  const { left, right, width, height } = svg.getBoundingClientRect();
  const scroll = svg.closest(".scroll");
  const edge = scroll && getComputedStyle(scroll).overflowX === "auto" ? scroll : svg;
  const place = edge.getBoundingClientRect();
  return !(width > 0 && height > 0) || place.left < 0 || place.right > document.documentElement.clientWidth;
}).map((svg) => svg.getAttribute("aria-label"))"#;

/// What is drawn beyond the edge of its picture, by more than a rounded letter.
const CUT_OFF: &str = r#"[...document.querySelectorAll("svg")].flatMap((svg) => {
  const { width, height } = svg.viewBox.baseVal;
  return [...svg.querySelectorAll("text")].filter((text) => {
    const box = text.getBBox();
    return box.x < -2 || box.y < -2 || box.x + box.width > width + 2 || box.y + box.height > height + 2;
  }).map((text) => `${svg.getAttribute("aria-label")}: ${text.textContent}`);
})"#;

/// Rows of figures that can be seen, those within folds that are closed left out.
const ROWS: &str = r#"[...document.querySelectorAll("tbody tr:not(.group)")]
  .filter((row) => row.checkVisibility())
  .map((row) => {
    let title = row;
    while (title && !title.classList.contains("group")) title = title.previousElementSibling;
    return `${title ? title.textContent : ""} ${row.textContent}`;
  })"#;

/// Titles of what is folded, open or closed.
const OPEN: &str = r#"[...document.querySelectorAll("main details[open]")].map((fold) => fold.querySelector("summary").textContent)"#;
const CLOSED: &str = r#"[...document.querySelectorAll("main details:not([open])")].map((fold) => fold.querySelector("summary").textContent)"#;

/// Titles and pictures that can be seen, in the order of the page.
const PARTS: &str = r#"[...document.querySelectorAll("main h2, main figure")]
  .filter((part) => part.checkVisibility())
  .map((part) => part.tagName === "FIGURE" ? "picture" : part.textContent)"#;

/// What cannot be seen of what is folded.
const UNSEEN: &str = r#"[...document.querySelectorAll("main details > :not(summary)")]
  .filter((part) => !part.checkVisibility())
  .map((part) => part.textContent.slice(0, 40))"#;

/// What is said, without what the script adds.
const ANSWER: &str =
    r#"[...document.querySelectorAll("h1, header p, .notices, main section")].map((part) => part.innerText)"#;

/// Every pair of colours in which text is shown, with the first such text: `text colour|ground|text`.
/// A label in a picture stands on the shape before it in its group, else on the ground of the picture.
const COLOURS: &str = r#"(() => {
  const pairs = new Map();
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (colour !== "rgba(0, 0, 0, 0)") return colour;
    }
    return "none";
  };
  const own = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  for (const element of document.querySelectorAll("body *")) {
    if (!own(element) || !element.checkVisibility() || element.closest("script, title")) continue;
    const style = getComputedStyle(element);
    const svg = element.closest("svg");
    const shape = svg && element.closest(".cell") && element.previousElementSibling;
    const fill = shape ? getComputedStyle(shape).fill : "none";
    const pair = `${svg ? style.fill : style.color}|${fill === "none" ? ground(element) : fill}`;
    if (!pairs.has(pair)) pairs.set(pair, element.textContent.trim().slice(0, 40));
  }
  return [...pairs].map(([pair, text]) => `${pair}|${text}`);
})()"#;

/// Notes when the frame with the first picture was shown.
const WATCH_PAINT: &str = r#"new MutationObserver((_, watch) => {
  if (!document.querySelector("svg")) return;
  watch.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => { window.painted = performance.now(); }));
}).observe(document, { childList: true, subtree: true })"#;

/// A page from a results file that the report's tests keep, and its address.
fn page(tare: &Tare, results: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tare-report/tests/it/golden");
    let results = format!("{folder}/{results}.jsonl");
    tare.ok(&["report", &results, "--html", "page.html"]);
    format!("file://{}", tare.path("page.html").display())
}

/// The page of two platforms in slices, opened in a browser if there is one.
fn opened(tare: &Tare) -> Option<Browser> {
    let mut browser = Browser::start()?;
    browser.resize(1400);
    browser.open(&page(tare, "results-3"));
    Some(browser)
}

fn assert_quiet(browser: &Browser, from: &str) {
    assert_eq!(browser.complaints(), [""; 0]);
    let requests = browser.requests();
    assert!(!requests.is_empty(), "the page itself was asked for");
    for request in requests {
        assert!(request.starts_with(from), "{request} is not of {from}");
    }
}

#[test]
fn a_page_asks_for_nothing_but_itself_and_complains_of_nothing() {
    let tare = Tare::new();
    let Some(mut browser) = opened(&tare) else { return };
    browser.evaluate(UNFOLD);
    browser.type_into(".filter input", "syscall");
    assert_quiet(&browser, &page(&tare, "results-3"));
    assert_eq!(browser.requests().len(), 1, "{:?}", browser.requests());
}

#[test]
fn pictures_have_a_size_and_nothing_makes_the_page_scroll_sideways() {
    let tare = Tare::new();
    let Some(mut browser) = opened(&tare) else { return };
    // The older file has a verdict of many letters.
    for results in ["results-1", "results-3"] {
        browser.open(&page(&tare, results));
        browser.evaluate(UNFOLD);
        let pictures = browser.evaluate("document.querySelectorAll('svg').length");
        assert!(pictures.as_u64() > Some(2), "{pictures}");
        for width in [1400, 400] {
            browser.resize(width);
            assert_fits(&mut browser, &format!("{results} at {width}"));
        }
    }
}

fn assert_fits(browser: &mut Browser, what: &str) {
    assert_eq!(browser.lines(BAD_PICTURES), [""; 0], "{what}");
    assert_eq!(browser.lines(CUT_OFF), [""; 0], "{what}");
    let [content, window] = ["scrollWidth", "clientWidth"].map(|of| {
        let width = browser.evaluate(&format!("document.documentElement.{of}"));
        width.as_u64().expect("a width")
    });
    assert!(
        content <= window,
        "{what}: {content} wide in a window of {window}"
    );
}

#[test]
fn a_filter_hides_other_rows_opens_folds_that_hold_a_match_and_puts_all_back() {
    let tare = Tare::new();
    let Some(mut browser) = opened(&tare) else { return };
    let (rows, closed) = (browser.lines(ROWS), browser.lines(CLOSED));
    let parts = browser.lines(PARTS);
    assert!(!closed.is_empty() && browser.lines(OPEN).is_empty(), "{closed:?}");

    browser.type_into(".filter input", "syscall");
    let found = browser.lines(ROWS);
    assert!(!found.is_empty());
    for row in &found {
        assert!(row.contains("syscall"), "{row}");
    }
    let left = browser.lines(PARTS);
    assert!(!left.is_empty() && left.len() < parts.len(), "{left:?}");
    assert!(
        !left.contains(&"picture".to_owned()),
        "rows alone were looked for"
    );
    let opened = browser.lines(OPEN);
    assert!(!opened.is_empty(), "a fold holds rows of the workload");
    let count = browser.evaluate("document.querySelector('.filter output').textContent");
    let count = count.as_str().unwrap_or_default();
    assert!(
        count.starts_with(&format!("{} of ", found.len())),
        "{count}: {found:#?}"
    );

    browser.type_into(".filter input", "no-such-workload");
    assert!(browser.lines(ROWS).is_empty() && browser.lines(OPEN).is_empty());
    assert_eq!(browser.lines(PARTS), [""; 0], "a heading without rows");

    browser.type_into(".filter input", "");
    assert_eq!(browser.lines(ROWS), rows);
    assert_eq!(browser.lines(CLOSED), closed);
    assert_eq!(browser.lines(PARTS), parts);
}

#[test]
fn the_contents_lead_to_every_part_also_where_it_is_folded() {
    let tare = Tare::new();
    let Some(mut browser) = opened(&tare) else { return };
    browser.evaluate("document.querySelector('nav details').open = true");
    let parts = browser.lines("[...document.querySelectorAll('nav a')].map((link) => link.hash)");
    assert!(parts.len() > 3, "{parts:?}");
    for part in parts {
        browser.evaluate(&format!(
            "document.querySelector('nav a[href=\"{part}\"]').click()"
        ));
        let seen = format!(
            "(() => {{ const part = document.querySelector('{part}'); const {{ top }} = part.getBoundingClientRect(); \
             return part.checkVisibility() && top >= 0 && top < innerHeight; }})()"
        );
        assert_eq!(browser.evaluate(&seen), true, "{part}");
    }
    assert!(browser.lines(CLOSED).is_empty());
}

#[test]
fn without_scripts_the_page_says_the_same() {
    let tare = Tare::new();
    let Some(mut browser) = opened(&tare) else { return };
    let said = browser.lines(ANSWER);
    assert!(said.concat().contains("syscall"), "{said:?}");
    browser.call(
        "Emulation.setScriptExecutionDisabled",
        serde_json::json!({"value": true}),
    );
    browser.reload();
    assert_eq!(
        browser.evaluate("document.querySelectorAll('.filter').length"),
        0,
        "its script ran"
    );
    assert_eq!(browser.lines(ANSWER), said);
}

#[test]
fn text_is_read_easily_in_light_and_dark() {
    let tare = Tare::new();
    let Some(mut browser) = opened(&tare) else { return };
    browser.evaluate(UNFOLD);
    let mut grounds = Vec::new();
    for scheme in ["light", "dark"] {
        browser.show_as("screen", scheme);
        grounds.push(browser.evaluate("getComputedStyle(document.body).backgroundColor"));
        let pairs = browser.lines(COLOURS);
        assert!(pairs.len() > 3, "{pairs:?}");
        for pair in pairs {
            let mut parts = pair.splitn(3, '|');
            let (ink, ground) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            let contrast = contrast(ink, ground);
            assert!(contrast >= 4.5, "{scheme}: {contrast:.2} of {pair}");
        }
    }
    assert_ne!(grounds[0], grounds[1]);
}

/// By the rule of WCAG 2.2.
fn contrast(ink: &str, ground: &str) -> f64 {
    let (one, other) = (luminance(ink), luminance(ground));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Of `rgb(1, 2, 3)`.
fn luminance(colour: &str) -> f64 {
    let numbers = colour
        .strip_prefix("rgb(")
        .and_then(|rest| rest.strip_suffix(')'));
    let numbers = numbers.unwrap_or_else(|| panic!("'{colour}' is no opaque colour"));
    let linear = numbers.split(", ").map(|number| {
        let share: f64 = number.parse::<f64>().expect("a number") / 255.0;
        if share <= 0.04045 {
            share / 12.92
        } else {
            ((share + 0.055) / 1.055).powf(2.4)
        }
    });
    let weights = [0.2126, 0.7152, 0.0722];
    linear.zip(weights).map(|(share, weight)| share * weight).sum()
}

#[test]
fn on_paper_nothing_is_folded() {
    let tare = Tare::new();
    let Some(mut browser) = opened(&tare) else { return };
    assert!(
        !browser.lines(UNSEEN).is_empty(),
        "nothing is folded on the screen"
    );
    browser.show_as("print", "light");
    assert_eq!(browser.lines(UNSEEN), [""; 0]);
}

#[test]
fn the_first_picture_is_painted() {
    let tare = Tare::new();
    let Some(mut browser) = opened(&tare) else { return };
    let watch = serde_json::json!({"source": WATCH_PAINT});
    browser.call("Page.addScriptToEvaluateOnNewDocument", watch);
    browser.reload();
    let painted = "new Promise((done) => { const look = () => window.painted ? done(window.painted) : setTimeout(look, 5); look(); })";
    let painted = browser.evaluate(painted).as_f64().expect("a time");
    eprintln!("the first picture was painted {painted:.0} ms after the page was asked for");
}

#[test]
fn results_that_are_served_are_listed_opened_compared_and_followed_over_time() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let tare = folder();
    let served = Served::of(&tare);
    let home = format!("http://{}/{}/", served.address, served.token);
    browser.resize(400);
    assert_eq!(browser.open(&home), Some(200));
    for (clicked, title) in [
        ("a[href='report/b%20c.jsonl']", "What does the box cost?"),
        (
            "a[href='advise/a.jsonl']",
            "Platform advice, based on measurements",
        ),
        ("a[href='trend']", "2 files"),
        ("form button", "Changes from a.jsonl to b c.jsonl"),
    ] {
        assert_served(&mut browser, &home, "b c.jsonl");
        for choice in [
            "[name=before][value='a.jsonl']",
            "[name=after][value='b c.jsonl']",
        ] {
            browser.evaluate(&format!("document.querySelector(\"{choice}\").click()"));
        }
        browser.follow(clicked);
        assert_served(&mut browser, &home, title);
        browser.follow("header a");
        assert_eq!(browser.evaluate("location.href"), home.as_str());
    }
}

/// A page of the server that says this, complains of nothing, asks nobody else and fits.
fn assert_served(browser: &mut Browser, home: &str, says: &str) {
    assert_quiet(browser, home);
    let shown = browser.evaluate("document.body.innerText");
    let shown = shown.as_str().unwrap_or_default();
    assert!(shown.contains(says), "{shown}");
    browser.evaluate(UNFOLD);
    assert_fits(browser, says);
}

#[test]
fn without_the_token_a_browser_is_shown_nothing() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let tare = folder();
    let served = Served::of(&tare);
    let root = format!("http://{}/", served.address);
    for below in ["", "report/a.jsonl", "0123456789abcdef0123456789abcdef/"] {
        assert_eq!(browser.open(&format!("{root}{below}")), Some(404), "{below}");
        let shown = browser.evaluate("document.body.innerText");
        assert!(!shown.to_string().contains("jsonl"), "{shown}");
    }
}
