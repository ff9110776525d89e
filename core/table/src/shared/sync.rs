//! The atomics of this table: the machine's, or under `cfg(loom)` those that try every order.

#[cfg(not(loom))]
pub(super) use core::sync::atomic::{AtomicU64, fence};
#[cfg(loom)]
pub(super) use loom::sync::atomic::{AtomicU64, fence};

pub(super) use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use alloc::boxed::Box;

/// Words that are 0. The system provides large memory page by page, when it is first used: this call writes
/// none of it.
#[cfg(not(loom))]
pub(super) fn zeros(words: usize) -> Box<[AtomicU64]> {
    bytemuck::zeroed_slice_box(words)
}

#[cfg(loom)]
pub(super) fn zeros(words: usize) -> Box<[AtomicU64]> {
    (0..words).map(|_| AtomicU64::new(0)).collect()
}
