//! Workload files: a workload that is a command, with its figures and checks, in a few lines
//! of TOML. Every error names the file, the line and the column.

mod error;
mod file;
mod load;
mod roles;
mod shipped;

pub use error::WorkloadFileError;
pub use roles::RoleWish;
pub use shipped::names;

use crate::addresses::{is_name, next_braces};
use crate::command::CommandWish;
use crate::printed::{CheckWish, MetricWish, PrintedError};
use file::{CheckText, File, MetricText};
use roles::Scope;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use tare_model::output::{Bounded, Extractor};
use tare_model::size::parse_memory;
use tare_model::suggest;
use tare_model::template::Feature;
use tare_model::workload::{Barrier, Place, VersionReceipt};
use tare_toml::{Kind, Source, Spanned, TomlError};

const WORKLOAD: Kind = Kind {
    name: "workload file",
    manual: "docs/workload-files.md",
};
/// A workload file has a few hundred bytes.
const MAX_BYTES: u64 = 1 << 16;

/// Seconds that a run can take.
const LENGTHS: RangeInclusive<f64> = 1e-3..=86400.0;

/// A workload of a file, with its parameters filled in.
#[derive(Debug, Clone)]
pub struct CatalogueWorkload {
    /// Its name, with the parameters that were given.
    pub name: String,
    /// Its name alone.
    pub family: String,
    /// What it measures, in a line.
    pub about: String,
    /// The service feature that it shows.
    pub feature: Option<Feature>,
    /// Where the program comes from.
    pub source: Option<String>,
    /// Studies that ran it.
    pub studies: Vec<String>,
    /// The Debian package of its program.
    pub package: Option<String>,
    /// The image that holds its program.
    pub image: Option<String>,
    /// Its parameters by name.
    pub parameters: BTreeMap<String, TakenParameter>,
    /// What is run and read.
    pub command: CommandWish,
    /// Where that is.
    pub place: Place,
    /// The servers that it talks to, in the order in which they are started.
    pub roles: Vec<RoleWish>,
    /// Where its program cannot run on this host, whatever is done.
    pub cannot_run: Option<Barrier>,
    /// How the program tells its version.
    pub version: Option<VersionReceipt>,
    /// Whether caches are dropped before each trial.
    pub cold: bool,
    /// How long a run takes on an ordinary machine, with the parameters of its preset.
    pub seconds: Option<f64>,
    /// Memory of a box that it needs with them.
    pub memory_bytes: Option<u64>,
}

/// A parameter with its value.
#[derive(Debug, Clone)]
pub struct TakenParameter {
    /// What it is, in a line.
    pub about: String,
    /// The value that was taken.
    pub value: String,
    /// The value that the studies had.
    pub paper: String,
}

/// Whether a name is that of a file, or of a workload of the catalogue.
pub fn is_known(name: &str) -> bool {
    let (name, _) = split(name);
    is_path(name) || shipped::text(name).is_some()
}

/// Reads a workload: `NAME` of the catalogue or a path that ends with `.toml`, with parameters
/// as in `NAME?key=value&key=value`; `preset=paper` takes all as the studies had them.
///
/// # Errors
/// [`WorkloadFileError`] for the first thing that is wrong.
pub fn read(asked: &str) -> Result<CatalogueWorkload, WorkloadFileError> {
    let (name, options) = split(asked);
    let source = if is_path(name) {
        Source::of_file(&WORKLOAD, Path::new(name), MAX_BYTES)?
    } else {
        let text = shipped::text(name).ok_or_else(|| WorkloadFileError::Form(asked.to_owned()))?;
        Source::of_text(&WORKLOAD, format!("{name}.toml"), text)
    };
    let family = family(name);
    let parsed: File = tare_toml::read(&source)?;
    let given = given(asked, options)?;
    let paper = is_paper(&family, &given)?;
    let values = values(&family, &parsed, &given, paper)?;
    let workload = Reader {
        source: &source,
        paper,
        values: &values,
    };
    workload.workload(asked, family, &parsed)
}

