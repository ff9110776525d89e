//! Arithmetic of words.

/// Inverse of the odd number `odd` modulo 2⁶⁴, and so modulo every smaller power of two.
///
/// Source: Newton's iteration; the number itself is right in three bits, and each step doubles them.
pub(crate) fn inverse(odd: u64) -> u64 {
    debug_assert!(odd % 2 == 1);
    (0..5).fold(odd, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse))))
}

/// Inverse of `number` modulo `modulus`, which has at most 64 bits; `None` if they have a common divisor.
///
/// Source: Euclid's algorithm, extended.
pub(super) fn inverse_modulo(number: u128, modulus: u128) -> Option<u64> {
    let signed = |number: u128| i128::try_from(number).ok();
    let (mut remainders, mut factors) = ([signed(modulus)?, signed(number)?], [0_i128, 1]);
    while remainders[1] != 0 {
        let quotient = remainders[0] / remainders[1];
        remainders = [remainders[1], remainders[0] - quotient * remainders[1]];
        factors = [factors[1], factors[0] - quotient * factors[1]];
    }
    match remainders[0] {
        1 => u64::try_from(factors[0].rem_euclid(signed(modulus)?)).ok(),
        _ => None,
    }
}

/// Word of `width` bytes (4 or 8) at `at`, little-endian.
pub(super) fn word(bytes: &[u8], at: usize, width: usize) -> u64 {
    let word = bytes.get(at..at + width).unwrap_or_default();
    word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Sets the word of `width` bytes (4 or 8) at `at`, little-endian.
pub(super) fn set_word(bytes: &mut [u8], at: usize, width: usize, word: u64) {
    if let Some(place) = bytes.get_mut(at..at + width) {
        place.copy_from_slice(&word.to_le_bytes()[..width]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_number_times_its_inverse_is_one() {
        for odd in [1, 3, 0x5bd1_e995, 0x9ae1_6a3b_2f90_404f, u64::MAX] {
            assert_eq!(inverse(odd).wrapping_mul(odd), 1);
        }
        for number in [1, 2, 0xffff_ffff, 0x1234_5678_9abc_def0] {
            let modulus = 0x9c06_faf4_d023_e3ab;
            let inverse = inverse_modulo(number, modulus).unwrap();
            assert_eq!(u128::from(inverse) * number % modulus, 1);
        }
        assert_eq!(inverse_modulo(6, 9), None);
        let mut bytes = [9; 10];
        set_word(&mut bytes, 1, 4, 0x0102_0304);
        assert_eq!(bytes, [9, 4, 3, 2, 1, 9, 9, 9, 9, 9]);
        assert_eq!(word(&bytes, 1, 4), 0x0102_0304);
    }
}
