//! The settings of a workload that tell which of its parameters matter.

use crate::workload_file::CatalogueWorkload;
use tare_model::tuning::{TuningDesign, TuningFactor};
use tare_stats::Design;

/// The combinations of levels that a design has, of each factor the place of its level; the first levels first.
pub(crate) fn settings(design: TuningDesign, factors: &[TuningFactor]) -> Vec<Vec<usize>> {
    let of_set = |set: u32| {
        (0..factors.len())
            .map(|factor| (set >> factor & 1) as usize)
            .collect()
    };
    match design {
        TuningDesign::Full => (0..1 << factors.len()).map(of_set).collect(),
        TuningDesign::Fractional => Design::fraction(factors.len()).into_iter().map(of_set).collect(),
        TuningDesign::OneAtATime => one_at_a_time(factors),
    }
}

fn one_at_a_time(factors: &[TuningFactor]) -> Vec<Vec<usize>> {
    let mut all = vec![vec![0; factors.len()]];
    for (place, factor) in factors.iter().enumerate() {
        for level in 1..factor.levels.len() {
            let mut levels = vec![0; factors.len()];
            levels[place] = level;
            all.push(levels);
        }
    }
    all
}

/// The text by which a workload with these levels is asked for: those that it does not have anyway.
pub(crate) fn asked(
    workload: &CatalogueWorkload,
    text: &str,
    factors: &[TuningFactor],
    levels: &[usize],
) -> String {
    let own = |name: &str| {
        workload
            .parameters
            .get(name)
            .map(|parameter| parameter.value.as_str())
    };
    let pairs = factors.iter().zip(levels);
    let pairs = pairs.map(|(factor, level)| (factor.name.as_str(), factor.levels[*level].as_str()));
    let others = pairs.filter(|(name, value)| own(name) != Some(value));
    others.fold(text.to_owned(), |text, (name, value)| with(&text, name, value))
}

/// The text that asks for a workload with one more parameter.
pub(crate) fn with(text: &str, name: &str, value: &str) -> String {
    let sign = if text.contains('?') { '&' } else { '?' };
    format!("{text}{sign}{name}={value}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload_file;

    fn factors(levels: &[usize]) -> Vec<TuningFactor> {
        let factor = |(i, levels): (usize, &usize)| TuningFactor {
            name: format!("f{i}"),
            levels: (0..*levels).map(|level| level.to_string()).collect(),
        };
        levels.iter().enumerate().map(factor).collect()
    }

    #[test]
    fn each_design_begins_with_the_first_levels_and_has_none_twice() {
        for (design, levels, n) in [
            (TuningDesign::Full, &[2, 2, 2][..], 8),
            (TuningDesign::Fractional, &[2; 4], 8),
            (TuningDesign::Fractional, &[2; 7], 16),
            (TuningDesign::OneAtATime, &[3, 2], 4),
        ] {
            let factors = factors(levels);
            let mut all = settings(design, &factors);
            assert_eq!(all.len(), n);
            assert!(all[0].iter().all(|level| *level == 0));
            all.sort();
            all.dedup();
            assert_eq!(all.len(), n, "{design:?}");
        }
    }

    #[test]
    fn a_setting_is_asked_for_by_its_levels() {
        let factor = |name: &str, levels: [&str; 2]| TuningFactor {
            name: name.to_owned(),
            levels: levels.map(str::to_owned).to_vec(),
        };
        let factors = [factor("sort", ["64", "128"]), factor("workers", ["1", "2"])];
        for (text, levels, expected) in [
            ("spot-prices", [1, 0], "spot-prices?sort=128&workers=1"),
            ("spot-prices", [0, 1], "spot-prices"),
            ("spot-prices?rows=9", [0, 0], "spot-prices?rows=9&workers=1"),
        ] {
            let workload = workload_file::read(text).unwrap();
            assert_eq!(asked(&workload, text, &factors, &levels), expected);
        }
    }
}
