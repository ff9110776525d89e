//! Strategies, and the choice of them.

use crate::rig::Rig;
use crate::support::{ask, data, uri};
use hashlane_ndn::wire::{Data, LpHeader, NackReason};
use hashlane_ndn_fw::face::{FaceId, LinkType, Scope};
use hashlane_ndn_fw::strategy::{Strategy, StrategyError, StrategyKind};
use std::collections::BTreeSet;

/// A consumer, and next hops of costs 10, 20 and 30 for `/a`.
fn next_hops(strategy: &str) -> (Rig, FaceId, [FaceId; 3]) {
    let mut rig = Rig::new();
    rig.strategy("/", strategy);
    let [consumer, ways @ ..]: [FaceId; 4] = rig.faces();
    ways.iter().zip([10, 20, 30]).for_each(|(face, cost)| rig.route("/a", *face, cost));
    (rig, consumer, ways)
}

#[test]
fn best_route_tries_the_next_way_when_asked_again_and_then_the_oldest() {
    let (mut rig, consumer, [first, second, third]) = next_hops("best-route");
    let question = |nonce| ask("/a/1", nonce).lives(60_000);
    assert_eq!(rig.asks(consumer, &question(1)), [first]);
    rig.passes(9);
    assert_eq!(rig.asks(consumer, &question(2)), [], "held back for 10 ms");
    rig.passes(1);
    assert_eq!(rig.asks(consumer, &question(3)), [second]);
    rig.passes(19);
    assert_eq!(rig.asks(consumer, &question(4)), [], "now for 20 ms");
    rig.passes(1);
    assert_eq!(rig.asks(consumer, &question(5)), [third]);
    rig.passes(40);
    assert_eq!(rig.asks(consumer, &question(6)), [first], "all were tried: the oldest");
    rig.passes(80);
    assert_eq!(rig.asks(consumer, &question(7)), [second]);
    rig.passes(160);
    assert_eq!(rig.asks(consumer, &question(8)), [third]);
    rig.passes(249);
    assert_eq!(rig.asks(consumer, &question(9)), [], "for at most 250 ms");
    rig.passes(1);
    assert_eq!(rig.asks(consumer, &question(10)), [first]);
    assert_eq!(rig.gives(second, &data("/a/1", 0)), [(consumer, vec![])]);
}

#[test]
fn best_route_does_not_try_the_way_back() {
    let (mut rig, consumer, [first, second, third]) = next_hops("best-route");
    assert_eq!(rig.asks(second, &ask("/a/1", 1)), [first]);
    rig.passes(100);
    assert_eq!(rig.asks(second, &ask("/a/1", 2)), [third]);
    rig.passes(100);
    assert_eq!(rig.asks(consumer, &ask("/a/1", 3)), [second], "which is one for others");
}

#[test]
fn an_interest_goes_back_to_its_link_only_if_not_all_hosts_of_it_have_heard_it() {
    for strategy in ["best-route", "multicast", "random", "asf"] {
        for (link, goes_back) in
            [(LinkType::PointToPoint, false), (LinkType::MultiAccess, false), (LinkType::AdHoc, true)]
        {
            let mut rig = Rig::new();
            rig.strategy("/", strategy);
            let shared = rig.face_of(Scope::NonLocal, link);
            rig.route("/a", shared, 10);
            let bytes = ask("/a/1", 1).build();
            let header = LpHeader::default();
            let (sent, _) = rig.try_take(shared, &crate::rig::packet(header, &bytes));
            let back = sent.iter().filter(|sent| sent.face == shared && sent.nack.is_none()).count();
            assert_eq!(back == 1, goes_back, "{strategy} {link:?}");
            // A copy that comes back is known, whoever sends it.
            let (sent, done) = rig.try_take(shared, &crate::rig::packet(header, &bytes));
            assert!(!goes_back || (sent.is_empty() && done.is_err()), "{strategy} {link:?}");
        }
    }
}

#[test]
fn best_route_waits_as_long_as_its_parameters_say() {
    let (mut rig, consumer, [first, second, _]) = next_hops(
        "best-route/v=5/retx-suppression-initial~100/retx-suppression-multiplier~3.5/retx-suppression-max~200",
    );
    assert_eq!(rig.asks(consumer, &ask("/a/1", 1)), [first]);
    rig.passes(99);
    assert_eq!(rig.asks(consumer, &ask("/a/1", 2)), []);
    rig.passes(1);
    assert_eq!(rig.asks(consumer, &ask("/a/1", 3)), [second]);
    rig.passes(199);
    assert_eq!(rig.asks(consumer, &ask("/a/1", 4)), []);
}

