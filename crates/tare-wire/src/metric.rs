//! Metrics, their units and which direction is better.

use crate::digits::digits;
use crate::output::Extractor;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Unit of a metric. Values are stored in these base units, unrounded, and are
/// scaled only when printed.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub enum Unit {
    #[serde(rename = "s")]
    Second,
    #[serde(rename = "B")]
    Byte,
    #[serde(rename = "B/s")]
    BytePerSecond,
    /// Floating-point operations per second.
    #[serde(rename = "flop/s")]
    FlopPerSecond,
    /// A plain number.
    #[serde(rename = "1")]
    One,
    /// Any other, by its symbol: values of it are printed as they are.
    #[serde(untagged)]
    Other(String),
}

impl Unit {
    /// A value of this unit for people, with an SI prefix and four digits: `12.34 GB/s`, `104.2 ns`.
    pub fn show(&self, value: f64) -> String {
        self.show_digits(value, 4)
    }

    /// The same with three digits, where there is little room: `12.3 GB/s`, `104 ns`.
    pub fn show_briefly(&self, value: f64) -> String {
        self.show_digits(value, 3)
    }

    /// The unit in which values are stored: `B/s`.
    pub fn symbol(&self) -> &str {
        match self {
            Self::Second => "s",
            Self::Byte => "B",
            Self::BytePerSecond => "B/s",
            Self::FlopPerSecond => "flop/s",
            Self::One => "1",
            Self::Other(symbol) => symbol,
        }
    }

    fn show_digits(&self, value: f64, n_digits: usize) -> String {
        let symbol = match self {
            // Ratios have four decimals, and counts no more digits than other figures.
            Self::One if value.abs() >= 10.0 => return in_digits(value, n_digits),
            Self::One => return digits(value, 4),
            Self::Other(symbol) => return format!("{} {symbol}", in_digits(value, n_digits)),
            _ => self.symbol(),
        };
        if value == 0.0 || !value.is_finite() {
            return format!("{} {symbol}", digits(value, 0));
        }
        const PREFIXES: [(f64, &str); 7] = [
            (1e12, "T"),
            (1e9, "G"),
            (1e6, "M"),
            (1e3, "k"),
            (1.0, ""),
            (1e-3, "m"),
            (1e-6, "u"),
        ];
        let magnitude = value.abs();
        let (scale, prefix) = PREFIXES
            .iter()
            .copied()
            .find(|(scale, _)| magnitude >= *scale)
            .unwrap_or((1e-9, "n"));
        format!("{} {prefix}{symbol}", in_digits(value / scale, n_digits))
    }

    /// Whether a machine can come to such a figure. What lies beyond is none: it was made up or
    /// miscounted, and a square or a sum of such figures is beyond what numbers hold.
    pub fn is_plausible(&self, value: f64) -> bool {
        // Nothing that is timed is shorter than a millionth of a clock's tick.
        const LEAST: f64 = 1e-15;
        let (most, is_signed) = match self {
            // What nanoseconds of 64 bits hold: some 600 years.
            Self::Second => (2e10, false),
            // What bytes of 64 bits hold.
            Self::Byte => (2e19, false),
            // A thousand times what all computers of the world do together.
            Self::BytePerSecond | Self::FlopPerSecond => (1e24, false),
            // Whatever it counts: its square is far from where numbers end.
            Self::One | Self::Other(_) => (1e30, true),
        };
        let has_sign = is_signed || value >= 0.0;
        has_sign && (value == 0.0 || (LEAST..=most).contains(&value.abs()))
    }

    /// What a figure of this unit most often is.
    fn quantity(&self) -> Quantity {
        match self {
            Self::Second => Quantity::Time,
            Self::BytePerSecond | Self::FlopPerSecond => Quantity::Rate,
            Self::Other(symbol) if is_rate(symbol) => Quantity::Rate,
            Self::Other(symbol) if is_time_per_work(symbol) => Quantity::Time,
            Self::Byte | Self::One | Self::Other(_) => Quantity::Amount,
        }
    }

    /// Which direction is better for every figure of this unit; `None` where that depends on the
    /// figure.
    pub fn direction(&self) -> Option<Direction> {
        match self.quantity() {
            Quantity::Rate => Some(Direction::Higher),
            Quantity::Time => Some(Direction::Lower),
            Quantity::Amount if self.symbol().ends_with("/op") => Some(Direction::Lower),
            Quantity::Amount => (*self == Self::Byte).then_some(Direction::Lower),
        }
    }
}

/// Whether a unit counts work per time, as tools print it: `Requests/sec`, `events/second`, `kIOPS`.
fn is_rate(symbol: &str) -> bool {
    const ENDINGS: [&str; 16] = [
        "/s",
        "/ms",
        "/us",
        "/ns",
        "/sec",
        "/secs",
        "/second",
        "/seconds",
        "/min",
        "/minute",
        "/h",
        "/hour",
        "-per-second",
        "_per_second",
        "_per_sec",
        "-per-sec",
    ];
    const WORDS: [&str; 12] = [
        "iops", "qps", "tps", "rps", "ops", "pps", "fps", "mips", "flops", "bogomips", "tpm", "tpmc",
    ];
    let lower = symbol.to_ascii_lowercase();
    let scaled = lower.strip_prefix(['k', 'm', 'g', 't']);
    let is_word = |word: &str| WORDS.contains(&word);
    ENDINGS.iter().any(|ending| lower.ends_with(ending)) || is_word(&lower) || scaled.is_some_and(is_word)
}

