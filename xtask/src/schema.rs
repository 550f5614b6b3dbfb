//! `docs/schemas`: what each document in JSON holds, written from the types that are printed and stored.

use anyhow::Context;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tare_analysis::advice::Advice;
use tare_analysis::change::Change;
use tare_analysis::density::Estimated;
use tare_analysis::foreign::ForeignAnalysis;
use tare_analysis::merge::Merged;
use tare_analysis::pilot::Pilot;
use tare_analysis::trend::Trend;
use tare_analysis::why::Why;
use tare_analysis::{Analysis, Tuned, advice, change, foreign, merge, pilot, trend, why};
use tare_lab::doctor::Findings;
use tare_lab::printed_plan::PrintedPlan;
use tare_model::kernel::KernelReport;
use tare_model::results::Record;
use tare_model::workload::Workload;
use tare_model::{density, results};
use tare_platforms::Cleaned;
use tare_platforms::conformance::{self, Check};
use tare_published::{Beside, Brief, Checked, Definition, Published, WorkloadView};
use tare_report::glossary::Entry;
use tare_selftest::log::{self, Scored};
use tare_selftest::table::Table;
use tare_study::images::{PrintedImage, PrintedList, Removed};
use tare_study::workloads::Tried;
use tare_study::{study_file, workloads};

/// Writes the schemas and removes those of documents that are no more.
pub fn run() -> anyhow::Result<()> {
    let folder = folder();
    let documents = documents()?;
    std::fs::create_dir_all(&folder).with_context(|| format!("make {}", folder.display()))?;
    for name in present()?
        .into_keys()
        .filter(|name| !documents.contains_key(name))
    {
        let path = folder.join(name);
        std::fs::remove_file(&path).with_context(|| format!("remove {}", path.display()))?;
    }
    for (name, text) in documents {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
    }
    Ok(())
}

/// The folder of the schemas.
fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schemas"))
}

/// The schemas that are there: texts by names of files.
fn present() -> anyhow::Result<BTreeMap<String, String>> {
    let folder = folder();
    let entries = std::fs::read_dir(&folder).with_context(|| format!("list {}", folder.display()))?;
    let mut present = BTreeMap::new();
    for entry in entries {
        let path = entry?.path();
        let text = std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        let name = path.file_name().unwrap_or_default();
        present.insert(name.to_string_lossy().into_owned(), text);
    }
    Ok(present)
}

/// The schemas as they ought to be: texts by names of files.
fn documents() -> anyhow::Result<BTreeMap<String, String>> {
    let all = [
        stored::<Record>(results::SCHEMA),
        printed::<Analysis>(tare_analysis::SCHEMA),
        printed::<Change>(change::SCHEMA),
        printed::<Merged>(merge::SCHEMA),
        printed::<Trend>(trend::SCHEMA),
        printed::<Why>(why::SCHEMA),
        list_of::<Tuned>("tare tune", "The settings of a workload, of each kind of box."),
        printed::<Advice>(advice::SCHEMA),
        printed::<ForeignAnalysis<'_>>(foreign::SCHEMA),
        printed::<Pilot<'_>>(pilot::SCHEMA),
        printed::<Estimated<'_>>(density::SCHEMA),
        list_of::<Brief<'_>>("tare published list", "The studies, in the order of their names."),
        printed::<Published>("tare published show"),
        printed::<WorkloadView<'_>>("tare published workload"),
        printed::<Checked>("tare published check"),
        list_of::<Definition>("tare published scores", "Every score, and who defines it."),
        printed::<Beside>("tare compare --published"),
        list_of::<Entry>("tare explain", "Words and what they mean."),
        printed::<KernelReport>("tare kernel"),
        printed::<Findings>("tare doctor"),
        printed::<conformance::Report>("tare check"),
        list_of::<Check>(
            "tare check --list",
            "Every promise of platforms, in the order in which they are checked.",
        ),
        printed::<PrintedPlan<'_>>("tare plan"),
        printed::<study_file::Shipped>("tare plan --list"),
        printed::<Cleaned>("tare clean"),
        printed::<workloads::Shipped>("tare workloads list"),
        list_of::<Workload>(
            "tare workloads show",
            "The workload that was named: a list of one.",
        ),
        printed::<Tried<'_>>("tare workloads check"),
        printed::<PrintedList<'_>>("tare image list"),
        printed::<PrintedImage<'_>>("tare image show"),
        printed::<Removed<'_>>("tare image remove"),
        printed::<Table<'_>>("tare selftest coverage"),
        printed::<Scored<'_>>(log::SCHEMA),
    ];
    let texts = all.into_iter().map(|schema| {
        let title = schema
            .get("title")
            .and_then(|title| title.as_str())
            .unwrap_or_default();
        let name = title.replace("--", "").replace(['/', ' '], "-") + ".json";
        Ok((name, serde_json::to_string_pretty(&schema)? + "\n"))
    });
    texts.collect()
}

