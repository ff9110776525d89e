//! Generated zones: hosts and delegations below one apex, as text.

use hashlane_lab::scatter::Distinct;
use std::io::{self, Write};

/// Apex of all zones.
pub(crate) const APEX: &str = "bench.test";

/// Digits of a serial number, so that one can replace another in a file.
const SERIAL_DIGITS: usize = 10;

/// Hosters whose name servers most delegations share.
const HOSTERS: u64 = 1000;

/// Consonants and vowels of a syllable.
const SYLLABLES: ([u8; 20], [u8; 5]) = (*b"bcdfghjklmnpqrstvwxz", *b"aeiou");

/// The kinds of names in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Of four names one is a delegation, the others are hosts.
    Mixed,
    /// Delegations only.
    Delegations,
}

/// A zone of so many names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Zone {
    pub(crate) names: u32,
    pub(crate) shape: Shape,
}

impl Zone {
    /// `true` if a name is a delegation.
    pub(crate) fn is_delegation(self, number: u32) -> bool {
        self.shape == Shape::Delegations || number % 4 == 3
    }

    /// `true` if a host has an IPv6 address, too.
    pub(crate) fn has_ipv6(number: u32) -> bool {
        number.is_multiple_of(2)
    }

    /// Writes the zone file, and returns the number of its records.
    ///
    /// # Errors
    /// Errors of the writer.
    pub(crate) fn write(self, serial: u32, mut to: impl Write) -> io::Result<u64> {
        write!(to, "$ORIGIN {APEX}.\n$TTL 3600\n@\tIN\tSOA\tns1 hostmaster (\n\t{}\n", digits(serial))?;
        to.write_all(b"\t7200 900 1209600 300 )\n@\tIN\tNS\tns1\n@\tIN\tNS\tns2\n")?;
        to.write_all(b"ns1\tIN\tA\t192.0.2.1\nns2\tIN\tA\t192.0.2.2\n")?;
        let mut records = 5;
        let mut name = Vec::new();
        let mut line = Vec::new();
        for number in 0..self.names {
            name.clear();
            push_label(&mut name, number);
            line.clear();
            records += if self.is_delegation(number) {
                delegation(&mut line, &name, number)
            } else {
                host(&mut line, &name, number)
            }?;
            to.write_all(&line)?;
        }
        to.flush()?;
        Ok(records)
    }
}

/// A number that looks drawn at random, and belongs to another.
pub(crate) fn mix(number: u64) -> u64 {
    Distinct::new(number).draw()
}

/// A permutation of the numbers of 32 bits: odd multiplications and shifts, which can all be undone.
fn permute(number: u32) -> u32 {
    let mut x = number.wrapping_mul(0x9e37_79b1);
    x ^= x >> 15;
    x = x.wrapping_mul(0x85eb_ca6b);
    x ^ (x >> 13)
}

/// The lines of a host.
fn host(line: &mut Vec<u8>, name: &[u8], number: u32) -> io::Result<u64> {
    let [_, a, b, c, ..] = mix(number.into()).to_be_bytes();
    line.extend_from_slice(name);
    writeln!(line, "\tIN\tA\t10.{a}.{b}.{c}")?;
    if Zone::has_ipv6(number) {
        line.extend_from_slice(name);
        writeln!(line, "\tIN\tAAAA\t2001:db8:{a:x}::{b:x}{c:02x}")?;
        return Ok(2);
    }
    Ok(1)
}

/// The lines of a delegation: its own name servers with their addresses, or a hoster's.
fn delegation(line: &mut Vec<u8>, name: &[u8], number: u32) -> io::Result<u64> {
    let hash = mix(u64::from(number) << 32);
    let own = hash.is_multiple_of(4);
    for server in 1..=2 {
        line.extend_from_slice(name);
        if own {
            write!(line, "\tIN\tNS\tns{server}.")?;
            line.extend_from_slice(name);
            line.push(b'\n');
        } else {
            let hoster = (hash >> 8) % HOSTERS;
            writeln!(line, "\tIN\tNS\tns{server}.h{hoster}.hosting.example.")?;
        }
    }
    if !own {
        return Ok(2);
    }
    let [.., a, b, c] = hash.to_be_bytes();
    for server in 1..=2 {
        write!(line, "ns{server}.")?;
        line.extend_from_slice(name);
        writeln!(line, "\tIN\tA\t10.{a}.{b}.{c}")?;
    }
    Ok(4)
}

