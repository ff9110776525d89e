//! A planted slow-down, for tests of `hashlane compare`: no part of a build without the feature `plant`.

use crate::timed_hash::TimedHash;
use hashlane_flow::burst::BURST;
use hashlane_flow::tuple::Tuple;
use hashlane_lab::study::RunError;

/// Variable with the scheme and the slow-down in per cent, as `SCHEME=PERCENT`; 0 to 100.
const VARIABLE: &str = "HASHLANE_PLANT";

/// `hash`, or the same with more work if the environment plants a slow-down in the scheme `id`.
///
/// # Errors
/// The variable is malformed.
pub(super) fn planted(id: &str, hash: Box<dyn TimedHash>) -> Result<Box<dyn TimedHash>, RunError> {
    let Ok(text) = std::env::var(VARIABLE) else { return Ok(hash) };
    let malformed = || RunError::Expectation {
        workload: VARIABLE.into(),
        what: format!("expected SCHEME=PERCENT, from 0 to 100, not {text:?}"),
    };
    let (scheme, percent) = text.split_once('=').ok_or_else(malformed)?;
    let percent: f64 = percent.parse().map_err(|_| malformed())?;
    if !(0.0..=100.0).contains(&percent) {
        return Err(malformed());
    }
    if scheme != id || percent == 0.0 {
        return Ok(hash);
    }
    Ok(Box::new(Planted { hash, share: percent / 100.0, owed: 0.0, tuples: Vec::new(), of: 0 }))
}

/// A hash that takes a share of its tuples again, within its timed region.
struct Planted {
    hash: Box<dyn TimedHash>,
    /// Share of the tuples to hash again, 0 to 1.
    share: f64,
    /// Tuples that are still to be hashed again.
    owed: f64,
    /// The tuples twice, one copy after the other.
    tuples: Vec<Tuple>,
    /// Address of the tuples that were copied.
    of: usize,
}

impl Planted {
    /// The tuples, followed by those to hash again: whole bursts, so that a tail of single tuples does not
    /// cost more than its share.
    fn longer(&mut self, tuples: &[Tuple]) -> (&[Tuple], &mut dyn TimedHash) {
        let address = tuples.as_ptr().addr();
        if (self.of, self.tuples.len()) != (address, 2 * tuples.len()) {
            self.of = address;
            self.tuples = [tuples, tuples].concat();
        }
        self.owed += tuples.len() as f64 * self.share;
        // Cut off: at most as many as there are.
        let again = self.owed as usize / BURST * BURST;
        self.owed -= again as f64;
        let longer = self.tuples.get(..tuples.len() + again).unwrap_or(&self.tuples);
        (longer, self.hash.as_mut())
    }
}

impl TimedHash for Planted {
    fn throughput(&mut self, tuples: &[Tuple]) -> u64 {
        let (longer, hash) = self.longer(tuples);
        hash.throughput(longer)
    }

    fn latency(&mut self, tuples: &[Tuple]) -> Option<u64> {
        let (longer, hash) = self.longer(tuples);
        hash.latency(longer)
    }

    fn sum(&mut self, tuples: &[Tuple]) -> u64 {
        self.hash.sum(tuples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Counts the tuples that it is given to hash.
    struct Counting(Arc<Mutex<usize>>);

    impl TimedHash for Counting {
        fn throughput(&mut self, tuples: &[Tuple]) -> u64 {
            *self.0.lock().unwrap() += tuples.len();
            0
        }

        fn latency(&mut self, _: &[Tuple]) -> Option<u64> {
            None
        }

        fn sum(&mut self, _: &[Tuple]) -> u64 {
            0
        }
    }

    #[test]
    fn hashes_the_share_again_in_whole_bursts() {
        for (percent, expected) in [(3.0, 3.0), (20.0, 20.0), (100.0, 100.0)] {
            let hashed = Arc::new(Mutex::new(0));
            let hash = Box::new(Counting(hashed.clone()));
            let share = percent / 100.0;
            let mut planted = Planted { hash, share, owed: 0.0, tuples: Vec::new(), of: 0 };
            let tuples = vec![Tuple::CHECK; 512];
            for _ in 0..1000 {
                planted.throughput(&tuples);
                assert_eq!(*hashed.lock().unwrap() % BURST, 0);
            }
            let more = 100.0 * (*hashed.lock().unwrap() as f64 / 512_000.0 - 1.0);
            assert!((more - expected).abs() < 0.01, "{more} for {percent} %");
        }
    }
}
