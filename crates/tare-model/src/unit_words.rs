//! Units as people and tools write them: `MB/s`, `us`, `op/s`.

use crate::metric::Unit;

/// A unit, and how much one of what was written is in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaled {
    /// The unit that values are stored in.
    pub unit: Unit,
    /// 1e6 for `MB/s`.
    pub scale: f64,
}

/// Why a unit could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Nearly a unit that is known: read as one of its own it would be another.
    #[error("'{0}' is not a unit: did you mean '{1}'?")]
    Near(String, &'static str),
    /// Bits by custom, bytes by many: a factor of 8.
    #[error("'{text}' can be bits or bytes: write {clear}")]
    BitsOrBytes {
        text: String,
        /// Both, as they are written clearly.
        clear: String,
    },
    /// No unit at all.
    #[error("'{0}' is not a unit: use at most 16 letters, digits and slashes, such as ms, MB/s or op/s")]
    None(String),
}

/// Longest symbol, in characters.
const LONGEST: usize = 16;

const KIB: f64 = 1024.0;

/// What is read as one of the base units, by how it is written.
const KNOWN: [(&str, Unit, f64); 46] = [
    ("s", Unit::Second, 1.0),
    ("ms", Unit::Second, 1e-3),
    ("us", Unit::Second, 1e-6),
    // The micro sign, and the Greek letter that looks the same.
    ("\u{b5}s", Unit::Second, 1e-6),
    ("\u{3bc}s", Unit::Second, 1e-6),
    ("ns", Unit::Second, 1e-9),
    ("min", Unit::Second, 60.0),
    ("B", Unit::Byte, 1.0),
    ("kB", Unit::Byte, 1e3),
    ("MB", Unit::Byte, 1e6),
    ("GB", Unit::Byte, 1e9),
    ("KiB", Unit::Byte, KIB),
    ("MiB", Unit::Byte, KIB * KIB),
    ("GiB", Unit::Byte, KIB * KIB * KIB),
    ("B/s", Unit::BytePerSecond, 1.0),
    ("kB/s", Unit::BytePerSecond, 1e3),
    ("MB/s", Unit::BytePerSecond, 1e6),
    ("GB/s", Unit::BytePerSecond, 1e9),
    ("KiB/s", Unit::BytePerSecond, KIB),
    ("MiB/s", Unit::BytePerSecond, KIB * KIB),
    ("GiB/s", Unit::BytePerSecond, KIB * KIB * KIB),
    ("kbit", Unit::Byte, 1e3 / 8.0),
    ("Mbit", Unit::Byte, 1e6 / 8.0),
    ("Gbit", Unit::Byte, 1e9 / 8.0),
    ("bit/s", Unit::BytePerSecond, 1.0 / 8.0),
    ("kbit/s", Unit::BytePerSecond, 1e3 / 8.0),
    ("Mbit/s", Unit::BytePerSecond, 1e6 / 8.0),
    ("Gbit/s", Unit::BytePerSecond, 1e9 / 8.0),
    // As iperf and others print them.
    ("bits/s", Unit::BytePerSecond, 1.0 / 8.0),
    ("Kbits/s", Unit::BytePerSecond, 1e3 / 8.0),
    ("Mbits/s", Unit::BytePerSecond, 1e6 / 8.0),
    ("Gbits/s", Unit::BytePerSecond, 1e9 / 8.0),
    ("bps", Unit::BytePerSecond, 1.0 / 8.0),
    ("kbps", Unit::BytePerSecond, 1e3 / 8.0),
    ("Mbps", Unit::BytePerSecond, 1e6 / 8.0),
    ("Gbps", Unit::BytePerSecond, 1e9 / 8.0),
    ("flop/s", Unit::FlopPerSecond, 1.0),
    ("Mflop/s", Unit::FlopPerSecond, 1e6),
    ("Gflop/s", Unit::FlopPerSecond, 1e9),
    ("MFLOPS", Unit::FlopPerSecond, 1e6),
    ("GFLOPS", Unit::FlopPerSecond, 1e9),
    ("TFLOPS", Unit::FlopPerSecond, 1e12),
    ("h", Unit::Second, 3600.0),
    ("TB", Unit::Byte, 1e12),
    ("TiB", Unit::Byte, KIB * KIB * KIB * KIB),
    ("1", Unit::One, 1.0),
];

/// `msec` and `sec` are seconds, and would be compared with nothing.
const SPELT_OUT: [(&str, &str); 11] = [
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("msec", "ms"),
    ("usec", "us"),
    ("nsec", "ns"),
    ("minutes", "min"),
    ("hours", "h"),
    ("bytes", "B"),
    ("bytes/s", "B/s"),
];

