//! What stands around the costs: what the baseline achieves, and what the boxes themselves cost.

use super::remarks;
use crate::show::mebibytes;
use tare_analysis::Analysis;
use tare_model::metric::Unit;
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::study::Cell;

/// What the baseline achieves where it is pinned, if it is: costs are ratios to such figures.
pub(crate) fn baseline(analysis: &Analysis) -> String {
    let study = &analysis.study;
    let Some(first) = preferred(analysis) else {
        return String::new();
    };
    let of = analysis
        .cells
        .iter()
        .filter(|c| c.cell.kind.platform == study.baseline && c.cell.kind.provisioning == first)
        // Of settings only the first: the rest are told by what they change.
        .filter(|c| study.setting(&c.cell.workload).is_none_or(|place| place == 0));
    let figures = of.filter_map(|cell| {
        let primary = cell.metrics.iter().find(|m| m.metric.primary)?;
        let metric = &primary.metric;
        let better = remarks::direction(metric).map_or_else(String::new, |better| format!(" ({better})"));
        Some(format!(
            "{} {}{better}",
            name(analysis, &cell.cell),
            metric.unit.show_briefly(primary.mean?)
        ))
    });
    figures.collect::<Vec<_>>().join(", ")
}

/// The way of provisioning of which there is room to tell: pinned, where the study has it.
pub(crate) fn preferred(analysis: &Analysis) -> Option<Provisioning> {
    let all = &analysis.study.provisioning;
    let pinned = all.iter().find(|p| **p == Provisioning::Pinned);
    pinned.or_else(|| all.first()).copied()
}

/// The workload, and its size where there are several.
pub(crate) fn name(analysis: &Analysis, cell: &Cell) -> String {
    match &cell.kind.instance {
        Some(instance) if analysis.study.instances.len() > 1 => {
            format!("{} {instance}", cell.workload)
        }
        _ => cell.workload.clone(),
    }
}

/// `docker 347 ms 15 MiB`: the start-up latency and the memory of an idle box, of each platform's
/// first kind of box. Those of emulated machines say nothing of others.
pub(crate) fn boxes(analysis: &Analysis) -> String {
    let of = |platform: &PlatformPath| {
        let mut kinds = analysis.boxes.iter().filter(|b| b.kind.platform == *platform);
        let figures = kinds.find(|b| b.startup.median.is_some())?;
        let memory = figures
            .memory
            .median
            .map(|bytes| format!(" {} MiB", mebibytes(bytes)));
        let start = Unit::Second.show_briefly(figures.startup.median?);
        Some(format!("{platform} {start}{}", memory.unwrap_or_default()))
    };
    let real = analysis
        .study
        .platforms
        .iter()
        .filter(|p| !analysis.is_emulated(p));
    real.filter_map(of).collect::<Vec<_>>().join(", ")
}
