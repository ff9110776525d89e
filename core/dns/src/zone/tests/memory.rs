//! Memory of large zones.

use super::*;
use std::format;
use std::string::String;

/// A 256th of ten million: the number of buckets, a power of two, is a 256th, too.
const DELEGATIONS: u32 = 10_000_000 / 256;

/// The most bytes of memory a record, everything included.
const CRITERION: usize = 80;

/// A zone of delegations, each to `servers` name servers whose names `target` makes.
fn delegations(servers: u32, target: impl Fn(u32, u32) -> String) -> Zone {
    let mut builder = builder("example");
    for number in 0..DELEGATIONS {
        let owner = name(&format!("d{:08}.example", number.wrapping_mul(2_654_435_761) % 100_000_000));
        for server in 0..servers {
            let target = name(&target(number.wrapping_mul(2_654_435_761) % 100_000_000, server));
            builder.add(owner.view(), RecordType::NS, 86_400, target.as_bytes()).unwrap();
        }
    }
    builder.finish().unwrap()
}

#[test]
fn a_record_of_ten_million_delegations_takes_at_most_80_bytes() {
    let shared = |number: u32, server: u32| format!("ns{server}.host{}.net", number % 1000);
    let own = |number: u32, server: u32| format!("ns{server}.host{number:08}.net");
    let below = |number: u32, server: u32| format!("ns{server}.d{number:08}.example");
    for servers in [1, 2] {
        for (zone, targets) in [
            (delegations(servers, shared), "shared"),
            (delegations(servers, own), "of their own"),
            (delegations(servers, below), "below the delegation"),
        ] {
            let (memory, records) = (zone.memory(), zone.records());
            assert!(records > (DELEGATIONS * servers) as usize * 9 / 10);
            assert!(memory <= CRITERION * records, "{servers} {targets}: {memory} bytes, {records} records");
            assert!(zone.warnings().list().is_empty());
            std::println!("{servers} {targets}: {} bytes a record", memory / records);
        }
    }
}
