//! Data packets.

use super::signature::SignatureInfo;
use super::{DATA, NameCheck, packet_name};
use crate::invariant::{Invariant as _, part};
use crate::tlv::{Elements, WireError, single, write_element, write_integer, write_nested};
use alloc::vec::Vec;
use hashlane_name::component::Component;
use hashlane_name::ndn::NdnName;
use sha2::{Digest, Sha256};

/// MetaInfo.
pub const META_INFO: u32 = 20;
/// Content.
pub const CONTENT: u32 = 21;
/// SignatureInfo.
pub const SIGNATURE_INFO: u32 = 22;
/// SignatureValue.
pub const SIGNATURE_VALUE: u32 = 23;
/// ContentType.
pub const CONTENT_TYPE: u32 = 24;
/// FreshnessPeriod.
pub const FRESHNESS_PERIOD: u32 = 25;
/// FinalBlockId.
pub const FINAL_BLOCK_ID: u32 = 26;

/// ContentType of application content.
pub const BLOB: u64 = 0;
/// ContentType of a list of names.
pub const LINK: u64 = 1;
/// ContentType of a public key.
pub const KEY: u64 = 2;
/// ContentType of an application-level Nack: the producer has no content.
pub const APPLICATION_NACK: u64 = 3;
/// ContentType of a prefix announcement.
pub const PREFIX_ANNOUNCEMENT: u64 = 5;

/// Checked Data packet.
///
/// Source: NDN Packet Format 0.3, Data Packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data<'a> {
    bytes: &'a [u8],
    name: &'a [u8],
    components: u8,
    freshness: Option<u64>,
    content_type: u64,
    /// Value of FinalBlockId, a component.
    final_block: Option<&'a [u8]>,
    content: &'a [u8],
    /// Offset of SignatureInfo, offset of SignatureValue, and value of SignatureValue.
    info_at: u32,
    signature_at: u32,
    signature: &'a [u8],
}

impl<'a> Data<'a> {
    /// Parses `bytes`, which must be exactly one Data packet. The signature is not verified.
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

    /// Finds the name of a packet, with its type and length. Checks neither its components nor the fields
    /// behind it.
    ///
    /// # Errors
    /// The bytes are not one Data packet that begins with a name.
    #[inline(always)]
    pub fn find_name(bytes: &'a [u8]) -> Result<&'a [u8], WireError> {
        let packet = single(bytes)?;
        if packet.typ != DATA {
            return Err(WireError::UnexpectedType { typ: packet.typ });
        }
        let (name, _) = packet_name(bytes, packet.elements().next()?, NameCheck::Later)?;
        Ok(name)
    }

    #[inline(always)]
    fn parse_and(bytes: &'a [u8], check: NameCheck) -> Result<Self, WireError> {
        let packet = single(bytes)?;
        if packet.typ != DATA {
            return Err(WireError::UnexpectedType { typ: packet.typ });
        }
        let mut elements = packet.elements();
        let (name, components) = packet_name(bytes, elements.next()?, check)?;
        let mut data = Self {
            bytes,
            name,
            components,
            freshness: None,
            content_type: BLOB,
            final_block: None,
            content: &[],
            info_at: 0,
            signature_at: 0,
            signature: &[],
        };
        let mut last = 0;
        while let Some(element) = elements.next()? {
            let place = match element.typ {
                META_INFO => 1,
                CONTENT => 2,
                SIGNATURE_INFO => 3,
                SIGNATURE_VALUE => 4,
                _ => 0,
            };
            if place <= last {
                element.ignored()?;
                continue;
            }
            last = place;
            match place {
                1 => data.meta_info(element)?,
                2 => data.content = element.value,
                3 => {
                    SignatureInfo::parse(element)?;
                    data.info_at = element.at as u32;
                }
                _ => {
                    data.signature_at = element.at as u32;
                    data.signature = element.value;
                }
            }
        }
        match (data.info_at, last) {
            (0, _) => Err(WireError::Missing { typ: SIGNATURE_INFO }),
            (_, 4) => Ok(data),
            _ => Err(WireError::Missing { typ: SIGNATURE_VALUE }),
        }
    }

    #[inline(always)]
    fn meta_info(&mut self, info: crate::tlv::Element<'a>) -> Result<(), WireError> {
        let mut elements = info.elements();
        let mut last = 0;
        while let Some(element) = elements.next()? {
            let place = match element.typ {
                CONTENT_TYPE => 1,
                FRESHNESS_PERIOD => 2,
                FINAL_BLOCK_ID => 3,
                _ => 0,
            };
            if place <= last {
                element.ignored()?;
                continue;
            }
            last = place;
            match place {
                1 => self.content_type = element.number()?,
                2 => self.freshness = Some(element.number()?),
                _ => {
                    let component = single(element.value).map_err(|_| element.wrong_value())?;
                    if component.typ > u32::from(u16::MAX) {
                        return Err(element.wrong_value());
                    }
                    self.final_block = Some(element.value);
                }
            }
        }
        Ok(())
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

    /// FreshnessPeriod in milliseconds. Data without one is never fresh.
    #[inline]
    pub fn freshness(&self) -> Option<u64> {
        self.freshness
    }

    /// ContentType; [`BLOB`] if absent.
    #[inline]
    pub fn content_type(&self) -> u64 {
        self.content_type
    }

    /// FinalBlockId: the last name component of the last segment.
    pub fn final_block(&self) -> Option<Component<'a>> {
        let element = single(self.final_block?).ok()?;
        Some(Component { typ: element.typ as u16, value: element.value })
    }

    /// Content.
    #[inline]
    pub fn content(&self) -> &'a [u8] {
        self.content
    }

