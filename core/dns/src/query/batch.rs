//! Datagrams as they were received, and the stage that parses them.

use super::parse::{DropReason, Outcome, parse};
use crate::slices::Parts as _;
use alloc::vec;
use alloc::vec::Vec;
use hashlane_hash::prefix::Group;
use hashlane_name::dns::MAX_LABELS;
use hashlane_table::stage::Stage;

/// Datagrams of a batch at most.
pub const BATCH: usize = 64;

/// Up to [`BATCH`] borrowed datagrams, and the results of the stages.
#[derive(Debug)]
pub struct Batch<'d> {
    datagrams: [(usize, &'d [u8]); BATCH],
    len: usize,
    pub(super) outcomes: [Outcome<'d>; BATCH],
    pub(super) suffixes: &'d mut Suffixes,
}

impl<'d> Batch<'d> {
    /// An empty batch. `suffixes` takes the hashes; an earlier batch's hashes are removed.
    pub fn new(suffixes: &'d mut Suffixes) -> Self {
        suffixes.clear();
        let outcomes = [Outcome::Drop(DropReason::TooShort); BATCH];
        Self { datagrams: [(0, &[]); BATCH], len: 0, outcomes, suffixes }
    }

    /// Adds a datagram with the caller's index of it; `false`, and nothing is added, if the batch is full.
    #[inline]
    #[must_use]
    pub fn push(&mut self, index: usize, datagram: &'d [u8]) -> bool {
        match self.datagrams.get_mut(self.len) {
            Some(place) => {
                *place = (index, datagram);
                self.len += 1;
                true
            }
            None => false,
        }
    }

    /// The datagrams with their indices, in order of arrival.
    #[inline]
    pub fn datagrams(&self) -> &[(usize, &'d [u8])] {
        self.datagrams.part(..self.len)
    }

    /// The outcome of each datagram, in order of arrival; valid after [`Decode`].
    #[inline]
    pub fn outcomes(&self) -> &[Outcome<'d>] {
        self.outcomes.part(..self.len)
    }

    /// The hashes of the name of datagram `number`, counted from 0 in order of arrival: hash `i` covers the
    /// name without its first `i` labels, the last one the root. Empty if the datagram is no query to answer,
    /// and before [`Hash`](struct@super::Hash).
    #[inline]
    pub fn suffixes(&self, number: usize) -> &[u64] {
        self.suffixes.of(number)
    }
}

/// Stage: parses each datagram; see [`parse`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Decode;

impl Stage<Batch<'_>> for Decode {
    #[inline]
    fn run(&mut self, batch: &mut Batch<'_>) {
        let datagrams = batch.datagrams.iter().take(batch.len);
        for (outcome, (_, datagram)) in batch.outcomes.iter_mut().zip(datagrams) {
            *outcome = parse(datagram);
        }
    }
}

/// Room for the hashes of a batch: 64 KiB, allocated once.
#[derive(Clone, Debug)]
pub struct Suffixes {
    hashes: Vec<u64>,
    /// Hashes of all datagrams so far.
    len: usize,
    /// The index of the first hash and the number of hashes of each datagram.
    places: [(u16, u16); BATCH],
}

impl Default for Suffixes {
    fn default() -> Self {
        Self::new()
    }
}

impl Suffixes {
    /// Empty room.
    pub fn new() -> Self {
        // Hashes are written in vectors; the last one may be longer than the hashes left.
        let room = BATCH * (MAX_LABELS + 1) + Group::NAMES;
        Self { hashes: vec![0; room], len: 0, places: [(0, 0); BATCH] }
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.len = 0;
        self.places = [(0, 0); BATCH];
    }

    /// Reserves `count` hashes for a datagram, after the hashes of earlier datagrams. They are
    /// [added](Self::extend) later.
    #[inline]
    pub(super) fn reserve(&mut self, number: usize, first: usize, count: usize) {
        if let Some(place) = self.places.get_mut(number) {
            *place = (first as u16, count as u16);
        }
    }

    /// Room for the hashes that come next.
    #[inline]
    pub(super) fn room(&mut self) -> &mut [u64] {
        self.hashes.part_mut(self.len..)
    }

    /// Adds `hashes` hashes, the next in the [room](Self::room).
    #[inline]
    pub(super) fn extend(&mut self, hashes: usize) {
        self.len += hashes;
    }

    #[inline]
    fn of(&self, number: usize) -> &[u64] {
        let (first, count) = self.places.get(number).map_or((0, 0), |(first, count)| (*first, *count));
        let (first, count) = (usize::from(first), usize::from(count));
        self.hashes.part(first..first + count)
    }
}
