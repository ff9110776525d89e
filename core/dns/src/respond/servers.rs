//! Sets of records of a response that name servers.

use crate::wire::RecordType;
use crate::zone::NameId;

/// Sets of records that name servers, in a response at most.
const MAX_SETS: usize = 4;
/// Servers that are remembered, so that none is written twice.
const MAX_DONE: usize = 64;

/// A set of records that names servers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Naming {
    pub(super) zone: u32,
    pub(super) node: NameId,
    pub(super) rtype: u16,
    /// The set belongs to a referral.
    pub(super) is_referral: bool,
}

/// The sets of a response that name servers.
#[derive(Debug)]
pub(super) struct Servers {
    pub(super) sets: [Naming; MAX_SETS],
    pub(super) len: usize,
    /// Marks of the servers.
    pub(super) done: [u64; MAX_DONE],
}

impl Default for Servers {
    fn default() -> Self {
        let none = Naming { zone: 0, node: NameId::ROOT, rtype: 0, is_referral: false };
        Self { sets: [none; MAX_SETS], len: 0, done: [0; MAX_DONE] }
    }
}

impl Servers {
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    fn push(&mut self, naming: Naming) {
        if let Some(place) = self.sets.get_mut(self.len) {
            *place = naming;
            self.len += 1;
        }
    }

    /// Notes a set of the answer, if its type names servers.
    #[inline]
    pub(super) fn note(&mut self, zone: usize, node: NameId, rtype: RecordType) {
        if rtype == RecordType::NS || rtype == RecordType::MX || whole_name(rtype).is_some() {
            self.push(Naming { zone: zone as u32, node, rtype: rtype.0, is_referral: false });
        }
    }

    /// Notes the NS records of a referral.
    pub(super) fn note_referral(&mut self, zone: usize, cut: NameId) {
        self.push(Naming { zone: zone as u32, node: cut, rtype: RecordType::NS.0, is_referral: true });
    }
}

/// Bytes before the name of a server in the data of types that never compress it.
pub(super) const fn whole_name(rtype: RecordType) -> Option<usize> {
    match rtype {
        RecordType::SRV => Some(6),
        RecordType::AFSDB | RecordType::RT | RecordType::KX => Some(2),
        _ => None,
    }
}
