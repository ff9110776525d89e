//! Words that reach the state through folded products with public constants, as in mum-hash.
//!
//! The halves of a product of 128 bits are folded to one word, by a sum or by exclusive or. For a public
//! factor the fold is neither one to one nor one way: the words of a value can be computed. Two words of one
//! value are two keys of one hash, under every seed, and two words in a row whose values have one sum are
//! more.

use super::arithmetic::{inverse_modulo, set_word};
use super::{About, Attack, FEWEST, Knowledge, Miss, Target};
use crate::constants::Constants;
use crate::keys::Keys;
use core::fmt;

/// Words of 64 bits that are changed behind their products.
pub(super) struct FoldedProducts;

/// Bytes of a key if the user states none: some functions take another way from more than 64 on.
const LENGTH: usize = 64;

/// Bits of the sum of two values: its subsets are the values that two words in a row are given.
const BITS: u32 = 12;

/// Values that are tried for one that two words have.
const VALUES: u64 = 1 << 9;

/// Fresh keys and seeds by which the words of one place are judged, each with two other words of one value.
/// Under a wrong constant, two words have one value in one of four cases, which are not independent.
const TRIALS: usize = 24;

/// Candidates of one place that are tried.
const MOST: usize = 4;

/// Fold of a product to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fold {
    /// Sum of the halves.
    Add,
    /// Exclusive or of the halves.
    Xor,
}

/// Combination of a word with a constant before the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    Add(u64),
    Xor(u64),
}

/// Value of a word: its product with a factor, folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Term {
    fold: Fold,
    factor: u64,
    before: Before,
}

impl Before {
    fn backward(self, word: u64) -> u64 {
        match self {
            Self::Nothing => word,
            Self::Add(by) => word.wrapping_sub(by),
            Self::Xor(by) => word ^ by,
        }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (factor, fold) = (self.factor, if self.fold == Fold::Add { "+" } else { "^" });
        match self.before {
            Before::Nothing => write!(f, "x *= {factor:#x}")?,
            Before::Add(by) => write!(f, "x = (x + {by:#x}) * {factor:#x}")?,
            Before::Xor(by) => write!(f, "x = (x ^ {by:#x}) * {factor:#x}")?,
        }
        write!(f, " in 128 bits, high {fold} low")
    }
}

impl Fold {
    fn value(self, one: u64, other: u64) -> u64 {
        let product = u128::from(one) * u128::from(other);
        let (high, low) = ((product >> 64) as u64, product as u64);
        match self {
            Self::Add => high.wrapping_add(low),
            Self::Xor => high ^ low,
        }
    }

    /// Values that two words are likely to have: parts of the factor for a sum, few bits for an exclusive or.
    fn values(self, factor: u64) -> impl Iterator<Item = u64> {
        // Multiples that spread over all numbers below.
        const SPREAD: u64 = 181;
        (1..VALUES).map(move |value| match self {
            Self::Add => factor / VALUES * (value * SPREAD % VALUES) + value,
            Self::Xor => value,
        })
    }

    /// Words whose product with `factor` has this value. The time doubles with each bit of the value.
    fn words(self, factor: u64, value: u64) -> Vec<u64> {
        let mut words = match self {
            Self::Add => unfolded_sum(factor, value),
            Self::Xor => unfolded(factor, value).unwrap_or_default(),
        };
        words.retain(|word| self.value(*word, factor) == value);
        words.sort_unstable();
        words.dedup();
        words
    }
}

/// Words whose product with `factor` has this sum of both halves.
///
/// For the halves h and l, the product is h(2⁶⁴ − 1) + h + l, so that the sum is the product modulo 2⁶⁴ − 1.
/// A carry out of the sum is lost, and is 1 there.
fn unfolded_sum(factor: u64, value: u64) -> Vec<u64> {
    const MODULUS: u64 = u64::MAX;
    /// Words of a factor that shares a divisor with the modulus, at most.
    const MOST: u64 = 16;
    let divisor = common_divisor(factor, MODULUS);
    let modulus = MODULUS / divisor;
    let Some(inverse) = inverse_modulo(u128::from(factor / divisor), u128::from(modulus)) else {
        return Vec::new();
    };
    let sums = [Some(value), value.checked_add(1)].into_iter().flatten();
    let sums = sums.filter(|sum| sum % divisor == 0);
    let of_sum = |sum: u64| {
        let least = u128::from(sum / divisor % modulus) * u128::from(inverse) % u128::from(modulus);
        (0..divisor.min(MOST)).map(move |times| least as u64 + times * modulus)
    };
    sums.flat_map(of_sum).collect()
}

