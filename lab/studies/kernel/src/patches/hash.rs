//! The hashes that the series bring.

/// A hash of connections that takes every bit of the tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// SipHash-1-3 under a key of 128 bits.
    SipHash,
    /// One jhash under a secret of 128 bits: the cheaper one.
    Jhash,
}

impl Hash {
    /// All of them, the proposed one first.
    pub const ALL: [Self; 2] = [Self::SipHash, Self::Jhash];

    /// Name of the folder of its series.
    pub const fn id(self) -> &'static str {
        match self {
            Self::SipHash => "siphash",
            Self::Jhash => "jhash",
        }
    }

    /// Id in the records of the form that was measured.
    pub(super) const fn scheme(self) -> &'static str {
        match self {
            Self::SipHash => "siphash-1-3",
            Self::Jhash => "flat",
        }
    }

    /// The header `include/net/inet_ehash.h`.
    pub(super) const fn header(self) -> &'static str {
        match self {
            Self::SipHash => include_str!("text/siphash.h"),
            Self::Jhash => include_str!("text/jhash.h"),
        }
    }

    /// Message of the commit with the header.
    pub(super) const fn message(self) -> &'static str {
        match self {
            Self::SipHash => include_str!("text/siphash.txt"),
            Self::Jhash => include_str!("text/jhash.txt"),
        }
    }

    /// Subject of the letter.
    pub(super) const fn subject(self) -> &'static str {
        match self {
            Self::SipHash => "inet: hash whole connections under a 128-bit key",
            Self::Jhash => "inet: hash whole connections in one jhash",
        }
    }

    /// Text of the letter before the figures.
    pub(super) const fn letter(self) -> &'static str {
        match self {
            Self::SipHash => include_str!("text/siphash-letter.txt"),
            Self::Jhash => include_str!("text/jhash-letter.txt"),
        }
    }

    /// Text of the letter after the figures.
    pub(super) const fn doubts(self) -> &'static str {
        match self {
            Self::SipHash => include_str!("text/siphash-doubts.txt"),
            Self::Jhash => include_str!("text/jhash-doubts.txt"),
        }
    }
}
