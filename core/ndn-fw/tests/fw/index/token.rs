//! The PIT by token.

use crate::rig::{Rig, packet};
use crate::support::{Sent, ask, data};
use hashlane_hash::scheme::Key;
use hashlane_ndn::wire::{LpHeader, NackReason};
use hashlane_ndn_fw::face::{FaceId, LinkType, Scope};
use hashlane_ndn_fw::forward::{Config, DropReason};
use hashlane_ndn_fw::pit::{ByToken, Pit as _, TOKEN_LEN};
use std::collections::BTreeSet;

fn rig() -> Rig<ByToken> {
    Rig::of(Config::default(), ByToken::new(&Key::VECTOR, 3))
}

/// A face that takes tokens.
fn upstream(rig: &mut Rig<ByToken>) -> FaceId {
    let face = rig.face();
    rig.forwarder.face_mut(face).expect("a face").pit_tokens = true;
    face
}

fn with(token: &[u8]) -> LpHeader<'_> {
    LpHeader { pit_token: token, ..LpHeader::default() }
}

/// The one packet that an Interest becomes.
fn sent(rig: &mut Rig<ByToken>, face: FaceId, token: &[u8], text: &str, nonce: u32) -> Sent {
    let sent = rig.take(face, with(token), &ask(text, nonce).build());
    assert_eq!(sent.len(), 1);
    sent[0].clone()
}

#[test]
fn a_token_goes_to_those_that_take_it_and_brings_back_what_the_downstream_wants() {
    let mut rig = rig();
    let [consumer, old] = rig.faces();
    let new = upstream(&mut rig);
    rig.route("/old", old, 1);
    rig.route("/new", new, 1);
    assert_eq!(sent(&mut rig, consumer, b"own", "/old/1", 1).token, b"", "who does not know it must drop it");
    let token = sent(&mut rig, consumer, b"own", "/new/1", 2).token;
    assert_eq!((token.len(), token[0]), (TOKEN_LEN, 3), "the number of the thread is in clear");
    assert_eq!(rig.gives_with(new, with(&token), &data("/new/1", 0)), [(consumer, b"own".to_vec())]);
    assert_eq!(rig.gives(old, &data("/old/1", 0)), [(consumer, b"own".to_vec())]);
}

#[test]
fn a_token_stays_while_the_entry_does() {
    let mut rig = rig();
    let [first, second] = rig.faces();
    let producer = upstream(&mut rig);
    rig.route("/a", producer, 1);
    let token = sent(&mut rig, first, b"", "/a/1", 1).token;
    rig.passes(1000);
    assert_eq!(sent(&mut rig, second, b"", "/a/1", 2).token, token);
    rig.gives_with(producer, with(&token), &data("/a/1", 0));
    rig.forwarder.configure_cs(hashlane_ndn_fw::cs::Config { serve: false, ..Default::default() });
    assert_ne!(sent(&mut rig, first, b"", "/a/1", 3).token, token, "in the same slot");
}

#[test]
fn tokens_tell_neither_slots_nor_one_another() {
    let mut rig = rig();
    let consumer = rig.face();
    let producer = upstream(&mut rig);
    rig.route("/a", producer, 1);
    let mut tokens = BTreeSet::new();
    let mut steps = BTreeSet::new();
    let mut last = 0;
    for number in 0..500 {
        let token = sent(&mut rig, consumer, b"", &format!("/a/{number}"), number).token;
        let value = token.iter().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
        steps.insert(value.wrapping_sub(last));
        last = value;
        tokens.insert(value);
    }
    assert_eq!((tokens.len(), steps.len()), (500, 500));
}

#[test]
fn a_token_that_was_used_or_never_given_is_none() {
    let mut rig = rig();
    let consumer = rig.face();
    let producer = upstream(&mut rig);
    rig.route("/a", producer, 1);
    let token = sent(&mut rig, consumer, b"", "/a/1", 1).token;
    rig.gives_with(producer, with(&token), &data("/a/1", 0));
    let again = data("/a/1", 0);
    let (out, done) = rig.try_take(producer, &packet(with(&token), &again));
    assert_eq!((out, done), (vec![], Err(DropReason::Unsolicited)), "replayed");
    // The slot has another entry now.
    sent(&mut rig, consumer, b"", "/a/2", 2);
    let (out, done) = rig.try_take(producer, &packet(with(&token), &again));
    assert_eq!((out, done), (vec![], Err(DropReason::Unsolicited)), "replayed to another entry");
    for foreign in [&[0; TOKEN_LEN][..], &[0xff; TOKEN_LEN], b"x", &[7; 32]] {
        let text = format!("/a/{}", foreign.len() + usize::from(foreign[0]) * 100);
        sent(&mut rig, consumer, b"", &text, 3);
        let served = rig.gives_with(producer, with(foreign), &data(&text, 0));
        assert_eq!(served, [(consumer, vec![])], "the name is enough");
    }
    assert_eq!(rig.gives_with(producer, with(&token), &data("/a/2", 0)), [(consumer, vec![])]);
}

