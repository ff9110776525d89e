//! One-to-one mixings of a word by shifts, odd products and rotations, and their inverses.

use super::arithmetic::inverse;
use core::fmt;

/// A step that can be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Combination with the word itself, shifted to the right.
    Right(u32),
    /// Combination with the word itself, shifted to the left.
    Left(u32),
    /// Rotation to the left.
    Rotate(u32),
    /// Combination with the word itself, rotated to the left by two numbers of bits.
    Rotations(u32, u32),
    /// Combination with the word itself, shifted to the right by two numbers of bits.
    Rights(u32, u32),
    /// Product with an odd number.
    Multiply(u64),
    /// Exclusive or with a number.
    Xor(u64),
    /// Sum with a number.
    Add(u64),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Right(by) => write!(f, "x ^= x >> {by}"),
            Self::Left(by) => write!(f, "x ^= x << {by}"),
            Self::Rotate(by) => write!(f, "x = rotl(x, {by})"),
            Self::Rotations(one, other) => write!(f, "x ^= rotl(x, {one}) ^ rotl(x, {other})"),
            Self::Rights(one, other) => write!(f, "x ^= x >> {one} ^ x >> {other}"),
            Self::Multiply(by) => write!(f, "x *= {by:#x}"),
            Self::Xor(by) => write!(f, "x ^= {by:#x}"),
            Self::Add(by) => write!(f, "x += {by:#x}"),
        }
    }
}

impl Step {
    /// The word after the step, of words of `bits` bits.
    fn forward(self, word: u64, bits: u32) -> u64 {
        let mask = u64::MAX >> (64 - bits);
        mask & match self {
            Self::Right(by) => word ^ word >> by,
            Self::Left(by) => word ^ word << by,
            Self::Rotate(by) => rotated(word, by, bits),
            Self::Rotations(one, other) => word ^ rotated(word, one, bits) ^ rotated(word, other, bits),
            Self::Rights(one, other) => word ^ word >> one ^ word >> other,
            Self::Multiply(by) => word.wrapping_mul(by),
            Self::Xor(by) => word ^ by,
            Self::Add(by) => word.wrapping_add(by),
        }
    }

    /// The word before the step.
    fn backward(self, word: u64, bits: u32) -> u64 {
        let mask = u64::MAX >> (64 - bits);
        mask & match self {
            Self::Right(by) => (0..bits / by).fold(word, |before, _| word ^ before >> by),
            Self::Left(by) => (0..bits / by).fold(word, |before, _| word ^ before << by),
            Self::Rotate(by) => rotated(word, bits - by, bits),
            // Applied as many times as the word has bits, a power of two, three terms of one bit are left:
            // the word itself. All but one of these times are powers of the step by powers of two.
            Self::Rotations(one, other) => (0..bits.ilog2()).fold(word, |word, power| {
                let [one, other] = [one, other].map(|by| (by << power) % bits);
                mask & (word ^ rotated(word, one, bits) ^ rotated(word, other, bits))
            }),
            Self::Rights(one, other) => {
                (0..bits / one.min(other)).fold(word, |before, _| word ^ before >> one ^ before >> other)
            }
            Self::Multiply(by) => word.wrapping_mul(inverse(by)),
            Self::Xor(by) => word ^ by,
            Self::Add(by) => word.wrapping_sub(by),
        }
    }
}

/// A word of `bits` bits, rotated to the left.
fn rotated(word: u64, by: u32, bits: u32) -> u64 {
    if by == 0 { word } else { word << by | word >> (bits - by) }
}

/// A mixing: its steps in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mixing(pub(super) Vec<Step>);

impl Mixing {
    /// The word whose mixing equals the mixing of `word` with a `change`, which is no separate step.
    pub(super) fn changed(&self, word: u64, change: Step, bits: u32) -> u64 {
        let mixed = self.0.iter().fold(word, |word, step| step.forward(word, bits));
        let after = change.forward(mixed, bits);
        self.0.iter().rev().fold(after, |word, step| step.backward(word, bits))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::attack::mixings::Steps;
    use crate::constants::Constants;

    pub(in crate::attack) fn constants() -> Constants {
        Constants {
            numbers: vec![0xff51_afd7_ed55_8ccd, 0x9e37_79b9, 0x1234_5678],
            right: vec![33, 29, 5],
            left: vec![13, 31],
            rotations: vec![27],
            ..Constants::default()
        }
    }

    #[test]
    fn each_step_is_taken_back() {
        for bits in [32, 64] {
            let Steps { any, first } = Steps::new(&constants(), bits).with_pairs().unwrap();
            for step in any.into_iter().chain(first) {
                for word in [0, 1, 0x8000_0000, 0x0123_4567_89ab_cdef & (u64::MAX >> (64 - bits))] {
                    let after = step.forward(word, bits);
                    assert_eq!(step.backward(after, bits), word, "{step:?}, {bits} bits");
                    assert_eq!(after & (u64::MAX >> (64 - bits)), after);
                }
            }
        }
        let mixing = Mixing(vec![Step::Right(33), Step::Multiply(0xff51_afd7_ed55_8ccd), Step::Right(29)]);
        let forward = |word: u64| mixing.0.iter().fold(word, |word, step| step.forward(word, 64));
        let other = mixing.changed(77, Step::Xor(1 << 63), 64);
        assert_eq!(forward(77) ^ forward(other), 1 << 63);
    }
}