fn split(asked: &str) -> (&str, Option<&str>) {
    match asked.split_once('?') {
        Some((name, options)) => (name, Some(options)),
        None => (asked, None),
    }
}

/// The name that a workload has in a study: that of its family, with the parameters that are given.
pub(crate) fn full_name(asked: &str) -> String {
    let (name, options) = split(asked);
    let options = options.map_or_else(String::new, |options| format!(" {options}"));
    family(name) + &options
}

fn is_path(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "toml")
}

/// The name of a workload: that of its file without folder and end.
fn family(name: &str) -> String {
    if !is_path(name) {
        return name.to_owned();
    }
    let stem = Path::new(name).file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// The keys and values that stand behind a name.
fn given<'a>(asked: &str, options: Option<&'a str>) -> Result<Vec<(&'a str, &'a str)>, WorkloadFileError> {
    let pairs = options.into_iter().flat_map(|options| options.split('&'));
    let form = || WorkloadFileError::Form(asked.to_owned());
    pairs.map(|pair| pair.split_once('=').ok_or_else(form)).collect()
}

/// Whether parameters are those of the studies.
fn is_paper(workload: &str, given: &[(&str, &str)]) -> Result<bool, WorkloadFileError> {
    let preset = given.iter().rev().find(|(key, _)| *key == "preset");
    match preset.map(|(_, preset)| *preset) {
        None | Some("small") => Ok(false),
        Some("paper") => Ok(true),
        Some(other) => Err(WorkloadFileError::Preset(workload.to_owned(), other.to_owned())),
    }
}

/// The value of each parameter: of the preset, unless one is given.
fn values(
    workload: &str,
    file: &File,
    given: &[(&str, &str)],
    paper: bool,
) -> Result<BTreeMap<String, String>, WorkloadFileError> {
    let mut values: BTreeMap<String, String> = file
        .parameters
        .iter()
        .map(|(key, parameter)| {
            let value = if paper { &parameter.paper } else { &parameter.small };
            (key.clone(), value.clone())
        })
        .collect();
    for (key, value) in given.iter().filter(|(key, _)| *key != "preset") {
        let unknown = || {
            let known: Vec<&str> = file
                .parameters
                .keys()
                .map(String::as_str)
                .chain(["preset"])
                .collect();
            WorkloadFileError::Parameter {
                workload: workload.to_owned(),
                key: (*key).to_owned(),
                known: suggest::among(key, &known, "the parameters"),
            }
        };
        *values.get_mut(*key).ok_or_else(unknown)? = (*value).to_owned();
    }
    Ok(values)
}

/// A file that is made a workload of.
struct Reader<'a> {
    source: &'a Rc<Source>,
    paper: bool,
    values: &'a BTreeMap<String, String>,
}

