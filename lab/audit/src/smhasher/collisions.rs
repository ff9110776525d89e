//! Collisions among the hashes of a list, of the whole hash and of bits at its ends, against chance.

/// Natural logarithm of a bound of the p-value of a list: of collisions of the whole hash, of its highest and
/// of its lowest bits. The bits are from those that give 32 buckets for each hash to those that make about 64
/// collisions, near the birthday bound. Half of the level is the whole hash's, the other half is shared.
///
/// `hashes` is sorted in the course.
pub(super) fn log_p_value(hashes: &mut [u64], width: u32) -> f64 {
    if hashes.len() < 2 {
        return 0.0;
    }
    let count = hashes.len() as f64;
    let [fewest, most] = [count.log2() + 5.0, 2.0 * count.log2() - 7.0].map(|bits| bits.round() as u32);
    let some = fewest..=most.min(width - 1);
    let log = |repeated: &[u32; 65], bits: u32| {
        let mean = count * (count - 1.0) / 2.0 * (-f64::from(bits)).exp2();
        log_tail(f64::from(repeated[bits as usize]), mean)
    };
    let least = |repeated: &[u32; 65]| some.clone().map(|bits| log(repeated, bits)).fold(0.0, f64::min);

    hashes.iter_mut().for_each(|hash| *hash <<= 64 - width);
    let high = repeated_prefixes(hashes);
    hashes.iter_mut().for_each(|hash| *hash = (*hash >> (64 - width)).reverse_bits());
    let low = repeated_prefixes(hashes);
    let ends = least(&high).min(least(&low)) + (4.0 * some.clone().count().max(1) as f64).ln();
    (log(&high, width) + 2f64.ln()).min(ends).min(0.0)
}

/// Numbers of words whose first bits repeat another word's: at 0 to 64, for as many bits.
fn repeated_prefixes(words: &mut [u64]) -> [u32; 65] {
    words.sort_unstable();
    let mut repeated = [0; 65];
    words.windows(2).for_each(|pair| repeated[(pair[0] ^ pair[1]).leading_zeros() as usize] += 1);
    for bits in (0..64).rev() {
        repeated[bits] += repeated[bits + 1];
    }
    repeated
}

/// Natural logarithm of a bound of the probability of `count` or more successes, where each trial succeeds
/// with a bounded probability, whatever the others do, and these bounds add up to `mean`.
///
/// Source: Chernoff, A measure of asymptotic efficiency for tests of a hypothesis, Annals of Mathematical
/// Statistics 23(4), 1952; in the form for sums of probabilities, as in Mitzenmacher and Upfal, Probability
/// and Computing, theorem 4.4.
pub(super) fn log_tail(count: f64, mean: f64) -> f64 {
    if count <= mean {
        return 0.0;
    }
    count - mean - count * (count / mean).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Draw;

    #[test]
    fn random_hashes_of_any_width_are_no_surprise() {
        let mut draw = Draw::new(5);
        for width in [16, 30, 32, 64] {
            let mut hashes: Vec<u64> = (0..1 << 15).map(|_| draw.word() >> (64 - width)).collect();
            assert!(log_p_value(&mut hashes, width) > -10.0, "{width}");
        }
    }

    #[test]
    fn too_many_collisions_are_seen_at_either_end() {
        let mut draw = Draw::new(6);
        let mut of = |change: fn(u64) -> u64| {
            let mut hashes: Vec<u64> = (0..1 << 15).map(|_| change(draw.word())).collect();
            log_p_value(&mut hashes, 64)
        };
        // One of the lowest or of the highest 20 bits is always 0.
        assert!(of(|hash| hash & !(1 << 4)) < -20.0);
        assert!(of(|hash| hash & !(1 << 60)) < -20.0);
        assert!(of(|hash| hash & !(1 << 33)) > -10.0);
        // One pair of 64 bits.
        let mut pair: Vec<u64> = (0..1 << 15).map(|_| draw.word()).collect();
        pair[0] = pair[1];
        assert!(log_p_value(&mut pair, 64) < -20.0);
    }

    /// The tail of a Poisson number of mean 1 is 0.0803 from 3 on, 1.1 · 10⁻⁷ from 10 on.
    #[test]
    fn the_bound_is_above_the_tail_and_near_it() {
        assert!((-2.52..0.0).contains(&log_tail(3.0, 1.0)));
        assert!((-16.02..-14.0).contains(&log_tail(10.0, 1.0)));
        assert_eq!(log_tail(1.0, 2.0), 0.0);
    }
}
