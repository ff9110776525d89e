//! Buckets of names, and the shards that own them.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Buckets of a level.
pub(super) const BUCKETS: usize = 256;

/// Components that the choice of a shard reads at each level. A bucket that is too hot is split: its names
/// are then chosen for at the next level.
pub(super) const LEVELS: [usize; 4] = [2, 4, 8, MAX_COMPONENTS];

/// Most components that the choice of a shard reads.
pub(super) const MAX_COMPONENTS: usize = 16;

/// Bit of a bucket that is split.
const SPLIT: u64 = 1 << 16;

/// Bits of the time until which the former owner is visited.
const UNTIL: u32 = 17;

/// The time of a move that is not settled yet.
const UNSETTLED: u64 = u64::MAX >> UNTIL;

/// All buckets of a level.
pub(super) struct Level {
    pub(super) components: usize,
    buckets: [Bucket; BUCKETS],
}

/// Bucket of names.
#[derive(Default)]
pub(super) struct Bucket {
    /// Bits 0 to 7: owner. Bits 8 to 15: former owner. Bit 16: split. From bit 17: time until which the
    /// former owner is visited, in milliseconds.
    state: AtomicU64,
    /// Latest expiry of an Interest of the bucket, in milliseconds.
    expires: AtomicU64,
    /// Latest expiry of an Interest that the former owner may have taken since the move, in milliseconds: its
    /// name was pending there.
    taken: AtomicU64,
}

/// Interest that is on its way to a bucket, and will be pending.
#[derive(Clone, Copy)]
pub(super) struct Pending {
    /// Expiry, in milliseconds.
    pub(super) expires: u64,
    /// True if it may visit all shards.
    pub(super) is_wide: bool,
}

/// State of a bucket at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State(u64);

impl Level {
    /// A level whose buckets belong to the shards in turn.
    pub(super) fn new(components: usize, shards: usize) -> Self {
        let bucket = |number| Bucket { state: AtomicU64::new((number % shards) as u64), ..Bucket::default() };
        Self { components, buckets: core::array::from_fn(bucket) }
    }

    /// The bucket of this number.
    #[inline(always)]
    pub(super) fn bucket(&self, number: u8) -> &Bucket {
        // Indexing is by a byte.
        &self.buckets[usize::from(number)]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Bucket> {
        self.buckets.iter()
    }
}

impl Bucket {
    #[inline(always)]
    pub(super) fn state(&self) -> State {
        State(self.state.load(Relaxed))
    }

    /// Notes an Interest that expires at `expires`, in milliseconds.
    #[inline(always)]
    pub(super) fn note_interest(&self, expires: u64) {
        raise(&self.expires, expires);
    }

    /// Bit of the former owner while Data and Nacks visit it: for as long as Interests do, and until those
    /// have expired that it may have taken.
    #[inline(always)]
    pub(super) fn former(&self, state: State, now: u64) -> u64 {
        if state.until() > now || self.taken.load(Relaxed) > now { state.former_bit() } else { 0 }
    }

    /// Bit of the former owner while Interests visit it. Notes that it may take this one.
    #[inline(always)]
    pub(super) fn former_for(&self, state: State, now: u64, interest: Pending) -> u64 {
        let former = if state.until() > now { state.former_bit() } else { 0 };
        if former != 0 || interest.is_wide && self.taken.load(Relaxed) > now {
            raise(&self.taken, interest.expires);
        }
        former
    }

    /// Gives the bucket to another shard. The former owner is visited until the move is
    /// [settled](Self::settle) and over. Only one thread moves, splits and settles.
    pub(super) fn move_to(&self, shard: u8) {
        let State(old) = self.state();
        self.state.store(old & SPLIT | u64::from(shard) | (old & 0xff) << 8 | UNSETTLED << UNTIL, Relaxed);
    }

    /// Splits the bucket. Its owner is visited as the former one, as after a move.
    pub(super) fn split(&self) {
        self.move_to(self.state().owner());
        self.state.fetch_or(SPLIT, Relaxed);
    }

    /// Sets the end of the last move, if it has none yet: `keep` milliseconds after the Interests noted so
    /// far have expired, when the former owner has forgotten their Nonces.
    pub(super) fn settle(&self, now: u64, keep: u64) {
        let State(state) = self.state();
        if state >> UNTIL == UNSETTLED {
            let until = (self.expires.load(Relaxed).max(now) + keep).min(UNSETTLED - 1);
            self.state.store(state & ((1 << UNTIL) - 1) | until << UNTIL, Relaxed);
        }
    }
}

impl State {
    #[inline(always)]
    pub(super) fn owner(self) -> u8 {
        self.0 as u8
    }

    #[inline(always)]
    pub(super) fn is_split(self) -> bool {
        self.0 & SPLIT != 0
    }

    /// Time until which Interests visit the former owner, in milliseconds.
    #[inline(always)]
    fn until(self) -> u64 {
        self.0 >> UNTIL
    }

    #[inline(always)]
    fn former_bit(self) -> u64 {
        1 << (self.0 >> 8 & 63)
    }
}

/// Raises a time. Threads that race may lose the lower one, or for a moment the higher one, which is stored
/// again.
#[inline(always)]
pub(super) fn raise(time: &AtomicU64, to: u64) {
    if time.load(Relaxed) < to {
        time.fetch_max(to, Relaxed);
    }
}