#[test]
fn multicast_takes_all_ways_and_each_again_when_its_time_has_come() {
    let (mut rig, consumer, all @ [first, second, third]) = next_hops("multicast");
    assert_eq!(rig.asks(consumer, &ask("/a/1", 1)), all);
    rig.passes(5);
    assert_eq!(rig.asks(first, &ask("/a/1", 2)), [], "too soon");
    rig.passes(5);
    assert_eq!(rig.asks(first, &ask("/a/1", 3)), [second, third], "not back");
    rig.passes(15);
    assert_eq!(rig.asks(consumer, &ask("/a/1", 4)), [first], "the others were used 15 ms ago");
    let mut served = rig.gives(second, &data("/a/1", 0));
    served.sort();
    assert_eq!(served, [(consumer, vec![]), (first, vec![])]);
}

#[test]
fn random_takes_each_way() {
    let (mut rig, consumer, all) = next_hops("random");
    let mut taken = [0; 3];
    for number in 0..600 {
        let to = rig.asks(consumer, &ask(&format!("/a/{number}"), 1));
        assert_eq!(to.len(), 1);
        taken[all.iter().position(|face| *face == to[0]).expect("a face")] += 1;
    }
    assert!(taken.iter().all(|times| (130..270).contains(times)), "{taken:?}");
    rig.passes(100);
    assert_eq!(rig.asks(consumer, &ask("/a/0", 2)).len(), 1);
    let [alone] = rig.faces();
    rig.route("/b", alone, 1);
    assert_eq!(rig.asks(all[0], &ask("/a/x", 3)).iter().filter(|face| **face == all[0]).count(), 0);
    let sent = rig.take(alone, LpHeader::default(), &ask("/b/1", 4).build());
    assert_eq!(sent[0].nack, Some(NackReason::NO_ROUTE));
}

/// Sends an Interest for a new name, which the fastest upstream answers after `millis` milliseconds.
fn round_trip(rig: &mut Rig, consumer: FaceId, number: u32, millis: impl Fn(FaceId) -> u64) -> Vec<FaceId> {
    let name = format!("/a/{number}");
    let to = rig.asks(consumer, &ask(&name, number));
    let mut order = to.clone();
    order.sort_by_key(|face| millis(*face));
    rig.passes(millis(order[0]));
    rig.gives(order[0], &data(&name, 0));
    to
}

#[test]
fn asf_finds_the_fastest_next_hop() {
    let (mut rig, consumer, [first, second, third]) = next_hops("asf/probing-interval~1000");
    let millis = |face| match face {
        _ if face == first => 100,
        _ if face == second => 5,
        _ => 300,
    };
    let mut last = Vec::new();
    let mut probed = BTreeSet::new();
    for number in 0..200 {
        let to = round_trip(&mut rig, consumer, number, millis);
        assert!(to.len() <= 2);
        probed.extend(to.get(1).copied());
        last = vec![to[0]];
        rig.passes(20);
    }
    assert_eq!(last, [second], "it is fastest");
    assert!(probed.contains(&second) && !probed.is_empty(), "{probed:?} {third:?}");
}

#[test]
fn asf_leaves_a_next_hop_that_times_out() {
    for (parameters, timeouts) in
        [("", 3), ("/max-timeouts~1", 1), ("/max-timeouts~2", 2), ("/n-silent-timeouts~0", 1)]
    {
        leaves_after(&format!("asf{parameters}"), timeouts);
    }
}

/// Checks that a strategy leaves its best next hop after so many timeouts.
fn leaves_after(strategy: &str, timeouts: u32) {
    let (mut rig, consumer, [first, second, _]) = next_hops(strategy);
    let mut tries = 0;
    loop {
        tries += 1;
        let to = rig.asks(consumer, &ask(&format!("/a/{tries}"), tries).lives(1500));
        if to == [second] {
            break;
        }
        assert_eq!(to, [first]);
        rig.passes(1500);
    }
    assert_eq!(tries, timeouts + 1, "{strategy}");
}

