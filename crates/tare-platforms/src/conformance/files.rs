//! Files into and out of boxes.

use super::context::CheckContext;
use super::talk::{act, greet};
use super::{Broken, Kept, expect};
use crate::contract::{ANSWER_DEADLINE, BoxError, RunningBox};
use crate::link::LinkError;
use rand::{Rng, SeedableRng};
use std::path::Path;
use std::time::Duration;
use tare_model::protocol::ErrorCode;

/// Length of the random file, in bytes: ten frames and a part of one.
const LENGTH: usize = (10 << 20) + 3;
/// Time for it, one way.
const FILE_DEADLINE: Duration = Duration::from_secs(60);

/// A path in the folder for files, as text.
fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_string_lossy().into_owned()
}

pub(super) fn round_trip(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let target = path(&site.folder(), "random");
    let made = site.shared()?;
    let mut content = vec![0; LENGTH];
    rand_chacha::ChaCha8Rng::seed_from_u64(1).fill_bytes(&mut content);
    made.carry(&target, 0o600, &content, FILE_DEADLINE)?;
    let back = made.link().read_file(&target, LENGTH as u64, FILE_DEADLINE)?;
    let wrong = content.iter().zip(&back).position(|(sent, came)| sent != came);
    expect(back.len() == LENGTH && wrong.is_none(), || {
        format!(
            "{} of {LENGTH} B came back, changed from byte {wrong:?} on",
            back.len()
        )
    })?;
    Ok(Kept::YES)
}

pub(super) fn modes(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let target = path(&site.folder(), "mode");
    let made = site.shared()?;
    for mode in [0o666, 0o751, 0o600] {
        made.carry(&target, mode, b"x", ANSWER_DEADLINE)?;
        let seen = act(made, &["mode", &target])?.words()?;
        expect(seen.trim() == format!("{mode:o}"), || {
            format!("a file of mode {mode:o} has the mode {}", seen.trim())
        })?;
    }
    Ok(Kept::YES)
}

pub(super) fn refusals(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let folder = site.folder();
    let (long, missing) = (path(&folder, "long"), path(&folder, "missing"));
    let made = site.shared()?;
    made.carry(&long, 0o600, &[7; 300_000], ANSWER_DEADLINE)?;
    for (target, most) in [(&long, 299_999), (&missing, 1)] {
        let refusal = made.link().read_file(target, most, ANSWER_DEADLINE);
        expect_refusal(target, refusal.map(drop))?;
        expect_alive(made, target)?;
    }
    // Where it goes over the link, its data is on the way when it is refused: the link must keep its place.
    let unwritable = "/proc";
    expect_not_carried(made, unwritable, &[7; 300_000])?;
    expect_alive(made, unwritable)?;
    Ok(Kept::YES)
}

fn expect_alive(made: &mut dyn RunningBox, refused: &str) -> Result<(), Broken> {
    let alive = greet(made).map(drop);
    alive.map_err(|e| Broken::Seen(format!("after {refused:?} was refused: {e}")))
}

fn expect_refusal(path: &str, answer: Result<(), LinkError>) -> Result<(), Broken> {
    let refused = matches!(&answer, Err(LinkError::Refused { code: ErrorCode::File, message, .. })
        if message.contains(path));
    expect(refused, || {
        format!("{path:?} was to be refused by its name, and the answer is {answer:?}")
    })
}

pub(super) fn names(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let folder = site.folder();
    let made = site.shared()?;
    for name in ["two\nlines", "-rf", "ä \u{1b}[31m", "*;$(x)", &"n".repeat(255)] {
        let target = path(&folder, name);
        made.carry(&target, 0o600, name.as_bytes(), ANSWER_DEADLINE)?;
        let back = made.link().read_file(&target, 1000, ANSWER_DEADLINE)?;
        expect(back == name.as_bytes(), || {
            format!("the file {target:?} contains {back:?}")
        })?;
    }
    for target in ["", "a\0b", &path(&folder, &"n".repeat(256))] {
        expect_not_carried(made, target, b"x")?;
    }
    upwards(made, &folder)?;
    greet(made)?;
    Ok(Kept::YES)
}

fn expect_not_carried(made: &mut dyn RunningBox, target: &str, content: &[u8]) -> Result<(), Broken> {
    let answer = made.carry(target, 0o600, content, FILE_DEADLINE);
    let refused = matches!(
        &answer,
        Err(error @ (BoxError::Host { .. } | BoxError::Link(LinkError::Refused { .. })))
            if error.to_string().contains(target)
    );
    expect(refused, || {
        format!("{target:?} was to be refused, and the answer is {answer:?}")
    })
}

/// A path that leads upwards ends at the box's own root, or is refused.
fn upwards(made: &mut dyn RunningBox, folder: &Path) -> Result<(), Broken> {
    let target = path(folder, "upwards");
    let hostile = format!("{}{target}", "/..".repeat(40));
    match made.carry(&hostile, 0o600, b"up", ANSWER_DEADLINE) {
        Ok(()) => {
            let back = made.link().read_file(&target, 10, ANSWER_DEADLINE)?;
            expect(back == b"up", || {
                format!("{target} contains {back:?} after a write to {hostile}")
            })
        }
        Err(BoxError::Host { .. } | BoxError::Link(LinkError::Refused { .. })) => Ok(()),
        Err(other) => Err(other.into()),
    }
}
