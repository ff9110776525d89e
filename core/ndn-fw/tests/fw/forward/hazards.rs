//! Mistakes that forwarders have made, one test each.

use crate::rig::Rig;
use crate::support::{Log, ask, data, pick, uri};
use hashlane_hash::scheme::Key;
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{Data, Interest, LpHeader, LpPacket};
use hashlane_ndn_fw::cs::ContentStore;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::fib::{Fib, NextHop};
use hashlane_ndn_fw::forward::{Config, DropReason};
use hashlane_ndn_fw::hashed::{HashedName, NameHasher};
use hashlane_ndn_fw::pit::{ByName, HopFields, OutRecord, Pit as _};

fn components_of(name: &OwnedName<Ndn>) -> &[u8] {
    &name.as_bytes()[2..]
}

/// A name all of whose prefixes have the hash 7, its first none apart.
fn collided<'a>(name: &'a OwnedName<Ndn>, hashes: &'a mut Vec<u64>) -> HashedName<'a> {
    *hashes = vec![7; name.view().len()];
    HashedName { components: components_of(name), root: 7, hashes }
}

#[test]
fn permuted_and_repeated_components_have_hashes_of_their_own() {
    // A hash that is the XOR of its components' makes one chain of all of these.
    let mut hasher = NameHasher::new(&Key::VECTOR);
    let mut hashes = std::collections::BTreeSet::new();
    let letters = ["a", "b", "c", "d", "e", "f"];
    let mut names = 0;
    for number in 0..6_usize.pow(6) {
        let parts: Vec<&[u8]> =
            (0..6).map(|place| letters[number / 6_usize.pow(place) % 6].as_bytes()).collect();
        let name = OwnedName::<Ndn>::from_components(parts.iter().map(|part| Component::generic(part)));
        hashes.insert(hasher.hash_name(&name.expect("a name").view()).hash());
        names += 1;
    }
    assert_eq!(hashes.len(), names);
}

#[test]
fn names_of_one_hash_are_told_apart() {
    let names: Vec<OwnedName<Ndn>> = (0..50).map(|number| uri(&format!("/x{number}"))).collect();
    let packets: Vec<Vec<u8>> =
        (0..50).map(|number| ask(&format!("/x{number}"), number).prefix().build()).collect();
    let (mut pit, mut fib, mut cs, mut hashes) =
        (ByName::default(), Fib::default(), ContentStore::default(), Vec::new());
    let end = Time::from_millis(1000);
    let out = |face| OutRecord {
        face: FaceId(face),
        nonce: 1,
        sent: Time::default(),
        expires: end,
        nack: None,
        suppression: 0,
        non_discovery: false,
    };
    for ((number, name), packet) in (0..).zip(&names).zip(&packets) {
        let hashed = collided(name, &mut hashes);
        let interest = Interest::parse(packet).expect("an Interest");
        assert_eq!(pit.find(&hashed, &interest, &()), None);
        let slot = pit.insert(&hashed, &interest, (), end);
        pit.entry_mut(slot).expect("an entry").1.outs.push(out(256));
        fib.add(&hashed, NextHop { face: FaceId(number), cost: 1 });
        let bytes = data(&format!("/x{number}"), 0);
        cs.insert(&hashed, &Data::parse(&bytes).expect("Data"), Time::default(), |_| 0);
    }
    for ((number, name), packet) in (0..).zip(&names).zip(&packets) {
        let hashed = collided(name, &mut hashes);
        let interest = Interest::parse(packet).expect("an Interest");
        let slot = pit.find(&hashed, &interest, &()).expect("its entry");
        assert_eq!(pit.entry(slot).expect("it").0.components(), components_of(name));
        let matches = pit.matches(&hashed, FaceId(256), HopFields::default(), || [0; 32], |_| 0);
        assert_eq!(matches.expect("no digest").as_slice(), [slot]);
        assert_eq!(fib.longest(&hashed), Some((1, &[NextHop { face: FaceId(number), cost: 1 }][..])));
        let found = cs.find(&hashed, &interest, Time::default()).map(<[u8]>::to_vec);
        assert!(found.is_none_or(|found| found == data(&format!("/x{number}"), 0)), "another's Data");
    }
    let below = uri("/x1/y");
    let matches =
        pit.matches(&collided(&below, &mut hashes), FaceId(256), HopFields::default(), || [0; 32], |_| 0);
    assert_eq!(matches.expect("no digest").len(), 1, "of fifty entries with the hash of its prefix");
}

