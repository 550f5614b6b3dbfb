//! What is varied: platforms, provisioning, sizes of boxes.

use super::chapters::Draft;
use std::path::Path;
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::size::{self, parse_instance};
use tare_model::template::{Chapter, LeftOut, Missing};
use tare_platforms::{OPTION_FACTORS, OptionFactor};
use tare_toml::{Keys, Node, TomlError, Value};

impl Draft {
    pub(super) fn factors(&mut self, node: &Node) -> Result<(), TomlError> {
        let own = [
            "text",
            "platforms",
            "baseline",
            "provisioning",
            "instances",
            "cpus",
            "memory",
        ];
        let options = OPTION_FACTORS.iter().map(|factor| factor.name);
        let known: Vec<&str> = own.into_iter().chain(options).collect();
        let keys = Keys::of(node, "[factors]", &known)?;
        self.words(keys, Chapter::Factors)?;
        if let Some(node) = keys.get("platforms") {
            self.platforms(node)?;
        }
        if let Some(node) = keys.get("baseline") {
            self.note(("baseline", None), node);
            let name = node.text("baseline", "\"native\"")?;
            platform(name, node)?;
            if keys.get("platforms").is_none() {
                let message = "'baseline' needs 'platforms' to compare with it: add them";
                return Err(TomlError::at(&node.place, message));
            }
            self.wishes.baseline = Some(name.to_owned());
        }
        for factor in &OPTION_FACTORS {
            if let Some(node) = keys.get(factor.name) {
                self.levels(factor, node)?;
            }
        }
        if let Some(node) = keys.get("provisioning") {
            self.note(("provisioning", None), node);
            let choices = Provisioning::ALL.map(|p| (p.to_string(), p));
            let choices: Vec<(&str, Provisioning)> = choices.iter().map(|(n, p)| (n.as_str(), *p)).collect();
            let items = node.one_or_more("provisioning", "[\"vanilla\"]")?;
            for (i, item) in items.iter().enumerate() {
                self.note(("provisioning", Some(i)), item);
                self.wishes
                    .provisioning
                    .push(item.choice("provisioning", &choices)?);
            }
        }
        if let Some(node) = keys.get("instances") {
            self.instances(node)?;
        }
        if let Some(node) = keys.get("cpus") {
            self.note(("cpus", None), node);
            self.wishes.cpus = Some(node.read("cpus", "2", str::parse)?);
        }
        if let Some(node) = keys.get("memory") {
            self.note(("memory", None), node);
            self.wishes.memory_bytes = Some(node.read("memory", "\"2G\"", size::parse_memory)?);
        }
        Ok(())
    }

    /// Levels of an option of platforms.
    fn levels(&mut self, factor: &OptionFactor, node: &Node) -> Result<(), TomlError> {
        let choices: Vec<(&str, &str)> = factor.levels.iter().map(|level| (*level, *level)).collect();
        let example = format!("[\"{}\"]", factor.levels.join("\", \""));
        let items = node.one_or_more(factor.name, &example)?.iter();
        let levels = items.map(|item| item.choice(factor.name, &choices).map(str::to_owned));
        let levels = levels.collect::<Result<_, _>>()?;
        self.wishes.levels.insert(factor.option, levels);
        Ok(())
    }

    fn platforms(&mut self, node: &Node) -> Result<(), TomlError> {
        self.note(("platforms", None), node);
        for item in node.list("platforms", "[\"native\", \"docker\"]")? {
            let name = item.text("platforms", "[\"native\", \"docker\"]")?;
            if let Some(why) = tare_platforms::elsewhere(name) {
                self.template.left_out.push(LeftOut {
                    what: Missing::Platform,
                    name: name.to_owned(),
                    feature: None,
                    why: why.to_owned(),
                });
                continue;
            }
            platform(name, item)?;
            let index = self.wishes.platforms.len();
            self.note(("platforms", Some(index)), item);
            self.wishes.platforms.push(name.to_owned());
        }
        if self.wishes.platforms.is_empty() {
            return Err(TomlError::at(
                &node.place,
                "'platforms' lists only unknown platforms: add a known one, such as \"native\"",
            ));
        }
        Ok(())
    }

    fn instances(&mut self, node: &Node) -> Result<(), TomlError> {
        self.note(("instances", None), node);
        for (i, item) in node.list("instances", "[\"large\"]")?.iter().enumerate() {
            let text = match item.value {
                Value::Table(_) => own_instance(item)?,
                _ => item.text("instances", "[\"large\"]")?.to_owned(),
            };
            parse_instance(&text).map_err(|e| TomlError::at(&item.place, e.to_string()))?;
            self.note(("instances", Some(i)), item);
            self.wishes.instances.push(text);
        }
        Ok(())
    }
}

/// `{ name = "small", cpus = 1, memory = "2G" }`, as `small=1:2G`; with `host_cpus = 4` as
/// `small=1:2G:4`.
fn own_instance(node: &Node) -> Result<String, TomlError> {
    let keys = Keys::of(node, "an instance type", &["name", "cpus", "memory", "host_cpus"])?;
    let name = keys.needed("name", "\"small\"")?.text("name", "\"small\"")?;
    let cpus = keys.needed("cpus", "1")?.word("cpus", "1")?;
    let memory = keys.needed("memory", "\"2G\"")?.word("memory", "\"2G\"")?;
    let host = match keys.get("host_cpus") {
        Some(node) => format!(":{}", node.whole("host_cpus", "4")?),
        None => String::new(),
    };
    Ok(format!("{name}={cpus}:{memory}{host}"))
}

/// Checks that there is such a platform with such options, without touching anything.
fn platform(name: &str, node: &Node) -> Result<(), TomlError> {
    let wrong = |message: String| TomlError::at(&node.place, message);
    let path: PlatformPath = name
        .parse()
        .map_err(|e: tare_model::platform::PlatformPathError| wrong(e.to_string()))?;
    match tare_platforms::open(&path, Path::new("")) {
        Ok(_) => Ok(()),
        Err(error) => Err(wrong(error.to_string())),
    }
}
