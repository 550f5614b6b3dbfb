//! An allocator that counts, for programs that watch what they use. The shipped one is
//! without it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, which counts what is held and refuses what would go over `limit`
/// bytes: the program then ends by its own words, before the host is short of memory.
#[derive(Debug)]
pub struct Counting {
    /// Most bytes that are held.
    pub limit: usize,
}

impl Counting {
    fn may_take(&self, bytes: usize) -> bool {
        let held = HELD.fetch_add(bytes, Relaxed).saturating_add(bytes);
        if held > self.limit {
            HELD.fetch_sub(bytes, Relaxed);
            return false;
        }
        MOST.fetch_max(held, Relaxed);
        true
    }
}

/// Bytes that are held now.
pub fn held() -> usize {
    HELD.load(Relaxed)
}

/// Most bytes that were held since this was asked last.
pub fn most_since() -> usize {
    MOST.swap(HELD.load(Relaxed), Relaxed)
}

// SAFETY: every block comes from the system's allocator and goes back to it with the layout
// that it was asked for with; counting touches no block. A refusal is a null pointer, as the
// trait has it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !self.may_take(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the promises of the same function.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() {
            HELD.fetch_sub(layout.size(), Relaxed);
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the promises of the same function.
        unsafe { System.dealloc(block, layout) };
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if !self.may_take(new_size) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the promises of the same function.
        let moved = unsafe { System.realloc(block, layout, new_size) };
        let gone = if moved.is_null() { new_size } else { layout.size() };
        HELD.fetch_sub(gone, Relaxed);
        moved
    }
}
