//! The table `[pit]` of the configuration.

use hashlane_ndn::wire::DigestFunction;
use serde::{Deserialize, Serialize};

/// The pending Interest table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pit {
    /// Most pending Interests of all faces together. Non-local faces together hold at most three quarters,
    /// and a face at most as many as are free.
    pub entries: usize,
    /// Longest lifetime of an Interest from another host, in milliseconds; longer ones are cut to it.
    /// Valid: 1..=3600000.
    pub remote_lifetime_ms: u64,
    /// What its entries are found by when Data comes.
    pub index: PitIndex,
    /// How Interests are digested, where that is the index.
    pub digest: PitDigest,
}

impl Default for Pit {
    fn default() -> Self {
        let remote_lifetime_ms = hashlane_ndn_fw::forward::REMOTE_LIFETIME;
        Self { entries: 1 << 20, remote_lifetime_ms, index: PitIndex::Name, digest: PitDigest::default() }
    }
}

/// What entries of the PIT are found by when Data comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PitIndex {
    /// Its name.
    Name,
    /// The digest of the Interest, which neighbours that know it send back with it.
    Digest,
    /// A token of our own, which neighbours that are in `faces.pit_tokens` send back with it.
    Token,
}

impl std::str::FromStr for PitIndex {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "name" => Ok(Self::Name),
            "digest" => Ok(Self::Digest),
            "token" => Ok(Self::Token),
            _ => Err("there are the indexes name, digest and token".into()),
        }
    }
}

/// How Interests are digested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PitDigest {
    /// With which function: all neighbours need the same.
    pub function: DigestName,
    /// The key of SipHash, in 32 hexadecimal digits: all neighbours need the same.
    pub key: String,
    /// The TLV-TYPE of InterestDigest: 852 to 956, a multiple of 4; all neighbours need the same.
    pub tlv_type: u32,
    /// Whether Data satisfies the entry of its digest alone, as was proposed in 2017, and not all that its name answers. Who waits at the others waits on.
    pub one: bool,
}

/// A function for digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DigestName {
    /// SHA-1.
    #[serde(rename = "sha1")]
    Sha1,
    /// SHA-256.
    #[serde(rename = "sha256")]
    Sha256,
    /// SipHash-2-4 with 64 bits.
    #[serde(rename = "siphash-64")]
    Sip64,
    /// SipHash-2-4 with 128 bits.
    #[serde(rename = "siphash-128")]
    Sip128,
}

impl Default for PitDigest {
    fn default() -> Self {
        let tlv_type = hashlane_ndn::wire::lp::INTEREST_DIGEST;
        Self { function: DigestName::Sha1, key: String::new(), tlv_type, one: false }
    }
}

impl PitDigest {
    /// The function with its key; `None` where it needs a key and has none.
    pub(crate) fn function(&self) -> Option<DigestFunction> {
        let number = u128::from_str_radix(&self.key, 16).ok().filter(|_| self.key.len() == 32);
        let key = number.map(u128::to_be_bytes);
        match self.function {
            DigestName::Sha1 => Some(DigestFunction::Sha1),
            DigestName::Sha256 => Some(DigestFunction::Sha256),
            DigestName::Sip64 => key.map(DigestFunction::Sip64),
            DigestName::Sip128 => key.map(DigestFunction::Sip128),
        }
    }
}
