//! The content store: insertion, lookup, eviction.

use super::cached::{Cached, Link, NONE};
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

/// A pass of the prefetching stage over a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Where entries stand.
    Buckets,
    /// The entries.
    Entries,
    /// Memory that entries own, and what they point at.
    Owned,
}

/// Packets of one name, different in their digests.
const SAME_NAME: usize = 4;

/// Packets that a search below a prefix looks at.
const MAX_VISITED: usize = 64;

/// Packets that leave in one turn, at the most, a store that was made smaller.
pub const EVICTED: usize = 256;

/// The store.
#[derive(Clone, Debug, Default)]
pub struct ContentStore {
    config: Config,
    tree: Tree,
    packets: Vec<Option<Cached>>,
    free: Vec<u32>,
    /// What is to be evicted, the first first; and of the policy that asks for it, what is stale.
    queue: Queue,
    stale: Queue,
    wheel: Wheel,
    /// Of the packets.
    bytes: usize,
    len: usize,
    /// Answers that were there and that were not.
    pub hits: u64,
    /// Questions that found nothing.
    pub misses: u64,
}

/// Bytes that a packet takes besides its own, but for those of its name in the tree.
const PACKET_COST: usize = size_of::<Option<Cached>>() + 16;

impl ContentStore {
    /// An empty store.
    pub fn new(config: Config) -> Self {
        Self { config, ..Self::default() }
    }

    /// How it works.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Lets it work in another way; another policy holds for what comes from now on.
    ///
    /// A smaller capacity evicts nothing yet: so that packets wait for none of it, at most [`EVICTED`] packets leave with each
    /// [`turn`](Self::handle_timeout), for as long as the store [is above](Self::is_over_capacity) its capacity. For a packet that is taken in meanwhile two leave
    /// where there are too many, and as many as make room for it where they have too many bytes.
    pub fn configure(&mut self, config: Config) {
        self.config = config;
    }

    /// Whether there is more in it than there may be, as it was made smaller: then it has to be [turned](Self::handle_timeout).
    pub fn is_over_capacity(&self) -> bool {
        self.is_above(self.config.packets, self.config.bytes)
    }

    #[inline(always)]
    fn is_above(&self, packets: usize, bytes: usize) -> bool {
        self.len > packets || self.bytes() > bytes
    }

    /// Packets in it.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes in it, what it needs besides the packets included.
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

