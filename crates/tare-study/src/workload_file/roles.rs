//! The servers of a workload file: `[[role]]`.

use super::file::{CountText, File, LivesText, PlaceText, ReadyText, RoleText};
use super::{Reader, WorkloadFileError};
use crate::addresses::{AddressPart, Blank, blanks, is_name};
use crate::command::CommandWish;
use crate::extract;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use tare_model::suggest;
use tare_model::workload::{COMMAND, Place, Ready};
use tare_toml::Spanned;

/// A server that a command talks to.
#[derive(Debug, Clone)]
pub struct RoleWish {
    pub name: String,
    /// Where it runs.
    pub place: Place,
    /// How many of it there are, by numbered names; absent: one, that bears its name.
    pub count: Option<u32>,
    /// Whether it stays from trial to trial of a block.
    pub stands: bool,
    /// What is run.
    pub command: CommandWish,
    /// How it tells that it serves.
    pub ready: Ready,
}

/// Most roles of a kind: far more than one host bears.
const MOST: u32 = 50;

impl RoleWish {
    /// The roles that it stands for, each with its name.
    pub fn each(&self) -> impl Iterator<Item = (String, Option<String>)> {
        let numbers = self.count.map_or(0..=0, |count| 1..=count);
        numbers.map(|number| match number {
            0 => (self.name.clone(), None),
            _ => (format!("{}-{number}", self.name), Some(self.name.clone())),
        })
    }
}

impl From<PlaceText> for Place {
    fn from(place: PlaceText) -> Self {
        match place {
            PlaceText::Tested => Self::Tested,
            PlaceText::Outside => Self::Outside,
            PlaceText::Apart => Self::Apart,
        }
    }
}

/// Which servers the words of a process can name.
pub(super) struct Scope<'a> {
    /// The server whose words these are; `None`: the command's.
    own: Option<&'a str>,
    /// Those that serve by then.
    started: &'a [&'a str],
    /// All of the file.
    all: &'a [&'a str],
    /// Those of which there are several.
    several: &'a [&'a str],
}

impl<'a> Scope<'a> {
    /// That of the command, with which all serve.
    pub(super) const fn of_command(all: &'a [&'a str], several: &'a [&'a str]) -> Self {
        Self {
            own: None,
            started: all,
            all,
            several,
        }
    }

    /// That of what runs before the servers and behind them.
    pub(super) const fn without_servers(all: &'a [&'a str]) -> Self {
        Self {
            own: None,
            started: &[],
            all,
            several: &[],
        }
    }

    /// Whether these words between braces are about a server. Without servers they are those of
    /// a script.
    pub(super) fn takes(&self, words: &str) -> bool {
        !self.all.is_empty() && (Blank::of(words).is_some() || self.meant(words).is_some())
    }

    /// What of a server is meant by words that are nearly that.
    fn meant(&self, words: &str) -> Option<&'static str> {
        let (role, part) = words.split_once('.')?;
        let near = suggest::nearest(part, &AddressPart::NAMES);
        near.filter(|_| self.all.contains(&role))
    }

    /// What is none of these parameters, as it stands: it is filled when the servers serve. The
    /// error says why that cannot be.
    pub(super) fn kept(&self, words: &str, parameters: &BTreeMap<String, String>) -> Result<String, String> {
        let blank = Blank::of(words).filter(|_| self.takes(words));
        let Some(blank) = blank else {
            if let Some(meant) = self.meant(words) {
                return Err(format!(
                    "a server has address, port, addresses and endpoints, but no '{{{words}}}': did you mean '{meant}'?"
                ));
            }
            let parameters = parameters.keys().map(String::as_str);
            return Err(self.no_parameter(words, &parameters.collect::<Vec<_>>()));
        };
        match (blank.role, self.own) {
            (None, Some(_)) => Ok(format!("{{{words}}}")),
            (None, None) => Err(format!(
                "'{{{words}}}' is for the words of a server; in the command, refer to one, as in '{{{}.{words}}}'",
                self.all[0]
            )),
            (Some(name), Some(own)) if name == own => {
                let part = match blank.part.is_of_several() {
                    true => "{address}' or '{port}".to_owned(),
                    false => format!("{{{}}}", words.rsplit('.').next().unwrap_or_default()),
                };
                Err(format!("'{{{words}}}' is of the server itself: write '{part}'"))
            }
            (Some(name), _) if self.several.contains(&name) && !blank.part.is_of_several() => Err(format!(
                "'{{{words}}}' is of one server, and '{name}' has a count: write '{{{name}.addresses}}' or '{{{name}.endpoints}}'"
            )),
            (Some(name), _) if self.started.contains(&name) => Ok(format!("{{{words}}}")),
            (Some(name), None) if self.all.contains(&name) => Err(format!(
                "'{{{words}}}' is of a server, and setup and teardown run without servers: put it into argv"
            )),
            (Some(name), Some(_)) if self.all.contains(&name) => Err(format!(
                "'{{{words}}}' is of a server that is started later: put [[role]] {name} before this one"
            )),
            (Some(name), _) => Err(format!(
                "'{{{words}}}' is of no role: {}",
                suggest::among(name, self.all, "the roles")
            )),
        }
    }

    fn no_parameter(&self, words: &str, parameters: &[&str]) -> String {
        let own: &[&str] = self.own.map_or(&[], |_| &["address", "port"]);
        let advice = match suggest::nearest(words, &[parameters, own].concat()) {
            Some(near) => format!("did you mean '{{{near}}}'?"),
            None => format!("add [parameters] {words} = {{ about, small, paper }}"),
        };
        format!("'{{{words}}}' is not a parameter: {advice}")
    }
}

