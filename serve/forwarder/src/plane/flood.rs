//! Peers that flood a UDP socket, or hosts that flood an Ethernet, limited in the kernel.
//!
//! All peers of a socket share the kernel's receive queue. Once datagrams are lost because it is full, the
//! parties that send most are limited to a common rate, at which the thread keeps up; whoever sends less
//! loses nothing. The rate grows while the queue is short, until no party exceeds it. While the queue is
//! long, what it still holds of these parties is dropped as soon as it is read.

use super::ether::Ether;
use super::udp::Udp;
use hashlane_link::udp::{Limited, MAX_HALVINGS, MAX_LIMITED, ReceiveQueue, Sender};
use hashlane_ndn::time::Time;
use hashlane_ndn_fw::forward::Counters;
use hashlane_ndn_fw::strategy::Rng;
use hashlane_table::share::Owner;
use std::collections::HashMap;
use std::io;
use std::time::Duration;

/// Interval of the measurements of a socket whose queue was not read empty.
pub(super) const INTERVAL: Duration = Duration::from_millis(20);

/// Longest interval that says at which rate the thread keeps up: in a longer one, it may have been idle.
const LONGEST: Duration = Duration::from_millis(100);

/// Most parties without a face that are counted in an interval.
const MAX_STRANGERS: usize = 4096;

/// Least rate to which a party is limited, in datagrams a second.
const LEAST_RATE: f64 = 200.0;

/// Weight of an interval in the estimate of a rate. Few datagrams of a limited party are kept, and the kernel
/// joins dozens, so that one interval says little.
const WEIGHT: f64 = 1.0 / 16.0;

/// Most parties whose rates are estimated.
const MAX_PARTIES: usize = 16_384;

/// Socket whose receive queue all its senders share.
pub(super) trait SharedQueue {
    /// True if the kernel counts what it drops of limited senders as lost.
    const COUNTS_LIMITED: bool;

    /// State of the receive queue.
    ///
    /// # Errors
    /// The kernel does not report it.
    fn receive_queue(&self) -> io::Result<ReceiveQueue>;

    /// Replaces the limits of senders.
    ///
    /// # Errors
    /// The kernel has no memory for them.
    fn limit_sources(&mut self, limited: &[Limited], salt: u64) -> io::Result<()>;

    /// A party as the sender of packets to this socket; `None` if it sends none.
    fn sender(owner: Owner) -> Option<Sender>;

    /// Local end, for the log.
    fn local(&self) -> String;
}

impl SharedQueue for Udp {
    const COUNTS_LIMITED: bool = true;

    fn receive_queue(&self) -> io::Result<ReceiveQueue> {
        self.socket.receive_queue()
    }

    fn limit_sources(&mut self, limited: &[Limited], salt: u64) -> io::Result<()> {
        self.socket.limit_sources(limited, salt)
    }

    fn sender(owner: Owner) -> Option<Sender> {
        match owner {
            Owner::Ipv4(address) => Some(Sender::Ipv4(address)),
            Owner::Ipv6(network) => Some(Sender::Ipv6(network)),
            Owner::LinkLocal(interface) => Some(Sender::LinkLocal(interface)),
            Owner::User(_) | Owner::Loopback(_) | Owner::Local | Owner::Link(_) => None,
        }
    }

    fn local(&self) -> String {
        self.local.to_string()
    }
}

impl SharedQueue for Ether {
    const COUNTS_LIMITED: bool = false;

    fn receive_queue(&self) -> io::Result<ReceiveQueue> {
        self.socket.receive_queue()
    }

    fn limit_sources(&mut self, limited: &[Limited], salt: u64) -> io::Result<()> {
        self.socket.limit_sources(limited, salt)
    }

    fn sender(owner: Owner) -> Option<Sender> {
        owner.ethernet().map(Sender::Ethernet)
    }

    fn local(&self) -> String {
        format!("dev://{}", self.interface)
    }
}

/// Measurements of sockets, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Floods(Vec<Flood>);

