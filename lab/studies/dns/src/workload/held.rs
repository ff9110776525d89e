//! Messages of names that are drawn at random: no renderer was tuned on them.

use super::name;
use hashlane_dns::wire::{Class, Record, RecordType, Section};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::NameBuf;

/// Numbers out of a key.
struct Draw {
    key: Key,
    drawn: u64,
}

impl Draw {
    /// A number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        self.drawn += 1;
        let bytes = self.key.derive(b"dns-held", self.drawn).to_bytes();
        let number = bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        number as usize % limit.max(1)
    }

    /// A letter.
    fn letter(&mut self) -> char {
        char::from(b'a' + self.below(26) as u8)
    }

    /// A label of 3 to 11 letters.
    fn label(&mut self) -> String {
        (0..3 + self.below(9)).map(|_| self.letter()).collect()
    }

    /// Names of one label under `zone`, or of two under a top-level domain.
    fn parents(&mut self, count: usize, zone: Option<&str>) -> Vec<String> {
        let parent = |draw: &mut Self| match zone {
            Some(zone) => format!("{}.{zone}", draw.label()),
            None => format!("{}.{}.{}", draw.label(), draw.label(), draw.top()),
        };
        (0..count).map(|_| parent(self)).collect()
    }

    fn top(&mut self) -> &'static str {
        ["com", "net", "org"].get(self.below(3)).copied().unwrap_or("com")
    }
}

/// Records of `rtype` (A, NS or PTR) whose names are in turns, drawn at random, under one of `parents` names.
pub(super) fn records(rtype: RecordType, count: usize, parents: usize, key: &Key) -> Vec<Record> {
    let mut draw = Draw { key: *key, drawn: 0 };
    let zone = format!("{}.{}", draw.label(), draw.top());
    let within = draw.parents(parents, Some(&zone));
    let others = draw.parents(parents, None);
    let pick = |draw: &mut Draw, from: &[String]| from.get(draw.below(parents)).cloned().unwrap_or_default();
    let record = |number: usize| {
        let host = format!("{}{number}.{}", draw.label(), pick(&mut draw, &within));
        let address = (number as u32 + 0x0a00_0001).to_be_bytes().to_vec();
        let (owner, data) = match rtype {
            RecordType::NS => {
                let server = format!("ns{}.{}", draw.below(4), pick(&mut draw, &others));
                (host, name(&server).as_bytes().to_vec())
            }
            RecordType::PTR => {
                let owner = format!("{}.{}.0.192.in-addr.arpa", number % 256, number / 256);
                (owner, name(&host).as_bytes().to_vec())
            }
            _ => (host, address),
        };
        let (section, class) = (Section::Answer, Class::IN);
        Record { section, owner: name(&owner), rtype, class, ttl: 3600, data }
    };
    (0..count).map(record).collect()
}

/// 64 names of 127 one-letter labels, drawn at random.
pub(super) fn labels127(key: &Key) -> Vec<NameBuf> {
    let mut draw = Draw { key: *key, drawn: 0 };
    let mut long = || {
        let letters: Vec<String> = (0..127).map(|_| draw.letter().to_string()).collect();
        name(&letters.join("."))
    };
    (0..64).map(|_| long()).collect()
}
