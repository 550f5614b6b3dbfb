//! Names of the kernel's functions by their addresses.

use std::collections::BTreeMap;
use std::fs;
use std::io;

const FILE: &str = "/proc/kallsyms";

/// Behind the last function of the kernel itself.
const END_OF_TEXT: &str = "_etext";

/// No function is as long: what lies so far behind one is in none that has a name.
const LONGEST: u64 = 64 << 10;

/// Functions, and where those of the kernel itself end (`None`).
#[derive(Debug)]
pub(crate) struct Symbols(BTreeMap<u64, Option<String>>);

impl Symbols {
    pub(crate) fn read() -> io::Result<Self> {
        fs::read_to_string(FILE).map(|text| Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let symbol = |line: &str| {
            let mut words = line.split_ascii_whitespace();
            let address = u64::from_str_radix(words.next()?, 16).ok()?;
            let is_code = matches!(words.next()?, "t" | "T" | "w" | "W");
            let name = words.next()?;
            let function = (name != END_OF_TEXT).then(|| name.to_owned());
            is_code.then_some((address, function))
        };
        Self(text.lines().filter_map(symbol).collect())
    }

    /// The function at an address; `None` in code that has no name, such as filters that the kernel compiled.
    fn at(&self, address: u64) -> Option<&str> {
        let (start, name) = self.0.range(..=address).next_back()?;
        name.as_deref().filter(|_| address - start < LONGEST)
    }

    /// Functions from the outermost on, without those of the probes themselves; `frames` begin with the innermost.
    pub(crate) fn folded(&self, frames: impl DoubleEndedIterator<Item = u64>) -> String {
        let mut names: Vec<&str> = Vec::new();
        for frame in frames.rev() {
            let name = self.at(frame);
            if name.is_some_and(is_probe) {
                break;
            }
            // A filter of system calls is a program that the kernel compiled: nothing else is called from there.
            let in_seccomp = names.last().is_some_and(|caller| caller.contains("seccomp"));
            names.push(name.unwrap_or(if in_seccomp {
                "[seccomp program]"
            } else {
                "[unknown]"
            }));
        }
        names.join(";")
    }
}

fn is_probe(name: &str) -> bool {
    ["bpf_trace_run", "__bpf_trace_", "__traceiter_"]
        .iter()
        .any(|of| name.starts_with(of))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "1000 T do_syscall_64\n2000 t __seccomp_filter\n3000 T schedule\n4000 t bpf_trace_run4\n\
                        5000 T _etext\n6000 D __stop_data\nf0000 t nf_hook_slow\t[nf]\n";

    fn folded(frames: &[u64]) -> String {
        Symbols::parse(TEXT).folded(frames.iter().copied())
    }

    #[test]
    fn a_stack_ends_before_the_probe_that_took_it() {
        let frames = [0x9999, 0x4001, 0x3001, 0xf0010, 0x1005];
        assert_eq!(folded(&frames), "do_syscall_64;nf_hook_slow;schedule");
    }

    #[test]
    fn code_without_a_name_is_not_the_last_symbol_before_it() {
        assert_eq!(
            folded(&[0x6010, 0x2004, 0x1005]),
            "do_syscall_64;__seccomp_filter;[seccomp program]"
        );
        assert_eq!(folded(&[0x5008]), "[unknown]");
        assert_eq!(folded(&[0xf0000 + LONGEST]), "[unknown]");
        assert_eq!(folded(&[0xff]), "[unknown]");
    }
}