impl Floods {
    /// Begins the measurements of a socket, in place of an earlier socket's with its number. `rng` draws the
    /// secret of its filter.
    pub(super) fn begin(&mut self, number: usize, rng: &mut Rng) {
        while self.0.len() <= number {
            self.0.push(Flood::new(rng.next_u64()));
        }
        if let Some(place) = self.0.get_mut(number) {
            *place = Flood::new(rng.next_u64());
        }
    }

    /// Measurements of a socket.
    #[inline]
    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut Flood> {
        self.0.get_mut(number)
    }

    /// Measurements of a socket, if an interval has passed since the last one.
    pub(super) fn due(&mut self, number: usize, now: Time) -> Option<&mut Flood> {
        self.0.get_mut(number).filter(|flood| flood.is_due(now))
    }

    /// True while senders to a socket are limited.
    pub(super) fn is_limiting(&self) -> bool {
        self.0.iter().any(Flood::is_limiting)
    }

    /// Numbers of the sockets.
    pub(super) fn numbers(&self) -> std::ops::Range<usize> {
        0..self.0.len()
    }
}

/// Measurements of one socket.
#[derive(Debug)]
pub(super) struct Flood {
    /// Time of the last measurement.
    measured: Time,
    /// Datagrams that the kernel has lost until then.
    lost: u32,
    /// Datagrams of peers without a face, since then.
    strangers: HashMap<Owner, u32>,
    limits: Limits,
    /// True while the queue is long, so that what it holds of limited parties is dropped.
    drains: bool,
    /// Secret of the filter.
    salt: u64,
    /// True once a failure to limit is logged.
    logged: bool,
}

/// Rates of the parties, and the common rate to which those that send more are limited.
#[derive(Debug, Default)]
struct Limits {
    /// Datagrams a second of each party.
    rate: f64,
    /// Parties that have sent something lately; empty while none is limited.
    parties: HashMap<Owner, Party>,
}

/// Rate of a party, and its limit.
#[derive(Clone, Copy, Debug)]
struct Party {
    /// Estimate of the datagrams a second that it sends.
    rate: f64,
    /// One in 2^`halvings` of them is kept: all if this is 0.
    halvings: u8,
}

/// Change of the common rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pressure {
    /// The thread cannot keep up.
    High,
    Normal,
    /// The queue is short.
    Low,
}

impl Flood {
    fn new(salt: u64) -> Self {
        Self {
            measured: Time::default(),
            lost: 0,
            strangers: HashMap::new(),
            limits: Limits::default(),
            drains: false,
            salt,
            logged: false,
        }
    }

    /// True while parties are limited.
    fn is_limiting(&self) -> bool {
        !self.limits.parties.is_empty()
    }

    /// True if datagrams of some parties are dropped as soon as they are read.
    #[inline]
    pub(super) fn drains(&self) -> bool {
        self.drains
    }

    /// True if a party is limited.
    pub(super) fn limits(&self, owner: Owner) -> bool {
        self.limits.parties.get(&owner).is_some_and(|party| party.halvings > 0)
    }

    /// Counts a datagram of a peer without a face.
    pub(super) fn count_stranger(&mut self, owner: Owner) {
        if self.strangers.len() < MAX_STRANGERS || self.strangers.contains_key(&owner) {
            *self.strangers.entry(owner).or_default() += 1;
        }
    }

    /// True if an interval has passed since the last measurement.
    fn is_due(&self, now: Time) -> bool {
        now.since(self.measured) >= INTERVAL
    }

