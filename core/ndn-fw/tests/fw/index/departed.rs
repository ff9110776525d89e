//! Faces that fill the PIT and close: their records are removed under each index, and local faces are served
//! throughout.

use crate::rig::Rig;
use crate::support::{Ask, ask, check, data, pick, uri};
use hashlane_hash::scheme::Key;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{DigestFunction, Interest, LpHeader, LpPacket, NackReason};
use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use hashlane_ndn_fw::forward::{Config, DropReason, Output};
use hashlane_ndn_fw::pit::{ByDigest, ByName, ByToken, Pit, Satisfy};

/// Faces that flood, one after the other.
const FACES: usize = 26;

/// Counts what is sent to management.
#[derive(Default)]
struct Sink(usize);

impl Output for Sink {
    fn send(&mut self, face: FaceId, _: &LpHeader<'_>, _: &[u8]) {
        self.0 += usize::from(face == FaceId::MANAGEMENT);
    }
}

/// Interests with a lifetime of one hour and distinct names under `/localhop/nfd`, which management does not
/// answer.
struct Flood {
    packet: Vec<u8>,
    at: usize,
    sent: u64,
}

impl Flood {
    fn new() -> Self {
        let packet = ask("/localhop/nfd/NNNNNNNN", 1).lives(3_600_000).build();
        let at = packet.windows(8).position(|bytes| bytes == b"NNNNNNNN").expect("the number");
        Self { packet, at, sent: 0 }
    }

    /// Sends as many Interests as the PIT may have entries from a face; how many management got.
    fn fill<P: Pit>(&mut self, rig: &mut Rig<P>, face: FaceId, entries: usize) -> usize {
        let mut sink = Sink::default();
        for _ in 0..entries {
            self.sent += 1;
            self.packet[self.at..self.at + 8].copy_from_slice(&self.sent.to_be_bytes());
            let packet = LpPacket { header: LpHeader::default(), fragment: &self.packet };
            let taken = rig.forwarder.receive(face, &packet, rig.now, &mut sink);
            assert_eq!(taken, Ok(()), "the oldest one of the peer gives way");
        }
        sink.0
    }
}

/// A forwarder with management, a local producer of `/good`, and a local client.
struct Host<P: Pit> {
    rig: Rig<P>,
    producer: FaceId,
    client: FaceId,
    asked: u32,
}

impl<P: Pit> Host<P> {
    fn new(entries: usize, pit: P) -> Self {
        let mut rig = Rig::of(Config { pit_entries: entries, ..Config::default() }, pit);
        let prefixes = [uri("/localhost/nfd"), uri("/localhop/nfd")];
        let management = Face::new(Scope::Local, LinkType::PointToPoint);
        rig.forwarder.add_management(management, &prefixes.each_ref().map(|prefix| prefix.view()));
        let [producer, client] = [rig.app(), rig.app()];
        rig.route("/good", producer, 0);
        Self { rig, producer, client, asked: 0 }
    }

    /// Asks as the local client does, of a producer and of management, and gives both answers.
    fn serves(&mut self) -> bool {
        self.asked += 1;
        let names = [format!("/good/{}", self.asked), format!("/localhost/nfd/status/{}", self.asked)];
        [self.producer, FaceId::MANAGEMENT].into_iter().zip(names).all(|(answers, name)| {
            let mut log = crate::support::Log::default();
            let bytes = ask(&name, self.asked).build();
            let packet = LpPacket { header: LpHeader::default(), fragment: &bytes };
            let asked = self.rig.forwarder.receive(self.client, &packet, self.rig.now, &mut log);
            asked.is_ok()
                && log.0.iter().map(|sent| sent.face).eq([answers])
                && self.rig.gives(answers, &data(&name, 0)) == [(self.client, vec![])]
        })
    }

    /// Turns for as long as the forwarder asks for it at once; how often.
    fn turns(&mut self) -> usize {
        let mut turns = 0;
        while self.rig.forwarder.poll_timeout() == Some(Time::default()) {
            self.rig.forwarder.handle_timeout(self.rig.now);
            turns += 1;
        }
        turns
    }
}

