//! What differs between boxes by their configuration, and is part of what is compared.

use super::notices;
use std::collections::BTreeSet;
use tare_analysis::{Analysis, Notice};

/// `System calls are filtered (seccomp) in docker, and not in native, lxc: that is part of what is compared.`
/// Nothing where all are alike, or where it is not known.
pub(crate) fn words(analysis: &Analysis) -> Option<String> {
    let names = |filtered: bool| {
        let boxes = analysis.boxes.iter();
        let alike = boxes.filter(|of| of.facts.as_ref().and_then(|facts| facts.seccomp) == Some(filtered));
        let mut names: Vec<String> = alike.map(|of| of.kind.platform.to_string()).collect();
        names.dedup();
        names
    };
    let (filtered, open) = (names(true), names(false));
    (!filtered.is_empty() && !open.is_empty()).then(|| {
        format!(
            "System calls are filtered (seccomp) in {}, and not in {}: that is part of what is compared.",
            filtered.join(", "),
            open.join(", ")
        )
    })
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
