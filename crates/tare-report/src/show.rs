//! Numbers and foreign strings as people read them. Values are rounded here and
//! nowhere else.

use std::borrow::Cow;
use tare_model::digits::digits;

pub(crate) use tare_model::digits::MISSING;

/// `figure` by `show`, or the sign for a missing one.
pub(crate) fn or_missing<T>(figure: Option<T>, show: impl FnOnce(T) -> String) -> String {
    figure.map_or_else(|| MISSING.to_owned(), show)
}

/// A fraction as percents: one decimal below 10 %, none above.
pub(crate) fn percent(fraction: f64) -> String {
    format!("{} %", percent_number(fraction))
}

/// `-4.9 to -3.9 %`.
pub(crate) fn percent_range(low: f64, high: f64) -> String {
    format!("{} to {}", percent_number(low), percent(high))
}

fn percent_number(fraction: f64) -> String {
    if (fraction * 100.0).abs() < 9.95 {
        one_decimal(fraction)
    } else {
        digits(fraction * 100.0, 0)
    }
}

/// A fraction in percents; one that rounds to nought has no sign.
fn one_decimal(fraction: f64) -> String {
    let shown = digits(fraction * 100.0, 1);
    if shown == "-0.0" { "0.0".to_owned() } else { shown }
}

/// A fraction that a user chose, as percents with the digits that it has.
pub(crate) fn margin(fraction: f64) -> String {
    if !fraction.is_finite() {
        return MISSING.to_owned();
    }
    let shown = digits(fraction * 100.0, 3);
    let has_exponent = shown.contains('e');
    if has_exponent {
        return format!("{shown} %");
    }
    format!("{} %", shown.trim_end_matches('0').trim_end_matches('.'))
}

/// `-4.4 (-4.9 to -3.9) %`. A narrow interval keeps the decimal that tells its ends apart.
pub(crate) fn percent_with_interval(value: f64, low: f64, high: f64) -> String {
    let shown = |fraction| {
        if high - low < 0.01 {
            format!("{} %", one_decimal(fraction))
        } else {
            percent(fraction)
        }
    };
    with_interval(&shown(value), &shown(low), &shown(high))
}

/// `10.74 (10.71 to 10.78) ms`: a figure and its interval, whose unit is told once where they share it.
pub(crate) fn with_interval(figure: &str, low: &str, high: &str) -> String {
    match [figure, low, high].map(|shown| shown.split_once(' ')) {
        [Some((figure, unit)), Some((low, of_low)), Some((high, of_high))]
            if unit == of_low && unit == of_high =>
        {
            format!("{figure} ({low} to {high}) {unit}")
        }
        _ => format!("{figure} ({low} to {high})"),
    }
}

/// A ratio: three decimals near 1, fewer where it is large, three significant
/// digits where it is small.
pub(crate) fn ratio(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        x if x < 0.000_999_5 => format!("{value:.2e}"),
        x if x < 0.009_995 => format!("{value:.5}"),
        x if x < 0.099_95 => format!("{value:.4}"),
        x if x < 9.995 => format!("{value:.3}"),
        x if x < 99.95 => format!("{value:.2}"),
        _ => digits(value, 1),
    }
}

/// `1.004 (0.999 to 1.009)`.
pub(crate) fn ratio_with_interval(value: f64, low: f64, high: f64) -> String {
    with_interval(&ratio(value), &ratio(low), &ratio(high))
}

/// A change of less than this is none that one decimal of a percent could show.
const ALIKE: f64 = 0.0005;
/// From so many times the cost on, a factor reads better than percents.
const FACTOR: f64 = 2.0;

/// What a ratio of costs says: `0.4 % slower`, `3.21 times as long`, `5.0 % faster`.
pub(crate) fn cost_change(ratio_of_costs: f64) -> String {
    let change = ratio_of_costs - 1.0;
    if is_faster(ratio_of_costs) {
        format!("{} faster", percent(-change))
    } else if ratio_of_costs >= FACTOR {
        format!("{} times as long", factor(ratio_of_costs))
    } else if change >= ALIKE {
        format!("{} slower", percent(change))
    } else {
        "alike to 0.1 %".to_owned()
    }
}

/// The same in as few letters as can be: `+0.4 %`, `-5.0 %`, `x3.2`.
pub(crate) fn cost_briefly(ratio_of_costs: f64) -> String {
    if ratio_of_costs >= FACTOR {
        return format!("x{}", digits(ratio_of_costs, usize::from(ratio_of_costs < 9.95)));
    }
    let shown = percent(ratio_of_costs - 1.0);
    if shown.starts_with('-') || shown == "0.0 %" {
        shown
    } else {
        format!("+{shown}")
    }
}

/// The same of a cost that is known to differ, however little.
pub(crate) fn known_change(ratio_of_costs: f64) -> String {
    if (ratio_of_costs - 1.0).abs() >= ALIKE {
        return cost_change(ratio_of_costs);
    }
    let word = if ratio_of_costs > 1.0 { "slower" } else { "faster" };
    format!("less than 0.1 % {word}")
}

