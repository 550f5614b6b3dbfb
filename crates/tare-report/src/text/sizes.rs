//! Size effects for a terminal.

use super::page::{Page, Style};
use crate::analysis::{Analysis, SizeEffect, SizePoint};
use crate::show::{or_missing, ratio_with_interval};
use crate::sizes;

/// The size effects, each with its sizes; or why there are none.
pub(super) fn effects(page: &mut Page, analysis: &Analysis, all: bool) {
    let found = &analysis.size_effects;
    if found.effects.is_empty() && !(all && found.note.is_some()) {
        return;
    }
    page.heading("Size effects");
    if let Some(note) = &found.note {
        page.wrapped("", 2, Style::Dim, note);
    }
    if found.effects.is_empty() {
        return;
    }
    page.wrapped("", 2, Style::Dim, sizes::ABOUT);
    let mut kind = None;
    for effect in &found.effects {
        if kind != Some((&effect.platform, effect.provisioning)) {
            kind = Some((&effect.platform, effect.provisioning));
            page.line(&[(Style::Bold, &sizes::label(effect))]);
        }
        one(page, effect, all);
    }
}

fn one(page: &mut Page, effect: &SizeEffect, all: bool) {
    let title = format!(
        "  {} {}: {} (n = {})",
        effect.workload,
        effect.metric,
        sizes::class(effect),
        effect.n
    );
    page.line(&[(Style::Plain, &title)]);
    let mut row = |name: &str, text: &str| page.wrapped(&format!("      {name}"), 16, Style::Plain, text);
    row("PTO", &sizes::part(effect, effect.pto.as_ref()));
    row("PSO", &sizes::part(effect, effect.pso.as_ref()));
    row("dies out", &sizes::range(effect));
    row("fit", &sizes::fit(effect));
    if all {
        row("tests", &sizes::p_values(effect));
        effect.sizes.iter().for_each(|point| row("", &size(point)));
    }
    let remarks = sizes::remarks(effect);
    if !remarks.is_empty() {
        page.wrapped("", 6, Style::Dim, &remarks);
    }
}

/// `2 CPUs (CHR 0.25): 1.130 (1.129 to 1.131); 7.0 % (6.8 to 7.2 %) over the largest`.
fn size(point: &SizePoint) -> String {
    let ratio = or_missing(point.ratio, |e| ratio_with_interval(e.value, e.low, e.high));
    let excess = point.excess.map_or_else(String::new, |_| {
        format!("; {} over the largest", sizes::excess(point))
    });
    format!("{}: {ratio}{excess}", sizes::size(point))
}
