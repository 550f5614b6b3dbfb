//! An interval drawn in text: a dot with its whiskers on a scale of costs.

/// Ends of scales, as costs beyond that of the baseline: round numbers, each about twice the
/// one before.
const ENDS: [f64; 10] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];

/// Narrower drawings show nothing.
const NARROWEST: usize = 11;

/// A scale of costs with that of the baseline in its middle, so many columns wide.
pub(super) struct Scale {
    /// The logarithm at its right end.
    end: f64,
    /// Which of the ends that is.
    shown: f64,
    /// Columns on each side of the middle.
    side: usize,
    /// The margin in logs.
    margin: f64,
}

impl Scale {
    /// The finest round scale that shows nearly twice the margin and on which half of these
    /// intervals of logarithms fit; `None` where there is no room for one.
    pub fn of(intervals: &[(f64, f64)], margin: f64, columns: usize) -> Option<Self> {
        let fits = |end: f64| {
            let inside = intervals
                .iter()
                .filter(|(low, high)| -end <= *low && *high <= end);
            2 * inside.count() >= intervals.len() && end >= 1.9 * margin
        };
        let shown = ENDS.into_iter().find(|shown| fits(shown.ln_1p()));
        let shown = shown.unwrap_or(ENDS[ENDS.len() - 1]);
        (columns >= NARROWEST).then(|| Self {
            end: shown.ln_1p(),
            shown,
            side: (columns - 1) / 2,
            margin,
        })
    }

    /// Columns of a drawing.
    pub fn columns(&self) -> usize {
        2 * self.side + 1
    }

    /// What stands above the drawings: the ends and the middle.
    pub fn head(&self) -> String {
        let [left, right] = [-self.shown, self.shown].map(|end| {
            // The left end is a cost divided by what the right one is multiplied by.
            let end = if end < 0.0 { -(-self.end).exp_m1() } else { end };
            format!("{:.0} %", end * 100.0)
        });
        let (left, right) = (format!("-{left}"), format!("+{right}"));
        let width = self.side;
        format!("{left:<width$}0{right:>width$}")
    }

    /// The column of a logarithm, and whether it lies on the scale.
    fn column(&self, log: f64) -> (usize, bool) {
        let far = log.abs() > self.end;
        let steps = (log / self.end).clamp(-1.0, 1.0) * count(self.side);
        #[expect(clippy::cast_possible_truncation, reason = "within the columns of a line")]
        let step = steps.round() as isize;
        (self.side.saturating_add_signed(step), !far)
    }

    /// An interval with its figure, all as logarithms of costs.
    pub fn draw(&self, value: f64, low: f64, high: f64) -> String {
        let mut drawn = vec![' '; self.columns()];
        for edge in [-self.margin, self.margin] {
            if let (column, true) = self.column(edge) {
                drawn[column] = '┊';
            }
        }
        drawn[self.side] = '│';
        let [(from, _), (to, _)] = [low, high].map(|end| self.column(end));
        drawn[from..=to].fill('─');
        if low < -self.end {
            drawn[from] = '<';
        }
        if high > self.end {
            drawn[to] = '>';
        }
        if let (column, true) = self.column(value) {
            drawn[column] = '●';
        }
        drawn.into_iter().collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "columns of a line")]
const fn count(columns: usize) -> f64 {
    columns as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale() -> Scale {
        let narrow = [(-0.001, 0.001); 4];
        Scale::of(&narrow, 0.01_f64.ln_1p(), 17).unwrap()
    }

    #[test]
    fn the_scale_is_the_finest_that_shows_the_margin_twice_and_most_intervals() {
        assert!((scale().shown - 0.02).abs() < 1e-12);
        let wide = [(0.0, 0.12), (0.0, 0.12), (0.0, 3.0)];
        let scale = Scale::of(&wide, 0.01, 21).unwrap();
        assert!((scale.shown - 0.2).abs() < 1e-12);
        assert_eq!(scale.head(), "-17 %     0     +20 %");
        assert!(Scale::of(&wide, 0.01, 10).is_none());
    }

    #[test]
    fn a_dot_stands_between_its_whiskers_and_what_lies_beyond_is_an_arrow() {
        let draw = |value, low, high| scale().draw(value, low, high);
        assert_eq!(draw(0.0, -0.005, 0.005), "    ┊ ──●── ┊    ");
        assert_eq!(draw(0.015, 0.01, 0.03), "    ┊   │   ──●─>");
        assert_eq!(draw(0.3, 0.2, 0.4), "    ┊   │   ┊   >");
        assert_eq!(draw(-0.3, -0.4, -0.2), "<   ┊   │   ┊    ");
    }

    #[test]
    fn whatever_the_figures_a_drawing_is_as_wide_as_its_head() {
        for (value, low, high) in [(1e300, -1e300, 1e300), (0.0, 0.0, 0.0), (-5.0, -9.0, 7.0)] {
            let drawn = scale().draw(value, low, high);
            assert_eq!(drawn.chars().count(), scale().head().chars().count());
        }
    }
}
