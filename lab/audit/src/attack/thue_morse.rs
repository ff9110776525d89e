//! Differences with the signs of the Thue–Morse sequence, which polynomials modulo a power of two take for 0.
//!
//! The product of 1 − x^(2^i) for i below k has 2^k coefficients of ±1. For an odd x, factor i is a multiple
//! of 2^(i + 2), and the first one of 2: ten factors are a multiple of 2^64, whatever the secret base is. For
//! an even base, the last 64 elements of a key decide, and come after the product.

use super::{About, Attack, FEWEST, Knowledge, Miss, Target};
use crate::draw::Draw;
use crate::keys::Keys;
use crate::subject::{Fault, Lengths};

/// Keys that differ by multiples of such a product.
pub(super) struct ThueMorse;

/// Factors that are tried: products of 2^4 to 2^11 elements.
const FACTORS: core::ops::RangeInclusive<u32> = 4..=11;

/// Longest keys, in bytes: words of eight bytes need 2^10 of them for a state of 64 bits.
const LONGEST: usize = 12 << 10;

/// Elements in front of the product, and behind it at its first place.
const HEAD: usize = 8;
const TAIL: usize = 64;

/// Fresh keys and seeds for which a product must hold.
const TRIALS: usize = 4;

/// Numbers in a key, with a product among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Product {
    /// Bytes of an element.
    width: usize,
    is_big_endian: bool,
    factors: u32,
    /// Elements behind the product, and places to which it is moved.
    tail: usize,
}

impl Product {
    /// All products, from the fewest bytes on. Of bytes there is one order.
    fn all() -> Vec<Self> {
        let kinds = [(1, false), (2, false), (2, true), (4, false), (4, true), (8, false), (8, true)];
        let mut all: Vec<Self> = kinds
            .into_iter()
            .flat_map(|kind| FACTORS.flat_map(move |factors| [TAIL, 0].map(|tail| (kind, factors, tail))))
            .map(|((width, is_big_endian), factors, tail)| Self { width, is_big_endian, factors, tail })
            .filter(|product| product.length(1) <= LONGEST)
            .collect();
        all.sort_by_key(|product| product.length(1));
        all
    }

    /// Bytes of a key in which the product has so many places.
    fn length(&self, places: usize) -> usize {
        (HEAD + (1 << self.factors) + places - 1 + self.tail) * self.width
    }

    /// Adds the product to a key, so many elements in front of its last place.
    fn add(&self, key: &mut [u8], shift: usize) {
        let elements = key.len() / self.width;
        let end = elements.saturating_sub(self.tail + shift);
        let Some(start) = end.checked_sub(1 << self.factors) else { return };
        for (number, element) in key.chunks_exact_mut(self.width).take(end).skip(start).enumerate() {
            let by = if number.count_ones() % 2 == 0 { 1 } else { u64::MAX };
            self.set(element, self.get(element).wrapping_add(by));
        }
    }

    fn get(&self, element: &[u8]) -> u64 {
        let of = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        match self.is_big_endian {
            true => element.iter().fold(0, of),
            false => element.iter().rev().fold(0, of),
        }
    }

    fn set(&self, element: &mut [u8], number: u64) {
        let bytes = number.to_be_bytes();
        element.copy_from_slice(&bytes[8 - self.width..]);
        if !self.is_big_endian {
            element.reverse();
        }
    }

    /// A random key whose elements have room for sums of products on both sides.
    fn base(&self, draw: &mut Draw, length: usize) -> Vec<u8> {
        let mut key = draw.bytes(length);
        for element in key.chunks_exact_mut(self.width) {
            let first = if self.is_big_endian { 0 } else { self.width - 1 };
            element[first] = 64 + element[first] % 128;
        }
        key
    }

    /// True if fresh keys keep their hashes under fresh seeds, and change them if one element alone changes:
    /// elements that are not hashed do not count.
    fn holds(&self, target: &mut Target<'_>, length: usize) -> Result<bool, Fault> {
        for _ in 0..TRIALS {
            let (seed, one) = (target.draw.key(), self.base(target.draw, length));
            let (mut other, mut changed) = (one.clone(), one.clone());
            self.add(&mut other, 0);
            let last = length / self.width - self.tail;
            changed[(last - 1) * self.width] ^= 1;
            if !target.collide(&seed, [&one, &other])? || target.collide(&seed, [&one, &changed])? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Attack for ThueMorse {
    fn about(&self) -> About {
        About {
            id: "thue-morse",
            title: "a polynomial modulo a power of two is 0 for the signs of the Thue–Morse sequence",
            source: "Zlobober, Anti-hash test, Codeforces, 2012",
            knowledge: Knowledge::Nothing,
            aims_at: &[],
        }
    }

    fn is_last_resort(&self) -> bool {
        true
    }

    fn keys(&self, target: &mut Target<'_>) -> Result<Keys, Miss> {
        let fixed = match (target.subject.info().lengths, target.length) {
            (Lengths::Exactly(length), _) | (Lengths::Any, Some(length)) => Some(length),
            (Lengths::Any, None) => None,
        };
        let wanted = target.count.max(FEWEST).ilog2() as usize;
        let fewest = FEWEST.ilog2() as usize;
        for product in Product::all() {
            // A stated length leaves room for fewer places.
            let places = (fewest..=wanted)
                .rev()
                .find(|places| fixed.is_none_or(|length| product.length(*places) <= length));
            let Some(places) = places else { continue };
            let length = fixed.unwrap_or(product.length(places));
            let one = product.base(target.draw, length);
            let mut other = one.clone();
            product.add(&mut other, 0);
            let seed = target.key;
            if target.collide(&seed, [&one, &other])? && product.holds(target, length)? {
                let keys = target.combinations(&one, places, &mut |key, shift| product.add(key, shift));
                if let Ok(keys) = target.colliding(keys) {
                    return Ok(keys);
                }
            }
        }
        Err(Miss::NotApplicable(
            "it is no polynomial modulo a power of two, or its keys are short".to_owned(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_of_every_odd_base_take_products_for_zero() {
        let value = |product: &Product, key: &[u8], base: u64| {
            let elements = key.chunks(product.width).map(|element| product.get(element));
            elements.fold(0, |sum: u64, element| sum.wrapping_mul(base).wrapping_add(element))
        };
        let mut draw = Draw::new(1);
        for product in Product::all() {
            let key = product.base(&mut draw, product.length(4));
            for shift in 0..4 {
                let mut other = key.clone();
                product.add(&mut other, shift);
                assert_ne!(key, other);
                let base = draw.word() | 1;
                let difference = value(&product, &key, base).wrapping_sub(value(&product, &other, base));
                // 1 + 3 + 4 + 5 + …
                let zeros = ((product.factors + 1) * (product.factors + 2) / 2 - 2).min(64);
                assert!(difference.trailing_zeros() >= zeros, "{product:?}, {shift}: {difference:#x}");
                if product.tail >= 64 {
                    assert_eq!(value(&product, &key, base << 1), value(&product, &other, base << 1));
                }
            }
        }
        // Both orders of words, bytes once, and at both places.
        assert_eq!(Product::all().iter().filter(|product| product.factors == 4).count(), 14);
    }
}
