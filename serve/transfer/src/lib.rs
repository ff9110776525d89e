//! Zone transfers without sockets or clocks: what a primary sends, what a secondary receives, and when.
//!
//! - [`records`]: records in one array of bytes, the form in which the other modules hand them on.
//! - [`delta`]: the difference of two zones, and a zone with differences applied to it.
//! - [`outgoing`]: the messages of an AXFR or IXFR response (RFC 5936, RFC 1995).
//! - [`incoming`]: the messages of such a response, to a zone or to differences.
//! - [`session`]: the questions to one primary: SOA, IXFR, and AXFR if it fails.
//! - [`notify`]: NOTIFY (RFC 1996).
//! - [`tsig`]: signatures of messages (RFC 8945).
//! - [`timers`]: refresh, retry and expiry by the numbers of the SOA record.
//! - [`catalog`]: zones that list zones (RFC 9432).
//! - [`zonemd`]: digests of whole zones (RFC 8976).
//! - [`import`]: configurations of NSD and Knot DNS, to be used with `hashlane dns serve`.
//! - [`disk`]: a received zone and its differences in a file that survives a crash at any byte.
#![forbid(unsafe_code)]

pub mod catalog;
pub mod delta;
pub mod disk;
pub mod import;
pub mod incoming;
pub mod notify;
pub mod outgoing;
pub mod records;
pub mod session;
pub mod soa;
pub mod timers;
pub mod tsig;
pub mod zonemd;

/// The README's example, compiled as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
