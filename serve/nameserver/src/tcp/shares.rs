//! Shares of the places and of the memory for connections: what the peers of each address hold of them.

use crate::config::Tcp;
use hashlane_hash::scheme::Key;
use hashlane_table::share::{Holder, Holders, ItemId, Ledger, Limits, Owner};
use nix::sys::resource::{Resource, getrlimit};
use std::net::IpAddr;

/// File descriptors that remain for other things than connections: sockets, zone files.
const OTHER_DESCRIPTORS: u64 = 256;

/// Fewest connections that may be open, however few file descriptors there are.
const LEAST_CONNECTIONS: u64 = 16;

/// Releases of addresses between two collections.
const COLLECT_EVERY: u32 = 256;

/// Books of connections and of their bytes, by the address of the peer. The values are numbers of
/// connections.
pub(super) struct Shares {
    holders: Holders,
    places: Ledger,
    bytes: Ledger,
    per_address: u64,
    released: u32,
}

impl Shares {
    /// Empty books, with as many connections as there are file descriptors. `key` should be random.
    pub(super) fn new(key: &Key, limits: &Tcp) -> Self {
        // A common limit, if the kernel states none.
        let descriptors = getrlimit(Resource::RLIMIT_NOFILE).map_or(1024, |(soft, _)| soft);
        let connections = descriptors.saturating_sub(OTHER_DESCRIPTORS).max(LEAST_CONNECTIONS);
        let connections = connections.min(limits.connections as u64);
        // No local party has a reserve: every client comes from an address.
        let all = |all| Ledger::new(Limits { all, remote: all });
        Self {
            holders: Holders::new(key),
            places: all(connections),
            bytes: all(limits.memory),
            per_address: limits.connections_per_address as u64,
            released: 0,
        }
    }

    /// Refers to the owner of an address.
    pub(super) fn acquire(&mut self, peer: IpAddr) -> Holder {
        self.holders.acquire(Owner::of(peer))
    }

    /// This party's connection that has been idle for the longest time, if the party may have no further one.
    pub(super) fn excess_of(&self, holder: Holder) -> Option<usize> {
        if self.places.weight_of(holder) < self.per_address {
            return None;
        }
        self.places.oldest_of(holder).map(|victim| victim.value as usize)
    }

    /// Gives a new connection a place, and an account for its bytes.
    pub(super) fn add(&mut self, holder: Holder, connection: usize) -> (ItemId, ItemId) {
        let number = connection as u32;
        (self.places.add(holder, 1, number), self.bytes.add(holder, 0, number))
    }

    /// The connection that has been idle for the longest time, of the party that holds most, if there are too
    /// many connections or bytes.
    pub(super) fn excess(&self) -> Option<usize> {
        let victim = self.places.excess().or_else(|| self.bytes.excess());
        victim.map(|victim| victim.value as usize)
    }

    /// Notes that a connection was active.
    pub(super) fn renew(&mut self, (place, bytes): (ItemId, ItemId)) {
        self.places.renew(place);
        self.bytes.renew(bytes);
    }

    /// Notes the bytes that a connection holds.
    pub(super) fn set_bytes(&mut self, bytes: ItemId, memory: usize) {
        self.bytes.set_weight(bytes, u32::try_from(memory).unwrap_or(u32::MAX));
    }

    /// Takes the place of a connection away.
    pub(super) fn remove(&mut self, holder: Holder, (place, bytes): (ItemId, ItemId)) {
        self.places.remove(place);
        self.bytes.remove(bytes);
        self.holders.release(holder);
        self.released += 1;
        if self.released >= COLLECT_EVERY {
            self.released = 0;
            let places = &self.places;
            self.holders.collect(|holder| places.weight_of(holder) == 0);
        }
    }

    /// Number of connections.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }
}
