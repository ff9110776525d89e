//! Packets: [`Interest`], [`Data`], and the link packets of NDNLPv2 that carry them ([`lp`]); and a packet as a [`tree`] to look at.
//!
//! A view checks the whole packet when it is parsed, and reads fields without looking again. A builder writes the one encoding that the
//! view of it reads back.

pub mod data;
pub mod interest;
pub mod lp;
pub mod signature;
#[cfg(test)]
mod tests;
pub mod tree;

pub use data::{Data, DataBuilder};
pub use interest::{Interest, InterestBuilder};
pub use lp::{LpHeader, LpPacket, NackReason};
pub use signature::{KeyLocator, SignatureInfo, SignatureType};

use crate::tlv::{Element, WireError};
use name::error::ParseError as NameError;
use name::ndn::NdnName;

/// TLV-TYPE of an Interest.
pub const INTEREST: u32 = 5;
/// TLV-TYPE of a Data packet.
pub const DATA: u32 = 6;
/// TLV-TYPE of a name.
pub const NAME: u32 = 7;

/// Checks the names of packets as they are parsed, and may keep what it saw: the forwarder hashes all prefixes of the packet's name in the walk
/// that checks it.
pub trait NameReader {
    /// Checks the name of the packet, an encoded name with its type and length; returns how many components it has.
    ///
    /// # Errors
    /// The rule that the name breaks.
    fn packet_name(&mut self, name: &[u8]) -> Result<usize, NameError>;
}

/// Checks, and keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Check;

impl NameReader for Check {
    #[inline]
    fn packet_name(&mut self, name: &[u8]) -> Result<usize, NameError> {
        NdnName::parse(name).map(|name| name.len())
    }
}

/// The name that `element` of a packet is, in `octets`, which its offsets are in.
#[inline(always)]
pub(crate) fn name_octets<'a>(octets: &'a [u8], element: &Element<'a>) -> &'a [u8] {
    octets.get(element.at..element.end()).unwrap_or_default()
}

/// Checks the first element of a packet, which must be its name, and that it has a component.
#[inline(always)]
pub(crate) fn packet_name<'a, N: NameReader>(
    octets: &'a [u8],
    first: Option<Element<'a>>,
    names: &mut N,
) -> Result<(&'a [u8], u8), WireError> {
    let element = first.filter(|first| first.typ == NAME).ok_or(WireError::Missing { typ: NAME })?;
    let name = name_octets(octets, &element);
    match names.packet_name(name) {
        Ok(0) => Err(WireError::EmptyName { at: element.at }),
        // A name has 255 components at the most.
        Ok(count) => Ok((name, count as u8)),
        Err(error) => Err(WireError::Name { at: element.at, error }),
    }
}
