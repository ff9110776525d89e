//! Spread of tuples over buckets.

mod buckets;
mod queues;
pub(crate) mod run;

/// Hash that chooses the receive queue of a packet.
pub(crate) const RSS: &str = "toeplitz-published";

/// Packets of the busiest queue over the mean, found and by chance.
pub(crate) const BUSIEST: [&str; 2] = ["busiest_queue", "busiest_queue_expected"];
