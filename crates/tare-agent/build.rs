//! How the program is laid out in memory, and what it is known by.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A C compiler passes words on to its linker. For other CPUs, for which there may be none, the linker is called by itself.
    let is_linker = std::env::var_os("RUSTC_LINKER").is_some_and(|linker| linker == "rust-lld");
    let mark = if is_linker { "" } else { "-Wl," };
    // The kernel maps what is around a page that is asked for, in blocks of 64 KiB. Where a file
    // system does not align programs by itself (overlays do not), blocks across the ends of such
    // made an idle agent 0.6 MiB larger.
    for word in ["-z", "max-page-size=65536", "--build-id=sha1"] {
        println!("cargo::rustc-link-arg-bins={mark}{word}");
    }
}
