//! Routes by the thousand: a FIB that the prefetch stage looks at before packets are forwarded.

use hashlane_hash::scheme::Key;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{InterestBuilder, LpHeader};
use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::forward::{Burst, Config, Forwarder, Output};
use hashlane_table::stage::Stage as _;

/// More than a cache holds.
const ROUTES: u32 = 6000;

#[derive(Default)]
struct Sent(Vec<FaceId>);

impl Output for Sent {
    fn send(&mut self, face: FaceId, _: &LpHeader<'_>, _: &[u8]) {
        self.0.push(face);
    }
}

fn name(uri: &str) -> OwnedName<Ndn> {
    hashlane_name::uri::parse_uri(format!("ndn:{uri}").as_bytes()).expect("a name")
}

fn interest(uri: &str, nonce: u32) -> Vec<u8> {
    let name = name(uri);
    InterestBuilder { nonce: Some(nonce), ..InterestBuilder::new(name.view()) }.build()
}

/// Forwarder with a route for each number, and its faces: consumer, next hop of short prefixes, next hop of
/// long ones.
fn forwarder() -> (Forwarder, [FaceId; 3]) {
    let mut forwarder = Forwarder::new(Config::default(), &Key::VECTOR, 1);
    let faces = [(); 3].map(|()| {
        let face = Face::new(Scope::Local, LinkType::PointToPoint);
        forwarder.add_face(face).expect("room for three faces")
    });
    for number in 0..ROUTES {
        forwarder.add_route(&name(&format!("/n/{number}")).view(), NextHop { face: faces[1], cost: 0 });
        if number % 3 == 0 {
            // Longer than a cache line.
            let long = name(&format!("/n/{number}/x/a-component-of-forty-bytes-and-a-few-more-of-them"));
            forwarder.add_route(&long.view(), NextHop { face: faces[2], cost: 0 });
        }
    }
    (forwarder, faces)
}

#[test]
fn a_burst_follows_the_longest_of_many_routes() {
    let (mut forwarder, [consumer, short, long]) = forwarder();
    let mut sent = Sent::default();
    let mut nonce = 0;
    for first in (0..ROUTES + 640).step_by(64) {
        let (mut packets, mut expected) = (Vec::new(), Vec::new());
        for number in first..first + 64 {
            let tail = match number % 4 {
                0 => "y/z",
                1 => "x",
                _ => "x/a-component-of-forty-bytes-and-a-few-more-of-them/2",
            };
            nonce += 1;
            packets.push(interest(&format!("/n/{number}/{tail}"), nonce));
            let hop = if number % 4 > 1 && number % 3 == 0 { long } else { short };
            expected.extend((number < ROUTES).then_some(hop));
        }
        let mut burst = Burst::new();
        packets.iter().for_each(|packet| burst.push(consumer, packet).unwrap());
        sent.0.clear();
        forwarder.receive_burst(&mut burst, Time::from_millis(1), &mut sent);
        // The consumer gets a Nack for each Interest without a route.
        sent.0.retain(|face| *face != consumer);
        assert_eq!(sent.0, expected);
    }
}

#[test]
fn routes_that_change_between_the_stages_count() {
    let (mut forwarder, [consumer, short, long]) = forwarder();
    let packets: Vec<_> = (0..8).map(|number| interest(&format!("/n/{number}/new/1"), number)).collect();
    let mut burst = Burst::new();
    packets.iter().for_each(|packet| burst.push(consumer, packet).unwrap());
    forwarder.decode().run(&mut burst);
    forwarder.prefetch().run(&mut burst);
    forwarder.add_route(&name("/n/5/new").view(), NextHop { face: long, cost: 0 });
    assert!(forwarder.remove_route(&name("/n/6").view(), short));
    let mut sent = Sent::default();
    forwarder.act(Time::from_millis(1), &mut sent).run(&mut burst);
    sent.0.retain(|face| *face != consumer);
    assert_eq!(sent.0, [short, short, short, short, short, long, short]);
}
