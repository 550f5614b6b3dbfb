//! Workloads that are held together, for a terminal.

use super::page::{Page, Style};
use crate::analysis::{Analysis, WorkloadEffect};
use crate::effects;

/// Columns before the figures.
const NAMES: usize = 38;

/// A table per effect of the study: with both costs and the tests, or their ratio alone.
pub(super) fn tables(page: &mut Page, analysis: &Analysis, all: bool) {
    for named in effects::named(analysis) {
        page.heading(&named.title);
        if all {
            page.wrapped("", 2, Style::Dim, effects::ABOUT);
        }
        for effect in named.effects {
            if all {
                costs(page, effect);
            }
            let name = if all {
                "their ratio"
            } else {
                &effects::label(effect)
            };
            let ratio = format!("{}: {}", effects::ratio(effect), effects::shown_as(effect.shown));
            row(page, name, effect.n, &ratio);
            if all {
                page.wrapped("", 6, Style::Dim, &effects::remarks(effect));
            }
        }
    }
}

fn costs(page: &mut Page, effect: &WorkloadEffect) {
    page.line(&[(Style::Bold, &effects::label(effect))]);
    for cost in [&effect.of, &effect.against] {
        row(page, &effects::whose(cost), effect.n, &effects::cost(cost));
    }
}

fn row(page: &mut Page, name: &str, n: usize, text: &str) {
    page.wrapped(&format!("  {name:<30}{n:>4}"), NAMES, Style::Plain, text);
}