fn a_row_of_faces_floods<P: Pit>(pit: P, leave_at_once: bool) {
    let entries = pick(1 << 11, 1 << 14);
    let mut host = Host::new(entries, pit);
    let (mut flood, mut faces, mut most, mut held) = (Flood::new(), Vec::new(), 0, 0);
    for number in 0..FACES {
        let face = host.rig.face();
        let taken = flood.fill(&mut host.rig, face, entries);
        assert!(host.serves(), "face {number} took {taken}, and a local client gets nothing any more");
        held = held.max(host.rig.forwarder.pending());
        most = most.max(host.rig.forwarder.pit().memory());
        faces.push(face);
        if leave_at_once {
            host.rig.forwarder.remove_face(face);
            assert!(host.serves(), "while the records of face {number} leave");
            assert!(host.turns() <= entries / 512, "turns until they are gone");
            assert!(host.rig.forwarder.pit().is_empty() && host.rig.forwarder.pending() == 0);
        }
        assert_eq!(taken, entries, "face {number}");
    }
    assert!(held <= entries / 4 * 3, "other hosts held {held} of {entries}");
    for face in faces {
        host.rig.forwarder.remove_face(face);
        assert!(host.serves());
    }
    let before = host.rig.forwarder.pit().len();
    let turns = host.turns();
    assert!(turns <= entries / 512, "{turns} turns to remove {before} entries");
    assert!(host.rig.forwarder.pit().is_empty() && host.rig.forwarder.pending() == 0);
    assert_eq!(host.rig.forwarder.poll_timeout(), None);
    check(&host.rig.forwarder);
    // All memory beyond an empty table's is given back, and the next flood needs no more than the first.
    let shrinks = (0..4).filter(|_| host.rig.forwarder.shrink()).count();
    let after = host.rig.forwarder.pit().memory();
    assert!(shrinks == 1 && after < 40_000, "{most} bytes, then {after} after {shrinks}");
    let face = host.rig.face();
    flood.fill(&mut host.rig, face, entries);
    assert!(host.serves());
    assert!(host.rig.forwarder.pit().memory() <= most + most / 50);
}

#[test]
fn a_row_of_floods_shuts_no_local_client_out_by_name() {
    a_row_of_faces_floods(ByName::default(), false);
}

#[test]
fn a_row_of_floods_shuts_no_local_client_out_by_token() {
    a_row_of_faces_floods(ByToken::new(&Key::VECTOR, 1), false);
}

#[test]
fn a_row_of_floods_shuts_no_local_client_out_by_digest() {
    a_row_of_faces_floods(ByDigest::new(DigestFunction::Sha1, Satisfy::All, &Key::VECTOR), false);
}

#[test]
fn faces_that_flood_and_leave_at_once_leave_nothing_behind() {
    a_row_of_faces_floods(ByName::default(), true);
}

/// Runs a scenario under each index.
fn under_each_index(
    by_name: impl FnOnce(Rig<ByName>),
    by_token: impl FnOnce(Rig<ByToken>),
    by_digest: impl FnOnce(Rig<ByDigest>),
) {
    by_name(Rig::of(Config::default(), ByName::default()));
    by_token(Rig::of(Config::default(), ByToken::new(&Key::VECTOR, 1)));
    let digest = ByDigest::new(DigestFunction::Sha1, Satisfy::All, &Key::VECTOR);
    by_digest(Rig::of(Config::default(), digest));
}

/// The entry of an Interest.
fn entry<P: Pit>(rig: &Rig<P>, ask: &Ask) -> Option<(Vec<FaceId>, Vec<FaceId>, Time)> {
    let bytes = ask.build();
    let interest = Interest::parse(&bytes).expect("an Interest");
    let mut entries = rig.forwarder.pit().iter().filter(|(key, _)| {
        let other = Interest::parse(key.packet()).expect("an Interest");
        (other.name(), other.can_be_prefix()) == (interest.name(), interest.can_be_prefix())
    });
    entries.next().map(|(_, records)| {
        let ins = records.ins.iter().map(|record| record.face).collect();
        (ins, records.outs.iter().map(|record| record.face).collect(), records.expires)
    })
}

