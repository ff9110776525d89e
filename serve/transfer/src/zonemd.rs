//! Digests of whole zones: ZONEMD records with the scheme SIMPLE (RFC 8976).
//!
//! The digest covers all records in canonical form and order (RFC 4034 §6, RFC 6840 §5.1), glue and other
//! records below a delegation among them, but for the ZONEMD records of the apex and their signatures.
//!
//! A [`Zone`] holds some records otherwise than they were published. The digest of such a zone differs from
//! the publisher's, and [`Zonemd::Differs`] says so by `is_altered`:
//!
//! - All records of a set have one TTL, the smallest of those that were added; a TTL of more than 2³¹ − 1
//!   seconds is 0. Signatures keep their TTLs.
//! - Records below a DNAME, and signatures of records that the zone does not have, are left out.
//!
//! Records that were added twice count once, as the RFC wants it.

mod canonical;

use canonical::Canonical;
use hashlane_dns::wire::RecordType;
use hashlane_dns::zone::{Cause, Zone};
use sha2::{Digest as _, Sha384, Sha512};

/// The type of ZONEMD records.
pub const ZONEMD: RecordType = RecordType(63);

/// Number of the scheme SIMPLE.
const SIMPLE: u8 = 1;

/// Shortest digest in bytes of a record that is not malformed (RFC 8976 §2.2.4).
const SHORTEST: usize = 12;

/// A hash algorithm of ZONEMD records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// SHA-384: a digest of 48 bytes.
    Sha384,
    /// SHA-512: a digest of 64 bytes.
    Sha512,
}

impl Algorithm {
    /// Both, in the order of their numbers.
    pub const ALL: [Self; 2] = [Self::Sha384, Self::Sha512];

    /// The number in a record.
    pub const fn number(self) -> u8 {
        match self {
            Self::Sha384 => 1,
            Self::Sha512 => 2,
        }
    }
}

/// The outcome of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Zonemd {
    /// The apex has no ZONEMD record.
    Absent,
    /// A digest equals the zone's.
    Verified(Algorithm),
    /// No digest equals the zone's.
    Differs {
        /// The zone holds records otherwise than they were published: see the [module](self).
        is_altered: bool,
    },
    /// The records are of another version of the zone.
    Serial {
        /// Serial number in a ZONEMD record.
        theirs: u32,
    },
    /// Two records have the same scheme and algorithm, which none of them then verifies (RFC 8976 §4).
    Repeated,
    /// Each record has a scheme or an algorithm that is not known here, or is malformed.
    Unsupported,
}

/// The data of a ZONEMD record.
#[derive(Clone, Copy)]
struct Record<'z> {
    serial: u32,
    scheme: u8,
    algorithm: u8,
    digest: &'z [u8],
}

impl<'z> Record<'z> {
    fn parse(data: &'z [u8]) -> Option<Self> {
        let ([serial @ .., scheme, algorithm], digest) = data.split_first_chunk::<6>()?;
        let serial = u32::from_be_bytes(*serial.first_chunk()?);
        (digest.len() >= SHORTEST).then_some(Self { serial, scheme: *scheme, algorithm: *algorithm, digest })
    }

    /// The algorithm, if it and the scheme are known.
    fn known(&self) -> Option<Algorithm> {
        let known = Algorithm::ALL.into_iter().find(|known| known.number() == self.algorithm);
        known.filter(|_| self.scheme == SIMPLE)
    }
}

/// Verifies the digests in the ZONEMD records of the apex.
///
/// Takes time linear in the bytes of the zone beside the time of [`Zone::owners_in_order`], and 4 bytes of
/// memory for each owner.
pub fn verify(zone: &Zone) -> Zonemd {
    let Some(set) = zone.set(zone.apex(), ZONEMD) else { return Zonemd::Absent };
    let records: Vec<Record<'_>> = set.records().filter_map(|data| Record::parse(data.before)).collect();
    let (mut usable, mut worst) = (Vec::new(), Zonemd::Unsupported);
    for record in &records {
        let Some(algorithm) = record.known() else { continue };
        let same = records.iter().filter(|other| other.known() == Some(algorithm)).count();
        match record.serial == zone.serial() {
            _ if same > 1 => worst = Zonemd::Repeated,
            true => usable.push((algorithm, record.digest)),
            false if worst == Zonemd::Unsupported => worst = Zonemd::Serial { theirs: record.serial },
            false => {}
        }
    }
    if usable.is_empty() {
        return worst;
    }
    let digests = Digests::of(zone, |algorithm| usable.iter().any(|(wanted, _)| *wanted == algorithm));
    match usable.iter().find(|(algorithm, digest)| digests.get(*algorithm) == *digest) {
        Some((algorithm, _)) => Zonemd::Verified(*algorithm),
        None => Zonemd::Differs { is_altered: is_altered(zone) },
    }
}

/// The digest of a zone.
pub fn digest(zone: &Zone, algorithm: Algorithm) -> Vec<u8> {
    Digests::of(zone, |wanted| wanted == algorithm).get(algorithm).to_vec()
}

/// The data of a ZONEMD record for a zone, to be added to its apex.
pub fn record_data(zone: &Zone, algorithm: Algorithm) -> Vec<u8> {
    let mut data = zone.serial().to_be_bytes().to_vec();
    data.extend_from_slice(&[SIMPLE, algorithm.number()]);
    data.extend(digest(zone, algorithm));
    data
}

/// Returns true if records of the zone were published otherwise.
fn is_altered(zone: &Zone) -> bool {
    let causes = [Cause::TtlsDiffer, Cause::TtlTooLarge, Cause::BelowDname, Cause::NothingSigned];
    zone.warnings().list().iter().any(|warning| causes.contains(&warning.cause))
}

/// Digests of a zone; those that were not wanted are empty.
struct Digests {
    sha384: Vec<u8>,
    sha512: Vec<u8>,
}

impl Digests {
    fn of(zone: &Zone, wanted: impl Fn(Algorithm) -> bool) -> Self {
        let mut sha384 = wanted(Algorithm::Sha384).then(Sha384::new);
        let mut sha512 = wanted(Algorithm::Sha512).then(Sha512::new);
        let mut canonical = Canonical::default();
        for owner in zone.owners_in_order() {
            let bytes = canonical.owner(zone, owner);
            sha384.iter_mut().for_each(|hash| hash.update(bytes));
            sha512.iter_mut().for_each(|hash| hash.update(bytes));
        }
        let finish = |digest: Option<Vec<u8>>| digest.unwrap_or_default();
        Self {
            sha384: finish(sha384.map(|hash| hash.finalize().to_vec())),
            sha512: finish(sha512.map(|hash| hash.finalize().to_vec())),
        }
    }

    fn get(&self, algorithm: Algorithm) -> &[u8] {
        match algorithm {
            Algorithm::Sha384 => &self.sha384,
            Algorithm::Sha512 => &self.sha512,
        }
    }
}
