//! The strategy access.

use crate::rig::{Rig, packet};
use crate::support::{Ask, Log, ask, data};
use hashlane_ndn::wire::{LpHeader, NackReason};
use hashlane_ndn_fw::face::FaceId;

/// A consumer, and next hops of costs 10, 20 and 30 for `/a`, where the strategy is access.
fn next_hops() -> (Rig, FaceId, [FaceId; 3]) {
    let mut rig = Rig::new();
    rig.strategy("/a", "access/v=1");
    let [consumer, hops @ ..]: [FaceId; 4] = rig.faces();
    hops.iter().zip([10, 20, 30]).for_each(|(face, cost)| rig.route("/a", *face, cost));
    (rig, consumer, hops)
}

/// Lets `face` answer a new Interest after so many milliseconds, and become the last working next hop.
fn works(rig: &mut Rig, consumer: FaceId, name: &str, face: FaceId, millis: u64) {
    let _ = rig.asks(consumer, &ask(name, 900));
    rig.passes(millis);
    rig.gives(face, &data(name, 0));
}

/// Faces of the retries within so many milliseconds; each has the Nonce of the Interest.
fn retries(rig: &mut Rig, millis: u64, asked: &Ask) -> Vec<FaceId> {
    let sent = rig.retries(millis);
    sent.iter()
        .map(|sent| {
            assert_eq!((sent.nack, sent.interest().nonce()), (None, asked.nonce));
            sent.face
        })
        .collect()
}

#[test]
fn the_first_interest_goes_to_all_next_hops_and_later_ones_to_the_one_that_answered() {
    let (mut rig, consumer, all @ [_, second, third]) = next_hops();
    assert_eq!(rig.asks(consumer, &ask("/a/x/1", 1)), all);
    rig.passes(20);
    assert_eq!(rig.gives(second, &data("/a/x/1", 0)), [(consumer, vec![])]);
    assert_eq!(rig.asks(consumer, &ask("/a/x/2", 2)), [second]);
    rig.passes(20);
    rig.gives(second, &data("/a/x/2", 0));
    assert_eq!(rig.retries(3000), [], "Data has stopped the timer");
    assert_eq!(rig.asks(consumer, &ask("/a/x/3", 3)), [second]);
    rig.passes(20);
    rig.gives(second, &data("/a/x/3", 0));
    assert_eq!(rig.asks(second, &ask("/a/x/4", 4)), [all[0], third], "not back to the downstream");
}

#[test]
fn a_silent_next_hop_is_passed_by_after_its_timeout() {
    let (mut rig, consumer, [first, second, third]) = next_hops();
    works(&mut rig, consumer, "/a/x/1", second, 100);
    let asked = ask("/a/x/2", 2).hops(9);
    assert_eq!(rig.asks(consumer, &asked), [second]);
    // The first sample is 100 ms, and its variation half of that.
    assert_eq!(retries(&mut rig, 299, &asked), []);
    let sent = rig.retries(1);
    assert_eq!(sent.iter().map(|sent| sent.face).collect::<Vec<_>>(), [first, third]);
    assert!(sent.iter().all(|sent| sent.interest().hop_limit() == Some(8)));
    assert_eq!(rig.retries(3000), [], "once");
    assert_eq!(rig.gives(third, &data("/a/x/2", 0)), [(consumer, vec![])]);
    assert_eq!(rig.asks(consumer, &ask("/a/x/3", 3)), [third]);
}

#[test]
fn the_timeout_follows_the_round_trip_time() {
    let (mut rig, consumer, [first, second, third]) = next_hops();
    for number in 0..30 {
        works(&mut rig, consumer, &format!("/a/x/{number}"), first, 5);
    }
    let asked = ask("/a/x/quick", 2);
    assert_eq!(rig.asks(consumer, &asked), [first]);
    assert_eq!(retries(&mut rig, 199, &asked), [], "at least 200 ms");
    assert_eq!(retries(&mut rig, 1, &asked), [second, third]);
    // Another group starts from the estimate of the face.
    works(&mut rig, consumer, "/a/y/1", first, 600);
    let asked = ask("/a/y/2", 3);
    assert_eq!(rig.asks(consumer, &asked), [first]);
    assert_eq!(retries(&mut rig, 600, &asked), []);
    assert_eq!(retries(&mut rig, 100, &asked), [second, third]);
}

