//! One file per subcommand.

pub mod agent;
pub mod clean;
pub mod doctor;
pub mod kernel;
pub mod manual;
pub mod plan;
pub mod report;
pub mod run;

use crate::args::StudyArgs;
use std::path::Path;
use tare_box::platforms::{self, REGISTRY};
use tare_lab::design::{self, Wishes};
use tare_model::host::HostFacts;
use tare_model::study::Study;

/// The study that the arguments ask for; without platforms, all real ones that
/// can run here. Says on standard error which were left out.
fn study(args: &StudyArgs, facts: &HostFacts, state: &Path) -> anyhow::Result<Study> {
    let mut wishes = args.wishes();
    if wishes.platforms.is_empty() {
        // All else is checked first: probing may take seconds.
        design::study(&wishes_for_check(&wishes), facts)?;
        wishes.platforms = runnable(state);
    }
    Ok(design::study(&wishes, facts)?)
}

/// The wishes with a platform that always exists, and without a baseline.
fn wishes_for_check(wishes: &Wishes) -> Wishes {
    Wishes {
        platforms: vec!["native".to_owned()],
        baseline: None,
        ..wishes.clone()
    }
}

fn runnable(state: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in REGISTRY.iter().filter(|entry| entry.real) {
        let Ok(path) = entry.name.parse() else { continue };
        let Ok(mut platform) = platforms::open(&path, state) else {
            continue;
        };
        match platform.probe() {
            Ok(_) => names.push(entry.name.to_owned()),
            Err(absent) => eprintln!("left out: {}: {absent}", entry.name),
        }
    }
    names
}
