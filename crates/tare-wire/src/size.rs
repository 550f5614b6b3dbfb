//! Sizes of boxes: CPUs and memory, as a user writes and reads them; counts of
//! anything.

use crate::digits::digits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Why a size could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// Not a positive number of CPUs.
    #[error(
        "'{}' is not a number of CPUs: give a positive number with at most three decimals, such as 2 or 0.5", shortened(.0)
    )]
    Cpus(String),
    /// Not a positive amount of memory.
    #[error(
        "'{}' is not an amount of memory: give a positive number with K, M or G (powers of 1024), such as 512M", shortened(.0)
    )]
    Memory(String),
    /// Not a positive duration.
    #[error("'{}' is not a duration: give a positive number with ms, s, m or h, such as 5m", shortened(.0))]
    Duration(String),
    /// A number that may be seconds or milliseconds.
    #[error("'{0}' has no unit: give ms, s, m or h, as in {0}ms or {0}s")]
    NoTimeUnit(String),
    /// A duration below zero.
    #[error("'{}' is negative: give a positive number with ms, s, m or h, such as 5m", shortened(.0))]
    Negative(String),
    /// A number beyond any host or study.
    #[error("'{}' is too much: give at most {most}", shortened(.text))]
    TooMuch {
        /// What was given.
        text: String,
        /// The most that can be said.
        most: &'static str,
    },
}

impl SizeError {
    fn too_much(text: &str, most: &'static str) -> Self {
        let text = text.to_owned();
        Self::TooMuch { text, most }
    }
}

/// What a user wrote, cut where it only repeats digits.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// A number of CPUs (hardware threads), in thousandths, so that quotas are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cpus {
    milli: u32,
}

impl Cpus {
    /// A number of CPUs given in thousandths.
    pub const fn from_milli(milli: u32) -> Self {
        Self { milli }
    }

    /// Thousandths of a CPU.
    pub const fn milli(self) -> u32 {
        self.milli
    }

    /// The smallest whole number of CPUs that holds this many: the size of a
    /// pinned set, the vCPUs of a VM, the threads of a workload.
    pub const fn whole(self) -> u32 {
        self.milli.div_ceil(1000)
    }

    /// As a plain number of CPUs.
    pub fn as_f64(self) -> f64 {
        f64::from(self.milli) / 1000.0
    }

    /// CPU time in microseconds granted per period of `period_us` microseconds.
    pub fn quota_us(self, period_us: u64) -> u64 {
        u64::from(self.milli) * period_us / 1000
    }
}

impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_f64())
    }
}

impl FromStr for Cpus {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let bad = || SizeError::Cpus(text.to_owned());
        let too_many = || SizeError::too_much(text, "4294966 CPUs");
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > 3 {
            return Err(bad());
        }
        let whole: u32 = whole.parse().map_err(|_| too_many())?;
        let fraction: u32 = format!("{fraction:0<3}").parse().map_err(|_| bad())?;
        let milli = whole
            .checked_mul(1000)
            .and_then(|w| w.checked_add(fraction))
            .ok_or_else(too_many)?;
        // A quota below 1 % of a CPU is under the kernel's smallest slice (1 ms per 100 ms).
        if milli < 10 {
            return Err(bad());
        }
        Ok(Self { milli })
    }
}

/// Reads an amount of memory: a number with an optional K, M, G or T (powers of
/// 1024, with or without a following `iB` or `B`), in bytes.
pub fn parse_memory(text: &str) -> Result<u64, SizeError> {
    let bad = || SizeError::Memory(text.to_owned());
    let too_much = || SizeError::too_much(text, "16777215T");
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    if number.is_empty() {
        return Err(bad());
    }
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(bad()),
    };
    let number: u64 = number.parse().map_err(|_| too_much())?;
    let bytes = number.checked_mul(1 << shift).ok_or_else(too_much)?;
    if bytes == 0 { Err(bad()) } else { Ok(bytes) }
}

