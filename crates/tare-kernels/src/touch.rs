//! Proof of a memory limit: touch so many bytes and survive, or not.

use crate::error::KernelError;
use crate::memory::Mapping;
use std::fs;
use std::hint::black_box;
use tare_wire::kernel::TouchReport;

/// `f64`s per page of 4 KiB; larger pages are touched more than once.
const STEP: usize = 512;

const OOM_SCORE: &str = "/proc/self/oom_score_adj";

/// Writes to every page of `bytes` bytes. A refused mapping is an answer: 0
/// bytes touched. Beyond a limit the process is killed.
///
/// # Errors
/// [`KernelError::System`] if the process cannot make itself the one that the
/// out-of-memory killer takes: the agent would be at risk.
pub fn run(bytes: u64) -> Result<TouchReport, KernelError> {
    fs::write(OOM_SCORE, "1000").map_err(|source| KernelError::System {
        what: "writing /proc/self/oom_score_adj",
        source,
    })?;
    let touched_bytes = if touch(bytes) { bytes } else { 0 };
    Ok(TouchReport { touched_bytes })
}

/// Touches the pages; `false` if the kernel refuses the mapping.
fn touch(bytes: u64) -> bool {
    let numbers = usize::try_from(bytes.div_ceil(size_of::<f64>() as u64));
    let Some(mut mapping) = numbers.ok().and_then(|n| Mapping::new(n).ok()) else {
        return false;
    };
    let numbers = mapping.as_mut_slice();
    for page in numbers.chunks_mut(STEP) {
        page[0] = 1.0;
    }
    // The writes are the work: they must not be found to be without a reader.
    black_box(numbers);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resident_bytes() -> usize {
        let statm = fs::read_to_string("/proc/self/statm").unwrap();
        let pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
        pages * 4096
    }

    #[test]
    fn touched_memory_becomes_resident() {
        let mut mapping = Mapping::new(8 << 20).unwrap();
        let before = resident_bytes();
        let numbers = mapping.as_mut_slice();
        numbers.chunks_mut(STEP).for_each(|page| page[0] = 1.0);
        // Other tests free memory at the same time.
        assert!(resident_bytes() > before + (32 << 20));
        black_box(numbers);
    }

    #[test]
    fn what_was_asked_is_reported_as_touched() {
        assert_eq!(run(10_000_001).unwrap().touched_bytes, 10_000_001);
    }

    #[test]
    fn a_refused_mapping_is_reported_as_untouched() {
        assert_eq!(run(u64::MAX).unwrap().touched_bytes, 0);
        assert_eq!(run(1 << 50).unwrap().touched_bytes, 0);
    }
}
