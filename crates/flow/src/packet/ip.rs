//! IP headers, down to the header of the protocol that they carry.

use super::{PacketError, byte, take};

/// Header of an IP packet, IPv6 with its extension headers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IpHeader {
    /// 4 or 6.
    pub(crate) version: u8,
    /// Type of service, or traffic class.
    pub(crate) class: u8,
    /// Source address; IPv4 as an IPv4-mapped address.
    pub(crate) source: u128,
    /// Destination address.
    pub(crate) destination: u128,
    /// Protocol behind all headers; of a later fragment, the one that the fragment field states.
    pub(crate) protocol: u8,
    /// Offset of that protocol's header.
    pub(crate) payload: usize,
    /// Offset of the packet's end as far as captured: behind it, a link may have padded the frame.
    pub(crate) end: usize,
    /// Length that the header states, in bytes; as captured if it states none.
    pub(crate) stated: u32,
    /// The fragment field of a packet that is a part.
    pub(crate) part: Option<Part>,
}

/// Fragment field of an IP header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// Its offset.
    pub(crate) at: usize,
    /// Identification.
    pub(crate) id: u32,
    /// `true` for the part that begins with the header of the protocol.
    pub(crate) first: bool,
    /// Protocol of the fragmented bytes: the same in all parts.
    pub(crate) protocol: u8,
}

impl IpHeader {
    /// Reads the header at `at`, of either version.
    #[inline(always)]
    pub(crate) fn read(bytes: &[u8], at: usize) -> Result<Self, PacketError> {
        match byte(bytes, at)? >> 4 {
            4 => Self::v4(bytes, at),
            6 => Self::v6(bytes, at),
            version => Err(PacketError::Version { at, version }),
        }
    }

    /// RFC 791 §3.1.
    #[inline(always)]
    pub(crate) fn v4(bytes: &[u8], at: usize) -> Result<Self, PacketError> {
        let header: &[u8; 20] = take(bytes, at)?;
        if header[0] >> 4 != 4 {
            return Err(PacketError::Version { at, version: header[0] >> 4 });
        }
        let length = 4 * usize::from(header[0] & 0xf);
        if length < header.len() {
            return Err(PacketError::HeaderLength { at });
        }
        let total = match u16::from_be_bytes([header[2], header[3]]) {
            // Linux captures segments before the device splits them, and states 0 for those over 65,535.
            0 => bytes.len() - at,
            total => usize::from(total),
        };
        if total < length {
            return Err(PacketError::HeaderLength { at: at + 2 });
        }
        // More fragments, or an offset.
        let field = u16::from_be_bytes([header[6], header[7]]) & 0x3fff;
        let id = u16::from_be_bytes([header[4], header[5]]).into();
        let part = Part { at: at + 6, id, first: field & 0x1fff == 0, protocol: header[9] };
        Ok(Self {
            version: 4,
            class: header[1],
            source: mapped(header, 12),
            destination: mapped(header, 16),
            protocol: header[9],
            payload: at + length,
            end: bytes.len().min(at + total),
            stated: total as u32,
            part: (field != 0).then_some(part),
        })
    }

    /// RFC 8200 §3 and §4.
    #[inline]
    pub(crate) fn v6(bytes: &[u8], at: usize) -> Result<Self, PacketError> {
        let header: &[u8; 40] = take(bytes, at)?;
        if header[0] >> 4 != 6 {
            return Err(PacketError::Version { at, version: header[0] >> 4 });
        }
        let total = match u16::from_be_bytes([header[4], header[5]]) {
            // A payload of 0 is a jumbogram's (RFC 2675), whose length is in an option.
            0 => bytes.len() - at,
            payload => header.len() + usize::from(payload),
        };
        let mut read = Self {
            version: 6,
            class: header[0] << 4 | header[1] >> 4,
            source: address(header, 8),
            destination: address(header, 24),
            protocol: header[6],
            payload: at + header.len(),
            end: bytes.len().min(at + total),
            stated: u32::try_from(total).unwrap_or(u32::MAX),
            part: None,
        };
        read.walk(bytes)?;
        Ok(read)
    }

    /// Passes the extension headers.
    #[inline]
    fn walk(&mut self, bytes: &[u8]) -> Result<(), PacketError> {
        const HEADERS: usize = 16;
        let packet = bytes.get(..self.end).unwrap_or(bytes);
        for _ in 0..=HEADERS {
            let at = self.payload;
            match self.protocol {
                HOP_BY_HOP | ROUTING | DESTINATION | MOBILITY | HIP | SHIM6 => {
                    let [following, length] = *take(packet, at)?;
                    (self.protocol, self.payload) = (following, at + 8 * (usize::from(length) + 1));
                }
                AUTHENTICATION => {
                    // RFC 4302 §2.2: in words of four bytes, less two.
                    let [following, length] = *take(packet, at)?;
                    (self.protocol, self.payload) = (following, at + 4 * (usize::from(length) + 2));
                }
                FRAGMENT => {
                    let [following, _, offset, flags, a, b, c, d] = *take::<8>(packet, at)?;
                    (self.protocol, self.payload) = (following, at + 8);
                    let field = u16::from_be_bytes([offset, flags]);
                    let id = u32::from_be_bytes([a, b, c, d]);
                    let part = Part { at: at + 2, id, first: field & 0xfff8 == 0, protocol: following };
                    // An atomic fragment (RFC 6946) is a whole packet.
                    if field & 0xfff9 != 0 && self.part.is_none() {
                        self.part = Some(part);
                        if !part.first {
                            return Ok(());
                        }
                    }
                }
                _ => return Ok(()),
            }
        }
        Err(PacketError::TooManyHeaders { at: self.payload })
    }
}

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;
const MOBILITY: u8 = 135;
const HIP: u8 = 139;
const SHIM6: u8 = 140;

#[inline(always)]
fn mapped(header: &[u8; 20], from: usize) -> u128 {
    let bits = u32::from_be_bytes([header[from], header[from + 1], header[from + 2], header[from + 3]]);
    0xffff_0000_0000 | u128::from(bits)
}

#[inline(always)]
fn address(header: &[u8; 40], from: usize) -> u128 {
    u128::from_be_bytes(core::array::from_fn(|i| header[from + i]))
}