#[test]
fn data_from_a_face_that_was_not_asked_satisfies_nothing() {
    let mut rig = Rig::new();
    let [consumer, producer, liar] = rig.faces();
    rig.route("/a", producer, 1);
    rig.asks(consumer, &ask("/a/1", 1));
    assert_eq!(rig.drops(liar, &data("/a/1", 1000)), DropReason::Unsolicited);
    assert_eq!(rig.drops(consumer, &data("/a/1", 1000)), DropReason::Unsolicited, "nor from who asked");
    assert!(rig.forwarder.cs().is_empty());
    assert_eq!(rig.gives(producer, &data("/a/1", 0)), [(consumer, vec![])]);
}

#[test]
fn a_downstream_of_two_entries_gets_one_data_for_each_token_and_one_without() {
    let mut rig = Rig::new();
    let [tokens, plain, producer] = rig.faces();
    rig.route("/a", producer, 1);
    let both = [ask("/a", 1).prefix(), ask("/a/b", 2)];
    for (question, token) in both.iter().zip([b"one", b"two"]) {
        rig.asks_with(tokens, LpHeader { pit_token: token, ..LpHeader::default() }, question);
        rig.asks(plain, &crate::support::Ask { nonce: Some(9), ..question.clone() });
    }
    let served = rig.gives(producer, &data("/a/b", 0));
    assert_eq!(served, [(tokens, b"one".to_vec()), (tokens, b"two".to_vec()), (plain, vec![])]);
}

#[test]
fn a_foreign_token_finds_nothing_that_the_name_does_not() {
    let mut rig = Rig::new();
    let [consumer, producer] = rig.faces();
    rig.route("/", producer, 1);
    let token = LpHeader { pit_token: b"guess", ..LpHeader::default() };
    rig.asks_with(consumer, token, &ask("/a/1", 1));
    let other = data("/b/1", 0);
    let (sent, done) = rig.try_take(producer, &LpPacket { header: token, fragment: &other });
    assert_eq!((sent, done), (vec![], Err(DropReason::Unsolicited)));
}

#[test]
fn unsolicited_data_is_not_kept() {
    let mut rig = Rig::new();
    let [producer] = rig.faces();
    let app = rig.app();
    for face in [producer, app] {
        assert_eq!(rig.drops(face, &data("/a/1", 1000)), DropReason::Unsolicited);
    }
    assert!(rig.forwarder.cs().is_empty());
}

#[test]
fn the_strategy_of_the_interests_name_hears_of_its_data() {
    // The Data's name has a different strategy, which never sent anything.
    let mut rig = Rig::new();
    rig.strategy("/a", "asf/probing-interval~1000");
    rig.strategy("/a/b", "multicast");
    let [consumer, slow, fast] = rig.faces();
    rig.route("/a", slow, 1);
    rig.route("/a", fast, 2);
    let mut to = Vec::new();
    for nonce in 0..10 {
        rig.forwarder.erase(&uri("/").view(), 100);
        to = rig.asks(consumer, &ask("/a", nonce).prefix());
        for (face, after) in [(fast, 10), (slow, 1000)] {
            rig.passes(after);
            if to.contains(&face) {
                let bytes = data("/a/b", 0);
                let _ = rig.try_take(face, &LpPacket { header: LpHeader::default(), fragment: &bytes });
            }
        }
    }
    assert_eq!(to[0], fast, "it was measured");
}

#[test]
fn nonces_of_all_entries_that_data_satisfies_are_kept() {
    let mut rig = Rig::new();
    let [first, second, other, producer] = rig.faces();
    rig.route("/a", producer, 1);
    let both = [ask("/a", 1).prefix().fresh(), ask("/a/b", 2).fresh()];
    rig.asks(first, &both[0]);
    rig.asks(second, &both[1]);
    rig.gives(producer, &data("/a/b", 0));
    for question in &both {
        assert_eq!(rig.refuses(other, question).0, DropReason::Loop);
    }
}

