//! `tare clean`: removes what crashed runs left and what is kept between runs.

use crate::args::CleanArgs;
use crate::out;
use std::path::Path;
use std::process::ExitCode;
use tare_platforms::state;
use tare_platforms::{Cleaned, REGISTRY};

/// Cleans and tells what was removed, and what was left since it is in use.
///
/// # Errors
/// What could not be removed, all of it in one line, after everything else was.
pub fn run(args: &CleanArgs) -> anyhow::Result<ExitCode> {
    let folder = args.state.folder();
    let swept = state::sweep_patiently(&folder)?;
    let mut cleaned = Cleaned {
        removed: swept.removed,
        left: Vec::new(),
    };
    let mut failed: Vec<String> = swept.left.iter().map(ToString::to_string).collect();
    match swept.alive.first() {
        Some(run) => {
            let what = format!("cached files: in use by another run ({run})");
            cleaned.left.push(what);
        }
        None => clean_platforms(&folder, &mut cleaned, &mut failed)?,
    }
    cleaned.left.extend(super::image::held(&folder));
    tell(&cleaned, args.json)?;
    anyhow::ensure!(failed.is_empty(), "{}", failed.join("; "));
    Ok(ExitCode::SUCCESS)
}

fn clean_platforms(folder: &Path, cleaned: &mut Cleaned, failed: &mut Vec<String>) -> anyhow::Result<()> {
    // Images are the engine's, whichever state folder they were made for.
    let alive = state::alive_anywhere();
    for entry in REGISTRY {
        let mut platform = tare_platforms::open(&entry.name.parse()?, folder)?;
        match platform.clean(&alive) {
            Ok(more) => {
                cleaned.removed.extend(more.removed);
                cleaned.left.extend(more.left);
            }
            Err(e) => failed.push(format!("cannot clean {}: {e}", entry.name)),
        }
    }
    Ok(())
}

fn tell(cleaned: &Cleaned, json: bool) -> anyhow::Result<()> {
    if json {
        return out::print_json(cleaned);
    }
    let Cleaned { removed, left } = cleaned;
    let line = |done: &str, what: &String| format!("{done} {}\n", out::one_line(what));
    let removed = removed.iter().map(|what| line("removed", what));
    let lines: String = removed
        .chain(left.iter().map(|what| line("left", what)))
        .collect();
    out::print(if lines.is_empty() {
        "nothing to remove\n"
    } else {
        &lines
    })
}
