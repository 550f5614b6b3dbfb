//! A carrier for a bridge: one without links that are up has none, and neither has what
//! stands on it. A pair of links gives it one, of which one end is in the bridge.

use super::NetError;
use super::names::carrier_of;
use super::netlink::{ask, bring_up, index};
use rtnetlink::LinkVeth;

/// Gives the run's bridge of this number a carrier; it goes with the bridge.
pub(super) fn ensure(run: &str, bridge: u32) -> Result<(), NetError> {
    let Some([inside, outside]) = carrier_of(run) else {
        return Ok(());
    };
    ask(&format!("give the bridge {run} a carrier"), async |handle| {
        if index(&handle, &inside).await?.is_some() {
            return Ok(());
        }
        let pair = LinkVeth::new(&inside, &outside).controller(bridge).up();
        handle.link().add(pair.build()).execute().await?;
        let outside = index(&handle, &outside).await?;
        let outside = outside.ok_or(rtnetlink::Error::RequestFailed)?;
        bring_up(&handle, outside, None).await
    })
}
