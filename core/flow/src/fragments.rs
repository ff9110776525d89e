//! Ports of fragmented packets: only the first fragment has them.
//!
//! A [`FragmentTable`] remembers the ports of first fragments and gives them to later ones. Its room is
//! fixed: sets of eight packets, in which a new packet replaces the oldest. A later fragment keeps ports 0
//! and is counted if it comes before its first, after the timeout or after a replacement. A flood of first
//! fragments replaces other senders' entries early; it cannot choose whose, as the hash is keyed.

use crate::dissect::{Dissected, Fragment};
use crate::key::{FlowKey, MeterKey, Scope};
use alloc::boxed::Box;
use alloc::vec;
use hashlane_hash::scheme::{Key, Scheme};
use hashlane_hash::siphash::SipHash24;
use hashlane_hash::words::WordsHash;

/// Limits of a [`FragmentTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentLimits {
    /// Fragmented packets at a time, of 64 bytes each; rounded up to a power of two, at least 8.
    pub packets: usize,
    /// Nanoseconds from a first fragment to its last one at most. Linux reassembles for 30 s.
    pub timeout: u64,
}

impl Default for FragmentLimits {
    /// 4,096 packets in 256 KiB, and 30 s.
    fn default() -> Self {
        Self { packets: 4096, timeout: 30_000_000_000 }
    }
}

/// Fragments by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FragmentCounters {
    /// First fragments whose ports were stored.
    pub stored: u64,
    /// Later fragments that got the ports of their first.
    pub attributed: u64,
    /// Fragments without ports: later ones whose first is unknown, and first ones that were cut before their
    /// ports. They are metered with ports 0.
    pub without_ports: u64,
    /// First fragments replaced before their timeout.
    pub replaced: u64,
}

/// Ports of first fragments, by source, destination, identification and protocol of the packet.
#[derive(Clone)]
pub struct FragmentTable {
    hash: SipHash24,
    sets: Box<[Set]>,
    timeout: u64,
    /// Fragments so far.
    pub counters: FragmentCounters,
}

type Set = [Entry; 8];

/// One cache line.
#[derive(Clone, Copy, Debug)]
struct Entry {
    identity: [u64; 6],
    /// Time of the first fragment in nanoseconds.
    since: u64,
    /// Source and destination.
    ports: [u16; 2],
    /// Protocol behind all headers.
    protocol: u8,
    used: bool,
}

impl Entry {
    const FREE: Self = Self { identity: [0; 6], since: 0, ports: [0; 2], protocol: 0, used: false };
}

impl FragmentTable {
    /// A table whose hash has this key, which must be random.
    pub fn new(key: &Key, limits: FragmentLimits) -> Self {
        let sets = limits.packets.div_ceil(8).next_power_of_two();
        Self {
            hash: SipHash24::new(key),
            sets: vec![[Entry::FREE; 8]; sets].into_boxed_slice(),
            timeout: limits.timeout,
            counters: FragmentCounters::default(),
        }
    }

    /// Stores the ports of a first fragment, and writes them into the key of a later one. Other packets are
    /// left alone. `now` is the time of capture in nanoseconds; it may go back.
    #[inline]
    pub fn attribute(&mut self, packet: &mut Dissected, now: u64) {
        if let Some(fragment) = packet.fragment {
            self.attribute_fragment(packet, fragment, now);
        }
    }

    #[inline(never)]
    fn attribute_fragment(&mut self, packet: &mut Dissected, fragment: Fragment, now: u64) {
        let identity = identity(packet, fragment);
        let hash = WordsHash::<6, 48>::hash_words(&self.hash, &identity) as usize;
        let number = hash & (self.sets.len() - 1);
        let Self { sets, timeout, counters, .. } = self;
        let set = &mut sets[number];
        let is_live = |entry: &Entry| entry.used && now.abs_diff(entry.since) <= *timeout;
        let is_same = |entry: &Entry| is_live(entry) && entry.identity == identity;
        let [from, to] = packet.key.ends(packet.reversed);
        if fragment.first && !packet.cut {
            // Its own place, else a free one, else the oldest packet's.
            let order = |entry: &&mut Entry| (!is_same(entry), is_live(entry), entry.since);
            if let Some(place) = set.iter_mut().min_by_key(order) {
                counters.replaced += u64::from(is_live(place) && !is_same(place));
                let protocol = packet.key.protocol();
                *place = Entry { identity, since: now, ports: [from.1, to.1], protocol, used: true };
            }
            counters.stored += 1;
        } else if let Some(known) = set.iter().find(|entry| is_same(entry)) {
            let scope = Scope { protocol: known.protocol, ..packet.key.scope() };
            let [source, destination] = known.ports;
            (packet.key, packet.reversed) = MeterKey::new((from.0, source), (to.0, destination), scope);
            counters.attributed += 1;
        } else {
            counters.without_ports += 1;
        }
    }
}

/// Words that identify the fragmented packet: its key's, with the addresses in the order of the packet, the
/// identification in place of the ports, and the protocol of the fragmented bytes.
fn identity(packet: &Dissected, fragment: Fragment) -> [u64; 6] {
    const VERSION_AND_VLAN: u64 = 0xff_ffff;
    let [a, b, c, d, ends, rest] = *packet.key.as_words();
    let [a, b, c, d] = if packet.reversed { [c, d, a, b] } else { [a, b, c, d] };
    let packet = u64::from(fragment.id) << 32 | u64::from(fragment.protocol) << 24;
    [a, b, c, d, packet | (u64::from_be(ends) & VERSION_AND_VLAN), rest]
}

#[cfg(test)]
mod tests;
