//! CRC32C (Castagnoli), the cyclic redundancy check with the polynomial 1EDC6F41 (RFC 3720 §12.1, iSCSI).
//!
//! Reflected, initial register FFFFFFFF, inverted at the end. SSE4.2 and Armv8 have an instruction for up to
//! 8 bytes; other CPUs use tables. On short components the speed depends on the treatment of the last bytes,
//! those that do not fill a word of 8: see [`tail`].
//!
//! CRC32C is a linear code, not a keyed hash: the difference of two inputs determines the difference of their
//! hashes, so anyone can compute collisions, under any initial value.

mod ragged;
pub mod tail;

use crate::arch::crc::{CrcKernel, CrcStep};
use crate::arch::unit::CrcUnit;
use crate::scheme::{
    BytesHash, BytesKernel, Concatenative, Key, PrefixHash, PrefixKernel, Scheme, SchemeInfo,
};
use core::marker::PhantomData;
use tail::{Ladder, Masked, Shifted, Tail};

/// The register before the first byte.
pub(crate) const INITIAL: u64 = 0xffff_ffff;

/// The hash of a final register.
#[inline(always)]
pub(crate) const fn finished(register: u64) -> u64 {
    register ^ 0xffff_ffff
}

/// CRC32C by the CPU's instruction or by tables, with `T` for the last bytes.
#[derive(Clone, Copy, Debug)]
pub struct Crc<T> {
    unit: CrcUnit,
    tail: PhantomData<T>,
}

/// CRC32C with the 8-4-2-1 ladder for the last bytes.
pub type Crc32c = Crc<Ladder>;

/// CRC32C with one branchless step for the last bytes.
pub type Crc32cShifted = Crc<Shifted>;

/// The variant of CRC32C that pads each component with zeros to whole words.
pub type Crc32cMasked = Crc<Masked>;

impl<T: Tail> Crc<T> {
    /// Chooses the fastest instructions of this CPU.
    pub fn detect() -> Self {
        Self::on(CrcUnit::detect())
    }

    pub(crate) fn on(unit: CrcUnit) -> Self {
        Self { unit, tail: PhantomData }
    }

    pub(crate) fn unit(&self) -> CrcUnit {
        self.unit
    }
}

impl<T: Tail> Scheme for Crc<T> {
    const INFO: SchemeInfo = T::INFO;

    fn new(_: &Key) -> Self {
        Self::detect()
    }
}

impl<T: Tail> BytesHash for Crc<T> {
    #[inline]
    fn hash(&self, bytes: &[u8]) -> u64 {
        struct Hash<'a, T>(&'a [u8], PhantomData<T>);
        impl<T: Tail> CrcKernel for Hash<'_, T> {
            type Output = u64;
            #[inline(always)]
            fn run<S: CrcStep>(self, step: S) -> u64 {
                On::<S, T>::new(step).hash(self.0)
            }
        }
        self.unit.run(Hash(bytes, self.tail))
    }

    #[inline(always)]
    fn run<K: BytesKernel>(&self, kernel: K) -> K::Output {
        struct Run<K, T>(K, PhantomData<T>);
        impl<K: BytesKernel, T: Tail> CrcKernel for Run<K, T> {
            type Output = K::Output;
            #[inline(always)]
            fn run<S: CrcStep>(self, step: S) -> K::Output {
                self.0.run(&On::<S, T>::new(step))
            }
        }
        self.unit.run(Run(kernel, self.tail))
    }
}

impl<T: Tail> PrefixHash for Crc<T> {
    /// The register.
    type State = u64;

    #[inline]
    fn start(&self) -> u64 {
        INITIAL
    }

    #[inline]
    fn extend(&self, state: &mut u64, bytes: &[u8]) {
        struct Extend<'a, T>(u64, &'a [u8], PhantomData<T>);
        impl<T: Tail> CrcKernel for Extend<'_, T> {
            type Output = u64;
            #[inline(always)]
            fn run<S: CrcStep>(self, step: S) -> u64 {
                T::component(step, self.0, self.1, 0, self.1.len())
            }
        }
        *state = self.unit.run(Extend(*state, bytes, self.tail));
    }

    #[inline]
    fn finish(&self, state: &u64) -> u64 {
        finished(*state)
    }

    #[inline(always)]
    fn run_prefix<K: PrefixKernel>(&self, kernel: K) -> K::Output {
        struct Run<K, T>(K, PhantomData<T>);
        impl<K: PrefixKernel, T: Tail> CrcKernel for Run<K, T> {
            type Output = K::Output;
            #[inline(always)]
            fn run<S: CrcStep>(self, step: S) -> K::Output {
                self.0.run(&On::<S, T>::new(step))
            }
        }
        self.unit.run(Run(kernel, self.tail))
    }
}

impl Concatenative for Crc<Ladder> {}
impl Concatenative for Crc<Shifted> {}
impl<S: CrcStep> Concatenative for On<S, Ladder> {}

/// CRC32C with its instructions chosen, as kernels use it.
#[derive(Clone, Copy)]
pub(crate) struct On<S, T> {
    pub(crate) step: S,
    tail: PhantomData<T>,
}

impl<S: CrcStep, T: Tail> On<S, T> {
    #[inline(always)]
    pub(crate) fn new(step: S) -> Self {
        Self { step, tail: PhantomData }
    }
}

impl<S: CrcStep, T: Tail> BytesHash for On<S, T> {
    #[inline(always)]
    fn hash(&self, bytes: &[u8]) -> u64 {
        finished(T::component(self.step, INITIAL, bytes, 0, bytes.len()))
    }
}

impl<S: CrcStep, T: Tail> PrefixHash for On<S, T> {
    type State = u64;

    #[inline(always)]
    fn start(&self) -> u64 {
        INITIAL
    }
    #[inline(always)]
    fn extend(&self, state: &mut u64, bytes: &[u8]) {
        *state = T::component(self.step, *state, bytes, 0, bytes.len());
    }
    #[inline(always)]
    fn extend_within(&self, state: &mut u64, bytes: &[u8], from: usize, to: usize) {
        *state = T::component(self.step, *state, bytes, from, to.min(bytes.len()));
    }
    #[inline(always)]
    fn finish(&self, state: &u64) -> u64 {
        finished(*state)
    }
}

#[cfg(test)]
mod tests;
