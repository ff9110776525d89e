//! Memory of the process.
#![allow(unsafe_code, reason = "a call of the C library; its use says why it is sound")]

/// Returns freed memory of the heap to the system. Without it, the allocator of glibc keeps most of what was
/// freed for later allocations. It takes about 1 ms for 10 MB, during which other threads that allocate wait,
/// so call it once after much memory was freed. Does nothing with another C library.
pub fn release_freed() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the function has no preconditions, and locks each heap while it trims it.
    unsafe {
        libc::malloc_trim(0);
    }
}
