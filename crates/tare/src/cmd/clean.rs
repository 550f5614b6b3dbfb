//! `tare clean`: removes what crashed runs left and what is kept between runs.

use crate::args::CleanArgs;
use crate::out;
use std::process::ExitCode;
use tare_box::platforms::{self, REGISTRY};
use tare_box::state;

/// Cleans and tells what was removed.
pub fn run(args: &CleanArgs) -> anyhow::Result<ExitCode> {
    let folder = args.state.folder();
    let (mut removed, alive) = state::sweep(&folder)?;
    if let Some(run) = alive.first() {
        anyhow::bail!("run {run} is alive and uses what would be removed: stop it first");
    }
    for entry in REGISTRY {
        let mut platform = platforms::open(&entry.name.parse()?, &folder)?;
        removed.extend(platform.clean()?);
    }
    if args.json {
        out::print_json(&serde_json::json!({ "removed": removed }))?;
    } else if removed.is_empty() {
        out::print("nothing to remove\n")?;
    } else {
        out::print(
            &removed
                .iter()
                .map(|what| format!("removed {}\n", out::one_line(what)))
                .collect::<String>(),
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