fn common_divisor(one: u64, other: u64) -> u64 {
    if one == 0 { other } else { common_divisor(other % one, one) }
}

/// Words whose product with `factor` has this exclusive or of both halves, by trying each subset of its bits;
/// `None` if the factor has no inverse as it should.
///
/// For the halves h and l = h ⊕ x, the product is h(2⁶⁴ + 1) + x − 2(x ∧ h), and a multiple of the factor: a
/// guess at x ∧ h gives h modulo the factor.
pub(super) fn unfolded(factor: u64, folded: u64) -> Option<Vec<u64>> {
    let modulus = u128::from(factor);
    let inverse = u128::from(inverse_modulo(((1 << 64) + 1) % modulus.max(1), modulus)?);
    let mut words = Vec::new();
    let mut common = folded;
    loop {
        // 2(x ∧ h) − x modulo the factor.
        let right = (2 * u128::from(common) + modulus - u128::from(folded) % modulus) % modulus;
        let high = (right * inverse % modulus) as u64;
        if high & folded == common {
            let product = u128::from(high) << 64 | u128::from(high ^ folded);
            debug_assert_eq!(product % modulus, 0);
            words.extend(u64::try_from(product / modulus).ok());
        }
        if common == 0 {
            return Some(words);
        }
        common = (common - 1) & folded;
    }
}

/// A term, and for each trial two words of one value.
type Candidate = (Term, Vec<[u64; 2]>);

/// Factors and words combined with them: all constants, in both folds.
fn candidates(constants: &Constants) -> Vec<Candidate> {
    let mut numbers: Vec<u64> = constants.numbers.iter().chain(&constants.table).copied().collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut found = Vec::new();
    for factor in numbers.iter().copied() {
        for fold in [Fold::Add, Fold::Xor] {
            let two = fold.values(factor).map(|value| fold.words(factor, value));
            let two = two.filter_map(|words| words.first_chunk::<2>().copied());
            let two: Vec<[u64; 2]> = two.take(TRIALS).collect();
            if two.len() < TRIALS {
                continue;
            }
            let each = numbers.iter().flat_map(|by| [Before::Add(*by), Before::Xor(*by)]);
            for before in core::iter::once(Before::Nothing).chain(each) {
                let words = two.iter().map(|two| two.map(|word| before.backward(word)));
                found.push((Term { fold, factor, before }, words.collect()));
            }
        }
    }
    found
}

impl Attack for FoldedProducts {
    fn about(&self) -> About {
        About {
            id: "folded-products",
            title: "each word is folded by a product with a public constant, which can be inverted",
            source: "own analysis; constants of the function's machine code and of the data that it reads",
            knowledge: Knowledge::Nothing,
            aims_at: &[],
        }
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let constants = target.constants()?;
        let candidates = candidates(&constants);
        let length = target.length_or(LENGTH);
        let mut places: Vec<Place> = Vec::new();
        for number in 0..length / 8 {
            let found = at_place(target, &candidates, (length, number))?;
            if !found.is_empty() {
                places.push((number, found));
            }
            // Most functions treat all words alike.
            if places.is_empty() && number == 1 {
                break;
            }
        }
        let Some((_, of_first)) = places.first() else {
            return Err(Miss::NotApplicable("no product with its constants explains its words".to_owned()));
        };
        let note = |term: &Term| Some(format!("a word of 64 bits is folded by {term}"));
        let base = target.draw.bytes(length);
        if let [(one, first), (other, second), rest @ ..] = &places[..] {
            let each =
                first.iter().flat_map(|(first, _)| second.iter().map(move |(second, _)| (first, second)));
            for (first, second) in each {
                let pairs = pairs(*first, *second);
                let keys = keys(&base, ([*one, *other], &pairs), rest, target.count);
                match target.colliding(keys) {
                    Err(Miss::NotApplicable(_)) => {}
                    outcome => {
                        target.note = note(first);
                        return outcome;
                    }
                }
            }
        }
        target.note = of_first.first().and_then(|(term, _)| note(term));
        let keys = keys(&base, ([0, 0], &[]), &places, target.count);
        target.colliding(keys)
    }
}

/// A place of the key, and terms that explain it, with two words of one value each.
type Place = (usize, Vec<(Term, [u64; 2])>);

