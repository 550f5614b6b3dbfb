//! How the program is laid out in memory, and what it is known by.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The kernel maps what is around a page that is asked for, in blocks of 64 KiB. Where a file
    // system does not align programs by itself (overlays do not), blocks across the ends of such
    // made an idle agent 0.6 MiB larger.
    println!("cargo::rustc-link-arg-bins=-Wl,-z,max-page-size=65536");
    println!("cargo::rustc-link-arg-bins=-Wl,--build-id=sha1");
}
