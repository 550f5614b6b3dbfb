//! Two arms on one platform, as a study that the runner of every measurement runs.

use tare_model::kernel::{Isa, Kernel};
use tare_model::platform::Provisioning;
use tare_model::study::{BoxKind, Cell, Study};
use tare_selftest::log::Options;
use tare_study::design::{self, ProtocolOptions, StudyRequest, WorkloadWish};

/// The arms are instance types of one size: each has boxes of its own.
const ARMS: [&str; 2] = ["a", "b"];
/// The instance type of the third box, which has no part in the comparison.
const POLLUTER: &str = "polluter";
/// CPUs and memory of an arm's box. With one thread on a CPU of its own nothing is
/// throttled.
const SIZE: &str = "1:512M";
/// Those of the polluter's, and the bytes of each of its three arrays: over half of its
/// memory, and more than a slice gets through, but soon filled, as each block's box has to.
const POLLUTER_SIZE: &str = "1:256M";
const ARRAY: u64 = 48 << 20;
/// Aim for a unit of sliced work in seconds: some 200 make a slice, so that its length is
/// close to what is asked for.
const UNIT_SECONDS: f64 = 50e-6;
/// Iterations by which the host is timed.
const PROBE: u64 = 200_000;
/// Most iterations of the first arm.
const MOST: u64 = 1 << 30;

/// The study of one campaign.
pub struct Comparison {
    pub study: Study,
    /// The arms that are compared.
    pub arms: [Cell; 2],
}

/// Iterations of both arms for a trial, or in slices for a unit of work, as long as asked
/// for on this host.
pub fn iterations(options: &Options) -> anyhow::Result<[u64; 2]> {
    let aim_seconds = if options.slicing.is_off() {
        options.trial_seconds
    } else {
        UNIT_SECONDS
    };
    Ok(whole(aim_seconds / iteration_seconds()?, options.tenths))
}

/// Seconds of an iteration on this host: by CPU time, since others may be at work.
fn iteration_seconds() -> anyhow::Result<f64> {
    let facts = tare_host::host::facts();
    let mut spec = design::kernel_spec(Kernel::Integer, Some(Isa::Baseline), 1, &facts, 0.1);
    spec.size = PROBE;
    let report = crate::agent::run_kernel(&spec)?;
    #[expect(clippy::cast_precision_loss, reason = "200,000")]
    let each = report.metrics["cpu"] / PROBE as f64;
    Ok(each)
}

/// About so many iterations, and so many tenths of a percent more; both are whole, so that
/// their ratio is exact.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the cast saturates, as it should"
)]
fn whole(wanted: f64, tenths: u32) -> [u64; 2] {
    let tenths = u64::from(tenths);
    // The fewest of which that share is whole.
    let step = (1..1000)
        .find(|n| (n * tenths).is_multiple_of(1000))
        .unwrap_or(1000);
    let steps = ((wanted / step as f64).round() as u64).clamp(1, MOST / step);
    let first = steps * step;
    [first, first + first * tenths / 1000]
}

/// The study of one campaign.
pub fn comparison(options: &Options, iterations: [u64; 2], seed: u64) -> anyhow::Result<Comparison> {
    let mut study = design::study(&wishes(options, iterations, seed), &tare_host::host::facts())?;
    let more = usize::from(iterations[0] != iterations[1]);
    let arms = [cell(&study, ARMS[0], 0), cell(&study, ARMS[1], more)];
    // Each arm has its own amount of work, and not that of the other.
    study.listed = arms.iter().cloned().collect();
    if options.polluter {
        study.listed.insert(cell(&study, POLLUTER, more + 1));
    }
    Ok(Comparison { study, arms })
}

/// Boxes and workloads of the arms, then those of the polluter.
fn wishes(options: &Options, iterations: [u64; 2], seed: u64) -> StudyRequest {
    let workload = |kernel: Kernel, size| WorkloadWish {
        size: Some(size),
        ..WorkloadWish::from(kernel.name())
    };
    let mut sizes = iterations.to_vec();
    sizes.dedup();
    let arms = sizes.into_iter().map(|size| workload(Kernel::Integer, size));
    let polluter = options.polluter.then(|| workload(Kernel::Stream, ARRAY));
    let arm_boxes = ARMS.map(|name| format!("{name}={SIZE}"));
    let third_box = options.polluter.then(|| format!("{POLLUTER}={POLLUTER_SIZE}"));
    StudyRequest {
        platforms: vec![options.platform.clone()],
        provisioning: vec![Provisioning::Pinned],
        instances: arm_boxes.into_iter().chain(third_box).collect(),
        workloads: arms.chain(polluter).collect(),
        protocol: ProtocolOptions {
            blocks: Some(options.blocks),
            fresh: Some(options.fresh),
            trial_seconds: Some(options.trial_seconds),
            slicing: Some(options.slicing),
            settle: Some(options.settle),
            margin_percent: Some(options.margin_percent),
            seed: Some(seed),
            ..ProtocolOptions::default()
        },
        ..StudyRequest::default()
    }
}

/// What runs in the boxes of this instance type: the study's workload of this number.
fn cell(study: &Study, instance: &str, workload: usize) -> Cell {
    Cell {
        kind: BoxKind {
            platform: study.baseline.clone(),
            provisioning: Provisioning::Pinned,
            instance: Some(instance.to_owned()),
        },
        workload: study.workloads[workload].name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_arm_does_exactly_as_much_more_as_is_asked() {
        for tenths in [0, 1, 5, 10, 20, 50, 999, 1000] {
            for wanted in [0.1, 130.0, 1e6] {
                let [first, second] = whole(wanted, tenths);
                assert!(first > 0);
                assert_eq!(1000 * second, first * (1000 + u64::from(tenths)), "{tenths}");
            }
        }
        assert_eq!(whole(130.0, 20), [150, 153]);
        assert_eq!(whole(130.0, 0), [130, 130]);
    }
}
