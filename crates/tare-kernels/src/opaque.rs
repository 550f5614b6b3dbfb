//! Numbers that the compiler knows nothing of.

use std::arch::asm;

/// The same number, of which the compiler no longer knows anything. In a register: `black_box` would
/// take it through memory.
#[inline(always)]
pub fn opaque(mut x: u64) -> u64 {
    // SAFETY: no instruction at all.
    unsafe { asm!("/* {0} */", inout(reg) x, options(nomem, nostack, preserves_flags)) };
    x
}
