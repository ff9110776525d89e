//! Interest packets.

use super::signature::SignatureInfo;
use super::{INTEREST, NameCheck, name_bytes, packet_name};
use crate::invariant::{Invariant as _, part};
use crate::tlv::{Elements, WireError, single, write_element, write_integer, write_nested};
use alloc::vec::Vec;
use core::ops::Range;
use hashlane_name::component::{Component, PARAMETERS_SHA256_DIGEST};
use hashlane_name::ndn::NdnName;
use sha2::{Digest, Sha256};

/// CanBePrefix.
pub const CAN_BE_PREFIX: u32 = 33;
/// MustBeFresh.
pub const MUST_BE_FRESH: u32 = 18;
/// ForwardingHint.
pub const FORWARDING_HINT: u32 = 30;
/// Nonce.
pub const NONCE: u32 = 10;
/// InterestLifetime.
pub const LIFETIME: u32 = 12;
/// HopLimit.
pub const HOP_LIMIT: u32 = 34;
/// ApplicationParameters.
pub const PARAMETERS: u32 = 36;
/// InterestSignatureInfo.
pub const SIGNATURE_INFO: u32 = 44;
/// InterestSignatureValue.
pub const SIGNATURE_VALUE: u32 = 46;

/// Lifetime of an Interest without InterestLifetime, in milliseconds.
pub const DEFAULT_LIFETIME: u64 = 4000;

/// Checked Interest.
///
/// Source: NDN Packet Format 0.3, Interest Packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest<'a> {
    bytes: &'a [u8],
    name: &'a [u8],
    /// Number of components of the name.
    components: u8,
    flags: u8,
    /// Value of ForwardingHint: checked names.
    hint: &'a [u8],
    /// Offset of the value of the Nonce; 0 if absent, as for the next two.
    nonce_at: u32,
    hop_limit_at: u32,
    /// Offset of ApplicationParameters.
    parameters_at: u32,
    signature_info: Option<(u32, u32)>,
    signature_value: Option<(u32, u32)>,
    lifetime: Option<u64>,
}

const PREFIX_FLAG: u8 = 1;
const FRESH_FLAG: u8 = 2;

