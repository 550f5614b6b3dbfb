//! Why there is no platform, or no box.

use crate::link::LinkError;
use tare_host::cgroup::CgroupError;
use tare_host::net::NetError;
use tare_host::program::ProgramError;

/// Why a platform cannot be used, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; {fix}")]
pub struct Absent {
    /// What is missing.
    pub reason: String,
    /// How to get it.
    pub fix: String,
}

impl Absent {
    /// The reason with its fix.
    pub(crate) fn new(reason: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            fix: fix.into(),
        }
    }
}

/// Why a box could not be made, or could not be managed.
#[derive(Debug, thiserror::Error)]
pub enum BoxError {
    #[error(transparent)]
    Cgroup(#[from] CgroupError),
    #[error(transparent)]
    Link(#[from] LinkError),
    /// Its network.
    #[error(transparent)]
    Net(#[from] NetError),
    /// A file or a process of the host.
    #[error("cannot {what}: {source}")]
    Host {
        /// What was tried, with the path or name.
        what: String,
        source: std::io::Error,
    },
    /// Another box bears the name.
    #[error("a box named {0} already exists: remove it, or choose another name")]
    Taken(String),
    /// The engine refused.
    #[error("{engine}: {message}")]
    Engine {
        engine: &'static str,
        /// Its words.
        message: String,
    },
    /// The agent did not come up; what the engine printed may say why.
    #[error("{source}{}", said(.console))]
    NoHello {
        /// What was seen of the link.
        source: LinkError,
        /// The last lines of the engine's messages or of the VM's console.
        console: String,
    },
}

fn said(console: &str) -> String {
    if console.is_empty() {
        String::new()
    } else {
        format!("; last words: {console}")
    }
}

impl BoxError {
    /// From what the system said when this was tried.
    pub fn host(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Host { what, source }
    }

    /// Whether the user asked to stop.
    pub fn is_interruption(&self) -> bool {
        matches!(
            self,
            Self::Link(LinkError::Interrupted)
                | Self::NoHello {
                    source: LinkError::Interrupted,
                    ..
                }
        )
    }
}

impl From<ProgramError> for BoxError {
    fn from(ProgramError { program, source }: ProgramError) -> Self {
        Self::host(format!("run {program}"))(source)
    }
}
