//! Tables and forwarding pipelines of a Named Data Networking forwarder, without I/O and without a clock:
//! packets, time and randomness are arguments.
//!
//! - [`forward`]: the forwarding pipelines, over one packet or a burst of up to 64.
//! - [`fib`], [`pit`], [`cs`], [`dead_nonce`]: the tables.
//! - [`face`]: faces as forwarding sees them; [`mod@drop`]: reasons for dropping packets.
//! - [`strategy`]: the forwarding strategies, one for each prefix.
//! - [`latency`]: the histogram of latencies.
//! - [`trace`]: what forwarding did with the packets below a prefix.
//! - Records of the PIT are [shared](hashlane_table::share) among the addresses of peers, so that none fills
//!   it.
//!
//! A forwarder takes packets and passes the packets to send to an output. The caller has the sockets and the
//! clock:
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
//! /// Records the packets that are sent.
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
//! // Key and seed are drawn at random when the process starts, and kept secret.
//! # let (key, seed) = (Key::VECTOR, 1);
//! let mut forwarder = Forwarder::new(Config::default(), &key, seed);
//! let face = |scope| Face::new(scope, LinkType::PointToPoint);
//! let consumer = forwarder.add_face(face(Scope::Local)).ok_or("too many faces")?;
//! let producer = forwarder.add_face(face(Scope::NonLocal)).ok_or("too many faces")?;
//! forwarder.add_route(&parse_uri(b"/example")?.view(), NextHop { face: producer, cost: 0 });
//!
//! let name = parse_uri(b"/example/hello")?;
//! let interest = InterestBuilder { nonce: Some(7), ..InterestBuilder::new(name.view()) }.build();
//! let data = DataBuilder::new(name.view(), b"world").build();
//! let (mut sent, now) = (Sent::default(), Time::from_millis(1));
//!
//! // The Interest follows the route, and the Data returns to the consumer.
//! forwarder.receive_bytes(consumer, &interest, now, &mut sent).map_err(|reason| reason.name())?;
//! forwarder.receive_bytes(producer, &data, now, &mut sent).map_err(|reason| reason.name())?;
//! assert_eq!(sent.0, [(producer, interest), (consumer, data.clone())]);
//!
//! // No Interest is pending any more.
//! assert!(forwarder.receive_bytes(producer, &data, now, &mut sent).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! Packets that arrive together go through three stages as a burst: [`Decode`](forward::Decode) parses all of
//! them, then hashes their names together; [`Prefetch`](forward::Prefetch) brings the table entries that they
//! need into the cache; [`Act`](forward::Act) forwards them in order of arrival. The effects are the same as
//! if the packets came one by one, and a single packet is a burst of one.
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
//! // The Data satisfies the Interest before it in the burst.
//! assert_eq!(sent.0, [producer, consumer]);
//! assert!(burst.outcomes().all(|outcome| outcome.is_ok()));
//! # Ok(())
//! # }
//! ```
//!
//! Packets and link headers come from [`hashlane_ndn`].
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
pub mod latency;
pub mod learning;
pub mod pit;
pub mod shard;
pub mod strategy;
pub mod trace;
pub mod wheel;
