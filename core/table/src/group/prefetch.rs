//! Prefetching.
#![allow(unsafe_code, reason = "the CPU's prefetch takes a pointer")]

/// Asks the CPU to bring `what` into its caches; a hint. Reads nothing.
#[inline(always)]
pub fn prefetch<T>(what: &T) {
    const LINE: usize = 64;
    let first = core::ptr::from_ref(what).cast::<u8>();
    let mut at = 0;
    while at < size_of::<T>() {
        line(first.wrapping_add(at));
        at += LINE;
    }
    // A value that is not aligned to its size may end in one line more.
    if size_of::<T>() > align_of::<T>() {
        line(first.wrapping_add(size_of::<T>() - 1));
    }
}

/// Prefetches memory that an entry owns: its first 256 bytes at most.
#[inline(always)]
pub fn prefetch_bytes(bytes: &[u8]) {
    const MOST: usize = 256;
    for chunk in bytes.chunks(64).take(MOST / 64) {
        line(chunk.as_ptr());
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn line(at: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: SSE is part of x86-64, and a prefetch neither reads nor faults, wherever it points.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn line(at: *const u8) {
    // SAFETY: a prefetch neither reads nor faults, wherever it points, and changes no register.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{at}]", at = in(reg) at, options(nostack, readonly, preserves_flags));
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
fn line(_: *const u8) {}
