//! Search for the rate at which a meter begins to lose packets.

/// Rates of a search, in geometric steps: halvings of the interval.
const STEPS: usize = 6;

/// Lowest rate as a share of the highest.
const LOWEST: f64 = 1.0 / 32.0;

/// Result of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Search {
    /// The lowest rate at which the meter lost packets, within a factor of 1.06.
    Loses(f64),
    /// The meter lost none at the highest rate, which is this one.
    NeverLoses(f64),
}

/// Searches for the lowest rate up to `highest` at which `loses` is true: `loses` gets a rate and returns the
/// rate that was reached, and if packets were lost.
///
/// The first rate is the highest; losses are taken to grow with the rate.
///
/// # Errors
/// The error of a trial.
pub(crate) fn search<E>(
    highest: f64,
    mut loses: impl FnMut(f64) -> Result<(f64, bool), E>,
) -> Result<Search, E> {
    let (reached, lost) = loses(highest)?;
    if !lost {
        return Ok(Search::NeverLoses(reached));
    }
    // From here on the upper bound always loses; the lower one is not tried.
    let (mut low, mut high, mut found) = (highest * LOWEST, highest, reached);
    for _ in 0..STEPS {
        let middle = (low * high).sqrt();
        let (reached, lost) = loses(middle)?;
        if lost {
            (high, found) = (middle, reached);
        } else {
            low = middle;
        }
    }
    Ok(Search::Loses(found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn of(threshold: f64) -> (Search, Vec<f64>) {
        let mut tried = Vec::new();
        let found = search(1e6, |rate| {
            tried.push(rate);
            Ok::<_, Infallible>((rate, rate >= threshold))
        });
        (found.unwrap(), tried)
    }

    #[test]
    fn finds_the_lowest_rate_that_loses() {
        for threshold in [40e3, 123e3, 600e3, 990e3] {
            let (found, tried) = of(threshold);
            let Search::Loses(rate) = found else { panic!("{found:?}") };
            assert!((threshold..threshold * 1.06).contains(&rate), "{rate} for {threshold}");
            assert_eq!(tried.len(), 7);
        }
    }

    #[test]
    fn ends_at_once_if_the_highest_rate_loses_nothing() {
        assert_eq!(of(2e6), (Search::NeverLoses(1e6), vec![1e6]));
    }

    #[test]
    fn an_error_ends_it() {
        assert_eq!(search(1.0, |_| Err::<(f64, bool), _>("broken")), Err("broken"));
    }
}
