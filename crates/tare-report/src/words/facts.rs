//! The evidence as lists of names and values: what text and page have in common.

mod chapters;
mod fact;
mod slices;

pub(crate) use fact::Fact;

use super::{again, course};
use crate::show::{MISSING, date, margin, or_missing};
use chapters::chapters;
use tare_analysis::{Analysis, BoxFigures, PlatformFacts, TrialCounts};
use tare_model::digits::digits;
use tare_model::host::HostFacts;
use tare_model::looks::WarmUpRecord;
use tare_model::peak::PeakRecord;
use tare_model::results::EndReason;
use tare_model::size::{counted, show_memory, show_seconds};
use tare_model::study::{Instance, Protocol, RootImage, Stopping, Study, Workload};

fn fact(name: &str, value: impl Into<String>) -> Fact {
    let value = value.into();
    let value = if value.is_empty() {
        MISSING.to_owned()
    } else {
        value
    };
    (name.to_owned(), value)
}

fn text(value: Option<&String>) -> String {
    or_missing(value, Clone::clone)
}

/// A size that reads 0 where it was not found out.
fn bytes(value: u64) -> String {
    or_missing((value > 0).then_some(value), show_memory)
}

fn number(value: u32, noun: &str) -> String {
    if value == 0 {
        format!("{MISSING} {noun}s")
    } else {
        counted(value, noun)
    }
}

fn on_off(value: Option<bool>) -> String {
    or_missing(value, |on| if on { "on" } else { "off" }.to_owned())
}

/// The host, as far as figures depend on it.
pub(crate) fn host(analysis: &Analysis) -> Vec<Fact> {
    let host = &analysis.host;
    let cpus = [
        (host.cpus, "CPU"),
        (host.cores, "core"),
        (host.sockets, "socket"),
        (host.numa_nodes, "NUMA node"),
    ];
    let cpus = cpus.map(|(n, noun)| number(n, noun));
    vec![
        fact("CPU", text(host.cpu_model.as_ref())),
        fact("architecture", text(host.architecture.as_ref())),
        fact("CPUs", cpus.join(", ")),
        fact("last-level cache", or_missing(host.llc_bytes, show_memory)),
        fact("memory", bytes(host.memory_bytes)),
        fact("pages of memory", or_missing(host.page_bytes, show_memory)),
        fact("swap", swap(host)),
        fact("kernel", host.kernel.clone()),
        fact("system", text(host.os.as_ref())),
        fact("hypervisor below", text(host.hypervisor.as_ref())),
        fact("cgroups", text(host.cgroup.as_ref())),
        fact("clock source", text(host.clocksource.as_ref())),
        fact("governor", text(host.governor.as_ref())),
        fact("frequency driver", text(host.frequency_driver.as_ref())),
        fact("microcode", text(host.microcode.as_ref())),
        fact("NUMA balancing", on_off(host.numa_balancing)),
        fact("turbo", on_off(host.turbo)),
        fact("SMT", on_off(host.smt)),
        fact("transparent huge pages", text(host.thp.as_ref())),
        fact("page merging (KSM)", on_off(host.ksm)),
        fact("boot options", host.boot_options.join(" ")),
        fact("storage", text(host.storage.as_ref())),
        fact("boot", text(host.boot_id.as_ref())),
        fact("mitigations", mitigations(analysis)),
    ]
}

/// A host whose memory was found out and that reads 0 has no swap.
fn swap(host: &HostFacts) -> String {
    match (host.memory_bytes, host.swap_bytes) {
        (0, 0) => MISSING.to_owned(),
        (_, 0) => "none".to_owned(),
        (_, swap) => show_memory(swap),
    }
}

fn mitigations(analysis: &Analysis) -> String {
    let all = &analysis.host.mitigations;
    let shown: Vec<String> = all
        .iter()
        .map(|(name, state)| format!("{name}: {state}"))
        .collect();
    shown.join("; ")
}

/// The study and its protocol.
pub(crate) fn study(analysis: &Analysis) -> Vec<Fact> {
    let study = &analysis.study;
    let yes_no = |yes: bool| if yes { "yes" } else { "no" };
    let mut facts = vec![
        fact("baseline", study.baseline.to_string()),
        fact("fresh box per", study.protocol.fresh.to_string()),
        fact("trial", trial(study)),
        fact("slices", study.protocol.slicing.to_string()),
        fact("waits for a quiet host", yes_no(study.protocol.settle)),
        fact("margin", margin(study.protocol.margin)),
        fact(
            "time budget",
            study
                .protocol
                .budget_seconds
                .map_or_else(|| "none".to_owned(), seconds),
        ),
        fact("stopping", stopping(study)),
        fact("warm-up", time_or_none(study.protocol.warm_up_seconds)),
        fact("pause before a trial", time_or_none(study.protocol.pause_seconds)),
        fact("seed", study.protocol.seed.to_string()),
    ];
    let sizes = study
        .instances
        .iter()
        .map(|i| fact("box size", size(i, &analysis.host)));
    facts.splice(1..1, sizes);
    let image = |image: &RootImage| fact("image of the boxes", format!("{image}, {}", image.source));
    facts.extend(study.image.iter().map(image));
    let workload = |w: &Workload| fact(w.name(), about(w));
    facts.extend(study.workloads.iter().map(workload));
    if let Some(template) = &study.template {
        facts.splice(0..0, chapters(template));
    }
    facts.extend(again::command(study).map(|command| fact("to measure again", command)));
    facts
}

