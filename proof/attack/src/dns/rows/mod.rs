//! The attacks, by what they use.

pub(super) mod reload;
pub(super) mod signed;
pub(super) mod tcp;
pub(super) mod tls;
pub(super) mod udp;

/// A megabyte.
const MB: u64 = 1_000_000;