#[test]
fn an_interest_that_ends_before_the_timeout_is_not_retried() {
    let (mut rig, consumer, [first, ..]) = next_hops();
    works(&mut rig, consumer, "/a/x/1", first, 1000);
    assert_eq!(rig.asks(consumer, &ask("/a/x/2", 2).lives(2900)), [first]);
    assert_eq!(rig.retries(5000), []);
    assert_eq!(rig.forwarder.poll_timeout(), None);
}

#[test]
fn a_retransmission_goes_to_all_next_hops_unless_it_follows_too_soon() {
    let (mut rig, consumer, [first, second, third]) = next_hops();
    works(&mut rig, consumer, "/a/x/1", second, 1000);
    assert_eq!(rig.asks(consumer, &ask("/a/x/2", 2)), [second]);
    rig.passes(99);
    assert_eq!(rig.asks(consumer, &ask("/a/x/2", 3)), [], "held back for 100 ms");
    rig.passes(1);
    assert_eq!(rig.asks(third, &ask("/a/x/2", 4)), [first, second], "of another downstream, too");
    rig.passes(100);
    assert_eq!(rig.asks(consumer, &ask("/a/x/2", 5)), [first, second, third]);
    assert_eq!(rig.retries(3900), [], "all next hops have the Interest");
}

#[test]
fn a_retry_spares_next_hops_that_have_the_interest() {
    let (mut rig, consumer, [first, second, third]) = next_hops();
    works(&mut rig, consumer, "/a/x/1", second, 100);
    assert_eq!(rig.asks(consumer, &ask("/a/x/2", 2)), [second]);
    rig.passes(150);
    assert_eq!(rig.asks(third, &ask("/a/x/2", 3)), [first, second]);
    let asked = ask("/a/x/2", 2);
    assert_eq!(retries(&mut rig, 150, &asked), [third], "a downstream that may have other next hops");
}

#[test]
fn a_nack_of_the_last_working_next_hop_sends_the_interest_to_the_others_at_once() {
    let (mut rig, consumer, [first, second, third]) = next_hops();
    works(&mut rig, consumer, "/a/x/1", second, 100);
    let asked = ask("/a/x/2", 2);
    assert_eq!(rig.asks(consumer, &asked), [second]);
    let nack = |reason| LpHeader { nack: Some(reason), ..LpHeader::default() };
    let sent = rig.take(second, nack(NackReason::NO_ROUTE), &asked.build());
    let went: Vec<_> = sent.iter().map(|sent| (sent.face, sent.nack)).collect();
    assert_eq!(went, [(first, None), (third, None)]);
    assert_eq!(rig.retries(1000), [], "the Nack has stopped the timer");
    assert_eq!(rig.nacks(first, NackReason::NO_ROUTE, &asked), []);
    assert_eq!(rig.nacks(third, NackReason::CONGESTION, &asked), [(consumer, NackReason::CONGESTION)]);
    assert!(rig.forwarder.poll_timeout().is_none(), "nothing waits");
}

#[test]
fn names_that_differ_in_the_last_component_share_what_was_learnt() {
    let (mut rig, consumer, all @ [_, second, third]) = next_hops();
    works(&mut rig, consumer, "/a/x/y/1", second, 10);
    assert_eq!(rig.asks(consumer, &ask("/a/x/y/2", 1)), [second]);
    assert_eq!(rig.asks(consumer, &ask("/a/x/y/z/1", 2)), [second], "the longest known prefix");
    assert_eq!(rig.asks(consumer, &ask("/a/x/z/1", 3)), all);
    assert_eq!(rig.asks(consumer, &ask("/a/x", 4)), all);
    let _ = rig.asks(consumer, &ask("/a/x/y/z/2", 7));
    assert!(rig.retries(200).iter().any(|sent| sent.face == third && sent.interest().nonce() == Some(7)));
    rig.gives(third, &data("/a/x/y/z/2", 0));
    assert_eq!(rig.asks(consumer, &ask("/a/x/y/z/3", 5)), [third]);
    assert_eq!(rig.asks(consumer, &ask("/a/x/y/3", 6)), [second]);
}

