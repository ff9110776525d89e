//! Keys of FNV with a given hash and a known start: small steps of its bytes that sum up to any number.

use super::arithmetic::inverse;
use crate::draw::Draw;

/// Place of the multiplication in a step of FNV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// After the byte: FNV-1a.
    After,
    /// Before the byte: FNV-1.
    Before,
}

/// Small numbers x₀, …, xₙ₋₁ such that the sum of xᵢ · multiplierⁿ⁻¹⁻ⁱ is 0 modulo 2 to the power of the
/// width.
pub(crate) struct Lattice {
    multiplier: u64,
    width: u32,
    /// A reduced basis (Lenstra, Lenstra and Lovász, 1982), computed beforehand.
    basis: &'static [&'static [i64]],
    /// Last row of the inverse of the basis, times 2 to the power of the width.
    inverse: &'static [i64],
}

/// Random beginnings that are tried.
const TRIALS: usize = 64;

impl Lattice {
    /// True if it is the lattice of this multiplier and width.
    pub(super) fn is_of(&self, multiplier: u64, width: u32) -> bool {
        (self.multiplier, self.width) == (multiplier, width)
    }

    fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    fn step(&self, order: Order, state: u64, byte: u8) -> u64 {
        let byte = u64::from(byte);
        self.mask()
            & match order {
                Order::After => (state ^ byte).wrapping_mul(self.multiplier),
                Order::Before => state.wrapping_mul(self.multiplier) ^ byte,
            }
    }

    /// Small numbers whose sum, as above, is `sum`.
    fn small(&self, sum: u64) -> Vec<i64> {
        // The last number alone makes the sum; the nearest point of the lattice is taken away from it.
        let shift = 64 - self.width;
        let sum = i128::from((sum << shift).cast_signed() >> shift);
        let mut numbers = vec![0_i128; self.basis.len()];
        if let Some(last) = numbers.last_mut() {
            *last = sum;
        }
        for (row, inverse) in self.basis.iter().zip(self.inverse) {
            let times = (sum * i128::from(*inverse) + (1 << (self.width - 1))) >> self.width;
            numbers.iter_mut().zip(*row).for_each(|(number, by)| *number -= times * i128::from(*by));
        }
        numbers.into_iter().map(|number| i64::try_from(number).unwrap_or(i64::MAX)).collect()
    }

    /// A key, as long as the basis, that collides with as many zeros for the largest number of values of the
    /// start's lowest byte, of those that a vector of the basis gives.
    ///
    /// A byte changes the lowest eight bits of the state alone. Where it carries nothing out of them, the
    /// change is a number whatever the other bits are: one byte of the start must be right.
    pub(crate) fn of_low_bytes(&self, order: Order) -> Option<Vec<u8>> {
        let signed = self.basis.iter().flat_map(|row| [1, -1].map(|sign| (*row, sign)));
        let keys = signed.flat_map(|(row, sign)| (0..=u8::MAX).map(move |low| (row, sign, low)));
        let made = keys.filter_map(|(row, sign, low)| {
            let key = self.stepped(order, u64::from(low), row.iter().map(|step| sign * step))?;
            let works = |low: &u8| {
                let steps = row.iter().map(|step| sign * step);
                self.takes_steps(order, u64::from(*low), steps.zip(key.iter().copied()))
            };
            Some(((0..=u8::MAX).filter(works).count(), key))
        });
        // The first of equals.
        Some(made.reduce(|best, next| if next.0 > best.0 { next } else { best })?.1)
    }

    /// The low byte that the next byte of the key meets.
    fn met(&self, order: Order, state: u64) -> u8 {
        match order {
            Order::After => (state & 0xff) as u8,
            Order::Before => (state.wrapping_mul(self.multiplier) & 0xff) as u8,
        }
    }

    /// The key that makes `steps` from `state`; `None` if one carries.
    fn stepped(&self, order: Order, mut state: u64, steps: impl Iterator<Item = i64>) -> Option<Vec<u8>> {
        steps
            .map(|step| {
                let low = self.met(order, state);
                let byte = low ^ u8::try_from(i64::from(low).checked_add(step)?).ok()?;
                state = self.step(order, state, byte);
                Some(byte)
            })
            .collect()
    }

    /// True if each byte makes its step from `state`.
    fn takes_steps(&self, order: Order, mut state: u64, mut steps: impl Iterator<Item = (i64, u8)>) -> bool {
        steps.all(|(step, byte)| {
            let low = self.met(order, state);
            state = self.step(order, state, byte);
            i64::from(low ^ byte) == i64::from(low) + step
        })
    }

