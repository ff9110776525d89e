//! The choice of the shards that a packet visits, which all threads share.

use super::MAX_SHARDS;
use super::buckets::{BUCKETS, Bucket, LEVELS, Level, MAX_COMPONENTS, State, raise};
use super::load::Load;
use super::names::Prefixes;
use super::visits::Visits;
use crate::forward::MAX_LIFETIME;
use crate::hashed::components;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use hashlane_hash::scheme::{BytesHash as _, Key, Scheme as _};
use hashlane_hash::siphash::SipHash13;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{DATA, Data, INTEREST, Interest, LpPacket};

/// Milliseconds to which expiries are rounded up, so that threads rarely write them.
const ROUND: u64 = 0x3f;

/// The choice of the shards that a packet visits.
///
/// A packet belongs to a bucket by a keyed hash of the first components of its name, and a bucket to a shard.
/// Any thread may [route](Self::route) packets while one thread [balances](super::Balance) the buckets.
///
/// ```
/// use hashlane_hash::scheme::Key;
/// use hashlane_name::uri::parse_uri;
/// use hashlane_ndn::time::Time;
/// use hashlane_ndn::wire::{DataBuilder, InterestBuilder};
/// use hashlane_ndn_fw::shard::{Dispatch, Load};
///
/// let dispatch = Dispatch::new(&Key::VECTOR, 4);
/// let name = parse_uri(b"/example/videos/7")?;
/// let interest = InterestBuilder::new(name.view()).build();
/// let data = DataBuilder::new(name.view(), b"").build();
/// let (mut load, now) = (Load::default(), Time::from_millis(1));
/// let [there, back] = [interest, data].map(|packet| dispatch.route(&packet, now, &mut load));
/// assert_eq!(there, back);
/// assert!(there.shard() < 4 && there.is_last());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Dispatch {
    hash: SipHash13,
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
        &self.by_hash[usize::from(hash as u8)]
    }
}

impl Dispatch {
    /// The choice among `shards` shards, 1 to [`MAX_SHARDS`], under a key that is drawn at random.
    pub fn new(key: &Key, shards: usize) -> Self {
        let shards = shards.clamp(1, MAX_SHARDS);
        Self {
            hash: SipHash13::new(key),
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

    /// The visits of a link packet, not a fragment. Call it before the packet is handed over: it notes the
    /// Interests that will be pending. `load` counts the packet. Only what the choice depends on is checked:
    /// if that is malformed, the packet visits shard 0. The shard that a malformed packet visits counts it.
    #[inline]
    pub fn route(&self, packet: &[u8], now: Time, load: &mut Load) -> Visits {
        if self.shards == 1 {
            return Visits::new(0, 0);
        }
        match LpPacket::parse(packet) {
            Ok(packet) => self.route_packet(&packet, now, load),
            Err(_) => Visits::new(0, 0),
        }
    }

    /// The visits of a parsed link packet, as [`route`](Self::route).
    #[inline]
    pub fn route_packet(&self, packet: &LpPacket<'_>, now: Time, load: &mut Load) -> Visits {
        self.route_network_packet(packet.fragment, packet.header.nack.is_some(), now, load)
    }

    /// The visits of an Interest or Data packet, or of the Interest of a Nack.
    #[inline(always)]
    fn route_network_packet(&self, packet: &[u8], is_nack: bool, now: Time, load: &mut Load) -> Visits {
        let visits = match packet.first().map(|typ| u32::from(*typ)) {
            Some(INTEREST) => self.route_interest(packet, is_nack, now, load),
            Some(DATA) => self.route_data(packet, now, load),
            _ => None,
        };
        visits.unwrap_or(Visits::new(0, 0))
    }

    #[inline(always)]
    fn route_interest(&self, packet: &[u8], is_nack: bool, now: Time, load: &mut Load) -> Option<Visits> {
        let interest = Interest::parse_except_name(packet).ok()?;
        let mut name = Prefixes::new(interest.name_bytes(), true)?;
        if is_of_first(interest.name_bytes()) {
            return None;
        }
        let found = self.find(&mut name, now.millis())?;
        load.count(found.level, found.number);
        if is_nack {
            return Some(Visits::new(found.former, found.state.owner()));
        }
        let expires = (now.millis() + interest.lifetime().min(MAX_LIFETIME)) | ROUND;
        found.bucket.note_interest(expires);
        let mut before = found.former;
        if interest.can_be_prefix() && name.len() < found.components {
            if let Some(wide) = self.wide.get(name.len()) {
                raise(wide.at(self.hash.hash(name.prefix(name.len()))), expires);
                raise(&wide.all, expires);
            }
            before = u64::MAX >> (64 - u32::from(self.shards));
        }
        Some(Visits::new(before, found.state.owner()))
    }

    #[inline(always)]
    fn route_data(&self, packet: &[u8], now: Time, load: &mut Load) -> Option<Visits> {
        let bytes = Data::find_name(packet).ok()?;
        let mut name = Prefixes::new(bytes, false)?;
        if is_of_first(bytes) {
            return None;
        }
        let now = now.millis();
        let found = self.find(&mut name, now)?;
        load.count(found.level, found.number);
        let mut before = found.former;
        for (len, wide) in self.wide.iter().enumerate().take(name.len().min(found.components)) {
            if wide.all.load(Relaxed) > now {
                before |= self.waiting_for(&name, len, wide, now);
            }
        }
        Some(Visits::new(before, found.state.owner()))
    }

    /// Bits of the shards at which Interests for the prefix with `len` components may be pending.
    #[cold]
    fn waiting_for(&self, name: &Prefixes<'_>, len: usize, wide: &Wide, now: u64) -> u64 {
        let mut prefix = name.clone();
        prefix.truncate(len);
        if wide.at(self.hash.hash(prefix.prefix(len))).load(Relaxed) <= now {
            return 0;
        }
        self.find(&mut prefix, now).map_or(0, |found| found.former | 1 << found.state.owner())
    }

    /// The bucket of a name; `None` if one of the components that the choice reads is malformed.
    #[inline(always)]
    fn find(&self, name: &mut Prefixes<'_>, now: u64) -> Option<Found<'_>> {
        let mut former = 0;
        let mut level = 0;
        loop {
            let Level { components, .. } = self.levels[level];
            name.read(components)?;
            let hash = self.hash.hash(name.prefix(components));
            let bucket = self.levels[level].bucket(hash);
            let state = bucket.state();
            former |= state.former(now);
            if !state.is_split() || level + 1 == LEVELS.len() {
                return Some(Found { level, number: hash as u8, bucket, state, components, former });
            }
            level += 1;
        }
    }
}

/// True for names that belong to the first shard: those that the management answers are among them.
#[inline(always)]
fn is_of_first(name: &[u8]) -> bool {
    let components = components(name);
    components.starts_with(b"\x08\x09localhost") || components.starts_with(b"\x08\x08localhop")
}

/// Keeps keys out of logs.
impl core::fmt::Debug for Dispatch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Dispatch").field("shards", &self.shards).finish_non_exhaustive()
    }
}
