//! Probes in the host's kernel (eBPF): what it does for each box while it is the box's turn.
//!
//! The programs are C (`bpf/probes.bpf.c`), compiled to an object that is part of this crate. All that is attached ends with
//! [`Probes`], and with the process at the latest.

mod symbols;
mod tables;

use aya::maps::{Array, HashMap, Map, MapError};
use aya::programs::perf_event::{PerfEventConfig, PerfEventScope, SamplePolicy, SoftwareEvent};
use aya::programs::{BtfTracePoint, PerfEvent, ProgramError};
use aya::{Btf, BtfError, Ebpf, EbpfError, EbpfLoader};
use std::io;
use tare_model::evidence::{ProbeSet, Seen};

static OBJECT: &[u8] = aya::include_bytes_aligned!("../bpf/probes.bpf.o");

/// Samples of each CPU in a second; no round number, so that nothing that ticks is met each time.
pub const SAMPLES_PER_SECOND: u64 = 3989;
/// Stacks of a box for which there is room, and of all boxes together: a thousand take 1 MiB.
const STACKS_OF_A_BOX: u32 = 8192;
const MOST_STACKS: u32 = 1 << 16;
/// System calls that are told apart.
const CALLS: u32 = 512;

/// Why the kernel cannot be looked into.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The kernel does not tell its types, without which no probe finds a field.
    #[error(
        "the kernel does not tell its types (/sys/kernel/btf/vmlinux: {0}): CONFIG_DEBUG_INFO_BTF, since Linux 5.4"
    )]
    NoTypes(#[from] BtfError),
    /// The kernel refused the programs or their tables.
    #[error("the kernel refuses eBPF programs: {source}{HINT}")]
    Refused { source: Box<EbpfError> },
    /// The kernel refused a program.
    #[error("the kernel refuses the probe '{program}': {source}{HINT}")]
    Program {
        program: &'static str,
        source: Box<ProgramError>,
    },
    /// A table cannot be written or read.
    #[error("cannot reach the probes' tables: {0}")]
    Table(#[from] MapError),
    /// The names of the kernel's functions, or the CPUs, cannot be read.
    #[error("cannot read {what}: {source}")]
    Host { what: &'static str, source: io::Error },
}

/// What most refusals come from.
const HINT: &str = " (probes need root with CAP_BPF and CAP_PERFMON outside of containers, no lockdown of the kernel, and Linux 5.11 or newer)";

/// The programs of a set, each with its tracepoint.
const fn programs(set: ProbeSet) -> &'static [(&'static str, &'static str)] {
    match set {
        ProbeSet::Times => &[
            ("switched", "sched_switch"),
            ("woke", "sched_wakeup"),
            ("born", "sched_wakeup_new"),
            ("fault", "page_fault_user"),
            ("kernel_fault", "page_fault_kernel"),
            ("softirq_in", "softirq_entry"),
            ("softirq_out", "softirq_exit"),
            ("tick_in", "local_timer_entry"),
            ("tick_out", "local_timer_exit"),
            ("issued", "block_rq_issue"),
            ("completed", "block_rq_complete"),
        ],
        ProbeSet::Calls => &[("entered", "sys_enter"), ("left", "sys_exit")],
        ProbeSet::Stacks => &[
            ("switched", "sched_switch"),
            ("woke", "sched_wakeup"),
            ("born", "sched_wakeup_new"),
        ],
    }
}

/// Whether this kernel has a tracepoint: some are those of x86 alone.
pub(crate) fn is_here(tracepoint: &str) -> bool {
    const OF_X86: [&str; 4] = [
        "page_fault_user",
        "page_fault_kernel",
        "local_timer_entry",
        "local_timer_exit",
    ];
    cfg!(target_arch = "x86_64") || !OF_X86.contains(&tracepoint)
}

const SAMPLER: &str = "sampled";

/// Probes that are attached.
#[derive(Debug)]
pub struct Probes {
    ebpf: Ebpf,
    set: ProbeSet,
    n_boxes: u32,
    turns: u32,
}

impl Probes {
    /// Attaches a set of probes to the kernel, for boxes whose cgroups of the cpu controller have these numbers. These
    /// processes are left out.
    ///
    /// # Errors
    /// [`ProbeError`].
    pub fn attach(set: ProbeSet, cgroups: &[u64], left_out: &[u32]) -> Result<Self, ProbeError> {
        let btf = Btf::from_sys_fs()?;
        let n_boxes = u32::try_from(cgroups.len()).unwrap_or(u32::MAX);
        // Boxes count from 1.
        let places = n_boxes.saturating_add(1);
        let room = places.saturating_mul(STACKS_OF_A_BOX).min(MOST_STACKS);
        let ebpf = EbpfLoader::new()
            .btf(Some(&btf))
            // The kernel itself says whether it has them: what is tried out for one here takes no part in it.
            .allow_unsupported_maps()
            .override_global("with_stacks", &u32::from(set == ProbeSet::Stacks), true)
            .map_max_entries("boxes", places)
            .map_max_entries(
                "left_out",
                u32::try_from(left_out.len()).unwrap_or(u32::MAX).max(1),
            )
            .map_max_entries("seen", places)
            .map_max_entries("calls", places.saturating_mul(CALLS))
            .map_max_entries("asides", places.saturating_mul(tables::ASIDES))
            .map_max_entries("stacks", room)
            .map_max_entries("by_stack", room)
            .load(OBJECT)
            .map_err(|e| ProbeError::Refused { source: Box::new(e) })?;
        let mut probes = Self {
            ebpf,
            set,
            n_boxes,
            turns: 0,
        };
        probes.register(cgroups, left_out)?;
        for (program, tracepoint) in programs(set).iter().filter(|(_, at)| is_here(at)) {
            probes
                .trace(program, tracepoint, &btf)
                .map_err(|e| refused(program, e))?;
        }
        if set == ProbeSet::Stacks {
            probes.sample()?;
        }
        Ok(probes)
    }

    fn register(&mut self, cgroups: &[u64], left_out: &[u32]) -> Result<(), ProbeError> {
        let mut boxes: HashMap<_, u64, u32> = self.table("boxes")?.try_into()?;
        for (number, cgroup) in (1..).zip(cgroups) {
            boxes.insert(cgroup, number, 0)?;
        }
        let mut processes: HashMap<_, u32, u32> = self.table("left_out")?.try_into()?;
        for process in left_out {
            processes.insert(process, 1, 0)?;
        }
        Ok(())
    }

    fn trace(&mut self, program: &str, tracepoint: &str, btf: &Btf) -> Result<(), ProgramError> {
        let found = self.ebpf.program_mut(program);
        let probe: &mut BtfTracePoint = found.ok_or(ProgramError::NotLoaded)?.try_into()?;
        probe.load(tracepoint, btf)?;
        probe.attach().map(drop)
    }

    fn sample(&mut self) -> Result<(), ProbeError> {
        let cpus = aya::util::online_cpus();
        let cpus = cpus.map_err(|(what, source)| ProbeError::Host { what, source })?;
        let attach = |ebpf: &mut Ebpf| {
            let found = ebpf.program_mut(SAMPLER);
            let sampler: &mut PerfEvent = found.ok_or(ProgramError::NotLoaded)?.try_into()?;
            sampler.load()?;
            cpus.into_iter().try_for_each(|cpu| {
                let config = PerfEventConfig::Software(SoftwareEvent::CpuClock);
                let scope = PerfEventScope::AllProcessesOneCpu { cpu };
                let policy = SamplePolicy::Frequency(SAMPLES_PER_SECOND);
                sampler.attach(config, scope, policy, false).map(drop)
            })
        };
        attach(&mut self.ebpf).map_err(|e| refused(SAMPLER, e))
    }

    /// Has all that happens from now on count for the box of this place in the list of cgroups, or for none.
    ///
    /// # Errors
    /// [`ProbeError::Table`].
    pub fn turn(&mut self, of: Option<usize>) -> Result<(), ProbeError> {
        self.turns = self.turns.wrapping_add(1);
        let number = of.map_or(0, |place| u32::try_from(place + 1).unwrap_or(0));
        let value = [number, self.turns];
        let mut now: Array<_, [u32; 2]> = self.table(".bss")?.try_into()?;
        Ok(now.set(0, value, 0)?)
    }

    /// What was seen of each box, in the order of their cgroups. The probes end.
    ///
    /// # Errors
    /// [`ProbeError::Table`], [`ProbeError::Host`].
    pub fn read(self) -> Result<Vec<Seen>, ProbeError> {
        let mut all = (1..=self.n_boxes)
            .map(|number| tables::of_box(&self.ebpf, self.set, number))
            .collect::<Result<Vec<Seen>, _>>()?;
        if self.set == ProbeSet::Stacks {
            tables::add_stacks(&self.ebpf, &mut all)?;
        }
        Ok(all)
    }

    fn table(&mut self, name: &'static str) -> Result<&mut Map, ProbeError> {
        Ok(self.ebpf.map_mut(name).ok_or_else(|| no_table(name))?)
    }
}

fn no_table(name: &str) -> MapError {
    MapError::InvalidName {
        name: name.to_owned(),
    }
}

fn refused(program: &'static str, source: ProgramError) -> ProbeError {
    ProbeError::Program {
        program,
        source: Box::new(source),
    }
}

/// Whether the kernel can be looked into: attaches each set once, which takes some 50 ms.
///
/// # Errors
/// [`ProbeError`].
pub fn try_out() -> Result<(), ProbeError> {
    ProbeSet::ALL
        .into_iter()
        .try_for_each(|set| Probes::attach(set, &[], &[]).map(drop))
}
