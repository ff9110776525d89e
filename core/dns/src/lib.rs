//! DNS messages.
//!
//! [`render`] writes them: a [`Renderer`](render::Renderer) compresses each name against the earlier names of
//! the message, by a table of suffixes that is keyed, bounded and never cleared. [`wire`] has the parts of a
//! message and reads one back. [`query`] parses the batch of queries that a name server receives, and hashes
//! their names; [`zone`] stores the records of a zone, with names as numbers; and [`respond`] answers the
//! queries from zones. With the feature `domain`, `composer` compresses the names of messages that are built
//! with the crate of that name.
//!
//! ```
//! use hashlane_dns::render::{Options, Renderer};
//! use hashlane_dns::wire::{Class, Header, Rdata, RecordType, Section};
//! use hashlane_name::dns::{NameBuf, text};
//!
//! # fn main() -> Result<(), Box<dyn core::error::Error>> {
//! let (owner, mx) = (text::parse(b"example.com")?, text::parse(b"mail.example.com")?);
//! // Once for each thread; it renders any number of messages.
//! let mut renderer = Renderer::with_random_key()?;
//! let mut message = renderer.start(Header::response(0x1234), Options::default());
//! message.question(owner.view(), RecordType::MX, Class::IN)?;
//! let rdata = Rdata { before: &[0, 10], names: [Some(mx.view()), None], after: &[] };
//! message.record(Section::Answer, owner.view(), RecordType::MX, Class::IN, 300, &rdata)?;
//! let bytes = message.finish();
//!
//! // The owner is a pointer to the question's name, and so is the end of the exchange's.
//! assert_eq!(bytes[29..31], [0xc0, 12]);
//! assert!(bytes.ends_with(b"\x04mail\xc0\x0c"));
//! # Ok(())
//! # }
//! ```
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
#[cfg(any(test, feature = "domain"))]
extern crate std;

#[cfg(feature = "domain")]
pub mod composer;
pub mod query;
pub mod render;
pub mod respond;
pub mod slices;
pub mod wire;
pub mod zone;

/// Maximum length of a message in bytes: the largest value of the length field on a stream (RFC 1035 §4.2.2).
pub const MAX_MESSAGE_LEN: usize = 65_535;

/// The examples of the README, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
