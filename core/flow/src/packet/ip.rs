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
    #[inline(always)]
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
        let (protocol, payload, end) = (header[6], at + header.len(), bytes.len().min(at + total));
        let (protocol, payload, part) = if is_extension(protocol) {
            walk(bytes.get(..end).unwrap_or(bytes), protocol, payload)?
        } else {
            (protocol, payload, None)
        };
        Ok(Self {
            version: 6,
            class: header[0] << 4 | header[1] >> 4,
            source: address(header, 8),
            destination: address(header, 24),
            protocol,
            payload,
            end,
            stated: u32::try_from(total).unwrap_or(u32::MAX),
            part,
        })
    }
}

/// Passes the extension headers of a packet from the one at `at`. Returns the protocol behind them, its
/// offset, and the fragment field.
#[inline(never)]
fn walk(packet: &[u8], mut next: u8, mut at: usize) -> Result<(u8, usize, Option<Part>), PacketError> {
    const HEADERS: usize = 16;
    let mut part = None;
    for _ in 0..=HEADERS {
        match next {
            AUTHENTICATION => {
                // RFC 4302 §2.2: in words of four bytes, less two.
                let [following, length] = *take(packet, at)?;
                (next, at) = (following, at + 4 * (usize::from(length) + 2));
            }
            FRAGMENT => {
                let [following, _, offset, flags, a, b, c, d] = *take::<8>(packet, at)?;
                let field = u16::from_be_bytes([offset, flags]);
                // An atomic fragment (RFC 6946) is a whole packet.
                if field & 0xfff9 != 0 && part.is_none() {
                    let (id, first) = (u32::from_be_bytes([a, b, c, d]), field & 0xfff8 == 0);
                    part = Some(Part { at: at + 2, id, first, protocol: following });
                    if !first {
                        return Ok((following, at + 8, part));
                    }
                }
                (next, at) = (following, at + 8);
            }
            _ if is_extension(next) => {
                let [following, length] = *take(packet, at)?;
                (next, at) = (following, at + 8 * (usize::from(length) + 1));
            }
            _ => return Ok((next, at, part)),
        }
    }
    Err(PacketError::TooManyHeaders { at })
}

/// Returns `true` for a header that another one follows.
#[inline(always)]
const fn is_extension(protocol: u8) -> bool {
    matches!(
        protocol,
        HOP_BY_HOP | ROUTING | FRAGMENT | AUTHENTICATION | DESTINATION | MOBILITY | HIP | SHIM6
    )
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
