//! Index of our forwarder's PIT.

use hashlane_ndn::wire::DigestFunction;

/// An index of the PIT, and how many entries Data satisfies under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// By name.
    Name,
    /// By PitToken.
    Token,
    /// By a digest of the Interest, by SHA-1; Data satisfies all that its name answers.
    Digest,
    /// The same, where Data satisfies the entry of its digest alone: the proposal of 2017.
    DigestOne,
}

impl Index {
    /// All of them, by the ids of schemes. One is there twice: how much two runs of one thing differ is how
    /// much any two may.
    pub const ALL: [(&'static str, Self); 5] = [
        ("name", Self::Name),
        ("name-again", Self::Name),
        ("token", Self::Token),
        ("digest", Self::Digest),
        ("digest-one", Self::DigestOne),
    ];

    /// As the configuration of the forwarder calls it.
    pub(super) fn flag(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Token => "token",
            Self::Digest | Self::DigestOne => "digest",
        }
    }

    /// Function that neighbours digest Interests with under this index: SHA-1, as was proposed.
    pub fn digests(self) -> Option<DigestFunction> {
        matches!(self, Self::Digest | Self::DigestOne).then_some(DigestFunction::Sha1)
    }
}
