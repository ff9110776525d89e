//! One step of CRC32C: 1, 2, 4 or 8 bytes into the 32-bit register.

use super::crc_table;
use super::lanes::WIDTH;
use super::stage::Stage;
use crate::load::le64_short;

/// The CRC32C instructions of a CPU. The low 32 bits of a `u64` hold the register, as in SSE4.2's widest
/// form.
pub(crate) trait CrcStep: Stage {
    /// Takes 8 bytes, little-endian.
    fn u64(self, crc: u64, word: u64) -> u64;
    /// Takes 4 bytes, little-endian.
    fn u32(self, crc: u64, word: u32) -> u64;
    /// Takes 2 bytes, little-endian.
    fn u16(self, crc: u64, word: u16) -> u64;
    /// Takes 1 byte.
    fn u8(self, crc: u64, word: u8) -> u64;

    /// Takes the low `bytes % 8` bytes of `word`, without a branch.
    ///
    /// After r < 8 bytes the register is `(crc >> 8r) ^ T`; T is the result of the r bytes of `crc ^ word` on
    /// an empty register. Zeros leave an empty register empty, so T is also one step of 8 bytes: the r bytes
    /// shifted to the top of a word of zeros.
    #[inline(always)]
    fn low_bytes(self, crc: u64, word: u64, bytes: u32) -> u64 {
        let bits = 8 * bytes;
        let top = ((crc ^ word) << 8).wrapping_shl(56u32.wrapping_sub(bits));
        self.u64(0, top) ^ crc.wrapping_shr(bits)
    }

    /// True if [`block_before`](Self::block_before) is so fast that eight keys of several lengths take less
    /// time in step than one after the other.
    const IN_STEP: bool = false;

    /// Writes the eight words of `key` that end `after` bytes before its end, with zeros before its start.
    #[inline(always)]
    fn block_before(self, key: &[u8], after: usize, block: &mut [u64; WIDTH]) {
        let key = key.get(..key.len().saturating_sub(after)).unwrap_or_default();
        let (start, words) = key.as_rchunks::<8>();
        *block = [0; WIDTH];
        block.iter_mut().rev().zip(words.iter().rev()).for_each(|(to, word)| *to = u64::from_le_bytes(*word));
        if let (false, Some(to)) = (start.is_empty(), block.iter_mut().rev().nth(words.len())) {
            *to = le64_short(start) << (8 * (8 - start.len()));
        }
    }

    /// Applies [`low_bytes`](Self::low_bytes) to eight ends at once. `bytes` has the word of each end and
    /// `registers` its register, at the same offset. LEN is a power of two, and ends count modulo LEN.
    #[inline(always)]
    fn eight_ends<const LEN: usize, const WORDS: usize>(
        self,
        bytes: &[u8; LEN],
        registers: &[u64; WORDS],
        ends: &[u16; WIDTH],
        out: &mut [u64; WIDTH],
    ) {
        const { assert!(LEN.is_power_of_two() && LEN == 8 * WORDS) };
        let words = bytes.as_chunks().0;
        for (out, end) in out.iter_mut().zip(ends) {
            let end = usize::from(*end) % LEN;
            *out = self.low_bytes(registers[end / 8], u64::from_le_bytes(words[end / 8]), end as u32);
        }
    }
}

/// Work that is generic over the CRC instructions. `run` must be `#[inline(always)]`.
pub(crate) trait CrcKernel {
    type Output;
    fn run<S: CrcStep>(self, step: S) -> Self::Output;
}

/// The fallback: tables of the powers of the generator (slicing by eight).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

impl Stage for Portable {}

impl CrcStep for Portable {
    #[inline]
    fn u64(self, crc: u64, word: u64) -> u64 {
        crc_table::update(crc as u32, word, 8)
    }
    #[inline]
    fn u32(self, crc: u64, word: u32) -> u64 {
        crc_table::update(crc as u32, u64::from(word), 4)
    }
    #[inline]
    fn u16(self, crc: u64, word: u16) -> u64 {
        crc_table::update(crc as u32, u64::from(word), 2)
    }
    #[inline]
    fn u8(self, crc: u64, word: u8) -> u64 {
        crc_table::update(crc as u32, u64::from(word), 1)
    }
}
