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

impl CrcStep for Crc {
    #[inline(always)]
    fn u64(self, crc: u64, word: u64) -> u64 {
        // SAFETY: the token exists only where `detect` found the extension.
        u64::from(unsafe { __crc32cd(crc as u32, word) })
    }
    #[inline(always)]
    fn u32(self, crc: u64, word: u32) -> u64 {
        // SAFETY: as above.
        u64::from(unsafe { __crc32cw(crc as u32, word) })
    }
    #[inline(always)]
    fn u16(self, crc: u64, word: u16) -> u64 {
        // SAFETY: as above.
        u64::from(unsafe { __crc32ch(crc as u32, word) })
    }
    #[inline(always)]
    fn u8(self, crc: u64, word: u8) -> u64 {
        // SAFETY: as above.
        u64::from(unsafe { __crc32cb(crc as u32, word) })
    }
}
