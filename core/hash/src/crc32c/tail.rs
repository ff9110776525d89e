//! Forms of CRC32C that differ in the last bytes of a component, those that do not fill a word of 8.

use crate::arch::crc::CrcStep;
use crate::load::{le32, le64, le64_to_end};
use crate::scheme::{Keying, SchemeInfo};

/// A form that takes one component into the register. Sealed: this module has all forms.
#[expect(private_bounds, reason = "seals the trait: the CRC instructions stay inside the crate")]
pub trait Tail: Copy + core::fmt::Debug + Form + 'static {
    /// The scheme with this tail.
    const INFO: SchemeInfo;
}

pub(crate) trait Form {
    /// Takes `bytes[from..to]` into `crc`; the caller keeps `to <= bytes.len()`.
    fn component<S: CrcStep>(step: S, crc: u64, bytes: &[u8], from: usize, to: usize) -> u64;
}

/// The 8-4-2-1 ladder (Mosko, CCNxCON 2015): one step of 4, one of 2 and one of 1 byte, each if the length
/// has that bit. Exact; its branches follow the lengths, which for names cannot be predicted.
#[derive(Clone, Copy, Debug)]
pub struct Ladder;

/// One step on a shifted word (`arch::crc::CrcStep::low_bytes`). Exact, and without a branch.
#[derive(Clone, Copy, Debug)]
pub struct Shifted;

/// One step on the last word, with the bytes beyond the component set to zero. A component whose length is a
/// multiple of 8 gets one more word of zeros. The result is CRC32C of the padded bytes: a component and the
/// same component followed by zeros collide. TLV encodings have the length inside the component and so avoid
/// this; offset names do not.
#[derive(Clone, Copy, Debug)]
pub struct Masked;

const INFO: SchemeInfo = SchemeInfo {
    id: "crc32c",
    source: "RFC 3720 §12.1; last bytes by the 8-4-2-1 ladder of Mosko, CCNxCON 2015",
    width: 32,
    keying: Keying::None,
    check: 0xe306_9283,
    safe: "Bytes that no adversary chooses: linear, collisions need no key.",
};

impl Tail for Ladder {
    const INFO: SchemeInfo = INFO;
}

impl Tail for Shifted {
    const INFO: SchemeInfo = SchemeInfo {
        id: "crc32c-shifted",
        source: "RFC 3720 §12.1; last bytes in one step on a shifted word",
        ..INFO
    };
}

impl Tail for Masked {
    const INFO: SchemeInfo = SchemeInfo {
        id: "crc32c-masked",
        source: "CRC32C of each component padded with zeros to whole words",
        check: 0x2dbb_5c68,
        ..INFO
    };
}

/// Takes the whole words of `bytes[from..to]`; returns the register and the start of the last bytes.
#[inline(always)]
fn whole_words<S: CrcStep>(step: S, mut crc: u64, bytes: &[u8], from: usize, to: usize) -> (u64, usize) {
    let mut at = from.min(to);
    while at + 8 <= to {
        crc = step.u64(crc, le64(bytes, at));
        at += 8;
    }
    (crc, at)
}

impl Form for Ladder {
    #[inline(always)]
    fn component<S: CrcStep>(step: S, mut crc: u64, bytes: &[u8], from: usize, to: usize) -> u64 {
        let mut rest = &bytes[from.min(to)..to];
        let len = rest.len();
        // Cut off one by one: the compiler unrolls a loop over `as_chunks`, which costs a name of short
        // components more branches than it saves.
        while let Some((word, after)) = rest.split_first_chunk::<8>() {
            crc = step.u64(crc, u64::from_le_bytes(*word));
            rest = after;
        }
        // Tested bit by bit, as in the source. `split_at` rather than a conditional split: its test is a
        // separate branch, while the compiler merges two conditions into one slower one for some encodings.
        if len & 4 != 0 {
            let (four, after) = rest.split_at(4);
            crc = step.u32(crc, le32(four, 0));
            rest = after;
        }
        if len & 2 != 0 {
            let (two, after) = rest.split_at(2);
            crc = step.u16(crc, u16::from_le_bytes([two[0], two[1]]));
            rest = after;
        }
        if len & 1 != 0 {
            crc = step.u8(crc, rest[0]);
        }
        crc
    }
}

impl Form for Shifted {
    #[inline(always)]
    fn component<S: CrcStep>(step: S, crc: u64, bytes: &[u8], from: usize, to: usize) -> u64 {
        let (crc, at) = whole_words(step, crc, bytes, from, to);
        step.low_bytes(crc, le64_to_end(bytes, at), (to - at) as u32)
    }
}

impl Form for Masked {
    #[inline(always)]
    fn component<S: CrcStep>(step: S, crc: u64, bytes: &[u8], from: usize, to: usize) -> u64 {
        let (crc, at) = whole_words(step, crc, bytes, from, to);
        let mask = (1u64 << (8 * (to - at) % 64)) - 1;
        step.u64(crc, le64_to_end(bytes, at) & mask)
    }
}
