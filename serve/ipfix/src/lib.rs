//! IPFIX (RFC 7011): records of flows, numbers of the protocol, and a reader of messages.
//!
//! [`IpfixReader`] takes a file or a connection of messages, with the templates of any exporter, and gives a
//! [`FlowRecord`] for each flow of either direction or both (RFC 5103).
//!
//! ```
//! use hashlane_ipfix::IpfixReader;
//!
//! // A message without sets: version 10, 16 bytes, times and numbers.
//! let message = [0, 10, 0, 16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
//! let mut reader = IpfixReader::new(&message[..]);
//! assert!(reader.next().is_none());
//! ```
#![forbid(unsafe_code)]

pub mod element;
mod fields;
mod flow;
mod read;
pub mod record;
mod template;
pub mod time;

pub use fields::{FieldSet, FlowField, SkipReason};
pub use read::{Entry, IpfixReader, ReadError, ReadReport};
pub use record::{Counters, EndReason, FlowRecord, Icmp, Tunnel, TunnelKind};

/// Version in the header of a message.
pub const VERSION: u16 = 10;
/// Bytes of the header of a message.
pub const HEADER: usize = 16;
/// Bytes of the header of a set.
pub const SET_HEADER: usize = 4;
/// Id of a set of templates.
pub const TEMPLATES: u16 = 2;
/// Id of a set of options templates.
pub const OPTIONS_TEMPLATES: u16 = 3;
/// Lowest id of a template.
pub const FIRST_TEMPLATE: u16 = 256;
/// Length of a field whose values have lengths of their own.
pub const VARIABLE: u16 = 65_535;
/// Private enterprise number of the elements of the reverse direction, RFC 5103.
pub const REVERSE: u32 = 29_305;

/// The README's example, compiled as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
