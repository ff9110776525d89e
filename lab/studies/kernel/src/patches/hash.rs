//! The hashes that the series bring.

/// A hash of connections that takes every bit of the tuple.
#[derive(Debug)]
pub struct Hash {
    /// Name of the folder of its series.
    pub id: &'static str,
    /// Id in the records of the form that was measured.
    pub(super) scheme: &'static str,
    /// The header `include/net/inet_ehash.h`.
    pub(super) header: &'static str,
    /// Message of the commit with the header.
    pub(super) message: &'static str,
    /// Subject of the letter.
    pub(super) subject: &'static str,
    /// Text of the letter before the figures.
    pub(super) letter: &'static str,
    /// Text of the letter after the figures.
    pub(super) doubts: &'static str,
}

/// SipHash-1-3 under a key of 128 bits, the proposed one, and one jhash under a secret of 128 bits, which is
/// cheaper.
pub(super) const HASHES: [Hash; 2] = [
    Hash {
        id: "siphash",
        scheme: "siphash-1-3",
        header: include_str!("text/siphash.h"),
        message: include_str!("text/siphash.txt"),
        subject: "inet: hash whole connections under a 128-bit key",
        letter: include_str!("text/siphash-letter.txt"),
        doubts: include_str!("text/siphash-doubts.txt"),
    },
    Hash {
        id: "jhash",
        scheme: "flat",
        header: include_str!("text/jhash.h"),
        message: include_str!("text/jhash.txt"),
        subject: "inet: hash whole connections in one jhash",
        letter: include_str!("text/jhash-letter.txt"),
        doubts: include_str!("text/jhash-doubts.txt"),
    },
];
