//! What options beside `--resume` ask for: all that they do not say is as the file has it.

use tare_model::host::HostFacts;
use tare_model::study::{Protocol, Study};
use tare_model::workload::Workload;
use tare_study::design::{self, DesignError, ProtocolOptions, StudyRequest};

/// The study `then` of a file with what is asked of it now.
///
/// # Errors
/// [`DesignError`], where the wishes are none that could be had.
pub fn asked(then: &Study, wishes: &StudyRequest, facts: &HostFacts) -> Result<Study, DesignError> {
    let asked = Asked::of(wishes);
    let protocol = wishes.protocol.on(&then.protocol);
    let same = Study {
        protocol,
        ..then.clone()
    };
    if !asked.anything() {
        return Ok(same);
    }
    let designed = design::study(&filled(then, wishes, &asked, &protocol), facts)?;
    // What is not asked for was designed as well, and to no purpose.
    let or_same = |is_asked, part: Study| if is_asked { part } else { same.clone() };
    Ok(Study {
        instances: or_same(asked.size, designed.clone()).instances,
        workloads: or_same(asked.work, designed.clone()).workloads,
        platforms: designed.platforms,
        baseline: designed.baseline,
        provisioning: designed.provisioning,
        ..same
    })
}

/// Which parts of a study are asked for.
struct Asked {
    platforms: bool,
    provisioning: bool,
    size: bool,
    work: bool,
}

impl Asked {
    fn of(wishes: &StudyRequest) -> Self {
        Self {
            platforms: !wishes.platforms.is_empty() || !wishes.levels.is_empty() || wishes.baseline.is_some(),
            provisioning: !wishes.provisioning.is_empty(),
            size: wishes.cpus.is_some() || wishes.memory_bytes.is_some() || !wishes.instances.is_empty(),
            work: !wishes.workloads.is_empty() || wishes.command.is_some() || wishes.isa.is_some(),
        }
    }

    const fn anything(&self) -> bool {
        self.platforms || self.provisioning || self.size || self.work
    }
}

/// The kernels of the file where none is named, and their instruction set where none is.
fn fill_kernels(filled: &mut StudyRequest, then: &Study) {
    let kernels = || then.workloads.iter().filter_map(Workload::kernel);
    filled.isa = filled.isa.or_else(|| kernels().next().map(|kernel| kernel.isa));
    if filled.workloads.is_empty() {
        filled.workloads = kernels().map(|kernel| kernel.kernel.name().into()).collect();
    }
}

/// The wishes with those of the file where they say nothing and others depend on it.
fn filled(then: &Study, wishes: &StudyRequest, asked: &Asked, protocol: &Protocol) -> StudyRequest {
    let mut filled = wishes.clone();
    if filled.platforms.is_empty() {
        filled.platforms = then.platforms.iter().map(ToString::to_string).collect();
    }
    // A file's first platform need not be its baseline.
    let baseline = then.baseline.to_string();
    if filled.baseline.is_none() && filled.platforms.contains(&baseline) {
        filled.baseline = Some(baseline);
    }
    if !asked.provisioning {
        filled.provisioning.clone_from(&then.provisioning);
    }
    if let ([one], true) = (&then.instances[..], filled.instances.is_empty()) {
        filled.cpus = filled.cpus.or(Some(one.size.cpus));
        filled.memory_bytes = filled.memory_bytes.or(Some(one.size.memory_bytes));
    }
    if !asked.work {
        // Whatever fits into any box.
        filled.workloads = vec!["syscall".into()];
    } else if filled.command.is_none() {
        fill_kernels(&mut filled, then);
    }
    // The size of a kernel's data and the length of its work follow from these. No kernel
    // has a trial of no length.
    let has_length = asked.work || protocol.trial_seconds > 0.0;
    filled.protocol = ProtocolOptions {
        slicing: Some(protocol.slicing),
        trial_seconds: has_length.then_some(protocol.trial_seconds),
        timeout_seconds: has_length.then_some(protocol.timeout_seconds),
        ..ProtocolOptions::default()
    };
    filled
}
