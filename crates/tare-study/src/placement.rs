//! In which box a role of a workload runs.

use tare_model::workload::{Place, Role};

/// The box of a role, among those that one trial has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Placement {
    /// That of the cell.
    Cell,
    /// That on the host, which is the same beside every cell.
    Host,
    /// One of its own beside the cell's, of the same kind: that of the role of this name.
    Own(String),
}

impl Placement {
    /// Where a role runs by the place that its workload gives it.
    pub fn of(role: &Role) -> Self {
        match role.place {
            Place::Tested | Place::Later(_) => Self::Cell,
            Place::Outside => Self::Host,
            Place::Apart => Self::Own(role.name.clone()),
        }
    }
}
