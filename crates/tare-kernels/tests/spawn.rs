//! The kernel `spawn` re-executes the binary that it is part of, so it is tested
//! in a program whose `main` is ours and not the test harness's.

use std::time::Instant;
use tare_kernels::{exit_if_noop, run};
use tare_model::kernel::{Isa, Kernel, KernelReport, KernelSpec};

fn main() {
    exit_if_noop();
    let spec = KernelSpec {
        kernel: Kernel::Spawn,
        isa: Isa::Baseline,
        threads: 1,
        size: 0,
        seconds: 0.2,
    };
    let begun = Instant::now();
    let report = run(&spec).expect("processes can be made");
    let whole = begun.elapsed().as_secs_f64();
    assert!(report.check.passed(), "{:?}", report.check);
    assert!(report.units_done >= 1.0);
    let latency = report.metrics["latency"];
    assert!((1e-6..1.0).contains(&latency), "{latency} s");
    assert!((0.2..2.0).contains(&whole), "{whole} s");
    assert!(report.wall_seconds >= 0.1 && report.wall_seconds <= whole);

    let json = serde_json::to_string(&report).expect("plain data");
    let read: KernelReport = serde_json::from_str(&json).expect("what was written");
    assert_eq!(read, report);
}