impl Reader<'_> {
    fn workload(
        &self,
        asked: &str,
        family: String,
        file: &File,
    ) -> Result<CatalogueWorkload, WorkloadFileError> {
        let command = file.command.get_ref();
        let roles = self.roles(file)?;
        let names: Vec<&str> = roles.iter().map(|role| role.name.as_str()).collect();
        let several = roles::several(file);
        let scope = Scope::of_command(&names, &several);
        let single: Vec<&str> = names
            .iter()
            .filter(|name| !several.contains(name))
            .copied()
            .collect();
        let aside = Scope::without_servers(&names);
        let filled = |words: &[String]| self.all_filled(words, &file.command, &scope);
        let cold = self.cold(command, &aside)?;
        Ok(CatalogueWorkload {
            name: full_name(asked),
            family,
            about: file.about.clone(),
            feature: file.feature,
            source: file.source.clone(),
            studies: file.studies.clone(),
            package: command.package.clone(),
            image: command.image.clone(),
            cannot_run: self.cannot_run(command)?,
            parameters: self.parameters(file),
            command: CommandWish {
                load: self.load(file, &single)?,
                argv: filled(&command.argv)?,
                image_only: command.image_only,
                // The file names the program itself.
                entrypoint: Some(Vec::new()),
                with: filled(&command.with)?.into_iter().map(PathBuf::from).collect(),
                with_libraries: true,
                calls: filled(&command.calls)?,
                setup: self.all_filled(&command.setup, &file.command, &aside)?,
                teardown: self.all_filled(&command.teardown, &file.command, &aside)?,
                env: self.variables(&command.env, &scope)?,
                metrics: file
                    .metrics
                    .iter()
                    .map(|m| self.metric(m))
                    .collect::<Result<_, _>>()?,
                checks: file
                    .checks
                    .iter()
                    .map(|c| self.check(c))
                    .collect::<Result<_, _>>()?,
            },
            place: command.place().into(),
            roles,
            version: command.version.clone().map(|version| VersionReceipt {
                argv: version.argv,
                regex: version.regex,
                found: None,
            }),
            cold,
            seconds: self.seconds(&file.command)?,
            memory_bytes: self.memory(&file.command)?,
        })
    }

    /// Where it cannot run, if that is so on this host.
    fn cannot_run(&self, command: &file::Command) -> Result<Option<Barrier>, WorkloadFileError> {
        let Some(place) = &command.cannot_run else {
            return Ok(None);
        };
        let told = place.get_ref();
        let known = tare_platforms::names();
        if let Some(unknown) = told.platforms.iter().find(|name| !known.contains(&name.as_str())) {
            let advice = suggest::among(unknown, &known, "the platforms");
            return Err(self.at(place, format!("unknown platform '{unknown}': {advice}")));
        }
        let is_so = told.if_host_has.as_ref().is_none_or(|path| path.exists());
        Ok(is_so.then(|| Barrier {
            platforms: told.platforms.clone(),
            why: told.why.clone(),
        }))
    }

    /// Whether it begins with cold caches.
    fn cold(&self, command: &file::Command, scope: &Scope<'_>) -> Result<bool, WorkloadFileError> {
        let Some(cache) = &command.cache else {
            return Ok(false);
        };
        let filled = self
            .all_filled(std::slice::from_ref(cache.get_ref()), cache, scope)?
            .concat();
        match filled.as_str() {
            "warm" => Ok(false),
            "cold" => Ok(true),
            _ => {
                let message = format!("'cache' cannot be '{filled}': choose warm or cold");
                Err(self.at(cache, message))
            }
        }
    }

    /// How long a run takes with the parameters of the preset, if the file says so.
    fn seconds(&self, command: &Spanned<file::Command>) -> Result<Option<f64>, WorkloadFileError> {
        let Some(of) = command.get_ref().seconds else {
            return Ok(None);
        };
        let seconds = if self.paper { of.paper } else { of.small };
        if LENGTHS.contains(&seconds) {
            return Ok(Some(seconds));
        }
        let message = format!("a run of {seconds} s: set 'seconds' to more than 0 and at most a day");
        Err(self.at(command, message))
    }

    /// Memory of a box that it needs with the parameters of the preset, if the file says so.
    fn memory(&self, command: &Spanned<file::Command>) -> Result<Option<u64>, WorkloadFileError> {
        let Some(of) = &command.get_ref().memory else {
            return Ok(None);
        };
        let told = if self.paper { &of.paper } else { &of.small };
        let bytes = parse_memory(told.get_ref()).map_err(|e| self.at(told, e.to_string()))?;
        Ok(Some(bytes))
    }

    fn parameters(&self, file: &File) -> BTreeMap<String, TakenParameter> {
        let of = |(key, parameter): (&String, &file::Parameter)| {
            let taken = TakenParameter {
                about: parameter.about.clone(),
                value: self.values.get(key).cloned().unwrap_or_default(),
                paper: parameter.paper.clone(),
            };
            (key.clone(), taken)
        };
        file.parameters.iter().map(of).collect()
    }

    /// Words with each `{parameter}` replaced by its value. What stands for addresses of servers
    /// stays: they are known when these serve.
    fn all_filled<T>(
        &self,
        words: &[String],
        of: &Spanned<T>,
        scope: &Scope<'_>,
    ) -> Result<Vec<String>, WorkloadFileError> {
        let filled = words.iter().map(|word| self.filled(word, scope));
        let filled: Result<Vec<String>, String> = filled.collect();
        filled.map_err(|message| self.at(of, message))
    }

    /// Variables as options give them, each with its value filled.
    fn variables(
        &self,
        env: &BTreeMap<String, Spanned<String>>,
        scope: &Scope<'_>,
    ) -> Result<Vec<String>, WorkloadFileError> {
        let variable = |(name, value): (&String, &Spanned<String>)| {
            if name.is_empty() || name.contains(|c: char| c == '=' || c.is_whitespace() || c == '\0') {
                let message = format!("'{name}' is no name of a variable: omit '=' and blanks");
                return Err(self.at(value, message));
            }
            let filled = self.filled(value.get_ref(), scope);
            let filled = filled.map_err(|message| self.at(value, message))?;
            Ok(format!("{name}={filled}"))
        };
        env.iter().map(variable).collect()
    }

    fn filled(&self, word: &str, scope: &Scope<'_>) -> Result<String, String> {
        let mut filled = String::new();
        let mut rest = word;
        while let Some((before, key, after)) = next_braces(rest, |key| is_name(key) || scope.takes(key)) {
            filled += before;
            match self.values.get(key) {
                Some(value) => filled += value,
                None => filled += &scope.kept(key, self.values)?,
            }
            rest = after;
        }
        Ok(filled + rest)
    }

    fn metric(&self, metric: &Spanned<MetricText>) -> Result<MetricWish, WorkloadFileError> {
        let text = metric.get_ref();
        let find = file::find(text.regex.as_ref(), text.json.as_ref(), text.csv.as_ref());
        let find = find.ok_or_else(|| self.at(metric, ONE_WAY))?;
        let wish = MetricWish {
            name: text.name.clone(),
            stream: text.stream,
            find,
            unit: text.unit.clone(),
            comma: text.comma,
            direction: text.direction,
        };
        wish.judge().map_err(|e| self.printed(metric, &e))?;
        Ok(wish)
    }

    fn check(&self, check: &Spanned<CheckText>) -> Result<CheckWish, WorkloadFileError> {
        let text = check.get_ref();
        let wish = match (&text.says, &text.says_not, &text.figure) {
            (Some(regex), None, None) => CheckWish::Says(text.stream, regex.clone()),
            (None, Some(regex), None) => CheckWish::SaysNot(text.stream, regex.clone()),
            (None, None, Some(name)) => self.figure(check, name)?,
            _ => {
                return Err(self.at(
                    check,
                    "a check needs exactly one of 'says', 'says_not' and 'figure'",
                ));
            }
        };
        wish.judge().map_err(|e| self.printed(check, &e))?;
        Ok(wish)
    }

    fn figure(&self, check: &Spanned<CheckText>, name: &str) -> Result<CheckWish, WorkloadFileError> {
        let text = check.get_ref();
        let find = file::find(text.regex.as_ref(), text.json.as_ref(), text.csv.as_ref());
        let find = find.ok_or_else(|| self.at(check, ONE_WAY))?;
        let bounded = Bounded {
            name: name.to_owned(),
            from: Extractor {
                stream: text.stream,
                comma: text.comma,
                ..Extractor::of(find)
            },
            at_least: text.at_least.or(text.equals),
            at_most: text.at_most.or(text.equals),
        };
        if bounded.at_least.is_none() && bounded.at_most.is_none() {
            return Err(self.at(check, "a figure needs a bound: add at_least, at_most or equals"));
        }
        Ok(CheckWish::Figure(bounded))
    }

    /// The error that something is wrong with what stands here.
    fn at<T>(&self, value: &Spanned<T>, message: impl Into<String>) -> WorkloadFileError {
        TomlError::at(&self.source.place(value.span()), message).into()
    }

    /// The same, of what options would have been told.
    fn printed<T>(&self, value: &Spanned<T>, error: &PrintedError) -> WorkloadFileError {
        match error {
            PrintedError::Check(source) => self.at(value, source.to_string()),
            other => self.at(value, other.to_string()),
        }
    }
}

/// What a figure without exactly one way to find it is told.
const ONE_WAY: &str = "a figure needs exactly one of 'regex', 'json' and 'csv'";

#[cfg(test)]
mod tests;
