//! Identities of records.

use crate::records::{Record, Records, of_zone};
use hashlane_dns::wire::{Rdata, RecordType};
use hashlane_dns::zone::Zone;
use hashlane_hash::scheme::{BytesHash as _, Key, Scheme as _};
use hashlane_hash::siphash::SipHash24;

/// The part of the TTL in a record's identity.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ttl {
    Counts,
    Free,
}

/// 128 bits for a record, equal for equal records.
pub(super) struct Identity {
    hashes: [SipHash24; 2],
    ttl: Ttl,
    bytes: Vec<u8>,
}

impl Identity {
    pub(super) fn new(key: &Key, ttl: Ttl) -> Self {
        let first = SipHash24::new(key);
        let word = |text: &[u8]| first.hash(text).to_le_bytes();
        let halves = [word(b"first"), word(b"second")];
        let mut other = [0; 16];
        other.copy_from_slice(halves.as_flattened());
        let second = SipHash24::new(&Key::new(other));
        Self { hashes: [first, second], ttl, bytes: Vec::new() }
    }

    pub(super) fn of(&mut self, record: &Record<'_>) -> u128 {
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

    pub(super) fn all(&mut self, zone: &Zone) -> Vec<u128> {
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
    pub(super) fn collect(&mut self, zone: &Zone, wanted: &[u128]) -> Records {
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