fn list(numbers: &[u32]) -> String {
    let shown: Vec<String> = numbers.iter().map(u32::to_string).collect();
    if shown.is_empty() {
        MISSING.to_owned()
    } else {
        shown.join(", ")
    }
}

/// CPUs and memory of a box, the CHR (its CPUs over the host's), and the pinned set.
fn size(instance: &Instance, host: &HostFacts) -> String {
    let cpus = instance.size.cpus;
    let of = instance.host_cpus.unwrap_or(host.cpus);
    let chr = cpus.as_f64() / f64::from(of);
    let chr = digits(chr, 2);
    let noun = if instance.pinned_set.len() == 1 {
        "CPU"
    } else {
        "CPUs"
    };
    let pinned = list(&instance.pinned_set);
    format!(
        "{} (CHR {chr}: {cpus} of the host's {}{}); pinned set: {noun} {pinned}{}",
        instance.show(),
        number(of, "CPU"),
        boxes_run_on(instance, host),
        shared(instance, host)
    )
}

/// What a box leaves to tare, if that is nothing.
fn shared(instance: &Instance, host: &HostFacts) -> &'static str {
    match instance.host_cpus.is_none() && instance.size.cpus.as_f64() >= f64::from(host.cpus) {
        true => "; it takes all CPUs, so clients outside and tare itself share them with it",
        false => "",
    }
}

/// Which of the host's CPUs boxes may run on, where these are fewer than it has.
fn boxes_run_on(instance: &Instance, host: &HostFacts) -> String {
    if instance.host_cpus.is_none() {
        return String::new();
    }
    format!(
        " that boxes run on, {} of {}",
        list(&instance.host_set),
        host.cpus
    )
}

fn trial(study: &Study) -> String {
    let Protocol {
        trial_seconds,
        timeout_seconds,
        slicing,
        ..
    } = study.protocol;
    let [least, most] = Protocol::SHARES.map(|share| seconds(share * trial_seconds));
    let shared = if slicing.are_found() {
        format!(", {least} to {most} from the second block on")
    } else {
        String::new()
    };
    format!(
        "intended {}{shared}, aborted after {}",
        seconds(trial_seconds),
        seconds(timeout_seconds)
    )
}

fn time_or_none(value: f64) -> String {
    if value == 0.0 {
        "none".to_owned()
    } else {
        seconds(value)
    }
}

fn stopping(study: &Study) -> String {
    match study.protocol.stopping {
        Stopping::Fixed => "every cell runs in every block".to_owned(),
        Stopping::Adaptive {
            half_width: h,
            precise,
        } => {
            let only = if precise { "only " } else { "" };
            format!("adaptive: looks; {only}{} is narrow enough", half_width(h))
        }
    }
}

fn seconds(value: f64) -> String {
    or_missing((value.is_finite() && value >= 0.0).then_some(value), show_seconds)
}

/// What a workload measures, and how it runs.
fn about(workload: &Workload) -> String {
    let mut runs: Vec<String> = workload.roles.iter().map(|role| role.run.to_string()).collect();
    // The two ends of a kernel are alike.
    runs.dedup();
    let about = Some(workload.about.clone()).filter(|about| !about.is_empty());
    let told = about.into_iter().chain(workload.placed()).chain(runs);
    told.collect::<Vec<_>>().join("; ")
}

/// `40 succeeded, 0 failed, 1 skipped; 1 of them repeated: 42 attempts`.
fn trials(trials: &TrialCounts) -> String {
    let ends = format!(
        "{} succeeded, {} failed, {} skipped",
        trials.ok, trials.failed, trials.skipped
    );
    match trials.repeated {
        0 => ends,
        repeated => format!(
            "{ends}; {repeated} of them repeated: {} attempts",
            trials.attempts
        ),
    }
}

