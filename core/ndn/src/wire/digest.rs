//! InterestDigest: a digest of an Interest that all neighbours compute alike.

use super::{Interest, Label};
use core::hash::Hasher as _;
use sha1::Sha1;
use sha2::Sha256;
use siphasher::{sip, sip128};

/// Digest of an Interest.
pub type InterestDigest = Label;

/// Digest function.
///
/// Input are the name with its type and length; a byte with CanBePrefix in bit 0 and MustBeFresh in bit 1;
/// and the names of the forwarding hint. Nonce, lifetime and hop limit are left out, and so are parameters,
/// as the name has their digest.
///
/// Source: for SHA-1, the proposal of an InterestDigest header by Shi, Pi, Zhao and Fan, 2017, which names
/// the input but not its encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DigestFunction {
    /// SHA-1, 20 bytes, as proposed.
    #[default]
    Sha1,
    /// SHA-256, 32 bytes.
    Sha256,
    /// SipHash-2-4, 64 bits, under a key that all neighbours share.
    Sip64([u8; 16]),
    /// SipHash-2-4, 128 bits, under a key that all neighbours share.
    Sip128([u8; 16]),
}

/// Byte of the two selectors.
fn selectors(interest: &Interest<'_>) -> [u8; 1] {
    [u8::from(interest.can_be_prefix()) | u8::from(interest.must_be_fresh()) << 1]
}

impl DigestFunction {
    /// Length of a digest in bytes.
    #[inline]
    pub const fn len(&self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sip64(_) => 8,
            Self::Sip128(_) => 16,
        }
    }

    /// Always false: a digest has bytes.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Computes the digest of an Interest.
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
