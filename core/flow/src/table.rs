//! A table of flows: from the key of a packet, such as its tuple, to the state of its flow.

use crate::burst::BURST;
use crate::ehash::SipHash13;
use crate::hashed::KeyHash;
use crate::tuple::Tuple;
use crate::wheel::{TICKS, Wheel};
use core::fmt;
use core::num::NonZeroU32;
use hashlane_hash::scheme::Key;
use hashlane_table::Table;
use hashlane_table::batched::Batched;

/// Capacity and idle timeout of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Limit of the flows; it bounds the memory.
    pub flows: usize,
    /// Ticks without a packet after which a flow expires, 1 to 2²⁴. The wheel takes 4 bytes for each, rounded
    /// up to a power of two.
    pub idle: u32,
}

/// Insertions by which the prefetching of free slots is ahead.
const AHEAD: usize = 8;

/// An entry of a table of flows in its [`Table`]: the caller's value, and the tick of the last packet.
#[derive(Clone, Debug)]
pub struct Flow<V> {
    value: V,
    /// The tick after the one when the flow was seen: never 0, so that an entry which may be absent takes no
    /// more room.
    after: NonZeroU32,
}

impl<V> Flow<V> {
    fn new(value: V, now: u32) -> Self {
        Self { value, after: after(now) }
    }

    /// The tick of the last packet. The last tick before the count wraps is stored as the one before it.
    fn seen(&self) -> u32 {
        self.after.get() - 1
    }

    /// Ticks since the flow was last seen.
    fn idle(&self, now: u32) -> u32 {
        idle(self.after, now)
    }
}

/// Ticks since the one before `after`; clocks that ran backwards count as 0.
pub(crate) fn idle(after: NonZeroU32, now: u32) -> u32 {
    let ticks = now.wrapping_sub(after.get() - 1);
    if ticks > i32::MAX as u32 { 0 } else { ticks }
}

#[inline(always)]
pub(crate) fn after(now: u32) -> NonZeroU32 {
    NonZeroU32::new(now.wrapping_add(1)).unwrap_or(NonZeroU32::MAX)
}

/// The default table of flows: SipHash-1-3 of the whole tuple, in a [`Batched`] table, whose entries keep
/// their slots and which churn neither rebuilds nor grows.
///
/// With [`with_room`](FlowTable::with_room) it allocates once, for each flow its entry (48 bytes for a value
/// of 4) and at most 30 bytes more, plus 1 KiB and the wheel of [`Limits::idle`]. A
/// [`Swiss`](hashlane_table::swiss::Swiss) table finds known flows up to a quarter faster (study
/// `flow-table`), but stalls while it is rebuilt.
pub type Flows<V> = FlowsBy<Tuple, V>;

/// [`Flows`] by keys of another type: a [`FlowKey`](crate::key::FlowKey).
pub type FlowsBy<K, V> = FlowTable<K, V, SipHash13, Batched<K, Flow<V>>>;

/// A table from keys of type `K` to values of type `V`, hashed by `H` under a secret key, in a table of shape
/// `T`.
///
/// Time is counted in ticks of the caller's choice, an argument of each operation that needs it; the count
/// may wrap.
///
/// ```
/// use hashlane_flow::table::{Flows, Limits};
/// use hashlane_flow::tuple::Tuple;
///
/// let mut flows = Flows::with_random_key(Limits { flows: 1000, idle: 300 }, 0)?;
/// let tuple = Tuple::v4([192, 0, 2, 1].into(), 80, [198, 51, 100, 7].into(), 4000);
/// flows.insert(tuple, "a connection", 0)?;
/// assert_eq!(flows.find(&tuple), Some(&"a connection"));
/// flows.find_burst(&[tuple, tuple.reversed()], |at, found| assert_eq!(found.is_some(), at == 0));
/// flows.expire(300, 1000, |tuple, connection| println!("{tuple}: {connection} was idle"));
/// assert!(flows.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FlowTable<K, V, H, T> {
    pub(crate) hash: H,
    pub(crate) table: T,
    wheel: Wheel,
    limits: Limits,
    /// The slot at which the next eviction begins to look.
    hand: u32,
    types: core::marker::PhantomData<(K, V)>,
}

/// The table has as many flows as it may: the value that found no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full<V>(pub V);

impl<V> fmt::Display for Full<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the table of flows is full")
    }
}

impl<V: fmt::Debug> core::error::Error for Full<V> {}

impl<K: Copy + Eq, V, H: KeyHash<K>, T: Table<K, Flow<V>>> FlowTable<K, V, H, T> {
    /// An empty table at tick `now`, with little room. It grows up to its limit if its shape can grow: such
    /// an insertion takes time proportional to all flows, and the table up to twice the memory of one [with
    /// room](Self::with_room).
    pub fn new(key: &Key, limits: Limits, now: u32) -> Self {
        Self::with_room(limits.flows.min(1024), key, limits, now)
    }

