//! Differences of zones: what a zone has lost and gained from one serial number to the next (RFC 1995 §4).

mod advance;
mod changes;
mod condense;
mod identity;

use crate::records::{Records, of_zone};
use crate::soa::Soa;
use changes::{Change, Changes};
use hashlane_dns::wire::RecordType;
use hashlane_dns::zone::{Builder, Zone, ZoneError};
use hashlane_hash::scheme::Key;
use identity::{Identity, Ttl};

pub use advance::Advanced;

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
        build(zone, deltas, (&changes, &mut identity), key)
    }
}

/// Builds a zone of the records of another one and the changes that differences make.
fn build(
    zone: &Zone,
    deltas: &[Delta],
    (changes, identity): (&Changes, &mut Identity),
    key: &Key,
) -> Result<Zone, ApplyError> {
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

/// The numbers of `one` that are not in `other`; both are sorted.
fn alone(one: &[u128], other: &[u128]) -> Vec<u128> {
    let mut rest = other.iter().peekable();
    let is_alone = |number: &&u128| {
        while rest.next_if(|other| other < number).is_some() {}
        rest.peek() != Some(number)
    };
    one.iter().filter(is_alone).copied().collect()
}
