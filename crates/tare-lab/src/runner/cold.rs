//! Trials that begin with cold caches: those of the host, and of each kernel that lies between it and the
//! files of the trial.

use super::live::{CellBoxes, LiveBox};
use tare_model::finding::Reason;
use tare_model::protocol::Request;
use tare_model::results::Failure;
use tare_model::study::Workload;
use tare_platforms::link::{Link, LinkError};
use tare_platforms::{ANSWER_DEADLINE, QuotaView};

/// Drops all caches, if the workload wants that, once its servers serve and before its clock runs.
pub(super) fn cool(held: &mut CellBoxes, workload: &Workload) -> Result<(), Failure> {
    if !workload.cold {
        return Ok(());
    }
    // From the inside out: what a machine writes out is then in the host's caches.
    held.of_its_kind()
        .try_for_each(|(_, boxed)| cool_machines(boxed))?;
    tare_host::kernel::drop_caches().map_err(|e| cannot(e.to_string()))
}

/// Those of the kernels of a box, of its own and of the machines that it is in.
fn cool_machines(boxed: &mut LiveBox) -> Result<(), Failure> {
    let own = match boxed.has_own_kernel {
        true => ask(boxed.running.link()),
        false => Ok(()),
    };
    let mut outer = Vec::new();
    let asked = boxed.running.on_each_outer(&mut |running, layer| {
        if layer.views.0 == QuotaView::HostOnly {
            outer.push(ask(running.link()));
        }
        Ok(())
    });
    asked.map_err(|e| cannot(e.to_string()))?;
    // A container in a machine is on the kernel of that, and may not write there.
    let by_outer = !outer.is_empty();
    outer
        .into_iter()
        .collect::<Result<(), _>>()
        .and(if by_outer { Ok(()) } else { own })
}

fn ask(link: &mut Link) -> Result<(), Failure> {
    match link.request(&Request::DropCaches, ANSWER_DEADLINE) {
        Ok(_) => Ok(()),
        Err(LinkError::Refused { message, .. }) => Err(cannot(message)),
        Err(error) => Err(crate::failures::failure(&error)),
    }
}

fn cannot(why: String) -> Failure {
    Failure::new(Reason::CannotRun, why)
}
