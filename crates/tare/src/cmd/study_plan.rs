//! `tare plan STUDY`: the chapters of a study, its blueprint, its cells, what
//! it takes, and what is missing for it here.

use super::plan::foresee;
use super::root_image::{self, Unmade};
use super::{Asked, plan_words, study};
use crate::args::PlanArgs;
use crate::out;
use std::path::Path;
use std::process::ExitCode;
use tare_lab::preflight::Platforms;
use tare_lab::printed_plan::{self, OfTemplate, PrintedPlan};
use tare_model::host::HostFacts;
use tare_model::metric::Metric;
use tare_model::study::{BoxKind, Study, Workload};
use tare_model::template::{Chapter, Feature, LeftOut, Missing, Template};
use tare_study::plan;
use tare_study::study_file::{self, Brief};

/// Lists the studies that ship.
pub(super) fn list(json: bool) -> anyhow::Result<ExitCode> {
    let shipped = study_file::list()?;
    if json {
        out::print_json(&shipped)?;
    } else {
        let line = |study: &Brief| {
            let small = if study.small { "; has a small size" } else { "" };
            out::wrapped(study.name, 19, &format!("{}{small}", study.title))
        };
        out::print(&shipped.studies.iter().map(line).collect::<String>())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the plan of a study.
pub(super) fn run(name: &str, args: &PlanArgs, facts: &HostFacts, state: &Path) -> anyhow::Result<ExitCode> {
    let sketch = study::sketch(name, &Asked::of(&args.study), facts, state, Unmade::Leave)?;
    let (study, unmade) = (sketch.study, sketch.unmade.as_deref());
    let image = root_image::of(&study, state)?;
    let (platforms, absent) = Platforms::open_present(&study.platforms, state)?;
    let platforms = platforms.with_image(image)?;
    let room = platforms.room();
    let cost = plan::cost(&study, room, |kind| platforms.cost(kind));
    let left_out = study.template.iter().flat_map(|t| &t.left_out);
    let mut missing: Vec<String> = left_out
        .map(|item| format!("{} {}: {}", item.what, item.name, item.why))
        .collect();
    let mut stops: Vec<String> = absent.iter().map(ToString::to_string).collect();
    stops.extend(
        platforms
            .check_limits(&study)
            .err()
            .map(|limited| limited.to_string()),
    );
    stops.extend(sketch.misfits.iter().map(ToString::to_string));
    let mut blueprint = blueprint(&study);
    let foreseen = foresee(&platforms, &study, unmade);
    if args.json {
        missing.extend(stops);
        let template = OfTemplate {
            blueprint: blueprint.iter().map(Layer::printed).collect(),
            missing,
        };
        let printed = PrintedPlan::new(&study, cost, room, &foreseen, unmade);
        out::print_json(&printed.of_template(template))?;
        return Ok(ExitCode::SUCCESS);
    }
    blueprint.retain(|layer| study.setting(&layer.workload).is_none_or(|place| place == 0));
    let mut page = Page::default();
    if let Some(template) = &study.template {
        page.chapters(template, &study, &blueprint);
    }
    page.heading("what it takes");
    page.text += &plan_words::text(&study, &cost, room, &foreseen, unmade);
    if !stops.is_empty() {
        page.heading("'tare run' refuses to start until this is fixed or omitted");
    }
    for item in &stops {
        page.paragraph("- ", item);
    }
    page.heading("missing here");
    for item in &missing {
        page.paragraph("- ", item);
    }
    if missing.is_empty() {
        page.paragraph("", "nothing");
    }
    out::print(&page.text)?;
    Ok(ExitCode::SUCCESS)
}

/// One row of the blueprint: a workload, the resource that it shows, the capacity of it.
struct Layer {
    workload: String,
    feature: Option<Feature>,
    metrics: Vec<Metric>,
    missing: Option<LeftOut>,
}

impl Layer {
    fn printed(&self) -> printed_plan::Layer {
        printed_plan::Layer {
            workload: self.workload.clone(),
            resource: self.feature.map(|f| f.property),
            capacity: self.feature.map(|f| f.capacity),
            metrics: self.metrics.iter().map(|m| m.name.clone()).collect(),
            available: self.missing.is_none(),
        }
    }

    /// Its metrics in words. Of a command that prints figures these: what it used besides is the
    /// same for all and would fill the page.
    fn metrics_in_words(&self) -> String {
        let names = |chosen: &dyn Fn(&&Metric) -> bool| {
            let chosen = self.metrics.iter().filter(chosen);
            chosen.map(|m| m.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let printed = names(&|m| m.is_printed());
        if printed.is_empty() {
            return names(&|_| true);
        }
        printed
    }
}

/// The layers workload, resource and capacity, after li2018's figure.
fn blueprint(study: &Study) -> Vec<Layer> {
    let here = study.workloads.iter().map(|workload: &Workload| Layer {
        workload: workload.name().to_owned(),
        feature: workload.feature,
        metrics: workload.metrics(),
        missing: None,
    });
    let left_out = study.template.iter().flat_map(|t| &t.left_out);
    let absent = left_out
        .filter(|item| item.what == Missing::Workload)
        .map(|item| Layer {
            workload: item.name.clone(),
            feature: item.feature,
            metrics: Vec::new(),
            missing: Some(item.clone()),
        });
    here.chain(absent).collect()
}

/// Text as wide as the terminal.
#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn heading(&mut self, name: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text += name;
        self.text.push('\n');
    }

    /// Words in lines, the first behind a mark.
    fn paragraph(&mut self, mark: &str, words: &str) {
        self.text += &out::wrapped(&format!("  {mark}"), 2 + mark.len(), words);
    }

    fn chapters(&mut self, template: &Template, study: &Study, blueprint: &[Layer]) {
        let size = if template.small { ", small size" } else { "" };
        self.text += &out::wrapped("", 0, &template.title);
        self.text += &out::wrapped("", 0, &format!("({}{size})", template.source));
        for chapter in Chapter::ALL {
            let before = self.text.len();
            self.heading(chapter.name());
            let heading_ends = self.text.len();
            if let Some(text) = template.texts.get(&chapter) {
                self.paragraph("", text);
            }
            match chapter {
                Chapter::Requirement => template.questions.iter().for_each(|q| self.paragraph("- ", q)),
                Chapter::Features => self.features(template, blueprint),
                Chapter::Metrics => self.blueprint(blueprint),
                Chapter::Design => self.cells(study, blueprint),
                Chapter::Analysis => {
                    let margin = 100.0 * study.protocol.margin;
                    self.paragraph(
                        "",
                        &format!("95 % intervals; equal within a margin of {margin} %"),
                    );
                }
                Chapter::Factors | Chapter::Implementation | Chapter::Conclusion => {}
            }
            if self.text.len() == heading_ends {
                self.text.truncate(before);
            }
        }
    }

    fn features(&mut self, template: &Template, blueprint: &[Layer]) {
        for feature in &template.features {
            let shown = |l: &&Layer| l.feature == Some(*feature);
            let by: Vec<String> = blueprint
                .iter()
                .filter(shown)
                .map(|l| l.workload.clone())
                .collect();
            let by = if by.is_empty() {
                "no workload of the study measures it".to_owned()
            } else {
                by.join(", ")
            };
            self.paragraph("- ", &format!("{feature}: {by}"));
        }
    }

    fn blueprint(&mut self, layers: &[Layer]) {
        let longest = layers.iter().map(|l| l.workload.chars().count()).max();
        let width = longest.unwrap_or(0).max("workload".len()) + 2;
        let row = |workload: &str, resource: &str, capacity: &str, metrics: &str| {
            out::one_line(&format!(
                "  {workload:<width$}{resource:<15}{capacity:<19}{metrics}"
            )) + "\n"
        };
        self.text += &row("workload", "resource", "capacity", "metrics");
        for layer in layers {
            let (resource, capacity) = match layer.feature {
                Some(feature) => (feature.property.name(), feature.capacity.name()),
                None => ("", ""),
            };
            let metrics = match layer.missing {
                Some(_) => "not available".to_owned(),
                None => layer.metrics_in_words(),
            };
            self.text += &row(&layer.workload, resource, capacity, &metrics);
        }
    }

    /// The cells, those of boxes with the same workloads together; what is missing in brackets,
    /// where it would be in every kind.
    fn cells(&mut self, study: &Study, blueprint: &[Layer]) {
        let missing = blueprint
            .iter()
            .filter(|l| l.missing.is_some() && study.listed.is_empty())
            .map(|l| format!("[{}]", l.workload));
        let missing: Vec<String> = missing.collect();
        let of = |kind: &BoxKind| {
            let cells = study.cells_of(kind);
            let names = study.together(cells.iter().map(|cell| cell.workload.as_str()));
            names
                .into_iter()
                .chain(missing.iter().cloned())
                .collect::<Vec<_>>()
        };
        let kinds = study.box_kinds();
        for alike in kinds.chunk_by(|one, next| of(one) == of(next)) {
            let names: Vec<String> = alike.iter().map(ToString::to_string).collect();
            let words = format!("{}: {}", names.join(", "), of(&alike[0]).join(", "));
            self.paragraph("", &words);
        }
    }
}