    /// A key of `length` bytes that leads from the state `start` to `hash`.
    pub(crate) fn key(
        &self,
        order: Order,
        start: u64,
        hash: u64,
        length: usize,
        draw: &mut Draw,
    ) -> Option<Vec<u8>> {
        let free = length.checked_sub(self.basis.len())?;
        (0..TRIALS).find_map(|_| {
            let mut key = draw.bytes(free);
            let state = key.iter().fold(start, |state, byte| self.step(order, state, *byte));
            let zeros = self.basis.iter().fold(state, |state, _| self.step(order, state, 0));
            let missing = hash.wrapping_sub(zeros);
            let sum = match order {
                Order::After => missing.wrapping_mul(inverse(self.multiplier)),
                Order::Before => missing,
            };
            key.extend(self.stepped(order, state, self.small(sum & self.mask()).into_iter())?);
            Some(key)
        })
    }
}

/// The lattices of the three primes.
pub(crate) const LATTICES: [Lattice; 3] = [
    // FNV with a prime of 32 bits.
    Lattice {
        multiplier: 0x0100_0193,
        width: 32,
        basis: &[
            &[1, -2, 1, -4, -4, -2, 6, 4],
            &[1, 5, 5, -7, 1, 3, -3, 3],
            &[-7, -4, 3, -5, -5, 9, 1, 0],
            &[-3, 7, -1, 8, -10, -7, -5, 9],
            &[10, -7, 1, 2, -10, 3, -9, -6],
            &[-6, 0, -1, -14, 8, -14, 0, -7],
            &[6, 10, -9, -9, 0, 8, 8, -8],
            &[2, 0, -18, -5, 1, 6, -3, 13],
        ],
        inverse: &[
            177_511_529,
            148_425_482,
            -64_258_554,
            -599_029,
            -72_702_005,
            -73_825_303,
            -114_885_940,
            97_919_948,
        ],
    },
    // FNV with a prime of 64 bits.
    Lattice {
        multiplier: 0x100_0000_01b3,
        width: 64,
        basis: &[
            &[5, 0, -2, 8, -3, 0, -7, -7, -2, 2, 8, 4, 5, 1, -6, -2],
            &[1, -6, 6, 0, 5, 4, -6, -3, -1, -6, 5, 4, 6, -9, -4, -4],
            &[-2, 5, -6, -8, -2, -5, 5, -1, -1, 14, -4, -6, 1, -3, -2, -3],
            &[5, -3, 9, 3, 3, -5, 0, -11, 3, -9, 6, 3, -2, 1, -1, -8],
            &[-4, 3, -3, 2, 1, 6, -10, 1, 0, -14, 0, -6, -1, -8, 3, 2],
            &[-3, 2, 6, -4, 2, 5, 7, 8, -10, 4, -4, -1, 2, 3, -7, -4],
            &[-6, -2, -5, 3, 6, -2, 4, 1, -3, 2, 7, -1, 7, -12, -3, 6],
            &[-3, 4, 2, -1, 1, -2, 2, 1, 1, -7, 7, -2, 3, 2, 15, 9],
            &[-2, 2, 5, -8, -7, -7, 3, 6, 0, 2, 9, 1, -4, 8, 1, -3],
            &[-7, -4, -9, 9, 0, -4, -2, 0, 6, 2, 7, 4, -8, 4, 3, -5],
            &[-4, 2, 7, -6, 7, -2, 3, 2, 7, 0, 10, 4, -5, 0, 0, 13],
            &[-1, 6, -8, 1, 0, 8, -7, -1, -11, 4, 1, -1, -11, 1, 4, 1],
            &[-5, -10, 4, 0, 5, -4, -8, 8, -10, -5, -3, -5, -5, 0, 3, -7],
            &[10, 7, -9, 3, 0, -11, -8, 7, -3, 7, 6, 1, 0, -2, -1, 3],
            &[-9, 7, 5, 1, -4, -1, -2, 13, -3, -7, -7, 7, 4, -2, 8, -2],
            &[3, 2, 1, 12, -3, 5, 4, 11, 0, 1, 0, -11, 0, 1, 2, -2],
        ],
        inverse: &[
            476_765_062_501_693_920,
            -995_518_248_134_594_987,
            -576_502_620_708_151_786,
            -368_782_081_130_403_670,
            -170_084_651_997_013_015,
            -711_956_666_920_056_743,
            552_193_896_767_472_167,
            -317_352_308_125_500_760,
            4_428_948_564_019_076,
            -815_646_378_851_227_138,
            498_627_940_208_738_557,
            85_055_125_588_315_586,
            298_547_153_414_268_787,
            -267_955_539_503_145_480,
            45_694_394_156_627_429,
            -63_354_403_850_962_602,
        ],
    },
    // The lowest 64 bits of FNV with a prime of 128 bits.
    Lattice {
        multiplier: 0x13b,
        width: 64,
        basis: &[
            &[0, 0, -9, -4, 12, -4, 2, -7, 0, -4, -4, -8, -2, -2, -2, -2],
            &[0, 1, 10, 4, -5, 3, -3, -4, -7, -3, 6, 8, -3, 0, -7, -6],
            &[-3, 5, -1, -4, -7, 2, -5, -4, -10, 1, 9, -5, -3, 1, -1, -5],
            &[-3, -5, -5, -4, -3, 11, 0, 0, 0, 9, -3, -8, -2, -1, 3, -3],
            &[1, 10, 4, -5, 3, -3, -4, -7, -3, 6, 8, -3, 0, -7, -6, 0],
            &[1, 0, -1, 7, -8, 0, -10, 4, 0, 9, -2, -5, 3, -7, 1, 8],
            &[-4, 2, -8, -2, -7, 1, 1, 9, -6, -5, -1, -1, -3, -9, 3, 0],
            &[1, -8, -2, -1, -1, -11, -4, -1, 1, 5, 0, -11, 4, -5, 3, -6],
            &[6, 1, 6, -1, 1, 6, 7, 7, 0, -3, 4, 5, -9, -1, -13, 4],
            &[4, 0, 2, -7, 10, -1, -3, 5, -3, -3, 4, -11, 4, -2, 0, 5],
            &[0, -4, 2, -8, -2, -7, 1, 1, 9, -6, -5, -1, -1, -3, -9, 3],
            &[7, 0, -4, -6, 0, -4, -12, -1, 3, -1, 3, -7, 11, -2, -3, -2],
            &[5, 1, -4, 3, 5, -9, 0, -9, 7, 6, -4, -3, -5, -9, 13, 1],
            &[-9, 6, 4, -1, 12, 2, 0, 3, 5, -6, 5, -2, -2, -3, -4, 0],
            &[-5, -7, -5, -5, 10, -2, -7, 5, 2, 2, 1, 6, 0, 3, -1, -3],
            &[-1, -9, -9, 5, 6, 5, -4, -13, -1, -4, 6, 4, 6, 2, -7, 6],
        ],
        inverse: &[
            -353_595_104_956_943_935,
            -526_871_010_263_448_450,
            351_934_862_396_019_838,
            -292_438_364_645_653_706,
            115_999_679_283_589_381,
            467_189_136_303_182_990,
            -116_574_481_765_708_555,
            -527_981_723_237_812_487,
            -177_169_382_986_134_399,
            704_590_419_292_597_334,
            585_424_413_318_805_001,
            -702_919_596_616_189_259,
            119_350_108_080_066_946,
            -292_806_645_645_835_876,
            1_757_492_860_787,
            409_925_292_849_507_516,
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_few_low_bytes_collides_for_one_start_in_hundreds() {
        let mut draw = Draw::new(4);
        for lattice in &LATTICES {
            for order in [Order::After, Order::Before] {
                let key = lattice.of_low_bytes(order).unwrap();
                let pair = [vec![0; key.len()], key];
                let equal = (0..1 << 14).filter(|_| {
                    let start = draw.word() & lattice.mask();
                    let [one, other] = pair
                        .each_ref()
                        .map(|key| key.iter().fold(start, |state, byte| lattice.step(order, state, *byte)));
                    one == other
                });
                let equal = equal.count();
                assert!(equal > 32, "{:#x}, {order:?}: {equal} of 16,384", lattice.multiplier);
            }
        }
    }

    #[test]
    fn each_hash_has_a_key_that_leads_to_it() {
        let mut draw = Draw::new(3);
        for lattice in &LATTICES {
            for row in lattice.basis {
                let sum = row.iter().fold(0_u64, |sum, number| {
                    sum.wrapping_mul(lattice.multiplier).wrapping_add_signed(*number)
                });
                assert_eq!(sum & lattice.mask(), 0);
            }
            for order in [Order::After, Order::Before] {
                for _ in 0..20 {
                    let [start, hash] = [(); 2].map(|()| draw.word() & lattice.mask());
                    let key = lattice.key(order, start, hash, 30, &mut draw).unwrap();
                    let reached = key.iter().fold(start, |state, byte| lattice.step(order, state, *byte));
                    assert_eq!((key.len(), reached), (30, hash), "{:#x}, {order:?}", lattice.multiplier);
                }
            }
        }
    }
}
