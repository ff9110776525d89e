//! Interval of a share that was measured by trials.

/// Probability that the interval does not hold the true share, both sides together.
const ERROR: f64 = 0.05;

/// Clopper–Pearson interval at 95 % of the probability of success, from `successes` in `trials`.
///
/// Source: Clopper and Pearson, The use of confidence or fiducial limits illustrated in the case of the
/// binomial, Biometrika 26(4), 1934. The bounds are found by bisection on the sum of the binomial's terms.
pub fn clopper_pearson(successes: u64, trials: u64) -> (f64, f64) {
    if trials == 0 || successes > trials {
        return (0.0, 1.0);
    }
    // The sum has fewer terms on the side of fewer outcomes.
    if successes > trials / 2 {
        let (low, high) = clopper_pearson(trials - successes, trials);
        return (1.0 - high, 1.0 - low);
    }
    let low = match successes.checked_sub(1) {
        None => 0.0,
        Some(below) => {
            let terms = log_ratios(below, trials);
            bisect(|p| 1.0 - at_most(&terms, trials, p) < ERROR / 2.0)
        }
    };
    let terms = log_ratios(successes, trials);
    (low, bisect(|p| at_most(&terms, trials, p) > ERROR / 2.0))
}

/// Probability of at least `successes` in `trials`, each of probability `p`, to about 10⁻¹².
pub fn at_least(successes: u64, trials: u64, p: f64) -> f64 {
    match successes.checked_sub(1) {
        Some(below) => (1.0 - at_most(&log_ratios(below, trials), trials, p)).max(0.0),
        None => 1.0,
    }
}

/// Logarithms of C(n, i) / C(n, i − 1) for i from 1 to `last`.
fn log_ratios(last: u64, trials: u64) -> Vec<f64> {
    (1..=last).map(|i| ((trials - i + 1) as f64 / i as f64).ln()).collect()
}

/// Probability of at most as many successes as there are ratios, each of probability `p`.
fn at_most(log_ratios: &[f64], trials: u64, p: f64) -> f64 {
    let odds = p.ln() - (-p).ln_1p();
    let mut log_term = trials as f64 * (-p).ln_1p();
    let mut sum = log_term.exp();
    for ratio in log_ratios {
        log_term += ratio + odds;
        sum += log_term.exp();
    }
    sum
}

/// The share up to which `holds` is true.
fn bisect(holds: impl Fn(f64) -> bool) -> f64 {
    // On the scale of logarithms: shares of 2⁻⁴⁰ need as many digits as those near 1/2.
    let (mut low, mut high) = (-100.0f64, 0.0f64);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        match holds(middle.exp2()) {
            true => low = middle,
            false => high = middle,
        }
    }
    f64::midpoint(low, high).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exact intervals, as `binom.test` of R gives them.
    #[test]
    fn gives_the_published_bounds() {
        for (successes, trials, low, high) in [
            (0, 10, 0.0, 0.308_497_1),
            (5, 10, 0.187_086_0, 0.812_914_0),
            (10, 10, 0.691_502_9, 1.0),
            (1, 100, 0.000_253_146, 0.054_459_39),
            (10, 100, 0.049_004_7, 0.176_222_6),
            (90, 100, 0.823_777_4, 0.950_995_3),
        ] {
            let (of, to) = clopper_pearson(successes, trials);
            assert!((of - low).abs() < 1e-6 && (to - high).abs() < 1e-6, "{successes}/{trials}: {of} {to}");
        }
    }

    #[test]
    fn tails_are_those_of_the_binomial_distribution() {
        assert_eq!(at_least(0, 10, 0.5), 1.0);
        assert!((at_least(10, 10, 0.5) - 1.0 / 1024.0).abs() < 1e-12);
        assert!((at_least(8, 10, 0.5) - 56.0 / 1024.0).abs() < 1e-12);
        // 100 where 32 are expected.
        assert!(at_least(100, 8192, 1.0 / 256.0) < 1e-9 && at_least(32, 8192, 1.0 / 256.0) > 0.5);
    }

    #[test]
    fn bounds_are_ordered_for_small_shares_of_many_trials() {
        let (low, high) = clopper_pearson(3, 1 << 24);
        assert!(low < 3.0 / f64::from(1 << 24) && high > 3.0 / f64::from(1 << 24) && low > 0.0);
        assert_eq!(clopper_pearson(0, 0), (0.0, 1.0));
    }
}
