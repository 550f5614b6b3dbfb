//! `tare explain`: what words, findings, verdicts and figures mean.

use super::forms;
use crate::args::ExplainArgs;
use std::process::ExitCode;
use tare_report::glossary;

/// Tells what a word means, or all of them.
pub fn run(args: &ExplainArgs) -> anyhow::Result<ExitCode> {
    forms::check(args.forms.html.as_deref(), &[])?;
    let word = args.words.join(" ");
    let entries = if word.is_empty() {
        glossary::all()
    } else {
        glossary::find(&word)?
    };
    forms::tell(&args.forms, &[], &glossary::document(&entries), &entries)?;
    Ok(ExitCode::SUCCESS)
}
