//! How the program is laid out in memory, and what it is known by.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    // A C compiler passes words on to its linker; for another CPU, where there may be none, the linker is called by itself.
    let by_compiler = std::env::var_os("RUSTC_LINKER").is_none_or(|linker| linker != "rust-lld");
    let tell = |words: &str| {
        if by_compiler {
            println!("cargo::rustc-link-arg-bins=-Wl,{}", words.replace(' ', ","));
        } else {
            words
                .split(' ')
                .for_each(|word| println!("cargo::rustc-link-arg-bins={word}"));
        }
    };
    // The kernel maps what is around a page that is asked for, in blocks of 64 KiB. Where a file
    // system does not align programs by itself (overlays do not), blocks across the ends of such
    // made an idle agent 0.6 MiB larger.
    tell("-z max-page-size=65536");
    tell("--build-id=sha1");
}
