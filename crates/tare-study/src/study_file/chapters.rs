//! The chapters of a study, one after another.

use super::Places;
use crate::design::{Base, Cells, Concern, Levels, Programs, StudyRequest};
use crate::workload_file::full_name;
use std::collections::BTreeMap;
use tare_model::template::{Capacity, Chapter, Feature, Missing, Property, Template};
use tare_toml::{Keys, Node, TomlError};

/// What is read so far.
pub(super) struct Draft {
    pub wishes: StudyRequest,
    pub places: Places,
    pub template: Template,
}

/// The keys of a study.
const TOP: [&str; 15] = [
    "title",
    "include",
    "requirement",
    "features",
    "image",
    "workload",
    "effect",
    "tuning",
    "metrics",
    "factors",
    "design",
    "protocol",
    "analysis",
    "conclusion",
    "small",
];

/// Reads the whole study.
pub(super) fn read(tree: &Node, programs: &Programs) -> Result<(StudyRequest, Places), TomlError> {
    let top = Keys::of(tree, "", &TOP)?;
    let title = top
        .needed("title", "\"what the study asks\"")?
        .text("title", "\"what the study asks\"")?;
    let mut draft = Draft {
        wishes: StudyRequest {
            programs: programs.clone(),
            ..StudyRequest::default()
        },
        places: Places::new(),
        template: Template {
            source: String::new(),
            small: false,
            title: title.to_owned(),
            questions: Vec::new(),
            features: Vec::new(),
            texts: BTreeMap::new(),
            left_out: Vec::new(),
        },
    };
    if let Some(node) = top.get("requirement") {
        draft.requirement(node)?;
    }
    if let Some(node) = top.get("features") {
        draft.features(node)?;
    }
    if let Some(node) = top.get("metrics") {
        draft.words_only(node, "[metrics]", Chapter::Metrics)?;
    }
    if let Some(node) = top.get("image") {
        draft.note(("image", None), node);
        draft.wishes.image_name = Some(node.text("image", "\"micro\"")?.to_owned());
    }
    if let Some(node) = top.get("workload") {
        draft.workloads(node)?;
    }
    if let Some(node) = top.get("effect") {
        draft.effects(node)?;
    }
    if let Some(node) = top.get("tuning") {
        draft.tuning(node)?;
    }
    if let Some(node) = top.get("factors") {
        draft.factors(node)?;
    }
    if let Some(node) = top.get("design") {
        draft.design(node)?;
    }
    if let Some(node) = top.get("protocol") {
        draft.protocol(node)?;
    }
    if let Some(node) = top.get("analysis") {
        draft.analysis(node)?;
    }
    if let Some(node) = top.get("conclusion") {
        draft.words_only(node, "[conclusion]", Chapter::Conclusion)?;
    }
    draft.wishes.template = Some(Box::new(draft.template));
    Ok((draft.wishes, draft.places))
}

impl Draft {
    /// Notes where something stands.
    pub(super) fn note(&mut self, concern: Concern, node: &Node) {
        self.places.insert(concern, node.place.clone());
    }

    /// Keeps what a chapter says in words.
    pub(super) fn words(&mut self, keys: Keys<'_>, chapter: Chapter) -> Result<(), TomlError> {
        if let Some(node) = keys.get("text") {
            let text = node.text("text", "\"...\"")?.trim().to_owned();
            self.template.texts.insert(chapter, text);
        }
        Ok(())
    }

    fn words_only(&mut self, node: &Node, name: &str, chapter: Chapter) -> Result<(), TomlError> {
        self.words(Keys::of(node, name, &["text"])?, chapter)
    }

    fn requirement(&mut self, node: &Node) -> Result<(), TomlError> {
        let keys = Keys::of(node, "[requirement]", &["text", "questions"])?;
        self.words(keys, Chapter::Requirement)?;
        if let Some(node) = keys.get("questions") {
            self.template.questions = node.texts("questions", "[\"what does ... cost?\"]")?;
        }
        Ok(())
    }

    fn features(&mut self, node: &Node) -> Result<(), TomlError> {
        let names = Property::ALL.map(Property::name);
        let known: Vec<&str> = ["text"].into_iter().chain(names).collect();
        let keys = Keys::of(node, "[features]", &known)?;
        self.words(keys, Chapter::Features)?;
        let capacities = Capacity::ALL.map(|c| (c.name(), c));
        for property in Property::ALL {
            let Some(node) = keys.get(property.name()) else {
                continue;
            };
            for item in node.list(property.name(), "[\"throughput\"]")? {
                let capacity = item.choice(property.name(), &capacities)?;
                self.template.features.push(Feature { property, capacity });
            }
        }
        Ok(())
    }

