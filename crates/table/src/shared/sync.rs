//! The atomics of this table: the machine's, or under `cfg(loom)` those that try every order.

#[cfg(not(loom))]
pub(super) use core::sync::atomic::{AtomicU64, fence};
#[cfg(loom)]
pub(super) use loom::sync::atomic::{AtomicU64, fence};

pub(super) use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