#[test]
fn asf_leaves_a_next_hop_without_a_route() {
    let (mut rig, consumer, [first, second, _]) = next_hops("asf");
    assert_eq!(rig.asks(consumer, &ask("/a/1", 1)), [first]);
    assert_eq!(rig.nacks(first, NackReason::NO_ROUTE, &ask("/a/1", 1)), [(consumer, NackReason::NO_ROUTE)]);
    assert_eq!(rig.asks(consumer, &ask("/a/1", 2)), [second]);
    rig.passes(5);
    rig.gives(second, &data("/a/1", 0));
    assert_eq!(rig.asks(consumer, &ask("/a/2", 3)), [second]);
}

#[test]
fn asf_probes_with_a_nonce_of_its_own() {
    let (mut rig, consumer, _) = next_hops("asf/probing-interval~1000");
    rig.asks(consumer, &ask("/a/0", 1));
    rig.passes(1000);
    let sent = rig.take(consumer, LpHeader::default(), &ask("/a/1", 77).hops(9).build());
    let nonces: Vec<_> = sent.iter().map(|sent| sent.interest().nonce().expect("a Nonce")).collect();
    assert_eq!((nonces.len(), nonces[0]), (2, 77));
    assert_ne!(nonces[1], 77, "both may meet further on, and are no loop");
    assert!(sent.iter().all(|sent| sent.interest().hop_limit() == Some(8)));
    // Either may come back, each with its own.
    let [best, probe] = [sent[0].face, sent[1].face];
    let mut back = ask("/a/1", nonces[1]).hops(8);
    assert_eq!(rig.nacks(probe, NackReason::NO_ROUTE, &back), []);
    back.nonce = Some(77);
    assert_eq!(rig.nacks(best, NackReason::CONGESTION, &back), [(consumer, NackReason::CONGESTION)]);
}

#[test]
fn asf_measures_faces_that_come_after_many_that_went() {
    let mut rig = Rig::new();
    rig.strategy("/", "asf");
    let [consumer, costly] = rig.faces();
    rig.route("/a", costly, 100);
    for number in 0..40 {
        let face = rig.face();
        rig.route("/a", face, 1);
        assert_eq!(rig.asks(consumer, &ask(&format!("/a/{number}"), number)), [face]);
        rig.passes(1);
        rig.gives(face, &data(&format!("/a/{number}"), 0));
        rig.forwarder.remove_face(face);
        rig.forwarder.remove_route(&uri("/a").view(), face);
    }
    let face = rig.face();
    rig.route("/a", face, 1);
    let mut tries = 0;
    while rig.asks(consumer, &ask(&format!("/a/late/{tries}"), tries)) == [face] {
        tries += 1;
        assert!(tries < 5, "it does not notice that this face is silent");
        rig.passes(4000);
    }
}

#[test]
fn asf_measures_a_prefix_that_ends_with_the_digest_of_a_packet() {
    let mut rig = Rig::new();
    rig.forwarder.configure_cs(hashlane_ndn_fw::cs::Config { serve: false, ..Default::default() });
    rig.strategy("/", "asf/max-timeouts~1");
    let [consumer, first, second] = rig.faces();
    let packet = data("/a/b", 0);
    let digest = Data::parse(&packet).expect("Data").implicit_digest();
    let hex = data_encoding::HEXLOWER.encode(&digest);
    let name = format!("/a/b/sha256digest={hex}");
    rig.route("/a", second, 0);
    rig.route(&name, first, 1);
    rig.route(&name, second, 2);
    assert_eq!(rig.asks(consumer, &ask(&name, 1)), [first]);
    rig.passes(5);
    rig.gives(first, &packet);
    rig.passes(2000);
    assert_eq!(rig.asks(consumer, &ask(&name, 2)), [first], "it answered in time");
}

#[test]
fn the_longest_prefix_of_the_interests_name_chooses() {
    let mut rig = Rig::new();
    let [consumer, first, second] = rig.faces();
    rig.route("/a", first, 1);
    rig.route("/a", second, 2);
    rig.strategy("/a/b", "multicast");
    assert_eq!(rig.asks(consumer, &ask("/a/b/1", 1)), [first, second]);
    assert_eq!(rig.asks(consumer, &ask("/a/c", 2)), [first]);
    rig.strategy("/a/b/c", "best-route");
    assert_eq!(rig.asks(consumer, &ask("/a/b/c/1", 3)), [first]);
    assert!(rig.forwarder.unset_strategy(&uri("/a/b/c").view()));
    assert!(!rig.forwarder.unset_strategy(&uri("/a/b/c").view()));
    assert_eq!(rig.asks(consumer, &ask("/a/b/c/2", 4)), [first, second]);
    assert!(!rig.forwarder.unset_strategy(&uri("/").view()), "the root keeps what it has");
    rig.strategy("/", "multicast");
    assert_eq!(rig.asks(consumer, &ask("/a/c/1", 5)), [first, second]);
}

