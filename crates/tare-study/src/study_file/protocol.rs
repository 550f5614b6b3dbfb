//! How trials are run, and when there are enough.

use super::chapters::Draft;
use crate::design::{BLOCKS, BLOCKS_IN_WORDS};
use tare_model::size::{self, SizeError};
use tare_model::study::{Fresh, Slicing};
use tare_model::template::Chapter;
use tare_toml::{Keys, Node, TomlError};

const KNOWN: [&str; 16] = [
    "text",
    "blocks",
    "duration",
    "adaptive",
    "precision",
    "evidence",
    "budget",
    "warm_up",
    "pause",
    "fresh",
    "slices",
    "trial_time",
    "timeout",
    "settle",
    "seed",
    "isa",
];

impl Draft {
    pub(super) fn protocol(&mut self, node: &Node) -> Result<(), TomlError> {
        let keys = Keys::of(node, "[protocol]", &KNOWN)?;
        self.words(keys, Chapter::Implementation)?;
        self.amount(keys)?;
        let time = |key| {
            let node: Option<&Node> = keys.get(key);
            node.map(|n| n.read(key, "\"30s\"", seconds_or_none)).transpose()
        };
        let some_time = |key| {
            let node: Option<&Node> = keys.get(key);
            node.map(|n| n.read(key, "\"30s\"", size::parse_seconds))
                .transpose()
        };
        self.wishes.protocol.warm_up_seconds = time("warm_up")?;
        self.wishes.protocol.pause_seconds = time("pause")?;
        if let Some(node) = keys.get("timeout") {
            self.note(("timeout", None), node);
            self.wishes.protocol.timeout_seconds = some_time("timeout")?;
        }
        if let Some(node) = keys.get("trial_time") {
            self.note(("trial_time", None), node);
            self.wishes.protocol.trial_seconds = time("trial_time")?;
        }
        if let Some(node) = keys.get("fresh") {
            let choices = [
                ("trial", Fresh::Trial),
                ("block", Fresh::Block),
                ("study", Fresh::Study),
            ];
            self.wishes.protocol.fresh = Some(node.choice("fresh", &choices)?);
        }
        if let Some(node) = keys.get("slices") {
            self.note(("slices", None), node);
            self.wishes.protocol.slicing = Some(node.read("slices", "\"10ms\"", str::parse::<Slicing>)?);
        }
        if let Some(node) = keys.get("settle") {
            self.wishes.protocol.settle = Some(node.boolean("settle")?);
        }
        if let Some(node) = keys.get("evidence") {
            self.wishes.protocol.evidence = Some(node.boolean("evidence")?);
        }
        if let Some(node) = keys.get("seed") {
            self.wishes.protocol.seed = Some(node.whole("seed", "42")?);
        }
        if let Some(node) = keys.get("isa") {
            self.wishes.isa = Some(node.read("isa", "\"baseline\"", str::parse)?);
        }
        Ok(())
    }

    /// Blocks, a duration, or as many as it takes.
    fn amount(&mut self, keys: Keys<'_>) -> Result<(), TomlError> {
        if let Some(node) = keys.get("adaptive") {
            self.note(("adaptive", None), node);
            self.wishes.protocol.adaptive = Some(node.boolean("adaptive")?);
        }
        if let Some(node) = keys.get("precision") {
            self.note(("precision", None), node);
            if self.wishes.protocol.adaptive == Some(false) {
                let message = "'precision' ends cells by looks at the data, which 'adaptive = false' forbids: omit one of them";
                return Err(TomlError::at(&node.place, message.to_owned()));
            }
            self.wishes.protocol.precision_percent = Some(node.number("precision", "0.5")?);
        }
        if let Some(node) = keys.get("blocks") {
            self.note(("blocks", None), node);
            let blocks = node.whole("blocks", "20")?;
            let blocks = u32::try_from(blocks).map_err(|_| {
                let message = format!("blocks is {blocks}: give {BLOCKS_IN_WORDS}");
                TomlError::at(&node.place, message)
            })?;
            self.wishes.protocol.blocks = Some(blocks);
        }
        if let Some(node) = keys.get("budget") {
            self.wishes.protocol.budget_seconds = Some(node.read("budget", "\"1h\"", size::parse_seconds)?);
        }
        let Some(node) = keys.get("duration") else {
            return Ok(());
        };
        let other = ["blocks", "budget", "adaptive", "precision"]
            .into_iter()
            .find(|key| keys.get(key).is_some());
        if let Some(other) = other {
            return Err(TomlError::at(
                &node.place,
                format!("'duration' and '{other}' both say how long to run blocks: omit one of them"),
            ));
        }
        self.note(("blocks", None), node);
        self.wishes.protocol.budget_seconds = Some(node.read("duration", "\"24h\"", size::parse_seconds)?);
        self.wishes.protocol.blocks = Some(*BLOCKS.end());
        Ok(())
    }
}

fn seconds_or_none(text: &str) -> Result<f64, SizeError> {
    if text == "0" {
        Ok(0.0)
    } else {
        size::parse_seconds(text)
    }
}
