//! Bits of the hash that flip with one bit of a key or of a seed, against one half.

/// Random inputs, each followed by all that differ from it in one bit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flips {
    /// Bits of an input.
    pub(super) bits: usize,
}

/// Logarithms of bounds of the p-values, one for each bit of the input and of the hash: `hashes` has the hash
/// of each input and of its neighbours in order.
pub(super) fn of_flips(hashes: &[u64], flips: Flips, width: u32) -> Vec<f64> {
    let groups = hashes.chunks_exact(flips.bits + 1);
    let trials = groups.len() as f64;
    let mut counts = vec![[0_u32; 64]; flips.bits];
    for group in groups {
        let Some((first, neighbours)) = group.split_first() else { continue };
        for (counts, hash) in counts.iter_mut().zip(neighbours) {
            let changed = first ^ hash;
            for (bit, count) in counts.iter_mut().enumerate() {
                *count += (changed >> bit & 1) as u32;
            }
        }
    }
    let counts = counts.iter().flat_map(|counts| counts.iter().take(width as usize));
    counts.map(|count| log_two_tails(f64::from(*count), trials)).collect()
}

/// Natural logarithm of a bound of the probability of a number of successes at least as far from half of the
/// trials, for independent trials of probability one half.
///
/// Source: Hoeffding, Probability inequalities for sums of bounded random variables, Journal of the American
/// Statistical Association 58, 1963, theorem 1.
fn log_two_tails(count: f64, trials: f64) -> f64 {
    let share = count / trials;
    let term = |share: f64| if share > 0.0 { share * (2.0 * share).ln() } else { 0.0 };
    (2f64.ln() - trials * (term(share) + term(1.0 - share))).min(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Draw;

    #[test]
    fn a_bit_that_never_flips_is_seen_and_random_bits_are_not() {
        let mut draw = Draw::new(3);
        let random: Vec<u64> = (0..512 * 9).map(|_| draw.word()).collect();
        let least = |hashes: &[u64]| of_flips(hashes, Flips { bits: 8 }, 64).into_iter().fold(0.0, f64::min);
        assert!(least(&random) > -20.0, "{}", least(&random));
        let still: Vec<u64> = random.iter().map(|hash| hash | 1 << 40).collect();
        assert!(least(&still) < -300.0);
    }

    #[test]
    fn the_bound_is_that_of_the_theorem() {
        assert_eq!(log_two_tails(50.0, 100.0), 0.0);
        // 2 · 2^-100, for all trials.
        assert!((log_two_tails(100.0, 100.0) + 99.0 * 2f64.ln()).abs() < 1e-9);
        assert!((log_two_tails(0.0, 100.0) + 99.0 * 2f64.ln()).abs() < 1e-9);
    }
}
