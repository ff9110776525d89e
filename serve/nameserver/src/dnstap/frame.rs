//! The bytes of frames: Protocol Buffers in Frame Streams.

use hashlane_dns::respond::Transport;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// The content of the stream.
pub(super) const CONTENT: &[u8] = b"protobuf:dnstap.Dnstap";

/// Types of control frames.
pub(super) const ACCEPT: u32 = 1;
pub(super) const START: u32 = 2;
pub(super) const STOP: u32 = 3;
pub(super) const READY: u32 = 4;

/// Types of messages: a query that an authoritative server has received, and its response.
const AUTH_QUERY: u64 = 1;
const AUTH_RESPONSE: u64 = 2;

/// A control frame; with the content, but for STOP.
pub(super) fn control(kind: u32) -> Vec<u8> {
    let mut body = kind.to_be_bytes().to_vec();
    if kind != STOP {
        body.extend_from_slice(&1_u32.to_be_bytes());
        body.extend_from_slice(&(CONTENT.len() as u32).to_be_bytes());
        body.extend_from_slice(CONTENT);
    }
    [&[0; 4], &(body.len() as u32).to_be_bytes()[..], &body].concat()
}

/// A query and its response.
pub(super) struct Pair<'m> {
    pub(super) identity: &'m [u8],
    pub(super) transport: Transport,
    pub(super) from: SocketAddr,
    /// Time since 1970.
    pub(super) time: Duration,
    pub(super) query: &'m [u8],
    /// Empty if nothing is sent.
    pub(super) response: &'m [u8],
}

impl Pair<'_> {
    /// The data frames: the query, and the response if there is one.
    pub(super) fn frames(&self) -> Vec<u8> {
        let mut out = self.frame(AUTH_QUERY, self.query);
        if !self.response.is_empty() {
            out.extend_from_slice(&self.frame(AUTH_RESPONSE, self.response));
        }
        out
    }

    fn frame(&self, kind: u64, bytes: &[u8]) -> Vec<u8> {
        let (family, address) = match self.from.ip().to_canonical() {
            IpAddr::V4(address) => (1, address.octets().to_vec()),
            IpAddr::V6(address) => (2, address.octets().to_vec()),
        };
        let transport = match self.transport {
            Transport::Udp => 1,
            Transport::Tcp => 2,
        };
        let mut message = Fields::default();
        message.number(1, kind).number(2, family).number(3, transport).bytes(4, &address);
        message.number(6, self.from.port().into());
        let (seconds, nanos) = (self.time.as_secs(), self.time.subsec_nanos());
        match kind {
            AUTH_QUERY => message.number(8, seconds).fixed(9, nanos).bytes(10, bytes),
            _ => message.number(12, seconds).fixed(13, nanos).bytes(14, bytes),
        };
        let mut all = Fields::default();
        if !self.identity.is_empty() {
            all.bytes(1, self.identity);
        }
        all.bytes(2, concat!("hashlane ", env!("CARGO_PKG_VERSION")).as_bytes());
        all.bytes(14, &message.0).number(15, 1);
        [&(all.0.len() as u32).to_be_bytes()[..], &all.0].concat()
    }
}

/// Fields of a message of Protocol Buffers.
#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn number(&mut self, field: u64, number: u64) -> &mut Self {
        self.varint(field << 3);
        self.varint(number);
        self
    }

    fn fixed(&mut self, field: u64, number: u32) -> &mut Self {
        self.varint(field << 3 | 5);
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }
}
