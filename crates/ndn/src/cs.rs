//! The content store: Data that came by, to answer Interests with.
//!
//! Packets hang in a tree of names: a node for each name that has Data, and for each prefix of it. Nodes are found by the keyed hash of
//! their prefix, as it came out of the walk over a packet's name. So Data of a known parent costs two probes; an Interest
//! that can be a prefix is answered from the newest branch below its name; and a node, having no name of its own, is confirmed by the packets below it.
//!
//! What is evicted is said by a [`Policy`]. The capacity is stated in packets and in octets; nodes count as octets, too, so that names of many
//! components pay for what they take.

use crate::hashed::{HashedName, components};
use crate::time::Time;
use crate::wheel::{Wheel, tick_of};
use crate::wire::{Data, Interest};
use alloc::boxed::Box;
use alloc::vec::Vec;
use name::component::IMPLICIT_SHA256_DIGEST;
use name::ndn::NdnName;
use sha2::{Digest, Sha256};
use table::Table as _;
use table::batched::Batched;

mod queue;

use queue::{Link, Queue};

/// What leaves a full store first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// What was not asked for for longest.
    #[default]
    Lru,
    /// What is no longer fresh, else what came first. Source: NFD Developer's Guide, Content Store.
    PriorityFifo,
}

/// How a store is to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Packets it holds at the most.
    pub packets: usize,
    /// Octets it holds at the most, what it needs besides the packets included.
    pub octets: usize,
    /// What leaves it first.
    pub policy: Policy,
    /// Whether it takes packets in.
    pub admit: bool,
    /// Whether it answers.
    pub serve: bool,
}

impl Default for Config {
    /// As NFD's: 65,536 packets; and 256 MiB.
    fn default() -> Self {
        Self { packets: 65_536, octets: 256 << 20, policy: Policy::Lru, admit: true, serve: true }
    }
}

/// No slot.
const NONE: u32 = u32::MAX;

/// Packets of one name, different in their digests.
const SAME_NAME: usize = 4;

/// Packets that a search below a prefix looks at.
const LOOKS: usize = 64;

/// A name, or a prefix of one.
#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    child: u32,
    /// Children of one parent, the newest first.
    next: u32,
    prev: u32,
    /// The newest packet of this name.
    data: u32,
}

/// A packet.
#[derive(Clone, Debug)]
struct Cached {
    packet: Box<[u8]>,
    /// Where in it the name stands, with its type and length.
    name: (u16, u16),
    node: u32,
    /// The packet of the same name that came before it.
    older: u32,
    fresh_until: Time,
    link: Link,
    /// Which queue it is in.
    stale: bool,
}

/// The store.
#[derive(Clone, Debug, Default)]
pub struct ContentStore {
    config: Config,
    nodes: Option<Batched<u64, Node>>,
    packets: Vec<Option<Cached>>,
    free: Vec<u32>,
    /// What is to be evicted, the first first; and of the policy that asks for it, what is stale.
    queue: Queue,
    stale: Queue,
    wheel: Wheel,
    octets: usize,
    len: usize,
    /// Answers that were there and that were not.
    pub hits: u64,
    /// Questions that found nothing.
    pub misses: u64,
}

/// Octets that a packet takes besides its own, and a node.
const PACKET_COST: usize = size_of::<Option<Cached>>() + 16;
const NODE_COST: usize = size_of::<(u64, Node)>() + 16;

impl ContentStore {
    /// An empty store.
    pub fn new(config: Config) -> Self {
        Self { config, ..Self::default() }
    }

    /// How it works.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Lets it work in another way. A smaller capacity evicts at once; another policy holds for what comes from now on.
    pub fn configure(&mut self, config: Config) {
        self.config = config;
        self.shrink();
    }

    /// Packets in it.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Octets in it, what it needs besides the packets included.
    pub fn octets(&self) -> usize {
        self.octets
    }

    /// Octets that a packet takes on average beyond its own.
    pub fn memory_per_packet(&self) -> usize {
        let packets: usize = self.packets.iter().flatten().map(|cached| cached.packet.len()).sum();
        self.octets.saturating_sub(packets) / self.len.max(1)
    }

    fn nodes(&mut self) -> &mut Batched<u64, Node> {
        self.nodes.get_or_insert_with(|| Batched::with_capacity(0))
    }

    /// The slot of a prefix.
    #[inline(always)]
    fn node(&self, hash: u64) -> Option<u32> {
        self.nodes.as_ref()?.slot_by(hash, |_, other, _| *other == hash)
    }

    #[inline(always)]
    fn node_at(&self, slot: u32) -> Option<&Node> {
        self.nodes.as_ref()?.entry(slot).map(|(_, node)| node)
    }

    #[inline(always)]
    fn node_mut(&mut self, slot: u32) -> Option<&mut Node> {
        self.nodes.as_mut()?.entry_mut(slot).map(|(_, node)| node)
    }

