//! `tare export`: what was measured, row by row, for other programs.

use crate::args::ExportArgs;
use crate::{files, out};
use std::path::Path;
use std::process::ExitCode;
use tare_lab::safe_file;
use tare_model::results::Results;
use tare_report::export::{self, Rows};

/// A kind of file.
enum Form {
    Csv,
    Parquet,
}

/// Reads, and writes rows.
pub fn run(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let form = form(args.output.as_deref())?;
    if let Some(output) = &args.output {
        files::refuse_same(output, &args.file)?;
        refuse_taken(output)?;
    }
    let results = Results::read(&args.file)?;
    let rows = if args.slices {
        export::slices(&results)
    } else {
        export::samples(&results)
    };
    anyhow::ensure!(
        !rows.is_empty(),
        "{} has no {} to export{}",
        args.file.display(),
        if args.slices { "slices" } else { "trials" },
        if args.slices {
            ": omit --slices to export its samples"
        } else {
            ""
        }
    );
    if results.torn {
        out::say("the file ends in the middle of a record, which is ignored");
    }
    let bytes = bytes(&rows, &form)?;
    let Some(output) = &args.output else {
        out::print(&String::from_utf8_lossy(&bytes))?;
        return Ok(ExitCode::SUCCESS);
    };
    safe_file::replace(output, 0o644, &bytes)
        .map_err(|e| files::unwritten(&output.display().to_string(), "-o", &e))?;
    out::say(&format!("{} rows written to {}", rows.len(), out::path(output)));
    Ok(ExitCode::SUCCESS)
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

fn bytes(rows: &Rows, form: &Form) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match form {
        Form::Csv => export::as_csv(rows, &mut bytes)?,
        Form::Parquet => export::parquet(rows, &mut bytes)?,
    }
    Ok(bytes)
}
