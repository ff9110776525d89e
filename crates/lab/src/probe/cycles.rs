//! The cycles probe: each unit of work between two readings of the counter.

use super::counter;
use crate::model::Model;
use std::hint::black_box;

/// Something whose time can be taken: a [`Model`] behind a pointer, entered once a block of names.
pub trait Subject {
    /// Names in a unit of work: 1, or the size of a burst. The last unit of a block may have fewer.
    fn unit(&self) -> usize;

    /// Times each unit of `names` by itself and appends the counts to `samples`.
    fn each(&mut self, names: &[&[u8]], samples: &mut Vec<u32>);

    /// Times all of `names` in one stretch, so that the CPU may begin a unit before the one before it has ended.
    fn stream(&mut self, names: &[&[u8]]) -> u64;

    /// The sum, modulo 2⁶⁴, of what the work yields for `names`; not timed.
    fn digest(&mut self, names: &[&[u8]]) -> u64;
}

impl<M: Model> Subject for M {
    fn unit(&self) -> usize {
        M::UNIT
    }

    #[inline(never)]
    fn each(&mut self, names: &[&[u8]], samples: &mut Vec<u32>) {
        for unit in names.chunks(M::UNIT) {
            let unit = black_box(unit);
            let before = counter::start();
            self.work(unit);
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
