//! Packets: [`Interest`], [`Data`], the link packets of NDNLPv2 ([`lp`]), and a packet as a [`tree`] of
//! elements.
//!
//! A view checks the whole packet when it is parsed; reading a field checks nothing again. A builder writes
//! the one encoding that the view reads back.

pub mod data;
pub mod digest;
pub mod interest;
pub mod label;
pub mod lp;
pub mod signature;
#[cfg(test)]
mod tests;
pub mod tree;

pub use data::{Data, DataBuilder};
pub use digest::{DigestFunction, InterestDigest};
pub use interest::{Interest, InterestBuilder};
pub use label::{Label, PitToken};
pub use lp::{LpHeader, LpPacket, NackReason};
pub use signature::{KeyLocator, SignatureInfo, SignatureType};

use crate::invariant::part;
use crate::tlv::{Element, WireError};
use hashlane_name::ndn::NdnName;

/// Longest Interest or Data packet, in bytes: the customary limit (NDN Packet Format 0.3 has none).
pub const MAX_PACKET: usize = 8800;

/// Longest link header, in bytes: every field at its longest except acknowledgements and announcements, and
/// the type and length of the fragment.
pub const MAX_LINK_HEADER: usize = 200;

/// Longest link packet, in bytes.
pub const MAX_LINK_PACKET: usize = MAX_PACKET + MAX_LINK_HEADER;

/// TLV-TYPE of an Interest.
pub const INTEREST: u32 = 5;
/// TLV-TYPE of a Data packet.
pub const DATA: u32 = 6;
/// TLV-TYPE of a name.
pub const NAME: u32 = 7;

/// Time of the check of a packet's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameCheck {
    Now,
    /// By the caller, which checks and hashes the names of many packets together before it uses a packet.
    Later,
}

/// Name in the element `element`, whose offsets are relative to `bytes`.
#[inline(always)]
pub(crate) fn name_bytes<'a>(bytes: &'a [u8], element: &Element<'a>) -> &'a [u8] {
    part(bytes, element.at..element.end())
}

/// Name of a packet, from its first element, and the number of its components: at least 1 if checked now,
/// else 0.
#[inline(always)]
fn packet_name<'a>(
    bytes: &'a [u8],
    first: Option<Element<'a>>,
    check: NameCheck,
) -> Result<(&'a [u8], u8), WireError> {
    let element = first.filter(|first| first.typ == NAME).ok_or(WireError::Missing { typ: NAME })?;
    let name = name_bytes(bytes, &element);
    if check == NameCheck::Later {
        return if element.value.is_empty() {
            Err(WireError::EmptyName { at: element.at })
        } else {
            Ok((name, 0))
        };
    }
    match NdnName::parse(name).map(|name| name.len()) {
        Ok(0) => Err(WireError::EmptyName { at: element.at }),
        // A name has at most 255 components.
        Ok(count) => Ok((name, count as u8)),
        Err(error) => Err(WireError::Name { at: element.at, error }),
    }
}
