//! Kernels that work in slices, as the agent runs them: a process that answers each
//! order before the next one comes.

use crate::common::{self, Turn};
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tare_model::gate::{Order, Slice};
use tare_model::kernel::{Isa, Kernel, KernelReport, KernelSpec};

struct Gate {
    child: Child,
    orders: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    _turn: Turn,
}

impl Gate {
    /// A kernel that is set up.
    fn open(kernel: Kernel) -> Self {
        let spec = KernelSpec {
            kernel,
            isa: Isa::Baseline,
            threads: 2,
            size: match kernel {
                Kernel::Stream | Kernel::Latency => 1 << 20,
                Kernel::Linpack | Kernel::Integer => 100,
                _ => kernel.sizes().map_or(0, |sizes| sizes.usual),
            },
            seconds: 1.0,
        };
        let mut command = Command::new(common::agent());
        command
            .args(["run-kernel", &serde_json::to_string(&spec).unwrap(), "--gate"])
            // On a disk, which some kernels measure.
            .current_dir("/var/tmp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let turn = Turn::take();
        let mut child = command.spawn().unwrap();
        let orders = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut gate = Self {
            child,
            orders,
            answers,
            _turn: turn,
        };
        assert_eq!(gate.answer(), "ready");
        gate
    }

    fn order(&mut self, line: &str) {
        self.orders.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn answer(&mut self) -> String {
        self.answers.next().unwrap().unwrap()
    }
}

#[test]
fn every_kernel_answers_each_order_and_reports_when_there_are_no_more() {
    // One for all kernels: between two of them another file would take its turn.
    let _turn = Turn::take();
    for kernel in Kernel::ALL {
        let mut gate = Gate::open(kernel);
        for (lead, units) in [(0, 1), (1, 10), (3, 2)] {
            gate.order(&serde_json::to_string(&Order { units, lead }).unwrap());
            let slice: Slice = serde_json::from_str(&gate.answer()).unwrap();
            assert!(slice.is_sound(), "{kernel}: {slice:?}");
            assert_eq!(slice.parts.len(), kernel.parts().len());
        }
        drop(gate.orders);
        let report: KernelReport = serde_json::from_str(&gate.answers.next().unwrap().unwrap()).unwrap();
        assert!(report.check.passed(), "{:?}", report.check);
        assert!(report.units_done >= 1.0);
        assert!(gate.answers.next().is_none(), "the report is the last line");
        assert!(gate.child.wait().unwrap().success());
    }
}

#[test]
fn a_line_that_is_no_order_ends_the_kernel_without_a_report() {
    let mut gate = Gate::open(Kernel::Stream);
    gate.order("{\"units\":0,\"lead\":0}");
    assert!(gate.answers.next().is_none());
    assert!(!gate.child.wait().unwrap().success());
}