/// The schema of what is stored: it asks for no more than a reader does, as files of earlier builds lack keys.
fn stored<T: JsonSchema>(title: &str) -> Schema {
    titled::<T>(title, SchemaSettings::draft2020_12().for_deserialize())
}

/// The schema of what is printed: every key that is always there is required.
fn printed<T: JsonSchema>(title: &str) -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    titled::<T>(
        title,
        settings.with_transform(RecursiveTransform(let_figures_miss)),
    )
}

/// The schema of a list that is printed.
fn list_of<T: JsonSchema>(title: &str, description: &str) -> Schema {
    let mut schema = printed::<Vec<T>>(title);
    schema.insert("description".to_owned(), description.into());
    schema
}

fn titled<T: JsonSchema>(title: &str, settings: SchemaSettings) -> Schema {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    RecursiveTransform(let_keys_come).transform(&mut schema);
    RecursiveTransform(tell_plainly).transform(&mut schema);
    schema
}

/// A number that is none, such as a ratio to 0, is printed as null.
fn let_figures_miss(schema: &mut Schema) {
    let is_figure = schema.get("format").is_some_and(|format| format == "double");
    if is_figure && schema.get("type").is_some_and(|kind| kind == "number") {
        schema.insert("type".to_owned(), serde_json::json!(["number", "null"]));
    }
}

/// A reader bears keys that it does not know. Some types are also read from files for people, where
/// an unknown key is a mistake: that is no rule of the document.
fn let_keys_come(schema: &mut Schema) {
    for key in ["additionalProperties", "unevaluatedProperties"] {
        if schema.get(key).is_some_and(|value| value == false) {
            schema.remove(key);
        }
    }
}

/// Descriptions are the comments of the types: without the marks of links, and one paragraph a line.
fn tell_plainly(schema: &mut Schema) {
    let Some(text) = schema.get("description").and_then(|text| text.as_str()) else {
        return;
    };
    let paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
    let text = paragraphs.collect::<Vec<_>>().join("\n\n");
    let plain = text.replace("[`", "`").replace("`]", "`");
    schema.insert("description".to_owned(), plain.into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_schemas_are_what_the_types_say() {
        let (present, documents) = (present().unwrap(), documents().unwrap());
        let names: BTreeSet<&String> = present.keys().chain(documents.keys()).collect();
        let differing: Vec<&String> = names
            .into_iter()
            .filter(|name| present.get(*name) != documents.get(*name))
            .collect();
        assert!(
            differing.is_empty(),
            "in docs/schemas {differing:?} are not what the types say: write them with 'cargo run -p xtask -- schema'"
        );
    }

    #[test]
    fn every_schema_has_a_title_and_a_description() {
        for (name, text) in documents().unwrap() {
            let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
            for key in ["title", "description"] {
                assert!(
                    schema[key].as_str().is_some_and(|text| !text.is_empty()),
                    "{name}: {key}"
                );
            }
        }
    }
}
