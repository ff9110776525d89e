//! FarmHash's Fingerprint64 and the seeded forms of the version NA that it is, written from their
//! description: the crate `farmhash` 1.1.5 gives other results and overflows in checked builds, and others
//! compile C++.
//!
//! Up to 32 bytes it is CityHash64. `Hash64` of the C++ library, which is another version on each kind of
//! CPU, is not here.
//!
//! Source: Pike, FarmHash 1.1 (`farmhash.cc`, namespace `farmhashna`); SMHasher3 `hashes/farmhash.cpp`.
//! The library's licence is MIT.

use super::words::{le64, mix_pair_by};

const K0: u64 = 0xc3a5_c85c_97cb_3127;
const K1: u64 = 0xb492_b66f_be98_f273;
/// The first seed of forms with one seed.
pub(super) const K2: u64 = 0x9ae1_6a3b_2f90_404f;

/// Fingerprint64, which has no seed.
#[inline(always)]
pub(super) fn fingerprint(bytes: &[u8]) -> u64 {
    match bytes.len() {
        0..=32 => ::cityhasher::hash(bytes),
        33..=64 => from_33_to_64(bytes),
        _ => from_65(bytes),
    }
}

/// Two words mixed from four.
#[inline(always)]
fn cross(a: u64, b: u64, c: u64, d: u64, then: u64) -> (u64, u64) {
    let first = a.wrapping_add(b).rotate_right(43).wrapping_add(c.rotate_right(30)).wrapping_add(d);
    (first, a.wrapping_add(b.wrapping_add(then).rotate_right(18)).wrapping_add(c))
}

#[inline(always)]
fn from_33_to_64(bytes: &[u8]) -> u64 {
    let len = bytes.len();
    let by = K2.wrapping_add(2 * len as u64);
    let a = le64(bytes, 0).wrapping_mul(K2);
    let c = le64(bytes, len - 8).wrapping_mul(by);
    let d = le64(bytes, len - 16).wrapping_mul(K2);
    let (y, z) = cross(a, le64(bytes, 8), c, d, K2);
    let z = mix_pair_by(y, z, by);
    let e = le64(bytes, 16).wrapping_mul(by);
    let g = y.wrapping_add(le64(bytes, len - 32)).wrapping_mul(by);
    let h = z.wrapping_add(le64(bytes, len - 24)).wrapping_mul(by);
    let (u, v) = cross(e, le64(bytes, 24), g, h, a);
    mix_pair_by(u, v, by)
}

/// The state of longer inputs: three words, and a pair for each half of the block before.
struct State {
    words: [u64; 3],
    halves: [(u64, u64); 2],
}

impl State {
    /// The state after 64 bytes more. The last ones have a multiplier of their own and weigh two words nine
    /// times.
    #[inline(always)]
    fn after(self, bytes: &[u8], by: u64, weight: u64) -> Self {
        let ([a, b, c], [front, back]) = (self.words, self.halves);
        let at = |at: usize| le64(bytes, at);
        let turned = |word: u64, right: u32| word.rotate_right(right).wrapping_mul(by);
        let low = turned(a.wrapping_add(b).wrapping_add(front.0).wrapping_add(at(8)), 37);
        let low = low ^ back.1.wrapping_mul(weight);
        let middle = turned(b.wrapping_add(front.1).wrapping_add(at(48)), 42);
        let middle = middle.wrapping_add(front.0.wrapping_mul(weight)).wrapping_add(at(40));
        let high = turned(c.wrapping_add(back.0), 33);
        let front = take_32(bytes, 0, front.1.wrapping_mul(by), low.wrapping_add(back.0));
        let back = take_32(bytes, 32, high.wrapping_add(back.1), middle.wrapping_add(at(16)));
        // The outer words trade places.
        Self { words: [high, middle, low], halves: [front, back] }
    }
}

/// Takes 32 bytes into a pair.
#[inline(always)]
fn take_32(bytes: &[u8], at: usize, a: u64, b: u64) -> (u64, u64) {
    let [first, second, third, last] = [0, 8, 16, 24].map(|more| le64(bytes, at + more));
    let a = a.wrapping_add(first);
    let b = b.wrapping_add(a).wrapping_add(last).rotate_right(21);
    let sum = a.wrapping_add(second).wrapping_add(third);
    (sum.wrapping_add(last), b.wrapping_add(sum.rotate_right(44)).wrapping_add(a))
}

#[inline(always)]
fn from_65(bytes: &[u8]) -> u64 {
    let shifted = |word: u64| word ^ word >> 47;
    let len = bytes.len();
    // The library's seed 81 and its addend 113.
    let low = K2.wrapping_mul(81).wrapping_add(le64(bytes, 0));
    let middle = K1.wrapping_mul(81).wrapping_add(113);
    let high = shifted(middle.wrapping_mul(K2).wrapping_add(113)).wrapping_mul(K2);
    let start = State { words: [low, middle, high], halves: [(0, 0); 2] };
    let whole = bytes[..(len - 1) / 64 * 64].chunks_exact(64);
    let State { words, halves: [front, back] } = whole.fold(start, |state, chunk| state.after(chunk, K1, 1));

    let by = K1.wrapping_add((words[2] & 0xff) << 1);
    let left = back.0.wrapping_add((len as u64 - 1) % 64);
    let sum = front.0.wrapping_add(left);
    let halves = [(sum, front.1), (left.wrapping_add(sum), back.1)];
    let State { words: [low, middle, high], halves: [front, back] } =
        State { words, halves }.after(&bytes[len - 64..], by, 9);
    let first = mix_pair_by(front.0, back.0, by).wrapping_add(shifted(middle).wrapping_mul(K0));
    let second = mix_pair_by(front.1, back.1, by).wrapping_add(low);
    mix_pair_by(first.wrapping_add(high), second, by)
}
