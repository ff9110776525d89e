//! Hashed denial of existence (RFC 5155).

use super::Zone;
use super::error::{Cause, Warnings};
use super::names::NameId;
use super::splice::spliced;
use crate::slices::Parts as _;
use crate::wire::RecordType;
use alloc::boxed::Box;
use alloc::vec::Vec;
use hashlane_name::dns::Name;
use sha1::{Digest, Sha1};

/// The parameters of an NSEC3 chain (RFC 5155 §4).
pub(super) const NSEC3PARAM: RecordType = RecordType::NSEC3PARAM;

/// The hash algorithm SHA-1, the only one.
const SHA_1: u8 = 1;

/// NSEC3PARAM records that are tried, as each costs hashes.
const TRIED: usize = 16;

/// Denial of existence of names and types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial<'z> {
    /// The zone is not signed.
    None,
    /// By NSEC records (RFC 4034 §4).
    Nsec,
    /// By NSEC3 records.
    Nsec3(Nsec3Params<'z>),
}

/// The parameters of the NSEC3 chain of a zone (RFC 5155 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nsec3Params<'z> {
    /// Additional iterations of the hash: 0 to 150.
    pub iterations: u16,
    /// The salt, at most 255 bytes.
    pub salt: &'z [u8],
    /// Some of the NSEC3 records may cover delegations that are not signed.
    pub opt_out: bool,
}

/// Fields at the start of the data of NSEC3 and NSEC3PARAM records.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Params<'a> {
    algorithm: u8,
    flags: u8,
    iterations: u16,
    salt: &'a [u8],
}

impl<'a> Params<'a> {
    /// The fields, and the data after them.
    fn parse(data: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let ([algorithm, flags, i0, i1, salt], rest) = data.split_first_chunk()?;
        let (salt, rest) = rest.split_at_checked((*salt).into())?;
        let iterations = u16::from_be_bytes([*i0, *i1]);
        Some((Self { algorithm: *algorithm, flags: *flags, iterations, salt }, rest))
    }

    pub(super) fn from_param(data: &'a [u8]) -> Option<Self> {
        Self::parse(data).filter(|(_, rest)| rest.is_empty()).map(|(params, _)| params)
    }

    pub(super) fn from_nsec3(data: &'a [u8]) -> Option<Self> {
        let (params, rest) = Self::parse(data)?;
        let (len, rest) = rest.split_first()?;
        (*len > 0 && rest.len() >= usize::from(*len)).then_some(params)
    }

