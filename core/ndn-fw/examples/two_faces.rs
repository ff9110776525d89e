//! Forwards an Interest and its Data between two faces, without sockets and without a clock.
//!
//! Run: `cargo run -p hashlane-ndn-fw --example two_faces`

use hashlane_hash::scheme::Key;
use hashlane_name::uri::parse_uri;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{DataBuilder, InterestBuilder, LpHeader};
use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::forward::{Config, Forwarder, Output};
use std::error::Error;

/// Prints the packets that the forwarder sends, and counts them.
#[derive(Default)]
struct Printer(usize);

impl Output for Printer {
    fn send(&mut self, face: FaceId, _header: &LpHeader<'_>, packet: &[u8]) {
        let kind = if packet.first() == Some(&5) { "Interest" } else { "Data" };
        println!("  sent to face {}: {kind} of {} bytes", face.0, packet.len());
        self.0 += 1;
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // A real forwarder draws key and seed at random.
    let mut forwarder = Forwarder::new(Config::default(), &Key::VECTOR, 1);
    let consumer = Face::new(Scope::Local, LinkType::PointToPoint);
    let consumer = forwarder.add_face(consumer).ok_or("too many faces")?;
    let producer = Face::new(Scope::NonLocal, LinkType::PointToPoint);
    let producer = forwarder.add_face(producer).ok_or("too many faces")?;
    forwarder.add_route(&parse_uri(b"/example")?.view(), NextHop { face: producer, cost: 10 });
    println!("consumer: face {}; producer: face {}, with the route /example", consumer.0, producer.0);

    let name = parse_uri(b"/example/hello")?;
    let interest = InterestBuilder { nonce: Some(7), ..InterestBuilder::new(name.view()) }.build();
    let data = DataBuilder::new(name.view(), b"world").build();
    let mut out = Printer::default();
    let now = Time::from_millis;

    println!("Interest from the consumer:");
    forwarder.receive_bytes(consumer, &interest, now(1), &mut out).map_err(|reason| reason.name())?;
    println!("Data from the producer:");
    forwarder.receive_bytes(producer, &data, now(5), &mut out).map_err(|reason| reason.name())?;
    println!("the same Interest again, answered by the content store:");
    forwarder.receive_bytes(consumer, &interest, now(9), &mut out).map_err(|reason| reason.name())?;
    println!("the same Data again, without a pending Interest:");
    let dropped = forwarder.receive_bytes(producer, &data, now(12), &mut out);
    println!("  dropped: {}", dropped.err().map_or("no", |reason| reason.name()));
    if out.0 == 3 { Ok(()) } else { Err("expected three packets".into()) }
}
