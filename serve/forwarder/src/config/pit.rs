//! The table `[pit]` of the configuration.

use hashlane_ndn::wire::DigestFunction;
use serde::{Deserialize, Serialize};

/// The pending Interest table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pit {
    /// Most pending Interests. Other hosts together hold at most three quarters. If there are too many, the
    /// address or local user with the most loses its oldest one.
    pub entries: usize,
    /// Most bytes of pending Interests, with the tables that hold them. Shared like `entries`.
    pub bytes: usize,
    /// Longest lifetime of an Interest from another host, in milliseconds; longer ones are cut to it.
    /// Valid: 1..=3600000.
    pub remote_lifetime_ms: u64,
    /// Key by which Data finds its entries.
    pub index: PitIndex,
    /// InterestDigests, for `index = "digest"`.
    pub digest: PitDigest,
}

impl Default for Pit {
    fn default() -> Self {
        let remote_lifetime_ms = hashlane_ndn_fw::forward::REMOTE_LIFETIME;
        Self {
            entries: 1 << 20,
            bytes: hashlane_ndn_fw::forward::PIT_BYTES,
            remote_lifetime_ms,
            index: PitIndex::Name,
            digest: PitDigest::default(),
        }
    }
}

/// Key by which Data finds entries of the PIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PitIndex {
    /// The name of the Data.
    Name,
    /// The digest of the Interest, which neighbours that know InterestDigests return with the Data.
    Digest,
    /// A token of this forwarder, which the neighbours in `faces.pit_tokens` return with the Data.
    Token,
}

impl std::str::FromStr for PitIndex {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "name" => Ok(Self::Name),
            "digest" => Ok(Self::Digest),
            "token" => Ok(Self::Token),
            _ => Err("not an index of the PIT; use name, digest or token".into()),
        }
    }
}

/// InterestDigests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PitDigest {
    /// Digest function. All neighbours need the same.
    pub function: DigestName,
    /// Key of SipHash, 32 hexadecimal digits. All neighbours need the same.
    pub key: String,
    /// TLV-TYPE of InterestDigest. Valid: multiples of 4 in 852..=956. All neighbours need the same.
    pub tlv_type: u32,
    /// True if Data satisfies only the entry of its digest, as proposed in 2017, and not all entries that its
    /// name answers. Consumers of the other entries keep waiting.
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
    /// The function with its key; `None` if the key is required and missing or malformed.
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
