//! One-to-one mixings of a word by shifts, odd products and rotations, and their inverses.

use super::arithmetic::inverse;
use crate::constants::Constants;
use core::fmt;
use std::collections::BTreeSet;

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
    /// The word whose mixing is that of `word` with a `change`, which is no step of its own.
    pub(super) fn changed(&self, word: u64, change: Step, bits: u32) -> u64 {
        let mixed = self.0.iter().fold(word, |word, step| step.forward(word, bits));
        let after = change.forward(mixed, bits);
        self.0.iter().rev().fold(after, |word, step| step.backward(word, bits))
    }
}

/// Steps with the constants of a function.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    /// Those of any place.
    any: Vec<Step>,
    /// Those that stand first alone.
    first: Vec<Step>,
}

impl Steps {
    /// The steps of words of `bits` bits.
    pub(super) fn new(constants: &Constants, bits: u32) -> Self {
        let below = |all: &[u32]| all.iter().copied().filter(|by| *by < bits).collect::<Vec<_>>();
        let (right, left) = (below(&constants.right), below(&constants.left));
        let numbers: BTreeSet<u64> =
            constants.numbers.iter().map(|number| number & (u64::MAX >> (64 - bits))).collect();
        let odd = numbers.iter().copied().filter(|number| number % 2 == 1);
        let any = odd.map(Step::Multiply).chain(right.into_iter().map(Step::Right));
        let any = any.chain(rotations(constants, bits).into_iter().map(Step::Rotate));
        Self {
            any: any.chain(left.into_iter().map(Step::Left)).collect(),
            first: numbers.iter().flat_map(|number| [Step::Xor(*number), Step::Add(*number)]).collect(),
        }
    }

    /// The same steps with those of two rotations or two shifts, in any place; `None` if there are no two
    /// numbers of bits, or too many pairs of them.
    pub(super) fn with_pairs(&self) -> Option<Self> {
        let two = |all: Vec<u32>, step: fn(u32, u32) -> Step| {
            let of = |place: usize| all[..place].iter().map(move |one| (*one, place)).collect::<Vec<_>>();
            let pairs: Vec<(u32, usize)> = (0..all.len()).flat_map(of).collect();
            pairs.into_iter().map(|(one, place)| step(one, all[place])).collect::<Vec<_>>()
        };
        let bits = |of: fn(&Step) -> Option<u32>| self.any.iter().filter_map(of).collect::<Vec<_>>();
        let rotations = bits(|step| if let Step::Rotate(by) = step { Some(*by) } else { None });
        let rights = bits(|step| if let Step::Right(by) = step { Some(*by) } else { None });
        let pairs = [two(rotations, Step::Rotations), two(rights, Step::Rights)].concat();
        let any = self.any.iter().copied().chain(pairs.iter().copied()).collect();
        (1..=PAIRS).contains(&pairs.len()).then(|| Self { any, first: self.first.clone() })
    }

    /// Mixings of up to `longest` steps: first those of the shapes that have the fewest.
    pub(super) fn mixings(&self, longest: usize) -> impl Iterator<Item = Mixing> + '_ {
        let lengths = 1..=longest;
        let shapes =
            lengths.flat_map(|length| {
                [(true, true), (true, false), (false, true), (false, false)]
                    .map(|(alternates, is_plain)| Shape { length, alternates, is_plain })
            });
        let mut shapes: Vec<(f64, Shape)> = shapes.map(|shape| (shape.count(self), shape)).collect();
        shapes.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        shapes.into_iter().flat_map(|(_, shape)| Mixings::new(self, shape))
    }
}

/// Steps of two rotations or two shifts, at most: more leave no time for mixings of several steps.
const PAIRS: usize = 6;

/// Rotations to the left, also those that are written as two shifts.
pub(super) fn rotations(constants: &Constants, bits: u32) -> BTreeSet<u32> {
    let shifted = constants.left.iter().filter(|by| constants.right.iter().any(|right| *by + right == bits));
    constants.rotations.iter().chain(shifted).copied().filter(|by| *by < bits).collect()
}

/// Mixings of one length.
#[derive(Clone, Copy, Debug)]
struct Shape {
    length: usize,
    /// True if products and other steps take turns.
    alternates: bool,
    /// True if no number is added first.
    is_plain: bool,
}

