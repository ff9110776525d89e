//! Mixings with the constants of a function, in the order in which they are tried: first none at all, then
//! mixings of the shapes with the fewest steps.

use super::mixing::{Mixing, Step};
use crate::constants::Constants;
use std::collections::BTreeSet;

/// Steps with the constants of a function.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    /// Steps of any place.
    pub(super) any: Vec<Step>,
    /// Those that stand first alone.
    pub(super) first: Vec<Step>,
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

    /// The same steps with two rotations or two shifts, in any place; `None` if there are no two numbers of
    /// bits, or too many pairs of them.
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

    /// Mixings of up to `longest` steps: first the one without steps, then mixings of the shapes with the
    /// fewest.
    pub(super) fn mixings(&self, longest: usize) -> impl Iterator<Item = Mixing> + '_ {
        let lengths = 1..=longest;
        let shapes =
            lengths.flat_map(|length| {
                [(true, true), (true, false), (false, true), (false, false)]
                    .map(|(alternates, is_plain)| Shape { length, alternates, is_plain })
            });
        let mut shapes: Vec<(f64, Shape)> = shapes.map(|shape| (shape.count(self), shape)).collect();
        shapes.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let mixings = shapes.into_iter().flat_map(|(_, shape)| Mixings::new(self, shape));
        core::iter::once(Mixing::default()).chain(mixings)
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

    /// The next number whose digits differ from this one's up to `place`.
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
    use crate::attack::mixing::tests::constants;
    use std::collections::HashSet;

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
        assert_eq!((short.len(), &short[0]), (1 + 9 + 6 + 9 + 6, &Mixing::default()));
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
        assert_eq!(Steps::new(&Constants::default(), 64).mixings(6).count(), 1);
    }
}
