//! A record as it is added to a zone and taken from it.

use crate::wire::RecordType;
use hashlane_name::dns::Name;

/// A record of class IN with whole names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeRecord<'a> {
    /// The owner.
    pub owner: Name<'a>,
    /// The type.
    pub rtype: RecordType,
    /// The TTL in seconds.
    pub ttl: u32,
    /// The data in wire form, with whole names.
    pub data: &'a [u8],
}
