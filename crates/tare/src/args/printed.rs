//! Options that read a command's output: figures and checks.

use clap::Args;
use tare_model::metric::Direction;
use tare_model::output::{Comma, Find, Stream};
use tare_model::size::counted;
use tare_study::printed::{CheckWish, MetricWish, PLAIN};

/// What is read from a command's output. The command then runs once per trial.
#[derive(Debug, Clone, Default, Args)]
pub struct PrintedArgs {
    /// Use a number that the command prints as the metric: a regular expression with one group around the number, such as 'throughput=^rate: ([0-9.]+)'. It must match exactly once in standard output and standard error together. Write '{value} {unit}' to read the unit that is printed beside the number
    #[arg(long, value_name = "NAME=REGEX", value_parser = metric)]
    pub metric: Vec<(String, String)>,
    /// Unit of the printed figure, such as op/s, MB/s or ms; one for all figures, or one for each. A unit read with '{unit}' is converted to it
    #[arg(long, value_name = "UNIT", requires = "metric")]
    pub unit: Vec<String>,
    /// Higher is better [default for rates, such as op/s]
    #[arg(long, requires = "metric", conflicts_with = "lower")]
    pub higher: bool,
    /// Lower is better [default for times, bytes and units per operation, such as ns/op]
    #[arg(long, requires = "metric")]
    pub lower: bool,
    /// A comma in the printed figure begins its fraction: 1,234 is 1.234
    #[arg(long, requires = "metric", conflicts_with = "thousands_comma")]
    pub decimal_comma: bool,
    /// A comma in the printed figure separates thousands: 1,234 is 1234
    #[arg(long, requires = "metric")]
    pub thousands_comma: bool,
    /// Fail a trial unless standard output or standard error matches this regular expression
    #[arg(long, value_name = "REGEX")]
    pub check: Vec<String>,
    /// Fail a trial if standard output or standard error matches this regular expression
    #[arg(long, value_name = "REGEX")]
    pub check_not: Vec<String>,
}

fn metric(text: &str) -> Result<(String, String), &'static str> {
    let (name, regex) = text
        .split_once('=')
        .ok_or("give a name and a regular expression, as in 'throughput=^rate: ([0-9.]+)'")?;
    Ok((name.to_owned(), regex.to_owned()))
}

impl PrintedArgs {
    /// Rejects several units that cannot be matched to figures.
    pub fn refuse_odd_units(&self) -> anyhow::Result<()> {
        let (units, figures) = (self.unit.len(), self.metric.len());
        anyhow::ensure!(
            units <= 1 || units == figures,
            "{units} units for {}: give one for all of them, or one for each, in the same order",
            counted(figures, "figure")
        );
        Ok(())
    }

    /// The wanted figures; plain numbers without a unit.
    pub fn metrics(&self) -> Vec<MetricWish> {
        let units = self.unit.iter().chain(self.unit.last().into_iter().cycle());
        let units = units.map(String::as_str).chain(std::iter::repeat(PLAIN));
        let direction = match (self.higher, self.lower) {
            (true, _) => Some(Direction::Higher),
            (_, true) => Some(Direction::Lower),
            _ => None,
        };
        let comma = match (self.decimal_comma, self.thousands_comma) {
            (true, _) => Some(Comma::Decimal),
            (_, true) => Some(Comma::Thousands),
            _ => None,
        };
        let metrics = self.metric.iter().zip(units);
        metrics
            .map(|((name, regex), unit)| MetricWish {
                name: name.clone(),
                stream: Stream::Both,
                find: Find::Regex(regex.clone()),
                unit: unit.to_owned(),
                comma,
                direction,
            })
            .collect()
    }

    /// The wanted checks, first those of `--check`.
    pub fn checks(&self) -> Vec<CheckWish> {
        let says = |regex: &String| CheckWish::Says(Stream::Both, regex.clone());
        let says_not = |regex: &String| CheckWish::SaysNot(Stream::Both, regex.clone());
        let checks = self.check.iter().map(says);
        checks.chain(self.check_not.iter().map(says_not)).collect()
    }
}
