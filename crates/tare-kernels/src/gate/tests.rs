//! The gate and every kernel behind it.

use super::*;
use tare_wire::kernel::{Isa, Kernel};

/// Serves orders of (lead, units); the slices and the report.
fn served(spec: &KernelSpec, orders: &[(u64, u64)]) -> (Vec<Slice>, KernelReport) {
    let line = |(lead, units): &(u64, u64)| format!("{{\"units\":{units},\"lead\":{lead}}}\n");
    let orders: String = orders.iter().map(line).collect();
    let mut answers = Vec::new();
    let report = crate::serve(spec, &mut orders.as_bytes(), &mut answers).unwrap();
    let text = String::from_utf8(answers).unwrap();
    let slices = text.strip_prefix("ready\n").expect("it says that it is ready");
    let read = |line| serde_json::from_str(line).unwrap();
    (slices.lines().map(read).collect(), report)
}

fn spec(kernel: Kernel, size: u64) -> KernelSpec {
    KernelSpec {
        kernel,
        isa: Isa::Baseline,
        threads: 1,
        size,
        seconds: 1.0,
    }
}

fn specs() -> Vec<KernelSpec> {
    let size = |kernel: Kernel| match kernel {
        Kernel::Stream => 1 << 20,
        Kernel::Linpack => 100,
        Kernel::Integer => 10,
        _ => kernel.sizes().map_or(0, |sizes| sizes.least),
    };
    // `spawn` re-executes its binary: see tests/spawn.rs.
    let kernels = Kernel::ALL.into_iter().filter(|kernel| *kernel != Kernel::Spawn);
    kernels.map(|kernel| spec(kernel, size(kernel))).collect()
}

#[test]
fn every_order_is_answered_by_a_sound_slice() {
    for spec in specs() {
        let (slices, report) = served(&spec, &[(0, 1), (3, 7), (100, 1000)]);
        assert_eq!(slices.len(), 3);
        for slice in &slices {
            assert!(slice.is_sound(), "{slice:?}");
            assert_eq!(slice.parts.len(), spec.kernel.parts().len());
        }
        assert!(report.check.passed(), "{:?}", report.check);
        assert!(report.units_done >= 1.0);
        let wall: u64 = slices.iter().map(Slice::wall_ns).sum();
        assert_eq!(report.wall_seconds, clock::seconds(wall));
    }
}

#[test]
fn metrics_are_those_of_all_slices_together() {
    for spec in specs() {
        let (slices, report) = served(&spec, &[(1, 20), (0, 50)]);
        let reported: Vec<_> = report.metrics.keys().cloned().collect();
        let mut names: Vec<_> = spec.kernel.metrics().into_iter().map(|m| m.name).collect();
        names.sort();
        assert_eq!(reported, names);
        let sum = |i: usize| {
            let mut sum = NOTHING;
            slices.iter().for_each(|slice| add(&mut sum, &slice.parts[i]));
            sum
        };
        for (i, name) in spec.kernel.parts().iter().enumerate() {
            let (work, seconds) = (sum(i).work, clock::seconds(sum(i).wall_ns));
            let metrics = spec.kernel.metrics();
            let metric = metrics.iter().find(|metric| metric.name == *name).unwrap();
            let right = match metric.direction {
                Direction::Higher => work / seconds,
                Direction::Lower => seconds / work,
            };
            assert_eq!(report.metrics[*name], right);
        }
    }
}

#[test]
fn the_same_orders_are_the_same_work() {
    let orders = [(1, 3), (0, 1), (5, 40), (2, 1000), (0, 7)];
    for spec in specs() {
        let works = || {
            let slices = served(&spec, &orders).0;
            slices
                .into_iter()
                .map(|slice| slice.parts.iter().map(|part| part.work).collect::<Vec<_>>())
                .collect::<Vec<_>>()
        };
        assert_eq!(works(), works());
    }
}

#[test]
fn without_orders_there_are_no_figures_and_nothing_is_wrong() {
    for spec in specs() {
        let (slices, report) = served(&spec, &[]);
        assert!(slices.is_empty() && report.metrics.is_empty());
        assert!(report.check.passed(), "{:?}", report.check);
        assert_eq!(report.wall_seconds, 0.0);
    }
}

#[test]
fn orders_that_make_no_sense_are_errors() {
    let refused = |orders: &[u8]| {
        let spec = spec(Kernel::Syscall, 0);
        crate::serve(&spec, &mut &*orders, &mut Vec::new()).unwrap_err()
    };
    let endless = [b"{\"units\":1,\"lead\":".as_slice(), &[b'0'; 100_000]].concat();
    for orders in [
        b"\n".as_slice(),
        b"go\n",
        b"{}\n",
        b"{\"units\":1}\n",
        b"{\"units\":0,\"lead\":1}\n",
        b"{\"units\":-1,\"lead\":0}\n",
        b"{\"units\":1.5,\"lead\":0}\n",
        b"{\"units\":18446744073709551616,\"lead\":0}\n",
        b"{\"units\":1,\"lead\":0}{\"units\":1,\"lead\":0}\n",
        b"{\"units\":1,\"le",
        b"\xff\xfe\n",
        &[b'['; 10_000],
        &endless,
    ] {
        let error = refused(orders);
        assert!(matches!(error, KernelError::Order { .. }), "{error}");
        assert!(error.to_string().len() < 600, "{error}");
    }
}

#[test]
fn a_last_order_needs_no_line_break() {
    let mut answers = Vec::new();
    let spec = spec(Kernel::Syscall, 0);
    crate::serve(&spec, &mut b"{\"units\":2,\"lead\":0}".as_slice(), &mut answers).unwrap();
    assert_eq!(answers.iter().filter(|byte| **byte == b'\n').count(), 2);
}

/// Refuses every line after the first.
struct Gone(bool);

impl Write for Gone {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if std::mem::replace(&mut self.0, true) {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_answer_that_nobody_takes_is_an_error() {
    let mut orders = b"{\"units\":1,\"lead\":0}\n".as_slice();
    let served = crate::serve(&spec(Kernel::Syscall, 0), &mut orders, &mut Gone(false));
    let error = served.unwrap_err().to_string();
    assert!(error.starts_with("answering an order failed"), "{error}");
}