    /// The next hash of the data of an NSEC3 record.
    fn next_of_nsec3(data: &'a [u8]) -> Option<&'a [u8]> {
        let (len, rest) = Self::parse(data)?.1.split_first()?;
        rest.get(..usize::from(*len))
    }

    fn same_chain(&self, other: &Self) -> bool {
        (self.algorithm, self.iterations, self.salt) == (other.algorithm, other.iterations, other.salt)
    }
}

/// The hash of a name (RFC 5155 §5).
pub(super) fn hash(name: Name<'_>, iterations: u16, salt: &[u8]) -> [u8; 20] {
    let mut lower = [0; hashlane_name::dns::MAX_NAME_LEN];
    let lower = lower.part_mut(..name.len());
    lower.copy_from_slice(name.as_bytes());
    // The bytes of length are no letters.
    lower.make_ascii_lowercase();
    let once =
        |bytes: &[u8]| -> [u8; 20] { Sha1::new().chain_update(bytes).chain_update(salt).finalize().into() };
    (0..iterations).fold(once(lower), |digest, _| once(&digest))
}

/// The hash in a label of 32 characters in base32 with the extended hex alphabet (RFC 4648 §7).
fn decode(label: &[u8]) -> Option<[u8; 20]> {
    let label: &[u8; 32] = label.try_into().ok()?;
    let mut hash = [0; 20];
    for (group, bytes) in label.chunks(8).zip(hash.chunks_mut(5)) {
        let mut bits = 0_u64;
        for character in group {
            let digit = match character {
                b'0'..=b'9' => character - b'0',
                b'a'..=b'v' => character - b'a' + 10,
                b'A'..=b'V' => character - b'A' + 10,
                _ => return None,
            };
            bits = bits << 5 | u64::from(digit);
        }
        bytes.copy_from_slice(bits.to_be_bytes().get(3..)?);
    }
    Some(hash)
}

/// The NSEC3 records of a zone.
#[derive(Default)]
pub(super) struct Chain {
    /// In use, as there is an NSEC3PARAM record.
    active: bool,
    iterations: u16,
    salt: Box<[u8]>,
    opt_out: bool,
    /// Records with the flag of opt-out.
    opted_out: usize,
    /// In ascending order, with the owner of each at the same position of `owners`.
    hashes: Vec<[u8; 20]>,
    owners: Vec<NameId>,
}

impl Chain {
    /// The chain in use of a zone with `owners` of NSEC3 records. An error is a number of iterations that is
    /// too large.
    pub(super) fn of(zone: &Zone, owners: Vec<NameId>, warnings: &mut Warnings) -> Result<Self, u16> {
        let mut chain = Self::default();
        let mut hashed: Vec<([u8; 20], NameId)> = Vec::with_capacity(owners.len());
        let ignored = |warnings: &mut Warnings, owner| {
            warnings.add(|| zone.name(owner), RecordType::NSEC3, Cause::Nsec3Ignored);
        };
        for owner in owners {
            let label = zone.label(owner).part(1..);
            match decode(label).filter(|_| zone.parent(owner) == zone.apex) {
                Some(hash) => hashed.push((hash, owner)),
                None => ignored(warnings, owner),
            }
        }
        hashed.sort_unstable();
        for (number, param) in data(zone, zone.apex, NSEC3PARAM).enumerate() {
            let Some(param) = Params::from_param(param).filter(|_| !chain.active) else { continue };
            let known = param.algorithm == SHA_1 && param.flags == 0 && number < TRIED;
            if known && param.iterations > super::MAX_ITERATIONS {
                return Err(param.iterations);
            }
            let apex = known.then(|| hash(zone.apex_name(), param.iterations, param.salt));
            let apex = apex.and_then(|apex| hashed.binary_search_by_key(&apex, |(hash, _)| *hash).ok());
            if apex
                .and_then(|at| hashed.get(at))
                .is_none_or(|(_, owner)| of_chain(zone, *owner, &param).is_none())
            {
                warnings.add(|| zone.apex_name, NSEC3PARAM, Cause::Nsec3ParamIgnored);
                continue;
            }
            chain.active = true;
            (chain.iterations, chain.salt) = (param.iterations, param.salt.into());
            chain.hashes.reserve_exact(hashed.len());
            chain.owners.reserve_exact(hashed.len());
            for (hash, owner) in &hashed {
                match of_chain(zone, *owner, &param) {
                    Some(flags) => {
                        chain.hashes.push(*hash);
                        chain.owners.push(*owner);
                        chain.opted_out += usize::from(flags & 1);
                    }
                    None => ignored(warnings, *owner),
                }
            }
        }
        chain.opt_out = chain.opted_out > 0;
        if !chain.active && !hashed.is_empty() && zone.set(zone.apex, NSEC3PARAM).is_none() {
            warnings.add(|| zone.apex_name, RecordType::NSEC3, Cause::NoNsec3Param);
        }
        Ok(chain)
    }

    /// The chain after a patch of the zone that may have changed the NSEC3 records of `owners`. `None` if the
    /// chain is not in use, if a record is not part of it, or if the apex's record has gone.
    pub(super) fn patched(
        &self,
        (old, new): (&Zone, &Zone),
        owners: impl Iterator<Item = NameId>,
    ) -> Option<Self> {
        let Self { active, iterations, ref salt, mut opted_out, .. } = *self;
        let param = Params { algorithm: SHA_1, flags: 0, iterations, salt };
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for owner in owners {
            let digest =
                decode(new.label(owner).part(1..)).filter(|_| active && new.parent(owner) == new.apex)?;
            let (before, after) = (of_chain(old, owner, &param), of_chain(new, owner, &param));
            match (self.hashes.binary_search(&digest), after) {
                (Ok(at), None) => removed.push(at),
                (Err(at), Some(_)) => added.push((digest, at, owner)),
                _ => {}
            }
            if after.is_none() && new.set(owner, RecordType::NSEC3).is_some() {
                return None;
            }
            let opt_out = |flags: Option<u8>| usize::from(flags.unwrap_or_default() & 1);
            opted_out = (opted_out + opt_out(after)).checked_sub(opt_out(before))?;
        }
        removed.sort_unstable();
        added.sort_unstable();
        let hashes: Vec<_> = added.iter().map(|(digest, at, _)| (*at, *digest)).collect();
        let owners: Vec<_> = added.iter().map(|(_, at, owner)| (*at, *owner)).collect();
        let hashes = spliced(&self.hashes, &removed, &hashes);
        let owners = spliced(&self.owners, &removed, &owners);
        if !removed.is_empty() {
            hashes.binary_search(&hash(new.apex_name(), iterations, salt)).ok()?;
        }
        Some(Self {
            active,
            iterations,
            salt: salt.clone(),
            opt_out: opted_out > 0,
            opted_out,
            hashes,
            owners,
        })
    }

