//! A command that writes to the link of its agent: it does not get there, or is found out.

use super::context::CheckContext;
use super::talk;
use super::{Broken, Kept, expect};
use crate::contract::{ANSWER_DEADLINE, BoxError, RunningBox};
use crate::link::LinkError;
use tare_agent::act::forge::{FORGED, OPEN};
use tare_model::protocol::ExitStatus;

pub(super) fn link(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    site.put_away()?;
    let (mut made, _) = site.own()?;
    let is_open = is_open(&mut *made)?;
    let ran = talk::act(&mut *made, &["forge"]).and_then(|ended| {
        // What was written last may come after the true answer.
        made.link().facts(ANSWER_DEADLINE)?;
        Ok(ended)
    });
    let kept = match ran {
        Err(Broken::Box(BoxError::Link(error))) if tells_of_forgery(&error) => {
            expect(is_open, || {
                format!("a command got to the link of an agent that has shut itself: {error}")
            })?;
            return Ok(Kept::Yes(Some("the command's writes were detected".to_owned())));
        }
        Err(other) => return Err(other),
        Ok(ended) => {
            expect(ended.exited.status != ExitStatus::Code(FORGED), || {
                "an answer that a command wrote was believed".to_owned()
            })?;
            let ways = ended.words()?;
            let ways = ways.trim();
            expect(is_open || ways.is_empty(), || {
                format!("a command has ways into an agent that has shut itself: {ways}")
            })?;
            Kept::Yes(Some(match ways {
                "" => "no way leads to it".to_owned(),
                ways => format!("nothing arrived, though there is a way: {ways}"),
            }))
        }
    };
    made.destroy()?;
    Ok(kept)
}

/// Whether a command may get at its agent: where the agent runs as no root it does not shut
/// itself, and some kernels and capabilities open what has shut itself.
fn is_open(made: &mut dyn RunningBox) -> Result<bool, Broken> {
    let status = made
        .link()
        .read_file("/proc/self/status", 1 << 16, ANSWER_DEADLINE)?;
    let status = String::from_utf8_lossy(&status).into_owned();
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    let is_root = users.and_then(|users| users.split_whitespace().nth(1)) == Some("0");
    Ok(!is_root || talk::act(made, &["trespass"])?.words()?.trim() == OPEN)
}

/// Whether a link failed since something else than its agent spoke.
fn tells_of_forgery(error: &LinkError) -> bool {
    matches!(
        error,
        LinkError::Foreign { .. }
            | LinkError::TooMuch { .. }
            | LinkError::Frame { .. }
            | LinkError::Unexpected { .. }
            | LinkError::GivenUp { .. }
    )
}
