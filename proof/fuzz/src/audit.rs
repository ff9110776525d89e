//! Properties of the audit's readers: signatures, tables, pairs, flows, names. No text ends the program; one
//! that is read is within its limits, and is written and read back as the same.

use hashlane_audit::draw::Draw;
use hashlane_audit::epsilon::vectors::Pair;
use hashlane_audit::library::Signature;
use hashlane_audit::table::{Geometry, MAX_BUCKETS, MAX_SEED_BITS};
use hashlane_audit::traffic::{names, tuples};
use std::collections::HashSet;

/// Most characters of an error text: it may quote a line of the file.
const MAX_ERROR: usize = 1 << 13;

/// Flows and names that are kept.
const MOST: usize = 20;

/// Buckets up to which the work of a table is counted.
const COUNTED: usize = 1 << 12;

fn check_error(error: &dyn std::error::Error, input: &[u8]) {
    let text = error.to_string();
    assert!(
        !text.is_empty() && text.len() <= MAX_ERROR + 8 * input.len(),
        "an error of {} bytes",
        text.len()
    );
}

/// A text that parses as a signature states it again in its own form.
pub fn check_signature(octets: &[u8]) {
    let Ok(text) = str::from_utf8(octets) else { return };
    match text.parse::<Signature>() {
        Ok(signature) => {
            assert!(matches!(signature.width(), 32 | 64) && signature.seed_bits() <= 128);
            assert_eq!(signature.to_string().parse(), Ok(signature));
        }
        Err(error) => check_error(&error, octets),
    }
}

/// A text that parses as a table gives one whose buckets, work and seeds are within its limits.
pub fn check_table(octets: &[u8]) {
    let Ok(text) = str::from_utf8(octets) else { return };
    match Geometry::parse("table.toml", text) {
        Ok(geometry) => {
            let mut draw = Draw::new(1);
            assert!(geometry.buckets <= MAX_BUCKETS && geometry.seed_bits <= MAX_SEED_BITS);
            for keys in [1, 100, 1 << 14] {
                let buckets = geometry.buckets_for(keys);
                assert!((geometry.buckets..2 * MAX_BUCKETS).contains(&buckets), "{buckets}");
                assert!(geometry.bucket(draw.word(), keys) < buckets);
            }
            if geometry.buckets_for(300) <= COUNTED {
                let hashes: Vec<u64> = (0..300).map(|number| draw.word() << (number % 64)).collect();
                let counts = geometry.count(&hashes);
                assert!(counts.lookup.work() <= 300 * 301 + 300 * geometry.buckets_for(300) as u64);
            }
            assert_eq!(geometry.seed_of(5), geometry.seed_of(5));
            geometry.seed(&mut draw);
        }
        Err(error) => check_error(&error, octets),
    }
}

/// A text that parses as a pair is written and read back as the same.
pub fn check_pair(octets: &[u8]) {
    let Ok(text) = str::from_utf8(octets) else { return };
    match Pair::parse(text) {
        Ok(pair) => {
            let written = pair.to_text().expect("a pair that was read");
            assert_eq!(Pair::parse(&written).ok(), Some(pair), "{written}");
        }
        Err(error) => check_error(&error, octets),
    }
}

/// A file of flows gives distinct ones, as many as wanted, and counts each packet once.
pub fn check_tuples(octets: &[u8]) {
    match tuples::read(octets, MOST, &mut |_| {}) {
        Ok(flows) => {
            assert!(flows.flows.len() <= MOST);
            let distinct: HashSet<_> =
                flows.flows.iter().map(|flow| (*flow.tuple.as_bytes(), flow.protocol)).collect();
            assert_eq!(distinct.len(), flows.flows.len());
            let packets: u64 = flows.flows.iter().map(|flow| flow.packets).sum();
            assert!(packets == flows.seen || flows.limit.is_some() && packets + 1 == flows.seen);
            assert!(flows.seen <= octets.len() as u64);
        }
        Err(error) => check_error(&error, octets),
    }
}

/// A file of names gives distinct ones, as many as wanted, that are names.
pub fn check_names(octets: &[u8]) {
    match names::read(octets, MOST, &mut |_| {}) {
        Ok(names) => {
            assert!(names.names.len() <= MOST && names.seen <= octets.len() as u64);
            let distinct: HashSet<_> = names.names.iter().collect();
            assert_eq!(distinct.len(), names.names.len());
            names.names.iter().for_each(crate::check_octets::<hashlane_name::ndn::Ndn>);
        }
        Err(error) => check_error(&error, octets),
    }
}
