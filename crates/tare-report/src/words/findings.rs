//! What findings mean, in words.

/// Each by its name: those of `tare_model::finding::Finding`, then what an analysis finds.
pub const MEANINGS: [(&str, &str); 18] = [
    (
        "host-busy",
        "others used the host's CPUs before the trial, and the wait for quiet ran out",
    ),
    ("disturbed", "others used the host's CPUs during the trial"),
    (
        "stolen",
        "the hypervisor below the host took CPU time during the trial",
    ),
    (
        "clock-drift",
        "the clock of the box ran at another speed than the host's, so its times are off",
    ),
    (
        "below-limit",
        "the box got less CPU than granted without being throttled: the host was busy",
    ),
    (
        "short-for-quota",
        "the trial was throttled and too short to average over quota periods, which flatters it",
    ),
    (
        "partial-work",
        "time ran out before one whole unit of work: the rate is that of its first part, which may fit into caches that the whole does not",
    ),
    ("swapped", "the host swapped during the trial"),
    (
        "set-busy",
        "others ran on the CPUs of the pinned box during the trial",
    ),
    (
        "sibling-busy",
        "the cores of the pinned box were shared: their other threads were busy during the trial",
    ),
    (
        "major-faults",
        "the workload waited for pages from a disk: its time is in part that of storage",
    ),
    (
        "memory-pressure",
        "processes of the host, the box perhaps, waited for memory",
    ),
    (
        "box-swapped",
        "memory of the box was in swap: it had less than it was granted",
    ),
    (
        "frequency-changed",
        "the CPUs ran at another frequency than in the first trial of the run, by over 2 %",
    ),
    ("overheated", "the CPUs were throttled by heat during the trial"),
    (
        "dirty-pages",
        "data waited to be written back when the trial began, and may have competed with it",
    ),
    (
        "noise-unknown",
        "the host did not tell what others or its hypervisor did meanwhile: whether the trial was disturbed is not known",
    ),
    (
        "carry-over",
        "what ran right before a trial or a slice moved its figure by over a quarter of the margin: slices must be longer (--slices 50ms); in one piece, the reset between trials (--pause)",
    ),
];

/// What a finding means; nothing of one that is not known.
pub fn meaning(finding: &str) -> &'static str {
    let found = MEANINGS.iter().find(|(name, _)| *name == finding);
    found.map_or("", |(_, meaning)| meaning)
}