/// Whether a unit is time per work: `ns/op`, `ms/request`.
fn is_time_per_work(symbol: &str) -> bool {
    let time = symbol.split_once('/').map(|(time, _)| time);
    time.is_some_and(|time| ["s", "ms", "us", "µs", "μs", "ns", "min"].contains(&time))
}

/// A number with so many digits where it has a fraction, and all of those before it.
fn in_digits(value: f64, n_digits: usize) -> String {
    let whole = match value.abs() {
        x if x >= 99.95 => 3,
        x if x >= 9.995 => 2,
        x if x >= 0.9995 || x == 0.0 || !x.is_finite() => 1,
        _ => return format!("{value:.*e}", n_digits - 1),
    };
    digits(value, n_digits - whole)
}

/// What kind of figure a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Time that a unit of work takes.
    Time,
    /// Work that is done in a unit of time.
    Rate,
    /// Something that is counted or weighed, such as memory.
    Amount,
}

/// Where the sample of a trial in one piece comes from.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// What the process reports under the metric's name.
    Report,
    /// What the process used, by the box's kernel.
    Usage(Usage),
    /// What the process printed.
    Output(Extractor),
    /// Latency of the requests of a load.
    Latency(LatencyOf),
    /// CPU time of the box of the cell for each unit of work, by the host's counters.
    Host,
    /// Time from the request to start each of its servers until that serves, added up.
    Ready,
    /// What only a later version knows, as it stands in the file.
    #[serde(untagged)]
    Later(serde_json::Value),
}

/// A figure of the latencies of many requests.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatencyOf {
    Mean,
    /// The one that this share of them does not exceed, where enough lie beyond it.
    Share(f64),
}

/// A figure of what a process used; of a command that was repeated the mean of its
/// repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Usage {
    /// Wall time in seconds.
    Wall,
    /// User time in seconds.
    User,
    /// System time in seconds.
    System,
    /// Largest resident set of any repetition in bytes.
    PeakMemory,
    /// Page faults, of those that found their page in memory and those that waited for a disk.
    Faults,
    /// Context switches, of its own accord and others.
    Switches,
    /// Bytes read from storage.
    Read,
    /// Bytes of changed pages that storage is to get.
    Written,
}

/// Which direction of a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// More is better (rates).
    Higher,
    /// Less is better (times).
    Lower,
}

impl Direction {
    /// `higher`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
        }
    }

    /// The loss in logs, d: the log of a figure over its baseline's, with its sign
    /// turned so that positive is worse. Only positive finite figures have one.
    pub fn loss_in_logs(self, figure: f64, baseline: f64) -> Option<f64> {
        // Each by itself: the quotient of two ordinary numbers may overflow.
        let log = |x: f64| (x > 0.0 && x.is_finite()).then(|| x.ln());
        let ratio = log(figure)? - log(baseline)?;
        Some(match self {
            Self::Lower => ratio,
            Self::Higher => -ratio,
        })
    }

    /// The loss: what of the baseline's figure is lost. (M - B) / B for times,
    /// (B - M) / B for rates, so that positive is worse; absent without a
    /// positive baseline.
    pub fn loss(self, figure: f64, baseline: f64) -> Option<f64> {
        let excess = (figure - baseline) / baseline;
        (baseline > 0.0 && excess.is_finite()).then_some(match self {
            Self::Lower => excess,
            Self::Higher => -excess,
        })
    }
}

/// What a workload yields one sample of per trial.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Metric {
    /// The metric's name within its workload, such as `triad`.
    pub name: String,
    /// The unit its values are stored in.
    pub unit: Unit,
    /// What kind of figure it is.
    pub quantity: Quantity,
    /// Which direction is better.
    pub direction: Direction,
    /// Whether this metric carries the workload's verdict.
    pub primary: bool,
    /// Where its sample comes from, of a trial in one piece.
    pub from: Source,
    /// Which timed part of a slice it is the figure of, from 0, of a trial in slices; absent:
    /// of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<usize>,
}

impl Metric {
    /// A metric that a process reports; exactly one of a workload is primary.
    pub fn new(name: &str, unit: Unit, direction: Direction, primary: bool) -> Self {
        Self {
            name: name.to_owned(),
            quantity: unit.quantity(),
            unit,
            direction,
            primary,
            from: Source::Report,
            part: None,
        }
    }