impl<'a> Interest<'a> {
    /// Parses `bytes`, which must be exactly one Interest. The digest of parameters in its name is not
    /// verified: see [`has_valid_parameters_digest`](Self::has_valid_parameters_digest).
    ///
    /// # Errors
    /// The first rule that the bytes break.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<Self, WireError> {
        Self::parse_and(bytes, NameCheck::Now)
    }

    /// Parses a packet except the components of its name, which is not empty. The caller checks the name
    /// before it uses the packet: a burst checks and hashes its names together.
    ///
    /// # Errors
    /// The first rule that the bytes break.
    #[inline(always)]
    pub fn parse_except_name(bytes: &'a [u8]) -> Result<Self, WireError> {
        Self::parse_and(bytes, NameCheck::Later)
    }

    #[inline(always)]
    fn parse_and(bytes: &'a [u8], check: NameCheck) -> Result<Self, WireError> {
        let packet = single(bytes)?;
        if packet.typ != INTEREST {
            return Err(WireError::UnexpectedType { typ: packet.typ });
        }
        let mut elements = packet.elements();
        let (name, components) = packet_name(bytes, elements.next()?, check)?;
        let mut interest = Self {
            bytes,
            name,
            components,
            flags: 0,
            hint: &[],
            nonce_at: 0,
            hop_limit_at: 0,
            parameters_at: 0,
            signature_info: None,
            signature_value: None,
            lifetime: None,
        };
        // Position of the last element in the order of fields.
        let mut last = 0;
        while let Some(element) = elements.next()? {
            let place = match element.typ {
                CAN_BE_PREFIX => 1,
                MUST_BE_FRESH => 2,
                FORWARDING_HINT => 3,
                NONCE => 4,
                LIFETIME => 5,
                HOP_LIMIT => 6,
                PARAMETERS => 7,
                SIGNATURE_INFO => 8,
                SIGNATURE_VALUE => 9,
                _ => 0,
            };
            if place <= last {
                element.ignored()?;
                continue;
            }
            last = place;
            let span = Some((element.at as u32, element.end() as u32));
            match place {
                1 => {
                    element.empty()?;
                    interest.flags |= PREFIX_FLAG;
                }
                2 => {
                    element.empty()?;
                    interest.flags |= FRESH_FLAG;
                }
                3 => {
                    check_hint(bytes, element.elements())?;
                    interest.hint = element.value;
                }
                4 => {
                    element.array::<4>()?;
                    interest.nonce_at = element.value_at as u32;
                }
                5 => interest.lifetime = Some(element.number()?),
                6 => {
                    element.array::<1>()?;
                    interest.hop_limit_at = element.value_at as u32;
                }
                7 => interest.parameters_at = element.at as u32,
                8 => {
                    SignatureInfo::parse(element)?;
                    interest.signature_info = span;
                }
                _ => interest.signature_value = span,
            }
        }
        interest.check_parameters()?;
        Ok(interest)
    }

    /// Checks that parameters have a digest in the name and the reverse, and that a signature has both parts.
    #[inline(always)]
    fn check_parameters(&self) -> Result<(), WireError> {
        let may = self.parameters_at != 0 || self.signature_info.is_some() || self.signature_value.is_some();
        if may || may_hold_digest(self.name) { self.check_parameters_slowly() } else { Ok(()) }
    }

    #[inline(never)]
    fn check_parameters_slowly(&self) -> Result<(), WireError> {
        // The components of the name may not have been checked yet.
        let at = (self.name.as_ptr() as usize).wrapping_sub(self.bytes.as_ptr() as usize);
        let name = NdnName::parse(self.name).map_err(|error| WireError::Name { at, error })?;
        let digests = name.components().filter(|component| component.typ == PARAMETERS_SHA256_DIGEST).count();
        let parameters = usize::from(self.parameters_at != 0);
        let signature = (self.signature_info.is_some(), self.signature_value.is_some());
        match signature {
            _ if digests != parameters => Err(WireError::ParametersDigest),
            (false, false) => Ok(()),
            (true, true) if parameters == 1 => Ok(()),
            (true, true) => Err(WireError::Missing { typ: PARAMETERS }),
            (true, false) => Err(WireError::Missing { typ: SIGNATURE_VALUE }),
            (false, true) => Err(WireError::Missing { typ: SIGNATURE_INFO }),
        }
    }

    /// Encoded packet.
    #[inline]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Name.
    ///
    /// # Panics
    /// Never: parsing checked the name.
    #[inline]
    pub fn name(&self) -> NdnName<'a> {
        NdnName::parse(self.name).expect("a name that was checked")
    }

    /// Encoded name, with its type and length.
    #[inline]
    pub fn name_bytes(&self) -> &'a [u8] {
        self.name
    }

    /// Number of components of the name, at least 1.
    #[inline]
    pub fn name_len(&self) -> usize {
        // [`parse_except_name`](Self::parse_except_name) does not count them.
        if self.components == 0 { self.name().len() } else { self.components.into() }
    }

    /// True if Data with a longer name may satisfy it.
    #[inline]
    pub fn can_be_prefix(&self) -> bool {
        self.flags & PREFIX_FLAG != 0
    }

    /// True if a cache may satisfy it only with fresh Data.
    #[inline]
    pub fn must_be_fresh(&self) -> bool {
        self.flags & FRESH_FLAG != 0
    }

    /// Encoded names of the forwarding hint, in order; empty if absent.
    #[inline]
    pub fn forwarding_hint(&self) -> &'a [u8] {
        self.hint
    }

    /// Names of the forwarding hint.
    pub fn hints(&self) -> impl Iterator<Item = NdnName<'a>> {
        names_in(self.hint)
    }

    /// Nonce.
    #[inline]
    pub fn nonce(&self) -> Option<u32> {
        let at = self.nonce_at()?.start;
        let bytes = self.bytes.get(at..)?.first_chunk()?;
        Some(u32::from_be_bytes(*bytes))
    }

    /// Span of the Nonce in the packet.
    #[inline]
    pub fn nonce_at(&self) -> Option<Range<usize>> {
        let at = self.nonce_at as usize;
        (at != 0).then_some(at..at + 4)
    }

    /// Lifetime in milliseconds; [`DEFAULT_LIFETIME`] if absent.
    #[inline]
    pub fn lifetime(&self) -> u64 {
        self.lifetime.unwrap_or(DEFAULT_LIFETIME)
    }

    /// Number of hops that are left.
    #[inline]
    pub fn hop_limit(&self) -> Option<u8> {
        self.bytes.get(self.hop_limit_at()?).copied()
    }

    /// Offset of the hop limit in the packet.
    #[inline]
    pub fn hop_limit_at(&self) -> Option<usize> {
        let at = self.hop_limit_at as usize;
        (at != 0).then_some(at)
    }

    /// ApplicationParameters.
    pub fn parameters(&self) -> Option<&'a [u8]> {
        let at = self.parameters_at as usize;
        if at == 0 {
            return None;
        }
        let element = Elements::new(part(self.bytes, at..)).next().ok().flatten();
        element.invariant("parameters that were checked").map(|element| element.value)
    }

    /// Description of the signature.
    pub fn signature_info(&self) -> Option<SignatureInfo<'a>> {
        let element = self.element(self.signature_info?)?;
        SignatureInfo::parse(element).ok().invariant("a SignatureInfo that was checked")
    }

    /// Signature value.
    pub fn signature_value(&self) -> Option<&'a [u8]> {
        Some(self.element(self.signature_value?)?.value)
    }

    fn element(&self, (from, to): (u32, u32)) -> Option<crate::tlv::Element<'a>> {
        single(part(self.bytes, from as usize..to as usize)).ok().invariant("an element that was checked")
    }

    /// Bytes that a signature of format 0.3 covers, in two pieces: the name components before the digest, and
    /// everything from ApplicationParameters up to the signature value. `None` if the Interest is not signed.
    ///
    /// Source: NDN Packet Format 0.3, Signed Interest.
    pub fn signed_portion(&self) -> Option<[&'a [u8]; 2]> {
        let value = self.signature_value?;
        let name = self.name();
        let last = name.components().last()?;
        if last.typ != PARAMETERS_SHA256_DIGEST {
            return None;
        }
        let components = single(self.name).ok()?.value;
        let before = components.get(..components.len().checked_sub(34)?)?;
        let parameters = self.bytes.get(self.parameters_at as usize..value.0 as usize)?;
        Some([before, parameters])
    }

    /// True if the digest in the name matches the parameters, or if there are neither.
    ///
    /// Source: NDN Packet Format 0.3, Interest Parameters Digest Component.
    pub fn has_valid_parameters_digest(&self) -> bool {
        if self.parameters_at == 0 {
            return true;
        }
        let covered = part(self.bytes, self.parameters_at as usize..);
        let digest = Sha256::digest(covered);
        let mut components = self.name().components();
        components
            .find(|component| component.typ == PARAMETERS_SHA256_DIGEST)
            .is_some_and(|component| component.value == digest.as_slice())
    }
}

