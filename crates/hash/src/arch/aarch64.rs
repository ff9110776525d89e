//! AArch64: the CRC32C instructions of Armv8 (`FEAT_CRC32`) and those for AES (`FEAT_AES`).
#![allow(unsafe_code, reason = "intrinsics; each use says why it is sound")]

use super::aes::{AesKernel, AesStep};
use super::crc::{CrcKernel, CrcStep};
use super::stage::Stage;
use core::arch::aarch64::{
    __crc32cb, __crc32cd, __crc32ch, __crc32cw, uint8x16_t, vaeseq_u8, vaesmcq_u8, vdupq_n_u8, veorq_u8,
    vgetq_lane_u64, vld1q_u8, vreinterpretq_u64_u8,
};

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

/// The instruction `$intrinsic` as a step of `$word`. The intrinsic stands in a function that has the extension, as
/// `compiled` above has: so it can be inlined into the one, and the one into the other.
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

/// Armv8's instructions for AES, from which x86's round is made: theirs add the key first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aes(());

impl Aes {
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(not(target_os = "none"))]
        let has = std::arch::is_aarch64_feature_detected!("aes");
        #[cfg(target_os = "none")]
        let has = cfg!(target_feature = "aes");
        has.then_some(Self(()))
    }

    #[inline(always)]
    pub(crate) fn run<K: AesKernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "aes,neon")]
        fn compiled<K: AesKernel>(token: Aes, kernel: K) -> K::Output {
            kernel.run(token)
        }
        // SAFETY: the token exists only where `detect` found the feature.
        unsafe { compiled(self, kernel) }
    }
}

impl AesStep for Aes {
    type Block = uint8x16_t;

    #[inline(always)]
    fn load(self, octets: &[u8; 16]) -> uint8x16_t {
        // SAFETY: the reference spans 16 octets.
        unsafe { vld1q_u8(octets.as_ptr()) }
    }
    #[inline(always)]
    fn xor(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        // SAFETY: register operation; NEON is part of AArch64 as Rust has it.
        unsafe { veorq_u8(a, b) }
    }
    #[inline(always)]
    fn round(self, state: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
        // SAFETY: the token exists only where `detect` found AES.
        unsafe { veorq_u8(vaesmcq_u8(vaeseq_u8(state, vdupq_n_u8(0))), key) }
    }
    #[inline(always)]
    fn low(self, block: uint8x16_t) -> u64 {
        // SAFETY: register operation.
        unsafe { vgetq_lane_u64::<0>(vreinterpretq_u64_u8(block)) }
    }
}
