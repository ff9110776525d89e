//! Little-endian reads that are defined for every offset.
//!
//! A hash checks the length once and then reads at offsets inside it; the compiler sees the same and drops
//! the test. A read past the end returns 0 instead of a panic.

/// The four bytes at `at`, or 0 if fewer are left.
#[inline(always)]
pub(crate) fn le32(bytes: &[u8], at: usize) -> u32 {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        Some(word) => u32::from_le_bytes(*word),
        None => 0,
    }
}

/// The eight bytes at `at`, or 0 if fewer are left.
#[inline(always)]
pub(crate) fn le64(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        Some(word) => u64::from_le_bytes(*word),
        None => 0,
    }
}

/// The bytes from `at` to the end of `bytes`, at most eight, in the low end of a word.
///
/// Near the end it reads the last whole word and shifts it. The only branch tests for eight bytes in `bytes`,
/// which names have. At or beyond the end the result is unspecified.
#[inline(always)]
pub(crate) fn le64_to_end(bytes: &[u8], at: usize) -> u64 {
    match bytes.len().checked_sub(8) {
        Some(last) => {
            let start = at.min(last);
            le64(bytes, start).wrapping_shr(8 * (at - start) as u32)
        }
        None => le64_few(bytes, at),
    }
}

#[cold]
fn le64_few(bytes: &[u8], at: usize) -> u64 {
    le64_short(bytes.get(at..).unwrap_or_default())
}

/// The bytes after the last whole 64-bit word, `bytes.len() % 8` of them, in the low end of a word.
///
/// After a whole word, it reads the last eight bytes and shifts out the ones that belong to that word: no
/// branch depends on the number of bytes.
#[inline(always)]
pub(crate) fn le64_rest(bytes: &[u8]) -> u64 {
    let rest = bytes.len() % 8;
    match bytes.last_chunk() {
        // Two shifts, as one by 64 is not defined.
        Some(last) => u64::from_le_bytes(*last) >> 8 >> (56 - 8 * rest),
        None => le64_short(bytes),
    }
}

/// Fewer than eight bytes as a word: two reads that may overlap, which a disjunction does not mind.
#[inline(always)]
pub(crate) fn le64_short(bytes: &[u8]) -> u64 {
    let len = bytes.len();
    if let (4..8, Some(first), Some(last)) = (len, bytes.first_chunk(), bytes.last_chunk()) {
        u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (len - 4))
    } else {
        u64::from(le32_short(bytes))
    }
}

/// The first bytes, three at most, as a word.
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

    const BYTES: [u8; 20] =
        *b"\x81\x82\x83\x84\x85\x86\x87\x88\x91\x92\x93\x94\x95\x96\x97\x98\xa1\xa2\xa3\xa4";

    #[test]
    fn reads_every_rest_as_the_zero_padded_word() {
        for len in 0..=BYTES.len() {
            let rest = &BYTES[len - len % 8..len];
            let mut padded = [0; 8];
            padded[..rest.len()].copy_from_slice(rest);
            assert_eq!(le64_rest(&BYTES[..len]), u64::from_le_bytes(padded), "{len}");
        }
    }

    #[test]
    fn reads_to_the_end_and_zero_above() {
        for len in 0..=BYTES.len() {
            for at in 0..len {
                let mut padded = [0; 8];
                let rest = &BYTES[at..len.min(at + 8)];
                padded[..rest.len()].copy_from_slice(rest);
                assert_eq!(le64_to_end(&BYTES[..len], at), u64::from_le_bytes(padded), "{at} of {len}");
            }
        }
    }

    #[test]
    fn reads_whole_words_up_to_the_end_and_zero_beyond() {
        assert_eq!(le32(&BYTES, 16), 0xa4a3_a2a1);
        assert_eq!(le32(&BYTES, 17), 0);
        assert_eq!(le64(&BYTES, 12), 0xa4a3_a2a1_9897_9695);
        assert_eq!(le64(&BYTES, 13), 0);
        assert_eq!(le64(&BYTES, usize::MAX), 0);
    }
}
