//! Hashes of the strings of languages and interpreters, written from their published definitions.

use super::words::le64_to_8;

/// `String.hashCode` of Java, of a string of Latin-1 bytes, as `HashMap` spreads it: combined with its upper
/// half.
///
/// Source: Java SE API, `java.lang.String.hashCode`; OpenJDK `java/util/HashMap.java`.
#[inline(always)]
pub(super) fn java(bytes: &[u8]) -> u32 {
    let hash = java_hash_code(bytes);
    hash ^ hash >> 16
}

#[inline(always)]
pub(super) fn java_hash_code(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |hash: u32, byte| hash.wrapping_mul(31).wrapping_add(u32::from(*byte)))
}

/// The hash of PHP's arrays on machines of 64 bits: times 33 plus the next byte, with the highest bit set.
///
/// Source: php-src `Zend/zend_string.h` (DJBX33A).
#[inline(always)]
pub(super) fn php(bytes: &[u8]) -> u64 {
    let add = |hash: u64, byte: &u8| hash.wrapping_mul(33).wrapping_add(u64::from(*byte));
    bytes.iter().fold(5381, add) | 1 << 63
}

/// Jenkins' one-at-a-time hash, started from the seed.
///
/// Source: Bob Jenkins, Hash functions, Dr. Dobb's Journal, September 1997; SMHasher `JenkinsOOAT_perl`.
#[inline(always)]
pub(super) fn one_at_a_time(seed: u32, bytes: &[u8]) -> u32 {
    let hash = bytes.iter().fold(seed, |hash, byte| {
        let hash = hash.wrapping_add(u32::from(*byte));
        let hash = hash.wrapping_add(hash << 10);
        hash ^ hash >> 6
    });
    let hash = hash.wrapping_add(hash << 3);
    let hash = hash ^ hash >> 11;
    hash.wrapping_add(hash << 15)
}

/// The hash of strings of Latin-1 bytes in V8 before rapidhash: the lowest 30 bits of one-at-a-time, and 27
/// for a result of 0. Strings that are integers have another hash, which is not here.
///
/// Source: V8 11.3, `src/strings/string-hasher-inl.h`.
#[inline(always)]
pub(super) fn v8_one_at_a_time(seed: u32, bytes: &[u8]) -> u32 {
    match one_at_a_time(seed, bytes) & 0x3fff_ffff {
        0 => 27,
        hash => hash,
    }
}

/// The hash of Lua's strings: from the last byte to the first, started from the seed and the length.
///
/// Source: Lua 5.4, `lstring.c` (luaS_hash).
#[inline(always)]
pub(super) fn lua(seed: u32, bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(seed ^ bytes.len() as u32, |hash, byte| {
        hash ^ (hash << 5).wrapping_add(hash >> 2).wrapping_add(u32::from(*byte))
    })
}

/// `erlang:phash2` of a binary, 32 bits: Jenkins' lookup2, started from a constant for binaries. The empty
/// binary has the constant itself.
///
/// Source: Erlang/OTP `erts/emulator/beam/erl_term_hashing.c`; Bob Jenkins, Hash functions, Dr. Dobb's
/// Journal, September 1997 (lookup2). OTP's licence is Apache-2.0.
#[inline(always)]
pub(super) fn erlang_phash2(bytes: &[u8]) -> u32 {
    const GOLDEN: u32 = 0x9e37_79b9;
    const OF_BINARIES: u32 = GOLDEN.wrapping_mul(13);
    if bytes.is_empty() {
        return OF_BINARIES;
    }
    let word =
        |bytes: &[u8], at: usize| le64_to_8(&bytes[at.min(bytes.len())..(at + 4).min(bytes.len())]) as u32;
    let mut state = [GOLDEN, GOLDEN, OF_BINARIES];
    let chunks = bytes.chunks_exact(12);
    // The lowest byte of the last word is the length's.
    let (rest, len) = (chunks.remainder(), bytes.len() as u32);
    let last = (word(rest, 8) << 8).wrapping_add(len);
    let blocks = chunks.map(|chunk| [word(chunk, 0), word(chunk, 4), word(chunk, 8)]);
    for block in blocks.chain([[word(rest, 0), word(rest, 4), last]]) {
        for (state, word) in state.iter_mut().zip(block) {
            *state = state.wrapping_add(word);
        }
        lookup2_mix(&mut state);
    }
    state[2]
}

/// The mixing of lookup2: nine times, a word less the two others, combined with a shifted word.
#[inline(always)]
fn lookup2_mix([a, b, c]: &mut [u32; 3]) {
    for [first, second, third] in [[13, 8, 13], [12, 16, 5], [3, 10, 15]] {
        *a = a.wrapping_sub(*b).wrapping_sub(*c) ^ *c >> first;
        *b = b.wrapping_sub(*c).wrapping_sub(*a) ^ *a << second;
        *c = c.wrapping_sub(*a).wrapping_sub(*b) ^ *b >> third;
    }
}