#[test]
fn the_token_of_another_face_helps_nobody() {
    let mut rig = rig();
    let consumer = rig.face();
    let (producer, liar) = (upstream(&mut rig), upstream(&mut rig));
    rig.route("/a", producer, 1);
    rig.route("/b", liar, 1);
    let token = sent(&mut rig, consumer, b"", "/a/1", 1).token;
    let own = sent(&mut rig, consumer, b"", "/b/1", 2).token;
    let forged = data("/a/1", 0);
    for token in [&token, &own] {
        let (out, done) = rig.try_take(liar, &packet(with(token), &forged));
        assert_eq!((out, done), (vec![], Err(DropReason::Unsolicited)));
    }
    assert_eq!(rig.gives_with(liar, with(&token), &data("/b/1", 0)), [(consumer, vec![])], "by its name");
    assert_eq!(rig.gives_with(producer, with(&token), &forged), [(consumer, vec![])]);
}

#[test]
fn where_token_and_name_differ_the_name_decides() {
    let mut rig = rig();
    let [first, second] = rig.faces();
    let producer = upstream(&mut rig);
    rig.route("/a", producer, 1);
    let one = sent(&mut rig, first, b"1", "/a/1", 1).token;
    let two = sent(&mut rig, second, b"2", "/a/2", 2).token;
    assert_eq!(rig.gives_with(producer, with(&one), &data("/a/2", 0)), [(second, b"2".to_vec())]);
    assert_eq!(rig.gives_with(producer, with(&two), &data("/a/1", 0)), [(first, b"1".to_vec())]);
}

#[test]
fn others_that_the_data_satisfies_get_it_too() {
    let mut rig = rig();
    let consumers: [FaceId; 5] = rig.faces();
    let producer = upstream(&mut rig);
    rig.route("/a", producer, 1);
    let packet = data("/a/1", 1000);
    let digest = hashlane_ndn::wire::Data::parse(&packet).expect("Data").implicit_digest();
    let hex = data_encoding::HEXLOWER.encode(&digest);
    let full = format!("/a/1/sha256digest={hex}");
    let asks = [
        ask("/a/1", 1),
        ask("/a/1", 2).fresh(),
        ask("/a", 3).prefix(),
        ask(&full, 4),
        ask("/a/1", 5).prefix(),
    ];
    for by in 0..asks.len() {
        let mut tokens = Vec::new();
        for (face, ask) in consumers.iter().zip(&asks) {
            tokens.push(rig.take(*face, LpHeader::default(), &ask.build())[0].token.clone());
        }
        let served = rig.gives_with(producer, with(&tokens[by]), &packet);
        assert_eq!(served.iter().map(|(face, _)| *face).collect::<Vec<_>>(), consumers, "by token {by}");
        assert!(rig.forwarder.pit().is_empty());
        rig.forwarder.erase(&crate::support::uri("/").view(), 100);
        rig.passes(20_000);
    }
}

#[test]
fn a_nack_is_found_by_its_token_and_without() {
    let mut rig = rig();
    let consumer = rig.face();
    let producer = upstream(&mut rig);
    rig.route("/a", producer, 1);
    for (number, kind) in (1..).zip(["own", "none", "foreign"]) {
        let text = format!("/a/{kind}");
        let own = sent(&mut rig, consumer, b"t", &text, number).token;
        let token = match kind {
            "own" => own,
            "none" => vec![],
            _ => vec![9; TOKEN_LEN],
        };
        let header = LpHeader { nack: Some(NackReason::CONGESTION), ..with(&token) };
        let back = rig.take(producer, header, &ask(&text, number).build());
        assert_eq!((back[0].face, back[0].token.as_slice()), (consumer, &b"t"[..]));
    }
    let first = sent(&mut rig, consumer, b"t", "/a/1", 11).token;
    sent(&mut rig, consumer, b"t", "/a/2", 12);
    let header = LpHeader { nack: Some(NackReason::CONGESTION), ..with(&first) };
    let back = rig.take(producer, header, &ask("/a/2", 12).build());
    assert_eq!(back[0].brief().2, "/a/2", "the name decides");
    assert_eq!(rig.forwarder.pit().len(), 1);
}

#[test]
fn tokens_cross_links_of_several() {
    let mut rig = rig();
    let consumer = rig.face();
    let several = rig.face_of(Scope::NonLocal, LinkType::MultiAccess);
    rig.forwarder.face_mut(several).expect("a face").pit_tokens = true;
    rig.route("/a", several, 1);
    sent(&mut rig, consumer, b"own", "/a/1", 1);
    // Another's answer, which has the token that this one was given.
    assert_eq!(rig.gives_with(several, with(b"another"), &data("/a/1", 0)), [(consumer, b"own".to_vec())]);
}
