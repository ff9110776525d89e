//! Second keys of known families of functions: their steps are inverted, or a second way leads to one state.

use crate::attack::lattice::{LATTICES, Lattice, Order};
use crate::attack::{inverse, jhash_keys};
use crate::draw::Draw;
use hashlane_hash::scheme::Key;

/// The key that is given, with facts that an attacker has who knows the seed.
pub(super) struct Given<'a> {
    /// The key.
    pub(super) key: &'a [u8],
    /// Its hash.
    pub(super) hash: u64,
    /// Bits of the hash.
    pub(super) width: u32,
    /// The seed.
    pub(super) seed: Key,
}

/// A family and the second keys that it may have.
pub(super) struct Family {
    /// Name and the property that is used, in one clause.
    pub(super) method: &'static str,
    /// Keys that have the hash of the given one if the function is of this family: for each way in which a
    /// seed is used, one.
    pub(super) keys: fn(&Given<'_>, &mut Draw) -> Vec<Vec<u8>>,
}

/// All families.
pub(super) const FAMILIES: [Family; 5] = [
    Family { method: "FNV-1 and FNV-1a: small steps by a lattice", keys: fnv },
    Family { method: "XXH32: each step is one to one", keys: |given, draw| xxh32(given, draw) },
    Family { method: "XXH64: each step is one to one", keys: |given, draw| xxh64(given, draw) },
    Family { method: "jhash: the final mixing is one to one", keys: jhash },
    Family { method: "wyhash of 16 bytes: the factors of a product change places", keys: wyhash },
];

/// Seeds as functions use them: as passed, or not at all.
fn seeds(given: &Given<'_>) -> [u64; 2] {
    [given.seed.halves().0, 0]
}

fn fnv(given: &Given<'_>, draw: &mut Draw) -> Vec<Vec<u8>> {
    const BASES: [u64; 2] = [0xcbf2_9ce4_8422_2325, 0x811c_9dc5];
    let seed = given.seed.halves().0;
    let starts = BASES.iter().flat_map(|basis| [seed ^ basis, *basis]).chain([seed]);
    let starts: Vec<u64> = starts.collect();
    let of = |lattice: &Lattice, draw: &mut Draw| {
        let mut keys = Vec::new();
        for order in [Order::After, Order::Before] {
            let key = |start: &u64| lattice.key(order, *start, given.hash, given.key.len(), draw);
            keys.extend(starts.iter().filter_map(key));
        }
        keys
    };
    LATTICES.iter().flat_map(|lattice| of(lattice, draw)).collect()
}

/// The word before it was combined with itself, shifted right by `shift`.
fn unshifted(word: u64, shift: u32, bits: u32) -> u64 {
    (0..bits / shift).fold(word, |before, _| word ^ before >> shift)
}

/// Keys of eight bytes: `XXH32_finalize` and `XXH32_avalanche` of xxhash.h, backwards.
fn xxh32(given: &Given<'_>, draw: &mut Draw) -> Vec<Vec<u8>> {
    const P: [u32; 5] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d, 0x27d4_eb2f, 0x1656_67b1];
    let back = |word: u32, by: u32| word.wrapping_mul(inverse(u64::from(by)) as u32);
    let unshifted = |word: u32, shift| unshifted(u64::from(word), shift, 32) as u32;
    let last = unshifted(given.hash as u32, 16);
    let last = unshifted(back(last, P[2]), 13);
    let last = unshifted(back(last, P[1]), 15);
    let first = draw.word() as u32;
    let of = |seed: u64| {
        let start = (seed as u32).wrapping_add(P[4]).wrapping_add(8);
        let state = start.wrapping_add(first.wrapping_mul(P[2])).rotate_left(17).wrapping_mul(P[3]);
        let second = back(back(last, P[3]).rotate_right(17).wrapping_sub(state), P[2]);
        [first.to_le_bytes(), second.to_le_bytes()].concat()
    };
    seeds(given).map(of).to_vec()
}

/// Keys of 16 bytes: `XXH64_finalize` and `XXH64_avalanche` of xxhash.h, backwards.
fn xxh64(given: &Given<'_>, draw: &mut Draw) -> Vec<Vec<u8>> {
    const P: [u64; 5] = [
        0x9e37_79b1_85eb_ca87,
        0xc2b2_ae3d_27d4_eb4f,
        0x1656_67b1_9e37_79f9,
        0x85eb_ca77_c2b2_ae63,
        0x27d4_eb2f_1656_67c5,
    ];
    let back = |word: u64, by: u64| word.wrapping_mul(inverse(by));
    let last = unshifted(given.hash, 32, 64);
    let last = unshifted(back(last, P[2]), 29, 64);
    let last = unshifted(back(last, P[1]), 33, 64);
    let first = draw.word();
    let of = |seed: u64| {
        let start = seed.wrapping_add(P[4]).wrapping_add(16);
        let round = first.wrapping_mul(P[1]).rotate_left(31).wrapping_mul(P[0]);
        let state = (start ^ round).rotate_left(27).wrapping_mul(P[0]).wrapping_add(P[3]);
        let round = back(last.wrapping_sub(P[3]), P[0]).rotate_right(27) ^ state;
        let second = back(back(round, P[0]).rotate_right(31), P[1]);
        [first.to_le_bytes(), second.to_le_bytes()].concat()
    };
    seeds(given).map(of).to_vec()
}

fn jhash(given: &Given<'_>, draw: &mut Draw) -> Vec<Vec<u8>> {
    if given.width != 32 {
        return Vec::new();
    }
    let number = draw.word() as u32;
    seeds(given)
        .into_iter()
        .filter_map(|seed| jhash_keys(given.key, seed as u32, number, given.hash as u32))
        .collect()
}

/// `wyhash.h`, final version 4, of 16 bytes: one factor is combined with a public secret, the other one with
/// the seed.
fn wyhash(given: &Given<'_>, _: &mut Draw) -> Vec<Vec<u8>> {
    const SECRETS: [u64; 2] = [0x2d35_8dcc_aa6c_78a5, 0x8bb8_4b93_962e_acc9];
    let ([a, c, d, b], []) = given.key.as_chunks::<4>() else { return Vec::new() };
    let pair = |high: &[u8; 4], low: &[u8; 4]| {
        u64::from(u32::from_le_bytes(*high)) << 32 | u64::from(u32::from_le_bytes(*low))
    };
    let (first, second) = (pair(a, d), pair(b, c));
    let of = |seed: u64| {
        let product = u128::from(seed ^ SECRETS[0]) * u128::from(SECRETS[1]);
        let seed = seed ^ (product >> 64) as u64 ^ product as u64;
        let (first, second) = (second ^ seed ^ SECRETS[1], first ^ SECRETS[1] ^ seed);
        let [high, low] = [|word: u64| (word >> 32) as u32, |word| word as u32];
        let words = [high(first), low(second), low(first), high(second)];
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    };
    seeds(given).map(of).to_vec()
}