fn is_faster(ratio_of_costs: f64) -> bool {
    ratio_of_costs - 1.0 <= -ALIKE
}

fn factor(value: f64) -> String {
    let decimals = if value < 99.95 { 2 } else { 0 };
    digits(value, decimals)
}

/// The interval of a ratio of costs, to stand behind its [`cost_change`]:
/// `-0.1 to 0.9 %`, `3.10 to 3.35 times`. Percents count in the direction of
/// that word, so that the figure lies between them: a negative end is slower
/// behind `faster`, and faster behind any other word. A narrow interval keeps
/// the decimal that tells its ends apart.
pub(crate) fn change_interval(ratio_of_costs: f64, low: f64, high: f64) -> String {
    if high >= FACTOR {
        let unit = if ratio_of_costs >= FACTOR {
            "times"
        } else {
            "times as long"
        };
        return format!("{} to {} {unit}", factor(low), factor(high));
    }
    let (from, to) = if is_faster(ratio_of_costs) {
        (1.0 - high, 1.0 - low)
    } else {
        (low - 1.0, high - 1.0)
    };
    if needs_decimals(low, high) {
        format!("{:.1} to {:.1} %", from * 100.0, to * 100.0)
    } else {
        format!("{} to {}", percent_number(from), percent(to))
    }
}

/// Whether the ends of an interval are so close, and so far from 1, that whole percents would not
/// tell them apart.
fn needs_decimals(low: f64, high: f64) -> bool {
    let furthest = (low - 1.0).abs().max((high - 1.0).abs());
    high < FACTOR && high - low < 0.01 && furthest >= 0.0995
}

/// The [`known_change`] of a cost, with as many digits as its [`change_interval`] has.
pub(crate) fn change_beside(ratio_of_costs: f64, low: f64, high: f64) -> String {
    if !needs_decimals(low, high) {
        return known_change(ratio_of_costs);
    }
    let word = if is_faster(ratio_of_costs) {
        "faster"
    } else {
        "slower"
    };
    format!("{:.1} % {word}", 100.0 * (ratio_of_costs - 1.0).abs())
}

/// An interval in words: `2.9 % faster to 1.6 % slower`, `0.5 to 3.8 % slower`.
pub(crate) fn between(low: f64, high: f64) -> String {
    let (below, above) = (1.0 - low, high - 1.0);
    if high >= FACTOR {
        change_interval(1.0, low, high)
    } else if below <= 0.0 {
        format!("{} to {} slower", nearest(-below), percent(above))
    } else if above <= 0.0 {
        format!("{} to {} faster", nearest(-above), percent(below))
    } else {
        format!("{} faster to {} slower", percent(below), percent(above))
    }
}

/// The end of an interval next to 1 which it excludes: a further decimal where one shows none.
fn nearest(fraction: f64) -> String {
    match percent_number(fraction) {
        shown if shown == "0.0" => format!("{:.2}", 100.0 * fraction),
        shown => shown,
    }
}

/// Mebibytes, for all readings alike: what matters is how little they differ.
pub(crate) fn mebibytes(bytes: f64) -> String {
    let mebibytes = digits(bytes / f64::from(1 << 20), 1);
    mebibytes.trim_end_matches(".0").to_owned()
}

/// A figure of any unit: five significant digits.
pub(crate) fn figure(value: f64) -> String {
    let decimals = match value.abs() {
        0.0 => return "0".to_owned(),
        x if !(1e-3..1e7).contains(&x) => return format!("{value:.4e}"),
        x if x < 0.009_999_95 => 7,
        x if x < 0.099_999_5 => 6,
        x if x < 0.999_995 => 5,
        x if x < 9.99995 => 4,
        x if x < 99.9995 => 3,
        x if x < 999.995 => 2,
        x if x < 9999.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// One of several hosts: they are counted from 1 where people read.
pub(crate) fn host_name(host: usize) -> String {
    format!("host {}", host + 1)
}

/// A p value: three decimals.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.0005 {
        "<0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}

/// A moment of time in UTC, to the minute (the civil calendar by Hinnant's
/// `civil_from_days`).
pub(crate) fn date(unix_ns: u64) -> String {
    let minutes = unix_ns / 60_000_000_000;
    let (days, minute) = (minutes / 1440 + 719_468, minutes % 1440);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02} UTC",
        minute / 60,
        minute % 60
    )
}

/// `text` with every control character, and every mark that reorders or hides
/// text, spelled out: what a results file holds cannot drive a terminal or
/// disguise itself.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unprintable) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unprintable(c) {
            cleaned.extend(c.escape_default());
        } else {
            cleaned.push(c);
        }
    }
    Cow::Owned(cleaned)
}

