//! Insertion, lookup and eviction.

use super::cached::{Cached, Link, NONE, Queued};
use super::config::{Config, Policy};
use super::queue::Queue;
use super::tree::{PLACE_COST, PLACES, Tree};
use crate::hashed::HashedName;
use crate::wheel::{Wheel, tick_of};
use alloc::vec::Vec;
use hashlane_name::component::IMPLICIT_SHA256_DIGEST;
use hashlane_name::ndn::NdnName;
use hashlane_ndn::invariant::{Invariant as _, part};
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{Data, Interest};
use sha2::{Digest, Sha256};

/// Pass of the prefetch stage over a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Buckets.
    Buckets,
    /// Entries.
    Entries,
    /// Memory that entries own.
    Owned,
}

/// Most packets with the same name and different digests.
const MAX_SAME_NAME: usize = 4;

/// Most packets visited by a prefix lookup.
const MAX_VISITED: usize = 64;

/// Most packets evicted per timeout after the capacity was reduced.
pub const MAX_EVICTED: usize = 256;

/// Content store.
#[derive(Clone, Debug, Default)]
pub struct ContentStore {
    config: Config,
    tree: Tree,
    packets: Vec<Option<Cached>>,
    free: Vec<u32>,
    /// Eviction queues: all packets in order of use or arrival, and stale packets if the policy asks for
    /// them.
    queue: Queue,
    stale: Queue,
    wheel: Wheel,
    /// Size of all packets.
    bytes: usize,
    len: usize,
    /// Number of lookups that found a packet.
    pub hits: u64,
    /// Number of lookups that found none.
    pub misses: u64,
}

/// Overhead of a packet in bytes, without its name in the tree.
const PACKET_COST: usize = size_of::<Option<Cached>>() + 16;

impl ContentStore {
    /// Creates an empty store.
    pub fn new(config: Config) -> Self {
        Self { config, ..Self::default() }
    }

    /// Current configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Changes the configuration. A new policy applies to packets inserted from then on.
    ///
    /// A smaller capacity evicts nothing at once, so that no packet waits for it: each
    /// [`handle_timeout`](Self::handle_timeout) evicts at most [`MAX_EVICTED`] packets while the store [is
    /// over capacity](Self::is_over_capacity). Meanwhile an insertion evicts two packets if there are too
    /// many, or as many as make room for it if they have too many bytes.
    pub fn configure(&mut self, config: Config) {
        self.config = config;
    }

    /// True if the store exceeds its capacity because that was reduced: call
    /// [`handle_timeout`](Self::handle_timeout).
    pub fn is_over_capacity(&self) -> bool {
        self.is_above(self.config.packets, self.config.bytes)
    }

    #[inline(always)]
    fn is_above(&self, packets: usize, bytes: usize) -> bool {
        self.len > packets || self.bytes() > bytes
    }

    /// Number of packets.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are no packets.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size in bytes, overhead included.
    pub fn bytes(&self) -> usize {
        self.bytes + PACKET_COST * self.len + PLACE_COST * self.tree.len()
    }

    #[inline(always)]
    fn cached(&self, slot: u32) -> Option<&Cached> {
        self.packets.get(slot as usize)?.as_ref()
    }

    #[inline(always)]
    fn cached_mut(&mut self, slot: u32) -> Option<&mut Cached> {
        self.packets.get_mut(slot as usize)?.as_mut()
    }