/// Adds the label of a name: five syllables, which no other name has, and up to five letters more.
pub(crate) fn push_label(to: &mut Vec<u8>, number: u32) {
    let (consonants, vowels) = SYLLABLES;
    let mut rest = permute(number) as usize;
    for _ in 0..5 {
        to.extend(consonants.get(rest % 20));
        to.extend(vowels.get(rest / 20 % 5));
        rest /= 100;
    }
    let hash = mix(number.into()) as usize;
    for at in 0..hash % 6 {
        to.extend(consonants.get((hash >> (8 + 4 * at)) % 20));
    }
}

/// Replaces the serial number of a zone file by another.
pub(crate) fn set_serial(text: &mut [u8], old: u32, new: u32) -> bool {
    let (old, new) = (digits(old), digits(new));
    let head = text.len().min(256);
    let Some(head) = text.get_mut(..head) else { return false };
    let Some(at) = head.windows(SERIAL_DIGITS).position(|window| window == old.as_bytes()) else {
        return false;
    };
    head.iter_mut().skip(at).zip(new.bytes()).for_each(|(digit, new)| *digit = new);
    true
}

/// A serial number with leading zeros.
fn digits(serial: u32) -> String {
    format!("{serial:0SERIAL_DIGITS$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::base::iana::Rtype;
    use domain::zonefile::inplace::{Entry, Zonefile};
    use std::collections::{BTreeMap, HashSet};

    fn text(zone: Zone) -> (Vec<u8>, u64) {
        let mut text = Vec::new();
        let records = zone.write(7, &mut text).unwrap();
        (text, records)
    }

    /// Number of records by type, as the parser of another project reads them.
    fn read(text: &[u8]) -> BTreeMap<String, u64> {
        let mut reader = Zonefile::load(&mut &text[..]).unwrap();
        let mut types = BTreeMap::new();
        while let Some(entry) = reader.next_entry().unwrap() {
            if let Entry::Record(record) = entry {
                *types.entry(record.rtype().to_string()).or_default() += 1;
            }
        }
        types
    }

    #[test]
    fn a_zone_has_the_records_that_it_states() {
        for shape in [Shape::Mixed, Shape::Delegations] {
            let (text, records) = text(Zone { names: 2_000, shape });
            let types = read(&text);
            assert_eq!(types.values().sum::<u64>(), records, "{shape:?}");
            assert_eq!(types[&Rtype::SOA.to_string()], 1);
            assert_eq!(types.contains_key("AAAA"), shape == Shape::Mixed);
        }
        assert_eq!(text(Zone { names: 0, shape: Shape::Mixed }).1, 5);
    }

    #[test]
    fn sizes_are_those_of_the_issue() {
        let count = |names, shape| Zone { names, shape }.write(1, io::sink()).unwrap();
        let mixed = count(crate::workloads::MIDDLE.names, Shape::Mixed);
        assert!((164_000..166_000).contains(&mixed), "{mixed}");
        for zone in [crate::workloads::MILLION, crate::workloads::MIXED] {
            let million = count(zone.names, zone.shape);
            assert!((995_000..1_005_000).contains(&million), "{million}");
        }
    }

    #[test]
    fn names_differ_and_have_no_hyphen() {
        let labels: HashSet<Vec<u8>> = (0..100_000)
            .map(|number| {
                let mut label = Vec::new();
                push_label(&mut label, number);
                assert!((10..=15).contains(&label.len()) && label.iter().all(u8::is_ascii_lowercase));
                label
            })
            .collect();
        assert_eq!(labels.len(), 100_000);
    }

    #[test]
    fn a_serial_number_is_replaced_in_place() {
        let (mut text, _) = text(Zone { names: 10, shape: Shape::Mixed });
        let length = text.len();
        assert!(set_serial(&mut text, 7, 4_000_000_000));
        assert!(!set_serial(&mut text, 7, 8));
        assert_eq!(text.len(), length);
        assert!(String::from_utf8(text).unwrap().contains("\t4000000000\n"));
    }
}
