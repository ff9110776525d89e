//! The cycles probe: units of work between two readings of the counter.

use hashlane_lab::probe::counter;
use std::hint::black_box;

/// One thing that is timed.
pub trait Model {
    /// Names in a unit of work.
    const UNIT: usize;

    /// Does the work for one unit; the compiler must not remove its result.
    fn work(&mut self, names: &[&[u8]]);

    /// Sum, modulo 2⁶⁴, of the results of [`work`](Self::work) for the unit. It checks that the work is done,
    /// and is equal for all ways of hashing.
    fn sum(&mut self, names: &[&[u8]]) -> u64;
}

/// A timed [`Model`] behind a pointer, entered once a block of names. It yields one count for each unit, as
/// the study reports distributions; other studies time a block as a whole.
pub trait Subject {
    /// Names in a unit of work: 1, or the size of a burst. The last unit of a block may have fewer.
    fn unit(&self) -> usize;

    /// Times `units` units of `names` at a time and appends the counts to `samples`, one for each pair of
    /// readings; the last may have fewer units. Each unit ends before the next begins. 0 units count as 1.
    fn each(&mut self, names: &[&[u8]], units: usize, samples: &mut Vec<u32>);

    /// Times all of `names` in one stretch, so that the CPU may begin a unit before the one before it has
    /// ended.
    fn stream(&mut self, names: &[&[u8]]) -> u64;

    /// Sum, modulo 2⁶⁴, of the results for `names`; not timed.
    fn digest(&mut self, names: &[&[u8]]) -> u64;
}

impl<M: Model> Subject for M {
    fn unit(&self) -> usize {
        M::UNIT
    }

    #[inline(never)]
    fn each(&mut self, names: &[&[u8]], units: usize, samples: &mut Vec<u32>) {
        for group in names.chunks(M::UNIT.saturating_mul(units.max(1))) {
            let group = black_box(group);
            let before = counter::start();
            for unit in group.chunks(M::UNIT) {
                self.work(black_box(unit));
                counter::fence();
            }
            let after = counter::stop();
            samples.push(u32::try_from(after.wrapping_sub(before)).unwrap_or(u32::MAX));
        }
    }

    #[inline(never)]
    fn stream(&mut self, names: &[&[u8]]) -> u64 {
        let before = counter::start();
        for unit in names.chunks(M::UNIT) {
            self.work(black_box(unit));
        }
        counter::stop().wrapping_sub(before)
    }

    fn digest(&mut self, names: &[&[u8]]) -> u64 {
        names.chunks(M::UNIT).fold(0, |sum, unit| sum.wrapping_add(self.sum(unit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes the names of each unit.
    struct Noting(Vec<usize>);

    impl Model for Noting {
        const UNIT: usize = 4;

        fn work(&mut self, names: &[&[u8]]) {
            self.0.push(names.len());
        }

        fn sum(&mut self, _: &[&[u8]]) -> u64 {
            0
        }
    }

    #[test]
    fn one_pair_of_readings_times_as_many_units_as_asked() {
        let names = [&b"name"[..]; 22];
        for (units, readings) in [(0, 6), (1, 6), (2, 3), (4, 2), (64, 1), (usize::MAX, 1)] {
            let (mut noting, mut samples) = (Noting(Vec::new()), Vec::new());
            noting.each(&names, units, &mut samples);
            assert_eq!((noting.0, samples.len()), (vec![4, 4, 4, 4, 4, 2], readings), "{units}");
        }
    }
}
