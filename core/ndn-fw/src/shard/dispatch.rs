//! The choice of the shards that a packet visits, which all threads share.

use super::MAX_SHARDS;
use super::buckets::{BUCKETS, Bucket, LEVELS, Level, MAX_COMPONENTS, Pending, State, raise};
use super::load::Load;
use crate::forward::Visits;
use crate::hashed::HashedName;
use crate::pit::ends_with_digest;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::Interest;

/// Milliseconds to which expiries are rounded up, so that threads rarely write them.
const ROUND: u64 = 0x3f;

/// The choice of the shards that a packet visits.
///
/// A packet belongs to a bucket by the keyed hash of the first components of its name that the tables use,
/// and a bucket to a shard. Any thread may [route](Self::route_burst) packets while one thread
/// [balances](super::Balance) the buckets.
///
/// ```
/// use hashlane_hash::scheme::Key;
/// use hashlane_name::uri::parse_uri;
/// use hashlane_ndn::time::Time;
/// use hashlane_ndn::wire::{DataBuilder, InterestBuilder};
/// use hashlane_ndn_fw::hashed::NameHasher;
/// use hashlane_ndn_fw::shard::{Dispatch, Load};
///
/// let (dispatch, mut hasher) = (Dispatch::new(4), NameHasher::new(&Key::VECTOR));
/// let name = parse_uri(b"/example/videos/7")?;
/// let interest = InterestBuilder::new(name.view()).build();
/// let data = DataBuilder::new(name.view(), b"").build();
/// let (mut load, now) = (Load::default(), Time::from_millis(1));
/// let [there, back] = [interest, data].map(|packet| dispatch.route(&packet, &mut hasher, now, &mut load));
/// assert_eq!(there, back);
/// assert!(there.shard() < 4 && there.is_last());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Dispatch {
    shards: u8,
    pub(super) levels: [Level; LEVELS.len()],
    wide: [Wide; MAX_COMPONENTS],
}

/// Interests with CanBePrefix and one number of components whose Data may belong to other shards.
struct Wide {
    /// Latest expiry of all of them, in milliseconds.
    all: AtomicU64,
    /// Latest expiry of those whose name has a hash.
    by_hash: [AtomicU64; BUCKETS],
}

/// The bucket that a name belongs to.
struct Found<'d> {
    level: usize,
    number: u8,
    bucket: &'d Bucket,
    state: State,
    /// Components that the choice reads.
    components: usize,
    /// Bits of former owners on the way to the bucket.
    former: u64,
}

impl Wide {
    fn new() -> Self {
        Self { all: AtomicU64::new(0), by_hash: [const { AtomicU64::new(0) }; BUCKETS] }
    }

    fn at(&self, hash: u64) -> &AtomicU64 {
        &self.by_hash[usize::from(number(hash))]
    }
}

impl Dispatch {
    /// The choice among `shards` shards, 1 to [`MAX_SHARDS`].
    pub fn new(shards: usize) -> Self {
        let shards = shards.clamp(1, MAX_SHARDS);
        Self {
            shards: shards as u8,
            levels: LEVELS.map(|components| Level::new(components, shards)),
            wide: core::array::from_fn(|_| Wide::new()),
        }
    }

    /// Number of shards.
    #[inline]
    pub fn shards(&self) -> usize {
        self.shards.into()
    }

    /// The visits of an Interest, or of the Interest of a Nack. Notes an Interest that will be pending for
    /// `lifetime` milliseconds, `None` for a Nack: call it before the Interest is handed over. `load` counts
    /// the packet.
    #[inline(always)]
    pub(super) fn route_interest(
        &self,
        interest: &Interest<'_>,
        name: &HashedName<'_>,
        lifetime: Option<u64>,
        now: Time,
        load: &mut Load,
    ) -> Visits {
        if is_of_first(name) {
            return Visits::default();
        }
        // Data of the Interest has the name without the digest, and no longer one.
        let has_digest = ends_with_digest(interest);
        let len = name.len() - usize::from(has_digest);
        let is_prefix = interest.can_be_prefix() && !has_digest;
        let expires = lifetime.map(|lifetime| (now.millis() + lifetime) | ROUND);
        let pending = expires.map(|expires| Pending { expires, is_wide: is_prefix });
        let found = self.find(name, len, now.millis(), pending);
        load.count(found.level, found.number);
        let Some(expires) = expires else { return Visits::new(found.former, found.state.owner()) };
        found.bucket.note_interest(expires);
        let mut before = found.former;
        if is_prefix && len < found.components {
            if let Some(wide) = self.wide.get(len) {
                raise(wide.at(name.prefix(len)), expires);
                raise(&wide.all, expires);
            }
            before = u64::MAX >> (64 - u32::from(self.shards));
        }
        Visits::new(before, found.state.owner())
    }

    /// The visits of Data. `load` counts the packet.
    #[inline(always)]
    pub(super) fn route_data(&self, name: &HashedName<'_>, now: Time, load: &mut Load) -> Visits {
        if is_of_first(name) {
            return Visits::default();
        }
        let now = now.millis();
        let found = self.find(name, name.len(), now, None);
        load.count(found.level, found.number);
        let mut before = found.former;
        for (len, wide) in self.wide.iter().enumerate().take(name.len().min(found.components)) {
            if wide.all.load(Relaxed) > now {
                before |= self.waiting_for(name, len, wide, now);
            }
        }
        Visits::new(before, found.state.owner())
    }

    /// Bits of the shards at which Interests for the prefix with `len` components may be pending.
    #[cold]
    fn waiting_for(&self, name: &HashedName<'_>, len: usize, wide: &Wide, now: u64) -> u64 {
        if wide.at(name.prefix(len)).load(Relaxed) <= now {
            return 0;
        }
        let found = self.find(name, len, now, None);
        found.former | 1 << found.state.owner()
    }

    /// The bucket of a name that is shortened to `len` components. `interest` is an Interest with this name;
    /// `None` for Data and Nacks.
    #[inline(always)]
    fn find(&self, name: &HashedName<'_>, len: usize, now: u64, interest: Option<Pending>) -> Found<'_> {
        let mut former = 0;
        let mut level = 0;
        loop {
            let Level { components, .. } = self.levels[level];
            let number = number(name.prefix(len.min(components)));
            let bucket = self.levels[level].bucket(number);
            let state = bucket.state();
            former |= match interest {
                Some(interest) => bucket.former_for(state, now, interest),
                None => bucket.former(state, now),
            };
            if !state.is_split() || level + 1 == LEVELS.len() {
                return Found { level, number, bucket, state, components, former };
            }
            level += 1;
        }
    }
}

/// Number of the bucket of a hash. All bits of the hash take part, as the tables of a shard use some of them.
#[inline(always)]
fn number(hash: u64) -> u8 {
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

/// True for names that belong to the first shard: those that the management answers are among them.
#[inline(always)]
fn is_of_first(name: &HashedName<'_>) -> bool {
    let components = name.components;
    components.starts_with(b"\x08\x09localhost") || components.starts_with(b"\x08\x08localhop")
}

/// Leaves out the buckets.
impl core::fmt::Debug for Dispatch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Dispatch").field("shards", &self.shards).finish_non_exhaustive()
    }
}
