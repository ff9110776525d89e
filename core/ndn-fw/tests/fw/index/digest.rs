//! The PIT by digest.

use crate::rig::{Rig, packet};
use crate::support::{Ask, Sent, ask, data};
use hashlane_hash::scheme::Key;
use hashlane_ndn::wire::lp::{DigestField, INTEREST_DIGEST};
use hashlane_ndn::wire::{DigestFunction, Interest, LpHeader, NackReason};
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::forward::{Config, DropReason};
use hashlane_ndn_fw::pit::{ByDigest, Pit as _, Satisfy};

const FUNCTIONS: [DigestFunction; 4] = [
    DigestFunction::Sha1,
    DigestFunction::Sha256,
    DigestFunction::Sip64([1; 16]),
    DigestFunction::Sip128([2; 16]),
];

fn rig_of(function: DigestFunction, satisfy: Satisfy) -> Rig<ByDigest> {
    Rig::of(Config::default(), ByDigest::new(function, satisfy, &Key::VECTOR))
}

fn rig() -> Rig<ByDigest> {
    rig_of(DigestFunction::Sha1, Satisfy::All)
}

fn with(digest: &[u8]) -> LpHeader<'_> {
    LpHeader { digest: DigestField::new(INTEREST_DIGEST, digest), ..LpHeader::default() }
}

fn digest(ask: &Ask) -> Vec<u8> {
    let bytes = ask.build();
    let interest = Interest::parse(&bytes).expect("an Interest");
    DigestFunction::Sha1.digest(&interest).as_bytes().to_vec()
}

fn sent(rig: &mut Rig<ByDigest>, face: FaceId, ask: &Ask) -> Sent {
    let sent = rig.take(face, LpHeader::default(), &ask.build());
    assert_eq!(sent.len(), 1);
    sent[0].clone()
}

#[test]
fn a_digest_is_of_name_selectors_and_hint_alone() {
    // From Python: hashlib.sha1(bytes.fromhex("0706080161080162") + b"\x00").
    let known = digest(&ask("/a/b", 1));
    assert_eq!(known, digest(&ask("/a/b", 2).lives(17).hops(3)));
    let mut others: Vec<_> = [
        ask("/a/b", 1),
        ask("/a/b", 1).prefix(),
        ask("/a/b", 1).fresh(),
        ask("/a/b", 1).prefix().fresh(),
        ask("/a/b", 1).hint("/h"),
        ask("/a/b", 1).hint("/h").hint("/i"),
        ask("/a", 1).hint("/b"),
        ask("/a/c", 1),
    ]
    .iter()
    .map(digest)
    .collect();
    others.sort();
    others.dedup();
    assert_eq!(others.len(), 8);
    assert_eq!(known, KNOWN);
}

const KNOWN: [u8; 20] = *b"\xea\xc4\x5c\x25\xd3\xfd\xb3\xcd\xf0\x8b\x32\x6d\x04\x06\x2a\x07\x8c\xe7\x0c\xf9";

#[test]
fn it_goes_with_all_packets_under_every_function() {
    for function in FUNCTIONS {
        let mut rig = rig_of(function, Satisfy::All);
        let [consumer, producer] = rig.faces();
        rig.route("/a", producer, 1);
        let up = sent(&mut rig, consumer, &ask("/a/1", 1));
        assert_eq!(up.digest.len(), function.len());
        let down = rig.take(producer, with(&up.digest), &data("/a/1", 1000));
        assert_eq!((down[0].face, &down[0].digest), (consumer, &up.digest));
        let stored = rig.take(consumer, with(&up.digest), &ask("/a/1", 2).build());
        assert_eq!((stored[0].brief().1, &stored[0].digest), ("data", &up.digest), "from the store");
        let up = sent(&mut rig, consumer, &ask("/a/2", 3));
        let header = LpHeader { nack: Some(NackReason::NO_ROUTE), ..with(&up.digest) };
        let back = rig.take(producer, header, &ask("/a/2", 3).build());
        assert_eq!((back[0].brief().1, &back[0].digest), ("nack", &up.digest));
        let back = rig.take(consumer, LpHeader::default(), &ask("/b", 4).build());
        assert_eq!((back[0].brief().1, back[0].digest.len()), ("nack", function.len()), "no route");
    }
}

