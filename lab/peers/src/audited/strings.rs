//! Hashes of the strings of languages and interpreters, written from their published definitions.

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
