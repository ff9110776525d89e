//! Helpers of the forwarding tests: short builders of packets, and checks of a forwarder's counters.

#![allow(dead_code, reason = "each test program uses a part of it")]

pub mod fleet;

use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_name::uri::parse_uri;
use hashlane_ndn::mgmt::AnnouncementBuilder;
use hashlane_ndn::security::Signer;
use hashlane_ndn::wire::lp::{DigestField, INTEREST_DIGEST, LpHeader};
use hashlane_ndn::wire::{
    Data, DataBuilder, Interest, InterestBuilder, NackReason, SignatureInfo, SignatureType,
};
use hashlane_ndn_fw::face::{FaceId, Faces};
use hashlane_ndn_fw::forward::{Forwarder, Output};
use hashlane_ndn_fw::pit::Pit;
use std::collections::BTreeMap;

/// `usual`, or `long` under `HASHLANE_LONG=1`, which `cargo xtask nightly` sets.
pub fn pick<T>(usual: T, long: T) -> T {
    if std::env::var("HASHLANE_LONG").is_ok_and(|value| value == "1") { long } else { usual }
}

/// The name of a URI.
pub fn uri(text: &str) -> OwnedName<Ndn> {
    parse_uri(text.as_bytes()).expect("a URI of a test")
}

/// An Interest to be made.
#[derive(Clone, Debug)]
pub struct Ask {
    pub name: OwnedName<Ndn>,
    pub can_be_prefix: bool,
    pub must_be_fresh: bool,
    pub hints: Vec<OwnedName<Ndn>>,
    pub nonce: Option<u32>,
    pub lifetime: u64,
    pub hop_limit: Option<u8>,
    pub parameters: Option<Vec<u8>>,
}

/// An Interest for a name, with this Nonce.
pub fn ask(text: &str, nonce: u32) -> Ask {
    Ask::of(uri(text), nonce)
}

impl Ask {
    pub fn of(name: OwnedName<Ndn>, nonce: u32) -> Self {
        Self {
            name,
            can_be_prefix: false,
            must_be_fresh: false,
            hints: Vec::new(),
            nonce: Some(nonce),
            lifetime: 4000,
            hop_limit: None,
            parameters: None,
        }
    }

    pub fn prefix(self) -> Self {
        Self { can_be_prefix: true, ..self }
    }

    pub fn fresh(self) -> Self {
        Self { must_be_fresh: true, ..self }
    }

    pub fn hint(mut self, hint: &str) -> Self {
        self.hints.push(uri(hint));
        self
    }

    pub fn without_nonce(self) -> Self {
        Self { nonce: None, ..self }
    }

    pub fn lives(self, lifetime: u64) -> Self {
        Self { lifetime, ..self }
    }

    pub fn hops(self, limit: u8) -> Self {
        Self { hop_limit: Some(limit), ..self }
    }

    pub fn parameters(self, parameters: &[u8]) -> Self {
        Self { parameters: Some(parameters.to_vec()), ..self }
    }

    pub fn build(&self) -> Vec<u8> {
        let builder = InterestBuilder {
            can_be_prefix: self.can_be_prefix,
            must_be_fresh: self.must_be_fresh,
            hints: self.hints.iter().map(OwnedName::view).collect(),
            nonce: self.nonce,
            lifetime: self.lifetime,
            hop_limit: self.hop_limit,
            parameters: self.parameters.as_deref(),
            ..InterestBuilder::new(self.name.view())
        };
        builder.build()
    }
}

/// A Data packet of a name, fresh for so many milliseconds.
pub fn data(text: &str, freshness: u64) -> Vec<u8> {
    data_of(&uri(text), freshness, b"content")
}

pub fn data_of(name: &OwnedName<Ndn>, freshness: u64, content: &[u8]) -> Vec<u8> {
    let mut builder = DataBuilder::new(name.view(), content);
    builder.freshness = (freshness > 0).then_some(freshness);
    builder.build()
}

