//! SignatureInfo: description of a signature.

use super::name_bytes;
use crate::tlv::{Element, WireError, write_element, write_integer, write_nested};
use alloc::vec::Vec;
use core::fmt;
use hashlane_name::ndn::NdnName;

/// SignatureType.
pub const SIGNATURE_TYPE: u32 = 27;
/// KeyLocator.
pub const KEY_LOCATOR: u32 = 28;
/// KeyDigest.
pub const KEY_DIGEST: u32 = 29;
/// SignatureNonce.
pub const SIGNATURE_NONCE: u32 = 38;
/// SignatureTime.
pub const SIGNATURE_TIME: u32 = 40;
/// SignatureSeqNum.
pub const SIGNATURE_SEQ_NUM: u32 = 42;
/// ValidityPeriod, of a certificate.
pub const VALIDITY_PERIOD: u32 = 253;

/// SignatureType: the algorithm of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureType(pub u64);

impl SignatureType {
    /// SHA-256 digest. Detects corruption; authenticates nobody.
    pub const DIGEST_SHA256: Self = Self(0);
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    pub const SHA256_WITH_RSA: Self = Self(1);
    /// ECDSA with SHA-256.
    pub const SHA256_WITH_ECDSA: Self = Self(3);
    /// HMAC with SHA-256.
    pub const HMAC_WITH_SHA256: Self = Self(4);
    /// Ed25519.
    pub const ED25519: Self = Self(5);
    /// No signature.
    pub const NULL: Self = Self(200);
}

impl fmt::Display for SignatureType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::DIGEST_SHA256 => f.write_str("DigestSha256"),
            Self::SHA256_WITH_RSA => f.write_str("SignatureSha256WithRsa"),
            Self::SHA256_WITH_ECDSA => f.write_str("SignatureSha256WithEcdsa"),
            Self::HMAC_WITH_SHA256 => f.write_str("SignatureHmacWithSha256"),
            Self::ED25519 => f.write_str("SignatureEd25519"),
            Self::NULL => f.write_str("NullSignature"),
            Self(other) => write!(f, "signature type {other}"),
        }
    }
}

/// KeyLocator: the key of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyLocator<'a> {
    /// Name of the key or certificate, or a prefix of it.
    Name(NdnName<'a>),
    /// SHA-256 digest of the key.
    Digest(&'a [u8]),
}

/// SignatureInfo or InterestSignatureInfo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureInfo<'a> {
    /// Algorithm.
    pub signature_type: SignatureType,
    /// Key.
    pub key_locator: Option<KeyLocator<'a>>,
    /// SignatureNonce: bytes unique among Interests signed with this key.
    pub nonce: Option<&'a [u8]>,
    /// SignatureTime, in milliseconds since 1970.
    pub time: Option<u64>,
    /// SignatureSeqNum: larger than in the Interest signed before.
    pub seq_num: Option<u64>,
    /// Value of ValidityPeriod.
    pub validity: Option<Element<'a>>,
}

impl<'a> SignatureInfo<'a> {
    /// Creates a description with only the algorithm.
    pub const fn of(signature_type: SignatureType) -> Self {
        Self { signature_type, key_locator: None, nonce: None, time: None, seq_num: None, validity: None }
    }

    /// Parses the element, whatever its type.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn parse(info: Element<'a>) -> Result<Self, WireError> {
        let mut elements = info.elements();
        let first = elements.next()?.filter(|first| first.typ == SIGNATURE_TYPE);
        let first = first.ok_or(WireError::Missing { typ: SIGNATURE_TYPE })?;
        let mut parsed = Self::of(SignatureType(first.number()?));
        let mut last = 0;
        while let Some(element) = elements.next()? {
            let place = match element.typ {
                KEY_LOCATOR => 1,
                SIGNATURE_NONCE => 2,
                SIGNATURE_TIME => 3,
                SIGNATURE_SEQ_NUM => 4,
                VALIDITY_PERIOD => 5,
                _ => 0,
            };
            if place <= last {
                element.ignored()?;
                continue;
            }
            last = place;
            match place {
                1 => parsed.key_locator = key_locator(element)?,
                2 if element.value.is_empty() => return Err(element.wrong_length()),
                2 => parsed.nonce = Some(element.value),
                3 => parsed.time = Some(element.number()?),
                4 => parsed.seq_num = Some(element.number()?),
                _ => parsed.validity = Some(element),
            }
        }
        Ok(parsed)
    }

    /// Appends the value of the element.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_integer(SIGNATURE_TYPE, self.signature_type.0, out);
        match self.key_locator {
            Some(KeyLocator::Name(name)) => {
                write_nested(KEY_LOCATOR, out, |out| out.extend_from_slice(name.as_bytes()));
            }
            Some(KeyLocator::Digest(digest)) => {
                write_nested(KEY_LOCATOR, out, |out| write_element(KEY_DIGEST, digest, out));
            }
            None => {}
        }
        if let Some(nonce) = self.nonce {
            write_element(SIGNATURE_NONCE, nonce, out);
        }
        if let Some(time) = self.time {
            write_integer(SIGNATURE_TIME, time, out);
        }
        if let Some(number) = self.seq_num {
            write_integer(SIGNATURE_SEQ_NUM, number, out);
        }
        if let Some(validity) = self.validity {
            write_element(VALIDITY_PERIOD, validity.value, out);
        }
    }
}

/// KeyLocator in an element; `None` if its kind is unknown.
fn key_locator(element: Element<'_>) -> Result<Option<KeyLocator<'_>>, WireError> {
    let value = element.value;
    let Some(first) = element.elements().next()? else { return Ok(None) };
    match first.typ {
        super::NAME => {
            let inner = Element {
                at: first.at - element.value_at,
                value_at: first.value_at - element.value_at,
                ..first
            };
            NdnName::parse(name_bytes(value, &inner))
                .map(|name| Some(KeyLocator::Name(name)))
                .map_err(|error| WireError::Name { at: first.at, error })
        }
        KEY_DIGEST => Ok(Some(KeyLocator::Digest(first.value))),
        _ => Ok(None),
    }
}
