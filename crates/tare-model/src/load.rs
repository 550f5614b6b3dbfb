//! Load: what a client of tare's own asks of a server, and how.

use crate::kernel::Check;
use crate::study::Cell;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What stands for the number of a key in the words of a request.
pub const KEY: &str = "__key__";
/// What stands for so many bytes in the words of a request.
pub const VALUE: &str = "__value__";

/// The percentiles of latencies that are told: their names, and the share that does not exceed each.
pub const PERCENTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// What a client asks of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// Requests that come at once (burst), of which one follows another when all are answered;
    /// absent: none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// Where chance begins: keys, and arrivals of an open loop.
    pub seed: u64,
}

const fn kept() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
const fn is_kept(keep: &bool) -> bool {
    *keep
}

/// A request, by its protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asked {
    /// GET of this path by HTTP/1.1.
    Http(String),
    /// A command of Redis by its words (RESP).
    Resp {
        /// The words.
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// Who asks, without a password.
    pub user: String,
    /// The data base.
    pub database: String,
    /// The query.
    pub text: String,
}

/// What a client tells at its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
            burst: None,
            seed: 0,
        }
    }

    /// Whether requests come whether or not earlier ones were answered.
    pub fn is_open(&self) -> bool {
        self.rate.is_some() || self.of_peak.is_some()
    }
}

/// What the baseline answers at most, of which the rates of open loops are shares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeakRecord {
    /// The cell of the baseline.
    #[serde(flatten)]
    pub cell: Cell,
    /// Requests per second in each slice of a closed loop.
    pub rates: Vec<f64>,
}

impl PeakRecord {
    /// Their median, as long as it is a positive number.
    pub fn peak(&self) -> Option<f64> {
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        let median = rates.get(rates.len() / 2).copied()?;
        (median.is_finite() && median > 0.0).then_some(median)
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
            (None, Some(share)) => write!(
                f,
                ", {} % of what the baseline answers at most, whether or not they are answered",
                100.0 * share
            ),
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
    }
}
