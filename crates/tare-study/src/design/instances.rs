//! The sizes of boxes, held against this host.

use super::{DesignError, StudyRequest, refuse_twice};
use tare_host::host;
use tare_model::host::HostFacts;
use tare_model::kernel::{Kernel, KernelSpec};
use tare_model::platform::Provisioning;
use tare_model::size::{Cpus, InstanceType, NamedInstance, SizeError, parse_instance, show_memory};
use tare_model::study::{Instance, Workload};

/// Smallest box: an agent, a kernel of ours and, in a VM, a Linux kernel.
const MIN_MEMORY: u64 = 64 << 20;
/// What a VM's kernel, an agent and page tables take beside a workload's memory.
const MEMORY_OVERHEAD: u64 = 96 << 20;
/// A matrix of this order (8 MB) fits into the smallest box beside the agent.
const SMALL_ORDER: u64 = 1000;

/// What no host has: sums of so many CPUs and bytes over all boxes are in range.
const MOST_CPUS: u32 = 1 << 20;
const MOST_MEMORY: u64 = 1 << 46;

/// Half the CPUs: the controller, the engines and the host need some too.
pub(super) fn default_cpus() -> Result<Cpus, SizeError> {
    let half = host::allowed_cpus().len().div_ceil(2).max(1);
    half.to_string().parse()
}

/// The sizes of boxes: those that are named, or the one of --cpus and --memory.
/// What is larger than this host is among the misfits.
pub(super) fn instances(
    wishes: &StudyRequest,
    provisioning: &[Provisioning],
    cpus: Cpus,
    workloads: &[Workload],
    facts: &HostFacts,
    misfits: &mut Vec<DesignError>,
) -> Result<Vec<Instance>, DesignError> {
    let needs = Needs::of(workloads);
    if wishes.instances.is_empty() {
        let size = InstanceType {
            cpus,
            memory_bytes: needs.memory(wishes.memory_bytes)?,
        };
        misfits.extend(too_many_cpus(cpus));
        misfits.extend(too_much_memory(size.memory_bytes, facts));
        return Ok(vec![Instance {
            name: None,
            size,
            pinned_set: pinned_set(provisioning, cpus)?,
            host_cpus: None,
            host_set: Vec::new(),
        }]);
    }
    if wishes.cpus.is_some() || wishes.memory_bytes.is_some() {
        return Err(DesignError::TwoSizes);
    }
    let read = wishes.instances.iter().map(|text| parse_instance(text));
    let types = read.collect::<Result<Vec<_>, _>>()?;
    let names: Vec<&String> = types.iter().map(|named| &named.name).collect();
    refuse_twice("instance type", &names)?;
    misfits.extend(types.iter().filter_map(|named| too_large(named, facts)));
    let instance = |named: NamedInstance| {
        needs.memory(Some(named.size.memory_bytes))?;
        Ok(Instance {
            pinned_set: pinned_set(provisioning, named.size.cpus)?,
            name: Some(named.name),
            size: named.size,
            host_cpus: named.host_cpus,
            host_set: named.host_cpus.map_or_else(Vec::new, host::pinned_set),
        })
    };
    types.into_iter().map(instance).collect()
}

/// Refuses a size that no box could have on any host.
pub(super) fn possible(size: &InstanceType) -> Result<(), DesignError> {
    // Read again as if it had been given.
    let cpus = size.cpus.to_string().parse::<Cpus>()?;
    let bytes = Needs::of(&[]).memory(Some(size.memory_bytes))?;
    if cpus.whole() > MOST_CPUS {
        let available = MOST_CPUS;
        return Err(DesignError::TooManyCpus {
            asked: cpus,
            available,
        });
    }
    if bytes > MOST_MEMORY {
        return Err(DesignError::TooMuchMemory {
            asked: bytes,
            available: MOST_MEMORY,
        });
    }
    Ok(())
}

fn usable_cpus() -> u32 {
    u32::try_from(host::allowed_cpus().len()).unwrap_or(u32::MAX)
}

fn too_large(named: &NamedInstance, facts: &HostFacts) -> Option<DesignError> {
    let NamedInstance {
        name,
        size,
        host_cpus,
    } = named;
    let cpus = usable_cpus();
    let fits = size.cpus.as_f64() <= f64::from(cpus) && size.memory_bytes <= facts.memory_bytes;
    if !fits {
        return Some(DesignError::InstanceTooLarge {
            name: name.clone(),
            size: *size,
            cpus,
            memory_bytes: facts.memory_bytes,
        });
    }
    let asked = host_cpus.filter(|asked| *asked > cpus)?;
    Some(DesignError::HostTooSmall {
        name: name.clone(),
        asked,
        available: cpus,
    })
}

