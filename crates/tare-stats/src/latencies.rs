//! Latencies of many requests in one histogram, which can be added to others.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer, V2Serializer};

/// Digits to which a latency is kept: a figure is right to one part in a thousand.
const DIGITS: u8 = 3;
/// The longest latency that is told apart, an hour in nanoseconds.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Requests that must lie beyond a percentile for it to be told: of fewer it is the luck of some.
const BEYOND: f64 = 10.0;
/// Characters of a histogram at most: one whose every bucket is in use has some 40,000.
const LONGEST_TEXT: usize = 1 << 17;

/// Latencies in nanoseconds, as an HDR histogram (hdrhistogram.org).
#[derive(Debug, Clone, PartialEq)]
pub struct Latencies(Histogram<u64>);

impl Default for Latencies {
    fn default() -> Self {
        // These bounds are sound: else a histogram that grows by itself would do.
        Self(
            Histogram::new_with_bounds(1, LONGEST_NS, DIGITS)
                .or_else(|_| Histogram::new(DIGITS))
                .unwrap_or_else(|_| unreachable!("three digits are between 0 and 5")),
        )
    }
}

impl Latencies {
    /// Adds one; longer than an hour counts as an hour.
    pub fn record(&mut self, ns: u64) {
        self.0.saturating_record(ns);
    }

    /// Adds all of another.
    pub fn add(&mut self, other: &Self) {
        // Both have the same bounds, or grow.
        let _ = self.0.add(&other.0);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.reset();
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Their mean in seconds; `None` of none.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.0.mean() / 1e9)
    }

    /// The latency in seconds that this share of the requests did not exceed; `None` where fewer
    /// than ten requests lie beyond it.
    #[expect(clippy::cast_precision_loss, reason = "requests of hours fit into 53 bits")]
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let beyond = self.count() as f64 * (1.0 - share);
        (beyond >= BEYOND - 1e-6).then(|| self.0.value_at_quantile(share) as f64 / 1e9)
    }

    /// The histogram as text: base64 of its V2 encoding, which is quick and does for a while.
    pub fn quick_text(&self) -> String {
        self.text_by(V2Serializer::new())
    }

    /// The histogram as text to be kept: base64 of its compressed V2 encoding, as histogram logs
    /// of other programs have it.
    pub fn text(&self) -> String {
        self.text_by(V2DeflateSerializer::new())
    }

    fn text_by(&self, mut serializer: impl Serializer) -> String {
        let mut bytes = Vec::new();
        // A histogram into memory: there is nothing that could fail.
        let _ = serializer.serialize(&self.0, &mut bytes);
        STANDARD.encode(bytes)
    }

    /// The histogram of such a text; `None` if it is none, or one of other bounds.
    pub fn of_text(text: &str) -> Option<Self> {
        let bytes = STANDARD
            .decode(Some(text).filter(|text| text.len() <= LONGEST_TEXT)?)
            .ok()?;
        let read: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).ok()?;
        let alike = read.sigfig() == DIGITS && read.low() == 1 && read.high() == LONGEST_NS;
        alike.then_some(Self(read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(latencies: impl IntoIterator<Item = u64>) -> Latencies {
        let mut all = Latencies::default();
        latencies.into_iter().for_each(|ns| all.record(ns));
        all
    }

    #[test]
    fn a_percentile_is_told_where_enough_requests_lie_beyond_it() {
        let all = of((1..=1000).map(|i| i * 1000));
        assert!((all.percentile(0.5).unwrap() - 500e-6).abs() < 1e-6);
        assert!((all.percentile(0.99).unwrap() - 990e-6).abs() < 2e-6);
        assert_eq!(all.percentile(0.999), None);
        assert!((all.mean().unwrap() - 500.5e-6).abs() < 1e-6);
        assert_eq!((of([]).mean(), of([]).percentile(0.5)), (None, None));
    }

    #[test]
    fn what_is_no_histogram_of_ours_is_none() {
        let other = Histogram::<u64>::new_with_bounds(1, 1000, 2).unwrap();
        for text in [
            "",
            "=",
            "AAAA",
            &STANDARD.encode([7; 99]),
            &Latencies(other).text(),
        ] {
            assert_eq!(Latencies::of_text(text), None, "{text}");
        }
        assert_eq!(Latencies::of_text(&"A".repeat(LONGEST_TEXT + 4)), None);
    }

    proptest! {
        #[test]
        fn parts_make_the_whole_whatever_way_they_go(
            first in prop::collection::vec(1..10_000_000_000_u64, 0..200),
            second in prop::collection::vec(1..u64::MAX, 0..200),
        ) {
            let mut sum = Latencies::of_text(&of(first.clone()).text()).unwrap();
            sum.add(&Latencies::of_text(&of(second.clone()).quick_text()).unwrap());
            prop_assert_eq!(sum, of(first.into_iter().chain(second)));
        }
    }
}
