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

/// Has the allocator of glibc map each block of a MiB or more by itself, so that the system gets its memory
/// back when it is freed. By default the allocator does so only until the first such block is freed, and
/// keeps the memory of later ones. Should be called once, before threads start. Does nothing with another C
/// library.
pub fn map_large_blocks() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the function has no preconditions; it sets two limits of the allocator, which are numbers.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 20);
        // Less free memory at the end of a heap stays there. The default would make a system call each time
        // that 128 KiB are freed.
        libc::mallopt(libc::M_TRIM_THRESHOLD, 2 << 20);
    }
}
