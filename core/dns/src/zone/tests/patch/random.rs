//! Random records of zones, signed and not.

use super::super::nsec3::encode;
use super::super::{Hash, KEY, builder, name, rrsig, soa, wire};
use crate::wire::RecordType;
use crate::zone::{Builder, NameId, Zone, ZoneError};
use hashlane_name::dns::{Name, NameBuf};
use std::vec::Vec;

pub(super) const APEX: &str = "zone.example";

/// Parameters of the chain: SHA-1, no flags, one iteration, a salt of two bytes.
const PARAM: [u8; 7] = [1, 0, 0, 1, 2, 0xaa, 0xbb];

/// A record with whole names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owned {
    pub(super) owner: NameBuf,
    pub(super) rtype: RecordType,
    pub(super) ttl: u32,
    pub(super) data: Vec<u8>,
}

/// Random numbers: SplitMix64.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % bound as u64) as usize
    }

    pub(super) fn one_in(&mut self, number: usize) -> bool {
        self.below(number) == 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signing {
    None,
    Nsec,
    Nsec3,
}

/// The kind of a zone's records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) signing: Signing,
    /// Labels in large letters, too.
    pub(super) mixed_case: bool,
    /// DNAMEs, records with other TTLs, and signatures of nothing.
    pub(super) odd: bool,
}

pub(super) fn below_apex(labels: &[&[u8]]) -> NameBuf {
    let mut name_ = NameBuf::ROOT;
    labels.iter().for_each(|label| name_.push(label).unwrap());
    name(APEX).view().labels().for_each(|label| name_.push(label).unwrap());
    name_
}

impl Kind {
    /// Up to three labels of few letters below the apex; rarely a name elsewhere.
    pub(super) fn name(self, random: &mut Random, elsewhere: bool) -> NameBuf {
        const LABELS: [&[u8]; 8] = [b"a", b"b", b"*", b"ab", b"c", b"A", b"B", b"aB"];
        let mut labels: Vec<&[u8]> = Vec::new();
        for _ in 0..random.below(4) {
            labels.push(LABELS[random.below(if self.mixed_case { 8 } else { 5 })]);
        }
        if elsewhere && random.one_in(3) {
            return name(
                ["ns.host.net", "a.host.net", "b.other.net", "example", "x.example"][random.below(5)],
            );
        }
        below_apex(&labels)
    }

    /// A record, which a zone of the records `all` has, or may have.
    pub(super) fn record(self, random: &mut Random, all: &[Owned]) -> Owned {
        let owner = self.name(random, false);
        let ttl = if self.odd && random.one_in(10) { 600 } else { 3600 };
        let of = |rtype, data| Owned { owner, rtype, ttl, data };
        let number = random.below(5) as u8;
        match random.below(16) {
            0 | 1 => of(RecordType::NS, self.name(random, true).as_bytes().to_vec()),
            2 => of(RecordType::CNAME, self.name(random, true).as_bytes().to_vec()),
            3 if self.odd && random.one_in(4) => {
                of(RecordType::DNAME, self.name(random, true).as_bytes().to_vec())
            }
            4 => of(RecordType::MX, [&[0, number], self.name(random, true).as_bytes()].concat()),
            5 => of(RecordType::SRV, [&[0, 1, 0, 2, 0, 53], self.name(random, true).as_bytes()].concat()),
            6 => of(RecordType::TXT, [1, number].to_vec()),
            7 => of(RecordType(65_280), [number; 200][..usize::from(number) * 40].to_vec()),
            8 => of(RecordType::AAAA, [number; 16].to_vec()),
            9 | 10 if self.signing != Signing::None => self.signature(random, all),
            11 | 12 if self.signing == Signing::Nsec => {
                of(RecordType::NSEC, [self.name(random, false).as_bytes(), b"\0\x01\x40"].concat())
            }
            11..=13 if self.signing == Signing::Nsec3 => {
                let hashed = self.name(random, false);
                nsec3(random, hashed.view())
            }
            14 => of(RecordType::DS, [0, 1, 8, 2, number, 2, 3, 4].to_vec()),
            _ => of(RecordType::A, [192, 0, 2, number].to_vec()),
        }
    }

