//! The time of a turn: as many passes as make it measurable.

use std::time::Instant;

/// Least duration of a turn in nanoseconds.
pub(crate) const LEAST_NS: u64 = 200_000;

/// Nanoseconds of `pass`, which is called once beforehand.
///
/// The clock is read after one pass, two, four, and so on up to `most`: the shortest passes take no longer
/// than reading it does, the longest take more than the time that is asked for.
pub(crate) fn ns_of(most: usize, mut pass: impl FnMut()) -> f64 {
    pass();
    let start = Instant::now();
    let (mut done, mut passes) = (0_usize, 1);
    loop {
        for _ in 0..passes {
            pass();
        }
        done += passes;
        passes = most.min(2 * passes);
        let ns = start.elapsed().as_nanos();
        if ns >= u128::from(LEAST_NS) {
            return ns as f64 / done as f64;
        }
    }
}