#[test]
fn no_group_is_shorter_than_the_prefix_of_the_strategy() {
    let (mut rig, consumer, all @ [first, ..]) = next_hops();
    works(&mut rig, consumer, "/a", first, 10);
    assert_eq!(rig.asks(consumer, &ask("/a/x/1", 1)), [first], "Data of the prefix itself");
    let (mut rig, consumer, all_of_root) = next_hops();
    rig.strategy("/", "access");
    all_of_root.iter().for_each(|face| rig.route("/b", *face, 1));
    works(&mut rig, consumer, "/b", all_of_root[0], 10);
    assert_eq!(rig.asks(consumer, &ask("/a/x/1", 1)), all_of_root, "the strategy of /a has its own groups");
    assert_eq!(rig.asks(consumer, &ask("/b/x", 2)), [all_of_root[0]]);
    assert_eq!(all.len(), 3);
}

#[test]
fn a_group_is_forgotten_eight_seconds_after_its_last_data() {
    let (mut rig, consumer, all @ [first, ..]) = next_hops();
    works(&mut rig, consumer, "/a/x/1", first, 10);
    rig.passes(7999);
    assert_eq!(rig.asks(consumer, &ask("/a/x/2", 1)), [first]);
    rig.passes(1);
    assert_eq!(rig.asks(consumer, &ask("/a/x/3", 2)), all);
}

#[test]
fn a_last_working_next_hop_without_a_route_is_not_used() {
    let (mut rig, consumer, [first, second, third]) = next_hops();
    works(&mut rig, consumer, "/a/x/1", second, 10);
    rig.forwarder.remove_face(second);
    assert_eq!(rig.asks(consumer, &ask("/a/x/2", 1)), [first, third]);
    let [alone] = rig.faces();
    rig.strategy("/b", "access");
    rig.route("/b", alone, 1);
    works(&mut rig, consumer, "/b/1", alone, 10);
    assert_eq!(rig.asks(consumer, &ask("/b/2", 2)), [alone]);
    assert_eq!(rig.retries(5000), [], "there is no other next hop");
    let sent = rig.take(alone, LpHeader::default(), &ask("/b/3", 3).build());
    assert_eq!(sent[0].nack, Some(NackReason::NO_ROUTE));
}

#[test]
fn a_retry_goes_by_the_routes_of_its_time_and_for_a_downstream_that_is_left() {
    let (mut rig, consumer, [_, second, third]) = next_hops();
    let [other] = rig.faces();
    works(&mut rig, consumer, "/a/x/1", second, 100);
    assert_eq!(rig.asks(consumer, &ask("/a/x/2", 2)), [second]);
    assert_eq!(rig.asks(other, &ask("/a/x/2", 3)), []);
    rig.route("/a/x", third, 1);
    rig.route("/a/x", second, 1);
    rig.forwarder.remove_face(consumer);
    let asked = ask("/a/x/2", 3);
    assert_eq!(retries(&mut rig, 300, &asked), [third]);
}

#[test]
fn a_timer_outlives_a_compaction_of_the_pit() {
    let (mut rig, consumer, [first, second, third]) = next_hops();
    works(&mut rig, consumer, "/a/x/1", second, 700);
    for number in 0..40_000 {
        let other = ask(&format!("/a/x/{number}/y"), number).lives(100).build();
        let done = rig.forwarder.receive(
            consumer,
            &packet(LpHeader::default(), &other),
            rig.now,
            &mut Log::default(),
        );
        assert_eq!(done, Ok(()));
    }
    let asked = ask("/a/x/2", 50_000);
    assert_eq!(rig.asks(consumer, &asked), [second]);
    rig.passes(200);
    assert_eq!((0..3).filter(|_| rig.forwarder.shrink()).count(), 1);
    assert_eq!(retries(&mut rig, 3000, &asked), [first, third]);
}
