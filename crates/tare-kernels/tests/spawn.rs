//! The kernel `spawn` re-executes the binary that it is part of, so it is tested
//! in a program whose `main` is ours and not the test harness's.

use std::time::Instant;
use tare_kernels::{exit_if_noop, run, serve};
use tare_wire::gate::Slice;
use tare_wire::kernel::{Isa, Kernel, KernelReport, KernelSpec};

fn main() {
    exit_if_noop();
    let spec = KernelSpec {
        kernel: Kernel::Spawn,
        isa: Isa::Baseline,
        threads: 1,
        size: 0,
        seconds: 0.2,
    };
    one_piece_meets_its_aim(&spec);
    slices_are_so_many_processes(&spec);
}

fn one_piece_meets_its_aim(spec: &KernelSpec) {
    let begun = Instant::now();
    let report = run(spec).expect("processes can be made");
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

fn slices_are_so_many_processes(spec: &KernelSpec) {
    let orders = "{\"units\":1,\"lead\":0}\n{\"units\":20,\"lead\":3}\n";
    let mut answers = Vec::new();
    let report = serve(spec, &mut orders.as_bytes(), &mut answers).expect("processes can be made");
    assert!(report.check.passed(), "{:?}", report.check);
    assert_eq!(report.units_done, 21.0);
    let latency = report.metrics["latency"];
    assert!((1e-6..1.0).contains(&latency), "{latency} s");

    let text = String::from_utf8(answers).expect("JSON");
    let slices = text.strip_prefix("ready\n").expect("it says that it is ready");
    let read = |line| serde_json::from_str::<Slice>(line).expect("a slice");
    let slices: Vec<Slice> = slices.lines().map(read).collect();
    let works: Vec<_> = slices.iter().map(|slice| slice.parts[0].work).collect();
    assert_eq!(works, [1.0, 20.0]);
    assert!(slices.iter().all(Slice::is_sound));
    // Starting the binary takes each child longer than a microsecond.
    let cpu_ns = slices[1].cpu_ns();
    assert!(cpu_ns > 20_000, "{cpu_ns} ns");
}