/// Prints an amount of memory in the largest binary unit that divides it well.
pub fn show_memory(bytes: u64) -> String {
    const UNITS: [(u64, &str); 4] = [
        (1 << 40, "TiB"),
        (1 << 30, "GiB"),
        (1 << 20, "MiB"),
        (1 << 10, "KiB"),
    ];
    for (size, name) in UNITS {
        if bytes >= size {
            #[expect(clippy::cast_precision_loss, reason = "for people: three digits are shown")]
            let scaled = bytes as f64 / size as f64;
            return if bytes.is_multiple_of(size) {
                format!("{} {name}", bytes / size)
            } else {
                format!("{scaled:.1} {name}")
            };
        }
    }
    format!("{bytes} B")
}

/// About a year: beyond any study, and every later conversion is in range.
pub const LONGEST_SECONDS: f64 = 3.2e7;

/// Reads a duration such as `500ms`, `30s`, `5m`, `1.5h`, in seconds.
pub fn parse_seconds(text: &str) -> Result<f64, SizeError> {
    let positive = text.strip_prefix('-').map(parse_seconds);
    if matches!(positive, Some(Ok(_) | Err(SizeError::NoTimeUnit(_)))) {
        return Err(SizeError::Negative(text.to_owned()));
    }
    let bad = || SizeError::Duration(text.to_owned());
    let split = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().map_err(|_| bad())?;
    let scale = match unit {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "" if number > 0.0 => return Err(SizeError::NoTimeUnit(shortened(text))),
        _ => return Err(bad()),
    };
    let seconds = number * scale;
    if seconds >= LONGEST_SECONDS {
        return Err(SizeError::too_much(text, "8888h, about a year"));
    }
    if seconds > 0.0 { Ok(seconds) } else { Err(bad()) }
}

/// Prints seconds for people: `4 min 05 s`, `12 s`, `340 ms`.
pub fn show_seconds(seconds: f64) -> String {
    if !seconds.is_finite() || seconds > 1e3 * LONGEST_SECONDS {
        // Hours would have more digits than anybody counts.
        format!("{} s", digits(seconds, 0))
    } else if seconds >= 59.5 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive and bounded"
        )]
        let whole = seconds.round() as u64;
        if whole >= 3600 {
            format!("{} h {:02} min", whole / 3600, whole % 3600 / 60)
        } else {
            format!("{} min {:02} s", whole / 60, whole % 60)
        }
    } else if seconds >= 10.0 {
        format!("{seconds:.0} s")
    } else if seconds >= 1.0 {
        format!("{seconds:.1} s")
    } else {
        format!("{:.0} ms", seconds * 1e3)
    }
}

/// Prints a count: `1 trial`, `2 trials`, `0 boxes`.
pub fn counted<N: fmt::Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let plural = if number == N::from(1) {
        ""
    } else if noun.ends_with(['x', 's']) || noun.ends_with("ch") {
        "es"
    } else {
        "s"
    };
    format!("{number} {noun}{plural}")
}

/// Prints a number of CPUs: `1 CPU`, `0.5 CPUs`.
pub fn show_cpus(cpus: Cpus) -> String {
    let plural = if cpus.milli() == 1000 { "" } else { "s" };
    format!("{cpus} CPU{plural}")
}

/// A size of box: CPUs and memory, the same on every platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct InstanceType {
    /// CPUs granted, by quota or by set.
    pub cpus: Cpus,
    /// Memory limit in bytes; swap is off.
    pub memory_bytes: u64,
}

/// The instance types of ghatrehsamani2020's table: name, CPUs, memory in GiB.
pub const INSTANCE_TYPES: [(&str, u32, u64); 6] = [
    ("large", 2, 8),
    ("xlarge", 4, 16),
    ("2xlarge", 8, 32),
    ("4xlarge", 16, 64),
    ("8xlarge", 32, 128),
    ("16xlarge", 64, 256),
];

/// Why an instance type could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is not an instance type: {why}; choose one of {}, or define one as NAME=CPUS:MEMORY, such as small=1:512M, or NAME=CPUS:MEMORY:HOST_CPUS", shortened(.text), INSTANCE_TYPES.map(|(name, ..)| name).join(", "))]
pub struct InstanceError {
    text: String,
    why: String,
}

