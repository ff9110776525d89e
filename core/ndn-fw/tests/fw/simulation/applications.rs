//! Applications: they ask, answer, and note what they get.

use super::chance::Chance;
use super::node::region;
use super::topology::{Topology, TopologyKind};
use crate::support::{Ask, data_of, uri};
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, IMPLICIT_SHA256_DIGEST};
use hashlane_name::ndn::Ndn;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{Data, Interest};

/// The Data of a name: always the same. Its freshness and its length follow from the name.
pub fn data(name: &OwnedName<Ndn>) -> Vec<u8> {
    let mark: usize = name.as_bytes().iter().map(|byte| usize::from(*byte)).sum();
    let freshness = [0, 0, 50, 1000, 20_000][mark % 5];
    data_of(name, freshness, &vec![b'x'; [0, 10, 700, 3000][mark / 5 % 4]])
}

/// Answer of a producer: for a name with a digest that packet, for a prefix a packet below it.
pub fn answer(interest: &Interest<'_>) -> Vec<u8> {
    let name = interest.name();
    let mut parts: Vec<Component<'_>> = name.components().collect();
    parts.pop_if(|last| last.typ == IMPLICIT_SHA256_DIGEST);
    if parts.len() == name.len() && interest.can_be_prefix() {
        parts.push(Component::generic(b"v"));
    }
    data(&OwnedName::from_components(parts).expect("a short name"))
}

/// An Interest of a consumer.
#[derive(Clone, Debug)]
pub struct Request {
    pub ask: Ask,
    pub token: Vec<u8>,
    pub until: Time,
    pub tries: usize,
    pub answered: bool,
}

pub struct Consumer {
    pub requests: Vec<Request>,
}

impl Consumer {
    /// Notes Data; whoever is not waited for must not come.
    pub fn gets(&mut self, bytes: &[u8], token: &[u8], now: Time) {
        let data = Data::parse(bytes).expect("Data that was sent");
        assert_eq!(
            bytes,
            self::data(&OwnedName::from_components(data.name().components()).expect("a name")),
            "changed on its way"
        );
        let mut expected = false;
        for request in &mut self.requests {
            if request.ask.is_answered_by(&data) && request.until > now {
                expected |= request.token == token;
                request.answered = true;
            }
        }
        assert!(expected, "{} came with {token:?}, which nobody asked for", data.name());
    }
}

impl Ask {
    fn is_answered_by(&self, data: &Data<'_>) -> bool {
        let name = data.name();
        let mut full: Vec<Component<'_>> = name.components().collect();
        let digest = data.implicit_digest();
        let asked: Vec<Component<'_>> = self.name.view().components().collect();
        if asked == full || self.can_be_prefix && full.starts_with(&asked) {
            return true;
        }
        full.push(Component { typ: IMPLICIT_SHA256_DIGEST, value: &digest });
        asked == full
    }
}

/// Draws an Interest. With `short` names, some are those that the routes have: shards divide longer ones.
pub fn draw(topology: &Topology, nonce: u32, short: bool, chance: &mut Chance) -> Ask {
    let producer = chance.one_of(&topology.producers);
    let mut name = uri(&format!("{}/n{}", producer.prefix, chance.below(topology.names)));
    if chance.happens(200) {
        // A packet that answers the Interest for a prefix.
        name = OwnedName::from_components(name.view().components().chain([Component::generic(b"v")]))
            .expect("a short name");
    }
    let sound = topology.kind == TopologyKind::Sound;
    let mut ask = Ask::of(name, nonce);
    ask.can_be_prefix = chance.happens(250);
    if short && chance.happens(60) {
        ask.name = uri(&producer.prefix);
        ask.can_be_prefix = true;
    }
    ask.must_be_fresh = chance.happens(250);
    if chance.happens(100) {
        let packet = data(&ask.name);
        let digest = Data::parse(&packet).expect("Data").implicit_digest();
        let last = Component { typ: IMPLICIT_SHA256_DIGEST, value: &digest };
        ask.name =
            OwnedName::from_components(ask.name.view().components().chain([last])).expect("a short name");
        ask.can_be_prefix = false;
    }
    if producer.hidden || chance.happens(100) {
        ask.hints.push(uri("/nowhere"));
        ask.hints.push(region(producer.node));
    }
    ask.lifetime = if sound { chance.between(1500, 8000) } else { chance.between(1, 5000) } as u64;
    if chance.happens(200) {
        ask.hop_limit = Some(if sound { chance.between(40, 255) } else { chance.below(12) } as u8);
    }
    ask
}
