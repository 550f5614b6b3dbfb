//! One size effect: from the pairs of every size to estimates, fit and range.

use super::{ChrRange, Fit, NoFit, RangeEnd, SizeEffect, SizePoint, Standing, share};
use crate::run::comparison::Comparison;
use crate::run::estimate::Estimate;
use crate::run::together::{self, Common, Measured};
use crate::run::trials::Trials;
use crate::run::{margin, question};
use tare_model::host::HostFacts;
use tare_model::study::Study;
use tare_stats::{
    Excess, PairedInference, Question, dying_out, fit_is_quotable, infer, size_fit, size_series,
};

/// Level below which the test of the model voids a fit.
const LACK_OF_FIT: f64 = 0.05;

/// A size and what was measured of it.
struct Sized<'a> {
    cpus: f64,
    of: Measured<'a>,
}

/// The effect of one group of comparisons, which differ in size alone; `None`
/// with fewer than two sizes or with two of the same CPUs.
pub(super) fn effect(
    study: &Study,
    host: &HostFacts,
    trials: &Trials,
    group: &[&Comparison],
) -> Option<SizeEffect> {
    let metric = &group.first()?.primary()?.metric;
    let sizes: Option<Vec<Sized>> = group.iter().map(|c| sized(study, trials, c)).collect();
    let mut sizes = sizes?;
    sizes.sort_by(|a, b| a.cpus.total_cmp(&b.cpus));
    if sizes.len() < 2 || sizes[0].cpus <= 0.0 || sizes.windows(2).any(|w| w[0].cpus >= w[1].cpus) {
        return None;
    }
    let common = Common::of(sizes.iter().map(|size| &size.of));
    let blocks = &common.blocks;
    let cell = &group[0].cell;
    let series = size_series(blocks);
    // All estimates are made as the headline's are.
    let question = question(study);
    let excess: Vec<Option<PairedInference>> = match &series {
        Some(series) => series.excess.iter().map(|e| infer(e, question)).collect(),
        None => vec![None; sizes.len() - 1],
    };
    let largest = series.and_then(|s| infer(&s.largest, question));
    let cpus: Vec<f64> = sizes.iter().map(|s| s.cpus).collect();
    // All are on as many CPUs of the host.
    let of = study.instance_of(&cell.kind)?.host_cpus.unwrap_or(host.cpus);
    let chr = |cpus: f64| (of > 0).then(|| cpus / f64::from(of));
    let ends: Vec<RangeEnd> = cpus
        .iter()
        .map(|&cpus| RangeEnd { cpus, chr: chr(cpus) })
        .collect();
    Some(SizeEffect {
        platform: cell.kind.platform.clone(),
        provisioning: cell.kind.provisioning,
        workload: cell.workload.clone(),
        metric: metric.name.clone(),
        n: blocks.len(),
        lost: common.lost,
        sizes: points(&sizes, blocks, question, &excess, chr),
        class: None,
        refusals: common.refusals,
        pto: None,
        pso: None,
        fit: fit(&cpus, blocks, question.looks.level()),
        range: range(&ends, &excess, margin(study)),
        estimates: [largest, excess[0]],
    })
}

fn sized<'a>(study: &Study, trials: &Trials, comparison: &'a Comparison) -> Option<Sized<'a>> {
    Some(Sized {
        cpus: study.instance_of(&comparison.cell.kind)?.size.cpus.as_f64(),
        of: together::measured(trials, comparison)?,
    })
}

fn points(
    sizes: &[Sized],
    blocks: &[Vec<f64>],
    question: Question,
    excess: &[Option<PairedInference>],
    chr: impl Fn(f64) -> Option<f64>,
) -> Vec<SizePoint> {
    let ratio = |size: usize| together::ratio(blocks.iter().map(|b| b[size]), question);
    let point = |(i, size): (usize, &Sized)| SizePoint {
        instance: size.of.comparison.cell.kind.instance.clone(),
        cpus: size.cpus,
        chr: chr(size.cpus),
        ratio: ratio(i),
        excess: excess.get(i).and_then(|e| share(e.as_ref()?)),
    };
    sizes.iter().enumerate().map(point).collect()
}

fn fit(cpus: &[f64], blocks: &[Vec<f64>], level: f64) -> Fit {
    let standing = |standing, reason: Option<NoFit>| Fit {
        standing,
        reason,
        pto: None,
        pso: None,
        p_fits: None,
        drawn: None,
    };
    if cpus.len() < 3 {
        return standing(Standing::Absent, Some(NoFit::FewSizes));
    }
    let Some(found) = size_fit(cpus, blocks, level) else {
        return standing(Standing::Absent, Some(NoFit::FewBlocks));
    };
    let drawn = Some((found.pto.mean, found.pso.mean));
    let not_quoted = |reason| Fit {
        drawn,
        ..standing(Standing::Drawn, Some(reason))
    };
    if !fit_is_quotable(cpus) {
        return not_quoted(NoFit::NarrowRange);
    }
    let Some(p) = found.p_fits else {
        return not_quoted(NoFit::Untested);
    };
    let void = |reason| Fit {
        p_fits: Some(p),
        ..standing(Standing::Void, Some(reason))
    };
    if found.pso.interval.high < 0.0 {
        return void(NoFit::Rising);
    }
    if p < LACK_OF_FIT {
        return void(NoFit::LackOfFit);
    }
    Fit {
        pto: Estimate::new(found.pto.mean, found.pto.interval),
        pso: Estimate::new(found.pso.mean, found.pso.interval),
        p_fits: Some(p),
        drawn,
        ..standing(Standing::Quoted, None)
    }
}

/// The range in which an excess over the last of these sizes dies out.
pub(in crate::run) fn range(
    sizes: &[RangeEnd],
    excess: &[Option<PairedInference>],
    margin: Option<f64>,
) -> ChrRange {
    let shown = |estimate: &Option<PairedInference>| match (estimate, margin) {
        (Some(estimate), Some(margin)) => Excess::of(estimate.interval, margin),
        _ => Excess::Open,
    };
    let found = dying_out(&excess.iter().map(shown).collect::<Vec<_>>());
    let end = |at: Option<usize>| at.map(|at| sizes[at]);
    ChrRange {
        beyond: end(found.beyond),
        within: end(found.within),
    }
}
