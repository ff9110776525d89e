//! Tables and forwarding pipelines of a Named Data Networking forwarder, without I/O and without a clock:
//! packets, time and randomness are arguments.
//!
//! - [`forward`]: the forwarding pipelines, over one packet or a burst of up to 64.
//! - [`fib`], [`pit`], [`cs`], [`dead_nonce`]: the tables.
//! - [`strategy`]: the forwarding strategies, one for each prefix.
//! - [`share`]: shares of a bounded table, so that no face fills it.
//!
//! A forwarder takes packets and says what is to be sent. Who calls it has the sockets and the clock:
//!
//! ```
//! use hashlane_hash::scheme::Key;
//! use hashlane_name::uri::parse_uri;
//! use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
//! use hashlane_ndn_fw::fib::NextHop;
//! use hashlane_ndn_fw::forward::{Config, Forwarder, Output};
//! use hashlane_ndn::time::Time;
//! use hashlane_ndn::wire::{DataBuilder, InterestBuilder, LpHeader};
//!
//! /// Writes down what goes where.
//! #[derive(Default)]
//! struct Sent(Vec<(FaceId, Vec<u8>)>);
//!
//! impl Output for Sent {
//!     fn send(&mut self, face: FaceId, _: &LpHeader<'_>, packet: &[u8]) {
//!         self.0.push((face, packet.to_vec()));
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Key and seed: drawn at random when the process starts, and told to nobody.
//! # let (key, seed) = (Key::VECTOR, 1);
//! let mut forwarder = Forwarder::new(Config::default(), &key, seed);
//! let consumer = forwarder.add_face(Face::new(Scope::Local, LinkType::PointToPoint)).ok_or("too many faces")?;
//! let producer = forwarder.add_face(Face::new(Scope::NonLocal, LinkType::PointToPoint)).ok_or("too many faces")?;
//! forwarder.add_route(&parse_uri(b"/example")?.view(), NextHop { face: producer, cost: 0 });
//!
//! let name = parse_uri(b"/example/hello")?;
//! let interest = InterestBuilder { nonce: Some(7), ..InterestBuilder::new(name.view()) }.build();
//! let data = DataBuilder::new(name.view(), b"world").build();
//! let (mut sent, now) = (Sent::default(), Time::from_millis(1));
//!
//! // The Interest goes where the route leads, and the Data back to who asked.
//! forwarder.receive_bytes(consumer, &interest, now, &mut sent).map_err(|reason| reason.name())?;
//! forwarder.receive_bytes(producer, &data, now, &mut sent).map_err(|reason| reason.name())?;
//! assert_eq!(sent.0, [(producer, interest), (consumer, data.clone())]);
//!
//! // Nobody waits for it any more.
//! assert!(forwarder.receive_bytes(producer, &data, now, &mut sent).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! Packets that arrive together go through three stages as a burst: [`Decode`](forward::Decode) parses all of
//! them, then hashes their names together; [`Prefetch`](forward::Prefetch) brings the table entries that they
//! need into the cache; [`Act`](forward::Act) forwards them in order of arrival. The effects are those of one
//! packet after the other, and a single packet is a burst of one.
//!
//! ```
//! # use hashlane_hash::scheme::Key;
//! # use hashlane_name::uri::parse_uri;
//! # use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
//! # use hashlane_ndn_fw::fib::NextHop;
//! # use hashlane_ndn_fw::forward::{Config, Forwarder, Output};
//! # use hashlane_ndn::time::Time;
//! # use hashlane_ndn::wire::{DataBuilder, InterestBuilder, LpHeader};
//! use hashlane_ndn_fw::forward::Burst;
//!
//! # #[derive(Default)]
//! # struct Sent(Vec<FaceId>);
//! # impl Output for Sent {
//! #     fn send(&mut self, face: FaceId, _: &LpHeader<'_>, _: &[u8]) {
//! #         self.0.push(face);
//! #     }
//! # }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let mut forwarder = Forwarder::new(Config::default(), &Key::VECTOR, 1);
//! # let face = || Face::new(Scope::Local, LinkType::PointToPoint);
//! # let consumer = forwarder.add_face(face()).ok_or("too many faces")?;
//! # let producer = forwarder.add_face(face()).ok_or("too many faces")?;
//! # forwarder.add_route(&parse_uri(b"/example")?.view(), NextHop { face: producer, cost: 0 });
//! # let name = parse_uri(b"/example/hello")?;
//! # let interest = InterestBuilder { nonce: Some(7), ..InterestBuilder::new(name.view()) }.build();
//! # let data = DataBuilder::new(name.view(), b"world").build();
//! # let (mut sent, now) = (Sent::default(), Time::from_millis(1));
//! let mut burst = Burst::new();
//! for (face, packet) in [(consumer, &interest), (producer, &data)] {
//!     burst.push(face, packet).map_err(|_| "not a link packet, or a fragment of one")?;
//! }
//! forwarder.receive_burst(&mut burst, now, &mut sent);
//!
//! // Data finds the entry of the Interest before it.
//! assert_eq!(sent.0, [producer, consumer]);
//! assert!(burst.outcomes().all(|outcome| outcome.is_ok()));
//! # Ok(())
//! # }
//! ```
//!
//! Packets and link headers are those of [`hashlane_ndn`].
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod congestion;
pub mod cs;
pub mod dead_nonce;
pub mod drop;
pub mod face;
pub mod fib;
pub mod forward;
pub mod hashed;
pub mod pit;
pub mod prefixes;
pub mod share;
pub mod strategy;
pub mod wheel;
