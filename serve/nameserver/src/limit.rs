//! Response rate limiting: bounds what a forged source address makes this server send to its owner.
//!
//! Responses over UDP are counted by the network of their destination and by the kind of the answer, as BIND
//! and NSD count them ([`LimitKey`]), so that an attacker gains nothing by asking for other names of the same
//! kind. Each has a token bucket of one second. A response beyond the limit is dropped, or sent truncated
//! ([`Verdict`]), so that a client behind a forged address gets its answer over TCP, whose addresses cannot
//! be forged.
//!
//! The table is hashed under a secret key and bounded: a new subject takes the place of one whose bucket
//! is full again, or else of the one with the fullest bucket among a few. Time is an argument.

use crate::config::{Network, RateLimit};
use hashlane_hash::scheme::{BytesHash as _, Key, Scheme as _};
use hashlane_hash::siphash::SipHash13;
use hashlane_table::Table as _;
use hashlane_table::batched::Batched;
use std::fmt;
use std::net::IpAddr;

/// Time in which an empty bucket becomes full, in milliseconds.
const WINDOW: u64 = 1000;

/// Entries that an insertion into a full table looks at.
const CANDIDATES: u32 = 8;

/// Kind of a response, by which responses are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ResponseClass {
    /// Records of one name and type: by the hash of the name and the type.
    Records,
    /// An existing name without this type: by the name, or that above the wildcard that it is made of.
    NoData,
    /// A name that does not exist: by the zone. A random subdomain costs an attacker nothing.
    NxDomain,
    /// A delegation or an alias of a tree: by the name that has it, for the same reason.
    Below,
    /// Records made of a wildcard: by the name above the wildcard.
    Wildcard,
    /// FORMERR, REFUSED, SERVFAIL and the like: all together.
    Error,
}

/// Kind and name of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LimitKey {
    /// Kind of the response.
    pub kind: ResponseClass,
    /// Keyed hash of the name, or number of the zone, that the kind asks for.
    pub name: u64,
}

/// Fate of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Send it.
    Send,
    /// Send only that it is truncated (TC).
    Truncate,
    /// Send nothing.
    Drop,
}

/// Subject and network.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Counted {
    network: u64,
    is_ipv4: bool,
    subject: LimitKey,
}

impl Counted {
    fn hash(&self, hasher: &SipHash13) -> u64 {
        let [a, b, c, d, e, f, g, h] = self.network.to_le_bytes();
        let [i, j, k, l, m, n, o, p] = self.subject.name.to_le_bytes();
        let (kind, family) = (self.subject.kind as u8, u8::from(self.is_ipv4));
        hasher.hash(&[a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, kind, family])
    }
}

/// Tokens of a subject.
#[derive(Clone, Copy)]
struct Bucket {
    /// Time of the last response, in milliseconds.
    last: u64,
    /// Responses that may be sent now, in thousandths.
    tokens: u64,
    /// Responses beyond the limit since the last one that was sent truncated.
    withheld: u32,
}

/// Token buckets of one thread.
pub struct Limiter {
    buckets: Batched<Counted, Bucket>,
    hasher: SipHash13,
    /// Responses in a second; 0: no limit.
    rate: u64,
    slip: u32,
    ipv4_prefix: u32,
    ipv6_prefix: u32,
    entries: usize,
    allow: Vec<Network>,
    /// Slot at which the search for a place continues.
    hand: u32,
}

impl Limiter {
    /// A limiter of one among `threads` threads, to which the kernel spreads the queries of a network by
    /// their ports: each has its part of the limit and of the memory. `key` should be random.
    pub fn new(key: &Key, settings: &RateLimit, threads: usize) -> Self {
        let threads = threads.max(1);
        Self {
            buckets: Batched::with_capacity(0),
            hasher: SipHash13::new(key),
            rate: u64::from(settings.responses_per_second).div_ceil(threads as u64),
            slip: settings.slip,
            ipv4_prefix: settings.ipv4_prefix.into(),
            ipv6_prefix: settings.ipv6_prefix.into(),
            entries: settings.entries.div_ceil(threads),
            allow: settings.allow.clone(),
            hand: 0,
        }
    }