    /// Acts as [`new`](Self::new), under a key from the operating system's random numbers.
    ///
    /// # Errors
    /// The operating system provides no random numbers.
    #[cfg(feature = "getrandom")]
    pub fn with_random_key(limits: Limits, now: u32) -> Result<Self, getrandom::Error> {
        Ok(Self::new(&Key::random()?, limits, now))
    }

    /// An empty table at tick `now`, with room for `flows` from the start: until it has had more at once, it
    /// takes no more memory, however many flows come and go.
    pub fn with_room(flows: usize, key: &Key, limits: Limits, now: u32) -> Self {
        let limits = Limits { idle: limits.idle.clamp(1, 1 << 24), ..limits };
        let table = T::with_capacity(flows);
        let wheel = Wheel::new(limits.idle, table.slots().max(flows), now);
        Self { hash: H::keyed(key), table, wheel, limits, hand: 0, types: core::marker::PhantomData }
    }

    /// Changes the limits at tick `now`. Flows expire by the new idle timeout, from the next tick on. Takes
    /// time in proportion to all flows. Flows beyond a lower limit stay; others are refused until there is
    /// room.
    pub fn set_limits(&mut self, limits: Limits, now: u32) {
        self.limits = Limits { idle: limits.idle.clamp(1, 1 << 24), ..limits };
        self.wheel = Wheel::new(self.limits.idle, self.table.slots(), now);
        for (slot, _, flow) in self.table.iter() {
            self.wheel.watch(slot, flow.seen().wrapping_add(self.limits.idle));
        }
    }

