//! A figure with the digits in which it was printed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A printed number: `2.0` and `2` are the same value with different digits.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Digits {
    text: String,
    value: f64,
    decimals: i32,
}

/// Why a text is no printed number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a printed number: write digits with at most one point, such as 26.14")]
pub struct NotDigits(String);

impl Digits {
    /// The number.
    pub const fn value(&self) -> f64 {
        self.value
    }

    /// `value` with as many decimals as this number has.
    pub fn like(&self, value: f64) -> String {
        let decimals = usize::try_from(self.decimals).unwrap_or_default();
        let shown = format!("{value:.decimals$}");
        let is_nought = shown.chars().all(|c| matches!(c, '-' | '0' | '.'));
        if is_nought {
            shown.trim_start_matches('-').to_owned()
        } else {
            shown
        }
    }

    /// Whether `value` rounds to this number at its last digit.
    pub fn is_rounded(&self, value: f64) -> bool {
        self.within_half_of(self.decimals, value)
    }

    /// Whether `value` is this number with its further digits cut off.
    pub fn is_cut(&self, value: f64) -> bool {
        let unit = 10_f64.powi(self.decimals);
        (value * unit).trunc() == (self.value * unit).round()
    }

    /// Whether `value` rounds to this number at its last digit that is not 0:
    /// what "about 80" says.
    pub fn is_about(&self, value: f64) -> bool {
        let digits = self.text.replace('.', "");
        let zeros = digits.len() - digits.trim_end_matches('0').len();
        let zeros = i32::try_from(zeros).unwrap_or_default();
        self.value != 0.0 && self.within_half_of(self.decimals - zeros, value)
    }

    fn within_half_of(&self, decimals: i32, value: f64) -> bool {
        // A hair more than a half: 0.5 itself may be a little off in binary.
        (value - self.value).abs() <= 0.500_000_1 * 10_f64.powi(-decimals)
    }
}

impl FromStr for Digits {
    type Err = NotDigits;

    fn from_str(text: &str) -> Result<Self, NotDigits> {
        let wrong = || NotDigits(text.to_owned());
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (whole, part) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
        let plain = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if !plain(whole) || !plain(part) || text.len() > 15 {
            return Err(wrong());
        }
        let decimals = unsigned.split_once('.').map_or(0, |(_, part)| part.len());
        Ok(Self {
            text: text.to_owned(),
            value: text.parse().map_err(|_| wrong())?,
            decimals: i32::try_from(decimals).map_err(|_| wrong())?,
        })
    }
}

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<Digits> for String {
    fn from(digits: Digits) -> Self {
        digits.text
    }
}

impl TryFrom<String> for Digits {
    type Error = NotDigits;

    fn try_from(text: String) -> Result<Self, NotDigits> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn digits(text: &str) -> Digits {
        text.parse().unwrap()
    }

    #[test]
    fn a_figure_is_held_against_the_digits_shown() {
        assert!(digits("26.14").is_rounded(26.1418));
        assert!(!digits("26.14").is_rounded(26.146));
        assert!(digits("-0.013").is_rounded(-0.013_48));
        assert!(digits("0.28").is_cut(0.2857) && !digits("0.28").is_rounded(0.2857));
        assert!(digits("80").is_about(80.78) && !digits("80").is_rounded(80.78));
        assert!(digits("16").is_about(16.33) && !digits("16").is_about(16.6));
        assert_eq!(digits("2.00").like(-0.001), "0.00");
        assert_eq!(digits("2.0").value(), digits("2").value());
    }

    #[test]
    fn only_plain_numbers_are_read() {
        for wrong in [
            "", ".", "1.", ".5", "1e3", "+1", "inf", "NaN", "1,000", " 1", "--1", "1.2.3",
        ] {
            assert!(wrong.parse::<Digits>().is_err(), "{wrong}");
        }
        assert!("1".repeat(400).parse::<Digits>().is_err());
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(value in -1e6_f64..1e6, decimals in 0_usize..6) {
            let text = format!("{value:.decimals$}");
            let read = digits(&text);
            prop_assert!(read.is_rounded(value));
            prop_assert_eq!(read.to_string(), text);
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,40}") {
            let _ = text.parse::<Digits>();
        }
    }
}
