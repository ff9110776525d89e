//! An allocator that counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[global_allocator]
static COUNTING: Counting = Counting;

/// Bytes that are allocated, and the most of them since the last call of [`peak_of`].
static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

/// The result of a function, and the most bytes that were allocated meanwhile beside those before it.
pub(crate) fn peak_of<T>(function: impl FnOnce() -> T) -> (T, usize) {
    let before = NOW.load(Relaxed);
    MOST.store(before, Relaxed);
    let result = function();
    (result, MOST.load(Relaxed) - before)
}

/// The allocator of the system. A block that grows counts once: the allocator moves the pages of a large one,
/// and does not copy them.
struct Counting;

impl Counting {
    fn add(bytes: usize) {
        MOST.fetch_max(NOW.fetch_add(bytes, Relaxed) + bytes, Relaxed);
    }

    fn remove(bytes: usize) {
        NOW.fetch_sub(bytes, Relaxed);
    }
}

// SAFETY: each call is passed to the allocator of the system with the arguments it came with; the counts do
// not touch blocks.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::remove(layout.size());
        Self::add(size);
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        Self::remove(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(block, layout) }
    }
}
