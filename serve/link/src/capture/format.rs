//! Formats of captures, by their magic numbers.

/// The type of a section header block of pcapng, alike in both byte orders.
pub(super) const SECTION: u32 = 0x0a0d_0d0a;

/// Kind of a capture, by its first bytes.
pub(super) enum Format {
    Pcap,
    PcapNg,
}

impl Format {
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        if u32::from_be_bytes(*bytes.first_chunk()?) == SECTION {
            return Some(Self::PcapNg);
        }
        magic(bytes).map(|_| Self::Pcap)
    }
}

/// Byte order and unit of the magic number of pcap; `true`: not the order of little-endian machines.
pub(super) fn magic(bytes: &[u8]) -> Option<(bool, u64)> {
    match u32::from_be_bytes(*bytes.first_chunk()?) {
        0xd4c3_b2a1 => Some((false, 1000)),
        0xa1b2_c3d4 => Some((true, 1000)),
        0x4d3c_b2a1 => Some((false, 1)),
        0xa1b2_3c4d => Some((true, 1)),
        _ => None,
    }
}