fn twice(name: &str) -> String {
    format!("the role '{name}' already exists: give each its own name")
}

fn stands(role: &RoleText) -> bool {
    let lives = role.lives.as_ref();
    lives.is_some_and(|lives| *lives.get_ref() == LivesText::Block)
}

/// The names of the roles of a file of which there may be several.
pub(super) fn several(file: &File) -> Vec<&str> {
    let roles = file.roles.iter().map(Spanned::get_ref);
    let several = roles.filter(|role| role.count.is_some());
    several.map(|role| role.name.get_ref().as_str()).collect()
}

impl Reader<'_> {
    /// The servers of a file, in their order.
    pub(super) fn roles(&self, file: &File) -> Result<Vec<RoleWish>, WorkloadFileError> {
        let names: Vec<&str> = file
            .roles
            .iter()
            .map(|role| role.get_ref().name.get_ref().as_str())
            .collect();
        let several = several(file);
        let mut taken = BTreeSet::new();
        let mut roles = Vec::new();
        for (i, role) in file.roles.iter().enumerate() {
            let text = role.get_ref();
            self.fits_as_name(&text.name, &names[..i])?;
            let scope = Scope {
                own: Some(names[i]),
                started: &names[..i],
                all: &names,
                several: &several,
            };
            let read = self.role(file, role, &scope)?;
            if let Some((name, _)) = read.each().find(|(name, _)| !taken.insert(name.clone())) {
                return Err(self.at(&text.name, twice(&name)));
            }
            self.outlives_none(text, &read, &roles)?;
            roles.push(read);
        }
        let own = |part: &str| file.parameters.contains_key(part);
        if let (Some(first), Some(part)) = (
            file.roles.first(),
            ["address", "port"].into_iter().find(|p| own(p)),
        ) {
            let message = format!("'{{{part}}}' belongs to a role: rename the parameter '{part}'");
            return Err(self.at(first, message));
        }
        let places = file.roles.iter().map(|role| role.get_ref().place);
        let mut places = places.chain([file.command.get_ref().place()]);
        if !places.any(|place| place == PlaceText::Tested) {
            let message = "nothing runs in the box: give the command or a role place = \"tested\"";
            return Err(self.at(&file.command, message));
        }
        Ok(roles)
    }

    /// A server that stays has no use for one that is new for each trial.
    fn outlives_none(
        &self,
        text: &RoleText,
        role: &RoleWish,
        before: &[RoleWish],
    ) -> Result<(), WorkloadFileError> {
        let asked = match &role.ready {
            Ready::Command(argv) => &argv[..],
            _ => &[],
        };
        let mut blanks = role
            .command
            .argv
            .iter()
            .chain(&role.command.env)
            .chain(asked)
            .flat_map(|word| blanks(word));
        let short = blanks.find_map(|blank| {
            let named = |other: &&RoleWish| Some(&*other.name) == blank.role && !other.stands;
            before.iter().find(named)
        });
        match (short, &text.lives) {
            (Some(short), Some(lives)) if role.stands => {
                let message = format!(
                    "'{}' stays from trial to trial, and '{}', which it talks to, does not: give that lives = \"block\" too",
                    role.name, short.name
                );
                Err(self.at(lives, message))
            }
            _ => Ok(()),
        }
    }

    fn fits_as_name(&self, name: &Spanned<String>, before: &[&str]) -> Result<(), WorkloadFileError> {
        let text = name.get_ref().as_str();
        let message = if !is_name(text) {
            format!("'{text}' is not a role name: use letters, digits and dashes, such as server")
        } else if text == COMMAND {
            format!("'{COMMAND}' is the name of [command]: rename the role, such as server")
        } else if before.contains(&text) {
            twice(text)
        } else {
            return Ok(());
        };
        Err(self.at(name, message))
    }

    fn role(
        &self,
        file: &File,
        role: &Spanned<RoleText>,
        scope: &Scope<'_>,
    ) -> Result<RoleWish, WorkloadFileError> {
        let text = role.get_ref();
        if text.argv.is_empty() {
            return Err(self.at(
                role,
                "a role needs a program: give argv = [\"PROGRAM\", \"ARGUMENT\"]",
            ));
        }
        let count = text.count.as_ref().map(|count| self.count(text, count, scope));
        let filled = |words: &[String]| self.all_filled(words, role, scope);
        let ready = self.ready(&text.ready, scope)?;
        let mut calls = filled(&text.calls)?;
        if let Ready::Command(argv) = &ready {
            calls.extend(argv.first().cloned());
        }
        Ok(RoleWish {
            name: text.name.get_ref().clone(),
            place: text.place.into(),
            count: count.transpose()?,
            stands: stands(text),
            command: CommandWish {
                load: None,
                argv: filled(&text.argv)?,
                // The file names the program itself.
                entrypoint: Some(Vec::new()),
                with: filled(&text.with)?.into_iter().map(PathBuf::from).collect(),
                with_libraries: true,
                calls,
                image_only: file.command.get_ref().load.is_some() && file.command.get_ref().image_only,
                setup: Vec::new(),
                teardown: Vec::new(),
                env: self.variables(&text.env, scope)?,
                metrics: Vec::new(),
                checks: Vec::new(),
            },
            ready,
        })
    }

    fn count(
        &self,
        role: &RoleText,
        count: &Spanned<CountText>,
        scope: &Scope<'_>,
    ) -> Result<u32, WorkloadFileError> {
        let told = match count.get_ref() {
            CountText::Number(number) => number.to_string(),
            CountText::Words(words) => self
                .all_filled(std::slice::from_ref(words), count, scope)?
                .concat(),
        };
        let number = told.parse().ok().filter(|number| (1..=MOST).contains(number));
        let message = match number {
            Some(_) if role.place != PlaceText::Apart => {
                "'count' is for boxes beside that of the cell: set place = \"apart\"".to_owned()
            }
            Some(number) => return Ok(number),
            None => format!("'{told}' is not a number of boxes: give count = 1 to {MOST}"),
        };
        Err(self.at(count, message))
    }

    fn ready(&self, ready: &Spanned<ReadyText>, scope: &Scope<'_>) -> Result<Ready, WorkloadFileError> {
        let text = ready.get_ref();
        match (&text.line, &text.tcp, &text.command) {
            (Some(line), None, None) => {
                let groups = extract::groups_of_line(line);
                match groups {
                    Ok(0 | 1) => Ok(Ready::Line(line.clone())),
                    Ok(more) => {
                        let message = format!(
                            "'{line}' has {more} groups: put only the port into a group, or use none"
                        );
                        Err(self.at(ready, message))
                    }
                    Err(e) => Err(self.at(ready, e.to_string())),
                }
            }
            (None, Some(port), None) => {
                let filled = self
                    .all_filled(std::slice::from_ref(port), ready, scope)?
                    .concat();
                if filled == "{port}" || filled.parse::<u16>().is_ok_and(|port| port > 0) {
                    return Ok(Ready::Tcp(filled));
                }
                let message = format!("'{filled}' is not a port: give tcp = \"{{port}}\", or a number");
                Err(self.at(ready, message))
            }
            (None, None, Some(argv)) if !argv.is_empty() => {
                Ok(Ready::Command(self.all_filled(argv, ready, scope)?))
            }
            _ => Err(self.at(
                ready,
                "a server needs exactly one sign that it is ready: give one of 'line', 'tcp' and 'command'",
            )),
        }
    }
}
