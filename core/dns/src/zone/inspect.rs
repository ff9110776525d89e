//! Faults with which a zone can be served, but which its clients notice.

use super::error::{Cause, Warnings};
use super::flags::Flags;
use super::names::NameId;
use super::sets::{Record, Set};
use super::{Zone, nsec3};
use crate::MAX_MESSAGE_LEN;
use crate::query::Hash;
use crate::slices::Parts as _;
use crate::wire::{HEADER_LEN, RecordType};
use alloc::vec::Vec;
use hashlane_hash::scheme::{BytesHash as _, Key, Scheme as _};
use hashlane_hash::siphash::SipHash24;
use hashlane_name::dns::Name;

/// Offset of the priority, weight and port before the host of an SRV record.
const SRV_HOST: usize = 6;

/// Bytes of a record in a message at least, without its data: a pointer, type, class, TTL and length.
const RECORD: usize = 12;

/// Bytes of a name in a message at least: a pointer, or the root with a label.
const NAME: usize = 2;

/// Tests if the records of a set are too large for a message, however well their names are compressed.
fn is_too_large(set: &Set<'_>) -> bool {
    let len = |record: Record<'_>| {
        let names = record.names.iter().flatten().count() * NAME;
        RECORD + record.before.len() + names + record.after.len()
    };
    HEADER_LEN + set.records().map(len).sum::<usize>() > MAX_MESSAGE_LEN
}

/// The host that a record names.
enum Host {
    /// In another zone, below another delegation, or without a name server's duties here.
    Elsewhere,
    /// An alias.
    Alias,
    /// No address.
    Missing,
    /// An address.
    Present,
}

impl Zone {
    /// Warnings from building the zone, and warnings of faults that need the whole zone or the time to be
    /// seen: signatures that are expired or not yet valid, sets without signatures in a signed zone, gaps in
    /// the NSEC or NSEC3 chain, name servers of the zone without addresses, hosts that are aliases, sets that
    /// fit into no message.
    ///
    /// `now` is the time in seconds since 1970, modulo 2³² (RFC 4034 §3.1.5). `hash` has the key of the
    /// builder. Takes time linear in the number of records. That each name has an NSEC3 record is not
    /// examined.
    pub fn inspect(&self, now: u32, hash: &mut Hash) -> Warnings {
        let mut warnings = self.warnings.clone();
        let is_signed = self.set(self.apex, RecordType::DNSKEY).is_some();
        let has_nsec = !self.nsec.is_empty() && !self.nsec3.is_active();
        if is_signed && !has_nsec && self.set(self.apex, RecordType::NSEC3PARAM).is_none() {
            warnings.add(|| self.apex_name, RecordType::NSEC, Cause::NoNsec);
        }
        for id in self.names.ids() {
            let flags = self.names.flags(id);
            if flags.has(Flags::BELOW) || self.names.sets(id).is_none() {
                continue;
            }
            let mut lacks_nsec = is_signed && has_nsec && flags.has(Flags::EXISTS);
            for set in self.sets(id) {
                let mut warn = |cause| warnings.add(|| self.name(id), set.rtype, cause);
                lacks_nsec &= set.rtype != RecordType::NSEC;
                if set.is_signed() {
                    set.signatures().filter_map(|(_, data)| of_date(data, now)).for_each(&mut warn);
                } else if is_signed && self.needs_signature(id, set.rtype) {
                    warn(Cause::NotSigned);
                }
                if is_too_large(&set) {
                    warn(Cause::SetTooLarge);
                }
                self.inspect_hosts(id, &set, hash, &mut warnings);
            }
            if lacks_nsec {
                warnings.add(|| self.name(id), RecordType::NSEC, Cause::NoNsec);
            }
        }
        if has_nsec {
            self.inspect_nsec(&mut warnings);
        }
        self.inspect_nsec3(&mut warnings);
        warnings
    }

    /// Returns true if a set has signatures in a signed zone: at a delegation, DS and NSEC alone (RFC 4035
    /// §2.2).
    fn needs_signature(&self, owner: NameId, rtype: RecordType) -> bool {
        !self.is_cut(owner) || matches!(rtype, RecordType::DS | RecordType::NSEC | RecordType::NSEC3)
    }

