//! Platforms that published studies compared and that cannot be had here.

/// Their names, and why they cannot be had.
const ELSEWHERE: [(&str, &str); 2] = [
    (
        "ecs",
        "Amazon's container service rents hosts: nothing can be run on one and natively on the same host",
    ),
    (
        "gke",
        "Google's container service rents hosts: nothing can be run on one and natively on the same host",
    ),
];

/// Why a platform of published studies cannot be had; `None` if it is none of them.
pub fn elsewhere(name: &str) -> Option<&'static str> {
    ELSEWHERE
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, why)| *why)
}