impl Shape {
    /// Number of its mixings, or more.
    fn count(&self, steps: &Steps) -> f64 {
        let [any, first] = [&steps.any, &steps.first].map(|steps| steps.len() as f64);
        let products = steps.any.iter().filter(|step| matches!(step, Step::Multiply(_))).count() as f64;
        let length = self.length - usize::from(!self.is_plain);
        let count = match self.alternates {
            true => {
                let (many, few) = (length.div_ceil(2) as i32, length as i32 / 2);
                let others = any - products;
                products.powi(many) * others.powi(few) + products.powi(few) * others.powi(many)
            }
            false => any.powi(length as i32),
        };
        count * if self.is_plain { 1.0 } else { first }
    }

    /// True if one step follows another.
    fn allows(&self, before: Step, step: Step) -> bool {
        let is_product = |step: Step| matches!(step, Step::Multiply(_));
        match before {
            Step::Xor(_) | Step::Add(_) => true,
            before if self.alternates => is_product(before) != is_product(step),
            before => core::mem::discriminant(&before) != core::mem::discriminant(&step),
        }
    }
}

/// All mixings of a shape, in the order of numbers whose digits are the steps.
struct Mixings<'a> {
    shape: Shape,
    choices: Vec<&'a [Step]>,
    digits: Vec<usize>,
    is_done: bool,
}

impl<'a> Mixings<'a> {
    fn new(steps: &'a Steps, shape: Shape) -> Self {
        let mut choices = vec![&steps.any[..]; shape.length];
        if !shape.is_plain {
            choices[0] = &steps.first;
        }
        let is_done = choices.iter().any(|steps| steps.is_empty());
        Self { shape, digits: vec![0; choices.len()], choices, is_done }
    }

    /// The next number whose digits differ from those of this one up to `place`.
    fn advance(&mut self, place: usize) {
        self.digits[place + 1..].fill(0);
        for place in (0..=place).rev() {
            self.digits[place] += 1;
            if self.digits[place] < self.choices[place].len() {
                return;
            }
            self.digits[place] = 0;
        }
        self.is_done = true;
    }
}

impl Iterator for Mixings<'_> {
    type Item = Mixing;

    fn next(&mut self) -> Option<Mixing> {
        while !self.is_done {
            let steps: Vec<Step> =
                self.digits.iter().zip(&self.choices).map(|(digit, choices)| choices[*digit]).collect();
            match steps.windows(2).position(|pair| !self.shape.allows(pair[0], pair[1])) {
                Some(place) => self.advance(place + 1),
                None => {
                    self.advance(steps.len() - 1);
                    return Some(Mixing(steps));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn constants() -> Constants {
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

    #[test]
    fn mixings_differ_and_grow() {
        let steps = Steps::new(&constants(), 64);
        assert_eq!(rotations(&constants(), 64), BTreeSet::from([27, 31]));
        // Two products; three, two and two other steps; three numbers that are added in two ways.
        assert_eq!((steps.any.len(), steps.first.len()), (9, 6));
        let with_pairs = steps.with_pairs().unwrap();
        assert_eq!((with_pairs.any.len(), with_pairs.first.len()), (9 + 3 + 1, 6));
        assert!(Steps::new(&Constants::default(), 64).with_pairs().is_none());
        let short: Vec<Mixing> = steps.mixings(1).collect();
        assert_eq!(short.len(), 9 + 6 + 9 + 6);
        let shape = Shape { length: 3, alternates: true, is_plain: true };
        let all: HashSet<Vec<String>> = Mixings::new(&steps, shape)
            .map(|mixing| mixing.0.iter().map(|step| format!("{step:?}")).collect())
            .collect();
        assert_eq!(all.len() as f64, shape.count(&steps));
        assert_eq!(all.len(), 7 * 2 * 7 + 2 * 7 * 2);
        assert!(steps.mixings(5).any(|mixing| mixing.0[..]
            == [
                Step::Right(33),
                Step::Multiply(0xff51_afd7_ed55_8ccd),
                Step::Right(29),
                Step::Multiply(0x9e37_79b9),
                Step::Right(5)
            ]));
        assert_eq!(Steps::new(&Constants::default(), 64).mixings(6).count(), 0);
    }
}
