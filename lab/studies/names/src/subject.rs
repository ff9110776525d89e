//! The cycles probe: units of work between two readings of the counter.

use crate::blocks::{Block, Part};
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

    /// Times `units` units of the block at a time and appends the counts to `samples`, one for each pair of
    /// readings; the last may have fewer units. Each unit ends before the next begins. 0 units count as 1.
    /// The names before the block come first, untimed.
    fn each(&mut self, block: &Block<'_>, units: usize, samples: &mut Vec<u32>);

    /// Times the whole block in one stretch, so that the CPU may begin a unit before the one before it has
    /// ended. The names before the block come first, `units` at a time and untimed.
    fn stream(&mut self, block: &Block<'_>, units: usize) -> u64;

    /// Sum, modulo 2⁶⁴, of the results for the names; not timed.
    fn digest(&mut self, names: &Part<'_>) -> u64;

    /// The reason why the counts of this subject are not to be used.
    fn failure(&self) -> Option<String> {
        None
    }
}

impl<M: Model> Subject for M {
    fn unit(&self) -> usize {
        M::UNIT
    }

    fn each(&mut self, block: &Block<'_>, units: usize, samples: &mut Vec<u32>) {
        block.touch();
        let before = samples.len();
        time_each(self, &block.warm.names, units, samples);
        samples.truncate(before);
        time_each(self, &block.names.names, units, samples);
    }

    fn stream(&mut self, block: &Block<'_>, units: usize) -> u64 {
        block.touch();
        time_each(self, &block.warm.names, units, &mut Vec::with_capacity(block.warm.names.len()));
        time_stream(self, &block.names.names)
    }

    fn digest(&mut self, names: &Part<'_>) -> u64 {
        names.names.chunks(M::UNIT).fold(0, |sum, unit| sum.wrapping_add(self.sum(unit)))
    }
}

#[inline(never)]
fn time_each<M: Model>(model: &mut M, names: &[&[u8]], units: usize, samples: &mut Vec<u32>) {
    for group in names.chunks(M::UNIT.saturating_mul(units.max(1))) {
        let group = black_box(group);
        let before = counter::start();
        for unit in group.chunks(M::UNIT) {
            model.work(black_box(unit));
            counter::fence();
        }
        let after = counter::stop();
        samples.push(u32::try_from(after.wrapping_sub(before)).unwrap_or(u32::MAX));
    }
}

#[inline(never)]
fn time_stream<M: Model>(model: &mut M, names: &[&[u8]]) -> u64 {
    let before = counter::start();
    for unit in names.chunks(M::UNIT) {
        model.work(black_box(unit));
    }
    counter::stop().wrapping_sub(before)
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
            time_each(&mut noting, &names, units, &mut samples);
            assert_eq!((noting.0, samples.len()), (vec![4, 4, 4, 4, 4, 2], readings), "{units}");
        }
    }
}
