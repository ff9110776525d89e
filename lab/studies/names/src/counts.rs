//! Counts of the names of a workload: bytes, components, words, and the checksum of their hashes.

use crate::blocks::Part;
use crate::packed::{Names, Packed};
use crate::schemes;
use hashlane_hash::scheme::Key;
use hashlane_name::walk::{Encoding, Walk};

/// Counts of the names in one encoding.
pub(super) struct Figures {
    pub(super) encoding: &'static str,
    pub(super) bytes: u64,
    pub(super) components: u64,
    /// Bytes that a hash of all components reads.
    pub(super) hashed: u64,
    /// Lower bound of the 8-byte words that CRC32C of all prefixes takes: the whole words of each name, and a
    /// last one for each prefix.
    pub(super) words: u64,
}

/// Counts of the first names in one encoding.
pub(super) fn figures<E: Encoding>(packed: &Packed, first: usize) -> Figures {
    let mut figures =
        Figures { encoding: E::ID, bytes: packed.bytes() as u64, components: 0, hashed: 0, words: 0 };
    for walk in (0..first).filter_map(|at| E::walk(packed.name(at)).ok()) {
        let hashed = walk.bytes().len() as u64;
        let mut components = 0;
        // The names were encoded by the same crate; a broken one would count as far as it goes.
        let _ = walk.for_each_end(|_| components += 1);
        figures.components += components;
        figures.hashed += hashed;
        figures.words += hashed / 8 + components;
    }
    figures
}

/// The sum, modulo 2⁶⁴, of the CRC32C of every prefix of the first names.
pub(super) fn checksum(encoding: &str, names: &Names, first: usize) -> u64 {
    let method = schemes::names(&format!("{encoding}/one-by-one/crc32c"), &Key::VECTOR);
    match (method, names.packed(encoding)) {
        (Some(mut method), Some(packed)) => method.digest(&Part::new(packed, 0..first)),
        _ => 0,
    }
}