    /// Adds warnings of the hosts that a set names.
    fn inspect_hosts(&self, owner: NameId, set: &Set<'_>, hash: &mut Hash, warnings: &mut Warnings) {
        if !matches!(set.rtype, RecordType::NS | RecordType::MX | RecordType::SRV) {
            return;
        }
        for record in set.records() {
            match self.host(owner, set.rtype, &record, hash) {
                Host::Alias => warnings.add(|| self.name(owner), set.rtype, Cause::HostIsAlias),
                Host::Missing if set.rtype == RecordType::NS => {
                    debug_assert!(record.names[0].is_some(), "an NS record has a name");
                    let server = record.names[0].unwrap_or(NameId::ROOT);
                    warnings.add(|| self.name(server), RecordType::A, Cause::NoAddress);
                }
                _ => {}
            }
        }
    }

    fn host(&self, owner: NameId, rtype: RecordType, record: &Record<'_>, hash: &mut Hash) -> Host {
        let id = match rtype {
            RecordType::SRV => {
                let host = record.before.get(SRV_HOST..).map(Name::parse_first);
                host.and_then(Result::ok).and_then(|host| self.find(host, hash))
            }
            _ => record.names[0],
        };
        let Some((id, located)) = id.and_then(|id| Some((id, self.locate_id(id)?))) else {
            return Host::Elsewhere;
        };
        let source = match (located.cut, located.dname) {
            // The zone below gives its addresses; only its own delegation needs them here.
            (Some(cut), _) if cut != owner => return Host::Elsewhere,
            (Some(_), _) => Some(id),
            (None, Some(_)) => return Host::Alias,
            (None, None) if located.below == 0 => Some(id),
            (None, None) => self.wildcard(located.node),
        };
        let has = |rtype| source.is_some_and(|source| self.set(source, rtype).is_some());
        if has(RecordType::A) || has(RecordType::AAAA) {
            Host::Present
        } else if has(RecordType::CNAME) {
            Host::Alias
        } else {
            Host::Missing
        }
    }

    /// Adds a warning for each NSEC record whose next name is not the next owner, the apex after the last.
    fn inspect_nsec(&self, warnings: &mut Warnings) {
        let next = self.nsec.iter().skip(1).chain(self.nsec.first());
        for (owner, next) in self.nsec.iter().zip(next) {
            let set = self.set(*owner, RecordType::NSEC);
            let named = set.and_then(|set| Name::parse_first(set.records().next()?.before).ok());
            let matches = |name: Name<'_>| self.names.matches(*next, name.labels(), usize::MAX, NameId::ROOT);
            if !named.is_some_and(matches) {
                warnings.add(|| self.name(*owner), RecordType::NSEC, Cause::NsecGap);
            }
        }
    }

    /// Adds a warning for each NSEC3 record whose next hash differs from the next owner's.
    fn inspect_nsec3(&self, warnings: &mut Warnings) {
        for owner in nsec3::gaps(self) {
            warnings.add(|| self.name(owner), RecordType::NSEC3, Cause::NsecGap);
        }
    }

    /// A sum of hashes of all records under `key`, which does not depend on their order: zones with the same
    /// content have the same. Takes time linear in the number of records.
    pub fn fingerprint(&self, key: &Key) -> u64 {
        let (hash, mut bytes, mut sum) = (SipHash24::new(key), Vec::new(), 0_u64);
        let push = |bytes: &mut Vec<u8>, id| {
            let from = bytes.len();
            bytes.extend_from_slice(self.name(id).as_bytes());
            // The bytes of length are no letters.
            bytes.part_mut(from..).make_ascii_lowercase();
        };
        for id in self.owners() {
            bytes.clear();
            push(&mut bytes, id);
            let owner = bytes.len();
            for (rtype, ttl, Record { before, names, after }) in self.records_of(id) {
                bytes.truncate(owner);
                bytes.extend_from_slice(&rtype.0.to_be_bytes());
                bytes.extend_from_slice(&ttl.to_be_bytes());
                bytes.extend_from_slice(before);
                names.into_iter().flatten().for_each(|id| push(&mut bytes, id));
                bytes.extend_from_slice(after);
                sum = sum.wrapping_add(hash.hash(&bytes));
            }
        }
        sum
    }
}

/// The fault of the dates of a signature, compared as serial numbers (RFC 4034 §3.1.5).
fn of_date(signature: &[u8], now: u32) -> Option<Cause> {
    let time = |at: usize| Some(u32::from_be_bytes(*signature.get(at..)?.first_chunk()?));
    let (expiration, inception) = (time(8)?, time(12)?);
    if is_before(expiration, now) {
        Some(Cause::SignatureExpired)
    } else if is_before(now, inception) {
        Some(Cause::SignatureNotYetValid)
    } else {
        None
    }
}

/// Returns true if a serial number is before another (RFC 1982 §3.2). Neither is if they differ by 2³¹.
pub fn is_before(serial: u32, other: u32) -> bool {
    (1..1 << 31).contains(&other.wrapping_sub(serial))
}
