//! A burst of packets has the effects of packet after packet, under each index.
//!
//! Two forwarders of one key and one seed take the same packets at the same times: one takes them one by one,
//! the other in bursts. Outcomes, packets sent and all tables must be the same after each burst. Names are
//! few and short, so that packets of one burst meet: an Interest and its Data, two Interests for one name,
//! Data and its eviction.

use crate::rig::Rig;
use crate::support::{Ask, Log, Sent, check, data_of};
use hashlane_hash::scheme::Key;
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::wire::lp::{DigestField, INTEREST_DIGEST};
use hashlane_ndn::wire::{DigestFunction, LpHeader, LpPacket, NackReason};
use hashlane_ndn_fw::cs;
use hashlane_ndn_fw::face::{FaceId, LinkType, Scope};
use hashlane_ndn_fw::forward::{BURST, Burst, Config};
use hashlane_ndn_fw::pit::{ByDigest, ByName, ByToken, Pit, Satisfy};
use proptest::collection::vec;
use proptest::prelude::*;

/// A packet that comes in, as far as it is known before the forwarder has sent anything.
#[derive(Clone, Debug)]
enum Step {
    /// An Interest.
    Ask { face: usize, letters: Vec<u8>, nonce: u32, flags: u8, lifetime: u64, token: Vec<u8> },
    /// Data by its name, whoever asked.
    Give { face: usize, letters: Vec<u8>, freshness: u64 },
    /// Data or a Nack for an Interest that was sent before this burst, with what came with it.
    Answer { which: usize, nack: bool, longer: bool, keeps: bool },
    /// Bytes.
    Bytes { face: usize, bytes: Vec<u8> },
}

/// Packets of one burst, and the milliseconds that pass after it.
type Batch = (Vec<Step>, u64);

fn letters() -> impl Strategy<Value = Vec<u8>> {
    vec(0..3_u8, 1..4)
}

fn step() -> impl Strategy<Value = Step> {
    let ask = (0..7_usize, letters(), 0..40_u32, any::<u8>(), 1..3000_u64, vec(0..3_u8, 0..3)).prop_map(
        |(face, letters, nonce, flags, lifetime, token)| Step::Ask {
            face,
            letters,
            nonce,
            flags,
            lifetime,
            token,
        },
    );
    let give = (0..7_usize, letters(), prop_oneof![Just(0), 1..5000_u64])
        .prop_map(|(face, letters, freshness)| Step::Give { face, letters, freshness });
    let answer = (any::<usize>(), any::<bool>(), any::<bool>(), 0..8_u8)
        .prop_map(|(which, nack, longer, keeps)| Step::Answer { which, nack, longer, keeps: keeps > 0 });
    // Malformed bytes, nearly well-formed ones, and a link packet without a fragment.
    let broken = [
        &b""[..],
        b"\x05\x00",
        b"\x05\x04\x07\x02\x00\x00",
        b"\x05\x02\x07\x00",
        b"\x06\x05\x07\x03\x08\x01a",
        b"\x05\x0b\x07\x09\x02\x20aaaaaaa\x24\x00",
        b"\x64\x00",
        b"\x64\x03\x62\x01\x00",
        b"\xff",
    ];
    let bytes = (0..7_usize, prop::sample::select(broken.map(<[u8]>::to_vec).to_vec()))
        .prop_map(|(face, bytes)| Step::Bytes { face, bytes });
    prop_oneof![8 => ask, 3 => give, 6 => answer, 1 => bytes]
}

fn batch() -> impl Strategy<Value = Batch> {
    let size = prop_oneof![1..5_usize, 5..20_usize, 20..=BURST, Just(BURST)];
    (size.prop_flat_map(|size| vec(step(), size)), prop_oneof![Just(0), 1..50_u64, 50..9000_u64])
}

fn name(letters: &[u8]) -> OwnedName<Ndn> {
    let values = [&b"a"[..], b"b", b"localhost"];
    let components = letters.iter().map(|letter| Component::generic(values[usize::from(*letter)]));
    OwnedName::from_components(components).expect("a short name")
}

/// A packet that comes in.
struct Incoming {
    face: FaceId,
    token: Vec<u8>,
    digest: Vec<u8>,
    nack: Option<NackReason>,
    next_hop: Option<u64>,
    bytes: Vec<u8>,
    /// Sent as it is, without a link header.
    bare: bool,
}

impl Incoming {
    fn of(face: FaceId, bytes: Vec<u8>) -> Self {
        Self { face, token: vec![], digest: vec![], nack: None, next_hop: None, bytes, bare: true }
    }