/// A prefix announcement for a minute.
pub fn announcement(prefix: &str) -> Vec<u8> {
    let prefix = uri(prefix);
    let builder = AnnouncementBuilder { prefix: &prefix, version: 1, expiration: 60_000, validity: None };
    let info = SignatureInfo::of(SignatureType::HMAC_WITH_SHA256);
    builder.build_signed(&Signer::hmac(b"key"), info).expect("a short prefix")
}

/// A packet that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub face: FaceId,
    pub token: Vec<u8>,
    /// The InterestDigest.
    pub digest: Vec<u8>,
    pub nack: Option<NackReason>,
    pub incoming_face: Option<u64>,
    pub congestion_mark: u64,
    pub non_discovery: bool,
    /// Prefix announcement; empty if it has none.
    pub announcement: Vec<u8>,
    pub packet: Vec<u8>,
}

impl Sent {
    /// Its kind, its name, and the face that it went to.
    pub fn brief(&self) -> (FaceId, &'static str, String) {
        let (kind, name) = match (self.packet.first(), self.nack) {
            (Some(5), None) => ("interest", self.interest().name().to_string()),
            (Some(5), Some(_)) => ("nack", self.interest().name().to_string()),
            _ => ("data", self.data().name().to_string()),
        };
        (self.face, kind, name)
    }

    pub fn interest(&self) -> Interest<'_> {
        Interest::parse(&self.packet).expect("an Interest that was sent")
    }

    pub fn data(&self) -> Data<'_> {
        Data::parse(&self.packet).expect("Data that was sent")
    }

    /// Link header.
    pub fn header(&self) -> LpHeader<'_> {
        LpHeader {
            pit_token: &self.token,
            digest: DigestField::new(INTEREST_DIGEST, &self.digest),
            nack: self.nack,
            incoming_face: self.incoming_face,
            congestion_mark: self.congestion_mark,
            non_discovery: self.non_discovery,
            prefix_announcement: &self.announcement,
            ..LpHeader::default()
        }
    }
}

/// Keeps what is sent.
#[derive(Debug, Default)]
pub struct Log(pub Vec<Sent>);

impl Output for Log {
    fn send(&mut self, face: FaceId, header: &LpHeader<'_>, packet: &[u8]) {
        self.0.push(Sent {
            face,
            token: header.pit_token.to_vec(),
            digest: header.digest.value.to_vec(),
            nack: header.nack,
            incoming_face: header.incoming_face,
            congestion_mark: header.congestion_mark,
            non_discovery: header.non_discovery,
            announcement: header.prefix_announcement.to_vec(),
            packet: packet.to_vec(),
        });
    }
}

/// Checks the counters of a forwarder against its tables.
///
/// # Panics
/// If they differ.
pub fn check<P: Pit>(forwarder: &Forwarder<P>) {
    let mut ins: BTreeMap<FaceId, usize> = BTreeMap::new();
    for (key, records) in forwarder.pit().iter() {
        for record in &records.ins {
            *ins.entry(record.face).or_default() += 1;
            assert!(record.expires <= records.expires, "an entry ends before one of its records");
        }
        let mut faces: Vec<_> = records.ins.iter().map(|record| record.face).collect();
        faces.sort_unstable();
        faces.dedup();
        assert_eq!(faces.len(), records.ins.len(), "two records of one face");
        assert!(Interest::parse(key.packet()).is_ok());
    }
    assert_eq!(forwarder.pending(), ins.values().sum::<usize>(), "in-records");
    check_faces(forwarder.faces(), &ins);
    let cs = forwarder.cs();
    assert!(cs.len() <= cs.config().packets && cs.bytes() <= cs.config().bytes);
    assert_eq!(cs.iter().count(), cs.len());
    assert!(!cs.is_empty() || cs.bytes() == 0, "an empty store takes {} bytes", cs.bytes());
}

fn check_faces(faces: &Faces, ins: &BTreeMap<FaceId, usize>) {
    for (id, face) in faces.iter() {
        assert_eq!(face.pending(), ins.get(&id).copied().unwrap_or_default(), "in-records of {id:?}");
    }
}
