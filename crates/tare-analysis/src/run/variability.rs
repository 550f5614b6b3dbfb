//! How much more a platform varies than its baseline.

/// li2018's variability overhead, (Sm - Sb) / Sb on the plain standard
/// deviations of all trials of each cell, 0 where negative. The study shows
/// standard deviations as error bars and gives no formula: sd is our reading.
/// Descriptive: drift of the host sits in both and pulls the figure to 0.
pub fn overhead(sd: Option<f64>, baseline_sd: Option<f64>) -> Option<f64> {
    let (sd, baseline_sd) = (sd?, baseline_sd?);
    let overhead = ((sd - baseline_sd) / baseline_sd).max(0.0);
    (baseline_sd > 0.0 && overhead.is_finite()).then_some(overhead)
}

#[cfg(test)]
mod tests {
    use super::overhead;

    #[test]
    fn it_is_the_growth_of_sd_and_never_negative() {
        assert_eq!(overhead(Some(3.0), Some(2.0)), Some(0.5));
        assert_eq!(overhead(Some(1.0), Some(2.0)), Some(0.0));
    }

    #[test]
    fn without_spread_of_the_baseline_there_is_none() {
        for (sd, baseline) in [
            (Some(1.0), Some(0.0)),
            (Some(0.0), Some(0.0)),
            (None, Some(1.0)),
            (Some(1.0), None),
        ] {
            assert_eq!(overhead(sd, baseline), None);
        }
    }
}