fn too_many_cpus(asked: Cpus) -> Option<DesignError> {
    let available = usable_cpus();
    (asked.as_f64() > f64::from(available)).then_some(DesignError::TooManyCpus { asked, available })
}

fn too_much_memory(asked: u64, facts: &HostFacts) -> Option<DesignError> {
    let available = facts.memory_bytes;
    (asked > available).then_some(DesignError::TooMuchMemory { asked, available })
}

/// The CPUs of a pinned box; none where it has more than this host.
fn pinned_set(provisioning: &[Provisioning], cpus: Cpus) -> Result<Vec<u32>, DesignError> {
    if !provisioning.contains(&Provisioning::Pinned) {
        return Ok(Vec::new());
    }
    if !cpus.milli().is_multiple_of(1000) {
        return Err(DesignError::PinnedFraction(cpus));
    }
    if cpus.whole() > usable_cpus() {
        return Ok(Vec::new());
    }
    Ok(host::pinned_set(cpus.whole()))
}

/// CPUs for what runs outside: those of this host on which no pinned box is, of the largest
/// size; none if such a box has them all.
pub(super) fn outside_set(instances: &[Instance]) -> Vec<u32> {
    let most = instances.iter().map(|instance| instance.size.cpus.whole()).max();
    let taken = host::pinned_set(most.unwrap_or(0));
    let mut left = host::allowed_cpus();
    left.retain(|cpu| !taken.contains(cpu));
    left
}

/// What workloads need of a box's memory.
struct Needs {
    /// Bytes of the largest one's data; 0: any box will do.
    data: u64,
    /// Which that is.
    what: String,
    /// The most memory of a box that a workload file says it needs: another may do with other parameters.
    told: u64,
}

impl Needs {
    fn of(workloads: &[Workload]) -> Self {
        let data = |workload: &Workload| workload.kernel().and_then(data);
        let largest = workloads.iter().filter_map(data).max_by_key(|(data, _)| *data);
        let (data, what) = largest.unwrap_or_default();
        let told = workloads
            .iter()
            .filter_map(|workload| workload.memory_bytes)
            .max();
        Self {
            data,
            what,
            told: told.unwrap_or(0),
        }
    }

    /// The memory of a box: what is asked for, if it will do, or what is needed.
    fn memory(&self, asked: Option<u64>) -> Result<u64, DesignError> {
        let needed = needed(self.data);
        // The default grows in steps, so that hosts alike get the same.
        let bytes = asked.unwrap_or_else(|| needed.max(self.told).next_multiple_of(1 << 30));
        let too_little = |needed, what: &str| DesignError::TooLittleMemory {
            asked: bytes,
            needed,
            what: what.to_owned(),
        };
        if bytes < MIN_MEMORY {
            return Err(too_little(MIN_MEMORY, "a box"));
        }
        if self.data > 0 && bytes < needed {
            return Err(too_little(needed, &self.what));
        }
        if !bytes.is_multiple_of(1 << 20) {
            return Err(DesignError::OddMemory(bytes));
        }
        Ok(bytes)
    }
}

/// Memory of a box for so many bytes of data.
const fn needed(data: u64) -> u64 {
    (data + data / 10 + MEMORY_OVERHEAD).next_multiple_of(1 << 20)
}

/// Whether a box of so much memory holds the data of two processes of a workload.
pub fn holds_two(workload: &Workload, memory_bytes: u64) -> bool {
    let data = workload.kernel().and_then(data).map_or(0, |(bytes, _)| bytes);
    data == 0 || needed(2 * data) <= memory_bytes
}

/// Bytes of a kernel's data and what they are, where they matter.
fn data(spec: &KernelSpec) -> Option<(u64, String)> {
    match spec.kernel {
        Kernel::Stream => {
            let each = show_memory(spec.size);
            Some((3 * spec.size, format!("stream (three arrays of {each})")))
        }
        Kernel::Linpack if spec.size > SMALL_ORDER => {
            let what = format!("linpack (a matrix of order {})", spec.size);
            Some((8 * spec.size * spec.size, what))
        }
        Kernel::Latency => {
            let what = format!("latency (a buffer of {})", show_memory(spec.size));
            Some((spec.size, what))
        }
        _ => None,
    }
}
