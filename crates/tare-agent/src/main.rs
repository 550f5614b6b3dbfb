//! The program that goes into every box in which something is measured.

#![forbid(unsafe_code)]

use std::process::ExitCode;

/// musl's allocator maps and unmaps memory again and again, which costs a fifth
/// of what a trial costs beside its work.
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    // Before anything else: the spawn kernel measures how long this takes.
    tare_kernels::exit_if_noop();
    tare_agent::run(None)
}