    /// A signature of a set, or of nothing.
    fn signature(self, random: &mut Random, all: &[Owned]) -> Owned {
        let mut signed = &all[random.below(all.len())];
        if signed.rtype == RecordType::RRSIG {
            signed = all.iter().find(|record| record.rtype == RecordType::SOA).unwrap();
        }
        let covered = if self.odd && random.one_in(6) { RecordType(99) } else { signed.rtype };
        let data = [rrsig(covered), [random.below(3) as u8].to_vec()].concat();
        Owned { owner: signed.owner, rtype: RecordType::RRSIG, ttl: 3600, data }
    }

    /// A zone with few records or many.
    pub(super) fn zone(self, random: &mut Random) -> Zone {
        loop {
            let mut builder = builder(APEX);
            let mut all =
                [Owned { owner: name(APEX), rtype: RecordType::SOA, ttl: 3600, data: soa() }].to_vec();
            match self.signing {
                Signing::None => {}
                Signing::Nsec => {
                    let data = wire(APEX, b"\0\x01\x40");
                    all.push(Owned { owner: name(APEX), rtype: RecordType::NSEC, ttl: 3600, data });
                }
                Signing::Nsec3 => {
                    let param = PARAM.to_vec();
                    all.push(Owned { owner: name(APEX), rtype: RecordType(51), ttl: 3600, data: param });
                    all.push(nsec3(random, name(APEX).view()));
                }
            }
            for _ in 0..random.below(60) {
                let record = self.record(random, &all);
                all.push(record);
            }
            let add =
                |record: &Owned| builder.add(record.owner.view(), record.rtype, record.ttl, &record.data);
            all.iter().try_for_each(add).unwrap();
            if let Ok(zone) = builder.finish() {
                return zone;
            }
        }
    }
}

/// The owner of the NSEC3 record of a name.
pub(super) fn nsec3_owner(hashed: Name<'_>) -> NameBuf {
    let label = encode(&crate::zone::nsec3::hash(hashed, 1, &PARAM[5..]));
    below_apex(&[label.as_bytes()])
}

/// The NSEC3 record of a name, with opt-out or not.
fn nsec3(random: &mut Random, hashed: Name<'_>) -> Owned {
    let mut data = [&PARAM[..], &[20], &[random.below(3) as u8; 20], &[0, 1, 0x40]].concat();
    data[1] = u8::from(random.one_in(3));
    Owned { owner: nsec3_owner(hashed), rtype: RecordType::NSEC3, ttl: 3600, data }
}

/// All records of a zone, in the order of owners.
pub(super) fn records(zone: &Zone) -> Vec<Owned> {
    let whole = |id: NameId| zone.name(id);
    let of_owner = |id: NameId| {
        zone.records_of(id).map(move |(rtype, ttl, record)| {
            let mut data = record.before.to_vec();
            record.names.iter().flatten().for_each(|id| data.extend_from_slice(whole(*id).as_bytes()));
            data.extend_from_slice(record.after);
            Owned { owner: whole(id), rtype, ttl, data }
        })
    };
    zone.owners().flat_map(of_owner).collect()
}

/// The zone that a builder makes of records.
pub(super) fn built(records: impl IntoIterator<Item = Owned>) -> Result<Zone, ZoneError> {
    let mut builder = Builder::new(name(APEX).view(), &KEY);
    for Owned { owner, rtype, ttl, data } in records {
        builder.add(owner.view(), rtype, ttl, &data)?;
    }
    builder.finish()
}

/// The hash of names under the key of all zones.
pub(super) fn hash() -> Hash {
    Hash::new(&KEY)
}
