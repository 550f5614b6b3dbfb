//! The size of a kernel's problem.

use crate::error::KernelError;
use tare_wire::kernel::KernelSpec;

/// The size of `spec`, if its kernel takes it.
///
/// # Errors
/// [`KernelError::Size`] of a size out of bounds.
pub fn check(spec: &KernelSpec) -> Result<u64, KernelError> {
    let Some(sizes) = spec.kernel.sizes() else {
        return Ok(0);
    };
    if (sizes.least..=sizes.most).contains(&spec.size) {
        return Ok(spec.size);
    }
    Err(refused(spec))
}

/// The same as a number of things in memory.
///
/// # Errors
/// As [`check`].
pub fn count(spec: &KernelSpec) -> Result<usize, KernelError> {
    usize::try_from(check(spec)?).map_err(|_| refused(spec))
}

/// The error of a size that the kernel does not take.
pub fn refused(spec: &KernelSpec) -> KernelError {
    let (least, most, unit) = match spec.kernel.sizes() {
        Some(sizes) => (sizes.least, sizes.most, sizes.unit),
        None => (0, 0, "it has no size"),
    };
    KernelError::Size {
        kernel: spec.kernel,
        size: spec.size,
        least,
        most,
        unit,
    }
}
