//! Other work on the host: a busy loop on every CPU.

use anyhow::Result;
use std::path::Path;
use std::process::{Child, Command};

/// Loops on the CPU of that number among those that it may use, until it or its
/// parent is ended.
const LOOP: &str = r"#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
int main(int argc, char **argv)
{
    cpu_set_t allowed, own;
    int skip = argc > 1 ? atoi(argv[1]) : 0, cpu = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (sched_getaffinity(0, sizeof allowed, &allowed)) return 1;
    while (cpu < CPU_SETSIZE && (!CPU_ISSET(cpu, &allowed) || skip--)) cpu++;
    if (cpu == CPU_SETSIZE) return 1;
    CPU_ZERO(&own);
    CPU_SET(cpu, &own);
    if (sched_setaffinity(0, sizeof own, &own)) return 1;
    for (;;) {}
}
";

/// The loops; they end with it.
pub struct Busy(Vec<Child>);

impl Busy {
    /// Starts one on each CPU; `folder` is for their program.
    pub fn start(folder: &Path) -> Result<Self> {
        let program = crate::compile(folder, "busy", LOOP)?;
        let mut busy = Self(Vec::new());
        for number in 0..std::thread::available_parallelism()?.get() {
            busy.0
                .push(Command::new(&program).arg(number.to_string()).spawn()?);
        }
        Ok(busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended by itself cannot be killed, and is reaped all the same.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
