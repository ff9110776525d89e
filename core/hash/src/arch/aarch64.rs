//! AArch64: the CRC32C instructions of Armv8 (`FEAT_CRC32`).
#![allow(unsafe_code, reason = "intrinsics; each use says why it is sound")]

use super::crc::{CrcKernel, CrcStep};
use super::stage::Stage;
use core::arch::aarch64::{__crc32cb, __crc32cd, __crc32ch, __crc32cw};

/// The CRC extension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crc(());

impl Crc {
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(not(target_os = "none"))]
        let present = std::arch::is_aarch64_feature_detected!("crc");
        #[cfg(target_os = "none")]
        let present = cfg!(target_feature = "crc");
        present.then_some(Self(()))
    }

    #[inline(always)]
    pub(crate) fn run<K: CrcKernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "crc")]
        fn compiled<K: CrcKernel>(token: Crc, kernel: K) -> K::Output {
            kernel.run(token)
        }
        // SAFETY: the token exists only where `detect` found the extension.
        unsafe { compiled(self, kernel) }
    }
}

impl Stage for Crc {}

/// Implements a step of `$word` with `$intrinsic`. The intrinsic is called in a function that enables the
/// extension, as `compiled` above does, so that both are inlined.
macro_rules! step {
    ($word:ident, $intrinsic:ident) => {
        #[inline(always)]
        fn $word(self, crc: u64, word: $word) -> u64 {
            #[target_feature(enable = "crc")]
            #[inline]
            fn step(crc: u32, word: $word) -> u32 {
                $intrinsic(crc, word)
            }
            // SAFETY: the token exists only where `detect` found the extension.
            u64::from(unsafe { step(crc as u32, word) })
        }
    };
}

impl CrcStep for Crc {
    step!(u64, __crc32cd);
    step!(u32, __crc32cw);
    step!(u16, __crc32ch);
    step!(u8, __crc32cb);
}
