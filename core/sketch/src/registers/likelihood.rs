//! Maximum likelihood of registers of levels.

/// Steps of Newton's method, which reaches the precision of a number within 10.
const STEPS: usize = 64;

/// The most likely mean number of hashes in a register, if that number has a Poisson distribution: 0 if no
/// level is present.
///
/// `present` has the number of registers in which each level is known to be present, `absent` the sum over
/// all registers of the probabilities of the levels that are known to be absent, and `chance` the
/// probability of a level. With a mean of x, a level of probability p is absent with probability exp(−x·p);
/// so the likelihood is greatest where Σ p / (exp(x·p) − 1) over the present ones equals `absent`.
pub(crate) fn likeliest_mean(present: &[f64; 64], absent: f64, chance: impl Fn(u32) -> f64) -> f64 {
    let levels = || present.iter().zip((0..).map(&chance)).filter(|(count, _)| **count > 0.0);
    let (number, sum) =
        levels().fold((0.0, 0.0), |(number, sum), (count, chance)| (number + count, sum + count * chance));
    if number == 0.0 {
        return 0.0;
    }
    // 1/z − 1/2 < 1 / (exp(z) − 1): the root is above this. From below, each step of Newton's method for a
    // convex function ends below the root, too.
    let mut mean = number / (absent + sum / 2.0);
    for _ in 0..STEPS {
        let (mut value, mut slope) = (-absent, 0.0);
        for (count, chance) in levels() {
            let odds = 1.0 / (mean * chance).exp_m1();
            value += count * chance * odds;
            slope += count * chance * chance * odds * (1.0 + odds);
        }
        let step = value / slope;
        mean += step;
        if step <= mean * 1e-14 {
            break;
        }
    }
    mean
}
