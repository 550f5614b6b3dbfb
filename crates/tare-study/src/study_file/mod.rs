//! Study files: TOML whose chapters follow the ten steps of DoKnowMe, read into
//! the same wishes that the options of the command line make. Every error names
//! the file, the line and the column, what stands there, and what would be right.

mod chapters;
mod error;
mod factors;
mod protocol;
mod shipped;
mod source;
mod tuning;
mod workloads;

pub use error::StudyFileError;
pub use shipped::{Brief, SHIPPED, Shipped, list};

use crate::design::{self, Cells, Concern, DesignError, Programs, StudyRequest};
use std::collections::BTreeMap;
use tare_model::host::HostFacts;
use tare_model::study::Study;
use tare_model::template::Missing;
use tare_toml::{Place, TomlError};

/// Where the keys of a study stand, for errors that are found later.
type Places = BTreeMap<Concern, Place>;

/// A study file as it was read.
#[derive(Debug)]
pub struct StudyFile {
    wishes: StudyRequest,
    places: Places,
}

/// Reads a study: a file, or a shipped one by its name; `small` in its small size. A tool that
/// is not on this host is left out.
///
/// # Errors
/// [`StudyFileError`] for the first thing that is wrong.
pub fn read(study: &str, small: bool) -> Result<StudyFile, StudyFileError> {
    read_with(study, small, &Programs::Host)
}

/// Reads a study as [`read`] does. A tool that is not among these programs is left out.
///
/// # Errors
/// [`StudyFileError`] for the first thing that is wrong.
pub fn read_with(study: &str, small: bool, programs: &Programs) -> Result<StudyFile, StudyFileError> {
    let mut tree = source::load(study)?;
    let small_tree = source::take_small(&mut tree)?;
    // Both are read whichever is wanted: a mistake is told before it is needed.
    let whole = chapters::read(&tree, programs)?;
    let in_small = small_tree
        .map(|tree| chapters::read(&tree, programs))
        .transpose()?;
    let (mut wishes, places) = match in_small {
        _ if !small => whole,
        Some(in_small) => in_small,
        None => {
            return Err(TomlError::file(study, no_small_size(study)).into());
        }
    };
    if let Some(template) = &mut wishes.template {
        study.clone_into(&mut template.source);
        template.small = small;
    }
    Ok(StudyFile { wishes, places })
}

/// What is to be done about a study without a small size: nobody can add one to
/// a shipped study.
fn no_small_size(study: &str) -> String {
    let advice = if shipped::text(study).is_some() {
        let names = SHIPPED.map(|(name, _)| name).into_iter();
        let small: Vec<&str> = names.filter(|name| has_small(name)).collect();
        format!("; of the shipped studies, {} have one", small.join(", "))
    } else {
        ", or add a table [small] with what differs".to_owned()
    };
    format!("has no small size: omit --small{advice}")
}

/// Whether this study can be read and has a small size.
fn has_small(study: &str) -> bool {
    let small = source::load(study).and_then(|mut tree| Ok(source::take_small(&mut tree)?));
    small.is_ok_and(|small| small.is_some())
}

impl StudyFile {
    /// What the file asks.
    pub const fn wishes(&self) -> &StudyRequest {
        &self.wishes
    }

    /// Lets options of the command line override what the file says.
    ///
    /// # Errors
    /// [`StudyFileError::Platforms`] for platforms of a study that lists its cells.
    pub fn override_with(&mut self, options: &StudyRequest) -> Result<(), StudyFileError> {
        let mut own = |key| self.places.remove(&(key, None));
        let wishes = &mut self.wishes;
        if !options.platforms.is_empty() {
            if !matches!(wishes.cells, Cells::All) {
                return Err(StudyFileError::Platforms);
            }
            wishes.platforms.clone_from(&options.platforms);
            own("platforms");
            own("baseline");
            if let Some(template) = &mut wishes.template {
                template.left_out.retain(|item| item.what != Missing::Platform);
            }
        }
        if options.baseline.is_some() {
            wishes.baseline.clone_from(&options.baseline);
            own("baseline");
        }
        let asked = options.protocol;
        for (key, given) in [
            ("blocks", asked.blocks.is_some()),
            ("adaptive", asked.adaptive.is_some()),
            ("margin", asked.margin_percent.is_some()),
            ("trial_time", asked.trial_seconds.is_some()),
            ("timeout", asked.timeout_seconds.is_some()),
        ] {
            given.then(|| own(key));
        }
        wishes.protocol = asked.over(wishes.protocol);
        wishes.isa = options.isa.or(wishes.isa);
        if options.image_name.is_some() {
            wishes.image_name.clone_from(&options.image_name);
            own("image");
        }
        Ok(())
    }

    /// The study on this host, and what keeps it from running here; `wishes` are
    /// the file's, with platforms that the caller chose where it names none.
    ///
    /// # Errors
    /// [`StudyFileError`] for what would be wrong on any host.
    pub fn sketch(
        &self,
        wishes: &StudyRequest,
        facts: &HostFacts,
    ) -> Result<(Study, Vec<StudyFileError>), StudyFileError> {
        let sketch = design::sketch(wishes, facts).map_err(|e| self.placed(e))?;
        let misfits = sketch.misfits.into_iter().map(|e| self.placed(e)).collect();
        Ok((sketch.study, misfits))
    }

    /// The error with its place in the file, if it is about something in it.
    fn placed(&self, error: DesignError) -> StudyFileError {
        let (key, index) = error.concern();
        // The size of a box stands in one of two keys.
        let keys = [
            key,
            if matches!(key, "cpus" | "memory") {
                "instances"
            } else {
                key
            },
        ];
        let exact = self.places.get(&(key, index));
        let place = exact.or_else(|| keys.iter().find_map(|key| self.places.get(&(key, None))));
        match place {
            Some(place) => TomlError::at(place, error::in_keys(&error.to_string())).into(),
            None => StudyFileError::Design(error),
        }
    }
}
