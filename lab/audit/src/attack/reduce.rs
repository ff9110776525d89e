//! Reduction of lattices: small numbers whose products with given ones cancel.

use super::arithmetic::inverse;

/// Share of the length that a later vector may have (Lenstra, Lenstra and Lovász, 1982, have 3/4).
const DELTA: f64 = 0.99;

/// Steps after which a reduction ends as it is.
const STEPS: usize = 100_000;

/// Bits by which the modulus grows between two reductions: the entries stay so small that floating-point
/// arithmetic is exact enough.
const BITS: u32 = 8;

/// Short vectors whose products with `factors` sum up to 0 modulo 2 to the power of `width`: a basis of all
/// such vectors.
pub(super) fn cancelling(factors: &[u64], width: u32) -> Vec<Vec<i64>> {
    let unit = |place: usize| (0..factors.len()).map(|other| i64::from(place == other)).collect();
    let mut basis: Vec<Vec<i64>> = (0..factors.len()).map(unit).collect();
    for bits in (0..width).step_by(BITS as usize) {
        restrict(&mut basis, factors, bits, BITS.min(width - bits));
        reduce(&mut basis);
    }
    basis
}

/// Leaves the vectors whose sums are 0 modulo 2 to the power of `bits + more`, of those modulo 2 to the power
/// of `bits`.
fn restrict(basis: &mut [Vec<i64>], factors: &[u64], bits: u32, more: u32) {
    let sum = |vector: &Vec<i64>| {
        let products =
            vector.iter().zip(factors).map(|(number, by)| number.cast_unsigned().wrapping_mul(*by));
        products.fold(0, u64::wrapping_add) >> bits & ((1 << more) - 1)
    };
    let sums: Vec<u64> = basis.iter().map(sum).collect();
    let pivot = (0..basis.len()).filter(|row| sums[*row] != 0).min_by_key(|row| sums[*row].trailing_zeros());
    let Some(pivot) = pivot else { return };
    let shift = sums[pivot].trailing_zeros();
    let modulus = 1_i64 << (more - shift);
    let back = inverse(sums[pivot] >> shift);
    let vector = basis[pivot].clone();
    for (row, sum) in basis.iter_mut().zip(&sums) {
        let times = ((sum >> shift).wrapping_mul(back) & (modulus as u64 - 1)) as i64;
        let times = if times > modulus / 2 { times - modulus } else { times };
        row.iter_mut().zip(&vector).for_each(|(entry, by)| *entry -= times * by);
    }
    basis[pivot] = vector.iter().map(|entry| entry * modulus).collect();
}

/// Makes the vectors of a basis short and nearly orthogonal.
///
/// Source: Lenstra, Lenstra and Lovász, Factoring polynomials with rational coefficients, 1982, with the
/// floating-point arithmetic of Schnorr and Euchner, Lattice basis reduction, 1994. The vectors themselves
/// are exact, so that rounding makes them longer at worst.
fn reduce(basis: &mut [Vec<i64>]) {
    let mut orthogonal: Vec<Vec<f64>> = vec![Vec::new(); basis.len()];
    let mut number = 0;
    for _ in 0..STEPS {
        if number >= basis.len() {
            break;
        }
        let last = shorten(basis, &mut orthogonal, number);
        let [before, now] = [number.saturating_sub(1), number].map(|row| norm(&orthogonal[row]));
        match number > 0 && now < (DELTA - last * last) * before {
            true => {
                basis.swap(number, number - 1);
                number -= 1;
            }
            false => number += 1,
        }
    }
}

/// Takes multiples of earlier vectors away from a vector, and computes the part of it that is orthogonal to
/// them. Returns its share of the vector before.
fn shorten(basis: &mut [Vec<i64>], orthogonal: &mut [Vec<f64>], number: usize) -> f64 {
    /// Rounds: each of them is exact in the highest bits of what is left.
    const ROUNDS: usize = 64;
    let mut shares = Vec::new();
    for _ in 0..ROUNDS {
        let mut rest: Vec<f64> = basis[number].iter().map(|entry| *entry as f64).collect();
        shares = vec![0.0; number];
        for before in 0..number {
            let share =
                product(&rest, &orthogonal[before]) / norm(&orthogonal[before]).max(f64::MIN_POSITIVE);
            rest.iter_mut().zip(&orthogonal[before]).for_each(|(entry, by)| *entry -= share * by);
            shares[before] = share;
        }
        orthogonal[number] = rest;
        // The shares of a difference follow from both vectors' shares; from the last one on, the earlier
        // vectors' are out of date, and the next round has them.
        let largest = shares.iter().rposition(|share| share.abs() > 0.501);
        let Some(largest) = largest else { break };
        let times = shares[largest].round() as i64;
        let (earlier, later) = basis.split_at_mut(number);
        if let (Some(by), Some(vector)) = (earlier.get(largest), later.first_mut()) {
            vector.iter_mut().zip(by).for_each(|(entry, by)| *entry -= times * by);
        }
    }
    shares.last().copied().unwrap_or(0.0)
}

fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

fn norm(vector: &[f64]) -> f64 {
    product(vector, vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_become_short_and_stay_in_the_lattice() {
        for (multiplier, width) in [(65_599_u64, 64), (0x100_0000_01b3, 64), (0x0100_0193, 32), (34, 13)] {
            let powers: Vec<u64> =
                core::iter::successors(Some(1_u64), |power| Some(power.wrapping_mul(multiplier)))
                    .take(24)
                    .collect();
            for vector in cancelling(&powers, width) {
                let products =
                    vector.iter().zip(&powers).map(|(number, power)| number.wrapping_mul(*power as i64));
                assert_eq!(products.fold(0, i64::wrapping_add) << (64 - width), 0, "{multiplier:#x}");
                assert!(vector.iter().any(|number| *number != 0));
                assert!(vector.iter().all(|number| number.abs() < 16), "{multiplier:#x}: {vector:?}");
            }
        }
    }
}