    /// Bytes of memory of the table, without the heap memory of values. It does not shrink.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.table.memory() + self.wheel.memory()
    }

    /// Number of flows.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns true if the table has no flows.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The value of a flow.
    #[inline(always)]
    pub fn find(&self, key: &K) -> Option<&V> {
        self.find_hashed(self.hash.hash_key(key), key)
    }

    /// The value of a flow, which is marked as seen at tick `now`.
    #[inline(always)]
    pub fn touch(&mut self, key: &K, now: u32) -> Option<&mut V> {
        self.touch_hashed(self.hash.hash_key(key), key, now)
    }

    /// [`find`](Self::find) of a key with a known hash.
    #[inline(always)]
    pub(crate) fn find_hashed(&self, hash: u64, key: &K) -> Option<&V> {
        self.table.find(hash, key).map(|flow| &flow.value)
    }

    /// [`touch`](Self::touch) of a key with a known hash.
    #[inline(always)]
    pub(crate) fn touch_hashed(&mut self, hash: u64, key: &K, now: u32) -> Option<&mut V> {
        let flow = self.table.find_mut(hash, key)?;
        flow.after = after(now);
        Some(&mut flow.value)
    }

    /// Adds a flow, seen at tick `now`, or replaces its value if it is present; returns the old value.
    ///
    /// # Errors
    /// The table is full and the flow is not in it.
    pub fn insert(&mut self, key: K, value: V, now: u32) -> Result<Option<V>, Full<V>> {
        let hash = self.hash.hash_key(&key);
        if let Some(known) = self.touch_hashed(hash, &key, now) {
            return Ok(Some(core::mem::replace(known, value)));
        }
        self.insert_hashed(hash, key, value, now).map(|()| None)
    }

    /// Adds a flow that is not in the table, without a lookup, for callers that have just looked. If the flow
    /// is present, both entries stay; which one [`find`](Self::find) returns is unspecified.
    ///
    /// # Errors
    /// The table is full.
    pub fn insert_new(&mut self, key: K, value: V, now: u32) -> Result<(), Full<V>> {
        self.insert_hashed(self.hash.hash_key(&key), key, value, now)
    }

    /// [`insert_new`](Self::insert_new) of a key with a known hash.
    #[inline]
    pub(crate) fn insert_hashed(&mut self, hash: u64, key: K, value: V, now: u32) -> Result<(), Full<V>> {
        if self.table.len() >= self.limits.flows {
            return Err(Full(value));
        }
        let rehash = |key: &K| self.hash.hash_key(key);
        if let Some(slot) = self.table.free_slot(AHEAD) {
            self.table.prefetch_slot(slot);
            self.wheel.prefetch(slot);
        }
        let flow = Flow::new(value, now);
        let due = flow.seen().wrapping_add(self.limits.idle);
        let inserted = self.table.insert(hash, key, flow, rehash);
        if inserted.moved {
            self.wheel.clear();
            for (slot, _, flow) in self.table.iter() {
                self.wheel.watch(slot, flow.seen().wrapping_add(self.limits.idle));
            }
        } else {
            self.wheel.watch(inserted.slot, due);
        }
        Ok(())
    }

    /// Takes out a flow.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let hash = self.hash.hash_key(key);
        self.table.remove(hash, key).map(|flow| flow.value)
    }

    /// [`remove`](Self::remove) of a key with a known hash.
    #[inline(always)]
    pub(crate) fn remove_hashed(&mut self, hash: u64, key: &K) -> Option<V> {
        self.table.remove(hash, key).map(|flow| flow.value)
    }

    /// Removes flows that have been idle for the limit at tick `now`, and passes them to `each`. Returns true
    /// once every such flow has been removed, false if the budget was used up before: the next call goes on.
    ///
    /// `budget` counts flows looked at, rounded up to bursts of 32; 128 ticks without flows count as one. The
    /// work is proportional to the flows that may have expired since the last call, not to the whole table.
    pub fn expire(&mut self, now: u32, budget: usize, mut each: impl FnMut(K, V)) -> bool {
        let mut left = budget;
        while self.wheel.is_behind(now) {
            if left == 0 {
                return false;
            }
            let mut slots = [0; BURST];
            let taken = self.wheel.due(now, &mut slots);
            left = left.saturating_sub(if taken < BURST { taken + TICKS / 128 } else { taken });
            self.expire_burst(slots.get(..taken).unwrap_or_default(), now, &mut each);
        }
        true
    }

    /// Removes the flows in these slots, a burst, that are due, and watches the others again.
    fn expire_burst(&mut self, slots: &[u32], now: u32, each: &mut impl FnMut(K, V)) {
        let Self { hash, table, wheel, limits, .. } = self;
        slots.iter().for_each(|slot| table.prefetch_slot(*slot));
        let (mut due, mut count) = (None, 0);
        for slot in slots {
            let Some((key, flow)) = table.entry(*slot) else { continue };
            let idle = flow.idle(now);
            if idle < limits.idle {
                wheel.watch(*slot, now.wrapping_add(limits.idle - idle));
            } else if let Some(place) = due.get_or_insert([*key; BURST]).get_mut(count) {
                *place = *key;
                count += 1;
            }
        }
        let keys = due.as_ref().and_then(|keys| keys.get(..count)).unwrap_or_default();
        let mut hashes = [0; BURST];
        hash.hash_keys(keys, &mut hashes);
        for hash in hashes.iter().take(count) {
            table.prefetch(*hash);
        }
        for (key, hash) in keys.iter().zip(hashes) {
            if let Some(flow) = table.remove(hash, key) {
                each(*key, flow.value);
            }
        }
    }

    /// Removes the first flow whose rank is `enough`, or else the one of the highest rank among at most
    /// 1,024, to make room for another. `rank` gets the ticks for which a flow has been idle at tick `now`,
    /// too. Returns `None` if there was no flow.
    ///
    /// It goes on in the slots where the last call ended, as the hand of a clock (Corbató, "A paging
    /// experiment with the Multics system", 1968), and jumps after 64 slots that were in vain: flows that
    /// began at the same time stand next to each other.
    pub fn evict(
        &mut self,
        now: u32,
        enough: u64,
        mut rank: impl FnMut(&K, &V, u32) -> u64,
    ) -> Option<(K, V)> {
        const STRETCH: usize = 64;
        const STRETCHES: usize = 16;
        let slots = self.table.slots();
        let mut best: Option<(u64, K)> = None;
        'search: for _ in 0..STRETCHES {
            for _ in 0..STRETCH {
                self.hand = if (self.hand as usize) < slots { self.hand } else { 0 };
                let slot = self.hand;
                self.hand += 1;
                let Some((key, flow)) = self.table.entry(slot) else { continue };
                let rank = rank(key, &flow.value, flow.idle(now));
                if best.is_none_or(|(highest, _)| rank > highest) {
                    best = Some((rank, *key));
                }
                if rank >= enough {
                    break 'search;
                }
            }
            // By the golden ratio, which comes back late to where it was.
            let jump = (slots as u64 * 0x9e37_79b9) >> 32;
            self.hand = ((u64::from(self.hand) + jump) % slots.max(1) as u64) as u32;
        }
        let (_, key) = best?;
        let value = self.remove(&key)?;
        Some((key, value))
    }

    /// All flows, in no order that means anything.
    pub fn iter<'a>(&'a self) -> impl Iterator<Item = (&'a K, &'a V)>
    where
        K: 'a,
        T: 'a,
    {
        self.table.iter().map(|(_, key, flow)| (key, &flow.value))
    }

    /// Passes the flows in the next `slots` slots to `each`, from slot `from` on; the first is 0. Returns the
    /// slot to go on from, or `None` at the end.
    ///
    /// A flow that stays in the table from the first part to the last is passed once, if the shape of the
    /// table keeps its slot ([`Table::SLOTS_STAY`]).
    pub fn scan(&self, from: u32, slots: u32, mut each: impl FnMut(&K, &V)) -> Option<u32> {
        let bound = u32::try_from(self.table.slots()).unwrap_or(u32::MAX);
        let end = bound.min(from.saturating_add(slots));
        for (key, flow) in (from..end).filter_map(|slot| self.table.entry(slot)) {
            each(key, &flow.value);
        }
        (end < bound).then_some(end)
    }

    /// Number of tuples that a find of this one compares: 1 without collisions.
    pub fn comparisons(&self, key: &K) -> usize {
        self.table.comparisons(self.hash.hash_key(key), key)
    }
}

#[cfg(test)]
mod tests;
