//! A carrier for a bridge: one without links that are up has none, and neither has what
//! stands on it. A pair of links gives it one, of which one end is in the bridge. The other
//! end is the host's own: what boxes send to all arrives there, and is to end there.

use super::names::carrier_of;
use super::netlink::{add, ask, bring_up, index};
use super::{NetError, closed};
use rtnetlink::LinkVeth;

/// Gives the run's bridge of this number a carrier; it goes with the bridge.
pub(super) fn ensure(run: &str, bridge: u32) -> Result<(), NetError> {
    let Some([inside, outside]) = carrier_of(run) else {
        return Ok(());
    };
    let what = format!("give the bridge {run} a carrier");
    if ask(&what, async |handle| index(&handle, &inside).await)?.is_some() {
        return Ok(());
    }
    let ends = ask(&what, async |handle| {
        let pair = LinkVeth::new(&inside, &outside).controller(bridge);
        let inside = add(&handle, &inside, pair.build()).await?;
        let outside = index(&handle, &outside).await?;
        Ok([inside, outside.ok_or(rtnetlink::Error::RequestFailed)?])
    })?;
    closed::link(&inside)?;
    closed::link(&outside)?;
    closed::way_in(&outside)?;
    closed::way_on(&outside)?;
    ask(&what, async |handle| {
        for end in ends {
            bring_up(&handle, end, None).await?;
        }
        Ok(())
    })
}
