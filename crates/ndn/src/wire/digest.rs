//! The digest of an Interest, which neighbours that index by it compute alike.

use super::{Interest, Label};
use core::hash::Hasher as _;
use sha1::Sha1;
use sha2::Sha256;
use siphasher::{sip, sip128};

/// The digest of an Interest.
pub type InterestDigest = Label;

/// What an Interest is digested with.
///
/// What is digested is the name with its type and length; an byte whose lowest bit says whether the Interest can be a prefix, and the next one
/// whether it must be fresh; and the names of the forwarding hint. Neither Nonce nor lifetime, hop limit nor parameters are: the name has a digest of
/// those.
///
/// Source: for SHA-1 the proposal of an InterestDigest header, Shi, Pi, Zhao and Fan, 2017; it says what goes into the digest, not how that is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DigestFunction {
    /// SHA-1, 20 bytes: the proposal's.
    #[default]
    Sha1,
    /// SHA-256, 32 bytes.
    Sha256,
    /// SipHash-2-4 with 64 bits under a key that all neighbours share, 8 bytes.
    Sip64([u8; 16]),
    /// SipHash-2-4 with 128 bits under a key that all neighbours share, 16 bytes.
    Sip128([u8; 16]),
}

/// The byte of the two selectors.
fn selectors(interest: &Interest<'_>) -> [u8; 1] {
    [u8::from(interest.can_be_prefix()) | u8::from(interest.must_be_fresh()) << 1]
}

impl DigestFunction {
    /// Bytes of a digest.
    #[inline]
    pub const fn len(&self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sip64(_) => 8,
            Self::Sip128(_) => 16,
        }
    }

    /// Never: a digest has bytes.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// The digest of an Interest.
    pub fn digest(&self, interest: &Interest<'_>) -> InterestDigest {
        let parts = [interest.name_bytes(), &selectors(interest), interest.forwarding_hint()];
        match self {
            Self::Sha1 => {
                let digest = parts.iter().fold(<Sha1 as sha1::Digest>::new(), |digest, part| {
                    sha1::Digest::chain_update(digest, part)
                });
                Label::new(&sha1::Digest::finalize(digest))
            }
            Self::Sha256 => {
                let digest = parts.iter().fold(<Sha256 as sha2::Digest>::new(), |digest, part| {
                    sha2::Digest::chain_update(digest, part)
                });
                Label::new(&sha2::Digest::finalize(digest))
            }
            Self::Sip64(key) => {
                let mut digest = sip::SipHasher24::new_with_key(key);
                parts.iter().for_each(|part| digest.write(part));
                Label::new(&digest.finish().to_le_bytes())
            }
            Self::Sip128(key) => {
                let mut digest = sip128::SipHasher24::new_with_key(key);
                parts.iter().for_each(|part| digest.write(part));
                let digest = sip128::Hasher128::finish128(&digest);
                Label::new(&digest.as_bytes())
            }
        }
    }
}
