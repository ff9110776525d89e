//! Shards: packets that concern several of them.

use crate::rig::packet;
use crate::support::fleet::Fleet;
use crate::support::{Ask, Log, Sent, ask, data, uri};
use hashlane_hash::scheme::Key;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{Data, LpHeader, NackReason};
use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::forward::{Config, DropReason, MAX_LIFETIME};
use hashlane_ndn_fw::hashed::NameHasher;
use hashlane_ndn_fw::pit::{ByName, Pit as _};
use hashlane_ndn_fw::shard::{Balance, Dispatch, Load};

const SHARDS: usize = 4;

struct Rig {
    fleet: Fleet<ByName>,
    now: Time,
    consumer: FaceId,
    producer: FaceId,
}

impl Rig {
    fn new() -> Self {
        let mut fleet = Fleet::new(SHARDS, &Config::default(), &Key::VECTOR, 7, ByName::default);
        let mut face = || fleet.add_face(&Face::new(Scope::NonLocal, LinkType::PointToPoint));
        let (consumer, producer) = (face(), face());
        fleet.add_route(&uri("/a").view(), NextHop { face: producer, cost: 0 });
        Self { fleet, now: Time::from_millis(1000), consumer, producer }
    }

    fn take(
        &mut self,
        face: FaceId,
        header: LpHeader<'_>,
        bytes: &[u8],
    ) -> (Vec<Sent>, Result<(), DropReason>) {
        let mut log = Log::default();
        let done = self.fleet.receive(face, &packet(header, bytes), self.now, &mut log);
        (log.0, done)
    }

    fn asks(&mut self, ask: &Ask) -> Vec<(FaceId, &'static str)> {
        let (sent, done) = self.take(self.consumer, LpHeader::default(), &ask.build());
        assert_eq!(done, Ok(()));
        sent.iter().map(|sent| (sent.brief().0, sent.brief().1)).collect()
    }

    fn gives(&mut self, uri: &str) -> Result<usize, DropReason> {
        let (sent, done) = self.take(self.producer, LpHeader::default(), &data(uri, 10_000));
        done.map(|()| sent.len())
    }

    /// Shards with packets in their store.
    fn stores(&self) -> usize {
        self.fleet.sum(|shard| usize::from(!shard.cs().is_empty()))
    }
}

#[test]
fn a_short_name_finds_data_in_the_store_of_any_shard() {
    for number in 0..40 {
        let mut rig = Rig::new();
        let name = format!("/a/{number}/x");
        assert_eq!(rig.asks(&ask(&name, 1)), [(rig.producer, "interest")]);
        assert_eq!(rig.gives(&name), Ok(1));
        assert_eq!(rig.asks(&ask("/a", 2).prefix()), [(rig.consumer, "data")], "{name}");
        assert_eq!(rig.fleet.count(|all| &all.in_interests), 2, "each Interest counts once");
    }
}

#[test]
fn data_below_a_short_name_is_stored_where_its_own_name_belongs() {
    for number in 0..40 {
        let mut rig = Rig::new();
        let name = format!("/a/{number}/x");
        assert_eq!(rig.asks(&ask("/a", 1).prefix()), [(rig.producer, "interest")]);
        assert_eq!(rig.gives(&name), Ok(1));
        assert_eq!((rig.stores(), rig.fleet.count(|all| &all.in_data)), (1, 1));
        assert_eq!(rig.asks(&ask(&name, 2)), [(rig.consumer, "data")], "{name}");
        // Nothing is pending: the Data is unsolicited, at whatever shards it asks.
        assert_eq!(rig.gives(&name), Err(DropReason::Unsolicited));
        assert_eq!(rig.fleet.sum(|shard| shard.counters().drops.value(DropReason::Unsolicited) as usize), 1);
    }
}

#[test]
fn a_downstream_that_waits_at_two_shards_gets_data_once() {
    for number in 0..40 {
        let mut rig = Rig::new();
        let name = format!("/a/{number}/x");
        rig.asks(&ask("/a", 1).prefix());
        rig.asks(&ask(&name, 2));
        assert_eq!(rig.gives(&name), Ok(1));
        assert_eq!(rig.fleet.sum(|shard| shard.pit().len()), 0);
    }
}

#[test]
fn a_nack_finds_the_interest_of_a_short_name() {
    let mut rig = Rig::new();
    let ask = ask("/a", 1).prefix();
    rig.asks(&ask);
    let header = LpHeader { nack: Some(NackReason::NO_ROUTE), ..LpHeader::default() };
    let (sent, done) = rig.take(rig.producer, header, &ask.build());
    assert_eq!((done, sent.len()), (Ok(()), 1));
    assert_eq!(sent[0].nack, Some(NackReason::NO_ROUTE));
}

#[test]
fn an_interest_with_a_digest_detours_no_other_data() {
    let digest = Data::parse(&data("/a", 10_000)).expect("Data").implicit_digest();
    let digest: String = digest.iter().map(|octet| format!("{octet:02x}")).collect();
    let mut rig = Rig::new();
    // No Data has an empty name.
    rig.asks(&ask(&format!("/sha256digest={digest}"), 1).prefix());
    assert_eq!(
        rig.asks(&ask(&format!("/a/sha256digest={digest}"), 2).prefix()),
        [(rig.producer, "interest")]
    );
    for number in 0..40 {
        assert_eq!(rig.gives(&format!("/a/{number}/x")), Err(DropReason::Unsolicited));
    }
    assert_eq!((rig.fleet.detours, rig.gives("/a")), (0, Ok(1)));
}

