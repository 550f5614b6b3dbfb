//! What differs between boxes by their configuration, and is part of what is compared.

use super::notices;
use std::collections::BTreeSet;
use tare_analysis::{Analysis, Notice};
use tare_model::host::BoxFacts;

/// `Confinement differs, and is part of what is compared: docker (seccomp, 14 capabilities); native, lxc (no seccomp, 41
/// capabilities).` Nothing where all are alike, or where it is not known.
pub(crate) fn words(analysis: &Analysis) -> Option<String> {
    let mut alike: Vec<(String, Vec<String>)> = Vec::new();
    for of in &analysis.boxes {
        let Some(confined) = of.facts.as_ref().and_then(confined) else {
            continue;
        };
        let name = of.kind.platform.to_string();
        match alike.iter_mut().find(|(known, _)| *known == confined) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => alike.push((confined, vec![name])),
        }
    }
    let told = alike
        .iter()
        .map(|(confined, names)| format!("{} ({confined})", names.join(", ")));
    (alike.len() > 1).then(|| {
        format!(
            "Confinement differs, and is part of what is compared: {}.",
            told.collect::<Vec<_>>().join("; ")
        )
    })
}

/// `seccomp, 14 capabilities`: whether system calls are filtered, and how much of root's power is left.
fn confined(facts: &BoxFacts) -> Option<String> {
    let filter = if facts.seccomp? { "seccomp" } else { "no seccomp" };
    let held = facts.capabilities.map(u64::count_ones);
    let held = held.map_or_else(String::new, |n| format!(", {n} capabilities"));
    Some(format!("{filter}{held}"))
}

/// `If client or server runs outside the box, the path between them is part of what is compared: native by the host's
/// own network; docker by a bridge.` Nothing where all are reached alike.
pub(crate) fn network(analysis: &Analysis) -> Option<String> {
    let of = analysis.notices.iter().find_map(|notice| match notice {
        Notice::EndOutside { networks, .. } => Some(networks),
        _ => None,
    })?;
    let kinds: BTreeSet<&str> = of.iter().map(|(_, name)| *name).collect();
    (kinds.len() > 1).then(|| {
        format!(
            "If client or server runs outside the box, the path between them is part of what is compared: {}.",
            notices::ways(of)
        )
    })
}
