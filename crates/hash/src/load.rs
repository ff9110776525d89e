//! Little-endian reads that are defined for every offset.
//!
//! A family checks the length once and then reads at offsets that it knows to lie inside; the compiler sees the same
//! and drops the test. A read that would pass the end gives 0 instead of a panic.

/// The four octets at `at`, or 0 where fewer are left.
#[inline(always)]
pub(crate) fn le32(bytes: &[u8], at: usize) -> u32 {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        Some(word) => u32::from_le_bytes(*word),
        None => 0,
    }
}

/// The eight octets at `at`, or 0 where fewer are left.
#[inline(always)]
pub(crate) fn le64(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        Some(word) => u64::from_le_bytes(*word),
        None => 0,
    }
}

/// The first octets, three at most, as a word.
#[inline(always)]
pub(crate) fn le32_short(bytes: &[u8]) -> u32 {
    match *bytes {
        [] => 0,
        [a] => u32::from(a),
        [a, b] => u32::from_le_bytes([a, b, 0, 0]),
        [a, b, c, ..] => u32::from_le_bytes([a, b, c, 0]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OCTETS: [u8; 20] =
        *b"\x81\x82\x83\x84\x85\x86\x87\x88\x91\x92\x93\x94\x95\x96\x97\x98\xa1\xa2\xa3\xa4";

    #[test]
    fn reads_whole_words_up_to_the_end_and_zero_beyond() {
        assert_eq!(le32(&OCTETS, 16), 0xa4a3_a2a1);
        assert_eq!(le32(&OCTETS, 17), 0);
        assert_eq!(le64(&OCTETS, 12), 0xa4a3_a2a1_9897_9695);
        assert_eq!(le64(&OCTETS, 13), 0);
        assert_eq!(le64(&OCTETS, usize::MAX), 0);
    }
}
