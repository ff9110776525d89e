//! Blocks of pcapng files (draft-ietf-opsawg-pcapng).

use super::Frame;
use super::error::Problem;
use super::format::SECTION;
use super::limits::{INTERFACES, LONGEST};
use super::pcap::order;
use super::step::Step;

const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// State of a pcapng file: the section and its interfaces.
#[derive(Clone, Debug, Default)]
pub(super) struct PcapNg {
    swapped: bool,
    interfaces: Vec<Interface>,
}

impl PcapNg {
    /// Byte order by the magic number of a section header block; `None` if it is neither.
    pub(super) fn order_of(magic: [u8; 4]) -> Option<bool> {
        match u32::from_be_bytes(magic) {
            0x4d3c_2b1a => Some(false),
            0x1a2b_3c4d => Some(true),
            _ => None,
        }
    }

    /// The block at the start of `rest`.
    #[inline(always)]
    pub(super) fn step<'a>(&mut self, rest: &'a [u8]) -> Step<'a> {
        let Some(head) = rest.first_chunk::<12>() else { return Step::Short };
        let ([kind, length, magic], _) = head.as_chunks::<4>() else { return Step::Short };
        let kind = u32::from_le_bytes(*kind);
        if kind == SECTION {
            match Self::order_of(*magic) {
                Some(swapped) => self.swapped = swapped,
                None => return Step::Bad(Problem::Order { magic: u32::from_be_bytes(*magic) }),
            }
        }
        let kind = if self.swapped { kind.swap_bytes() } else { kind };
        let length = order(self.swapped, *length) as usize;
        if length < head.len() || !length.is_multiple_of(4) {
            return Step::Bad(Problem::Block { length });
        }
        if !matches!(kind, SECTION | INTERFACE | OLD_PACKET | SIMPLE_PACKET | ENHANCED_PACKET) {
            return Step::Skip(length);
        }
        if length > LONGEST {
            return Step::Bad(Problem::Packet { length });
        }
        let Some(block) = rest.get(..length) else { return Step::Short };
        let body = block.get(8..length - 4).unwrap_or_default();
        let end = block.last_chunk().map(|end| order(self.swapped, *end) as usize);
        if end != Some(length) {
            return Step::Bad(Problem::Block { length });
        }
        match self.block(kind, body) {
            Ok(Some(frame)) => Step::Frame { frame, used: length },
            Ok(None) => Step::Skip(length),
            Err(Broken) => Step::Bad(Problem::Block { length }),
        }
    }

    /// The frame of a block, if it has one.
    #[inline(always)]
    fn block<'a>(&mut self, kind: u32, body: &'a [u8]) -> Result<Option<Frame<'a>>, Broken> {
        let swapped = self.swapped;
        let word = |at: usize| {
            let bytes = body.get(at..).and_then(<[u8]>::first_chunk);
            bytes.map(|bytes| order(swapped, *bytes)).ok_or(Broken)
        };
        match kind {
            ENHANCED_PACKET | OLD_PACKET => {
                let data =
                    body.get(20..).and_then(|data| data.get(..word(12).ok()? as usize)).ok_or(Broken)?;
                let number = match kind {
                    ENHANCED_PACKET => word(0)?,
                    // A number of 16 bits, and one of drops.
                    _ if swapped => word(0)? >> 16,
                    _ => word(0)? & 0xffff,
                };
                let ticks = u64::from(word(4)?) << 32 | u64::from(word(8)?);
                let interface = self.interfaces.get(number as usize);
                Ok(Some(Frame {
                    link: interface.map(|interface| interface.link),
                    time: interface.map_or(0, |interface| interface.clock.nanoseconds(ticks)),
                    original: word(16)?,
                    bytes: data,
                }))
            }
            SIMPLE_PACKET => {
                let original = word(0)?;
                let interface = self.interfaces.first();
                let snap = interface.map_or(u32::MAX, |interface| interface.snap);
                let data = body.get(4..).unwrap_or_default();
                let captured = data.len().min(original.min(snap) as usize);
                let bytes = data.get(..captured).unwrap_or_default();
                Ok(Some(Frame { link: interface.map(|interface| interface.link), time: 0, original, bytes }))
            }
            INTERFACE => {
                if self.interfaces.len() == INTERFACES {
                    return Err(Broken);
                }
                self.interfaces.push(Interface::read(swapped, body)?);
                Ok(None)
            }
            _ => {
                self.interfaces.clear();
                Ok(None)
            }
        }
    }
}

/// A block that is too short for its fields, or one interface too many.
struct Broken;

#[derive(Clone, Copy, Debug)]
struct Interface {
    link: u32,
    /// Captured bytes of a packet at most.
    snap: u32,
    clock: Clock,
}

impl Interface {
    /// Reads the body of an interface description block.
    fn read(swapped: bool, body: &[u8]) -> Result<Self, Broken> {
        const RESOLUTION: u16 = 9;
        const OFFSET: u16 = 14;
        let half =
            |a: u8, b: u8| if swapped { u16::from_be_bytes([a, b]) } else { u16::from_le_bytes([a, b]) };
        let ([a, b, _, _, snap @ ..], mut options) = body.split_first_chunk::<8>().ok_or(Broken)?;
        let snap = match order(swapped, *snap) {
            0 => u32::MAX,
            snap => snap,
        };
        let mut clock = Clock { rate: 1_000_000, offset: 0 };
        while let Some(([c, d, e, f], rest)) = options.split_first_chunk::<4>() {
            let (code, length) = (half(*c, *d), usize::from(half(*e, *f)));
            let value = rest.get(..length).ok_or(Broken)?;
            match (code, value) {
                (0, _) => break,
                (RESOLUTION, [exponent]) => {
                    let base: u64 = if exponent & 0x80 == 0 { 10 } else { 2 };
                    clock.rate = base.saturating_pow(u32::from(exponent & 0x7f));
                }
                (OFFSET, [high, low @ ..]) => {
                    let mut bytes = [*high; 8];
                    if let Some(low) = low.first_chunk::<7>() {
                        bytes[1..].copy_from_slice(low);
                        let (little, big) = (i64::from_le_bytes(bytes), i64::from_be_bytes(bytes));
                        clock.offset = if swapped { big } else { little };
                    }
                }
                _ => {}
            }
            options = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
        Ok(Self { link: half(*a, *b).into(), snap, clock })
    }
}

/// Clock of an interface (`if_tsresol`, `if_tsoffset`).
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// Ticks of a second, at least one.
    rate: u64,
    /// Seconds from 1970 to the first tick.
    offset: i64,
}

impl Clock {
    /// Nanoseconds since 1970 within the range of the type.
    #[inline(always)]
    fn nanoseconds(&self, ticks: u64) -> u64 {
        const SECOND: u64 = 1_000_000_000;
        let since = match self.rate {
            1_000_000 => ticks.saturating_mul(1000),
            SECOND => ticks,
            rate => {
                let part = u128::from(ticks % rate) * u128::from(SECOND) / u128::from(rate);
                // Less than a second.
                (ticks / rate).saturating_mul(SECOND).saturating_add(part as u64)
            }
        };
        since.saturating_add_signed(self.offset.saturating_mul(SECOND as i64))
    }
}
