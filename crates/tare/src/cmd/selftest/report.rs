//! The score of campaigns as text.

use crate::out::wrapped;
use tare_model::size::counted;
use tare_model::study::Slicing;
use tare_selftest::log::Header;
use tare_selftest::promise::{Count, Promise, Standing};
use tare_selftest::score::{Pooled, Score};

/// The score in a few lines.
pub fn text(header: &Header, score: &Score) -> String {
    let mut text = wrapped("", 0, &title(header, score));
    if score.void > 0 {
        text += &format!(
            "{} without a verdict: under 10 pairs, or over 1 in 10 lost\n",
            counted(score.void, "campaign")
        );
    }
    text += "\n";
    text += columns("", "found", "", "95 % interval", "asked").trim_end();
    text += "\n";
    score.counts.iter().for_each(|count| text += &line(count));
    text += "\n";
    let mut figure = |name: &str, value: Option<String>, standing: Option<Standing>| {
        let shown = value.unwrap_or_else(|| "-".to_owned());
        let line = format!("{name:33}{shown}  {}", standing.map_or("", word));
        text += line.trim_end();
        text += "\n";
    };
    if score.mean.is_some() {
        figure("ratio of typical times", score.time.map(pooled), None);
        figure("ratio of mean times", score.mean.map(pooled), None);
    } else {
        figure("ratio of times, all campaigns", score.time.map(pooled), None);
    }
    figure("ratio of CPU times", score.cpu.map(pooled), score.cpu_standing);
    let half = score
        .half_width
        .map(|half| format!("{:.2} %", 100.0 * half.exp_m1()));
    figure("median half-width of intervals", half, None);
    let shared = score.time_over_cpu.map(|ratio| format!("{ratio:.2}"));
    figure("median time over CPU time", shared, None);
    text
}

fn title(header: &Header, score: &Score) -> String {
    let options = &header.options;
    let what = match options.tenths {
        0 => "against itself".to_owned(),
        tenths => format!("against itself with {} % more work", f64::from(tenths) / 10.0),
    };
    format!(
        "{} {what}{}: {} of {}, new boxes per {}, {}, margin {} %, seed {}",
        options.platform,
        if options.polluter { ", with a polluter" } else { "" },
        counted(score.campaigns, "campaign"),
        counted(options.blocks, "block"),
        if options.fresh == tare_model::study::Fresh::Study {
            "campaign"
        } else {
            "block"
        },
        work(header),
        options.margin_percent,
        options.seed
    )
}

fn work(header: &Header) -> String {
    let iterations = header.iterations[0];
    match header.options.slicing {
        Slicing::Off => format!("{iterations} iterations"),
        slicing => format!("slices {slicing}, units of {iterations} iterations"),
    }
}

fn line(count: &Count) -> String {
    #[expect(clippy::cast_precision_loss, reason = "numbers of campaigns")]
    let share = (count.of > 0).then(|| percent(count.count as f64 / count.of as f64) + " %");
    let [low, high] = count.interval.map(percent);
    let asked = match count.promise {
        None => String::new(),
        Some(Promise::AtMost { bound, .. }) => format!("under {} %", percent(bound)),
        Some(Promise::AtLeast { bound, .. }) => format!("over {} %", percent(bound)),
    };
    let line = columns(
        count.what,
        &format!("{} of {}", count.count, count.of),
        share.as_deref().unwrap_or("-"),
        &format!("{low} to {high} %"),
        &asked,
    ) + count.standing.map_or("", word);
    line.trim_end().to_owned() + "\n"
}

fn columns(what: &str, found: &str, share: &str, interval: &str, asked: &str) -> String {
    format!("{what:31}{found:>12}{share:>8}  {interval:15}{asked:12}")
}

/// A share in percent with at most one decimal.
fn percent(share: f64) -> String {
    let text = format!("{:.1}", 100.0 * share);
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Shown => "shown",
        Standing::Open => "not shown",
        Standing::Broken => "CONTRADICTED",
    }
}

fn pooled(pooled: Pooled) -> String {
    let [low, high] = pooled.interval;
    format!("{:.4} ({low:.4} to {high:.4})", pooled.ratio)
}
