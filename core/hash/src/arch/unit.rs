//! Choosing at run time which of a CPU's instructions to use.

use super::crc::{self, CrcKernel};
use super::lanes::{self, LaneKernel};

/// The CRC instructions in use, chosen once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CrcUnit {
    Portable(crc::Portable),
    #[cfg(target_arch = "x86_64")]
    Sse42(super::x86_64::Sse42),
    #[cfg(target_arch = "x86_64")]
    Sse42Bmi2(super::x86_64::Sse42Bmi2),
    #[cfg(target_arch = "x86_64")]
    Clmul512(super::x86_64::Clmul512),
    #[cfg(target_arch = "aarch64")]
    Armv8(super::aarch64::Crc),
}

impl CrcUnit {
    /// The fastest that this CPU has.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(token) = super::x86_64::Clmul512::detect() {
                return Self::Clmul512(token);
            }
            if let Some(token) = super::x86_64::Sse42Bmi2::detect() {
                return Self::Sse42Bmi2(token);
            }
            if let Some(token) = super::x86_64::Sse42::detect() {
                return Self::Sse42(token);
            }
        }
        #[cfg(target_arch = "aarch64")]
        if let Some(token) = super::aarch64::Crc::detect() {
            return Self::Armv8(token);
        }
        Self::Portable(crc::Portable)
    }

    /// Every one that this CPU has, for tests.
    #[cfg(test)]
    pub(crate) fn all() -> std::vec::Vec<Self> {
        let mut all = std::vec![Self::Portable(crc::Portable)];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(super::x86_64::Sse42::detect().map(Self::Sse42));
            all.extend(super::x86_64::Sse42Bmi2::detect().map(Self::Sse42Bmi2));
            all.extend(super::x86_64::Clmul512::detect().map(Self::Clmul512));
        }
        #[cfg(target_arch = "aarch64")]
        all.extend(super::aarch64::Crc::detect().map(Self::Armv8));
        all
    }

    /// Runs `kernel`, compiled with the chosen instructions.
    #[inline(always)]
    pub(crate) fn run<K: CrcKernel>(self, kernel: K) -> K::Output {
        match self {
            Self::Portable(step) => kernel.run(step),
            #[cfg(target_arch = "x86_64")]
            Self::Sse42(token) => token.run(kernel),
            #[cfg(target_arch = "x86_64")]
            Self::Sse42Bmi2(token) => token.run(kernel),
            #[cfg(target_arch = "x86_64")]
            Self::Clmul512(token) => token.run(kernel),
            #[cfg(target_arch = "aarch64")]
            Self::Armv8(token) => token.run(kernel),
        }
    }
}

/// The lanes in use, chosen once. Public because a public type has it as a parameter; the module is private.
#[derive(Clone, Copy, Debug)]
pub enum LaneUnit {
    Portable(lanes::Portable),
    #[cfg(target_arch = "x86_64")]
    Avx2(super::x86_64::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(super::x86_64::Avx512),
}

impl LaneUnit {
    /// The widest that this CPU has.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(token) = super::x86_64::Avx512::detect() {
                return Self::Avx512(token);
            }
        }
        Self::detect_256()
    }

    /// The widest of at most 256 bits.
    pub(crate) fn detect_256() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(token) = super::x86_64::Avx2::detect() {
            return Self::Avx2(token);
        }
        Self::Portable(lanes::Portable)
    }

    /// Every one that this CPU has, for tests.
    #[cfg(test)]
    pub(crate) fn all() -> std::vec::Vec<Self> {
        let all = core::iter::once(Self::Portable(lanes::Portable));
        #[cfg(target_arch = "x86_64")]
        let all = all
            .chain(super::x86_64::Avx2::detect().map(Self::Avx2))
            .chain(super::x86_64::Avx512::detect().map(Self::Avx512));
        all.collect()
    }

    /// Runs `kernel`, compiled with the chosen registers.
    #[inline(always)]
    pub(crate) fn run<K: LaneKernel>(self, kernel: K) -> K::Output {
        match self {
            Self::Portable(lanes) => kernel.run(lanes),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(token) => token.run(kernel),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(token) => token.run(kernel),
        }
    }
}