/// Returns false if the encoded `name` cannot contain a digest of parameters: bytes 2 and 32, followed by 32
/// more. The rare byte 32 is searched first.
#[inline(always)]
fn may_hold_digest(name: &[u8]) -> bool {
    let heads = part(name, ..name.len().saturating_sub(32));
    // Without branches, the compiler compares sixteen bytes at once.
    let has_32 = |bytes: &[u8]| bytes.iter().fold(false, |found, byte| found | (*byte == 32));
    let (chunks, rest) = heads.as_chunks::<32>();
    heads.len() > 3
        && chunks.iter().fold(has_32(rest), |found, chunk| found | has_32(chunk))
        && heads.windows(2).any(|pair| *pair == [PARAMETERS_SHA256_DIGEST as u8, 32])
}

/// Names in `bytes`, which have been checked.
fn names_in(bytes: &[u8]) -> impl Iterator<Item = NdnName<'_>> {
    let mut elements = Elements::new(bytes);
    core::iter::from_fn(move || {
        let element = elements.next().ok()??;
        NdnName::parse(name_bytes(bytes, &element)).ok()
    })
}

/// Checks the names of a forwarding hint: at least one, and no other elements.
#[inline(never)]
fn check_hint(bytes: &[u8], mut elements: Elements<'_>) -> Result<(), WireError> {
    let mut names = 0;
    while let Some(element) = elements.next()? {
        // Elements that may be ignored are rejected here, as every reader of the hint would have to skip
        // them.
        if element.typ != super::NAME {
            return Err(WireError::Critical { typ: element.typ, at: element.at });
        }
        NdnName::parse(name_bytes(bytes, &element))
            .map_err(|error| WireError::Name { at: element.at, error })?;
        names += 1;
    }
    if names == 0 { Err(WireError::Missing { typ: super::NAME }) } else { Ok(()) }
}