    /// Returns true if the zone denies existence by NSEC3.
    pub(super) fn is_active(&self) -> bool {
        self.active
    }

    pub(super) fn memory(&self) -> usize {
        self.salt.len()
            + self.hashes.capacity() * size_of::<[u8; 20]>()
            + self.owners.capacity() * size_of::<NameId>()
    }
}

/// The data of the records of a type without names that are ids.
fn data(zone: &Zone, id: NameId, rtype: RecordType) -> impl Iterator<Item = &[u8]> {
    zone.set(id, rtype).into_iter().flat_map(|set| set.records()).map(|record| record.before)
}

/// The flags of the NSEC3 record of a chain at an owner, if it has one.
fn of_chain(zone: &Zone, owner: NameId, param: &Params<'_>) -> Option<u8> {
    let mut all = data(zone, owner, RecordType::NSEC3).filter_map(Params::from_nsec3);
    all.find(|params| params.same_chain(param)).map(|params| params.flags)
}

/// Owners of NSEC3 records of the chain in use whose next hash differs from the next owner's; the first owner
/// follows the last.
pub(super) fn gaps(zone: &Zone) -> impl Iterator<Item = NameId> {
    let Chain { iterations, salt, hashes, owners, .. } = &zone.nsec3;
    let param = Params { algorithm: SHA_1, flags: 0, iterations: *iterations, salt };
    let next = hashes.iter().skip(1).chain(hashes.first());
    owners.iter().zip(next).filter_map(move |(owner, next)| {
        let mut all = data(zone, *owner, RecordType::NSEC3);
        let record = all.find(|data| Params::from_nsec3(data).is_some_and(|own| own.same_chain(&param)))?;
        (Params::next_of_nsec3(record) != Some(&next[..])).then_some(*owner)
    })
}

impl Zone {
    /// Denial of existence of the zone: by NSEC3 if an NSEC3PARAM record at the apex names a chain that has a
    /// record for the apex; else by NSEC if the apex has an NSEC record.
    pub fn denial(&self) -> Denial<'_> {
        let Chain { active, iterations, salt, opt_out, .. } = &self.nsec3;
        if *active {
            return Denial::Nsec3(Nsec3Params { iterations: *iterations, salt, opt_out: *opt_out });
        }
        match self.nsec.first() {
            Some(first) if *first == self.apex => Denial::Nsec,
            _ => Denial::None,
        }
    }

    /// The NSEC3 hash of a name under the parameters of the chain (RFC 5155 §5): 1 to 151 times SHA-1.
    pub fn nsec3_hash(&self, name: Name<'_>) -> [u8; 20] {
        hash(name, self.nsec3.iterations, &self.nsec3.salt)
    }

    /// The owner of the NSEC3 record that matches a hash (`true`) or covers it (`false`). `None` if the zone
    /// has no NSEC3 chain.
    pub fn nsec3_find(&self, hash: &[u8; 20]) -> Option<(NameId, bool)> {
        let Chain { hashes, owners, .. } = &self.nsec3;
        let (at, matches) = match hashes.binary_search(hash) {
            Ok(at) => (Some(at), true),
            Err(at) => (at.checked_sub(1), false),
        };
        // The chain is a circle: before its first hash comes the last.
        let owner = at.and_then(|at| owners.get(at)).or(owners.last())?;
        Some((*owner, matches))
    }
}