    #[inline(always)]
    fn cached(&self, slot: u32) -> Option<&Cached> {
        self.packets.get(slot as usize)?.as_ref()
    }

    #[inline(always)]
    fn cached_mut(&mut self, slot: u32) -> Option<&mut Cached> {
        self.packets.get_mut(slot as usize)?.as_mut()
    }

    /// Takes a packet in, whose name `name` is. Whether it answers with it from now on.
    pub fn insert(&mut self, name: &HashedName<'_>, data: &Data<'_>, now: Time) -> bool {
        // At the most: the first prefixes may be there.
        let cost = data.as_bytes().len() + PACKET_COST + NODE_COST * name.len();
        if !self.config.admit || self.config.packets == 0 || cost > self.config.octets {
            return false;
        }
        let fresh_until = now.after_millis(data.freshness().unwrap_or(0));
        let node = self.grow(name);
        if let Some(same) = self.known(node, data) {
            if let Some(cached) = self.cached_mut(same) {
                cached.fresh_until = fresh_until;
            }
            self.unlink(same);
            self.link(same, now);
            return self.config.serve;
        }
        let octets = data.as_bytes();
        let at = octets.len() - {
            let from_name = data.name_octets().as_ptr() as usize - octets.as_ptr() as usize;
            octets.len() - from_name
        };
        let cached = Cached {
            packet: octets.into(),
            name: (at as u16, (at + data.name_octets().len()) as u16),
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
        if let Some(place) = self.packets.get_mut(slot as usize) {
            *place = Some(cached);
        }
        self.len += 1;
        self.octets += octets.len() + PACKET_COST;
        let older = self.node_mut(node).map_or(NONE, |node| core::mem::replace(&mut node.data, slot));
        if let Some(cached) = self.cached_mut(slot) {
            cached.older = older;
        }
        self.link(slot, now);
        let oldest = self.of_name(node).nth(SAME_NAME);
        if let Some(oldest) = oldest {
            self.remove(oldest);
        }
        self.shrink();
        self.config.serve && self.cached(slot).is_some()
    }

    /// The packets of a name, the newest first.
    fn of_name(&self, node: u32) -> impl Iterator<Item = u32> {
        let mut slot = self.node_at(node).map_or(NONE, |node| node.data);
        core::iter::from_fn(move || {
            let found = slot;
            slot = self.cached(slot)?.older;
            Some(found)
        })
    }

    /// The slot of this very packet.
    fn known(&self, node: u32, data: &Data<'_>) -> Option<u32> {
        self.of_name(node)
            .find(|slot| self.cached(*slot).is_some_and(|cached| *cached.packet == *data.as_bytes()))
    }

    /// The node of a name, made with those of its prefixes where it is not there.
    fn grow(&mut self, name: &HashedName<'_>) -> u32 {
        let (mut below, mut leaf) = (NONE, NONE);
        for len in (1..=name.len()).rev() {
            let hash = name.prefix(len);
            let known = self.node(hash);
            let slot = known.unwrap_or_else(|| {
                let node = Node { parent: NONE, child: NONE, next: NONE, prev: NONE, data: NONE };
                self.octets += NODE_COST;
                self.nodes().insert(hash, hash, node, |hash| *hash).slot
            });
            if leaf == NONE {
                leaf = slot;
            }
            if below != NONE {
                self.adopt(slot, below);
            }
            if known.is_some() {
                break;
            }
            below = slot;
        }
        leaf
    }

    /// Puts `child` before the other children of `parent`.
    fn adopt(&mut self, parent: u32, child: u32) {
        let Some(above) = self.node_mut(parent) else { return };
        let next = core::mem::replace(&mut above.child, child);
        if let Some(sibling) = self.node_mut(next) {
            sibling.prev = child;
        }
        if let Some(node) = self.node_mut(child) {
            (node.parent, node.next, node.prev) = (parent, next, NONE);
        }
    }

    /// Takes away a node that has neither packets nor children, and those above it that it leaves so.
    fn prune(&mut self, mut slot: u32) {
        while let Some((&hash, &node)) = self.nodes.as_ref().and_then(|nodes| nodes.entry(slot)) {
            if node.data != NONE || node.child != NONE {
                return;
            }
            self.nodes().remove_slot(hash, slot);
            self.octets -= NODE_COST;
            if let Some(next) = self.node_mut(node.next) {
                next.prev = node.prev;
            }
            if let Some(prev) = self.node_mut(node.prev) {
                prev.next = node.next;
            } else if let Some(parent) = self.node_mut(node.parent) {
                parent.child = node.next;
            }
            slot = node.parent;
        }
    }

    /// Puts a packet at the end of its queue.
    #[inline(always)]
    fn link(&mut self, slot: u32, now: Time) {
        let fifo = self.config.policy == Policy::PriorityFifo;
        let Some(cached) = self.cached_mut(slot) else { return };
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
        let Some(cached) = self.cached(slot) else { return };
        let stale = cached.stale;
        let Self { packets, queue, stale: stales, wheel, .. } = self;
        if stale { stales } else { queue }.remove(packets, slot);
        wheel.stop(slot);
    }

    /// Lets time pass: what is stale may have to leave first.
    pub fn turn(&mut self, now: Time) {
        while let Some(slot) = self.wheel.due(now.millis()) {
            let Some(cached) = self.cached(slot) else { continue };
            if cached.fresh_until > now {
                let due = tick_of(cached.fresh_until);
                self.wheel.set(slot, due);
            } else if self.config.policy == Policy::PriorityFifo {
                self.unlink(slot);
                self.link(slot, now);
            }
        }
    }

    /// Evicts until all is within the capacity.
    fn shrink(&mut self) {
        while self.len > self.config.packets || self.octets > self.config.octets {
            let Some(first) = self.stale.first().or(self.queue.first()) else { return };
            self.remove(first);
        }
    }

    fn remove(&mut self, slot: u32) {
        self.unlink(slot);
        let Some(cached) = self.packets.get_mut(slot as usize).and_then(Option::take) else { return };
        self.free.push(slot);
        self.len -= 1;
        self.octets -= cached.packet.len() + PACKET_COST;
        if self.node_at(cached.node).is_some_and(|node| node.data == slot) {
            if let Some(node) = self.node_mut(cached.node) {
                node.data = cached.older;
            }
        } else {
            // At most as many packets as one name may have.
            let newer = self
                .of_name(cached.node)
                .find(|newer| self.cached(*newer).is_some_and(|newer| newer.older == slot));
            if let Some(newer) = newer.and_then(|newer| self.cached_mut(newer)) {
                newer.older = cached.older;
            }
        }
        self.prune(cached.node);
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
        self.cached(slot).map(|cached| &*cached.packet)
    }

    #[inline(always)]
    fn find_slot(&self, name: &HashedName<'_>, interest: &Interest<'_>, now: Time) -> Option<u32> {
        let fresh = |cached: &Cached| !interest.must_be_fresh() || cached.fresh_until > now;
        if let Some(node) = self.node(name.hash()) {
            let exact = self.of_name(node).find(|slot| {
                self.cached(*slot)
                    .is_some_and(|cached| cached.components() == name.components && fresh(cached))
            });
            if exact.is_some() {
                return exact;
            }
            if interest.can_be_prefix() {
                let below = self.below(node, LOOKS).find(|slot| {
                    self.cached(*slot).is_some_and(|cached| {
                        cached.components().starts_with(name.components) && fresh(cached)
                    })
                });
                if below.is_some() {
                    return below;
                }
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
        let node = self.node(name.prefix(name.len().checked_sub(1)?))?;
        self.of_name(node).find(|slot| {
            self.cached(*slot).is_some_and(|cached| {
                last.typ == IMPLICIT_SHA256_DIGEST
                    && cached.components() == before
                    && fresh(cached)
                    && Sha256::digest(&cached.packet).as_slice() == digest
            })
        })
    }

    /// Packets of a name and below it, the newest branch first; `looks` of them at the most, and as many nodes for each.
    fn below(&self, top: u32, looks: usize) -> impl Iterator<Item = u32> {
        let mut nodes = core::iter::successors(Some(top), move |at| self.after(*at, top))
            .take(looks.saturating_mul(name::MAX_COMPONENTS));
        let mut packet = NONE;
        core::iter::from_fn(move || {
            loop {
                if let Some(cached) = self.cached(packet) {
                    return Some(core::mem::replace(&mut packet, cached.older));
                }
                packet = self.node_at(nodes.next()?)?.data;
            }
        })
        .take(looks)
    }

    /// The node that follows `at` in a walk of the tree below `top`, parents before their children.
    fn after(&self, mut at: u32, top: u32) -> Option<u32> {
        let node = self.node_at(at)?;
        if node.child != NONE {
            return Some(node.child);
        }
        while at != top {
            let node = self.node_at(at)?;
            if node.next != NONE {
                return Some(node.next);
            }
            at = node.parent;
        }
        None
    }

    /// Takes out packets of `prefix` and below it, `limit` of them at the most; how many.
    pub fn erase(&mut self, prefix: &HashedName<'_>, limit: usize) -> usize {
        let slots: Vec<u32> = if prefix.is_empty() {
            (0..self.packets.len() as u32).filter(|slot| self.cached(*slot).is_some()).take(limit).collect()
        } else {
            let Some(node) = self.node(prefix.hash()) else { return 0 };
            let slots = self.below(node, limit);
            slots
                .filter(|slot| {
                    self.cached(*slot)
                        .is_some_and(|cached| cached.components().starts_with(prefix.components))
                })
                .collect()
        };
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

impl Cached {
    #[inline(always)]
    fn components(&self) -> &[u8] {
        components(self.packet.get(self.name.0.into()..self.name.1.into()).unwrap_or_default())
    }
}
