//! Mechanisms: what sets a box apart from its host, each of which an option of its platform switches off.

use crate::platform::PlatformPath;

/// A mechanism with the option that switches it off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mechanism {
    /// What it is, as in "the seccomp filter".
    pub name: &'static str,
    /// The option of platforms that switches it.
    pub option: &'static str,
    /// The value of that option by which it is off.
    pub off: &'static str,
    /// Parts of names of the kernel's functions that do its work, as far as they do nothing else.
    pub functions: &'static [&'static str],
}

impl Mechanism {
    /// The same platform without it.
    pub fn without(&self, path: &PlatformPath) -> PlatformPath {
        path.with_option(self.option, self.off)
    }

    /// Whether it is off by the options of this path.
    pub fn is_off(&self, path: &PlatformPath) -> bool {
        let (_, innermost) = path.split_last();
        innermost
            .options
            .get(self.option)
            .is_some_and(|value| value == self.off)
    }
}