#[test]
fn all_entries_of_a_name_are_answered_whatever_their_selectors() {
    let mut rig = Rig::new();
    let faces: [FaceId; 8] = rig.faces();
    let [producer] = rig.faces();
    rig.route("/", producer, 1);
    for (number, face) in (0..).zip(faces) {
        let mut question = ask("/a/b", number);
        question.can_be_prefix = number & 1 > 0;
        question.must_be_fresh = number & 2 > 0;
        question.hints = if number & 4 > 0 { vec![uri("/h")] } else { vec![] };
        assert_eq!(rig.asks(face, &question), [producer]);
    }
    assert_eq!(rig.gives(producer, &data("/a/b", 0)).len(), 8);
    assert!(rig.forwarder.pit().is_empty());
}

#[test]
fn many_prefixes_of_many_hints_are_answered_each_once() {
    let mut rig = Rig::with(Config { pit_entries: 1 << 16, ..Config::default() });
    let [attacker, producer] = rig.faces();
    rig.route("/", producer, 1);
    let parts: Vec<Component<'_>> = (0..250).map(|_| Component::generic(b"x")).collect();
    let mut log = Log::default();
    let mut tokens = 0_u32;
    for len in 1..=250 {
        let name = OwnedName::<Ndn>::from_components(parts[..len].iter().copied()).expect("a name");
        for hint in 0..20 {
            let question = crate::support::Ask::of(name.clone(), tokens).prefix().hint(&format!("/{hint}"));
            tokens += 1;
            let token = tokens.to_be_bytes();
            let packet = LpHeader { pit_token: &token, ..LpHeader::default() };
            let bytes = question.build();
            let packet = LpPacket { header: packet, fragment: &bytes };
            let _ = rig.forwarder.receive(attacker, &packet, rig.now, &mut log);
        }
    }
    let waiting = rig.forwarder.pit().len();
    let name = OwnedName::<Ndn>::from_components(parts.iter().copied()).expect("a name");
    let bytes = crate::support::data_of(&name, 0, b"");
    let mut served = rig.gives(producer, &bytes);
    assert_eq!((served.len(), waiting), (waiting, 250 * hashlane_ndn_fw::pit::MAX_HINTED));
    served.dedup();
    assert_eq!(served.len(), waiting);
}

#[test]
fn entries_end_without_a_look_at_those_that_do_not() {
    let mut rig = Rig::new();
    let [patient, hasty, producer] = rig.faces();
    rig.route("/", producer, 1);
    let mut log = Log::default();
    let long = pick(20_000, 200_000);
    for number in 0..long {
        let bytes = ask(&format!("/long/{number}"), 1).lives(60_000).build();
        let packet = LpPacket { header: LpHeader::default(), fragment: &bytes };
        let _ = rig.forwarder.receive(patient, &packet, rig.now, &mut log);
    }
    for number in 0..5000 {
        let bytes = ask(&format!("/short/{number}"), 1).lives(2).build();
        let packet = LpPacket { header: LpHeader::default(), fragment: &bytes };
        let _ = rig.forwarder.receive(hasty, &packet, rig.now, &mut log);
        rig.now = rig.now.after_millis(2);
        rig.forwarder.handle_timeout(rig.now);
        assert_eq!(rig.forwarder.pit().len(), long);
    }
    // Timeouts that visited all entries would have visited each long one 5,000 times. Expired entries were
    // visited once each, the others once per turn of the wheel: one turn and the beginning of a second.
    let looks = rig.forwarder.pit().timer_visits();
    assert!((5000..=5000 + 2 * long as u64).contains(&looks), "{looks}");
}

#[test]
fn a_retransmission_with_a_new_nonce_goes_out() {
    let mut rig = Rig::new();
    let [consumer, producer] = rig.faces();
    rig.route("/a", producer, 1);
    assert_eq!(rig.asks(consumer, &ask("/a/1", 1)), [producer]);
    rig.passes(1000);
    assert_eq!(rig.asks(consumer, &ask("/a/1", 2)), [producer], "while the first is pending");
}
