//! Load: what a client of tare's own asks of a server, and how.

use crate::digits::digits;
use crate::kernel::Check;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What stands for the number of a key in the words of a request.
pub const KEY: &str = "__key__";
/// What stands for so many bytes in the words of a request.
pub const VALUE: &str = "__value__";

/// The percentiles of latencies that are told: their names, and the share that does not exceed each.
pub const PERCENTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// What a client asks of a server.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct LoadSpec {
    /// The role that is asked.
    pub server: String,
    /// What each request is.
    pub asked: Asked,
    /// Connections at the same time, which are kept.
    pub connections: u32,
    /// Whether they are kept, rather than each request having one of its own.
    #[serde(default = "kept", skip_serializing_if = "is_kept")]
    pub keep: bool,
    /// Requests under way on each at most.
    pub pipeline: u32,
    /// Requests choose from so many keys by chance.
    pub keys: u32,
    /// Length of a value in bytes.
    pub bytes: u32,
    /// Requests per second, which come whether or not earlier ones were answered (open loop);
    /// absent: each answer makes room for the next one (closed loop).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// The same as a share of what the baseline answers in a closed loop, which a run finds out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_peak: Option<f64>,
    /// The latency that the baseline must keep for that to count as answered; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    /// Requests that come at once (burst), of which one follows another when all are answered;
    /// absent: none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// Where chance begins: keys, and arrivals of an open loop.
    pub seed: u64,
}

/// A latency that most requests must not exceed.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Bound {
    /// This share of them.
    pub share: f64,
    /// The latency.
    pub seconds: f64,
}

/// For people: `99 % of them take at most 10 ms`.
impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = digits(100.0 * self.share, 1);
        let percent = percent.trim_end_matches(".0");
        write!(f, "{percent} % of them take at most {} ms", 1e3 * self.seconds)
    }
}

const fn kept() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
const fn is_kept(keep: &bool) -> bool {
    *keep
}

/// A request, by its protocol.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asked {
    /// GET of this path by HTTP/1.1.
    Http(String),
    /// A command of Redis by its words (RESP).
    Resp {
        words: Vec<String>,
        /// Those of the command that is run once for each key before any load; empty: none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        first: Vec<String>,
    },
    /// A query of PostgreSQL, as a simple query.
    Postgresql(Query),
    /// A query of MariaDB or MySQL, as text.
    Mysql(Query),
}

/// A query of a data base.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Query {
    /// Who asks, without a password.
    pub user: String,
    /// The data base.
    pub database: String,
    /// The query.
    pub text: String,
}

/// What a client tells at its end.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct LoadReport {
    /// What was asked.
    pub spec: LoadSpec,
    /// Requests in all slices, those that were not timed among them.
    pub requests: u64,
    /// Connections that were made again, since the server had closed them.
    pub reconnected: u64,
    /// Answers that were not as they should be.
    pub check: Check,
    /// What was wrong with the first of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_wrong: Option<String>,
}

impl LoadSpec {
    /// One request after another of this role, over one connection that is kept.
    pub fn one_by_one(server: &str, asked: Asked) -> Self {
        Self {
            server: server.to_owned(),
            asked,
            connections: 1,
            keep: true,
            pipeline: 1,
            keys: 1,
            bytes: 0,
            rate: None,
            of_peak: None,
            bound: None,
            burst: None,
            seed: 0,
        }
    }

    /// Whether requests come whether or not earlier ones were answered.
    pub fn is_open(&self) -> bool {
        self.rate.is_some() || self.of_peak.is_some()
    }
}

/// The search of the greatest rate of an open loop at which a bound of latencies is kept.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct WithinBound {
    pub bound: Bound,
    /// Every try of every rate, in order.
    pub tries: Vec<RateTry>,
}

/// A try of a rate.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct RateTry {
    /// Requests per second that were due.
    pub rate: f64,
    /// Share of them that were answered in time.
    pub achieved: f64,
    /// The latency that the share of the bound did not exceed; absent: not to be told, as where
    /// nothing was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_seconds: Option<f64>,
}

/// Less of the requests that are due answered in time is an overload: who waits then waits for
/// ever longer, and no latency is that of the load that was asked for.
pub const LEAST_ACHIEVED: f64 = 0.99;

impl WithinBound {
    /// The greatest of the rates that keep the bound.
    pub fn peak(&self) -> Option<f64> {
        let rates = self.tries.iter().map(|one| one.rate);
        rates.filter(|rate| self.keeps(*rate)).max_by(f64::total_cmp)
    }

    /// Whether the bound is kept at a rate, by the median of its tries, which is what most of them
    /// tell: one that was lucky, or had bad luck, decides nothing.
    pub fn keeps(&self, rate: f64) -> bool {
        let of_rate = || self.tries.iter().filter(|one| one.rate.total_cmp(&rate).is_eq());
        let kept = of_rate().filter(|one| one.keeps(self.bound)).count();
        2 * kept > of_rate().count()
    }
}

impl RateTry {
    /// Whether it kept the bound, of a load that was answered in time.
    fn keeps(&self, bound: Bound) -> bool {
        let is_within = self
            .latency_seconds
            .is_some_and(|seconds| seconds <= bound.seconds);
        is_within && self.achieved >= LEAST_ACHIEVED
    }
}

/// For people: `GET /index.html, 8 connections`.
impl fmt::Display for LoadSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.asked {
            Asked::Http(path) => write!(f, "GET {path}")?,
            Asked::Resp { words, .. } => f.write_str(&words.join(" "))?,
            Asked::Postgresql(query) | Asked::Mysql(query) => f.write_str(&query.text)?,
        }
        write!(f, ", {}", crate::size::counted(self.connections, "connection"))?;
        if !self.keep {
            f.write_str(" at a time, a new one for each request")?;
        }
        if self.pipeline > 1 {
            write!(f, ", {} requests under way on each", self.pipeline)?;
        }
        if let Some(burst) = self.burst {
            return write!(f, ", {burst} at once");
        }
        match (self.rate, self.of_peak) {
            (Some(rate), _) => write!(f, ", {rate} requests/s whether or not they are answered"),
            (None, Some(share)) => {
                write!(f, ", {} % of the baseline's peak", 100.0 * share)?;
                self.bound
                    .iter()
                    .try_for_each(|bound| write!(f, " while {bound}"))?;
                f.write_str(", whether or not they are answered")
            }
            (None, None) => f.write_str(", each after an answer"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_told_in_a_line() {
        let mut spec = LoadSpec {
            connections: 8,
            ..LoadSpec::one_by_one("web", Asked::Http("/a".to_owned()))
        };
        assert_eq!(spec.to_string(), "GET /a, 8 connections, each after an answer");
        spec.rate = Some(500.0);
        spec.pipeline = 2;
        assert_eq!(
            spec.to_string(),
            "GET /a, 8 connections, 2 requests under way on each, 500 requests/s whether or not they are answered"
        );
        (spec.rate, spec.of_peak, spec.pipeline) = (None, Some(0.5), 1);
        spec.bound = Some(Bound {
            share: 0.99,
            seconds: 0.01,
        });
        assert_eq!(
            spec.to_string(),
            "GET /a, 8 connections, 50 % of the baseline's peak while 99 % of them take at most 10 ms, \
             whether or not they are answered"
        );
    }
}
