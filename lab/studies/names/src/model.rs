//! Prefix hashing of names, in every way of [`hashlane_name::prefix`].

use crate::timed::{Model, time};
use hashlane_hash::prefix::EveryPrefix;
use hashlane_name::error::ParseError;
use hashlane_name::prefix::{BurstHashes, HashBuffer, OnePass};
use hashlane_name::walk::{Encoding, Walk};
use std::hint::black_box;
use std::marker::PhantomData;

/// Names in a burst: a usual number for one receive call on a busy socket or queue.
pub(crate) const BURST: usize = 32;

fn sum(hashes: &[u64]) -> u64 {
    hashes.iter().fold(0, |sum, hash| sum.wrapping_add(*hash))
}

/// A way that hashes one name into [`HashBuffer`]; `F` is one of the functions of [`hashlane_name::prefix`].
pub(crate) struct OneName<H, F> {
    hash: H,
    way: F,
    kept: HashBuffer,
}

impl<H, F> OneName<H, F>
where
    F: Fn(&H, &[u8], &mut HashBuffer) -> Result<(), ParseError>,
{
    /// With `hash`, in the way of `way`.
    pub(crate) fn new(hash: H, way: F) -> Self {
        Self { hash, way, kept: HashBuffer::new() }
    }

    #[inline(always)]
    fn hashes(&mut self, names: &[&[u8]]) -> &[u64] {
        match names.first().map(|name| (self.way)(&self.hash, name, &mut self.kept)) {
            Some(Ok(())) => self.kept.hashes(),
            _ => &[],
        }
    }
}

impl<H, F> Model for OneName<H, F>
where
    F: Fn(&H, &[u8], &mut HashBuffer) -> Result<(), ParseError>,
{
    const UNIT: usize = 1;

    #[inline(always)]
    fn work(&mut self, names: &[&[u8]]) {
        black_box(self.hashes(names));
    }

    fn sum(&mut self, names: &[&[u8]]) -> u64 {
        time(self, names, true);
        sum(self.kept.hashes())
    }
}

/// One pass over one name at a time.
pub(crate) struct Single<E, H>(OnePass<E, H>);

impl<E: Encoding, H: EveryPrefix> Single<E, H> {
    /// With `hash`.
    pub(crate) fn new(hash: H) -> Self {
        Self(OnePass::new(hash))
    }

    #[inline(always)]
    fn hashes(&mut self, names: &[&[u8]]) -> &[u64] {
        names.first().and_then(|name| self.0.name(name).ok()).unwrap_or_default()
    }
}

impl<E: Encoding, H: EveryPrefix> Model for Single<E, H> {
    const UNIT: usize = 1;

    #[inline(always)]
    fn work(&mut self, names: &[&[u8]]) {
        black_box(self.hashes(names));
    }

    fn sum(&mut self, names: &[&[u8]]) -> u64 {
        time(self, names, true);
        sum(self.0.hashes())
    }
}

/// One pass over a burst.
pub(crate) struct Burst<E, H>(OnePass<E, H>, BurstHashes);

impl<E: Encoding, H: EveryPrefix> Burst<E, H> {
    /// With `hash`.
    pub(crate) fn new(hash: H) -> Self {
        Self(OnePass::new(hash), BurstHashes::new())
    }
}

impl<E: Encoding, H: EveryPrefix> Model for Burst<E, H> {
    const UNIT: usize = BURST;

    #[inline(always)]
    fn work(&mut self, names: &[&[u8]]) {
        self.0.burst(names.iter().copied(), &mut self.1);
        black_box(&self.1);
    }

    fn sum(&mut self, names: &[&[u8]]) -> u64 {
        time(self, names, true);
        self.1.iter().fold(0, |total, hashes| total.wrapping_add(sum(hashes.unwrap_or_default())))
    }
}

/// The walk over the components of one name, or of each of `N` names in turn, without a hash: the floor.
pub(crate) struct WalkOnly<E, const N: usize>(PhantomData<E>);

impl<E, const N: usize> Default for WalkOnly<E, N> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<E: Encoding, const N: usize> WalkOnly<E, N> {
    #[inline(always)]
    fn ends(name: &[u8], mut each: impl FnMut(usize)) {
        let Ok(mut walk) = E::walk(name) else { return };
        while let Ok(Some(end)) = walk.next_end() {
            each(end);
        }
    }
}

impl<E: Encoding, const N: usize> Model for WalkOnly<E, N> {
    const UNIT: usize = N;

    #[inline(always)]
    fn work(&mut self, names: &[&[u8]]) {
        for name in names {
            Self::ends(name, |end| {
                black_box(end);
            });
        }
    }

    fn sum(&mut self, names: &[&[u8]]) -> u64 {
        let mut total = 0u64;
        for name in names {
            Self::ends(name, |end| total = total.wrapping_add(end as u64));
        }
        total
    }
}

/// No work: the cost of the probe itself.
pub(crate) struct Empty;

impl Model for Empty {
    const UNIT: usize = 1;

    #[inline(always)]
    fn work(&mut self, names: &[&[u8]]) {
        black_box(names.first());
    }

    fn sum(&mut self, _: &[&[u8]]) -> u64 {
        0
    }
}
