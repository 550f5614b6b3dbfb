//! Whether boxes filter system calls: a difference that is part of what is compared.

use tare_analysis::Analysis;

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
