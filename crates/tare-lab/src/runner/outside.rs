//! What runs outside of the boxes that are compared, on the host itself: in a box of its own,
//! the same beside every one of them.

use super::Runner;
use super::boxes::{Held, Obtain, not_made};
use tare_box::platforms::{RunningBox, on_this_host};
use tare_model::study::Workload;

/// A box on the host, beside one that is compared. It goes with it.
pub(super) struct Outside {
    pub running: Box<dyn RunningBox>,
    pub id: u32,
    pub name: String,
}

impl Runner<'_> {
    /// Has a box outside beside this one, if the workload has something to run there.
    pub(super) fn raise_outside(&mut self, held: &mut Held, workload: &Workload) -> Result<(), Obtain> {
        let Some(role) = workload.outside().next().filter(|_| held.outside.is_none()) else {
            return Ok(());
        };
        let id = self.progress.boxes;
        let spec = self.platforms.outside(&role.cpus, (self.run, &self.binary), &id);
        let running = on_this_host().launch(&spec).map_err(not_made)?;
        self.progress.boxes += 1;
        // What it uses is used for the trials, and by nobody else.
        self.watch.follow(id, running.meter());
        held.outside = Some(Outside {
            running,
            id,
            name: spec.name,
        });
        Ok(())
    }
}
