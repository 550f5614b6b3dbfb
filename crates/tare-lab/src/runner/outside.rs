//! What runs outside of the boxes that are compared, on the host itself: in a box of its own,
//! the same beside every one of them.

use super::Runner;
use super::boxes::{Held, Obtain, carry_in, not_made};
use std::collections::BTreeSet;
use tare_box::platforms::{RunningBox, on_this_host};
use tare_model::study::Workload;
use tare_model::workload::Role;

/// A box on the host, beside one that is compared. It goes with it.
pub(super) struct Outside {
    pub running: Box<dyn RunningBox>,
    pub id: u32,
    pub name: String,
    /// The files that were carried into it.
    supplied: BTreeSet<String>,
}

impl Runner<'_> {
    /// Has a box outside beside this one, if the workload has something to run there, with what
    /// that needs.
    pub(super) fn raise_outside(&mut self, held: &mut Held, workload: &Workload) -> Result<(), Obtain> {
        let Some(role) = workload.outside().next() else {
            return Ok(());
        };
        if held.outside.is_none() {
            held.outside = Some(self.make_outside(role)?);
        }
        match &mut held.outside {
            // Without an image it has the host's own files.
            Some(outside) if self.study.image.is_some() => {
                let files = workload.outside().flat_map(|role| &role.files);
                carry_in(&mut *outside.running, &mut outside.supplied, files).map_err(Obtain::Failed)
            }
            _ => Ok(()),
        }
    }

    fn make_outside(&mut self, role: &Role) -> Result<Outside, Obtain> {
        let id = self.progress.boxes;
        let spec = self.platforms.outside(&role.cpus, (self.run, &self.binary), &id);
        let running = on_this_host().launch(&spec).map_err(not_made)?;
        self.progress.boxes += 1;
        // What it uses is used for the trials, and by nobody else.
        self.watch.follow(id, running.meter());
        Ok(Outside {
            running,
            id,
            name: spec.name,
            supplied: BTreeSet::new(),
        })
    }
}
