//! How boxes end that do not end by themselves.

use super::context::CheckContext;
use super::talk::{acting, patience};
use super::traces::Traces;
use super::{Broken, Kept, expect};
use crate::contract::{ANSWER_DEADLINE, RunningBox};
use crate::link::LinkError;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tare_host::footprint;
use tare_model::protocol::Request;

/// A box with a command under way, and its traces.
struct Victim {
    made: Box<dyn RunningBox>,
    traces: Traces,
    command: Request,
}

impl Victim {
    fn make(site: &mut CheckContext<'_>) -> Result<Self, Broken> {
        site.put_away()?;
        let scratch = site.order().run.folder();
        let (mut made, name) = site.own()?;
        let command = acting(&["wait"]);
        let within = patience(&command);
        let command = Request::Command(command);
        made.link().ask(&command, within)?;
        Ok(Self {
            traces: Traces::of(&*made, &name, scratch),
            made,
            command,
        })
    }

    /// The link tells of the end in time, and nothing is left.
    fn expect_lost(mut self, site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
        let begun = Instant::now();
        let answer = self.made.link().reply(&self.command, ANSWER_DEADLINE);
        let after = begun.elapsed();
        let destroyed = self.made.destroy();
        drop(self.made);
        expect(matches!(answer, Err(LinkError::Ended { .. })), || {
            let seen = answer.map_or_else(|e| e.to_string(), |answer| format!("{:?}", answer.reply));
            format!("the link should have ended, but after {after:.1?}: {seen}")
        })?;
        destroyed?;
        self.traces.expect_gone()?;
        expect_engine_forgot(site)?;
        Ok(Kept::Yes(Some(format!("the link ended after {after:.1?}"))))
    }
}

pub(super) fn killed_agent(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let victim = Victim::make(site)?;
    let agents: Vec<PathBuf> = footprint::processes(&victim.made.marks())
        .filter(|process| is_agent(process))
        .collect();
    if agents.is_empty() {
        return Ok(Kept::NotHere("the agent is not a process of the host".to_owned()));
    }
    agents.iter().for_each(|agent| footprint::kill(agent));
    victim.expect_lost(site)
}

/// Whether a folder in /proc is that of an agent.
pub(super) fn is_agent(process: &Path) -> bool {
    let line = fs::read(process.join("cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).nth(1) == Some(b"agent")
}

pub(super) fn foreign_bytes(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    site.put_away()?;
    let scratch = site.order().run.folder();
    let (mut made, name) = site.own()?;
    let victim = Victim {
        traces: Traces::of(&*made, &name, scratch),
        command: Request::Facts,
        made: {
            let deadline = Instant::now() + ANSWER_DEADLINE;
            let sent = made.link().stream().send(&[b'?'; 64], deadline);
            sent.map_err(Broken::host("send bytes to the agent"))?;
            made
        },
    };
    victim.expect_lost(site)
}

pub(super) fn killed_engine(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let victim = Victim::make(site)?;
    let engine: Vec<PathBuf> = footprint::engine(&victim.made.marks()).collect();
    if engine.is_empty() {
        return Ok(Kept::NotHere(
            "the box is only the agent, without an engine".to_owned(),
        ));
    }
    engine.iter().for_each(|process| footprint::kill(process));
    victim.expect_lost(site)
}

/// The platform's own sweep finds nothing. No box may live.
pub(super) fn expect_engine_forgot(site: &mut CheckContext<'_>) -> Result<(), Broken> {
    let run = site.order().run.name();
    let swept = site.platform()?.sweep(run)?;
    expect(swept.is_empty(), || {
        format!("the engine kept: {}", swept.join("; "))
    })
}

pub(super) fn nothing_left(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    site.put_away()?;
    let run = site.order().run;
    Traces::named(run.name(), run.folder()).expect_gone()?;
    expect_engine_forgot(site)?;
    Ok(Kept::YES)
}