    /// As the link has it.
    fn link_packet(&self) -> Vec<u8> {
        if self.bare {
            return self.bytes.clone();
        }
        let header = LpHeader {
            pit_token: &self.token,
            digest: DigestField::new(INTEREST_DIGEST, &self.digest),
            nack: self.nack,
            next_hop_face: self.next_hop,
            ..LpHeader::default()
        };
        [header.wrapped(self.bytes.len()).as_bytes(), &self.bytes].concat()
    }

    fn new(step: &Step, faces: &[FaceId], sent: &[Sent]) -> Self {
        match step {
            Step::Ask { face, letters, nonce, flags, lifetime, token } => {
                let mut ask = Ask::of(name(letters), *nonce).lives(*lifetime);
                ask.can_be_prefix = flags & 3 == 0;
                ask.must_be_fresh = flags & 12 == 0;
                if flags & 0x30 == 0 {
                    ask.hop_limit = Some(flags >> 6);
                }
                if flags & 0x70 == 0x70 {
                    ask.nonce = None;
                }
                if flags & 0x71 == 0x61 {
                    ask.hints.push(name(&[1, 0]));
                }
                let mut incoming = Self::of(faces[*face], ask.build());
                incoming.token = token.clone();
                incoming.bare = token.is_empty();
                if flags & 0x71 == 0x51 {
                    (incoming.next_hop, incoming.bare) =
                        (Some(faces[usize::from(flags >> 7)].0.into()), false);
                }
                incoming
            }
            Step::Give { face, letters, freshness } => {
                Self::of(faces[*face], data_of(&name(letters), *freshness, b"given"))
            }
            Step::Answer { which, nack, longer, keeps } => {
                let asked: Vec<&Sent> = sent.iter().filter(|sent| sent.brief().1 == "interest").collect();
                let Some(asked) = asked.get(which % asked.len().max(1)) else {
                    return Self::of(faces[0], vec![]);
                };
                let mut incoming = Self::of(asked.face, asked.packet.clone());
                incoming.bare = false;
                if *keeps {
                    (incoming.token, incoming.digest) = (asked.token.clone(), asked.digest.clone());
                }
                if *nack {
                    incoming.nack = Some(NackReason::NO_ROUTE);
                    return incoming;
                }
                let interest = asked.interest();
                let mut parts: Vec<Component<'_>> = interest.name().components().collect();
                if *longer {
                    parts.push(Component::generic(b"a"));
                }
                let name = OwnedName::<Ndn>::from_components(parts).expect("a short name");
                incoming.bytes = data_of(&name, 1000, b"answered");
                incoming
            }
            Step::Bytes { face, bytes } => Self::of(faces[*face], bytes.clone()),
        }
    }
}

/// A forwarder between hosts, applications and a link of several; some take tokens, some digests.
fn rig<P: Pit>(pit: P) -> (Rig<P>, Vec<FaceId>) {
    let store = cs::Config { packets: 5, ..cs::Config::default() };
    let config = Config { pit_entries: 40, cs: store, regions: vec![name(&[1, 0])], ..Config::default() };
    let mut rig = Rig::of(config, pit);
    let mut faces = Vec::new();
    for number in 0..6 {
        let scope = if number < 2 { Scope::Local } else { Scope::NonLocal };
        let link = if number == 5 { LinkType::MultiAccess } else { LinkType::PointToPoint };
        let face = rig.face_of(scope, link);
        let options = rig.forwarder.face_mut(face).expect("a face");
        (options.pit_tokens, options.interest_digests) = (number % 2 == 0, number % 3 == 0);
        options.local_fields = number == 0;
        faces.push(face);
    }
    // One that is gone.
    let gone = rig.face();
    rig.forwarder.remove_face(gone);
    faces.push(gone);
    rig.route("/a", faces[2], 1);
    rig.route("/a", faces[3], 2);
    rig.route("/b", faces[4], 0);
    rig.route("/b/a", faces[5], 0);
    rig.route("/", faces[1], 9);
    rig.strategy("/b", "multicast");
    rig.strategy("/a/a", "asf");
    (rig, faces)
}

