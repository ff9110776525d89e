//! Differences of zones: what a zone has lost and gained from one serial number to the next (RFC 1995 §4).

mod condense;

use crate::records::{Record, Records, of_zone};
use crate::soa::Soa;
use hashlane_dns::wire::{Rdata, RecordType};
use hashlane_dns::zone::{Builder, Zone, ZoneError};
use hashlane_hash::scheme::{BytesHash as _, Key, Scheme as _};
use hashlane_hash::siphash::SipHash24;
use std::collections::HashMap;

/// The difference of two versions of a zone. The first record of each part is the SOA record of its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delta {
    /// Records of the older version alone.
    removed: Records,
    /// Records of the newer version alone.
    added: Records,
    from: u32,
    to: u32,
}

/// The parts of a difference do not begin with a SOA record each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a difference without the SOA records of both versions")]
pub struct NoSoa;

/// Reasons for which differences do not apply to a zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The differences are of other versions.
    #[error("differences from serial {from}, but the zone has serial {serial}")]
    Serial {
        /// Serial number before the difference.
        from: u32,
        /// Serial number of the zone, after the differences before.
        serial: u32,
    },
    /// Records are removed that the zone does not have.
    #[error("{0} records are removed that the zone does not have")]
    Missing(usize),
    /// Records are added that the zone has.
    #[error("{0} records are added that the zone has already")]
    Present(usize),
    /// The records together are no zone.
    #[error(transparent)]
    Zone(#[from] ZoneError),
}

impl Delta {
    /// The difference with these parts, each with its SOA record first.
    ///
    /// # Errors
    /// The first record of a part is no SOA record.
    pub fn new(removed: Records, added: Records) -> Result<Self, NoSoa> {
        let serial = |records: &Records| {
            let first = records.iter().next().filter(|record| record.rtype == RecordType::SOA);
            first.and_then(|record| Soa::parse(record.data)).map(|soa| soa.serial).ok_or(NoSoa)
        };
        Ok(Self { from: serial(&removed)?, to: serial(&added)?, removed, added })
    }

    /// Serial number of the older version.
    pub fn from(&self) -> u32 {
        self.from
    }

    /// Serial number of the newer version.
    pub fn to(&self) -> u32 {
        self.to
    }

    /// Records of the older version alone, its SOA record first.
    pub fn removed(&self) -> &Records {
        &self.removed
    }

    /// Records of the newer version alone, its SOA record first.
    pub fn added(&self) -> &Records {
        &self.added
    }

    /// Bytes of the records.
    pub fn bytes(&self) -> usize {
        self.removed.as_bytes().len() + self.added.as_bytes().len()
    }

    /// The difference of two versions of a zone. `key` should be random.
    ///
    /// Takes time of the order of both zones, and 16 bytes for each record. Names that differ in the case of
    /// letters alone are equal.
    ///
    /// # Errors
    /// A zone has no SOA record, which no builder makes.
    pub fn between(old: &Zone, new: &Zone, key: &Key) -> Result<Self, NoSoa> {
        let mut identity = Identity::new(key, Ttl::Counts);
        let (before, after) = (identity.all(old), identity.all(new));
        let (gone, come) = (alone(&before, &after), alone(&after, &before));
        drop((before, after));
        let removed = identity.collect(old, &gone);
        Self::new(removed, identity.collect(new, &come))
    }

    /// The zone of a version, from a zone of an earlier one. `key` is the key of the zone's names.
    ///
    /// # Errors
    /// The differences do not follow each other from the zone's serial number on, remove records that the
    /// zone does not have, add some that it has, or make no zone. The TTL of a removed record is not
    /// compared: a set has one TTL here, whatever its records had.
    pub fn apply(zone: &Zone, deltas: &[Self], key: &Key) -> Result<Zone, ApplyError> {
        let mut identity = Identity::new(key, Ttl::Free);
        let changes = Changes::of(zone.serial(), deltas.iter(), &mut identity)?;
        let mut builder = Builder::new(zone.apex_name(), key);
        let owners = Owners::of(deltas);
        let (mut found, mut doubled) = (0, 0);
        of_zone(zone, |owner, record| {
            let may_change = owners.may_have(zone.label(owner).get(1..).unwrap_or_default());
            match may_change.then(|| changes.0.get(&identity.of(&record))).flatten() {
                Some(Change::Remove(_) | Change::Replace { .. }) => found += 1,
                Some(Change::Add(_)) => doubled += 1,
                None => builder.add(record.owner, record.rtype, record.ttl, record.data)?,
            }
            Ok::<_, ZoneError>(())
        })?;
        let expected = changes.0.values().filter(|change| !matches!(change, Change::Add(_))).count();
        if found < expected {
            return Err(ApplyError::Missing(expected - found));
        }
        if doubled > 0 {
            return Err(ApplyError::Present(doubled));
        }
        for (delta, offset) in changes.added() {
            if let Some((record, _)) = deltas.get(delta).and_then(|delta| delta.added.at(offset)) {
                builder.add(record.owner, record.rtype, record.ttl, record.data)?;
            }
        }
        Ok(builder.finish()?)
    }
}

