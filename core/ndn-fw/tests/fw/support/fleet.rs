//! Forwarders that are the shards of one, visited one after the other on one thread.

use super::Log;
use hashlane_hash::scheme::Key;
use hashlane_name::ndn::NdnName;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::LpPacket;
use hashlane_ndn_fw::face::{Counter, Face, FaceId};
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::forward::{Burst, Config, Counters, DropReason, Forwarder, Output};
use hashlane_ndn_fw::pit::Pit;
use hashlane_ndn_fw::shard::{Balance, Dispatch, Load, Served, Visit};
use hashlane_ndn_fw::strategy::Strategy;

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

impl<P: Pit> Fleet<P> {
    pub fn new(count: usize, config: &Config, key: &Key, seed: u64, mut pit: impl FnMut() -> P) -> Self {
        let shard = |number| Forwarder::with_pit(config.clone(), key, seed ^ number as u64, pit());
        Self {
            shards: (0..count).map(shard).collect(),
            dispatch: Dispatch::new(key, count),
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
        let mut visits = self.dispatch.route_packet(packet, now, &mut self.load);
        let mut served: Option<Box<Served>> = None;
        loop {
            let mut burst = Burst::new();
            burst.push_packet(face, packet);
            burst.set_visit(Visit { is_last: visits.is_last(), served: served.as_deref() });
            self.shards[visits.shard()].receive_burst(&mut burst, now, out as &mut _);
            let outcome = burst.outcomes().next().expect("a packet");
            let passed = burst.passed().next();
            drop(burst);
            let (Some(next), Some((_, passed))) = (visits.after(), passed) else { return outcome };
            assert_eq!(outcome, Ok(()), "a packet that was dropped goes no further");
            self.detours += 1;
            (visits, served) = (next, Some(passed));
        }
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
