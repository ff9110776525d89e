//! Responses of an authoritative server: from a batch of queries and the zones to messages.
//!
//! A [`Responder`] takes the queries of a [`Batch`](crate::query::Batch) after the stages
//! [`Decode`](crate::query::Decode) and [`Hash`](struct@crate::query::Hash), and writes each response into
//! the caller's buffer. It opens no socket, reads no clock and allocates nothing. Names of a zone are
//! compressed by their numbers: a table from numbers to offsets replaces comparisons of bytes.
//!
//! | query | response | source |
//! | --- | --- | --- |
//! | a name of the zone | its records, with addresses of the servers that they name | RFC 1034 §4.3.2 |
//! | an alias | the chain of CNAME records, through all zones of the server, at most [`MAX_CHAIN`] | RFC 1034 §3.6.2 |
//! | a name below a DNAME | the DNAME, a CNAME made of it, and the chain from there | RFC 6672 |
//! | a name below a cut | a referral with all required glue, or TC | RFC 9471 |
//! | DS at a cut | the answer of the zone above it | RFC 4035 §3.1.4.1 |
//! | no such name | the records of the wildcard, or NXDOMAIN with the SOA | RFC 4592, RFC 2308 |
//! | DO set | signatures, and NSEC or NSEC3 records that prove a negative answer | RFC 4035 §3.1, RFC 5155 §7.2 |
//! | ANY over UDP | one set of records | RFC 8482 §4.1 |
//! | class CH | version and identity of the server | RFC 4892 |
//! | a name of no zone | REFUSED, with an extended error | RFC 8914 |

mod additional;
mod alias;
mod answer;
mod chain;
mod chaos;
mod cookie;
mod denial;
mod offsets;
mod options;
mod proofs;
mod records;
mod reply;
mod responder;
mod servers;
mod transfer;
mod writer;
mod zones;

#[cfg(test)]
mod tests;

pub use cookie::Cookies;
pub use reply::{Reply, ResponseKind};
pub use responder::Responder;
pub use transfer::{Place, TooLarge, ZoneMessages};
pub use zones::{DuplicateZone, Entry, Zones};

use alloc::vec::Vec;
use core::net::IpAddr;

/// Aliases that a response follows at most.
pub const MAX_CHAIN: usize = 16;

/// The party that a response goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asker {
    /// Address of the query's source, which cookies depend on.
    pub address: IpAddr,
    /// Transport of the query.
    pub transport: Transport,
    /// Seconds since 1970, modulo 2³², for the age of cookies.
    pub now: u32,
}

/// Transport of a query and its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A datagram: the response is cut at the size that the query allows.
    Udp,
    /// A stream: the response has at most 65,535 bytes.
    Tcp,
}

/// Settings of the responses.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Identifier of this server for queries that ask for it (RFC 5001); empty: none is given.
    pub nsid: Vec<u8>,
    /// Text of `version.bind` and `version.server` in class CH; empty: REFUSED.
    pub version: Vec<u8>,
    /// Text of `id.server` and `hostname.bind` in class CH; empty: REFUSED.
    pub identity: Vec<u8>,
    /// Bytes of a UDP response at most, and the payload size of the responses. Valid: 512..=65,535.
    pub max_udp: u16,
    /// Secrets of cookies; `None`: cookies are ignored.
    pub cookies: Option<Cookies>,
    /// Idle timeout of TCP connections in units of 100 ms, for clients that ask for it (RFC 7828).
    pub keepalive: u16,
}

impl Default for Settings {
    /// Datagrams of at most 1,232 bytes (DNS flag day 2020), no cookies, no identity, connections of 10 s.
    fn default() -> Self {
        Self {
            nsid: Vec::new(),
            version: Vec::new(),
            identity: Vec::new(),
            max_udp: 1232,
            cookies: None,
            keepalive: 100,
        }
    }
}
