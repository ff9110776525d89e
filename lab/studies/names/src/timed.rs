//! The cycles probe: units of work between two readings of the counter.

use crate::blocks::{Block, Part};
use crate::in_c::InC;
use hashlane_lab::probe::counter;
use std::hint::black_box;
use std::slice::Chunks;

/// One thing that is timed.
pub(crate) trait Model {
    /// Names in a unit of work.
    const UNIT: usize;

    /// Does the work for one unit; the compiler must not remove its result.
    fn work(&mut self, names: &[&[u8]]);

    /// Sum, modulo 2⁶⁴, of the results of [`work`](Self::work) for the unit. It checks that the work is done,
    /// and is equal for all ways of hashing.
    fn sum(&mut self, names: &[&[u8]]) -> u64;
}

/// A [`Model`] behind a pointer: what differs between models is compiled for each, the rest once.
pub(crate) trait AnyModel {
    fn unit(&self) -> usize;
    fn time(&mut self, names: &[&[u8]], apart: bool) -> u64;
    fn sum(&mut self, names: &[&[u8]]) -> u64;
}

impl<M: Model> AnyModel for M {
    fn unit(&self) -> usize {
        M::UNIT
    }

    fn time(&mut self, names: &[&[u8]], apart: bool) -> u64 {
        time(self, names, apart)
    }

    fn sum(&mut self, names: &[&[u8]]) -> u64 {
        Model::sum(self, names)
    }
}

/// A method that is timed, entered once a block of names. It yields one count for each unit, as the study
/// reports distributions; other studies time a block as a whole.
pub(crate) enum TimedMethod {
    /// A [`Model`], timed by this process.
    Here(Box<dyn AnyModel>),
    /// A method of the source's program, timed there.
    InC(InC),
}

impl TimedMethod {
    /// This model, timed by this process.
    pub(crate) fn here(model: impl Model + 'static) -> Self {
        Self::Here(Box::new(model))
    }

    /// Names in a unit of work: 1, or the size of a burst. The last unit of a block may have fewer.
    pub(crate) fn unit(&self) -> usize {
        match self {
            Self::Here(model) => model.unit(),
            Self::InC(_) => 1,
        }
    }

    /// The names of `units` units at a time; 0 count as 1.
    fn groups<'b, 'n>(&self, names: &'b [&'n [u8]], units: usize) -> Chunks<'b, &'n [u8]> {
        names.chunks(self.unit().saturating_mul(units.max(1)))
    }

    /// Times `units` units of the block at a time and appends the counts to `samples`, one for each pair of
    /// readings; the last may have fewer units. Each unit ends before the next begins. 0 units count as 1.
    /// The names before the block come first, untimed.
    pub(crate) fn each(&mut self, block: &Block<'_>, units: usize, samples: &mut Vec<u32>) {
        let (warm, names) = (self.groups(&block.warm.names, units), self.groups(&block.names.names, units));
        match self {
            Self::Here(model) => {
                warm_up(model.as_mut(), block, warm);
                samples.extend(names.map(|group| u32::try_from(model.time(group, true)).unwrap_or(u32::MAX)));
            }
            Self::InC(method) => method.each(block, units.max(1), samples),
        }
    }

    /// Times the whole block in one stretch, so that the CPU may begin a unit before the one before it has
    /// ended. The names before the block come first, `units` at a time and untimed.
    pub(crate) fn stream(&mut self, block: &Block<'_>, units: usize) -> u64 {
        let warm = self.groups(&block.warm.names, units);
        match self {
            Self::Here(model) => {
                warm_up(model.as_mut(), block, warm);
                model.time(&block.names.names, false)
            }
            Self::InC(method) => method.stream(block, units.max(1)),
        }
    }

    /// Sum, modulo 2⁶⁴, of the results for the names; not timed.
    pub(crate) fn digest(&mut self, names: &Part<'_>) -> u64 {
        let units = self.groups(&names.names, 1);
        match self {
            Self::Here(model) => units.fold(0, |sum: u64, unit| sum.wrapping_add(model.sum(unit))),
            Self::InC(method) => method.digest(names),
        }
    }

    /// The reason why the counts are not to be used.
    pub(crate) fn failure(&self) -> Option<String> {
        match self {
            Self::Here(_) => None,
            Self::InC(method) => method.failure(),
        }
    }
}

/// Readings of their own, which do not count, of the names before a block.
fn warm_up(model: &mut dyn AnyModel, block: &Block<'_>, warm: Chunks<'_, &[u8]>) {
    block.touch();
    for group in warm {
        model.time(group, true);
    }
}

/// Counts of the counter for the work on these names, a unit at a time; if `apart`, each unit ends before the
/// next begins. The only copy of a model's code: also where the counts do not matter.
#[inline(never)]
pub(crate) fn time<M: Model>(model: &mut M, names: &[&[u8]], apart: bool) -> u64 {
    let before = counter::start();
    for unit in names.chunks(M::UNIT) {
        model.work(black_box(unit));
        if apart {
            counter::fence();
        }
    }
    counter::stop().wrapping_sub(before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    /// Notes the names of each unit.
    struct Noting(Rc<RefCell<Vec<usize>>>);

    impl Model for Noting {
        const UNIT: usize = 4;

        fn work(&mut self, names: &[&[u8]]) {
            self.0.borrow_mut().push(names.len());
        }

        fn sum(&mut self, _: &[&[u8]]) -> u64 {
            0
        }
    }

    #[test]
    fn one_pair_of_readings_times_as_many_units_as_asked() {
        let names = [&b"name"[..]; 22];
        for (units, readings) in [(0, 6), (1, 6), (2, 3), (4, 2), (64, 1), (usize::MAX, 1)] {
            let noted = Rc::new(RefCell::new(Vec::new()));
            let (mut here, mut samples) = (TimedMethod::here(Noting(noted.clone())), Vec::new());
            let part = || Part { first: 0, names: names.to_vec() };
            let warm = Part { first: 0, names: Vec::new() };
            here.each(&Block { names: part(), warm }, units, &mut samples);
            assert_eq!((noted.take(), samples.len()), (vec![4, 4, 4, 4, 4, 2], readings), "{units}");
        }
    }
}
