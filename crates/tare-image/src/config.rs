//! What an image says of how it is run.

use oci_spec::image::{Arch, ImageConfiguration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The one architecture that images are taken for, as OCI names it.
pub const ARCHITECTURE: &str = if cfg!(target_arch = "aarch64") {
    "arm64"
} else {
    "amd64"
};
pub const SYSTEM: &str = "linux";

/// What an image says of how it is run: the part of OCI's configuration that boxes can follow.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Config {
    /// The architecture of its programs, as OCI names it.
    pub architecture: String,
    /// What is run, before `cmd`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entrypoint: Vec<String>,
    /// Its arguments, or what is run where there is no entry point.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cmd: Vec<String>,
    /// The environment: `NAME=VALUE` each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Who runs it, as a name or number, with `:` and a group or without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The folder in which it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_dir: Option<String>,
}

impl Default for Config {
    /// That of a root filesystem that says nothing.
    fn default() -> Self {
        Self {
            architecture: ARCHITECTURE.to_owned(),
            entrypoint: Vec::new(),
            cmd: Vec::new(),
            env: Vec::new(),
            user: None,
            working_dir: None,
        }
    }
}

impl Config {
    /// The part of OCI's configuration that is kept. What is empty there is absent here.
    pub fn from_oci(oci: &ImageConfiguration) -> Self {
        let mut config = Self {
            architecture: arch_name(oci.architecture()),
            ..Self::default()
        };
        if let Some(run) = oci.config() {
            let list = |list: &Option<Vec<String>>| list.clone().unwrap_or_default();
            let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
            config.entrypoint = list(run.entrypoint());
            config.cmd = list(run.cmd());
            config.env = list(run.env());
            config.user = text(run.user());
            config.working_dir = text(run.working_dir());
        }
        config
    }
}

/// An architecture as OCI writes it.
pub(crate) fn arch_name(arch: &Arch) -> String {
    arch.to_string()
}