/// The candidates under which two words at place `number` of a key of `length` bytes have one hash, under
/// fresh seeds.
fn at_place(
    target: &mut Target<'_>,
    candidates: &[Candidate],
    (length, number): (usize, usize),
) -> Result<Vec<(Term, [u64; 2])>, Miss> {
    let mut left: Vec<&Candidate> = candidates.iter().collect();
    for trial in 0..TRIALS {
        let (seed, base) = (target.draw.key(), target.draw.bytes(length));
        let with = |word: u64| {
            let mut key = base.clone();
            set_word(&mut key, 8 * number, 8, word);
            key
        };
        let keys: Keys =
            left.iter().flat_map(|(_, words)| words[trial].map(with)).chain([base.clone()]).collect();
        let hashes = target.hash_under(&seed, &keys)?;
        let Some((of_base, hashes)) = hashes.split_last() else { return Ok(Vec::new()) };
        // A word that is not hashed is no product.
        let holds = |[one, other]: &[u64; 2]| one == other && one != of_base;
        let mut hashes = hashes.as_chunks::<2>().0.iter();
        left.retain(|_| hashes.next().is_some_and(holds));
        if left.is_empty() {
            break;
        }
    }
    Ok(left.into_iter().take(MOST).map(|(term, words)| (*term, words[0])).collect())
}

/// Two words whose values have one sum, and one exclusive or: subsets of the same bits.
fn pairs(first: Term, second: Term) -> Vec<[u64; 2]> {
    let all = (1 << BITS) - 1;
    let word = |term: Term, value| {
        term.fold.words(term.factor, value).first().map(|word| term.before.backward(*word))
    };
    (0..=all).filter_map(|part| Some([word(first, part)?, word(second, all ^ part)?])).collect()
}

/// Keys with every choice of a pair of words at two places, and of one of two words at all others.
fn keys(base: &[u8], (at, pairs): ([usize; 2], &[[u64; 2]]), others: &[Place], count: usize) -> Keys {
    let choices = 1_usize.checked_shl(others.len() as u32).unwrap_or(usize::MAX);
    let all = (0..pairs.len().max(1)).flat_map(|pair| (0..choices).map(move |choice| (pair, choice)));
    let key = |(pair, choice): (usize, usize)| {
        let mut key = base.to_vec();
        if let Some(words) = pairs.get(pair) {
            at.iter().zip(words).for_each(|(number, word)| set_word(&mut key, 8 * number, 8, *word));
        }
        for (bit, (number, terms)) in others.iter().enumerate() {
            if let Some((_, words)) = terms.first() {
                set_word(&mut key, 8 * number, 8, words[choice >> bit & 1]);
            }
        }
        key
    };
    let all: Keys = all.take(count.max(FEWEST)).map(key).collect();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_inverted_in_both_folds() {
        // The second has the divisors 3 and 5 in common with 2⁶⁴ − 1.
        for factor in [0x9c06_faf4_d023_e3ab, 15 * 0x0123_4567_89ab_cdef, 0xbd9c_acc2_2c6e_9571_u64] {
            for fold in [Fold::Add, Fold::Xor] {
                let values = fold.values(factor).map(|value| (value, fold.words(factor, value)));
                let found: Vec<(u64, Vec<u64>)> = values.filter(|(_, words)| !words.is_empty()).collect();
                let is_right = |value, word| fold.value(word, factor) == value;
                assert!(found.iter().all(|(value, words)| words.iter().all(|word| is_right(*value, *word))));
                assert!(found.len() > 8, "{fold:?} {factor:#x}: {}", found.len());
                assert!(found.iter().any(|(_, words)| words.len() > 1), "{fold:?} {factor:#x}");
            }
        }
    }

    #[test]
    fn pairs_of_words_have_one_sum_of_values() {
        let term = |fold, factor| Term { fold, factor, before: Before::Xor(7) };
        let [one, other] = [(Fold::Add, 0x9c06_faf4_d023_e3ab), (Fold::Xor, 0xd4f0_6db9_9d67_be4b)]
            .map(|(fold, factor)| term(fold, factor));
        let pairs = pairs(one, other);
        assert!(pairs.len() > 256, "{}", pairs.len());
        let value = |term: Term, word: u64| term.fold.value(word ^ 7, term.factor);
        assert!(pairs.iter().all(|[a, b]| value(one, *a) + value(other, *b) == (1 << BITS) - 1));
    }
}
