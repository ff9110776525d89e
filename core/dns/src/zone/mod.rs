//! A zone as an authoritative server needs it: names, sets of records, denial of existence.
//!
//! A [`Builder`] takes records in any order, and checks them as a whole; a [`Zone`] is immutable, and threads
//! share it. All names, owners and names in the data of records alike, are numbered in one tree from the root
//! ([`NameId`]), so that a name in the data leads to its address records without a lookup. A record of a
//! large zone of delegations takes less than 80 bytes, everything included ([`Zone::memory`]).
//!
//! [`Zone::locate`] answers what a server asks first: the node of a name, or the closest node above it that
//! exists, and the delegation or DNAME that it is under. It takes the hashes of a name's suffixes that
//! [`query`](crate::query) computes for a batch at once. A name that exists costs one lookup; one that does
//! not exist, at most eight, logarithmic in its labels.
//!
//! | a name | |
//! | --- | --- |
//! | exists | the apex, an owner of records, or a name above one, an empty non-terminal (RFC 4592 §2.2.2) |
//! | is a cut | has NS records below the apex: a delegation |
//! | is occluded | is below a cut, as glue is, or below a DNAME: never found by `locate` |
//!
//! Records below a cut are kept, as glue. Those below a DNAME are ignored with a [`Warning`]. Owners of NSEC3
//! records, hashes, do not exist by them (RFC 5155 §7.2.8).
//!
//! ```
//! use hashlane_dns::query::Hash;
//! use hashlane_dns::wire::RecordType;
//! use hashlane_dns::zone::Builder;
//! use hashlane_hash::scheme::Key;
//! use hashlane_name::dns::{NameBuf, text};
//!
//! # fn main() -> Result<(), Box<dyn core::error::Error>> {
//! let (key, name) = (Key::random()?, |name: &str| text::parse(name.as_bytes()));
//! let apex = name("example.com")?;
//! let mut builder = Builder::new(apex.view(), &key);
//! let server = name("ns.example.com")?;
//! builder.add(apex.view(), RecordType::NS, 3600, server.as_bytes())?;
//! let soa = [server.as_bytes(), b"\x05admin\0", &[0; 20]].concat();
//! builder.add(apex.view(), RecordType::SOA, 3600, &soa)?;
//! builder.add(name("*.example.com")?.view(), RecordType::A, 300, &[192, 0, 2, 1])?;
//! let zone = builder.finish()?;
//!
//! let mut hash = Hash::new(&key);
//! let queried: NameBuf = name("a.b.Example.com")?;
//! let located = zone.locate(hash.name(queried.view()), queried.view());
//! assert_eq!((located.node, located.below), (zone.apex(), 2));
//! let wildcard = zone.wildcard(located.node).expect("*.example.com");
//! let set = zone.set(wildcard, RecordType::A).expect("its address");
//! assert_eq!(set.records().next().map(|record| record.before), Some(&[192, 0, 2, 1][..]));
//! # Ok(())
//! # }
//! ```

mod all;
mod build;
mod check;
mod entry;
mod error;
mod find;
mod finish;
mod flags;
mod hashes;
mod inspect;
mod intern;
mod log;
mod names;
mod nsec3;
mod order;
mod patch;
mod queue;
mod room;
mod sets;
mod slots;
mod splice;
mod whole;

pub use build::Builder;
pub use error::{Cause, Rule, Warning, Warnings, ZoneError};
pub use find::Located;
pub use inspect::is_before;
pub use names::NameId;
pub use nsec3::{Denial, Nsec3Params};
pub use patch::Unpatched;
pub use sets::{Record, Records, Set, Sets, Signatures};
pub use whole::WholeRecord;

use alloc::vec::Vec;
use core::fmt;
use flags::Flags;
use hashlane_name::dns::{Name, NameBuf};
use hashlane_table::index::Index;
use names::Names;

/// Types of records that a name may have, so that no name makes answers slow.
pub const MAX_TYPES: usize = 128;

/// Iterations of the NSEC3 hash that a zone may ask for, so that no zone makes denials slow.
pub const MAX_ITERATIONS: u16 = 150;

