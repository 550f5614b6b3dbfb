//! The boxes of a cell while they are there, and how files come into them.

use super::arm::Serving;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;
use tare_host::carry;
use tare_host::cgroup::{MemoryEvents, Meter};
use tare_host::oom::KernelLog;
use tare_model::finding::Reason;
use tare_model::protocol::Request;
use tare_model::results::Failure;
use tare_model::study::{BoxKind, Workload};
use tare_platforms::link::Link;
use tare_platforms::{ANSWER_DEADLINE, BoxError, BoxSpec, RunningBox};
use tare_study::placement::Placement;

/// What was counted of the memory of a box before a trial.
pub(super) struct Counted {
    /// By the host, of the box's cgroup.
    pub host: Option<MemoryEvents>,
    /// By the kernel of a box that has one of its own.
    pub inside: Option<u64>,
    /// The host's log from then on.
    pub log: Option<KernelLog>,
}

/// A box that is there, with an agent in it.
pub(super) struct LiveBox {
    pub(super) running: Box<dyn RunningBox>,
    /// The host's counters of its CPU time, where it has them.
    pub(super) meter: Option<Meter>,
    pub(super) id: u32,
    pub(super) name: String,
    /// The files that were carried into it.
    pub(super) supplied: BTreeSet<String>,
    /// Its memory, in bytes.
    pub(super) memory_bytes: u64,
    /// Whether a kernel of its own is in it, which counts whom it kills.
    pub(super) has_own_kernel: bool,
    /// Whether it is in another one, whose kernel may hold it to a limit.
    pub(super) is_nested: bool,
    /// What was counted of its memory before the trial that is under way.
    pub(super) counted: Option<Counted>,
}

impl LiveBox {
    fn cpu_ns(&self) -> Option<u64> {
        self.meter.as_ref()?.read().ok().map(|usage| usage.cpu_ns)
    }
}

/// The box of a cell that is in use or kept, with those beside it.
pub(super) struct CellBoxes {
    pub(super) own: LiveBox,
    /// Those in which roles of its workloads run elsewhere, once one did.
    pub(super) beside: BTreeMap<Placement, LiveBox>,
    pub(super) kind: BoxKind,
    /// Servers in them that stay from trial to trial, between two.
    pub(super) standing: Vec<Serving>,
    /// What its boxes were told of the names of all; empty: nothing.
    pub(super) named: String,
    /// Time that freezing it took, while it is frozen.
    pub(super) frozen: Option<Duration>,
    /// Time that the last freeze and the thaw after it took, until a trial tells.
    pub(super) waking: Option<(Duration, Duration)>,
}

impl CellBoxes {
    /// The box in which a role runs.
    pub(super) fn at(&self, placement: &Placement) -> &LiveBox {
        self.beside.get(placement).unwrap_or(&self.own)
    }

    /// The link to the agent in whose box a role runs.
    pub(super) fn link(&mut self, placement: &Placement) -> &mut Link {
        self.beside
            .get_mut(placement)
            .unwrap_or(&mut self.own)
            .running
            .link()
    }

    /// The links to the agent in the box, and to that in another one in which a role runs.
    pub(super) fn links(&mut self, placement: &Placement) -> (&mut Link, Option<&mut Link>) {
        let elsewhere = self.beside.get_mut(placement);
        (
            self.own.running.link(),
            elsewhere.map(|other| other.running.link()),
        )
    }

    /// The boxes of its kind: its own, and that of each role that has one for itself, by name.
    pub(super) fn of_its_kind(&mut self) -> impl Iterator<Item = (Option<&str>, &mut LiveBox)> {
        let apart = self
            .beside
            .iter_mut()
            .filter_map(|(placement, other)| match placement {
                Placement::Own(role) => Some((Some(role.as_str()), other)),
                Placement::Cell | Placement::Host => None,
            });
        std::iter::once((None, &mut self.own)).chain(apart)
    }

    /// Ends the servers that stay from trial to trial, unless they are those of this workload.
    pub(super) fn end_standing(&mut self, but_of: Option<&Workload>) {
        let theirs = self.standing.iter().map(|serving| &serving.role);
        if but_of.is_some_and(|workload| workload.standing().eq(theirs)) {
            return;
        }
        for serving in std::mem::take(&mut self.standing).into_iter().rev() {
            let request = Request::Stop {
                process: serving.process,
            };
            let link = self.link(&serving.entry.placement);
            // An agent that does not answer is found so by the next trial in its box.
            let _ = link.request(&request, ANSWER_DEADLINE);
        }
    }

    /// The names of the boxes in which roles of a workload run, as `/etc/hosts` has them.
    pub(super) fn hosts(&self, workload: &Workload) -> String {
        let mut names: BTreeMap<IpAddr, Vec<String>> = BTreeMap::new();
        names.extend(
            self.own
                .running
                .address()
                .map(|own| (own, vec![BoxSpec::HOSTNAME.to_owned()])),
        );
        for role in workload.boxed() {
            if let Some(address) = self.at(&Placement::of(role)).running.address() {
                names.entry(address).or_default().push(hostname(&role.name));
            }
        }
        let lines = names
            .iter()
            .map(|(address, names)| format!("{address} {}\n", names.join(" ")));
        lines.fold("127.0.0.1 localhost\n::1 localhost\n".to_owned(), |all, line| {
            all + &line
        })
    }

    /// CPU time that the boxes of its kind used; `None` where the host cannot tell it of each.
    pub(super) fn cpu_ns(&mut self) -> Option<u64> {
        self.of_its_kind().map(|(_, boxed)| boxed.cpu_ns()).sum()
    }

    /// Stops the boxes of its kind for a moment.
    pub(super) fn pause(&mut self) -> Result<(), BoxError> {
        self.of_its_kind()
            .try_for_each(|(_, boxed)| boxed.running.pause())
    }

    /// Lets these go on.
    pub(super) fn resume(&mut self) -> Result<(), BoxError> {
        self.of_its_kind()
            .try_for_each(|(_, boxed)| boxed.running.resume())
    }

    /// Stops them until they are thawed.
    pub(super) fn freeze(&mut self) -> Result<(), BoxError> {
        self.of_its_kind()
            .try_for_each(|(_, boxed)| boxed.running.freeze())
    }
}

/// The host name of a box for this role.
pub(super) fn hostname(role: &str) -> String {
    role.replace('_', "-")
}

/// The boxes of a cohort that are there, by kind.
pub(super) type LiveBoxes = BTreeMap<BoxKind, CellBoxes>;

/// Copies the files of what runs in a box into it, if it has its own root.
pub(super) fn supply(held: &mut CellBoxes, workload: &Workload, has_host_files: bool) -> Result<(), Failure> {
    if has_host_files {
        return Ok(());
    }
    let files = workload.tested().flat_map(|role| &role.files);
    carry_in(&mut held.own, files)
}

/// Copies files into a box that were not copied before.
pub(super) fn carry_in<'a>(
    boxed: &mut LiveBox,
    files: impl Iterator<Item = &'a String>,
) -> Result<(), Failure> {
    for path in files {
        if boxed.supplied.contains(path) {
            continue;
        }
        let failed = |detail: String| Failure::new(Reason::CannotRun, detail);
        let content = carry::content(Path::new(path)).map_err(|e| failed(e.to_string()))?;
        let within = ANSWER_DEADLINE + Duration::from_secs(content.len() as u64 / 1_000_000);
        let carried = boxed.running.carry(path, 0o755, &content, within);
        carried.map_err(|e| failed(e.to_string()))?;
        boxed.supplied.insert(path.clone());
    }
    Ok(())
}
