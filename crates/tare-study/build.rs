//! Has the crate made anew when a workload is added: the compiler knows only of those that it read.

fn main() {
    println!("cargo::rerun-if-changed=../../workloads");
}
