//! The versions that are published, with the differences between them.

use crate::Dice;
use hashlane_dns::wire::RecordType;
use hashlane_dns::zone::{Builder, Zone};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{NameBuf, text};
use hashlane_transfer::delta::Delta;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) const KEY: Key = Key::VECTOR;

/// Seconds in the SOA record.
pub(crate) const REFRESH: u32 = 60;
const RETRY: u32 = 20;
const EXPIRE: u32 = 300;

/// Owners that a zone may have.
const HOSTS: usize = 100;

pub(crate) fn apex() -> NameBuf {
    text::parse(b"example").unwrap()
}

/// All versions, the oldest first.
pub(crate) struct Versions {
    hosts: BTreeMap<usize, u8>,
    pub(crate) zones: Vec<Arc<Zone>>,
    /// Each leads from the zone of the same place to the next.
    pub(crate) deltas: Vec<Arc<Delta>>,
}

impl Versions {
    pub(crate) fn new(dice: &mut Dice) -> Self {
        let hosts = (0..HOSTS / 2).map(|host| (host, 1)).collect();
        let mut versions = Self { hosts, zones: Vec::new(), deltas: Vec::new() };
        // Serial numbers go round in some seeds.
        let first = if dice.once_in(2) { u32::MAX - 20 } else { 1 };
        versions.zones.push(Arc::new(versions.zone(first)));
        versions
    }

    pub(crate) fn newest(&self) -> &Arc<Zone> {
        self.zones.last().unwrap()
    }

    /// True for a zone that is one of the versions, whole.
    pub(crate) fn has(&self, zone: &Zone) -> bool {
        let is = |known: &&Arc<Zone>| known.serial() == zone.serial();
        self.zones.iter().find(is).is_some_and(|known| known.fingerprint(&KEY) == zone.fingerprint(&KEY))
    }

    /// Changes some records, and raises the serial number.
    pub(crate) fn publish(&mut self, dice: &mut Dice) {
        for _ in 0..=dice.below(5) {
            let host = dice.below(HOSTS);
            if dice.once_in(3) {
                self.hosts.remove(&host);
            } else {
                self.hosts.insert(host, dice.below(200) as u8);
            }
        }
        let old = Arc::clone(self.newest());
        let new = Arc::new(self.zone(old.serial().wrapping_add(1)));
        self.deltas.push(Arc::new(Delta::between(&old, &new, &KEY).unwrap()));
        self.zones.push(new);
    }

    fn zone(&self, serial: u32) -> Zone {
        let apex = apex();
        let mut builder = Builder::new(apex.view(), &KEY);
        let numbers = [serial, REFRESH, RETRY, EXPIRE, 60].map(u32::to_be_bytes);
        let soa = [b"\x02ns\x07example\0", &b"\0"[..], numbers.as_flattened()].concat();
        builder.add(apex.view(), RecordType::SOA, 300, &soa).unwrap();
        builder.add(apex.view(), RecordType::NS, 300, b"\x02ns\x07example\0").unwrap();
        for (host, number) in &self.hosts {
            let owner = text::parse(format!("host{host}.example").as_bytes()).unwrap();
            let data = [&[100][..], &[*number; 100]].concat();
            builder.add(owner.view(), RecordType::TXT, 300, &data).unwrap();
        }
        builder.finish().unwrap()
    }
}
