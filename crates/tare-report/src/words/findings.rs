//! What findings mean, in words.

/// Each by its name: those of `tare_model::finding::Finding`, then what an analysis finds.
pub const MEANINGS: [(&str, &str); 20] = [
    (
        "host-busy",
        "other processes used the host's CPUs before the trial, and the wait for a quiet host timed out",
    ),
    (
        "disturbed",
        "other processes used the host's CPUs during the trial",
    ),
    (
        "stolen",
        "the hypervisor below the host took CPU time during the trial",
    ),
    (
        "clock-drift",
        "the clock of the box ran at a different speed than the host's, so its times are wrong",
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
        "time ran out before one complete unit of work: the rate is that of its first part, which may fit into caches although the whole does not",
    ),
    ("swapped", "the host swapped during the trial"),
    (
        "set-busy",
        "other processes ran on the CPUs of the pinned box during the trial",
    ),
    (
        "sibling-busy",
        "the cores of the pinned box were shared: their other threads were busy during the trial",
    ),
    (
        "major-faults",
        "the workload waited for pages from disk: part of its time is storage time",
    ),
    (
        "memory-pressure",
        "processes of the host, perhaps of the box, waited for memory",
    ),
    (
        "box-swapped",
        "memory of the box was in swap: it had less than granted",
    ),
    (
        "frequency-changed",
        "the CPU frequency differed by over 2 % from the first trial of the run",
    ),
    ("overheated", "the CPUs were throttled by heat during the trial"),
    (
        "dirty-pages",
        "data waited to be written back when the trial began, and may have competed with it",
    ),
    (
        "work-left-behind",
        "the command ended while processes that it had started went on; they were killed, and their work is not in the figure: have it stay in the foreground (many programs have an option for that), let the shell 'wait' for its jobs, or make it a server of a workload file",
    ),
    (
        "lost-servers",
        "servers ended before the command did, which went on with those that were left: its figure is that of a smaller cluster",
    ),
    (
        "noise-unknown",
        "the load of other processes and of the hypervisor was not measured, so nobody knows whether the trial was disturbed. Trials under 0.4 s are too short for it, as the host counts in ticks of 10 ms: use --trial-time 500ms, or omit --no-settle. Else the file has no readings: measure again where tare can read /proc/stat",
    ),
    (
        "carry-over",
        "what ran right before a trial or slice changed its figure by over a quarter of the margin: use longer slices (--slices 50ms) or, in one piece, a longer pause between trials (--pause)",
    ),
];

/// What a finding means; nothing of one that is not known.
pub fn meaning(finding: &str) -> &'static str {
    let found = MEANINGS.iter().find(|(name, _)| *name == finding);
    found.map_or("", |(_, meaning)| meaning)
}
