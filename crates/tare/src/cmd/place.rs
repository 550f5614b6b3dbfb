//! Where an analysis comes from, in the words of whoever called this program.

use crate::out;
use std::path::Path;
use tare_report::text::Where;

/// What is printed of a results file, in what one types to go on with it.
pub struct Place {
    program: String,
    file: String,
    page: Option<String>,
    again: Option<String>,
    resume: String,
}

impl Place {
    /// A results file, with the page that is written beside it.
    pub fn of(file: &Path, page: Option<&Path>) -> Self {
        Self {
            program: out::program(),
            file: out::word(&file.display().to_string()),
            page: page.map(out::path),
            // Whatever wraps this program, such as a private engine, is to do so again.
            again: std::env::var("TARE_AGAIN").ok(),
            resume: out::resuming(),
        }
    }

    /// As reports take it.
    pub fn told(&self) -> Where<'_> {
        Where {
            program: &self.program,
            file: &self.file,
            page: self.page.as_deref(),
            again: self.again.as_deref(),
            resume: &self.resume,
        }
    }
}
