//! Numbers for people that fit into a column, whatever they are.

/// What stands where a figure is missing, or is no number. Never 0.
pub const MISSING: &str = "—";

/// From here on a number has an exponent: nine digits before the point are what columns
/// have room for, and nobody counts more of them.
const LONG: f64 = 1e9;

/// A number with so many decimals; a longer one than any column holds with an exponent.
pub fn digits(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return MISSING.to_owned();
    }
    if value.abs() < LONG {
        format!("{value:.decimals$}")
    } else {
        format!("{value:.decimals$e}", decimals = decimals.clamp(1, 3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_longer_than_a_column() {
        assert_eq!(digits(1234.56, 1), "1234.6");
        assert_eq!(digits(-999_999_999.0, 0), "-999999999");
        assert_eq!(digits(1e9, 0), "1.0e9");
        assert_eq!(digits(-1.234_56e308, 4), "-1.235e308");
        assert_eq!(digits(f64::INFINITY, 2), MISSING);
        for value in [0.0, -1.0, 1e8, f64::MAX, f64::MIN, 5e-324, f64::NAN] {
            for decimals in 0..=2 {
                let length = digits(value, decimals).chars().count();
                assert!(length <= 12, "{value:e} with {decimals}");
            }
        }
    }
}