/// Bits of [`Owners`].
const OWNER_BITS: usize = 1 << 16;

/// The first labels of the owners of changes, as bits that other labels share now and then: most records of a
/// zone stay, and their identity need not be computed.
struct Owners(Vec<bool>);

impl Owners {
    fn of(deltas: &[Delta]) -> Self {
        let mut bits = vec![false; OWNER_BITS];
        let records = deltas.iter().flat_map(|delta| delta.removed.iter().chain(&delta.added));
        for record in records {
            if let Some(bit) = bits.get_mut(Self::place(record.owner.labels().next().unwrap_or_default())) {
                *bit = true;
            }
        }
        Self(bits)
    }

    fn may_have(&self, label: &[u8]) -> bool {
        self.0.get(Self::place(label)).is_none_or(|bit| *bit)
    }

    /// A hash without a key: labels that share a place on purpose cost what all labels cost without it.
    fn place(label: &[u8]) -> usize {
        let fold = |hash: usize, byte: &u8| {
            (hash ^ usize::from(byte.to_ascii_lowercase())).wrapping_mul(0x9e37_79b1)
        };
        let hash = label.iter().fold(label.len(), fold);
        (hash ^ hash >> 16) % OWNER_BITS
    }
}

/// The place of a record: the number of its difference, and its offset in a part of it.
type Place = (usize, usize);

/// The fate of a record by all differences together.
enum Change {
    /// The zone has it, and loses it.
    Remove(Place),
    /// The zone has it, and gets it anew, as with another TTL: that of a removed record is not to be relied
    /// on.
    Replace { removed: Place, added: Place },
    /// The zone does not have it.
    Add(Place),
}

struct Changes(HashMap<u128, Change>);

impl Changes {
    /// The changes of a version with a serial number.
    fn of<'d>(
        mut serial: u32,
        deltas: impl Iterator<Item = &'d Delta>,
        identity: &mut Identity,
    ) -> Result<Self, ApplyError> {
        let mut changes = HashMap::new();
        let (mut missing, mut present) = (0, 0);
        for (number, delta) in deltas.enumerate() {
            if delta.from != serial {
                return Err(ApplyError::Serial { from: delta.from, serial });
            }
            serial = delta.to;
            let mut offset = 0;
            while let Some((record, next)) = delta.removed.at(offset) {
                let id = identity.of(&record);
                match changes.get(&id) {
                    None => drop(changes.insert(id, Change::Remove((number, offset)))),
                    Some(Change::Replace { removed, .. }) => {
                        let removed = *removed;
                        changes.insert(id, Change::Remove(removed));
                    }
                    Some(Change::Add(_)) => drop(changes.remove(&id)),
                    Some(Change::Remove(_)) => missing += 1,
                }
                offset = next;
            }
            let mut offset = 0;
            while let Some((record, next)) = delta.added.at(offset) {
                let (id, added) = (identity.of(&record), (number, offset));
                match changes.get(&id) {
                    None => drop(changes.insert(id, Change::Add(added))),
                    Some(Change::Remove(removed)) => {
                        let removed = *removed;
                        changes.insert(id, Change::Replace { removed, added });
                    }
                    Some(Change::Add(_) | Change::Replace { .. }) => present += 1,
                }
                offset = next;
            }
        }
        match (missing, present) {
            (0, 0) => Ok(Self(changes)),
            (0, present) => Err(ApplyError::Present(present)),
            (missing, _) => Err(ApplyError::Missing(missing)),
        }
    }

    /// Places of the records that the new version has, in the order of the differences.
    fn added(&self) -> Vec<Place> {
        self.places(|change| match change {
            Change::Remove(_) => None,
            Change::Replace { added, .. } | Change::Add(added) => Some(*added),
        })
    }

    /// Places of the records that the old version has, in the order of the differences.
    fn removed(&self) -> Vec<Place> {
        self.places(|change| match change {
            Change::Add(_) => None,
            Change::Replace { removed, .. } | Change::Remove(removed) => Some(*removed),
        })
    }

    fn places(&self, of: impl Fn(&Change) -> Option<Place>) -> Vec<Place> {
        let mut places: Vec<Place> = self.0.values().filter_map(of).collect();
        places.sort_unstable();
        places
    }
}