#[test]
fn an_interest_that_lies_is_dropped_and_nobody_is_hurt() {
    let mut rig = rig();
    let [victim, liar, producer] = rig.faces();
    rig.route("/a", producer, 1);
    let wanted = sent(&mut rig, victim, &ask("/a/1", 1)).digest;
    let lie = ask("/a/2", 2).build();
    let (out, done) = rig.try_take(liar, &packet(with(&wanted), &lie));
    assert_eq!((out, done), (vec![], Err(DropReason::Digest)));
    assert_eq!(rig.forwarder.counters().drops.value(DropReason::Digest), 1);
    assert_eq!(rig.forwarder.pit().len(), 1);
    // One of another length is of a function that this one does not know.
    assert_eq!(rig.asks_with(liar, with(&[7; 32]), &ask("/a/3", 3)), [producer]);
    assert_eq!(rig.gives_with(producer, with(&wanted), &data("/a/1", 0)), [(victim, vec![])]);
}

#[test]
fn data_and_nacks_with_another_digest_are_dropped() {
    let mut rig = rig();
    let [consumer, producer, other] = rig.faces();
    rig.route("/a", producer, 1);
    rig.route("/b", other, 1);
    let one = sent(&mut rig, consumer, &ask("/a/1", 1)).digest;
    sent(&mut rig, consumer, &ask("/a/2", 2));
    sent(&mut rig, consumer, &ask("/b/1", 3));
    let wrong = data("/a/2", 0);
    let (out, done) = rig.try_take(producer, &packet(with(&one), &wrong));
    assert_eq!((out, done), (vec![], Err(DropReason::Digest)), "it costs the liar its packet");
    let header = LpHeader { nack: Some(NackReason::NO_ROUTE), ..with(&one) };
    let bytes = ask("/a/2", 2).build();
    let (out, done) = rig.try_take(producer, &packet(header, &bytes));
    assert_eq!((out, done), (vec![], Err(DropReason::Digest)));
    let forged = data("/a/1", 0);
    let (out, done) = rig.try_take(other, &packet(with(&one), &forged));
    assert_eq!((out, done), (vec![], Err(DropReason::Unsolicited)), "who was not asked");
    assert_eq!(rig.forwarder.pit().len(), 3);
    let unknown = [9; 20];
    assert_eq!(rig.gives_with(producer, with(&unknown), &wrong), [(consumer, vec![])], "by its name");
    assert_eq!(rig.gives_with(producer, with(&one), &forged), [(consumer, vec![])]);
    assert_eq!(rig.gives(other, &data("/b/1", 0)), [(consumer, vec![])], "without a digest");
}

#[test]
fn others_that_the_data_satisfies_get_it_too() {
    let mut rig = rig();
    let [first, second, third, producer] = rig.faces();
    rig.route("/a", producer, 1);
    let asks = [ask("/a/1", 1), ask("/a/1", 2).fresh(), ask("/a", 3).prefix()];
    for by in &asks {
        for (face, ask) in [first, second, third].iter().zip(&asks) {
            sent(&mut rig, *face, ask);
        }
        let served = rig.gives_with(producer, with(&digest(by)), &data("/a/1", 0));
        assert_eq!(served, [(first, vec![]), (second, vec![]), (third, vec![])]);
        rig.forwarder.erase(&crate::support::uri("/").view(), 100);
        rig.passes(20_000);
    }
    assert_eq!(rig.forwarder.counters().starved.value(), 0);
}

