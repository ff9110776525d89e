//! Longest prefix match of hierarchical names: several designs behind one trait.
//!
//! A design gets the hashes of all prefixes of a name, which a forwarder has computed for its other tables
//! anyway, and looks a burst of names up together, so that the cache misses of its names overlap.

mod binary;
mod fingerprints;
mod front;
mod hasher;
mod lengths;
mod name_map;
mod per_component;
mod sorted;
mod stored;
mod two_stage;

#[cfg(test)]
mod tests;

use super::strings::Strings;
use super::table::{Build, Table};
use front::{Front, HashingOnly};
use hasher::{HashedName, Hasher};
use hashlane_hash::scheme::Key;

/// Names that are looked up together.
pub(crate) const BURST: usize = 32;

/// A table of prefixes with a value for each.
pub(crate) trait LongestPrefix: Sized {
    /// A table of these prefixes, encoded names, each with its number as its value.
    fn build(prefixes: &Strings, hasher: &mut Hasher) -> Self;

    /// Inserts the value of a prefix; returns the previous one.
    fn insert(&mut self, name: &HashedName<'_>, value: u32) -> Option<u32>;

    /// Removes a prefix; returns its value.
    fn remove(&mut self, name: &HashedName<'_>) -> Option<u32>;

    /// The value of the longest prefix of each name. At most [`BURST`] names, as many places.
    fn longest(&self, names: &[HashedName<'_>], found: &mut [Option<u32>]);

    /// Bytes of memory, the names included.
    fn memory(&self) -> usize;
}

/// Calls `each` with every encoded name and its number.
fn each(names: &Strings, hasher: &mut Hasher, mut each: impl FnMut(&HashedName<'_>, u32)) {
    let (mut rest, mut number) = (names.iter(), 0);
    while rest.len() > 0 {
        for name in hasher.hash(rest.clone()).names() {
            each(name, number);
            number += 1;
        }
        rest.by_ref().take(BURST).for_each(drop);
    }
}

/// Inserts every prefix with its number.
fn insert_all(table: &mut impl LongestPrefix, prefixes: &Strings, hasher: &mut Hasher) {
    each(prefixes, hasher, |name, number| {
        table.insert(name, number);
    });
}

fn front<D: LongestPrefix + 'static>(prefixes: &Strings, key: &Key) -> Option<Box<dyn Table>> {
    Some(Box::new(Front::<D>::new(prefixes, key)))
}

/// All designs, and the hashing that each lookup begins with.
pub(crate) const DESIGNS: &[(&str, Build)] = &[
    ("name-map", front::<name_map::Map>),
    ("lengths", front::<lengths::Lengths>),
    ("two-stage", front::<two_stage::TwoStage>),
    ("binary", front::<binary::Binary>),
    ("fingerprints", front::<fingerprints::Fingerprints>),
    ("sorted", front::<sorted::Sorted>),
    ("per-component", front::<per_component::PerComponent>),
    (HASHING, |_, key| Some(Box::new(HashingOnly::new(key)))),
];

/// Scheme that hashes the names and looks nothing up.
pub(crate) const HASHING: &str = "hashing";
