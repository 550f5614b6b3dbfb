//! The workloads that come with tare.

/// Their names and texts.
const FILES: [(&str, &str); 3] = [
    (
        "openssl-sha256",
        include_str!("../../../../workloads/openssl-sha256.toml"),
    ),
    (
        "sysbench-cpu",
        include_str!("../../../../workloads/sysbench-cpu.toml"),
    ),
    (
        "sysbench-memory",
        include_str!("../../../../workloads/sysbench-memory.toml"),
    ),
];

/// The names of all, in order.
pub fn names() -> Vec<&'static str> {
    FILES.iter().map(|(name, _)| *name).collect()
}

/// The text of one.
pub(super) fn text(name: &str) -> Option<&'static str> {
    let found = FILES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}