#[test]
fn as_proposed_one_data_satisfies_one_entry_and_the_others_are_counted() {
    let mut rig = rig_of(DigestFunction::Sha1, Satisfy::One);
    let [first, second, third, fourth, producer] = rig.faces();
    rig.route("/a", producer, 1);
    rig.forwarder.configure_cs(hashlane_ndn_fw::cs::Config { serve: false, ..Default::default() });
    let exact = sent(&mut rig, first, &ask("/a/1", 1)).digest;
    let prefix = sent(&mut rig, second, &ask("/a", 2).prefix()).digest;
    rig.take(third, LpHeader::default(), &ask("/a", 3).prefix().build());
    sent(&mut rig, fourth, &ask("/a/2", 4));
    assert_eq!(rig.gives_with(producer, with(&exact), &data("/a/1", 0)), [(first, vec![])]);
    rig.passes(0);
    assert_eq!(rig.forwarder.counters().starved.value(), 2, "two wait at the entry of the prefix");
    assert_eq!(rig.forwarder.pit().len(), 2);
    let served = rig.gives_with(producer, with(&prefix), &data("/a/1", 0));
    assert_eq!(served, [(second, vec![]), (third, vec![])], "until Data with their digest comes");
    rig.passes(0);
    assert_eq!(rig.forwarder.counters().starved.value(), 2);
    let late = data("/a/2", 0);
    let (_, done) = rig.try_take(producer, &packet(with(&prefix), &late));
    assert_eq!(done, Err(DropReason::Unsolicited), "its entry has gone");
    assert_eq!(rig.gives(producer, &late), [(fourth, vec![])], "an old neighbour says none");
}

#[test]
fn a_face_can_go_without() {
    let mut rig = rig();
    let [consumer, producer] = rig.faces();
    rig.route("/a", producer, 1);
    for face in [consumer, producer] {
        rig.forwarder.face_mut(face).expect("a face").interest_digests = false;
    }
    assert_eq!(sent(&mut rig, consumer, &ask("/a/1", 1)).digest, b"");
    let down = rig.take(producer, LpHeader::default(), &data("/a/1", 0));
    assert_eq!((down[0].face, down[0].digest.as_slice()), (consumer, &b""[..]));
}

#[test]
fn who_sent_a_hint_that_has_arrived_gets_its_own_digest_back() {
    let regions = vec![crate::support::uri("/isp")];
    let pit = ByDigest::new(DigestFunction::Sha1, Satisfy::All, &Key::VECTOR);
    let mut rig = Rig::of(Config { regions, ..Config::default() }, pit);
    let [far, near, producer] = rig.faces();
    rig.route("/a", producer, 1);
    let (hinted, plain) = (ask("/a/1", 1).hint("/isp"), ask("/a/1", 2));
    rig.take(far, with(&digest(&hinted)), &hinted.build());
    rig.take(near, with(&digest(&plain)), &plain.build());
    let down = rig.take(producer, with(&digest(&plain)), &data("/a/1", 1000));
    let digests: Vec<_> = down.iter().map(|sent| (sent.face, sent.digest.clone())).collect();
    assert_eq!(digests, [(far, digest(&hinted)), (near, digest(&plain))]);
    let stored = rig.take(far, with(&digest(&hinted)), &ask("/a/1", 3).hint("/isp").build());
    assert_eq!(stored[0].digest, digest(&hinted), "from the store");
}

#[test]
fn a_strategy_measures_by_what_the_entry_keeps() {
    let mut rig = rig();
    let [consumer, slow, fast] = rig.faces();
    rig.strategy("/", "asf");
    rig.route("/a", slow, 1);
    rig.route("/a", fast, 2);
    let first = sent(&mut rig, consumer, &ask("/a/1", 1));
    assert_eq!(first.face, slow);
    // A route that comes meanwhile is another prefix, under which nothing is measured.
    let second = sent(&mut rig, consumer, &ask("/a/2", 2));
    rig.passes(500);
    rig.gives_with(slow, with(&first.digest), &data("/a/1", 0));
    rig.route("/a/2", slow, 1);
    rig.gives_with(slow, with(&second.digest), &data("/a/2", 0));
    assert_eq!(rig.asks(consumer, &ask("/a/3", 3)), [slow], "it is measured, and the other not yet");
}
