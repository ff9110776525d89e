//! Names that an attacker chooses.

use super::name;
use hashlane_dns::render::SuffixTable;
use hashlane_hash::scheme::{BytesHash, Key, Scheme};
use hashlane_hash::suffix::SuffixHash;
use hashlane_name::dns::NameBuf;

/// Names of 127 one-byte labels; from one to the next, more labels on the left differ, so that the common
/// suffix lies deep.
pub(super) fn deep() -> Vec<NameBuf> {
    let labels =
        |number: usize| (0..127).map(move |at| letter(if at < 2 * number { number + at } else { at }));
    (0..64).map(|number| from_labels(labels(number))).collect()
}

/// Two such names that have no label in common but the last, repeated.
pub(super) fn deep_repeated() -> Vec<NameBuf> {
    let labels = |number: usize| (0..127).map(move |at| letter(if at < 126 { at + number } else { at }));
    (0..250).map(|number| from_labels(labels(number % 2))).collect()
}

fn letter(at: usize) -> u8 {
    b'a' + (at % 26) as u8
}

fn from_labels(labels: impl Iterator<Item = u8>) -> NameBuf {
    let mut name = NameBuf::ROOT;
    for label in labels {
        // There are no more than fit.
        let _ = name.push(&[label]);
    }
    name
}

/// 500 names without a label in common.
pub(super) fn distinct() -> Vec<NameBuf> {
    (0..500).map(|n| name(&format!("host{n:03}.domain{:04x}.tld{:03}", n * 131, n))).collect()
}

/// 600 names of one length whose first 16 bytes in wire form are the same.
pub(super) fn same_start() -> Vec<NameBuf> {
    (0..600).map(|number| name(&format!("aaaaaaaaaaaaaaa.x{number:04}"))).collect()
}

/// 500 names that take the same place in a table of ours that has its hash under `key` itself.
pub(super) fn known_key(key: &Key) -> Vec<NameBuf> {
    let hash = SuffixHash::new(key);
    let collides = |name: &NameBuf| SuffixTable::place_of(hash.hash(name.as_bytes()) as u32) == 0;
    (0_u64..).map(numbered).filter(collides).take(500).collect()
}

/// A name of one label that spells a number.
fn numbered(number: u64) -> NameBuf {
    let mut name = NameBuf::ROOT;
    let letters: [u8; 8] = std::array::from_fn(|at| b'a' + (number >> (4 * at) & 0xf) as u8);
    // Eight bytes fit.
    let _ = name.push(&letters);
    name
}
