//! The decision table.

use crate::Interval;

/// Level of the corrected p values.
const ALPHA: f64 = 0.05;

/// A row of the decision table that holds for a comparison that may be judged.
///
/// [L, U] is the reported interval of d, the loss in logs; m is the margin in logs;
/// p is Holm's. The first row that holds decides. Row 0, a reason not to judge, is
/// the caller's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// 1: -m < L and U < m.
    Equal,
    /// 2: L >= m and p <= 0.05.
    SlowerBeyond,
    /// 3: 0 < L < m <= U and p <= 0.05.
    SlowerPerhaps,
    /// 4: as 2, mirrored.
    FasterBeyond,
    /// 4: as 3, mirrored.
    FasterPerhaps,
    /// 5: otherwise.
    Inconclusive,
}

impl Row {
    /// Its number in the table.
    pub const fn number(self) -> u8 {
        match self {
            Self::Equal => 1,
            Self::SlowerBeyond => 2,
            Self::SlowerPerhaps => 3,
            Self::FasterBeyond | Self::FasterPerhaps => 4,
            Self::Inconclusive => 5,
        }
    }

    /// Slower or faster by more than the margin.
    pub const fn beyond_margin(self) -> bool {
        matches!(self, Self::SlowerBeyond | Self::FasterBeyond)
    }
}

/// The first row that holds for an interval of d, Holm's p and a positive margin
/// in logs.
///
/// Row 1 is two one-sided tests at 2.5 %. It needs no correction: each such claim
/// has its own error.
pub fn decide(interval: Interval, p_holm: f64, margin: f64) -> Row {
    let Interval { low, high } = interval;
    let significant = p_holm <= ALPHA;
    let beyond = |low: f64| low >= margin && significant;
    let perhaps = |low: f64, high: f64| 0.0 < low && low < margin && margin <= high && significant;
    if -margin < low && high < margin {
        Row::Equal
    } else if beyond(low) {
        Row::SlowerBeyond
    } else if perhaps(low, high) {
        Row::SlowerPerhaps
    } else if beyond(-high) {
        Row::FasterBeyond
    } else if perhaps(-high, -low) {
        Row::FasterPerhaps
    } else {
        Row::Inconclusive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(low: f64, high: f64, p: f64, row: Row) {
        assert_eq!(decide(Interval { low, high }, p, 0.01), row);
    }

    #[test]
    fn each_row_holds_where_the_table_says() {
        check(-0.005, 0.005, 0.5, Row::Equal);
        check(0.001, 0.009, 0.001, Row::Equal);
        check(0.01, 0.02, 0.05, Row::SlowerBeyond);
        check(0.001, 0.01, 0.05, Row::SlowerPerhaps);
        check(0.009, 0.5, 0.05, Row::SlowerPerhaps);
        check(-0.02, -0.01, 0.05, Row::FasterBeyond);
        check(-0.01, -0.001, 0.05, Row::FasterPerhaps);
        check(-0.02, 0.02, 0.9, Row::Inconclusive);
    }

    #[test]
    fn the_ends_of_the_band_are_not_within_it() {
        check(-0.01, 0.005, 0.5, Row::Inconclusive);
        check(-0.005, 0.01, 0.5, Row::Inconclusive);
        check(0.0, 0.02, 0.05, Row::Inconclusive);
    }

    #[test]
    fn without_holm_s_consent_there_is_no_difference() {
        check(0.01, 0.02, 0.051, Row::Inconclusive);
        check(0.001, 0.02, 0.051, Row::Inconclusive);
        check(-0.02, -0.01, 0.051, Row::Inconclusive);
    }
}