fn records_go_with_their_face<P: Pit>(mut rig: Rig<P>) {
    let [leaves, stays, upstream] = rig.faces();
    rig.route("/a", upstream, 0);
    let both = ask("/a/both", 1);
    rig.asks(leaves, &both.clone().lives(20_000));
    rig.asks(stays, &Ask { nonce: Some(2), ..both.clone().lives(5000) });
    rig.asks(leaves, &ask("/a/own", 3).lives(20_000));
    rig.asks(leaves, &ask("/a/own", 4).prefix().lives(20_000));
    rig.asks(leaves, &ask("/a/late", 5).lives(20_000));
    rig.asks(stays, &ask("/a/late", 6).lives(100));
    let asked = rig.now;
    rig.forwarder.remove_face(leaves);
    rig.passes(200);
    // One entry is left, with the lifetime of the face that stays. The entry of `late` has ended for both.
    assert_eq!(entry(&rig, &both), Some((vec![stays], vec![upstream], asked.after_millis(5000))));
    assert_eq!((rig.forwarder.pit().len(), rig.forwarder.pending()), (1, 1));
    // Data finds no removed entry, under any index.
    for name in ["/a/own", "/a/own/below", "/a/late"] {
        assert_eq!(rig.drops(upstream, &data(name, 0)), DropReason::Unsolicited);
    }
    // An Interest that went on is a loop where it comes round.
    assert_eq!(rig.refuses(stays, &ask("/a/own", 3)).0, DropReason::Loop);
    assert_eq!(rig.gives(upstream, &data("/a/both", 0)), [(stays, vec![])]);
    assert!(rig.forwarder.pit().is_empty() && rig.forwarder.pending() == 0);
}

#[test]
fn records_of_a_face_that_closed_leave_every_index() {
    under_each_index(records_go_with_their_face, records_go_with_their_face, records_go_with_their_face);
}

fn a_gone_upstream_keeps_nobody_waiting<P: Pit>(mut rig: Rig<P>) {
    let [consumer, leaves, stays] = rig.faces();
    rig.strategy("/", "multicast");
    rig.route("/a", leaves, 0);
    rig.route("/a", stays, 0);
    assert_eq!(rig.asks(consumer, &ask("/a/1", 1)), [leaves, stays]);
    rig.forwarder.remove_face(leaves);
    rig.passes(1);
    assert_eq!(rig.nacks(stays, NackReason::NO_ROUTE, &ask("/a/1", 1)), [(consumer, NackReason::NO_ROUTE)]);
    assert!(rig.forwarder.pit().is_empty());
}

#[test]
fn an_upstream_that_closed_is_not_waited_for() {
    under_each_index(
        a_gone_upstream_keeps_nobody_waiting,
        a_gone_upstream_keeps_nobody_waiting,
        a_gone_upstream_keeps_nobody_waiting,
    );
}

fn lifetimes_are_cut<P: Pit>(mut rig: Rig<P>) {
    let (remote, local, upstream) = (rig.face(), rig.app(), rig.face());
    rig.route("/a", upstream, 0);
    for (nonce, face) in [(1, remote), (2, local)] {
        let hour = ask(&format!("/a/{nonce}"), nonce).lives(3_600_000);
        // The Interest itself is passed on as it came.
        let sent = rig.take(face, LpHeader::default(), &hour.build());
        assert_eq!(sent[0].interest().lifetime(), 3_600_000);
    }
    rig.passes(29_999);
    assert_eq!(rig.forwarder.pit().len(), 2);
    rig.passes(1);
    assert_eq!(rig.gives(upstream, &data("/a/2", 0)), [(local, vec![])]);
    assert!(rig.forwarder.pit().is_empty(), "the Interest of the other host has ended after 30 s");
    rig.asks(local, &ask("/a/3", 3).lives(u64::MAX));
    rig.passes(3_599_999);
    assert_eq!(rig.forwarder.pit().len(), 1);
    rig.passes(1);
    assert!(rig.forwarder.pit().is_empty());
}

#[test]
fn interests_of_other_hosts_wait_for_half_a_minute_and_local_ones_for_an_hour() {
    under_each_index(lifetimes_are_cut, lifetimes_are_cut, lifetimes_are_cut);
}
