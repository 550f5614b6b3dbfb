//! A study that is about to be measured: its platforms, opened and probed, the run that owns its
//! boxes, and the results file.

use crate::identity::Watch;
use crate::preflight::{self, Foresight, Platforms, PreflightError};
use crate::resume::{self, Progress, ResumeError};
use crate::versions;
use crate::writer::{WriteError, Writer};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use tare_image::Image;
use tare_model::results::Results;
use tare_model::study::{BoxKind, Study};
use tare_platforms::BoxError;
use tare_platforms::state::Run;
use tare_study::plan::{self, Cost, Room};

/// Why there is no results file to measure into.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// It cannot be continued.
    #[error(transparent)]
    Resume(#[from] ResumeError),
}

/// What a runner works with. Several studies may be measured in one session, one after another.
pub struct Session {
    /// The study to be measured next.
    pub study: Study,
    pub(crate) platforms: Platforms,
    /// Owns the boxes; its folder goes with it.
    pub run: Run,
    /// The results that are continued.
    earlier: Option<Results>,
    /// Kinds of box whose limits were proven in this session.
    pub(crate) proven: BTreeSet<BoxKind>,
    /// Boxes made so far, also by the run that is continued: each has a number of its own.
    pub(crate) boxes: u32,
}

impl Session {
    /// Opens the platforms of a study whose boxes have this image as their root.
    ///
    /// # Errors
    /// [`PreflightError`] for a platform or a workload that cannot run here.
    pub fn open(study: Study, run: Run, image: Option<Arc<Image>>) -> Result<Self, PreflightError> {
        let platforms = Platforms::open(&study.platforms, run.state())?.with_image(image)?;
        platforms.check_barriers(&study)?;
        platforms.check_limits(&study)?;
        if study.protocol.evidence {
            if study.protocol.slicing.is_off() {
                return Err(PreflightError::EvidenceInOnePiece);
            }
            tare_probes::try_out().map_err(PreflightError::NoEvidence)?;
        }
        Ok(Self {
            study,
            platforms,
            run,
            earlier: None,
            proven: BTreeSet::new(),
            boxes: 0,
        })
    }

    /// The same to continue these results, whose study it is.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn resume(
        study: Study,
        run: Run,
        image: Option<Arc<Image>>,
        earlier: Results,
    ) -> Result<Self, PreflightError> {
        Ok(Self {
            boxes: resume::boxes_made(&earlier),
            earlier: Some(earlier),
            ..Self::open(study, run, image)?
        })
    }

    /// Asks the programs of the image for their versions.
    ///
    /// # Errors
    /// [`BoxError`] if there is no box. A program that prints no version is no error.
    pub fn ask_versions(&mut self) -> Result<(), BoxError> {
        versions::ask_in_box(&mut self.study, &mut self.platforms, &self.run)
    }

    /// The memory that there is for boxes.
    pub fn room(&self) -> Room {
        self.platforms.room()
    }

    /// What the whole study costs, as the plan has it.
    pub fn cost(&self) -> Cost {
        plan::cost(&self.study, self.room(), |kind| self.platforms.cost(kind))
    }

    /// What of the study cannot go well.
    pub fn foresee(&self) -> Foresight {
        self.platforms.foresee(&self.study)
    }

    /// Makes the results file, or opens the one that is continued.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn results_file(&self, path: &Path) -> Result<ResultsFile, FileError> {
        let header = preflight::header(&self.study, &self.platforms, path);
        let Some(results) = &self.earlier else {
            return Ok(ResultsFile {
                writer: Writer::create(path, &header)?,
                progress: Progress::default(),
                programs: Watch::of(&header.files),
            });
        };
        resume::check(&path.display().to_string(), results, &header)?;
        Ok(ResultsFile {
            writer: Writer::resume(path, results.complete_bytes)?,
            progress: Progress::of(results),
            programs: Watch::of(&header.files),
        })
    }
}

/// A results file that is open for writing, and what of the plan is done in it.
pub struct ResultsFile {
    pub(crate) writer: Writer,
    pub(crate) progress: Progress,
    pub(crate) programs: Watch,
}
