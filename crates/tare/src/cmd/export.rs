//! `tare export`: what was measured, row by row, for other programs.

use super::briefs;
use crate::args::ExportArgs;
use crate::{files, out};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tare_lab::safe_file;
use tare_model::results::Results;
use tare_model::size::counted;
use tare_report::export::{self, Form, Writer};

/// Reads, and writes rows.
pub fn run(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let form = form(args.output.as_deref())?;
    let paths = briefs::paths(&args.files)?;
    let Some(output) = &args.output else {
        let mut bytes = Vec::new();
        write(&paths, args.slices, form, &mut bytes, "standard output")?;
        out::print(&String::from_utf8_lossy(&bytes))?;
        return Ok(ExitCode::SUCCESS);
    };
    paths
        .iter()
        .try_for_each(|path| files::refuse_same(output, path))?;
    refuse_taken(output)?;
    let shown = output.display().to_string();
    let rows = safe_file::replace_with(output, 0o644, |file| {
        write(&paths, args.slices, form, BufWriter::new(file), &shown)
    });
    // What could not be made has no other error than the system's.
    let rows = rows.map_err(|e| match e.downcast() {
        Ok(error) => files::unwritten(&shown, "-o", &error),
        Err(other) => other,
    })?;
    out::say(&format!("{rows} rows written to {}", out::path(output)));
    Ok(ExitCode::SUCCESS)
}

/// Writes the rows of all files; the answer is how many.
fn write(
    paths: &[PathBuf],
    slices: bool,
    form: Form,
    to: impl Write + Send,
    shown: &str,
) -> anyhow::Result<usize> {
    let mut writer = Writer::new(form, to);
    let unwritten = |e| files::unwritten(shown, "-o", &e);
    for path in paths {
        let results = Results::read(path)?;
        if results.torn {
            let name = out::path(path);
            out::say(&format!(
                "{name} ends in the middle of a record, which is ignored"
            ));
        }
        let rows = if slices {
            export::slices(&results)
        } else {
            export::samples(&results)
        };
        writer.add(rows).map_err(unwritten)?;
    }
    let rows = writer.finish().map_err(unwritten)?;
    let whose = match paths {
        [one] => format!("{} has", one.display()),
        several => format!("{} have", counted(several.len(), "file")),
    };
    let (what, hint) = if slices {
        ("slices", ": omit --slices to export samples")
    } else {
        ("trials", "")
    };
    anyhow::ensure!(rows > 0, "{whose} no {what} to export{hint}");
    Ok(rows)
}

/// By the ending of the file's name; what is printed is CSV.
fn form(output: Option<&Path>) -> anyhow::Result<Form> {
    let Some(output) = output else {
        return Ok(Form::Csv);
    };
    match output.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => Ok(Form::Csv),
        Some("parquet") => Ok(Form::Parquet),
        _ => anyhow::bail!(
            "{}: give a name ending with .csv or .parquet, which selects the format",
            output.display()
        ),
    }
}

/// Nobody's data are replaced.
fn refuse_taken(output: &Path) -> anyhow::Result<()> {
    anyhow::ensure!(
        output.symlink_metadata().is_err(),
        "{} already exists: choose another name with -o",
        output.display()
    );
    Ok(())
}