/// The part of the TTL in a record's identity.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ttl {
    Counts,
    Free,
}

/// 128 bits for a record, equal for equal records.
struct Identity {
    hashes: [SipHash24; 2],
    ttl: Ttl,
    bytes: Vec<u8>,
}

impl Identity {
    fn new(key: &Key, ttl: Ttl) -> Self {
        let first = SipHash24::new(key);
        let word = |text: &[u8]| first.hash(text).to_le_bytes();
        let halves = [word(b"first"), word(b"second")];
        let mut other = [0; 16];
        other.copy_from_slice(halves.as_flattened());
        let second = SipHash24::new(&Key::new(other));
        Self { hashes: [first, second], ttl, bytes: Vec::new() }
    }

    fn of(&mut self, record: &Record<'_>) -> u128 {
        let Self { hashes, ttl, bytes } = self;
        bytes.clear();
        bytes.extend_from_slice(record.owner.as_bytes());
        bytes.extend_from_slice(&record.rtype.0.to_be_bytes());
        if *ttl == Ttl::Counts {
            bytes.extend_from_slice(&record.ttl.to_be_bytes());
        }
        let data = bytes.len();
        bytes.extend_from_slice(record.data);
        fold(record, data, bytes);
        let [low, high] = hashes.each_ref().map(|hash| hash.hash(bytes));
        u128::from(high) << 64 | u128::from(low)
    }

    fn all(&mut self, zone: &Zone) -> Vec<u128> {
        let mut all = Vec::with_capacity(zone.records());
        // It has no error.
        let _ = of_zone(zone, |_, record| {
            all.push(self.of(&record));
            Ok::<_, std::convert::Infallible>(())
        });
        all.sort_unstable();
        all
    }

    /// The records with these identities, the SOA record first.
    fn collect(&mut self, zone: &Zone, wanted: &[u128]) -> Records {
        let (mut soa, mut others) = (Records::default(), Records::default());
        let _ = of_zone(zone, |_, record| {
            if record.rtype == RecordType::SOA {
                soa.push(&record);
            } else if wanted.binary_search(&self.of(&record)).is_ok() {
                others.push(&record);
            }
            Ok::<_, std::convert::Infallible>(())
        });
        others.iter().for_each(|record| soa.push(&record));
        soa
    }
}

/// Folds the case of the names, the owner's and those that a zone may spell otherwise in the data.
fn fold(record: &Record<'_>, data: usize, bytes: &mut [u8]) {
    // The bytes of length are no letters.
    if let Some(owner) = bytes.get_mut(..record.owner.len()) {
        owner.make_ascii_lowercase();
    }
    let stored = record.rtype.compresses() || record.rtype == RecordType::DNAME;
    if !stored {
        return;
    }
    let after = match Rdata::parse(record.rtype, record.data) {
        Ok(rdata) if record.rtype != RecordType::DNAME => (rdata.before.len(), rdata.after.len()),
        _ => (0, 0),
    };
    let end = bytes.len().saturating_sub(after.1);
    if let Some(names) = bytes.get_mut(data + after.0..end) {
        names.make_ascii_lowercase();
    }
}

/// The numbers of `one` that are not in `other`; both are sorted.
fn alone(one: &[u128], other: &[u128]) -> Vec<u128> {
    let mut rest = other.iter().peekable();
    let is_alone = |number: &&u128| {
        while rest.next_if(|other| other < number).is_some() {}
        rest.peek() != Some(number)
    };
    one.iter().filter(is_alone).copied().collect()
}