/// An instance type as a user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedInstance {
    pub name: String,
    /// CPUs and memory.
    pub size: InstanceType,
    /// The CPUs of the host that its boxes may run on at most; absent: all.
    pub host_cpus: Option<u32>,
}

/// Reads an instance type: a name of the published table, or `NAME=CPUS:MEMORY`, with the CPUs of
/// the host that its boxes may run on as in `NAME=CPUS:MEMORY:HOST_CPUS`.
pub fn parse_instance(text: &str) -> Result<NamedInstance, InstanceError> {
    let bad = |why: String| InstanceError {
        text: text.to_owned(),
        why,
    };
    let Some((name, size)) = text.split_once('=') else {
        let known = INSTANCE_TYPES.iter().find(|(name, ..)| *name == text);
        let (name, cpus, gibibytes) = known.ok_or_else(|| bad("no such type".to_owned()))?;
        let size = InstanceType {
            cpus: Cpus::from_milli(cpus * 1000),
            memory_bytes: gibibytes << 30,
        };
        return Ok(NamedInstance {
            name: (*name).to_owned(),
            size,
            host_cpus: None,
        });
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.is_empty() || name.len() > 32 || !name.chars().all(plain) {
        return Err(bad("a name is letters, digits and . _ -, at most 32".to_owned()));
    }
    let (cpus, rest) = size
        .split_once(':')
        .ok_or_else(|| bad("CPUs and memory are parted by a colon".to_owned()))?;
    let (memory, host) = match rest.split_once(':') {
        Some((memory, host)) => (memory, Some(host)),
        None => (rest, None),
    };
    let size = InstanceType {
        cpus: cpus.parse().map_err(|e: SizeError| bad(e.to_string()))?,
        memory_bytes: parse_memory(memory).map_err(|e| bad(e.to_string()))?,
    };
    Ok(NamedInstance {
        name: name.to_owned(),
        size,
        host_cpus: host
            .map(|host| host_cpus(host, size.cpus))
            .transpose()
            .map_err(bad)?,
    })
}

/// Reads the CPUs of the host that a box of so many CPUs may run on.
fn host_cpus(text: &str, cpus: Cpus) -> Result<u32, String> {
    let number = text.parse::<u32>().map_err(|_| {
        let text = shortened(text);
        format!("'{text}' is not a number of host CPUs: give a whole number")
    })?;
    if number >= cpus.whole() {
        return Ok(number);
    }
    let (host, asked) = (counted(number, "CPU"), show_cpus(cpus));
    Err(format!("a box of {asked} does not fit on {host} of the host"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_too_much_is_told_from_what_is_no_number() {
        let cpus = |text: &str| text.parse::<Cpus>().unwrap_err().to_string();
        assert!(cpus(&"9".repeat(301)).contains("999...' is too much: give at most 4294966 CPUs"));
        assert!(cpus("4294968").contains("too much"));
        assert!(cpus("two").contains("not a number"));
        assert_eq!("4294966.999".parse::<Cpus>().map(Cpus::milli), Ok(4_294_966_999));
        let memory = |text: &str| parse_memory(text).map_err(|e| e.to_string());
        assert!(memory("16777216T").unwrap_err().contains("at most 16777215T"));
        assert!(memory("16777215T").is_ok());
        assert!(memory("G").unwrap_err().contains("not an amount"));
        assert!(
            memory(&format!("{}x", "9".repeat(30)))
                .unwrap_err()
                .contains("not an amount")
        );
        let seconds = |text: &str| parse_seconds(text).map_err(|e| e.to_string());
        assert!(seconds("99999999999999h").unwrap_err().contains("at most 8888h"));
        assert!(seconds("8888h").is_ok());
        assert!(seconds("-3s").unwrap_err().contains("'-3s' is negative"));
        assert!(seconds("--3s").unwrap_err().contains("'--3s' is not a duration"));
        let instance = parse_instance(&format!("a={}:1G", "9".repeat(301))).unwrap_err();
        assert!(instance.to_string().len() < 400, "{instance}");
    }

    #[test]
    fn cpus_are_read_exactly() {
        assert_eq!("0.5".parse(), Ok(Cpus::from_milli(500)));
        assert_eq!("2".parse(), Ok(Cpus::from_milli(2000)));
        assert_eq!("1.25".parse::<Cpus>().unwrap().quota_us(100_000), 125_000);
        assert_eq!("1.5".parse::<Cpus>().unwrap().whole(), 2);
        for bad in [
            "",
            "0",
            "0.0",
            "-1",
            "1.2345",
            "x",
            "1e3",
            ".5",
            "99999999999",
            "0.001",
            "NaN",
            "+1",
        ] {
            assert!(bad.parse::<Cpus>().is_err(), "{bad}");
        }
    }

    #[test]
    fn memory_is_read_in_powers_of_1024() {
        assert_eq!(parse_memory("512M"), Ok(512 << 20));
        assert_eq!(parse_memory("1GiB"), Ok(1 << 30));
        for bad in ["", "0", "-1", "1.5G", "12X", "99999999999T", "G"] {
            assert!(parse_memory(bad).is_err(), "{bad}");
        }
        assert_eq!(show_memory(1 << 30), "1 GiB");
        assert_eq!(show_memory(1536 << 20), "1.5 GiB");
    }

    #[test]
    fn one_of_a_kind_has_no_plural() {
        assert_eq!(counted(1_u32, "box"), "1 box");
        assert_eq!(counted(0_u32, "box"), "0 boxes");
        assert_eq!(counted(2_usize, "timed stretch"), "2 timed stretches");
        assert_eq!(counted(4_u64, "trial"), "4 trials");
        assert_eq!(show_cpus(Cpus::from_milli(1000)), "1 CPU");
        assert_eq!(show_cpus(Cpus::from_milli(500)), "0.5 CPUs");
    }

    #[test]
    fn durations_are_read_in_seconds() {
        assert_eq!(parse_seconds("5m"), Ok(300.0));
        assert_eq!(parse_seconds("500ms"), Ok(0.5));
        let unclear = parse_seconds("500").unwrap_err().to_string();
        assert!(unclear.ends_with("as in 500ms or 500s"), "{unclear}");
        for bad in ["", "0", "5", "-5s", "5d", "inf", "1e9h", "."] {
            assert!(parse_seconds(bad).is_err(), "{bad}");
        }
        assert_eq!(show_seconds(245.0), "4 min 05 s");
    }

    #[test]
    fn instance_types_are_those_of_the_table_or_ones_own() {
        let named = |name: &str, milli, memory_bytes, host_cpus| NamedInstance {
            name: name.to_owned(),
            size: InstanceType {
                cpus: Cpus::from_milli(milli),
                memory_bytes,
            },
            host_cpus,
        };
        for (text, right) in [
            ("2xlarge", named("2xlarge", 8000, 32 << 30, None)),
            ("half=0.5:256M", named("half", 500, 256 << 20, None)),
            ("of4=2:1G:4", named("of4", 2000, 1 << 30, Some(4))),
            ("all=1.5:1G:2", named("all", 1500, 1 << 30, Some(2))),
        ] {
            assert_eq!(parse_instance(text), Ok(right));
        }
        for bad in [
            "",
            "huge",
            "x=",
            "x=1",
            "=1:1G",
            "a b=1:1G",
            "x=0:1G",
            "x=1:0",
            "x\n=1:1G",
            "../x=1:1G",
            "x=2:1G:1",
            "x=1:1G:",
            "x=1:1G:1.5",
            "x=1:1G:0",
            "x=1:1G:-1",
            "x=1:1G:1:1",
        ] {
            assert!(parse_instance(bad).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            let _ = parse_instance(&text);
            let _ = text.parse::<Cpus>();
            let _ = parse_memory(&text);
            let _ = parse_seconds(&text);
        }
    }
}
