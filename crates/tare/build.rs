//! Builds the agents that tare carries: by cargo, in a folder of its own, always by the profile
//! `agent` and for static musl, whatever tare itself is built by. So the code that is measured
//! does not depend on how tare was built.

use sha2::{Digest, Sha256};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The architectures that an agent can be built for.
const ARCHITECTURES: [&str; 2] = ["x86_64", "aarch64"];
/// Names those of other hosts that are to be carried too: each takes a minute to build.
const OTHERS: &str = "TARE_AGENTS";

/// What would change the code of the agent, or have another tool compile it.
const FOREIGN: [&str; 6] = [
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTFLAGS",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_TARGET",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
];

fn main() -> ExitCode {
    println!("cargo::rustc-link-arg-bins=-Wl,--build-id=sha1");
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("cargo::error={}", why.replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), String> {
    let workspace = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join("../..");
    let workspace = workspace
        .canonicalize()
        .map_err(|e| format!("find the workspace: {e}"))?;
    follow(&workspace);
    println!("cargo::rerun-if-env-changed={OTHERS}");
    let here = variable("CARGO_CFG_TARGET_ARCH")?;
    let others = env::var(OTHERS).unwrap_or_default();
    let others = others.split_whitespace().filter(|other| *other != here);
    let mut table = String::new();
    for architecture in std::iter::once(here.as_str()).chain(others) {
        table += &carried(architecture, architecture == here, &workspace)?;
    }
    let file = PathBuf::from(variable("OUT_DIR")?).join("agents.rs");
    fs::write(&file, format!("[{table}]")).map_err(|e| format!("write {}: {e}", file.display()))
}

/// Builds the agent for an architecture. Returns the expression that carries it.
fn carried(architecture: &str, is_here: bool, workspace: &Path) -> Result<String, String> {
    if !ARCHITECTURES.contains(&architecture) {
        return Err(format!(
            "there is no agent for '{architecture}': {OTHERS} may name {}",
            ARCHITECTURES.join(" and ")
        ));
    }
    let triple = format!("{architecture}-unknown-linux-musl");
    let folder = target_folder()?.join("agent");
    let file = folder.join(&triple).join("agent/tare-agent");
    let mut cargo = cargo(workspace, &triple, &folder)?;
    if !is_here {
        // A compiler of C for other CPUs is rarely there, and Rust has a linker for all.
        let variable = triple.to_uppercase().replace('-', "_");
        cargo.env(format!("CARGO_TARGET_{variable}_LINKER"), "rust-lld");
    }
    let status = cargo
        .status()
        .map_err(|e| format!("build the agent: cannot start cargo: {e}"))?;
    if !status.success() {
        return Err(format!(
            "build the agent (cargo build -p tare-agent --profile agent --target {triple}): it failed, see above; if the target is missing: rustup target add {triple}"
        ));
    }
    let bytes = fs::read(&file).map_err(|e| format!("read the agent {}: {e}", file.display()))?;
    let digest: String = Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(format!(
        "Carried {{ architecture: {architecture:?}, bytes: include_bytes!({file:?}), sha256: {digest:?} }},"
    ))
}

/// Cargo with what builds the agent: neither flags nor wrappers of whoever builds tare, and no path
/// of this machine in the code.
fn cargo(workspace: &Path, triple: &str, folder: &Path) -> Result<Command, String> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home
        .or_else(|| env::home_dir().map(|home| home.join(".cargo")))
        .unwrap_or_default();
    let mut flags = OsString::new();
    for (path, name) in [(home.as_path(), "cargo"), (workspace, "tare")] {
        if !flags.is_empty() {
            flags.push("\x1f");
        }
        flags.push("--remap-path-prefix=");
        flags.push(path);
        flags.push(format!("={name}"));
    }
    let mut command = Command::new(variable("CARGO")?);
    FOREIGN.iter().for_each(|name| {
        command.env_remove(name);
    });
    command
        .current_dir(workspace)
        .env("CARGO_ENCODED_RUSTFLAGS", flags)
        .args([
            "build",
            "--quiet",
            "--package",
            "tare-agent",
            "--profile",
            "agent",
        ])
        .args(["--target", triple, "--target-dir"])
        .arg(folder)
        // What is printed there is for cargo.
        .stdout(Stdio::null());
    Ok(command)
}

/// Has this run again when a source changes.
fn follow(workspace: &Path) {
    println!("cargo::rerun-if-changed=build.rs");
    println!(
        "cargo::rerun-if-changed={}",
        workspace.join("Cargo.lock").display()
    );
    println!(
        "cargo::rerun-if-changed={}",
        workspace.join("Cargo.toml").display()
    );
    for name in AGENT_CRATES {
        let package = workspace.join("crates").join(name);
        for part in ["src", "Cargo.toml", "build.rs"] {
            let path = package.join(part);
            if path.exists() {
                println!("cargo::rerun-if-changed={}", path.display());
            }
        }
    }
}

/// The crates that the agent is made of.
const AGENT_CRATES: [&str; 7] = [
    "tare-agent",
    "tare-box",
    "tare-kernels",
    "tare-load",
    "tare-stats",
    "tare-sys",
    "tare-wire",
];

/// The folder of all that cargo builds here, one for every profile: the agent is the same for all.
fn target_folder() -> Result<PathBuf, String> {
    let out = PathBuf::from(variable("OUT_DIR")?);
    // TARGET/[TRIPLE/]PROFILE/build/PACKAGE/out
    let above = out.ancestors().nth(4).ok_or("find the target folder")?;
    let is_triple = above
        .file_name()
        .is_some_and(|name| name == variable("TARGET").unwrap_or_default().as_str());
    let folder = if is_triple { above.parent() } else { Some(above) };
    Ok(folder.unwrap_or(above).to_owned())
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|e| format!("{name}: {e}"))
}
