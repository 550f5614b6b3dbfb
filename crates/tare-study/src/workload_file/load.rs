//! The load of a workload file: what a client of tare's own asks of a server.

use super::file::{BoundText, Command, File, LoadText};
use super::roles::Scope;
use super::{Reader, WorkloadFileError};
use std::ops::RangeInclusive;
use tare_model::load::{Asked, Bound, LoadSpec, Query};
use tare_model::suggest;
use tare_toml::Spanned;

/// As many connections as one thread serves without being what is slow.
const CONNECTIONS: RangeInclusive<u32> = 1..=10_000;
const PIPELINE: RangeInclusive<u32> = 1..=1000;
/// Keys are numbered with twelve digits, but each is asked for once before the load.
const KEYS: RangeInclusive<u32> = 1..=10_000_000;
/// Bytes of a value, 16 MiB.
const BYTES: RangeInclusive<u32> = 0..=16 << 20;
/// Requests at once.
const BURSTS: RangeInclusive<u32> = 1..=1_000_000;
/// Requests per second, and parts of a peak.
const PERCENT: RangeInclusive<f64> = 1.0..=100.0;
const RATES: RangeInclusive<f64> = 0.1..=1e7;
/// Further out it takes ever longer to tell.
const PERCENTILES: RangeInclusive<f64> = 50.0..=99.9;
const BOUNDS_MS: RangeInclusive<f64> = 0.01..=60_000.0;