    fn design(&mut self, node: &Node) -> Result<(), TomlError> {
        #[derive(Clone, Copy, PartialEq)]
        enum Kind {
            Full,
            OneAtATime,
            Cells,
        }
        let keys = Keys::of(node, "[design]", &["text", "kind", "base", "cells"])?;
        self.words(keys, Chapter::Design)?;
        let kinds = [
            ("full", Kind::Full),
            ("one-at-a-time", Kind::OneAtATime),
            ("cells", Kind::Cells),
        ];
        let kind = match keys.get("kind") {
            Some(node) => node.choice("kind", &kinds)?,
            None => Kind::Full,
        };
        for (key, of, name) in [
            ("base", Kind::OneAtATime, "one-at-a-time"),
            ("cells", Kind::Cells, "cells"),
        ] {
            if let Some(place) = keys.key_place(key).filter(|_| kind != of) {
                return Err(TomlError::at(
                    place,
                    format!("'{key}' belongs to another design: write kind = \"{name}\", or omit '{key}'"),
                ));
            }
        }
        match kind {
            Kind::Full => {}
            Kind::OneAtATime => {
                let base = keys.needed("base", "{ platform = \"docker\" }")?;
                self.note(("base", None), base);
                self.wishes.cells = Cells::OneAtATime(base_of(base)?);
            }
            Kind::Cells => {
                let cells = keys.needed("cells", "[{ platform = \"docker\" }]")?;
                self.note(("cells", None), cells);
                self.cells(cells)?;
            }
        }
        Ok(())
    }

    /// Cells of what tare does not have are left out with it.
    fn cells(&mut self, node: &Node) -> Result<(), TomlError> {
        let mut list = Vec::new();
        for item in node.list("cells", "[{ platform = \"docker\" }]")? {
            let mut levels = levels_of(item)?;
            let has = |left: &mut Vec<String>, what| {
                let before = left.len();
                let template = &self.template;
                left.retain(|name| {
                    !template
                        .left_out
                        .iter()
                        .any(|l| l.what == what && l.name == *name)
                });
                before == 0 || !left.is_empty()
            };
            let platforms = has(&mut levels.platform, Missing::Platform);
            let workloads = has(&mut levels.workload, Missing::Workload);
            if platforms && workloads {
                self.places
                    .insert(("cells", Some(list.len())), item.place.clone());
                list.push(levels);
            }
        }
        self.wishes.cells = Cells::List(list);
        Ok(())
    }

    fn analysis(&mut self, node: &Node) -> Result<(), TomlError> {
        let keys = Keys::of(node, "[analysis]", &["text", "margin", "confidence"])?;
        self.words(keys, Chapter::Analysis)?;
        if let Some(node) = keys.get("margin") {
            self.note(("margin", None), node);
            self.wishes.protocol.margin_percent = Some(node.number("margin", "1.0")?);
        }
        if let Some(node) = keys.get("confidence") {
            let confidence = node.number("confidence", "0.95")?;
            // The looks, Holm's correction and what is simulated of them hold at 95 %.
            if (confidence - 0.95).abs() > 1e-9 {
                return Err(TomlError::at(
                    &node.place,
                    format!(
                        "'confidence' is {}: all intervals and verdicts of tare use 95 %; write confidence = 0.95 or omit it",
                        node.place.snippet()
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// The factors of a cell.
const CELL: [&str; 4] = ["platform", "provisioning", "instance", "workload"];

fn base_of(node: &Node) -> Result<Base, TomlError> {
    let keys = Keys::of(node, "[design.base]", &CELL)?;
    let level = |key| {
        let node: Option<&Node> = keys.get(key);
        node.map(|n| n.text(key, "\"...\"").map(str::to_owned))
            .transpose()
    };
    Ok(Base {
        platform: level("platform")?,
        provisioning: level("provisioning")?,
        instance: level("instance")?,
        workload: level("workload")?.map(|name| full_name(&name)),
    })
}

fn levels_of(node: &Node) -> Result<Levels, TomlError> {
    let keys = Keys::of(node, "[[design.cells]]", &CELL)?;
    let levels = |key| -> Result<Vec<String>, TomlError> {
        let Some(node) = keys.get(key) else {
            return Ok(Vec::new());
        };
        let items = node.one_or_more(key, "[\"...\"]")?;
        let text = |item: &Node| item.text(key, "\"...\"").map(str::to_owned);
        items.iter().map(text).collect()
    };
    Ok(Levels {
        platform: levels("platform")?,
        provisioning: levels("provisioning")?,
        instance: levels("instance")?,
        workload: levels("workload")?.iter().map(|name| full_name(name)).collect(),
    })
}
