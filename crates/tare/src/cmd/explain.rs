//! `tare explain`: what words, findings, verdicts and figures mean.

use super::forms;
use crate::args::ExplainArgs;
use std::process::ExitCode;
use tare_model::catalogue;
use tare_model::kernel::Kernel;
use tare_model::metric::{Direction, Metric};
use tare_platforms::REGISTRY;
use tare_report::glossary::{self, Chapter, Glossary};
use tare_study::{workload_file, workloads};

const PLATFORMS: Chapter = Chapter {
    title: "Platforms",
    one: "a platform",
};
const WORKLOADS: Chapter = Chapter {
    title: "Workloads",
    one: "a workload",
};
const METRICS: Chapter = Chapter {
    title: "Metrics",
    one: "a metric",
};
/// So many workloads of a metric are named.
const NAMED: usize = 4;

/// Prints what a word means, or all of them.
pub fn run(args: &ExplainArgs) -> anyhow::Result<ExitCode> {
    forms::check(args.forms.html.as_deref(), &[])?;
    let word = args.words.join(" ");
    let glossary = whole()?;
    let entries = if word.is_empty() {
        glossary.entries().to_vec()
    } else {
        glossary.find(&word)?
    };
    forms::tell(&args.forms, &[], &glossary::document(&entries), &entries)?;
    Ok(ExitCode::SUCCESS)
}

/// The words of reports, platforms, workloads and metrics.
fn whole() -> anyhow::Result<Glossary> {
    let mut glossary = Glossary::default();
    for platform in REGISTRY.iter().filter(|entry| entry.real) {
        glossary.add(PLATFORMS, platform.name, platform.about);
    }
    for workload in workloads::list()?.workloads {
        glossary.add(WORKLOADS, &workload.name, &workload.about);
    }
    for metric in metrics()? {
        glossary.add(METRICS, &metric.name, &metric.meaning());
    }
    Ok(glossary)
}

/// A metric and the workloads that have it, each with its unit.
struct Measured {
    name: String,
    /// What it is, of one that tare reads itself.
    about: Option<String>,
    direction: Option<Direction>,
    by: Vec<(String, String)>,
}

impl Measured {
    fn meaning(&self) -> String {
        let named = self.by.iter().take(NAMED);
        let named: Vec<String> = named.map(|(name, unit)| format!("{name} ({unit})")).collect();
        let more = match self.by.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let about = self.about.as_ref().map(|about| format!("{about}; "));
        let better = self.direction.map(|d| format!("; {} is better", d.name()));
        format!(
            "{}measured by {}{more}{}",
            about.unwrap_or_default(),
            named.join(", "),
            better.unwrap_or_default()
        )
    }
}

/// The metrics of all workloads that ship, and of commands and loads.
fn metrics() -> anyhow::Result<Vec<Measured>> {
    let mut all: Vec<Measured> = Vec::new();
    let mut add = |name: &str, by: (&str, &str), direction, about| {
        let by = (by.0.to_owned(), by.1.to_owned());
        match all.iter_mut().find(|known| known.name == name) {
            Some(known) => known.by.push(by),
            None => all.push(Measured {
                name: name.to_owned(),
                about,
                direction,
                by: vec![by],
            }),
        }
    };
    let of_kernels = Kernel::ALL
        .iter()
        .flat_map(|kernel| kernel.metrics().into_iter().map(|metric| (kernel.name(), metric)));
    let of_others = catalogue::of_commands_and_loads();
    for (by, metric) in of_kernels.chain(of_others) {
        let Metric { name, unit, .. } = &metric;
        let about = glossary::of_source(&metric.from);
        add(name, (by, unit.symbol()), Some(metric.direction), about);
    }
    for name in workload_file::names() {
        for wish in workload_file::read(name)?.command.metrics {
            add(&wish.name, (name, &wish.unit), wish.direction, None);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
