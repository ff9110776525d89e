//! Forwarders that are the shards of one, visited one after the other on one thread.

use super::Log;
use hashlane_hash::scheme::Key;
use hashlane_name::ndn::NdnName;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::LpPacket;
use hashlane_ndn_fw::face::{Counter, Face, FaceId};
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::forward::{Burst, Config, Counters, DropReason, Forwarder, HandOver, Output};
use hashlane_ndn_fw::pit::Pit;
use hashlane_ndn_fw::shard::{Balance, Dispatch, Load, Served, Visit, Visits};
use hashlane_ndn_fw::strategy::Strategy;
use hashlane_table::stage::Stage as _;

/// Milliseconds between two balances.
const BALANCE: u64 = 400;

pub struct Fleet<P> {
    pub shards: Vec<Forwarder<P>>,
    dispatch: Dispatch,
    balance: Balance,
    load: Load,
    balanced: Time,
    /// Buckets that have changed, and visits before the last ones.
    pub changes: usize,
    pub detours: usize,
}

/// Packet on its way from one shard to another.
struct Handed {
    visits: Visits,
    served: Option<Box<Served>>,
    hashes: Vec<u64>,
    bytes: Vec<u8>,
}

impl From<HandOver<'_>> for Handed {
    fn from(HandOver { visits, served, hashes, parts, .. }: HandOver<'_>) -> Self {
        Self { visits, served, hashes: hashes.to_vec(), bytes: parts.concat() }
    }
}

impl<P: Pit> Fleet<P> {
    pub fn new(count: usize, config: &Config, key: &Key, seed: u64, mut pit: impl FnMut() -> P) -> Self {
        let shard = |number| Forwarder::with_pit(config.clone(), key, seed ^ number as u64, pit());
        Self {
            shards: (0..count).map(shard).collect(),
            dispatch: Dispatch::new(count),
            balance: Balance::with_threshold(4),
            load: Load::default(),
            balanced: Time::default(),
            changes: 0,
            detours: 0,
        }
    }

    /// The only forwarder.
    pub fn one(&mut self) -> &mut Forwarder<P> {
        assert_eq!(self.shards.len(), 1, "bursts are of one shard");
        &mut self.shards[0]
    }

    pub fn add_face(&mut self, face: &Face) -> FaceId {
        let all: Vec<_> = self.shards.iter_mut().map(|shard| shard.add_face(face.clone())).collect();
        assert!(all.iter().all(|id| *id == all[0]), "shards number faces alike");
        all[0].expect("room for a face")
    }

    pub fn remove_face(&mut self, face: FaceId) {
        self.shards.iter_mut().for_each(|shard| assert!(shard.remove_face(face).is_some()));
    }

    pub fn add_route(&mut self, prefix: &NdnName<'_>, hop: NextHop) {
        self.shards.iter_mut().for_each(|shard| shard.add_route(prefix, hop));
    }

    pub fn remove_route(&mut self, prefix: &NdnName<'_>, face: FaceId) {
        for shard in &mut self.shards {
            // Two prefixes may be one.
            let _ = shard.remove_route(prefix, face);
        }
    }

    pub fn set_strategy(&mut self, prefix: &NdnName<'_>, strategy: Strategy) {
        self.shards.iter_mut().for_each(|shard| shard.set_strategy(prefix, strategy.clone()));
    }

    /// Receives a packet at all shards that it visits.
    pub fn receive(
        &mut self,
        face: FaceId,
        packet: &LpPacket<'_>,
        now: Time,
        out: &mut Log,
    ) -> Result<(), DropReason> {
        self.rebalance(now);
        let mut next: Option<Handed> = None;
        let mut burst = Burst::new();
        burst.push_packet(face, packet);
        let Self { shards, dispatch, load, .. } = self;
        // The first shard has the faces.
        let first = &mut shards[0];
        first.decode().run(&mut burst);
        dispatch.route_burst(0, first, &mut burst, now, load, |packet| next = Some(packet.into()));
        first.forward_decoded(&mut burst, now, out as &mut _);
        let mut outcome = burst.outcomes().next().expect("a packet");
        burst.hand_over_passed(first.decode(), |packet| next = Some(packet.into()));
        while let Some(Handed { visits, served, hashes, bytes }) = next.take() {
            assert_eq!(outcome, Ok(()), "a packet that was dropped goes no further");
            self.detours += usize::from(served.is_some());
            let mut burst = Burst::new();
            burst.push(face, &bytes).expect("a link packet was handed over");
            burst.set_visit(Visit { visits, served: served.as_deref() }, &hashes);
            let shard = &mut self.shards[visits.shard()];
            shard.receive_burst(&mut burst, now, out as &mut _);
            outcome = burst.outcomes().next().expect("a packet");
            burst.hand_over_passed(shard.decode(), |packet| next = Some(packet.into()));
        }
        outcome
    }

    fn rebalance(&mut self, now: Time) {
        if now.since(self.balanced).as_millis() >= BALANCE.into() {
            self.balanced = now;
            self.balance.gather(&mut self.load);
            self.changes += self.balance.balance(&self.dispatch, &[], now);
        }
    }

    pub fn handle_timeout(&mut self, now: Time) {
        self.shards.iter_mut().for_each(|shard| shard.handle_timeout(now));
    }

    pub fn handle_retries(&mut self, now: Time, out: &mut Log) {
        self.shards.iter_mut().for_each(|shard| shard.handle_retries(now, out));
    }

    pub fn poll_timeout(&self) -> Option<Time> {
        self.shards.iter().filter_map(Forwarder::poll_timeout).min()
    }

    /// Sum of a number over all shards.
    pub fn sum(&self, number: impl Fn(&Forwarder<P>) -> usize) -> usize {
        self.shards.iter().map(number).sum()
    }

    /// Sum of a counter over all shards.
    pub fn count(&self, counter: impl Fn(&Counters) -> &Counter) -> u64 {
        self.shards.iter().map(|shard| counter(shard.counters()).value()).sum()
    }
}

/// Receives a burst at the only shard.
impl<P: Pit> Fleet<P> {
    pub fn receive_burst(&mut self, burst: &mut Burst<'_, P::Mark>, now: Time, out: &mut impl Output) {
        self.one().receive_burst(burst, now, out);
    }
}