    /// Counts the datagrams or frames lost since the last measurement, and limits the parties that send most,
    /// if any were. `heard` calls its argument with parties and their datagrams since then.
    pub(super) fn measure<S: SharedQueue>(
        &mut self,
        socket: &mut S,
        now: Time,
        counters: &Counters,
        heard: impl FnOnce(&mut dyn FnMut(Owner, u32)),
    ) {
        let seconds = now.since(std::mem::replace(&mut self.measured, now)).as_secs_f64();
        let mut datagrams: HashMap<Owner, u32> = std::mem::take(&mut self.strangers);
        // Kernels without this measurement limit nobody.
        let Ok(queue) = socket.receive_queue() else { return };
        let lost = queue.lost.wrapping_sub(std::mem::replace(&mut self.lost, queue.lost));
        let limiting = self.is_limiting();
        let counter = match limiting && S::COUNTS_LIMITED {
            true => &counters.flood_drops,
            false => &counters.udp_overflows,
        };
        counter.add(lost.into());
        let pressure = match (limiting, lost) {
            (false, 0) => Pressure::Low,
            (false, _) => Pressure::High,
            (true, 1..) if !S::COUNTS_LIMITED => Pressure::High,
            (true, _) if queue.queued > queue.limit / 8 => Pressure::High,
            (true, _) if queue.queued < queue.limit / 64 => Pressure::Low,
            (true, _) => Pressure::Normal,
        };
        heard(&mut |owner, count| *datagrams.entry(owner).or_default() += count);
        let is_short = seconds > 0.0 && seconds <= LONGEST.as_secs_f64();
        if !limiting && (pressure != Pressure::High || !is_short) || seconds <= 0.0 {
            return;
        }
        // Datagrams that were lost had the senders of those that were not.
        let kept: u32 = datagrams.values().sum();
        let scale = if limiting { 1.0 } else { 1.0 + f64::from(lost) / f64::from(kept.max(1)) };
        let capacity = f64::from(kept) / seconds;
        let rates = datagrams.iter().map(|(owner, count)| (*owner, f64::from(*count) * scale / seconds));
        let changed = self.limits.update(rates, capacity, pressure);
        if changed {
            self.apply(socket);
        }
        self.drains = pressure == Pressure::High && self.is_limiting();
    }

    /// Gives the limits to the kernel.
    fn apply<S: SharedQueue>(&mut self, socket: &mut S) {
        let mut parties: Vec<(&Owner, &Party)> =
            self.limits.parties.iter().filter(|(_, party)| party.halvings > 0).collect();
        if parties.len() > MAX_LIMITED {
            parties.sort_unstable_by(|(_, a), (_, b)| b.rate.total_cmp(&a.rate));
        }
        let limited = parties.iter().filter_map(|(owner, party)| {
            Some(Limited { source: S::sender(**owner)?, halvings: party.halvings })
        });
        let limited: Vec<Limited> = limited.take(MAX_LIMITED).collect();
        // Old kernels have memory for short filters only.
        let mut outcome = socket.limit_sources(&limited, self.salt);
        for length in [limited.len() / 4, limited.len() / 16] {
            if outcome.is_ok() || length == 0 {
                break;
            }
            outcome = socket.limit_sources(limited.get(..length).unwrap_or(&limited), self.salt);
        }
        if let Err(error) = outcome
            && !std::mem::replace(&mut self.logged, true)
        {
            tracing::warn!(local = socket.local(), %error, "cannot limit the peers that flood a socket");
        }
    }
}

impl Limits {
    /// Updates the limits from the rates at which the datagrams of each party were received, and the sum of
    /// all at which the thread was able to keep up. Returns true if they have changed.
    fn update(
        &mut self,
        received: impl Iterator<Item = (Owner, f64)>,
        capacity: f64,
        pressure: Pressure,
    ) -> bool {
        let before = std::mem::take(&mut self.parties);
        let mut rates: HashMap<Owner, f64> = received.take(MAX_PARTIES).collect();
        if !before.is_empty() {
            for (owner, rate) in &mut rates {
                let halvings = before.get(owner).map_or(0, |party| party.halvings);
                *rate *= WEIGHT * f64::from(1_u32 << halvings);
            }
            for (owner, party) in &before {
                if rates.len() < MAX_PARTIES || party.halvings > 0 {
                    *rates.entry(*owner).or_default() += (1.0 - WEIGHT) * party.rate;
                }
            }
        }
        self.rate = match pressure {
            Pressure::High => {
                let fair = fair_rate(rates.values().copied(), 0.75 * capacity);
                let least = if before.is_empty() { fair } else { fair.min(0.5 * self.rate) };
                least.max(LEAST_RATE)
            }
            Pressure::Normal => self.rate,
            Pressure::Low => 1.05 * self.rate,
        };
        let mut changed = false;
        for (owner, rate) in rates {
            let old = before.get(&owner).map_or(0, |party| party.halvings);
            let halvings = halvings(rate / self.rate, old);
            changed |= halvings != old;
            if halvings > 0 || rate >= 1.0 {
                self.parties.insert(owner, Party { rate, halvings });
            }
        }
        if self.parties.values().all(|party| party.halvings == 0) {
            self.parties.clear();
        }
        changed
    }
}