fn both_ways<P: Pit + std::fmt::Debug>(pit: impl Fn() -> P, batches: &[Batch]) -> Result<(), TestCaseError> {
    let ((mut one, faces), (mut other, _)) = (rig(pit()), rig(pit()));
    let mut sent: Vec<Sent> = Vec::new();
    for (steps, millis) in batches {
        let packets: Vec<Incoming> = steps.iter().map(|step| Incoming::new(step, &faces, &sent)).collect();
        let bytes: Vec<Vec<u8>> = packets.iter().map(Incoming::link_packet).collect();
        let (mut apart, mut together) = (Log::default(), Log::default());
        let mut burst = Burst::new();
        let mut outcomes = Vec::new();
        for (packet, bytes) in packets.iter().zip(&bytes) {
            let outcome = one.forwarder.receive_bytes(packet.face, bytes, one.now, &mut apart);
            match burst.push(packet.face, bytes) {
                Ok(()) => outcomes.push(outcome),
                // A burst does not take malformed link packets.
                Err(_) => other.forwarder.count_drop(packet.face, outcome.expect_err("no link packet")),
            }
        }
        other.forwarder.receive_burst(&mut burst, other.now, &mut together);
        prop_assert_eq!(burst.outcomes().collect::<Vec<_>>(), outcomes);
        prop_assert_eq!(&apart.0, &together.0);
        check(&other.forwarder);
        let entries = |rig: &Rig<P>| -> Vec<String> {
            rig.forwarder.pit().iter().map(|(key, records)| format!("{key:?} {records:?}")).collect()
        };
        prop_assert_eq!(entries(&one), entries(&other));
        // All tables and counters, down to the places of entries.
        prop_assert_eq!(format!("{:?}", one.forwarder), format!("{:?}", other.forwarder));
        sent = apart.0;
        one.passes(*millis);
        other.passes(*millis);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_burst_is_packet_after_packet_by_name(batches in vec(batch(), 1..12)) {
        both_ways(ByName::default, &batches)?;
    }

    #[test]
    fn a_burst_is_packet_after_packet_by_token(batches in vec(batch(), 1..12)) {
        both_ways(|| ByToken::new(&Key::VECTOR, 3), &batches)?;
    }

    #[test]
    fn a_burst_is_packet_after_packet_by_digest(batches in vec(batch(), 1..12)) {
        both_ways(|| ByDigest::new(DigestFunction::Sha1, Satisfy::All, &Key::VECTOR), &batches)?;
        both_ways(|| ByDigest::new(DigestFunction::Sip64([7; 16]), Satisfy::One, &Key::VECTOR), &batches)?;
    }
}

#[test]
fn every_size_of_a_burst_is_packet_after_packet() {
    let ask = |number: usize| Step::Ask {
        face: 2 + number % 3,
        letters: vec![(number % 2) as u8, (number / 2 % 2) as u8, (number / 4 % 2) as u8],
        nonce: number as u32,
        flags: 0xff,
        lifetime: 1000,
        token: vec![1; number % 3],
    };
    let answer = |which| Step::Answer { which, nack: false, longer: false, keeps: true };
    for size in 1..=BURST {
        let batches = [((0..size).map(ask).collect(), 1), ((0..size).map(answer).collect(), 1)];
        both_ways(ByName::default, &batches).expect("by name");
        both_ways(|| ByToken::new(&Key::VECTOR, 3), &batches).expect("by token");
        both_ways(|| ByDigest::new(DigestFunction::Sha1, Satisfy::All, &Key::VECTOR), &batches)
            .expect("by digest");
    }
}

#[test]
fn a_full_burst_takes_no_more_and_an_empty_one_does_nothing() {
    let (mut rig, faces) = rig(ByName::default());
    let bytes: Vec<Vec<u8>> = (0..BURST as u32).map(|nonce| Ask::of(name(&[1]), nonce).build()).collect();
    let mut burst = Burst::new();
    rig.forwarder.receive_burst(&mut burst, rig.now, &mut Log::default());
    assert_eq!(burst.outcomes().count(), 0);
    for bytes in &bytes {
        assert!(!burst.is_full());
        burst.push(faces[2], bytes).expect("a link packet");
    }
    assert!(burst.is_full());
    let mut log = Log::default();
    rig.forwarder.receive_burst(&mut burst, rig.now, &mut log);
    assert_eq!(burst.outcomes().count(), BURST);
    assert!(!log.0.is_empty());
    burst.clear();
    assert!(burst.is_empty());
    let packet = LpPacket::parse(b"\x64\x00").expect("a link packet");
    burst.push_packet(faces[0], &packet);
    rig.forwarder.receive_burst(&mut burst, rig.now, &mut Log::default());
    assert_eq!(burst.outcomes().collect::<Vec<_>>(), [Ok(())], "a link packet that has only a header");
}
