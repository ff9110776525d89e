//! Constants of a function, as its source or its machine code shows them to everyone.

/// Numbers and bit counts that a function works with. They may include some that it does not use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constants {
    /// Numbers of more than 8 bits; those of up to 32 bits may be words of 32 or of 64 bits.
    pub numbers: Vec<u64>,
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

impl Constants {
    /// Adds a number, unless it is small, the opposite of a small one, or there already.
    pub fn add_number(&mut self, number: u64) {
        let is_small = |number: u64| number <= u64::from(u8::MAX);
        let is_address = number.count_ones() < 4 || number.count_zeros() < 4;
        if !is_small(number) && !is_small(number.wrapping_neg()) && !is_address {
            add(&mut self.numbers, number);
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

fn add_bits(all: &mut Vec<u32>, bits: u32) {
    if (1..64).contains(&bits) {
        add(all, bits);
    }
}

fn add<T: PartialEq>(all: &mut Vec<T>, one: T) {
    if all.len() < MOST && !all.contains(&one) {
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
        [0, 1, 31, 31, 64].into_iter().for_each(|bits| constants.add_right(bits));
        assert_eq!(constants.right, [1, 31]);
        (1..64).for_each(|bits| constants.add_rotation(bits));
        assert_eq!(constants.rotations.len(), MOST);
    }
}