/// The course of the run.
pub(crate) fn run(analysis: &Analysis) -> Vec<Fact> {
    let run = &analysis.run;
    let sessions = run.sessions.iter().enumerate();
    let mut facts = vec![
        fact("blocks", course::blocks(&analysis.study, run)),
        fact("trials", trials(&run.trials)),
    ];
    facts.extend(sessions.map(|(i, s)| {
        let boot = text(s.boot_id.as_ref());
        let value = format!("{}, run {}, boot {boot}", date(s.started_unix_ns), s.run);
        fact(&format!("session {}", i + 1), value)
    }));
    facts.extend(run.warm_ups.iter().map(warm_up));
    facts.extend(analysis.slicing.iter().flat_map(slices::seen));
    facts.push(fact("end", end(analysis)));
    facts.push(fact(
        "measured by",
        programs(&analysis.tare, &analysis.build, analysis.agent.as_deref()),
    ));
    facts
}

/// The programs that measured.
pub fn programs(tare: &str, build: &str, agent: Option<&str>) -> String {
    let agent = agent.map(|id| format!(", agent {id}"));
    format!("tare {tare}, build {build}{}", agent.unwrap_or_default())
}

/// What the baseline answers at most, of which rates are shares.
pub(crate) fn peaks(analysis: &Analysis) -> Vec<Fact> {
    analysis.run.peaks.iter().map(peak).collect()
}

/// What the baseline answered in a closed loop, from the slowest slice to the fastest, and what of
/// that is left within a bound.
fn peak(found: &PeakRecord) -> Fact {
    let rates = found.rates.iter().copied();
    let range = rates.fold((f64::INFINITY, 0.0_f64), |(low, high), rate| {
        (low.min(rate), high.max(rate))
    });
    let rate = |rate: f64| digits(rate, 0);
    let value = format!(
        "{}{} requests/s, {} to {} in {}",
        found.within.as_ref().map_or_else(String::new, |within| format!(
            "{} requests/s while {}, in {} attempts; without a bound ",
            or_missing(found.peak(), rate),
            within.bound,
            within.tries.len()
        )),
        or_missing(found.answered(), rate),
        rate(range.0),
        rate(range.1),
        counted(u32::try_from(found.rates.len()).unwrap_or(u32::MAX), "slice")
    ) + ", one right after another: boxes that take turns start each slice with cold caches and answer less";
    fact(&format!("peak of {}", found.cell), value)
}

fn warm_up(warm_up: &WarmUpRecord) -> Fact {
    let trials = counted(warm_up.trials, "trial");
    let failed = match warm_up.failed {
        0 => String::new(),
        n => format!(", {n} more failed"),
    };
    let time = seconds(warm_up.seconds);
    fact("warm-up", format!("{trials} in {time}, not recorded{failed}"))
}

/// Half-width of an interval in logs, as a share.
pub(crate) fn half_width(logs: f64) -> String {
    format!("+-{} %", digits(100.0 * logs.exp_m1(), 2))
}

fn end(analysis: &Analysis) -> String {
    let Some(end) = analysis.run.end else {
        return "none in the file: killed, or still running".to_owned();
    };
    let why = match end.reason {
        EndReason::Complete => "complete",
        EndReason::BudgetSpent => "budget spent",
        EndReason::Fruitless => "nothing to compare after the first block",
        EndReason::Interrupted => "stopped by the user",
        EndReason::Aborted => "stopped by an error",
        EndReason::Settled => "every comparison settled",
        EndReason::ProgramChanged => "a program was replaced while it was measured",
    };
    format!("{}: {why}", date(end.ended_unix_ns))
}

/// Version and details of a platform.
pub(crate) fn platform(facts: &PlatformFacts) -> Fact {
    let details = facts.details.iter().map(|(k, v)| format!("{k} {v}"));
    let version = (!facts.version.is_empty()).then(|| facts.version.clone());
    let parts: Vec<String> = version.into_iter().chain(details).collect();
    fact(&facts.platform.to_string(), parts.join("; "))
}

/// What the agent of the latest box of a kind saw.
pub(crate) fn inside(figures: &BoxFigures) -> Fact {
    let seen = or_missing(figures.facts.as_ref(), |f| {
        let cpus = format!("{} of {}", list(&f.allowed_cpus), number(f.online_cpus, "CPU"));
        let capabilities = f.capabilities.map(u64::count_ones);
        let parts = [
            format!("kernel {}", text(Some(&f.kernel).filter(|k| !k.is_empty()))),
            format!("CPUs {cpus}"),
            format!("memory {}", bytes(f.memory_bytes)),
            format!("clock source {}", text(f.clocksource.as_ref())),
            format!("huge pages {}", text(f.thp.as_ref())),
            format!("seccomp {}", on_off(f.seccomp)),
            format!(
                "capabilities held: {}",
                or_missing(capabilities, |n| n.to_string())
            ),
            format!("user IDs (uid_map) {}", text(f.uid_map.as_ref())),
            format!("agent {} resident", bytes(f.agent_rss_bytes)),
        ];
        parts.join("; ")
    });
    fact(&figures.kind.to_string(), seen)
}
