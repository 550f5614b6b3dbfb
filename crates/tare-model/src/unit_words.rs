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
    #[error("'{text}' can be bits or bytes: write {} or {}", clear[0], clear[1])]
    BitsOrBytes {
        text: String,
        /// Both, as they are written clearly.
        clear: [&'static str; 2],
    },
    /// No unit at all.
    #[error("'{0}' is not a unit: use at most 16 letters, digits and slashes, such as ms, MB/s or op/s")]
    None(String),
}

/// Longest symbol, in characters.
const LONGEST: usize = 16;

const KIB: f64 = 1024.0;

/// What is read as one of the base units, by how it is written.
const KNOWN: [(&str, Unit, f64); 59] = [
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
    ("TB/s", Unit::BytePerSecond, 1e12),
    ("TiB/s", Unit::BytePerSecond, KIB * KIB * KIB * KIB),
    ("bit", Unit::Byte, 1.0 / 8.0),
    ("kbit", Unit::Byte, 1e3 / 8.0),
    ("Mbit", Unit::Byte, 1e6 / 8.0),
    ("Gbit", Unit::Byte, 1e9 / 8.0),
    ("Tbit", Unit::Byte, 1e12 / 8.0),
    ("Kibit", Unit::Byte, KIB / 8.0),
    ("Mibit", Unit::Byte, KIB * KIB / 8.0),
    ("Gibit", Unit::Byte, KIB * KIB * KIB / 8.0),
    ("Tibit", Unit::Byte, KIB * KIB * KIB * KIB / 8.0),
    ("bit/s", Unit::BytePerSecond, 1.0 / 8.0),
    ("kbit/s", Unit::BytePerSecond, 1e3 / 8.0),
    ("Mbit/s", Unit::BytePerSecond, 1e6 / 8.0),
    ("Gbit/s", Unit::BytePerSecond, 1e9 / 8.0),
    ("Tbit/s", Unit::BytePerSecond, 1e12 / 8.0),
    ("Kibit/s", Unit::BytePerSecond, KIB / 8.0),
    ("Mibit/s", Unit::BytePerSecond, KIB * KIB / 8.0),
    ("Gibit/s", Unit::BytePerSecond, KIB * KIB * KIB / 8.0),
    ("Tibit/s", Unit::BytePerSecond, KIB * KIB * KIB * KIB / 8.0),
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
const SPELT_OUT: [(&str, &str); 22] = [
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("msec", "ms"),
    ("msecs", "ms"),
    ("millisecond", "ms"),
    ("milliseconds", "ms"),
    ("usec", "us"),
    ("usecs", "us"),
    ("microsecond", "us"),
    ("microseconds", "us"),
    ("nsec", "ns"),
    ("nsecs", "ns"),
    ("nanosecond", "ns"),
    ("nanoseconds", "ns"),
    ("minute", "min"),
    ("minutes", "min"),
    ("mins", "min"),
    ("hour", "h"),
    ("hours", "h"),
    ("hrs", "h"),
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
    match data(written) {
        Some(Data {
            is_bits: None,
            bits,
            bytes,
        }) => {
            return Err(UnitError::BitsOrBytes {
                text: text.to_owned(),
                clear: [bits, bytes],
            });
        }
        Some(data) => return Err(UnitError::Near(text.to_owned(), data.symbol())),
        None => {}
    }
    let known = KNOWN.iter().map(|(symbol, ..)| (*symbol, *symbol));
    let near = known
        .chain(SPELT_OUT)
        .find(|(word, _)| word.eq_ignore_ascii_case(written));
    if let Some((_, symbol)) = near {
        return Err(UnitError::Near(text.to_owned(), symbol));
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || "/%-_".contains(c);
    let symbol = text.replace(['\u{b5}', '\u{3bc}'], "u");
    if text.is_empty() || text.chars().count() > LONGEST || !symbol.chars().all(fits) {
        return Err(UnitError::None(text.to_owned()));
    }
    Ok(Scaled {
        unit: Unit::Other(symbol),
        scale: 1.0,
    })
}

/// A unit that a program prints beside a figure: also one that is nearly written as it should
/// be (`MBytes/sec`, `KB`), and `m` for minutes as wrk has it.
///
/// # Errors
/// [`UnitError`], but for [`UnitError::Near`].
pub fn printed(text: &str) -> Result<Scaled, UnitError> {
    const OF_WRK: (&str, &str) = ("m", "min");
    match read(if text == OF_WRK.0 { OF_WRK.1 } else { text }) {
        Err(UnitError::Near(_, meant)) => read(meant),
        read => read,
    }
}

/// What a printed unit can be; nothing if it is none that is known.
pub fn readings(text: &str) -> Vec<Scaled> {
    let read = match printed(text) {
        Ok(scaled) => vec![Ok(scaled)],
        Err(UnitError::BitsOrBytes { clear, .. }) => clear.map(read).into(),
        Err(_) => Vec::new(),
    };
    let is_known = |scaled: &Scaled| !matches!(scaled.unit, Unit::Other(_));
    read.into_iter().flatten().filter(is_known).collect()
}

/// How a unit with this scale is written.
pub fn symbol(unit: &Unit, scale: f64) -> &str {
    let known = KNOWN.iter().find(|(_, base, of)| base == unit && *of == scale);
    known.map_or_else(|| unit.symbol(), |(symbol, ..)| *symbol)
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

/// A unit of bits or bytes, by its parts.
struct Data {
    /// `None` of `Mb/s`, `mb`, `MBPS`, ..., which some write for bits and others for bytes.
    is_bits: Option<bool>,
    bits: &'static str,
    bytes: &'static str,
}

impl Data {
    fn symbol(&self) -> &'static str {
        if self.is_bits == Some(true) {
            self.bits
        } else {
            self.bytes
        }
    }
}

/// `MBps`, `KBytes/s`, `Mib`: prefix, bits or bytes, per second or not.
fn data(text: &str) -> Option<Data> {
    const RATES: [&str; 4] = ["/s", "/S", "ps", "PS"];
    const WORDS: [&str; 5] = ["bits", "bit", "bytes", "byte", "b"];
    let rated = RATES
        .iter()
        .find_map(|rate| Some((text.strip_suffix(rate)?, *rate)));
    let (work, rate) = rated.unwrap_or((text, ""));
    let lower = work.to_ascii_lowercase();
    let word = WORDS.iter().find(|word| lower.ends_with(**word))?;
    let (scale, word) = work.split_at(work.len() - word.len());
    let prefix = scale.trim_end_matches(['i', 'I']);
    let is_bits = match (prefix, word, rate) {
        (_, "B", "PS") | ("m" | "g" | "t", "b" | "B", _) => None,
        (_, "B", _) => Some(false),
        (_, "b", "ps") => Some(true),
        (_, "b", _) => None,
        _ => Some(word.to_ascii_lowercase().starts_with("bit")),
    };
    let scale = match scale {
        "k" | "K" => "k".to_owned(),
        _ => scale.to_ascii_uppercase().replace('I', "i"),
    };
    let per = if rate.is_empty() { "" } else { "/s" };
    let known = |word: &str| {
        let symbol = format!("{scale}{word}{per}");
        KNOWN
            .iter()
            .map(|(known, ..)| *known)
            .find(|known| *known == symbol)
    };
    Some(Data {
        is_bits,
        bits: known("bit")?,
        bytes: known("B")?,
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
            ("Mib/s", "write Mibit/s or MiB/s"),
            ("mib", "write Mibit or MiB"),
            ("MBPS", "write Mbit/s or MB/s"),
            ("b/s", "write bit/s or B/s"),
            ("Tb", "write Tbit or TB"),
        ] {
            let told = read(text).unwrap_err().to_string();
            assert!(told.ends_with(both), "{told}");
        }
    }

    #[test]
    fn units_are_read_as_programs_print_them() {
        let scale = |text: &str| printed(text).unwrap().scale;
        for (text, meant) in [
            ("MBytes/sec", "MB/s"),
            ("MBps", "MB/s"),
            ("KB", "kB"),
            ("Mbits/sec", "Mbit/s"),
        ] {
            assert_eq!(printed(text), read(meant), "{text}");
        }
        assert_eq!(scale("m"), 60.0);
        assert!(printed("Mb/s").is_err() && readings("Mb/s").len() == 2 && readings("op/s").is_empty());
        assert_eq!(symbol(&Unit::BytePerSecond, 1e6), "MB/s");
        assert_eq!(symbol(&Unit::Other("op/s".to_owned()), 1.0), "op/s");
    }

    #[test]
    fn the_micro_sign_is_a_letter_of_units_of_their_own() {
        for text in ["\u{b5}s/op", "\u{3bc}s/op"] {
            assert_eq!(read(text).unwrap().unit, Unit::Other("us/op".to_owned()));
        }
        assert_eq!(
            read("ops/\u{b5}s").unwrap().unit,
            Unit::Other("ops/us".to_owned())
        );
    }

    #[test]
    fn what_is_nearly_a_unit_is_none() {
        for (text, meant) in [
            ("KB/s", "kB/s"),
            ("KB/sec", "kB/s"),
            ("msec", "ms"),
            ("S", "s"),
            ("gflop/s", "Gflop/s"),
            ("MBps", "MB/s"),
            ("KBps", "kB/s"),
            ("Bps", "B/s"),
            ("MiBps", "MiB/s"),
            ("Kbps", "kbit/s"),
            ("MBytes/sec", "MB/s"),
            ("mbyte", "MB"),
            ("Mbits", "Mbit"),
            ("MIB/s", "MiB/s"),
            ("Milliseconds", "ms"),
        ] {
            assert_eq!(read(text), Err(UnitError::Near(text.to_owned(), meant)), "{text}");
        }
        for text in ["", "a b", "x\u{1b}", "12345678901234567"] {
            assert_eq!(read(text), Err(UnitError::None(text.to_owned())));
        }
    }
}