/// A zone. See the [module](self).
pub struct Zone {
    names: Names,
    sets: Vec<u8>,
    /// Names that exist and are not occluded.
    index: Index,
    apex: NameId,
    apex_name: NameBuf,
    apex_labels: usize,
    /// Existing names `*` that are not occluded, each after the name above it, in order.
    wildcards: Vec<(NameId, NameId)>,
    /// Owners of NSEC records, in canonical order.
    nsec: Vec<NameId>,
    nsec3: nsec3::Chain,
    serial: u32,
    records: usize,
    /// Names in the index.
    visible_names: usize,
    /// Bytes that patches have left without use, at most.
    garbage: usize,
    duplicates: usize,
    warnings: Warnings,
}

impl Zone {
    /// The apex.
    #[inline]
    pub fn apex(&self) -> NameId {
        self.apex
    }

    /// The name of the apex.
    #[inline]
    pub fn apex_name(&self) -> Name<'_> {
        self.apex_name.view()
    }

    /// The serial number of the SOA record.
    #[inline]
    pub fn serial(&self) -> u32 {
        self.serial
    }

    /// The name above; of the root, the root.
    #[inline]
    pub fn parent(&self, id: NameId) -> NameId {
        self.names.parent(id)
    }

    /// The first label with its length before it, in the spelling of the first owner, or of the first record
    /// that mentions the name; a zero byte of the root.
    #[inline]
    pub fn label(&self, id: NameId) -> &[u8] {
        self.names.label(id)
    }

    /// The whole name. For logs: it walks the tree.
    pub fn name(&self, id: NameId) -> NameBuf {
        self.names.name(id)
    }

    /// The sets of a name, ascending by type. RRSIG records are with the sets that they cover.
    #[inline]
    pub fn sets(&self, id: NameId) -> Sets<'_> {
        match self.names.sets(id) {
            Some(place) => Sets::at(&self.sets, place),
            None => Sets::NONE,
        }
    }

    /// The records of one type of a name.
    #[inline]
    pub fn set(&self, id: NameId, rtype: crate::wire::RecordType) -> Option<Set<'_>> {
        self.sets(id).find(|set| set.rtype >= rtype).filter(|set| set.rtype == rtype)
    }

    /// Returns true if the name is the apex, an owner of records, or above one. Owners of nothing but NSEC3
    /// records do not exist, nor do names below a DNAME.
    #[inline]
    pub fn exists(&self, id: NameId) -> bool {
        self.names.flags(id).has(Flags::EXISTS)
    }

    /// Returns true if the name is a delegation: has NS records, is below the apex, and is not occluded.
    #[inline]
    pub fn is_cut(&self, id: NameId) -> bool {
        self.names.flags(id).has(Flags::CUT)
    }

    /// Returns true if the name has a DNAME record, and is not occluded.
    #[inline]
    pub fn has_dname(&self, id: NameId) -> bool {
        self.names.flags(id).has(Flags::DNAME)
    }

    /// Returns true if the name is below a cut, or below a DNAME. Its records, if any, are glue.
    #[inline]
    pub fn is_occluded(&self, id: NameId) -> bool {
        self.names.is_occluded(id)
    }

    /// Bytes of memory, everything included.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + self.names.memory()
            + self.sets.capacity()
            + self.index.memory()
            + self.wildcards.capacity() * size_of::<(NameId, NameId)>()
            + self.nsec.capacity() * size_of::<NameId>()
            + self.nsec3.memory()
            + self.warnings.memory()
    }

    /// Number of records, signatures included; without duplicates and records that are ignored.
    pub fn records(&self) -> usize {
        self.records
    }

    /// Number of records that were added again.
    pub fn duplicates(&self) -> usize {
        self.duplicates
    }

    /// Number of names: owners, names in the data of records, and all names above them.
    pub fn names(&self) -> usize {
        self.names.len()
    }

    /// Warnings from building the zone.
    pub fn warnings(&self) -> &Warnings {
        &self.warnings
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Zone({}, serial {}, {} records)", self.apex_name, self.serial, self.records)
    }
}

#[cfg(test)]
mod tests;
