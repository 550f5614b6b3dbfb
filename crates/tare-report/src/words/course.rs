//! How the figures came to be: how much was run, in what boxes, on what host.

use tare_analysis::{Analysis, RunFacts, TrialCounts};
use tare_model::size::{counted, show_memory, show_seconds};
use tare_model::study::{Instance, Protocol, Study};

/// `320 trials, 10 of 10 blocks, 5 min 05 s; boxes of 1 CPU, 1 GiB`, or
/// `312 of 320 trials, 8 failed, ...`.
pub(crate) fn ran(study: &Study, run: &RunFacts) -> String {
    let sizes: Vec<String> = study.instances.iter().map(Instance::show).collect();
    let time = run
        .seconds()
        .map_or_else(String::new, |s| format!(", {}", show_seconds(s)));
    format!(
        "{}, {}{time}; boxes of {}",
        trials(&run.trials),
        blocks(study, run),
        sizes.join("; "),
    )
}

/// `10 of 10 blocks`; of a study that stops by its results or by a time `13 blocks`.
pub(crate) fn blocks(study: &Study, run: &RunFacts) -> String {
    if study.protocol.stopping.is_fixed() && !Protocol::is_timed(run.blocks_planned) {
        format!("{} of {}", run.blocks, counted(run.blocks_planned, "block"))
    } else {
        counted(run.blocks, "block")
    }
}

/// How many trials the run came to, and how those ended that have no result.
fn trials(trials: &TrialCounts) -> String {
    let all = counted(trials.all(), "trial");
    let lost = [(trials.failed, "failed"), (trials.skipped, "skipped")];
    let lost = lost.into_iter().filter(|(n, _)| *n > 0);
    let lost: Vec<String> = lost.map(|(n, how)| format!(", {n} {how}")).collect();
    if lost.is_empty() {
        return all;
    }
    format!("{} of {all}{}", trials.ok, lost.concat())
}

/// `2 CPUs (AMD EPYC), 23.5 GiB, Linux 6.18.44, Debian GNU/Linux 12, a VM on KVM`: the
/// version of the kernel without what a distribution adds.
pub(crate) fn host(analysis: &Analysis) -> String {
    let host = &analysis.host;
    let model = host.cpu_model.as_ref().map(|model| format!(" ({model})"));
    let mut parts = vec![
        format!("{}{}", counted(host.cpus, "CPU"), model.unwrap_or_default()),
        show_memory(host.memory_bytes),
        format!("Linux {}", first_part(&host.kernel, '-')),
    ];
    parts.extend(host.os.as_ref().map(|os| first_part(os, '(').to_owned()));
    parts.extend(host.hypervisor.as_ref().map(|below| format!("a VM on {below}")));
    parts.join(", ")
}

fn first_part(text: &str, mark: char) -> &str {
    text.split(mark).next().unwrap_or_default().trim()
}