    /// Returns true if responses to this address are counted.
    #[inline]
    fn applies(&self, address: IpAddr) -> bool {
        self.rate > 0 && !self.allow.iter().any(|network| network.contains(address))
    }

    /// Counts a response to an address, unless it is allowed without limit; `subject` is then not called.
    /// `now` is in milliseconds from any origin, and never decreases.
    pub fn check(&mut self, address: IpAddr, subject: impl FnOnce() -> LimitKey, now: u64) -> Verdict {
        let address = address.to_canonical();
        if !self.applies(address) {
            return Verdict::Send;
        }
        let (network, is_ipv4) = match address {
            IpAddr::V4(address) => {
                (u64::from(address.to_bits()) >> 32_u32.saturating_sub(self.ipv4_prefix).min(32), true)
            }
            IpAddr::V6(address) => {
                let upper = (address.to_bits() >> 64) as u64;
                (upper >> 64_u32.saturating_sub(self.ipv6_prefix).min(63), false)
            }
        };
        let counted = Counted { network, is_ipv4, subject: subject() };
        let hash = counted.hash(&self.hasher);
        let (rate, slip) = (self.rate, self.slip);
        if let Some(bucket) = self.buckets.find_mut(hash, &counted) {
            return bucket.take(rate, slip, now);
        }
        if self.buckets.len() >= self.entries {
            self.make_place(now);
        }
        let mut bucket = Bucket { last: now, tokens: rate * 1000, withheld: 0 };
        let verdict = bucket.take(rate, slip, now);
        let hasher = &self.hasher;
        self.buckets.insert(hash, counted, bucket, |other| other.hash(hasher));
        verdict
    }

    /// Number of subjects and networks that are counted.
    pub fn len(&self) -> usize {
        self.buckets.len()
    }

    /// True if nothing is counted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory of the table.
    pub fn memory(&self) -> usize {
        self.buckets.memory()
    }

    /// Removes a bucket that is full again, or else the fullest one among a few.
    fn make_place(&mut self, now: u64) {
        let slots = self.buckets.slots() as u32;
        let full = self.rate * 1000;
        let mut fullest: Option<(u64, u32, Counted)> = None;
        for _ in 0..CANDIDATES {
            self.hand = if self.hand + 1 < slots { self.hand + 1 } else { 0 };
            let Some((counted, bucket)) = self.buckets.entry(self.hand) else { continue };
            let tokens = bucket.tokens_at(self.rate, now);
            if fullest.is_none_or(|(most, ..)| tokens > most) {
                fullest = Some((tokens, self.hand, *counted));
            }
            if tokens == full {
                break;
            }
        }
        if let Some((_, slot, counted)) = fullest {
            self.buckets.remove_slot(counted.hash(&self.hasher), slot);
        }
    }
}

impl Bucket {
    #[inline]
    fn tokens_at(&self, rate: u64, now: u64) -> u64 {
        let passed = now.saturating_sub(self.last).min(WINDOW);
        (self.tokens + passed * rate).min(rate * 1000)
    }

    #[inline]
    fn take(&mut self, rate: u64, slip: u32, now: u64) -> Verdict {
        self.tokens = self.tokens_at(rate, now);
        self.last = self.last.max(now);
        if self.tokens >= 1000 {
            self.tokens -= 1000;
            self.withheld = 0;
            return Verdict::Send;
        }
        self.withheld += 1;
        if slip > 0 && self.withheld >= slip {
            self.withheld = 0;
            return Verdict::Truncate;
        }
        Verdict::Drop
    }
}

