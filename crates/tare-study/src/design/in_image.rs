//! A command out of an image: its program, and what the image says of how it is run.

use super::{DesignError, workloads};
use crate::command::CommandWish;
use std::path::Path;
use tare_host::carry;
use tare_image::Image;
use tare_model::catalogue;
use tare_model::study::RootImage;
use tare_model::workload::{CommandRun, Role, Run, User};

/// An image as it was asked for.
#[derive(Debug, Clone)]
pub struct ChosenImage {
    /// The name by which it was asked for.
    pub name: String,
    pub image: std::sync::Arc<Image>,
}

/// What a results file tells of an image.
pub(super) fn record(chosen: &ChosenImage) -> RootImage {
    let manifest = chosen.image.manifest();
    RootImage {
        name: chosen.name.clone(),
        digest: manifest.digest.to_string(),
        source: manifest.source.clone(),
        bytes: manifest.bytes,
    }
}

/// The one role of a command that runs in boxes of an image: by its entry point and with its
/// environment, user and working folder, as engines of containers run it.
pub(super) fn role(wish: &CommandWish, chosen: &ChosenImage) -> Result<Role, DesignError> {
    let config = chosen.image.config();
    let entry = wish.entrypoint.as_ref().map_or(&config.entrypoint, |entry| entry);
    // An entry point of the user's own does not get the arguments of that of the image.
    let usual = if wish.entrypoint.is_none() {
        &config.cmd
    } else {
        &[][..]
    };
    let arguments = if wish.argv.is_empty() { usual } else { &wish.argv };
    let mut argv: Vec<String> = entry.iter().chain(arguments).cloned().collect();
    let name = argv
        .first()
        .cloned()
        .ok_or_else(|| DesignError::ImageWithoutCommand {
            image: chosen.name.clone(),
        })?;
    let env = environment(wish, chosen)?;
    argv[0] = program(&name, &env, chosen)?;
    let find = |name: &str| program(name, &env, chosen);
    let setup = workloads::by_path(&wish.setup, find)?;
    let teardown = workloads::by_path(&wish.teardown, find)?;
    let mut files = Vec::new();
    for path in &wish.with {
        files.extend(carry::files_below(path)?.iter().map(|path| workloads::text(path)));
    }
    Ok(Role {
        env,
        files,
        setup,
        teardown,
        cwd: config.working_dir.clone().filter(|folder| folder != "/"),
        user: user(chosen)?,
        ..catalogue::main(Run::Command(CommandRun { argv }))
    })
}

/// That of a command whose image is yet to be made: as it is written, for a plan.
pub(super) fn role_of_unmade(wish: &CommandWish) -> Result<Role, DesignError> {
    let entry = wish.entrypoint.iter().flatten();
    let argv = entry.chain(&wish.argv).cloned().collect();
    let env = wish.env.iter().map(|given| workloads::variable(given));
    Ok(Role {
        env: env.collect::<Result<_, _>>()?,
        setup: wish.setup.clone(),
        teardown: wish.teardown.clone(),
        ..catalogue::main(Run::Command(CommandRun { argv }))
    })
}

/// The first of the programs of a command that an image does not have.
pub(crate) fn lacking<'a>(wish: &'a CommandWish, chosen: &ChosenImage) -> Option<&'a str> {
    let env = environment(wish, chosen).ok()?;
    let mut programs = wish.argv.iter().take(1).chain(&wish.calls);
    let absent = programs.find(|name| program(name, &env, chosen).is_err());
    absent.map(String::as_str)
}

/// The environment of the image, with the user's variables in it.
fn environment(wish: &CommandWish, chosen: &ChosenImage) -> Result<Vec<(String, String)>, DesignError> {
    let mut env = vec![("PATH".to_owned(), carry::PATH.to_owned())];
    let of_image = chosen
        .image
        .config()
        .env
        .iter()
        .filter(|variable| variable.contains('='));
    for variable in of_image.chain(&wish.env) {
        let (name, value) = workloads::variable(variable)?;
        env.retain(|(other, _)| *other != name);
        env.push((name, value));
    }
    Ok(env)
}

/// The path of a program in the image, looked for as execvp(3) does.
fn program(name: &str, env: &[(String, String)], chosen: &ChosenImage) -> Result<String, DesignError> {
    let is_there = |path: &Path| chosen.image.has_program(path);
    let path = env.iter().find(|(name, _)| name == "PATH");
    let folders = path.map_or(carry::PATH, |(_, folders)| folders);
    let folder = chosen.image.config().working_dir.as_deref().unwrap_or("/");
    let candidates: Vec<_> = if name.contains('/') {
        vec![Path::new(folder).join(name)]
    } else {
        folders
            .split(':')
            .map(|folder| Path::new(folder).join(name))
            .collect()
    };
    let found = candidates.iter().find(|path| is_there(path));
    let found = found.ok_or_else(|| DesignError::NotInImage {
        program: name.to_owned(),
        image: chosen.name.clone(),
        looked: if name.contains('/') {
            folder.to_owned()
        } else {
            folders.to_owned()
        },
    })?;
    Ok(workloads::text(found))
}

/// Who runs a command, by the image's own table of users.
fn user(chosen: &ChosenImage) -> Result<Option<User>, DesignError> {
    let Some(asked) = &chosen.image.config().user else {
        return Ok(None);
    };
    let (user, group) = asked
        .split_once(':')
        .map_or((asked.as_str(), None), |(u, g)| (u, Some(g)));
    let unknown = || DesignError::ImageUser {
        user: asked.clone(),
        image: chosen.name.clone(),
    };
    let line = line_of("/etc/passwd", user, chosen);
    let number = |field: usize| line.as_ref()?.split(':').nth(field)?.parse::<u32>().ok();
    let uid = number(2).or_else(|| user.parse().ok()).ok_or_else(unknown)?;
    let gid = match group {
        Some(group) => {
            let line = line_of("/etc/group", group, chosen);
            let gid = line.and_then(|line| line.split(':').nth(2)?.parse().ok());
            gid.or_else(|| group.parse().ok()).ok_or_else(unknown)?
        }
        // As engines have it: a number that is nobody's has root's group.
        None => number(3).unwrap_or(0),
    };
    Ok((uid, gid) != (0, 0)).map(|other| other.then_some(User { uid, gid }))
}

/// The line of a table of the image whose name, or else whose number, is this.
fn line_of(table: &str, wanted: &str, chosen: &ChosenImage) -> Option<String> {
    let text = chosen.image.text(Path::new(table)).ok()?;
    let with = |field: usize| {
        text.lines()
            .find(|line| line.split(':').nth(field) == Some(wanted))
    };
    with(0).or_else(|| with(2)).map(str::to_owned)
}