/// Control characters; line and paragraph separators; what hides or reorders text: characters
/// that are shown as nothing (Default_Ignorable_Code_Point of the Unicode Character Database,
/// `DerivedCoreProperties.txt`), and marks of annotations, direction and tags.
pub(crate) fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_have_one_decimal_below_ten_and_no_negative_nought() {
        assert_eq!(percent(0.004), "0.4 %");
        assert_eq!(percent(-0.0001), "0.0 %");
        assert_eq!(percent(-0.012), "-1.2 %");
        assert_eq!(percent(0.194), "19 %");
        assert_eq!(
            percent_with_interval(-0.044, -0.049, -0.039),
            "-4.4 (-4.9 to -3.9) %"
        );
    }

    #[test]
    fn an_interval_tells_a_unit_once_where_both_ends_share_it() {
        assert_eq!(with_interval("1.2 ms", "1.1 ms", "1.3 ms"), "1.2 (1.1 to 1.3) ms");
        assert_eq!(
            with_interval("1.1 ms", "999 us", "1.3 ms"),
            "1.1 ms (999 us to 1.3 ms)"
        );
        assert_eq!(with_interval("1.004", "0.999", "1.009"), "1.004 (0.999 to 1.009)");
    }

    #[test]
    fn a_margin_keeps_its_digits() {
        assert_eq!(margin(0.01), "1 %");
        assert_eq!(margin(0.0025), "0.25 %");
        assert_eq!(margin(0.01_f64.ln_1p().exp_m1()), "1 %");
    }

    #[test]
    fn costs_are_told_in_percents_and_then_in_factors() {
        assert_eq!(cost_change(1.004), "0.4 % slower");
        assert_eq!(cost_change(0.95), "5.0 % faster");
        assert_eq!(cost_change(0.9996), "alike to 0.1 %");
        assert_eq!(cost_change(32.1), "32.10 times as long");
        assert_eq!(change_interval(1.004, 0.999, 1.009), "-0.1 to 0.9 %");
        assert_eq!(change_interval(2.0, 1.9, 2.1), "1.90 to 2.10 times");
        assert_eq!(change_interval(1.19, 1.189, 1.1921), "18.9 to 19.2 %");
    }

    #[test]
    fn an_interval_counts_in_the_direction_of_its_word() {
        assert_eq!(change_interval(0.925, 0.84, 1.017), "-1.7 to 16 %");
        assert_eq!(change_beside(1.255, 1.251, 1.259), "25.5 % slower");
        assert_eq!(change_beside(0.8, 0.7981, 0.8011), "20.0 % faster");
        assert_eq!(change_beside(1.257, 1.21, 1.3), "26 % slower");
        assert_eq!(change_interval(0.8, 0.7981, 0.8011), "19.9 to 20.2 %");
        assert_eq!(change_interval(0.9996, 0.998, 1.001), "-0.2 to 0.1 %");
    }

    #[test]
    fn an_interval_in_words_says_on_which_side_its_ends_are() {
        assert_eq!(between(0.971, 1.016), "2.9 % faster to 1.6 % slower");
        assert_eq!(between(1.0002, 1.038), "0.02 to 3.8 % slower");
        assert_eq!(between(0.957, 0.997), "0.3 to 4.3 % faster");
        assert_eq!(between(0.8, 3.2), "0.80 to 3.20 times as long");
        assert_eq!(change_interval(0.9, 0.4, 2.3), "0.40 to 2.30 times as long");
    }

    #[test]
    fn ratios_keep_the_digits_that_matter() {
        assert_eq!(
            ratio_with_interval(1.0042, 0.999, 12.345),
            "1.004 (0.999 to 12.35)"
        );
        assert_eq!(ratio(0.123), "0.123");
        assert_eq!(ratio(0.012_34), "0.0123");
        assert_eq!(ratio(0.001_234), "0.00123");
        assert_eq!(ratio(0.000_012_34), "1.23e-5");
        assert_eq!(p_value(0.00001), "<0.001");
        let shown = [0.0, 0.001_05, 1.5, -12.3456, 1234.5678, 1.0e7, 2.0e-4].map(figure);
        let expected = [
            "0",
            "0.0010500",
            "1.5000",
            "-12.346",
            "1234.6",
            "1.0000e7",
            "2.0000e-4",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn dates_follow_the_civil_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400_000_000_000), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_795_253_999_000_000_000), "2026-11-21 09:39 UTC");
        assert!(date(u64::MAX).ends_with("UTC"));
    }

    #[test]
    fn control_characters_are_spelled_out() {
        assert_eq!(
            clean("a\u{1b}[31mb\nc\u{202e}d\u{9b}é"),
            "a\\u{1b}[31mb\\nc\\u{202e}d\\u{9b}é"
        );
        let hidden = [
            '\u{61c}',
            '\u{ad}',
            '\u{180e}',
            '\u{3164}',
            '\u{fe0f}',
            '\u{fff9}',
            '\u{e0041}',
        ];
        for c in hidden {
            assert_eq!(clean(&format!("a{c}b")), format!("a\\u{{{:x}}}b", u32::from(c)));
        }
        // Letters with accents of their own, and of scripts that write vowels so, are as they are.
        for shown in ["docker 20.10 — é", "e\u{301}", "हिन्दी", "한국어", "🚀"] {
            assert!(matches!(clean(shown), Cow::Borrowed(_)), "{shown}");
        }
    }
}