/// Halvings that bring a rate down to 1. Keeps those that a party has if they are about right: changing the
/// filter is not free.
fn halvings(excess: f64, old: u8) -> u8 {
    let needed = excess.max(1.0).log2();
    let about_right = f64::from(old) - 1.3..f64::from(old) + 0.3;
    if old > 0 && excess > 1.0 && about_right.contains(&needed) {
        return old;
    }
    needed.ceil().min(f64::from(MAX_HALVINGS)) as u8
}

/// Rate to which each party has to be limited, so that all together have `capacity`: whoever sends less has
/// all it sends, and the others have the same.
fn fair_rate(rates: impl Iterator<Item = f64>, capacity: f64) -> f64 {
    let mut rates: Vec<f64> = rates.collect();
    rates.sort_unstable_by(f64::total_cmp);
    let (mut left, mut parties) = (capacity, rates.len());
    for rate in rates {
        let share = left / parties as f64;
        if rate > share {
            return share;
        }
        left -= rate;
        parties -= 1;
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rate of datagrams of a party that the kernel keeps.
    fn kept(limits: &Limits, owner: Owner, rate: f64) -> f64 {
        let halvings = limits.parties.get(&owner).map_or(0, |party| party.halvings);
        rate / f64::from(1_u32 << halvings)
    }

    #[test]
    fn who_sends_less_than_the_others_loses_nothing() {
        let sends = |owner: u32| match owner {
            0 => 1_000_000.0,
            1..10 => 100_000.0,
            _ => 1000.0,
        };
        let owners = || (0..50).map(|owner| (Owner::Ipv4(owner), sends(owner)));
        let mut limits = Limits::default();
        let capacity = 300_000.0;
        // Until now, a part of the datagrams of each was lost.
        limits.update(owners(), capacity, Pressure::High);
        for _ in 0..100 {
            let kept: Vec<_> = owners().map(|(owner, rate)| (owner, kept(&limits, owner, rate))).collect();
            let all: f64 = kept.iter().map(|(_, rate)| rate).sum();
            assert!(kept.iter().skip(10).all(|(_, rate)| *rate == 1000.0));
            assert!(kept.iter().take(10).all(|(_, rate)| *rate >= 5000.0), "{kept:?}");
            let pressure = if all > capacity { Pressure::High } else { Pressure::Low };
            limits.update(kept.into_iter(), all.min(capacity), pressure);
        }
        // The flood ends, and the limits with it.
        for _ in 0..300 {
            let quiet = owners().filter(|(owner, _)| *owner >= Owner::Ipv4(10));
            limits.update(quiet, 40_000.0, Pressure::Low);
        }
        assert!(limits.parties.is_empty());
    }

    #[test]
    fn a_limit_that_is_about_right_stays() {
        assert_eq!((halvings(0.5, 0), halvings(1.0, 3), halvings(1.1, 0)), (0, 0, 1));
        assert_eq!((halvings(8.0, 0), halvings(9.0, 0), halvings(9.0, 3)), (3, 4, 3));
        assert_eq!((halvings(10.0, 3), halvings(3.5, 3), halvings(3.0, 3)), (4, 3, 2));
        assert_eq!(halvings(1e9, 0), MAX_HALVINGS);
    }
}
