//! The CPUs that agents are built for: this host's, or others that a VM emulates.

use super::agent_file;
use super::contract::Absent;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The instructions that a box runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Architecture {
    /// `x86_64`, `amd64` to Debian.
    X86,
    /// `aarch64`, `arm64` to Debian.
    Arm,
}

/// A value for each architecture, made when it is first asked for.
pub struct PerArchitecture<T>([OnceLock<T>; Architecture::ALL.len()]);

impl<T> PerArchitecture<T> {
    /// Without any.
    #[must_use]
    pub const fn empty() -> Self {
        Self([const { OnceLock::new() }; Architecture::ALL.len()])
    }

    /// The place of an architecture's.
    pub const fn of(&self, architecture: Architecture) -> &OnceLock<T> {
        &self.0[architecture as usize]
    }
}

impl Architecture {
    /// Those of this host.
    pub const HERE: Self = if cfg!(target_arch = "aarch64") {
        Self::Arm
    } else {
        Self::X86
    };
    /// All that tare knows, this host's first.
    pub const ALL: [Self; 2] = match Self::HERE {
        Self::X86 => [Self::X86, Self::Arm],
        Self::Arm => [Self::Arm, Self::X86],
    };
    /// The option of a platform that chooses one.
    pub(crate) const OPTION: &str = "arch";

    /// As `uname -m` tells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::X86 => "x86_64",
            Self::Arm => "aarch64",
        }
    }

    /// As Debian's packages are called.
    pub(crate) const fn debian(self) -> &'static str {
        match self {
            Self::X86 => "amd64",
            Self::Arm => "arm64",
        }
    }

    /// Whether boxes of it cannot run this host's programs.
    #[must_use]
    pub fn is_foreign(self) -> bool {
        self != Self::HERE
    }

    /// Where `boot` and `lib/modules` of its kernels are: this host's own, or those that were put into the state folder.
    pub(crate) fn kernels(self, state: &Path) -> PathBuf {
        if self.is_foreign() {
            state.join(self.name())
        } else {
            PathBuf::from("/")
        }
    }

    /// What to do where it has no kernel in that folder.
    pub(crate) fn kernel_advice(self, state: &Path) -> String {
        let package = format!("linux-image-cloud-{}", self.debian());
        if !self.is_foreign() {
            return format!("install a kernel with its modules (Debian: apt-get install {package})");
        }
        let folder = self.kernels(state);
        let (folder, debian) = (folder.display(), self.debian());
        // Later releases have their modules elsewhere.
        format!(
            "put a kernel there, as root: rm -rf '{folder}' && mmdebstrap --variant=extract --architectures={debian} --include={package} bookworm '{folder}' && depmod -b '{folder}' \"$(ls '{folder}/lib/modules')\""
        )
    }

    /// Whether there is an agent for it.
    ///
    /// # Errors
    /// [`Absent`], with what to do about it.
    pub(crate) fn probe_agent(self) -> Result<(), Absent> {
        agent_file::path_for(self).map(drop).map_err(|e| {
            let name = self.name();
            match e.kind() {
                io::ErrorKind::NotFound => Absent::new(
                    format!("this tare carries no agent for {name}"),
                    format!("build one that does: make build TARE_AGENTS={name}"),
                ),
                _ => Absent::new(e.to_string(), "free memory, or install tare again"),
            }
        })
    }
}