/// Builder of an Interest.
#[derive(Clone, Debug)]
pub struct InterestBuilder<'a> {
    /// Name. With [`parameters`](Self::parameters), without their digest, which is appended.
    pub name: NdnName<'a>,
    /// CanBePrefix.
    pub can_be_prefix: bool,
    /// MustBeFresh.
    pub must_be_fresh: bool,
    /// Names of the forwarding hint.
    pub hints: Vec<NdnName<'a>>,
    /// Nonce. Every Interest sent to a network has one.
    pub nonce: Option<u32>,
    /// Lifetime in milliseconds; omitted if [`DEFAULT_LIFETIME`].
    pub lifetime: u64,
    /// HopLimit.
    pub hop_limit: Option<u8>,
    /// ApplicationParameters.
    pub parameters: Option<&'a [u8]>,
}

impl<'a> InterestBuilder<'a> {
    /// Creates a builder with only a name.
    pub const fn new(name: NdnName<'a>) -> Self {
        Self {
            name,
            can_be_prefix: false,
            must_be_fresh: false,
            hints: Vec::new(),
            nonce: None,
            lifetime: DEFAULT_LIFETIME,
            hop_limit: None,
            parameters: None,
        }
    }

    /// Builds the packet.
    pub fn build(&self) -> Vec<u8> {
        match self.parameters {
            Some(parameters) => {
                let mut tail = Vec::new();
                write_element(PARAMETERS, parameters, &mut tail);
                self.with_tail(&tail)
            }
            None => self.finish(self.name.as_bytes(), &[]),
        }
    }

    /// Builds the packet, signed in format 0.3. `info` is the value of InterestSignatureInfo; `sign` signs
    /// the two pieces that the signature covers.
    ///
    /// Source: NDN Packet Format 0.3, Signed Interest.
    pub fn build_signed(&self, info: &[u8], sign: impl FnOnce([&[u8]; 2]) -> Vec<u8>) -> Vec<u8> {
        let mut tail = Vec::new();
        // A signed Interest has parameters, if only empty ones.
        write_element(PARAMETERS, self.parameters.unwrap_or(&[]), &mut tail);
        write_element(SIGNATURE_INFO, info, &mut tail);
        let name = single(self.name.as_bytes()).ok().invariant("a checked name");
        let components = name.map_or(&[][..], |name| name.value);
        let signature = sign([components, &tail]);
        write_element(SIGNATURE_VALUE, &signature, &mut tail);
        self.with_tail(&tail)
    }

    fn with_tail(&self, tail: &[u8]) -> Vec<u8> {
        let digest = Sha256::digest(tail);
        let components = single(self.name.as_bytes()).map_or(&[][..], |name| name.value);
        let mut name = Vec::with_capacity(components.len() + 44);
        write_nested(super::NAME, &mut name, |out| {
            out.extend_from_slice(components);
            write_element(PARAMETERS_SHA256_DIGEST.into(), &digest, out);
        });
        self.finish(&name, tail)
    }

    fn finish(&self, name: &[u8], tail: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(name.len() + tail.len() + 32);
        write_nested(INTEREST, &mut out, |out| {
            out.extend_from_slice(name);
            if self.can_be_prefix {
                write_element(CAN_BE_PREFIX, &[], out);
            }
            if self.must_be_fresh {
                write_element(MUST_BE_FRESH, &[], out);
            }
            if !self.hints.is_empty() {
                write_nested(FORWARDING_HINT, out, |out| {
                    self.hints.iter().for_each(|hint| out.extend_from_slice(hint.as_bytes()));
                });
            }
            if let Some(nonce) = self.nonce {
                write_element(NONCE, &nonce.to_be_bytes(), out);
            }
            if self.lifetime != DEFAULT_LIFETIME {
                write_integer(LIFETIME, self.lifetime, out);
            }
            if let Some(hops) = self.hop_limit {
                write_element(HOP_LIMIT, &[hops], out);
            }
            out.extend_from_slice(tail);
        });
        out
    }
}

/// Components of `name` without a digest of parameters at its end.
pub fn without_parameters_digest(name: NdnName<'_>) -> impl Iterator<Item = Component<'_>> {
    name.components().filter(|component| component.typ != PARAMETERS_SHA256_DIGEST)
}