    /// Whether it is read from what a program prints.
    pub const fn is_printed(&self) -> bool {
        matches!(self.from, Source::Output(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_positive_where_it_is_worse() {
        let loss = |direction: Direction, figure| direction.loss_in_logs(figure, 2.0);
        assert_eq!(loss(Direction::Lower, 4.0), Some(2_f64.ln()));
        assert_eq!(loss(Direction::Higher, 4.0), Some(-(2_f64.ln())));
        assert_eq!(loss(Direction::Lower, 0.0), None);
        assert_eq!(loss(Direction::Lower, f64::INFINITY), None);
    }

    #[test]
    fn a_loss_is_a_share_of_the_baseline() {
        assert_eq!(Direction::Lower.loss(3.0, 2.0), Some(0.5));
        assert_eq!(Direction::Higher.loss(1.0, 2.0), Some(0.5));
        assert_eq!(Direction::Lower.loss(1.0, 0.0), None);
        assert_eq!(Direction::Lower.loss(f64::NAN, 1.0), None);
    }

    #[test]
    fn values_are_scaled_only_for_people() {
        assert_eq!(Unit::BytePerSecond.show(12.345e9), "12.35 GB/s");
        assert_eq!(Unit::Second.show(104.23e-9), "104.2 ns");
        assert_eq!(Unit::Second.show(0.0), "0 s");
        assert_eq!(Unit::FlopPerSecond.show(9.9999e9), "10.00 Gflop/s");
        assert_eq!(Unit::BytePerSecond.show_briefly(12.345e9), "12.3 GB/s");
        assert_eq!(Unit::Second.show_briefly(104.23e-9), "104 ns");
    }

    #[test]
    fn what_no_machine_comes_to_is_no_figure() {
        let other = || Unit::Other("requests/s".to_owned());
        for unit in [Unit::Second, Unit::Byte, Unit::FlopPerSecond, Unit::One, other()] {
            for figure in [0.0, 1e-9, 1.0, 1e10] {
                assert!(unit.is_plausible(figure), "{figure} of {unit:?}");
            }
            for none in [1.7e308, 5e-324, f64::INFINITY, f64::NAN, -1e300] {
                assert!(!unit.is_plausible(none), "{none} of {unit:?}");
            }
        }
        assert!(Unit::One.is_plausible(-1.0) && other().is_plausible(-1.0));
        assert!(!Unit::Second.is_plausible(-1.0) && !Unit::Second.is_plausible(1e12));
    }

    #[test]
    fn the_direction_of_a_rate_is_known_however_it_is_written() {
        let direction = |symbol: &str| Unit::Other(symbol.to_owned()).direction();
        for rate in [
            "op/s",
            "Requests/sec",
            "req/second",
            "events/s",
            "tx/min",
            "files/hour",
            "IOPS",
            "kIOPS",
            "QPS",
            "tps",
            "ops",
            "Mops",
            "MIPS",
            "ops-per-sec",
            "MLUPS/s",
            "ops/us",
        ] {
            assert_eq!(direction(rate), Some(Direction::Higher), "{rate}");
        }
        for time in ["ns/op", "ms/request", "B/op", "allocs/op", "s/step"] {
            assert_eq!(direction(time), Some(Direction::Lower), "{time}");
        }
        for open in ["score", "HIMarks", "%", "ratio", "points", "ps", "rounds"] {
            assert_eq!(direction(open), None, "{open}");
        }
        assert_eq!(Unit::One.direction(), None);
        assert_eq!(Unit::Byte.direction(), Some(Direction::Lower));
    }

    #[test]
    fn a_figure_of_any_size_fits_into_a_column() {
        let other = Unit::Other("x".to_owned());
        for unit in [Unit::Second, Unit::Byte, Unit::One, other] {
            for figure in [f64::MAX, f64::MIN, 1e12, -1e20, 5e-324, f64::INFINITY, 999_999.5] {
                let shown = unit.show(figure);
                let number = shown.split(' ').next().unwrap();
                assert!(number.chars().count() <= 12, "{shown}");
            }
        }
    }

    #[test]
    fn a_unit_that_nobody_knew_is_its_text_and_values_stand_as_they_are() {
        let unit: Unit = serde_json::from_str("\"requests/s\"").unwrap();
        assert_eq!(unit, Unit::Other("requests/s".to_owned()));
        assert_eq!(unit.show(12_345.67), "12345.7 requests/s");
        assert_eq!(unit.show(0.000_12), "1.200e-4 requests/s");
        assert_eq!(serde_json::to_string(&unit).unwrap(), "\"requests/s\"");
        assert_eq!(serde_json::from_str::<Unit>("\"s\"").unwrap(), Unit::Second);
    }

    #[test]
    fn a_source_that_nobody_knew_is_kept_as_it_is() {
        for text in [
            "\"report\"",
            "{\"usage\":\"peak-memory\"}",
            "{\"regex\":\"x=(.*)\"}",
        ] {
            let source: Source = serde_json::from_str(text).unwrap();
            let is_later = matches!(source, Source::Later(_));
            assert_eq!(is_later, text.contains("regex"));
            assert_eq!(serde_json::to_string(&source).unwrap(), text);
        }
    }
}
