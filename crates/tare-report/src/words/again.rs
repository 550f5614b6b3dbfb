//! The command that measures the same study again.

use tare_model::shell::word;
use tare_model::study::{Instance, Protocol, Stopping, Study, Workload};
use tare_stats::LOOKS;

/// `tare run` with the options that choose what is measured; the seed makes it the same order. `None` where a program
/// of the user's is measured, which no option names from elsewhere. How it is measured stands beside: a
/// protocol of one's own has more options.
pub(crate) fn command(study: &Study) -> Option<String> {
    let seed = study.protocol.seed;
    Some(format!("{} --seed {seed}", in_new_order(study)?))
}

/// The same in an order of its own.
pub(super) fn in_new_order(study: &Study) -> Option<String> {
    let mut words = vec!["tare run".to_owned()];
    match &study.template {
        Some(template) => {
            words.push(word(&template.source));
            words.extend(template.small.then(|| "--small".to_owned()));
        }
        None => {
            let names: Option<Vec<String>> = study.workloads.iter().map(name).collect();
            words.push(format!("-w {}", word(&names?.join(","))));
            words.extend(sizes(&study.instances));
        }
    }
    words.push(format!("-p {}", listed(&study.platforms)));
    words.push(format!("--provisioning {}", listed(&study.provisioning)));
    words.extend(ending(&study.protocol));
    words.extend(study.protocol.evidence.then(|| "--evidence".to_owned()));
    Some(words.join(" "))
}

/// When a run ends; nothing of one that was asked for no end of its own.
fn ending(protocol: &Protocol) -> Option<String> {
    let blocks = format!("--blocks {}", protocol.blocks);
    let Stopping::Adaptive { half_width, precise } = protocol.stopping else {
        return Some(blocks);
    };
    if protocol.blocks_before_budget > 0 {
        return None;
    }
    let how = if precise {
        format!("--precision {}%", rounded(100.0 * half_width.exp_m1()))
    } else {
        "--adaptive".to_owned()
    };
    let budget = protocol
        .budget_seconds
        .map(|seconds| format!("--budget {seconds}s"));
    let is_most = protocol.blocks == LOOKS[LOOKS.len() - 1];
    let words = [Some(how), budget, (!is_most).then_some(blocks)];
    Some(words.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// A percentage as it was given, without the rounding of its logarithm.
fn rounded(percent: f64) -> f64 {
    (percent * 1e6).round() / 1e6
}

/// A workload as `-w` takes it: `linpack?size=500`. A command of the user's has no name there; it says nothing of
/// itself either.
pub(super) fn name(workload: &Workload) -> Option<String> {
    let is_known = workload.kernel().is_some() || !workload.about.is_empty();
    is_known.then(|| workload.name().replacen(' ', "?", 1))
}

fn sizes(instances: &[Instance]) -> Vec<String> {
    let memory = |instance: &Instance| format!("{}M", instance.size.memory_bytes >> 20);
    let size = |instance: &Instance| match &instance.name {
        Some(name) => {
            let host = instance
                .host_cpus
                .map_or_else(String::new, |cpus| format!(":{cpus}"));
            let size = instance.size;
            format!("--instance {name}={}:{}{host}", size.cpus, memory(instance))
        }
        None => format!("--cpus {} --memory {}", instance.size.cpus, memory(instance)),
    };
    instances.iter().map(size).collect()
}

fn listed(all: &[impl ToString]) -> String {
    let all: Vec<String> = all.iter().map(ToString::to_string).collect();
    word(&all.join(","))
}