    /// Takes a packet in, whose name `name` is. `hash` gives the hash of some components, under the key of the name's. Whether it
    /// answers with the packet from now on.
    pub fn insert(
        &mut self,
        name: &HashedName<'_>,
        data: &Data<'_>,
        now: Time,
        hash: impl Fn(&[u8]) -> u64,
    ) -> bool {
        // At the most: there may be names that it shares places with.
        let cost = data.as_bytes().len() + PACKET_COST + PLACE_COST * PLACES;
        if !self.config.admit || self.config.packets == 0 || cost > self.config.bytes {
            return false;
        }
        let fresh_until = now.after_millis(data.freshness().unwrap_or(0));
        // One that is above its capacity has less with each packet, and not all too much leaves it for one: no more than what came is large.
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
        if let Some(same) = self.known(node, data) {
            if let Some(cached) = self.cached_mut(same).invariant("the packet was found") {
                cached.fresh_until = fresh_until;
            }
            self.unlink(same);
            self.link(same, now);
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
            stale: false,
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
        self.link(slot, now);
        let oldest = self.find_by_hash(node).nth(SAME_NAME);
        if let Some(oldest) = oldest {
            self.remove(oldest);
        }
        while self.is_above(most, most_bytes) && self.evict() {}
        self.config.serve && self.cached(slot).is_some()
    }

    /// The packets of a name, the newest first.
    fn find_by_hash(&self, node: u32) -> impl Iterator<Item = u32> {
        self.and_older(self.tree.packet(node))
    }

    /// A packet and the older ones of its name.
    fn and_older(&self, mut slot: u32) -> impl Iterator<Item = u32> {
        core::iter::from_fn(move || {
            let found = slot;
            slot = self.cached(slot)?.older;
            Some(found)
        })
    }

    /// The slot of this very packet.
    fn known(&self, node: u32, data: &Data<'_>) -> Option<u32> {
        self.find_by_hash(node)
            .find(|slot| self.cached(*slot).is_some_and(|cached| *cached.packet == *data.as_bytes()))
    }

    /// Puts a packet at the end of its queue.
    #[inline(always)]
    fn link(&mut self, slot: u32, now: Time) {
        let fifo = self.config.policy == Policy::PriorityFifo;
        let Some(cached) = self.cached_mut(slot).invariant("the packet exists") else { return };
        let fresh_until = cached.fresh_until;
        cached.stale = fifo && fresh_until <= now;
        let stale = cached.stale;
        let Self { packets, queue, stale: stales, wheel, .. } = self;
        if stale { stales } else { queue }.push(packets, slot);
        if fifo && !stale {
            wheel.set(slot, tick_of(fresh_until));
        }
    }

    #[inline(always)]
    fn unlink(&mut self, slot: u32) {
        let Some(cached) = self.cached(slot).invariant("the packet exists") else { return };
        let stale = cached.stale;
        let Self { packets, queue, stale: stales, wheel, .. } = self;
        if stale { stales } else { queue }.remove(packets, slot);
        wheel.stop(slot);
    }

    /// Lets time pass: what is stale may have to leave first. Of what is above the capacity, [`EVICTED`] packets leave.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some(slot) = self.wheel.pop_due(now.millis()) {
            let cached = self.cached(slot).invariant("a removed packet has no timer");
            let Some(cached) = cached else { continue };
            if cached.fresh_until > now {
                let due = tick_of(cached.fresh_until);
                self.wheel.set(slot, due);
            } else if self.config.policy == Policy::PriorityFifo {
                self.unlink(slot);
                self.link(slot, now);
            }
        }
        for _ in 0..EVICTED {
            if !self.is_over_capacity() || !self.evict() {
                break;
            }
        }
    }

    /// Takes out what is to leave first, if there is anything.
    fn evict(&mut self) -> bool {
        let first = self.stale.first().or(self.queue.first());
        first.inspect(|first| self.remove(*first)).is_some()
    }

    fn remove(&mut self, slot: u32) {
        self.unlink(slot);
        let cached = self.packets.get_mut(slot as usize).and_then(Option::take);
        let Some(cached) = cached.invariant("the packet exists") else { return };
        self.free.push(slot);
        self.len -= 1;
        self.bytes -= cached.packet.len();
        if self.tree.packet(cached.node) == slot {
            self.tree.replace(cached.node, cached.older);
        } else {
            // At most as many packets as one name may have.
            let newer = self
                .find_by_hash(cached.node)
                .find(|newer| self.cached(*newer).is_some_and(|newer| newer.older == slot));
            let newer = newer.and_then(|newer| self.cached_mut(newer));
            if let Some(newer) = newer.invariant("a newer packet of the name leads to the older one") {
                newer.older = cached.older;
            }
        }
        self.tree.prune(cached.node);
    }

    /// A packet that satisfies `interest`, whose name `name` is: of its very name, or, where it can be a prefix, from the newest branch below it;
    /// never one that is not fresh where it must be. At most 64 packets are looked at.
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
            self.unlink(slot);
            self.link(slot, now);
        }
        self.cached(slot).invariant("the packet was found").map(|cached| &*cached.packet)
    }

    /// Prefetches the bucket that a lookup of this very name reads.
    #[inline(always)]
    pub(crate) fn prefetch(&self, name: &HashedName<'_>) {
        if self.len > 0 {
            self.tree.prefetch(name);
        }
    }

    /// Prefetches the node of this very name; its bucket should be in the cache.
    #[inline(always)]
    pub(crate) fn prefetch_entry(&self, name: &HashedName<'_>) {
        if self.len > 0 {
            self.tree.prefetch_entry(name);
        }
    }

    /// Prefetches the buckets that an insertion of a packet of this name reads.
    #[inline(always)]
    pub(crate) fn prefetch_insert(&self, name: &HashedName<'_>) {
        self.tree.prefetch_search(name);
    }

    /// Prefetches the nodes that such an insertion reads; their buckets should be in the cache.
    #[inline(always)]
    pub(crate) fn prefetch_insert_entries(&self, name: &HashedName<'_>) {
        self.tree.prefetch_search_entries(name);
    }

    /// Prefetches what the insertion of so many packets evicts, one pass of the prefetching stage after the
    /// other: first the packets and their nodes, then what stands around the nodes, then the buckets of that.
    #[inline(always)]
    pub(crate) fn prefetch_evictions(&self, packets: usize, pass: Pass) {
        if self.len + packets <= self.config.packets && self.bytes() < self.config.bytes / 2 {
            return;
        }
        let queue = if self.stale.first().is_some() { &self.stale } else { &self.queue };
        let mut slot = queue.first();
        for _ in 0..packets {
            // The store has fewer packets than are to come.
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
            let exact = self.find_by_hash(node).find(|slot| {
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

    /// A packet whose digest the name ends with.
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
        // What looks so may stand inside a longer component.
        let last = interest.name().components().last()?;
        let before_it = name.truncated(name.len().checked_sub(1)?, before);
        let node = self.tree.exact(&before_it)?;
        self.find_by_hash(node).find(|slot| {
            self.cached(*slot).is_some_and(|cached| {
                last.typ == IMPLICIT_SHA256_DIGEST
                    && cached.components() == before
                    && fresh(cached)
                    && Sha256::digest(&cached.packet).as_slice() == digest
            })
        })
    }

    /// Packets of a name and below it, the newest branch first.
    fn below(&self, name: &HashedName<'_>) -> impl Iterator<Item = u32> {
        let top = self.tree.top(name);
        top.into_iter().flat_map(|top| self.tree.below(top)).flat_map(|newest| self.and_older(newest))
    }

    /// Takes out packets of `prefix` and below it, `limit` of them at the most; how many.
    pub fn erase(&mut self, prefix: &HashedName<'_>, limit: usize) -> usize {
        if prefix.is_empty() {
            // Not by a search of the slots: most may be empty.
            return (0..limit).take_while(|_| self.evict()).count();
        }
        let is_below = |slot: &u32| {
            self.cached(*slot).is_some_and(|cached| cached.components().starts_with(prefix.components))
        };
        let slots: Vec<u32> = self.below(prefix).take(limit).filter(is_below).collect();
        slots.iter().for_each(|slot| self.remove(*slot));
        slots.len()
    }

    /// All packets, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.packets.iter().flatten().map(|cached| &*cached.packet)
    }

    /// The name of each packet.
    pub fn names(&self) -> impl Iterator<Item = NdnName<'_>> {
        self.packets.iter().flatten().filter_map(|cached| {
            NdnName::parse(cached.packet.get(cached.name.0.into()..cached.name.1.into())?).ok()
        })
    }
}