/// Reads a unit. What is none of the known ones is a unit of its own, whose values are
/// printed as they are: `op/s`, `requests/s`.
///
/// # Errors
/// [`UnitError`].
pub fn read(text: &str) -> Result<Scaled, UnitError> {
    let per_second = per_second(text);
    let written = per_second.as_deref().unwrap_or(text);
    if let Some((_, unit, scale)) = KNOWN.iter().find(|(symbol, ..)| *symbol == written) {
        return Ok(Scaled {
            unit: unit.clone(),
            scale: *scale,
        });
    }
    bits_or_bytes(text, written)?;
    let near = KNOWN
        .iter()
        .find(|(symbol, ..)| symbol.eq_ignore_ascii_case(written));
    if let Some((symbol, ..)) = near {
        return Err(UnitError::Near(text.to_owned(), symbol));
    }
    if let Some((_, symbol)) = SPELT_OUT.iter().find(|(word, _)| *word == written) {
        return Err(UnitError::Near(text.to_owned(), symbol));
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || "/%-_".contains(c);
    if text.is_empty() || text.chars().count() > LONGEST || !text.chars().all(fits) {
        return Err(UnitError::None(text.to_owned()));
    }
    Ok(Scaled {
        unit: Unit::Other(text.to_owned()),
        scale: 1.0,
    })
}

/// A unit that a program prints beside a figure: also spelt out, and `m` for minutes as wrk has it.
pub fn printed(text: &str) -> Option<Scaled> {
    const OF_WRK: (&str, &str) = ("m", "min");
    let spelt_out = SPELT_OUT.iter().chain([&OF_WRK]).find(|(word, _)| *word == text);
    read(spelt_out.map_or(text, |(_, symbol)| *symbol)).ok()
}

/// What a prefix of SI makes of a unit without scales of its own: 1000 for `k` and `kop/s` of `op/s`.
pub fn prefix(printed: &str, symbol: &str) -> Option<f64> {
    match printed.strip_suffix(symbol).unwrap_or(printed) {
        "k" | "K" => Some(1e3),
        "M" => Some(1e6),
        "G" => Some(1e9),
        "T" => Some(1e12),
        _ => None,
    }
}

/// `MB/s` for `MB/sec` and `MB/second`.
fn per_second(text: &str) -> Option<String> {
    let (work, time) = text.rsplit_once('/')?;
    ["sec", "second"].contains(&time).then(|| format!("{work}/s"))
}

/// Refuses `Mb/s`, `mb`, `GBps`, ..., which some write for bits and others for bytes.
fn bits_or_bytes(text: &str, written: &str) -> Result<(), UnitError> {
    let rate = ["/s", "ps"].iter().find_map(|end| written.strip_suffix(end));
    let work = rate.unwrap_or(written);
    let prefix = match work.to_ascii_lowercase().as_str() {
        "kb" if work != "kB" && work != "KB" => "k",
        "mb" if work != "MB" => "M",
        "gb" if work != "GB" => "G",
        _ => return Ok(()),
    };
    let per = rate.map_or("", |_| "/s");
    Err(UnitError::BitsOrBytes {
        text: text.to_owned(),
        clear: format!("{prefix}bit{per} or {prefix}B{per}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_units_come_down_to_the_base_ones() {
        let scaled = |text: &str| read(text).map(|s| (s.unit, s.scale));
        assert_eq!(scaled("MB/s"), Ok((Unit::BytePerSecond, 1e6)));
        assert_eq!(scaled("Gbit/s"), Ok((Unit::BytePerSecond, 1.25e8)));
        assert_eq!(scaled("us"), Ok((Unit::Second, 1e-6)));
        assert_eq!(scaled("\u{b5}s"), Ok((Unit::Second, 1e-6)));
        assert_eq!(scaled("\u{3bc}s"), Ok((Unit::Second, 1e-6)));
        assert_eq!(scaled("MB/sec"), Ok((Unit::BytePerSecond, 1e6)));
        assert_eq!(scaled("Gbits/sec"), Ok((Unit::BytePerSecond, 1.25e8)));
        assert_eq!(scaled("Mbps"), Ok((Unit::BytePerSecond, 1.25e5)));
        assert_eq!(scaled("op/s"), Ok((Unit::Other("op/s".to_owned()), 1.0)));
    }

    #[test]
    fn what_may_be_bits_or_bytes_is_refused_with_both() {
        for (text, both) in [
            ("Mb/s", "write Mbit/s or MB/s"),
            ("mb/s", "write Mbit/s or MB/s"),
            ("Gb/sec", "write Gbit/s or GB/s"),
            ("kb", "write kbit or kB"),
            ("gbps", "write Gbit/s or GB/s"),
        ] {
            let told = read(text).unwrap_err().to_string();
            assert!(told.ends_with(both), "{told}");
        }
    }

    #[test]
    fn what_is_nearly_a_unit_is_none() {
        for (text, meant) in [
            ("KB/s", "kB/s"),
            ("KB/sec", "kB/s"),
            ("msec", "ms"),
            ("S", "s"),
            ("gflop/s", "Gflop/s"),
        ] {
            assert_eq!(read(text), Err(UnitError::Near(text.to_owned(), meant)), "{text}");
        }
        for text in ["", "a b", "x\u{1b}", "12345678901234567"] {
            assert_eq!(read(text), Err(UnitError::None(text.to_owned())));
        }
    }
}
