//! Constants of a function, as its source or its machine code shows them to everyone.

/// Numbers and bit counts that a function works with. They may include some that it does not use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constants {
    /// Numbers of more than 8 bits; up to 32 bits, they may be words of 32 or of 64 bits.
    pub numbers: Vec<u64>,
    /// Words of 8 bytes in data that the code refers to by an address, such as a table of constants.
    pub table: Vec<u64>,
    /// Bits of shifts to the right.
    pub right: Vec<u32>,
    /// Bits of shifts to the left.
    pub left: Vec<u32>,
    /// Bits of rotations to the left.
    pub rotations: Vec<u32>,
    /// True if the bytes of words are reversed somewhere.
    pub swaps_bytes: bool,
}

/// Most numbers, and most shifts of each kind, that are kept: the first ones.
const MOST: usize = 12;

/// Most words of data that are kept: the first ones.
const MOST_WORDS: usize = 32;

impl Constants {
    /// Adds a number, unless it is small, the opposite of a small one, or there already.
    pub fn add_number(&mut self, number: u64) {
        if !is_common(number) {
            add(&mut self.numbers, number, MOST);
        }
    }

    /// Adds a word of data under the same conditions.
    pub fn add_word(&mut self, word: u64) {
        if !is_common(word) {
            add(&mut self.table, word, MOST_WORDS);
        }
    }

    /// Adds bits of a shift to the right.
    pub fn add_right(&mut self, bits: u32) {
        add_bits(&mut self.right, bits);
    }

    /// Adds bits of a shift to the left.
    pub fn add_left(&mut self, bits: u32) {
        add_bits(&mut self.left, bits);
    }

    /// Adds bits of a rotation to the left.
    pub fn add_rotation(&mut self, bits: u32) {
        add_bits(&mut self.rotations, bits);
    }
}

/// True for numbers that functions have for other reasons than to mix: small ones, their opposites, masks.
fn is_common(number: u64) -> bool {
    let is_small = |number: u64| number <= u64::from(u8::MAX);
    let is_mask = number.count_ones() < 4 || number.count_zeros() < 4;
    is_small(number) || is_small(number.wrapping_neg()) || is_mask
}

fn add_bits(all: &mut Vec<u32>, bits: u32) {
    if (1..64).contains(&bits) {
        add(all, bits, MOST);
    }
}

fn add<T: PartialEq>(all: &mut Vec<T>, one: T, most: usize) {
    if all.len() < most && !all.contains(&one) {
        all.push(one);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_kept_once_and_small_numbers_not_at_all() {
        let mut constants = Constants::default();
        for number in [0, 7, 255, u64::MAX, 0x4000_0000, 0x9e37_79b9, 0x9e37_79b9, 0x85eb_ca6b] {
            constants.add_number(number);
        }
        assert_eq!(constants.numbers, [0x9e37_79b9, 0x85eb_ca6b]);
        (0..64).for_each(|number| constants.add_word(0x9e37_79b9_7f4a_7c15 ^ (number / 2)));
        assert_eq!((constants.table.len(), constants.numbers.len()), (32, 2));
        [0, 1, 31, 31, 64].into_iter().for_each(|bits| constants.add_right(bits));
        assert_eq!(constants.right, [1, 31]);
        (1..64).for_each(|bits| constants.add_rotation(bits));
        assert_eq!(constants.rotations.len(), MOST);
    }
}