    /// SignatureInfo.
    ///
    /// # Panics
    /// Never: parsing checked the element.
    pub fn signature_info(&self) -> SignatureInfo<'a> {
        let info = part(self.bytes, self.info_at as usize..);
        let element = Elements::new(info).next().ok().flatten().expect("an element that was checked");
        SignatureInfo::parse(element).expect("an element that was checked")
    }

    /// SignatureValue.
    #[inline]
    pub fn signature_value(&self) -> &'a [u8] {
        self.signature
    }

    /// Bytes that the signature covers: from the name up to SignatureValue.
    ///
    /// Source: NDN Packet Format 0.3, Signature.
    pub fn signed_portion(&self) -> &'a [u8] {
        let packet = single(self.bytes).ok().invariant("a packet that was checked");
        packet.map_or(&[], |packet| part(self.bytes, packet.value_at..self.signature_at as usize))
    }

    /// Implicit digest: SHA-256 of the packet, the last component of its full name.
    pub fn implicit_digest(&self) -> [u8; 32] {
        Sha256::digest(self.bytes).into()
    }
}

/// Builder of a Data packet.
#[derive(Clone, Debug)]
pub struct DataBuilder<'a> {
    /// Name.
    pub name: NdnName<'a>,
    /// ContentType; omitted if [`BLOB`].
    pub content_type: u64,
    /// FreshnessPeriod in milliseconds.
    pub freshness: Option<u64>,
    /// FinalBlockId.
    pub final_block: Option<Component<'a>>,
    /// Content.
    pub content: &'a [u8],
}

impl<'a> DataBuilder<'a> {
    /// Creates a builder with a name and content.
    pub const fn new(name: NdnName<'a>, content: &'a [u8]) -> Self {
        Self { name, content_type: BLOB, freshness: None, final_block: None, content }
    }

    /// Builds the packet, signed with its SHA-256 digest.
    pub fn build(&self) -> Vec<u8> {
        let mut info = Vec::new();
        SignatureInfo::of(super::SignatureType::DIGEST_SHA256).write(&mut info);
        self.build_signed(&info, |covered| Sha256::digest(covered).to_vec())
    }

    /// Builds the packet. `info` is the value of SignatureInfo; `sign` signs the bytes that the signature
    /// covers.
    pub fn build_signed(&self, info: &[u8], sign: impl FnOnce(&[u8]) -> Vec<u8>) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.name.as_bytes().len() + self.content.len() + 80);
        write_nested(DATA, &mut out, |out| {
            out.extend_from_slice(self.name.as_bytes());
            if self.content_type != BLOB || self.freshness.is_some() || self.final_block.is_some() {
                write_nested(META_INFO, out, |out| {
                    if self.content_type != BLOB {
                        write_integer(CONTENT_TYPE, self.content_type, out);
                    }
                    if let Some(freshness) = self.freshness {
                        write_integer(FRESHNESS_PERIOD, freshness, out);
                    }
                    if let Some(last) = self.final_block {
                        write_nested(FINAL_BLOCK_ID, out, |out| {
                            write_element(last.typ.into(), last.value, out);
                        });
                    }
                });
            }
            write_element(CONTENT, self.content, out);
            write_element(SIGNATURE_INFO, info, out);
            let signature = sign(out);
            write_element(SIGNATURE_VALUE, &signature, out);
        });
        out
    }
}
