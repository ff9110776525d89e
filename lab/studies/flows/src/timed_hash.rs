//! Hashes of tuples: one at a time, each waiting for the one before it or not, and a burst at a time.

use hashlane_flow::burst::BURST;
use hashlane_flow::ehash::TupleHash;
use hashlane_flow::tuple::Tuple;
use hashlane_lab::probe::counter;
use std::hint::black_box;

/// A hash of tuples in one manner of calling it, behind a pointer. It is timed twice, with independent and
/// with dependent calls, and so has two methods where a table has operations.
pub(crate) trait TimedHash {
    /// Counts of the counter for hashing all of `tuples`, which do not wait for each other.
    fn throughput(&mut self, tuples: &[Tuple]) -> u64;

    /// Counts for hashing all of `tuples`; each tuple is fetched only when the hash before it is known.
    /// `None` for a burst, whose tuples cannot wait for each other.
    fn latency(&mut self, tuples: &[Tuple]) -> Option<u64>;

    /// The sum, modulo 2⁶⁴, of the hashes: the check that all manners of one scheme yield the same.
    fn sum(&mut self, tuples: &[Tuple]) -> u64;

    /// [`throughput`](Self::throughput) of so many passes over the tuples, after one that does not count.
    fn throughputs(&mut self, tuples: &[Tuple], passes: usize) -> u64 {
        self.throughput(black_box(tuples));
        (0..passes).map(|_| self.throughput(black_box(tuples))).sum()
    }

    /// [`latency`](Self::latency) of so many passes over the tuples.
    fn latencies(&mut self, tuples: &[Tuple], passes: usize) -> Option<u64> {
        (0..passes).map(|_| self.latency(black_box(tuples))).sum()
    }

    /// The reason why the counts of this hash are not to be used.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// The hash of one tuple as a separate function, like the kernel's: so the timed code is the disassembled
/// code, and no compiler hashes several tuples at once in a measurement of one at a time.
#[inline(never)]
pub(crate) fn one<H: TupleHash>(hash: &H, tuple: &Tuple) -> u64 {
    hash.hash(tuple)
}

/// One tuple at a time.
pub(crate) struct Single<H>(pub(crate) H);

impl<H: TupleHash> TimedHash for Single<H> {
    #[inline(never)]
    fn throughput(&mut self, tuples: &[Tuple]) -> u64 {
        let before = counter::start();
        for tuple in tuples {
            black_box(one(&self.0, tuple));
        }
        counter::stop().wrapping_sub(before)
    }

    #[inline(never)]
    fn latency(&mut self, tuples: &[Tuple]) -> Option<u64> {
        let nothing = black_box(0);
        let before = counter::start();
        let mut at = 0;
        while let Some(tuple) = tuples.get(at) {
            let hash = one(&self.0, tuple);
            // As far as the CPU can tell, the position of the next tuple depends on the hash.
            at += 1 + (hash as usize & nothing);
        }
        Some(counter::stop().wrapping_sub(before))
    }

    fn sum(&mut self, tuples: &[Tuple]) -> u64 {
        tuples.iter().fold(0, |sum, tuple| sum.wrapping_add(one(&self.0, tuple)))
    }
}

/// A burst at a time.
pub(crate) struct Burst<H>(pub(crate) H);

impl<H: TupleHash> TimedHash for Burst<H> {
    #[inline(never)]
    fn throughput(&mut self, tuples: &[Tuple]) -> u64 {
        let mut hashes = [0; BURST];
        let before = counter::start();
        for burst in tuples.chunks(BURST) {
            self.0.hash_burst(burst, &mut hashes);
            black_box(&hashes);
        }
        counter::stop().wrapping_sub(before)
    }

    fn latency(&mut self, _: &[Tuple]) -> Option<u64> {
        None
    }

    fn sum(&mut self, tuples: &[Tuple]) -> u64 {
        let mut hashes = [0; BURST];
        let mut sum = 0u64;
        for burst in tuples.chunks(BURST) {
            self.0.hash_burst(burst, &mut hashes);
            sum = hashes.iter().take(burst.len()).fold(sum, |sum, hash| sum.wrapping_add(*hash));
        }
        sum
    }
}
