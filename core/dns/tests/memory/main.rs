//! Peak memory of builders, counted by the allocator.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod counting;

use counting::peak_of;
use hashlane_dns::wire::RecordType;
use hashlane_dns::zone::{Builder, Zone};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::NameBuf;

/// The criterion: most memory while a zone is built, over the memory of the finished zone.
const CRITERION: f64 = 1.2;

/// A name of labels.
fn name(labels: &[&str]) -> NameBuf {
    let mut name = NameBuf::ROOT;
    labels.iter().for_each(|label| name.push(label.as_bytes()).unwrap());
    name
}

/// A zone that grows.
struct Growing(Builder);

impl Growing {
    fn new() -> Self {
        let apex = name(&["example"]);
        let mut zone = Self(Builder::new(apex.view(), &Key::VECTOR));
        let host = name(&["ns", "example"]);
        let soa = [host.as_bytes(), host.as_bytes(), &[0; 20]].concat();
        zone.add(&apex, RecordType::SOA, &soa);
        zone.add(&apex, RecordType::NS, host.as_bytes());
        zone
    }

    fn add(&mut self, owner: &NameBuf, rtype: RecordType, data: &[u8]) {
        self.0.add(owner.view(), rtype, 3600, data).unwrap();
    }

    fn finish(self) -> Zone {
        self.0.finish().unwrap()
    }
}

/// A label of 9 to 13 letters and digits that belongs to a number, and looks drawn at random.
fn label(number: u32) -> String {
    let number = number.wrapping_mul(2_654_435_761);
    format!("d{number:08x}{}", &"wxyz"[..number as usize % 5])
}

/// Delegations, each fourth with its own name servers, the others with two of a thousand.
fn delegations(count: u32) -> Zone {
    let mut zone = Growing::new();
    for number in 0..count {
        let (label, hoster) = (label(number), format!("host{}", number % 1000));
        let (owner, is_own) = (name(&[&label, "example"]), number.is_multiple_of(4));
        for server in ["ns1", "ns2"] {
            let labels = if is_own { [server, &label, "example"] } else { [server, &hoster, "net"] };
            zone.add(&owner, RecordType::NS, name(&labels).as_bytes());
        }
        for server in ["ns1", "ns2"].iter().filter(|_| is_own) {
            zone.add(&name(&[server, &label, "example"]), RecordType::A, &number.to_be_bytes());
        }
    }
    zone.finish()
}

/// Hosts with an address of each kind.
fn hosts(count: u32) -> Zone {
    let mut zone = Growing::new();
    for number in 0..count {
        let owner = name(&[&label(number), "example"]);
        zone.add(&owner, RecordType::A, &number.to_be_bytes());
        zone.add(&owner, RecordType::AAAA, &[&[0x20; 12][..], &number.to_be_bytes()].concat());
    }
    zone.finish()
}

/// Hosts with an address and an NSEC record, and their signatures.
fn signed(count: u32) -> Zone {
    let mut zone = Growing::new();
    let label = |number| format!("d{number:08}");
    for number in 0..count {
        let owner = name(&[&label(number), "example"]);
        let next = name(&[&label(number + 1), "example"]);
        let signature = |covered: RecordType| {
            let signature = [number as u8; 64];
            [&covered.0.to_be_bytes()[..], &[13; 16], name(&["example"]).as_bytes(), &signature].concat()
        };
        zone.add(&owner, RecordType::A, &number.to_be_bytes());
        zone.add(&owner, RecordType::RRSIG, &signature(RecordType::A));
        let nsec = [next.as_bytes(), &[0, 6, 0x40, 0, 0, 0, 0, 3]].concat();
        zone.add(&owner, RecordType::NSEC, &nsec);
        zone.add(&owner, RecordType::RRSIG, &signature(RecordType::NSEC));
    }
    zone.finish()
}

/// The peak over the memory of the finished zone.
fn ratio(kind: &str, zone: impl FnOnce() -> Zone) -> f64 {
    let (zone, peak) = peak_of(zone);
    let (memory, records) = (zone.memory(), zone.records());
    let ratio = peak as f64 / memory as f64;
    println!("{kind}, {records} records: {memory} bytes, at most {peak}, {ratio:.3}");
    ratio
}

/// One test, as all threads share the counts.
#[test]
fn a_zone_is_built_in_little_more_memory_than_it_takes() {
    // The index of names is full in one zone, and half full in the other.
    for count in [200_000, 300_000] {
        assert!(ratio("delegations", || delegations(count)) <= CRITERION);
    }
    assert!(ratio("hosts", || hosts(250_000)) <= CRITERION);
    assert!(ratio("signed", || signed(60_000)) <= CRITERION);
}