#[test]
fn an_interest_that_is_renewed_all_the_time_gets_its_data_after_its_bucket_has_moved() {
    let mut rig = Rig::new();
    let names: Vec<String> = (0..20).map(|number| format!("/a/hot/{number}/x")).collect();
    for nonce in 1..=14 {
        for name in &names {
            rig.asks(&ask(name, nonce).lives(4000));
        }
        rig.now = rig.now.after_millis(1000);
        rig.fleet.handle_timeout(rig.now);
    }
    assert!(rig.fleet.changes > 0);
    // No entry has expired since the first Interests, at the shard that had the prefix then.
    for name in &names {
        assert_eq!(rig.gives(name), Ok(1), "{name}");
    }
}

#[test]
fn another_hosts_interest_detours_data_for_no_longer_than_it_is_pending() {
    let config = Config::default();
    for number in 0..40 {
        let mut rig = Rig::new();
        rig.asks(&ask("/a", 1).prefix().lives(MAX_LIFETIME));
        rig.now = rig.now.after_millis(config.remote_lifetime + 100);
        rig.fleet.handle_timeout(rig.now);
        assert_eq!(rig.fleet.sum(|shard| shard.pit().len()), 0);
        let before = rig.fleet.detours;
        assert_eq!(rig.gives(&format!("/a/{number}/x")), Err(DropReason::Unsolicited));
        assert_eq!(rig.fleet.detours, before, "{number}");
    }
}

/// Shares of four shards of these names' Interests, after so many balances.
fn shares(names: &[String], balances: usize) -> (Dispatch, [usize; SHARDS]) {
    let (dispatch, mut hasher) = (Dispatch::new(SHARDS), NameHasher::new(&Key::VECTOR));
    let (mut balance, mut load, mut now) = (Balance::default(), Load::default(), Time::from_millis(1));
    let mut shares = [0; SHARDS];
    for _ in 0..=balances {
        shares = [0; SHARDS];
        for nonce in 0..20_000 {
            let ask = ask(&names[nonce % names.len()], nonce as u32).lives(100);
            shares[dispatch.route(&ask.build(), &mut hasher, now, &mut load).shard()] += 1;
        }
        // Time for the moves before to end.
        now = now.after_millis(20_000);
        balance.gather(&mut load);
        balance.balance(&dispatch, &[], now);
    }
    (dispatch, shares)
}

#[test]
fn buckets_move_until_no_shard_has_much_more_than_its_part() {
    // Zipf: the first name takes an eighth of all.
    let names: Vec<String> =
        (1..=1500).flat_map(|rank: usize| vec![format!("/a/{rank}/x"); 200 / rank.min(200)]).collect();
    let (_, before) = shares(&names, 0);
    let (_, after) = shares(&names, 8);
    let most = |shares: [usize; SHARDS]| shares.into_iter().max().expect("shards");
    assert!(most(after) <= 20_000 / SHARDS * 12 / 10, "{before:?} {after:?}");
}

#[test]
fn one_hot_prefix_is_spread_by_longer_prefixes() {
    let names: Vec<String> = (0..500).map(|number| format!("/a/hot/{number}/x/{number}")).collect();
    let (_, before) = shares(&names, 0);
    assert_eq!(before.into_iter().filter(|share| *share > 0).count(), 1, "{before:?}");
    let (dispatch, after) = shares(&names, 6);
    assert!(after.into_iter().max() <= Some(20_000 / SHARDS * 12 / 10), "{after:?}");
    // An Interest for the prefix itself asks all.
    let (mut load, mut hasher) = (Load::default(), NameHasher::new(&Key::VECTOR));
    let now = Time::from_millis(1_000_000);
    let wide = dispatch.route(&ask("/a/hot", 1).prefix().build(), &mut hasher, now, &mut load);
    let visits = core::iter::successors(Some(wide), |visits| visits.after());
    assert_eq!(visits.count(), SHARDS);
}

#[test]
fn names_of_this_host_and_of_neighbours_belong_to_the_first_shard() {
    let (dispatch, mut load, now) = (Dispatch::new(SHARDS), Load::default(), Time::from_millis(1));
    let mut hasher = NameHasher::new(&Key::VECTOR);
    for number in 0..40 {
        for scope in ["localhost", "localhop"] {
            let name = format!("/{scope}/{number}/x");
            for packet in [ask(&name, 1).prefix().build(), data(&name, 0)] {
                let visits = dispatch.route(&packet, &mut hasher, now, &mut load);
                assert_eq!((visits.shard(), visits.is_last()), (0, true), "{name}");
            }
        }
    }
    for malformed in [&b""[..], b"\x05", b"\x64\x02\x50\x05", b"\x06\x03\x07\x05\x08", &[0xff; 40]] {
        assert_eq!(dispatch.route(malformed, &mut hasher, now, &mut load).shard(), 0);
    }
}