    /// Inserts a packet with the name `name`. `hash` hashes encoded components under the key of `name`.
    /// Returns true if lookups can find the packet from now on.
    pub fn insert(
        &mut self,
        name: &HashedName<'_>,
        data: &Data<'_>,
        now: Time,
        hash: impl Fn(&[u8]) -> u64,
    ) -> bool {
        // Upper bound: other names may share places of the tree.
        let cost = data.as_bytes().len() + PACKET_COST + PLACE_COST * PLACES;
        if !self.config.admit || self.config.packets == 0 || cost > self.config.bytes {
            return false;
        }
        let fresh_until = now.after_millis(data.freshness().unwrap_or(0));
        // A store over capacity shrinks with each insertion, but not by much: it evicts no more than arrived.
        let most = self.config.packets.max(self.len.saturating_sub(1));
        let most_bytes = self.config.bytes.max(self.bytes());
        let Self { tree, packets, .. } = self;
        let components = |slot| packets.get(slot as usize).and_then(Option::as_ref).map(Cached::components);
        let node = tree.insert(
            name,
            |slot| components(slot).invariant("a node leads to cached packets").unwrap_or_default(),
            hash,
        );
        let Some(node) = node else { return false };
        if let Some(same) = self.identical(node, data) {
            if let Some(cached) = self.cached_mut(same).invariant("the packet was found") {
                cached.fresh_until = fresh_until;
            }
            self.dequeue(same);
            self.enqueue(same, now);
            return self.config.serve;
        }
        let bytes = data.as_bytes();
        let at = data.name_bytes().as_ptr() as usize - bytes.as_ptr() as usize;
        let cached = Cached {
            packet: bytes.into(),
            name: (at as u16, (at + data.name_bytes().len()) as u16),
            node,
            older: NONE,
            fresh_until,
            link: Link::default(),
            queued: Queued::default(),
        };
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.packets.push(None);
                self.packets.len() as u32 - 1
            }
        };
        if let Some(place) = self.packets.get_mut(slot as usize).invariant("a free slot exists") {
            debug_assert!(place.is_none(), "a free slot is empty");
            *place = Some(cached);
        }
        self.len += 1;
        self.bytes += bytes.len();
        let older = self.tree.replace(node, slot);
        if let Some(cached) = self.cached_mut(slot).invariant("the packet was inserted") {
            cached.older = older;
        }
        self.enqueue(slot, now);
        let oldest = self.packets_of(node).nth(MAX_SAME_NAME);
        if let Some(oldest) = oldest {
            self.remove(oldest);
        }
        while self.is_above(most, most_bytes) && self.evict() {}
        self.config.serve && self.cached(slot).is_some()
    }

    /// Packets of a node, newest first.
    fn packets_of(&self, node: u32) -> impl Iterator<Item = u32> {
        self.and_older(self.tree.packet(node))
    }

    /// A packet and the older ones with its name.
    fn and_older(&self, mut slot: u32) -> impl Iterator<Item = u32> {
        core::iter::from_fn(move || {
            let found = slot;
            slot = self.cached(slot)?.older;
            Some(found)
        })
    }

    /// Slot of the identical packet.
    fn identical(&self, node: u32, data: &Data<'_>) -> Option<u32> {
        self.packets_of(node)
            .find(|slot| self.cached(*slot).is_some_and(|cached| *cached.packet == *data.as_bytes()))
    }

    /// Appends a packet to its queue.
    #[inline(always)]
    fn enqueue(&mut self, slot: u32, now: Time) {
        let fifo = self.config.policy == Policy::PriorityFifo;
        let Some(cached) = self.cached_mut(slot).invariant("the packet exists") else { return };
        let fresh_until = cached.fresh_until;
        let stale = fifo && fresh_until <= now;
        cached.queued = Queued::new(stale, now);
        let Self { packets, queue, stale: stales, wheel, .. } = self;
        if stale { stales } else { queue }.push(packets, slot);
        if fifo && !stale {
            wheel.set(slot, tick_of(fresh_until));
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, slot: u32) {
        let Some(cached) = self.cached(slot).invariant("the packet exists") else { return };
        let stale = cached.queued.is_stale();
        let Self { packets, queue, stale: stales, wheel, .. } = self;
        if stale { stales } else { queue }.remove(packets, slot);
        wheel.stop(slot);
    }

    /// Handles timeouts: moves packets that became stale to their queue, and evicts up to [`MAX_EVICTED`]
    /// packets above the capacity.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some(slot) = self.wheel.pop_due(now.millis()) {
            let cached = self.cached(slot).invariant("a removed packet has no timer");
            let Some(cached) = cached else { continue };
            if cached.fresh_until > now {
                let due = tick_of(cached.fresh_until);
                self.wheel.set(slot, due);
            } else if self.config.policy == Policy::PriorityFifo {
                self.dequeue(slot);
                self.enqueue(slot, now);
            }
        }
        for _ in 0..MAX_EVICTED {
            if !self.is_over_capacity() || !self.evict() {
                break;
            }
        }
    }

    /// Milliseconds for which the packet that is evicted next has been in its queue, give or take a second:
    /// since its last use, or since it arrived or became stale, by the policy. `None` if the store is empty.
    pub fn oldest(&self, now: Time) -> Option<u64> {
        let first = self.stale.first().or(self.queue.first())?;
        Some(self.cached(first)?.queued.age(now))
    }

    /// Evicts the next packet; returns false if the store is empty.
    fn evict(&mut self) -> bool {
        let first = self.stale.first().or(self.queue.first());
        first.inspect(|first| self.remove(*first)).is_some()
    }

    fn remove(&mut self, slot: u32) {
        self.dequeue(slot);
        let cached = self.packets.get_mut(slot as usize).and_then(Option::take);
        let Some(cached) = cached.invariant("the packet exists") else { return };
        self.free.push(slot);
        self.len -= 1;
        self.bytes -= cached.packet.len();
        if self.tree.packet(cached.node) == slot {
            self.tree.replace(cached.node, cached.older);
        } else {
            // Few steps: a name has at most [`MAX_SAME_NAME`] packets.
            let newer = self
                .packets_of(cached.node)
                .find(|newer| self.cached(*newer).is_some_and(|newer| newer.older == slot));
            let newer = newer.and_then(|newer| self.cached_mut(newer));
            if let Some(newer) = newer.invariant("a newer packet of the name leads to the older one") {
                newer.older = cached.older;
            }
        }
        self.tree.prune(cached.node);
    }

    /// Finds a packet that satisfies `interest`, whose name is `name`: the newest one of exactly this name
    /// or, with CanBePrefix, one from the newest branch below it. A prefix lookup visits at most 64 packets.
    #[inline(always)]
    pub fn find(&mut self, name: &HashedName<'_>, interest: &Interest<'_>, now: Time) -> Option<&[u8]> {
        if !self.config.serve || self.len == 0 {
            self.misses += 1;
            return None;
        }
        let found = self.find_slot(name, interest, now);
        let Some(slot) = found else {
            self.misses += 1;
            return None;
        };
        self.hits += 1;
        if self.config.policy == Policy::Lru {
            self.dequeue(slot);
            self.enqueue(slot, now);
        }
        self.cached(slot).invariant("the packet was found").map(|cached| &*cached.packet)
    }

    /// True if a packet satisfies `interest`, whose name is `name`. It does not count as a lookup.
    pub(crate) fn contains(&self, name: &HashedName<'_>, interest: &Interest<'_>, now: Time) -> bool {
        self.config.serve && self.len > 0 && self.find_slot(name, interest, now).is_some()
    }

    /// Prefetches the bucket of an exact lookup.
    #[inline(always)]
    pub(crate) fn prefetch(&self, name: &HashedName<'_>) {
        if self.len > 0 {
            self.tree.prefetch(name);
        }
    }

    /// Prefetches the node of an exact lookup; its bucket should be in the cache.
    #[inline(always)]
    pub(crate) fn prefetch_entry(&self, name: &HashedName<'_>) {
        if self.len > 0 {
            self.tree.prefetch_entry(name);
        }
    }

    /// Prefetches the buckets that an insertion reads.
    #[inline(always)]
    pub(crate) fn prefetch_insert(&self, name: &HashedName<'_>) {
        self.tree.prefetch_search(name);
    }

    /// Prefetches the nodes that an insertion reads; their buckets should be in the cache.
    #[inline(always)]
    pub(crate) fn prefetch_insert_entries(&self, name: &HashedName<'_>) {
        self.tree.prefetch_search_entries(name);
    }

    /// Prefetches the packets that an insertion of `packets` packets evicts, in passes: packets and their
    /// nodes, then the neighbours of the nodes, then the buckets of those.
    #[inline(always)]
    pub(crate) fn prefetch_evictions(&self, packets: usize, pass: Pass) {
        if self.len + packets <= self.config.packets && self.bytes() < self.config.bytes / 2 {
            return;
        }
        let queue = if self.stale.first().is_some() { &self.stale } else { &self.queue };
        let mut slot = queue.first();
        for _ in 0..packets {
            // The queue holds fewer packets than will be inserted.
            let Some(cached) = slot.and_then(|slot| self.cached(slot)) else { return };
            match pass {
                Pass::Buckets => {
                    hashlane_table::prefetch_bytes(part(&cached.packet, ..1));
                    self.tree.prefetch_node(cached.node);
                }
                Pass::Entries => self.tree.prefetch_around(cached.node),
                Pass::Owned => self.tree.prefetch_edge(cached.node),
            }
            slot = cached.link.next();
        }
    }

    #[inline(always)]
    fn find_slot(&self, name: &HashedName<'_>, interest: &Interest<'_>, now: Time) -> Option<u32> {
        let fresh = |cached: &Cached| !interest.must_be_fresh() || cached.fresh_until > now;
        if let Some(node) = self.tree.exact(name) {
            let exact = self.packets_of(node).find(|slot| {
                self.cached(*slot)
                    .is_some_and(|cached| cached.components() == name.components && fresh(cached))
            });
            if exact.is_some() {
                return exact;
            }
        }
        if interest.can_be_prefix() {
            let below = self.below(name).take(MAX_VISITED).find(|slot| {
                self.cached(*slot)
                    .is_some_and(|cached| cached.components().starts_with(name.components) && fresh(cached))
            });
            if below.is_some() {
                return below;
            }
        }
        self.find_digest(name, interest, fresh)
    }

    /// Finds the packet whose implicit digest ends the name.
    #[inline(always)]
    fn find_digest(
        &self,
        name: &HashedName<'_>,
        interest: &Interest<'_>,
        fresh: impl Fn(&Cached) -> bool,
    ) -> Option<u32> {
        let at = name.components.len().checked_sub(34)?;
        let (before, [typ, 32, digest @ ..]) = name.components.split_at_checked(at)? else { return None };
        if u16::from(*typ) != IMPLICIT_SHA256_DIGEST {
            return None;
        }
        // The same bytes may occur inside a longer component.
        let last = interest.name().components().last()?;
        let before_it = name.truncated(name.len().checked_sub(1)?, before);
        let node = self.tree.exact(&before_it)?;
        self.packets_of(node).find(|slot| {
            self.cached(*slot).is_some_and(|cached| {
                last.typ == IMPLICIT_SHA256_DIGEST
                    && cached.components() == before
                    && fresh(cached)
                    && Sha256::digest(&cached.packet).as_slice() == digest
            })
        })
    }

    /// Packets of a name and below it, newest branch first.
    fn below(&self, name: &HashedName<'_>) -> impl Iterator<Item = u32> {
        let top = self.tree.top(name);
        top.into_iter().flat_map(|top| self.tree.below(top)).flat_map(|newest| self.and_older(newest))
    }

    /// Erases at most `limit` packets of `prefix` and below it; returns their number.
    pub fn erase(&mut self, prefix: &HashedName<'_>, limit: usize) -> usize {
        if prefix.is_empty() {
            // By eviction, as a scan could visit many empty slots.
            return (0..limit).take_while(|_| self.evict()).count();
        }
        let is_below = |slot: &u32| {
            self.cached(*slot).is_some_and(|cached| cached.components().starts_with(prefix.components))
        };
        let slots: Vec<u32> = self.below(prefix).take(limit).filter(is_below).collect();
        slots.iter().for_each(|slot| self.remove(*slot));
        slots.len()
    }

    /// All packets, in any order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.packets.iter().flatten().map(|cached| &*cached.packet)
    }

    /// Names of all packets.
    pub fn names(&self) -> impl Iterator<Item = NdnName<'_>> {
        self.packets.iter().flatten().filter_map(|cached| {
            NdnName::parse(cached.packet.get(cached.name.0.into()..cached.name.1.into())?).ok()
        })
    }
}