/// Keeps the key out of logs.
impl fmt::Debug for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limiter").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter(settings: RateLimit, threads: usize) -> Limiter {
        Limiter::new(&Key::VECTOR, &settings, threads)
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    const NAME: LimitKey = LimitKey { kind: ResponseClass::Records, name: 7 };

    /// Number of responses of each verdict: sent, truncated, dropped.
    fn flood(limiter: &mut Limiter, to: &str, subject: LimitKey, count: usize, now: u64) -> [usize; 3] {
        let mut verdicts = [0; 3];
        for _ in 0..count {
            verdicts[limiter.check(address(to), || subject, now) as usize] += 1;
        }
        verdicts
    }

    #[test]
    fn a_flood_gets_the_limit_and_every_second_other_response_says_truncated() {
        let mut limiter = limiter(RateLimit::default(), 1);
        assert_eq!(flood(&mut limiter, "192.0.2.1", NAME, 1000, 0), [200, 400, 400]);
        assert_eq!(flood(&mut limiter, "192.0.2.1", NAME, 1000, 500)[0], 100, "half a second later");
        assert_eq!(flood(&mut limiter, "192.0.2.1", NAME, 1000, 60_000)[0], 200, "nothing is saved up");
        assert_eq!(flood(&mut limiter, "192.0.2.1", NAME, 1000, 59_000)[0], 0, "a clock that goes back");
    }

    #[test]
    fn networks_and_kinds_are_counted_apart_and_addresses_of_a_network_together() {
        let mut limiter = limiter(RateLimit::default(), 1);
        assert_eq!(flood(&mut limiter, "192.0.2.1", NAME, 300, 0)[0], 200);
        assert_eq!(flood(&mut limiter, "192.0.2.254", NAME, 300, 0)[0], 0, "the same /24");
        assert_eq!(flood(&mut limiter, "::ffff:192.0.2.9", NAME, 300, 0)[0], 0, "mapped");
        assert_eq!(flood(&mut limiter, "192.0.3.1", NAME, 300, 0)[0], 200);
        for (kind, name) in [
            (ResponseClass::Records, 8),
            (ResponseClass::NoData, 7),
            (ResponseClass::NxDomain, 7),
            (ResponseClass::Error, 7),
        ] {
            assert_eq!(flood(&mut limiter, "192.0.2.1", LimitKey { kind, name }, 300, 0)[0], 200);
        }
        assert_eq!(flood(&mut limiter, "2001:db8::1", NAME, 300, 0)[0], 200);
        assert_eq!(flood(&mut limiter, "2001:db8:0:ff::1", NAME, 300, 0)[0], 0, "the same /56");
        assert_eq!(flood(&mut limiter, "2001:db8:0:100::1", NAME, 300, 0)[0], 200);
    }

    #[test]
    fn the_slip_the_rate_and_allowed_networks_are_settings() {
        let with = |slip| RateLimit { slip, ..RateLimit::default() };
        assert_eq!(flood(&mut limiter(with(0), 1), "192.0.2.1", NAME, 300, 0), [200, 0, 100]);
        assert_eq!(flood(&mut limiter(with(1), 1), "192.0.2.1", NAME, 300, 0), [200, 100, 0]);
        assert_eq!(flood(&mut limiter(with(10), 1), "192.0.2.1", NAME, 300, 0), [200, 10, 90]);
        assert_eq!(flood(&mut limiter(with(2), 4), "192.0.2.1", NAME, 300, 0)[0], 50, "one of four threads");
        let mut allowed = limiter(with(2), 1);
        assert_eq!(flood(&mut allowed, "127.0.0.1", NAME, 300, 0)[0], 300);
        assert_eq!(flood(&mut allowed, "::1", NAME, 300, 0)[0], 300);
        assert!(allowed.is_empty());
        let off = RateLimit { responses_per_second: 0, ..RateLimit::default() };
        assert_eq!(flood(&mut limiter(off, 1), "192.0.2.1", NAME, 300, 0)[0], 300);
    }

    #[test]
    fn forged_addresses_without_number_take_bounded_memory_and_free_none_that_floods() {
        let mut limiter = limiter(RateLimit { entries: 1024, ..RateLimit::default() }, 1);
        let mut sent = 0;
        for step in 0..50_000_u32 {
            let forged = IpAddr::from((step << 8).to_be_bytes());
            limiter.check(forged, || NAME, u64::from(step) / 1000);
            if step % 10 == 0 {
                sent += flood(&mut limiter, "203.0.113.1", NAME, 10, u64::from(step) / 1000)[0];
            }
        }
        assert!(
            limiter.len() <= 1024 && limiter.memory() < 256 << 10,
            "{} {}",
            limiter.len(),
            limiter.memory()
        );
        // 50,000 responses in 50 ms: an empty bucket keeps its place.
        assert!((205..=210).contains(&sent), "{sent}");
    }
}