#[test]
fn names_of_strategies_are_read_or_refused() {
    let of = |text: &str| Strategy::from_name(uri(text).view()).map(|strategy| strategy.name());
    let at = "/localhost/nfd/strategy";
    for (name, is) in [
        ("best-route", "best-route"),
        ("best-route/v=5", "best-route"),
        ("best-route/v=4", "best-route"),
        ("multicast/v=5/retx-suppression-initial~20", "multicast"),
        ("asf/v=5/probing-interval~30000/max-timeouts~5", "asf"),
        ("asf/retx-suppression-multiplier~1.5", "asf"),
        ("random/v=1", "random"),
        ("access", "access"),
        ("access/v=1", "access"),
        ("self-learning", "self-learning"),
        ("self-learning/v=1", "self-learning"),
    ] {
        assert_eq!(of(&format!("{at}/{name}")), Ok(is));
    }
    use StrategyError::{NotAStrategy, Parameter, Unknown, Version};
    for (name, error) in [
        ("/localhost/nfd/strategy", NotAStrategy),
        ("/localhost/nfd", NotAStrategy),
        ("/best-route", NotAStrategy),
        ("/localhost/nfd/strategy/no-learning", Unknown),
        ("/localhost/nfd/strategy/self-learning/v=2", Version { known: 1 }),
        ("/localhost/nfd/strategy/self-learning/x~1", Parameter),
        ("/localhost/nfd/strategy/best-route/v=6", Version { known: 5 }),
        ("/localhost/nfd/strategy/best-route/v=0", Version { known: 5 }),
        ("/localhost/nfd/strategy/best-route/v=261", Version { known: 5 }),
        ("/localhost/nfd/strategy/random/v=5", Version { known: 1 }),
        ("/localhost/nfd/strategy/access/v=2", Version { known: 1 }),
        ("/localhost/nfd/strategy/access/retx-suppression-initial~20", Parameter),
        ("/localhost/nfd/strategy/best-route/v=5/v=5", Parameter),
        ("/localhost/nfd/strategy/best-route/x~1", Parameter),
        ("/localhost/nfd/strategy/best-route/retx-suppression-initial", Parameter),
        ("/localhost/nfd/strategy/best-route/retx-suppression-initial~0", Parameter),
        ("/localhost/nfd/strategy/best-route/retx-suppression-initial~-1", Parameter),
        ("/localhost/nfd/strategy/best-route/retx-suppression-initial~4294967296", Parameter),
        ("/localhost/nfd/strategy/best-route/retx-suppression-multiplier~0.5", Parameter),
        ("/localhost/nfd/strategy/best-route/retx-suppression-multiplier~NaN", Parameter),
        ("/localhost/nfd/strategy/best-route/probing-interval~5000", Parameter),
        ("/localhost/nfd/strategy/asf/probing-interval~999", Parameter),
        ("/localhost/nfd/strategy/asf/max-timeouts~0", Parameter),
        ("/localhost/nfd/strategy/asf/32=max-timeouts~1", Parameter),
    ] {
        assert_eq!(of(name), Err(error), "{name}");
    }
}

#[test]
fn every_listed_strategy_and_parameter_has_a_name() {
    for kind in StrategyKind::ALL {
        let strategy = Strategy::from_name(kind.full_name().view()).expect("a listed strategy");
        assert_eq!((strategy.kind(), strategy.name()), (*kind, kind.name()));
        for parameter in kind.parameters() {
            let (name, _) = parameter.split_once(" (").expect("a name, and its values in parentheses");
            let with = uri(&format!("/localhost/nfd/strategy/{}/{name}~1000", kind.name()));
            assert!(Strategy::from_name(with.view()).is_ok(), "{name} of {}", kind.name());
        }
    }
    let text = StrategyError::Parameter.to_string();
    assert!(text.contains("asf has retx-suppression-initial (1 or more), "), "{text}");
}
