//! Records of pcap files (draft-ietf-opsawg-pcap).

use super::Frame;
use super::error::Problem;
use super::format::{Format, magic};
use super::limits::LONGEST;
use super::step::Step;

/// A pcap file, by its header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pcap {
    swapped: bool,
    /// Nanoseconds in a unit of the second half of a timestamp.
    unit: u64,
    link: u32,
}

impl Pcap {
    /// Bytes of the file's header.
    pub(super) const HEADER: usize = 24;

    /// Type of the link in the field of that name; the bits above hold the length of checksums.
    const LINK: u32 = 0x03ff_ffff;

    /// The file with this header, if its magic number is known.
    pub(super) fn new(header: &[u8; Self::HEADER]) -> Option<Self> {
        let (swapped, unit) = magic(header)?;
        let [.., a, b, c, d] = *header;
        let link = order(swapped, [a, b, c, d]) & Self::LINK;
        Some(Self { swapped, unit, link })
    }

    /// The record at the start of `rest`.
    #[inline(always)]
    pub(super) fn step<'a>(&self, rest: &'a [u8]) -> Step<'a> {
        let Some((header, data)) = rest.split_first_chunk::<16>() else { return Step::Short };
        let word =
            |at: usize| order(self.swapped, [header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let (seconds, part, captured, original) = (word(0), word(4), word(8) as usize, word(12));
        // The header of a file has a zero in this place. The header of pcapng has a large number.
        if (captured == 0 || captured > LONGEST) && begins_capture(header) {
            return Step::Bad(Problem::Capture);
        }
        if captured > LONGEST {
            return Step::Bad(Problem::Packet { length: captured });
        }
        let Some(bytes) = data.get(..captured) else { return Step::Short };
        let time = u64::from(seconds) * 1_000_000_000 + u64::from(part) * self.unit;
        let frame = Frame { link: Some(self.link), time, original, bytes };
        Step::Frame { frame, used: header.len() + captured }
    }
}

/// Tests if the header of a file stands in place of a record's. One whose time looks like the magic number of
/// pcap differs from version 2.4 by its fraction of a second.
#[cold]
fn begins_capture(header: &[u8; 16]) -> bool {
    let [_, _, _, _, a, b, c, d, ..] = *header;
    match Format::of(header) {
        Some(Format::Pcap) => matches!([a, b, c, d], [2, 0, 4, 0] | [0, 2, 0, 4]),
        Some(Format::PcapNg) => true,
        None => false,
    }
}

/// A field in the order of the file: little-endian, or `swapped`.
#[inline(always)]
pub(super) fn order(swapped: bool, bytes: [u8; 4]) -> u32 {
    let value = u32::from_le_bytes(bytes);
    if swapped { value.swap_bytes() } else { value }
}
