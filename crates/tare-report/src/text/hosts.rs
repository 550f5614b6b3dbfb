//! Host-size effects for a terminal.

use super::page::{Page, Style};
use crate::analysis::{Analysis, HostEffect};
use crate::hosts;

/// The effects: with every host and the tests, or the largest host over the smallest alone.
pub(super) fn effects(page: &mut Page, analysis: &Analysis, all: bool) {
    let found = &analysis.host_effects.effects;
    if found.is_empty() {
        return;
    }
    page.heading(hosts::TITLE);
    page.wrapped("", 2, Style::Dim, hosts::ABOUT);
    let mut label = None;
    for effect in found {
        let of = hosts::label(effect);
        if label.as_ref() != Some(&of) {
            page.line(&[(Style::Bold, &of)]);
            label = Some(of);
        }
        if all {
            one(page, effect);
        } else {
            let name = format!("  {:<30}{:>4}", effect.workload, effect.n);
            page.wrapped(&name, 38, Style::Plain, &hosts::largest(effect));
        }
    }
}

fn one(page: &mut Page, effect: &HostEffect) {
    let title = format!("  {} {} (n = {})", effect.workload, effect.metric, effect.n);
    page.line(&[(Style::Plain, &title)]);
    let mut row = |name: &str, text: &str| page.wrapped(&format!("      {name}"), 38, Style::Plain, text);
    for point in &effect.hosts {
        let excess = point.excess.map(|_| format!("; excess {}", hosts::excess(point)));
        row(
            &hosts::host(point),
            &(hosts::ratio(point) + &excess.unwrap_or_default()),
        );
    }
    row("largest over smallest host", &hosts::largest(effect));
    row("dies out", &hosts::range(effect));
    page.wrapped("", 6, Style::Dim, &hosts::remarks(effect));
}