impl Reader<'_> {
    /// What is asked of a server, where the file has a load in place of a program.
    pub(super) fn load(&self, file: &File, roles: &[&str]) -> Result<Option<LoadSpec>, WorkloadFileError> {
        let command = file.command.get_ref();
        let Some(load) = &command.load else {
            return match command.argv.is_empty() {
                false => Ok(None),
                true => Err(self.at(
                    &file.command,
                    "nothing to run: give argv = [\"PROGRAM\", \"ARGUMENT\"], or load = { http = \"/\" } and a [[role]]",
                )),
            };
        };
        if let Some(key) = of_programs(command) {
            let message = format!("'{key}' belongs to a program, and a load has none: omit one of the two");
            return Err(self.at(load, message));
        }
        if let Some(metric) = file.metrics.first() {
            return Err(self.at(metric, "a load has its own figures: omit [[metric]]"));
        }
        if let Some(check) = file.checks.first() {
            return Err(self.at(check, "a load checks every answer itself: omit [[check]]"));
        }
        let text = load.get_ref();
        let asked = self.asked(load, roles)?;
        let number = |name: &str, given: &Option<Spanned<String>>, usual: u32, range| match given {
            Some(given) => self.number(name, given, range),
            None => Ok(usual),
        };
        let (rate, of_peak) = match &text.rate {
            Some(rate) => self.rate(rate)?,
            None => (None, None),
        };
        if text.burst.is_some() && (rate.is_some() || of_peak.is_some()) {
            return Err(self.at(
                load,
                "requests come either at a rate or in bursts: omit 'rate' or 'burst'",
            ));
        }
        Ok(Some(LoadSpec {
            server: self.server(load, roles)?,
            asked,
            connections: number("connections", &text.connections, 1, CONNECTIONS)?,
            keep: self.keep(load)?,
            pipeline: number("pipeline", &text.pipeline, 1, PIPELINE)?,
            keys: number("keys", &text.keys, 1, KEYS)?,
            bytes: number("bytes", &text.bytes, 0, BYTES)?,
            rate,
            of_peak,
            bound: self.bound(text, of_peak)?,
            burst: text
                .burst
                .as_ref()
                .map(|burst| self.number("burst", burst, BURSTS))
                .transpose()?,
            seed: 0,
        }))
    }

    /// The request, by its protocol.
    fn asked(&self, load: &Spanned<LoadText>, roles: &[&str]) -> Result<Asked, WorkloadFileError> {
        let text = load.get_ref();
        let words = |words: &[String]| self.all_filled(words, load, &Scope::without_servers(roles));
        let word = |word: &String| words(std::slice::from_ref(word)).map(|words| words.concat());
        let query = |query: &String| {
            let named = |given: &Option<String>, name: &str| match given {
                Some(given) => word(given),
                None => Err(self.at(load, format!("a query needs '{name}'"))),
            };
            Ok::<_, WorkloadFileError>(Query {
                user: named(&text.user, "user")?,
                database: named(&text.database, "database")?,
                text: word(query)?,
            })
        };
        let asked = match (&text.http, &text.resp, &text.postgresql, &text.mysql) {
            (Some(path), None, None, None) => Asked::Http(self.path(path, &word(path.get_ref())?)?),
            (None, Some(command), None, None) if !command.is_empty() => Asked::Resp {
                words: words(command)?,
                first: words(&text.first)?,
            },
            (None, None, Some(text), None) => Asked::Postgresql(query(text)?),
            (None, None, None, Some(text)) => Asked::Mysql(query(text)?),
            _ => {
                let message = "a load sends one kind of request: give http = \"/PATH\", resp = [\"GET\", \"KEY\"], or a query as \
                               postgresql = or mysql =";
                return Err(self.at(load, message));
            }
        };
        if !matches!(asked, Asked::Resp { .. }) && !text.first.is_empty() {
            return Err(self.at(load, "'first' belongs to 'resp': it sets the keys to request"));
        }
        Ok(asked)
    }

    fn path(&self, given: &Spanned<String>, path: &str) -> Result<String, WorkloadFileError> {
        let fits = |byte: u8| byte.is_ascii_graphic();
        if path.starts_with('/') && path.bytes().all(fits) {
            return Ok(path.to_owned());
        }
        let strange = path.chars().find(|letter| !letter.is_ascii_graphic());
        let advice = match strange {
            Some(letter) => {
                format!("write {letter:?} as % and two hexadecimal digits per byte, such as %20")
            }
            None => "begin it with '/', such as /index.html".to_owned(),
        };
        Err(self.at(given, format!("{path:?} is not a request path: {advice}")))
    }

    /// The server that is asked: the one that is named, or the last that is started.
    fn server(&self, load: &Spanned<LoadText>, roles: &[&str]) -> Result<String, WorkloadFileError> {
        let Some(last) = roles.last() else {
            return Err(self.at(
                load,
                "a load needs a server: add a [[role]] with name, place, argv and ready",
            ));
        };
        match &load.get_ref().server {
            None => Ok((*last).to_owned()),
            Some(given) => {
                let name = given.get_ref();
                if roles.contains(&name.as_str()) {
                    return Ok(name.clone());
                }
                let advice = suggest::among(name, roles, "the roles");
                Err(self.at(given, format!("'{name}' is not a role: {advice}")))
            }
        }
    }

    fn number(
        &self,
        name: &str,
        given: &Spanned<String>,
        range: RangeInclusive<u32>,
    ) -> Result<u32, WorkloadFileError> {
        let value = self.value(given)?;
        let number = value.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| {
            let (least, most) = range.into_inner();
            self.at(
                given,
                format!("{name} = '{value}': give a whole number from {least} to {most}"),
            )
        })
    }

    /// Requests per second, or the share of a peak; neither of 0, which is a closed loop.
    fn rate(&self, given: &Spanned<String>) -> Result<(Option<f64>, Option<f64>), WorkloadFileError> {
        let value = self.value(given)?;
        let number = |text: &str| text.trim_end().parse::<f64>().ok();
        match (value.strip_suffix('%').map(number), number(&value)) {
            (Some(Some(percent)), _) if PERCENT.contains(&percent) => Ok((None, Some(percent / 100.0))),
            (None, Some(0.0)) => Ok((None, None)),
            (None, Some(rate)) if RATES.contains(&rate) => Ok((Some(rate), None)),
            _ => Err(self.at(
                given,
                format!(
                    "rate = '{value}': give requests per second, a share of the baseline's peak such as 50%, or 0 for one after another"
                ),
            )),
        }
    }

    /// The bound of latencies, if there is one.
    fn bound(&self, text: &LoadText, of_peak: Option<f64>) -> Result<Option<Bound>, WorkloadFileError> {
        let Some(given) = &text.bound else { return Ok(None) };
        let BoundText { percentile, ms } = given.get_ref();
        if !PERCENTILES.contains(percentile) {
            let message = format!("percentile = {percentile}: give a number from 50 to 99.9");
            return Err(self.at(given, message));
        }
        let value = self.value(ms)?;
        match value.trim_end().parse::<f64>() {
            Ok(0.0) => Ok(None),
            Ok(number) if BOUNDS_MS.contains(&number) && of_peak.is_some() => Ok(Some(Bound {
                share: percentile / 100.0,
                seconds: number / 1e3,
            })),
            Ok(number) if BOUNDS_MS.contains(&number) => Err(self.at(
                given,
                "a latency bound needs a rate that is a share of the peak: give a rate such as 50%, or ms = '0'",
            )),
            _ => Err(self.at(
                ms,
                format!("ms = '{value}': give milliseconds from 0.01 to 60000, or 0 for no bound"),
            )),
        }
    }

    /// Whether connections are kept.
    fn keep(&self, load: &Spanned<LoadText>) -> Result<bool, WorkloadFileError> {
        let text = load.get_ref();
        let Some(given) = &text.keep else { return Ok(true) };
        match self.value(given)?.as_str() {
            "yes" => Ok(true),
            "no" if text.http.is_some() && text.pipeline.is_none() => Ok(false),
            "no" => Err(self.at(
                given,
                "keep = 'no' is for 'http' with one request at a time: omit 'pipeline'",
            )),
            other => Err(self.at(given, format!("keep = '{other}': give yes or no"))),
        }
    }

    fn value(&self, given: &Spanned<String>) -> Result<String, WorkloadFileError> {
        let scope = Scope::without_servers(&[]);
        let filled = self.all_filled(std::slice::from_ref(given.get_ref()), given, &scope)?;
        Ok(filled.concat())
    }
}

/// A key that only a program can have.
fn of_programs(command: &Command) -> Option<&'static str> {
    let given = [
        ("argv", command.argv.is_empty()),
        ("with", command.with.is_empty()),
        ("env", command.env.is_empty()),
        ("calls", command.calls.is_empty()),
        ("setup", command.setup.is_empty()),
        ("teardown", command.teardown.is_empty()),
        ("cache", command.cache.is_none()),
    ];
    given
        .into_iter()
        .find(|(_, is_empty)| !is_empty)
        .map(|(key, _)| key)
}
