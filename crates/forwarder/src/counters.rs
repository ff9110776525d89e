//! Counters that one thread writes and others read.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A number that one thread counts up and any thread reads. It wraps around at 2⁶⁴.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds `more`. Only one thread may do so: with two, counts are lost, since this is a load and a store and no locked instruction.
    #[inline]
    pub fn add(&self, more: u64) {
        self.set(self.value().wrapping_add(more));
    }

    /// Sets the number, for what goes down as well as up.
    #[inline]
    pub fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    /// The number.
    #[inline]
    pub fn value(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Why a packet was not taken, or not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropReason {
    /// It breaks a rule of the packet format.
    Malformed,
    /// A piece of a packet whose other pieces did not come, or came wrong.
    Reassembly,
    /// Its name may not pass a face of this scope.
    Scope,
    /// Its HopLimit is used up.
    HopLimit,
    /// An Interest that has been here before.
    Loop,
    /// An Interest without a route.
    NoRoute,
    /// Data or a Nack that nobody waits for.
    Unsolicited,
    /// It is larger than the face takes.
    TooLarge,
    /// The queue of the face is full.
    Congestion,
    /// A table is full.
    TableFull,
}

impl DropReason {
    /// Every reason.
    pub const ALL: [Self; 10] = [
        Self::Malformed,
        Self::Reassembly,
        Self::Scope,
        Self::HopLimit,
        Self::Loop,
        Self::NoRoute,
        Self::Unsolicited,
        Self::TooLarge,
        Self::Congestion,
        Self::TableFull,
    ];
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "malformed",
            Self::Reassembly => "not reassembled",
            Self::Scope => "out of scope",
            Self::HopLimit => "hop limit",
            Self::Loop => "loop",
            Self::NoRoute => "no route",
            Self::Unsolicited => "unsolicited",
            Self::TooLarge => "too large",
            Self::Congestion => "congestion",
            Self::TableFull => "table full",
        })
    }
}

/// Packets dropped, by reason.
#[derive(Debug, Default)]
pub struct Drops([Counter; DropReason::ALL.len()]);

impl Drops {
    /// The counter of one reason.
    #[inline]
    pub fn of(&self, reason: DropReason) -> &Counter {
        &self.0[reason as usize]
    }
}

/// Network packets and octets through one face.
#[derive(Debug, Default)]
pub struct FaceCounters {
    /// Interests received.
    pub in_interests: Counter,
    /// Data packets received.
    pub in_data: Counter,
    /// Nacks received.
    pub in_nacks: Counter,
    /// Octets received, link headers included.
    pub in_bytes: Counter,
    /// Interests sent.
    pub out_interests: Counter,
    /// Data packets sent.
    pub out_data: Counter,
    /// Nacks sent.
    pub out_nacks: Counter,
    /// Octets sent, link headers included.
    pub out_bytes: Counter,
    /// Packets dropped.
    pub drops: Drops,
}

/// Packets through the forwarder, and how full its tables are.
#[derive(Debug, Default)]
pub struct GlobalCounters {
    /// Interests received.
    pub in_interests: Counter,
    /// Data packets received.
    pub in_data: Counter,
    /// Nacks received.
    pub in_nacks: Counter,
    /// Interests sent.
    pub out_interests: Counter,
    /// Data packets sent.
    pub out_data: Counter,
    /// Nacks sent.
    pub out_nacks: Counter,
    /// PIT entries that Data satisfied.
    pub satisfied: Counter,
    /// PIT entries that ran out.
    pub unsatisfied: Counter,
    /// Interests that the content store satisfied.
    pub cs_hits: Counter,
    /// Interests that it did not.
    pub cs_misses: Counter,
    /// Entries of the PIT.
    pub pit_entries: Counter,
    /// Packets in the content store.
    pub cs_entries: Counter,
    /// Entries of what strategies measured.
    pub measurements_entries: Counter,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_counter_of_its_own() {
        let drops = Drops::default();
        for (index, reason) in DropReason::ALL.into_iter().enumerate() {
            drops.of(reason).add(index as u64 + 1);
        }
        for (index, reason) in DropReason::ALL.into_iter().enumerate() {
            assert_eq!(drops.of(reason).value(), index as u64 + 1);
        }
    }
}
