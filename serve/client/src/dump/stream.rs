//! Packets in captured TCP connections.
//!
//! A capture lacks segments without a retransmission, and may start in the middle of a connection. So each
//! direction of a connection is either in step, with a packet where the last one ended, or searches for bytes
//! that begin like a packet.

use hashlane_flow::packet::StreamPart;
use hashlane_name::tlv::read_number;
use hashlane_ndn::tlv::{WireError, frame};
use hashlane_ndn::wire::{DATA, INTEREST, MAX_PACKET, NAME, lp};
use lru::LruCache;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::num::NonZeroUsize;

/// Longest link packet in bytes: a packet, and as much for its header.
const LONGEST: u64 = 2 * MAX_PACKET as u64;

/// Directions of connections followed at once.
const STREAMS: NonZeroUsize = NonZeroUsize::new(256).expect("not zero");

/// Most bytes of one stream that wait for earlier ones, and most parts.
const WAITING_OCTETS: usize = 256 * 1024;
const WAITING_PARTS: usize = 256;

/// Widest window. A part further ahead belongs to another connection.
const WINDOW: u32 = 16 << 20;

/// A finding in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// The bytes of a link packet. Only its type and length have been checked.
    Packet(&'a [u8]),
    /// No packet begins where one must: the error, and the offset in the stream.
    OutOfStep(WireError, u64),
    /// Bytes skipped to find the beginning of a packet.
    PassedOver(u64),
    /// Bytes missing from the capture.
    Lost(u64),
}

/// The streams of a link by their key, the most recently used ones.
#[derive(Debug)]
pub struct Streams<K: Copy + Eq + Hash>(LruCache<K, Stream>);

impl<K: Copy + Eq + Hash> Streams<K> {
    /// No streams yet.
    #[allow(clippy::new_without_default, reason = "it allocates")]
    pub fn new() -> Self {
        Self(LruCache::new(STREAMS))
    }

    /// Takes a part. `cut` is set if the capture has only its beginning.
    pub fn take(&mut self, key: K, part: &StreamPart<'_>, cut: bool, found: &mut dyn FnMut(K, Found<'_>)) {
        if self.0.len() == STREAMS.get()
            && !self.0.contains(&key)
            && let Some((oldest, mut stream)) = self.0.pop_lru()
        {
            stream.close(&mut |finding| found(oldest, finding));
        }
        let stream = self.0.get_or_insert_mut(key, Stream::default);
        stream.take(part, cut, &mut |finding| found(key, finding));
    }

    /// Reports the parts that wait for bytes that will not come, least recently used streams first.
    pub fn close(&mut self, found: &mut dyn FnMut(K, Found<'_>)) {
        while let Some((key, mut stream)) = self.0.pop_lru() {
            stream.close(&mut |finding| found(key, finding));
        }
    }
}

/// One direction of a connection.
#[derive(Debug, Default)]
struct Stream {
    /// TCP sequence number of the next byte, if known.
    next: Option<u32>,
    /// Offset of the next byte in the stream.
    at: u64,
    in_step: bool,
    /// Bytes skipped since the stream was in step.
    passed_over: u64,
    /// The beginning of a packet, or of a candidate.
    held: Vec<u8>,
    /// Parts that arrived early, by offset in the stream.
    waiting: BTreeMap<u64, Vec<u8>>,
    waiting_octets: usize,
}

impl Stream {
    fn take(&mut self, part: &StreamPart<'_>, cut: bool, found: &mut dyn FnMut(Found<'_>)) {
        let mut sequence = part.sequence;
        if part.opens {
            sequence = sequence.wrapping_add(1);
            // A SYN with the same number is a retransmission; another one opens another connection.
            if self.next != Some(sequence) {
                self.close(found);
                *self = Self { next: Some(sequence), in_step: true, ..Self::default() };
            }
        }
        if part.bytes.is_empty() && !cut {
            return;
        }
        let next = *self.next.get_or_insert(sequence);
        let ahead = sequence.wrapping_sub(next);
        if ahead as i32 <= 0 {
            let known = ahead.wrapping_neg() as usize;
            if let Some(new) = part.bytes.get(known..).filter(|new| !new.is_empty()) {
                self.append(new, found);
                self.join(found);
            }
        } else if ahead > WINDOW {
            self.close(found);
            *self = Self { next: Some(sequence), ..Self::default() };
            self.append(part.bytes, found);
        } else {
            self.wait(self.at + u64::from(ahead), part.bytes);
            while self.waiting_octets > WAITING_OCTETS || self.waiting.len() > WAITING_PARTS {
                self.pass_gap(found);
            }
        }
        if cut {
            // The length of the gap is unknown, so the stream starts again with the next part.
            self.close(found);
            *self = Self::default();
        }
    }

    fn wait(&mut self, at: u64, octets: &[u8]) {
        let known = self.waiting.get(&at).map_or(0, Vec::len);
        if octets.len() > known {
            self.waiting.insert(at, octets.to_vec());
            self.waiting_octets += octets.len() - known;
        }
    }

    /// Appends waiting parts that are next now.
    fn join(&mut self, found: &mut dyn FnMut(Found<'_>)) {
        while let Some(first) = self.waiting.first_entry().filter(|first| *first.key() <= self.at) {
            let known = usize::try_from(self.at - *first.key()).unwrap_or(usize::MAX);
            let octets = first.remove();
            self.waiting_octets -= octets.len();
            if let Some(new) = octets.get(known..).filter(|new| !new.is_empty()) {
                self.append(new, found);
            }
        }
    }

    /// Skips the gap before the first waiting part.
    fn pass_gap(&mut self, found: &mut dyn FnMut(Found<'_>)) {
        let Some((&at, _)) = self.waiting.first_key_value() else { return };
        let missing = at - self.at;
        found(Found::Lost(missing));
        self.in_step = false;
        self.passed_over += self.held.len() as u64;
        self.held.clear();
        self.at = at;
        // Less than a window.
        self.next = self.next.map(|next| next.wrapping_add(missing as u32));
        self.join(found);
    }

    fn close(&mut self, found: &mut dyn FnMut(Found<'_>)) {
        while !self.waiting.is_empty() {
            self.pass_gap(found);
        }
        let unfinished = self.held.len() as u64 + self.passed_over;
        if unfinished > 0 {
            found(Found::PassedOver(unfinished));
            self.held.clear();
            self.passed_over = 0;
        }
    }

    fn append(&mut self, octets: &[u8], found: &mut dyn FnMut(Found<'_>)) {
        self.next = self.next.map(|next| next.wrapping_add(octets.len() as u32));
        self.at += octets.len() as u64;
        self.held.extend_from_slice(octets);
        let mut done = 0;
        loop {
            let rest = self.held.get(done..).unwrap_or_default();
            if !self.in_step {
                let (skip, begins) = find(rest);
                done += skip;
                self.passed_over += skip as u64;
                if !begins {
                    break;
                }
                if self.passed_over > 0 {
                    found(Found::PassedOver(std::mem::take(&mut self.passed_over)));
                }
                self.in_step = true;
                continue;
            }
            match length(rest) {
                Ok(Some(len)) => {
                    let Some(packet) = rest.get(..len) else { break };
                    found(Found::Packet(packet));
                    done += len;
                }
                Ok(None) => break,
                Err(error) => {
                    found(Found::OutOfStep(error, self.at - rest.len() as u64));
                    self.in_step = false;
                    // The next byte may begin a packet.
                    self.passed_over = 1;
                    done += 1;
                }
            }
        }
        self.held.drain(..done);
    }
}

/// Length of the link packet that begins here; `None` if more bytes are needed.
fn length(octets: &[u8]) -> Result<Option<usize>, WireError> {
    let Some(&first) = octets.first() else { return Ok(None) };
    let typ = u32::from(first);
    if ![INTEREST, DATA, lp::LP_PACKET].contains(&typ) {
        return Err(WireError::UnexpectedType { typ });
    }
    match frame(octets)? {
        Some(len) if len > LONGEST => Err(WireError::Length { typ, at: 0 }),
        len => Ok(len.and_then(|len| usize::try_from(len).ok())),
    }
}

/// Searches for the beginning of a packet. Returns the number of bytes to skip, and true if a packet begins
/// after them; false if more bytes are needed.
fn find(octets: &[u8]) -> (usize, bool) {
    for at in 0..octets.len() {
        match begins(octets.get(at..).unwrap_or_default()) {
            Some(false) => {}
            Some(true) => return (at, true),
            None => return (at, false),
        }
    }
    (octets.len(), false)
}

/// Tests if a packet begins here: by its type and length, and its first element's, which must fit into it.
/// `None` if more bytes are needed.
fn begins(octets: &[u8]) -> Option<bool> {
    let len = match length(octets) {
        Ok(len) => len?,
        Err(_) => return Some(false),
    };
    // The type of a packet is one byte long.
    let head = |octets: &[u8]| match read_number(octets) {
        Ok((number, len)) => Ok((number, len)),
        Err(_) if octets.len() < 9 => Err(None),
        Err(_) => Err(Some(false)),
    };
    let inner = || {
        let (_, outer) = head(octets.get(1..).unwrap_or_default())?;
        let inner = octets.get(1 + outer..).unwrap_or_default();
        let (typ, typ_len) = head(inner)?;
        let (value, value_len) = head(inner.get(typ_len..).unwrap_or_default())?;
        Ok((typ, value.saturating_add((1 + outer + typ_len + value_len) as u64)))
    };
    let (typ, end) = match inner() {
        Ok(inner) => inner,
        // A complete packet this short has no first element.
        Err(None) if len <= octets.len() => return Some(false),
        Err(verdict) => return verdict,
    };
    let is_first = match u32::try_from(typ) {
        Ok(typ) if octets.first() == Some(&(lp::LP_PACKET as u8)) => {
            matches!(typ, lp::FRAGMENT..=lp::FRAG_COUNT | lp::PIT_TOKEN | 800..=959)
        }
        Ok(typ) => typ == NAME,
        Err(_) => false,
    };
    Some(is_first && end <= len as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An Interest for a name with one component of `len` bytes.
    fn interest(len: u8) -> Vec<u8> {
        let component = [&[8, len][..], &vec![b'x'; len.into()]].concat();
        let name = [&[7, component.len() as u8][..], &component].concat();
        [&[5, name.len() as u8 + 6][..], &name, &[10, 4, 1, 2, 3, 4]].concat()
    }

    fn describe(found: Found<'_>) -> String {
        match found {
            Found::Packet(packet) => format!("packet {}", packet.len()),
            other => format!("{other:?}"),
        }
    }

    /// The findings in parts of a stream, given as sequence number and bytes.
    fn found(parts: &[(u32, &[u8])], opens: bool) -> Vec<String> {
        let mut all = Vec::new();
        let mut streams = Streams::new();
        let mut take = |(): (), what: Found<'_>| all.push(describe(what));
        if opens {
            let open = StreamPart { sequence: parts[0].0.wrapping_sub(1), opens, bytes: &[] };
            streams.take((), &open, false, &mut take);
        }
        for (sequence, octets) in parts {
            let part = StreamPart { sequence: *sequence, opens: false, bytes: octets };
            streams.take((), &part, false, &mut take);
        }
        streams.close(&mut take);
        all
    }

    #[test]
    fn reports_a_lost_part_and_finds_the_next_packet() {
        let stream = [interest(20), interest(30), interest(40)].concat();
        let parts = [(0, &stream[..40]), (60, &stream[60..])];
        assert_eq!(found(&parts, true), ["packet 32", "Lost(20)", "PassedOver(22)", "packet 52"]);
    }

    #[test]
    fn a_capture_that_starts_late_finds_the_next_packet() {
        let stream = [interest(20), interest(30)].concat();
        assert_eq!(found(&[(7, &stream[5..])], false), ["PassedOver(27)", "packet 42"]);
        assert_eq!(found(&[(7, &stream)], false), ["packet 32", "packet 42"]);
    }

    #[test]
    fn skips_bytes_that_are_no_packet_and_reports_them_once() {
        let stream = [&interest(20)[..], b"GET / HTTP/1.1", &interest(30)].concat();
        let error = WireError::UnexpectedType { typ: b'G'.into() };
        let expected = ["packet 32", &format!("OutOfStep({error:?}, 32)"), "PassedOver(14)", "packet 42"];
        assert_eq!(found(&[(7, &stream)], true), expected);
    }

    #[test]
    fn the_least_recently_used_stream_is_closed_first() {
        let mut streams = Streams::new();
        let mut closed = Vec::new();
        let part = StreamPart { sequence: 0, opens: false, bytes: b"x" };
        let last = STREAMS.get();
        for key in (0..last).chain([0, last]) {
            streams.take(key, &part, false, &mut |key, _| closed.push(key));
        }
        assert_eq!(closed, [1]);
        streams.close(&mut |key, _| closed.push(key));
        assert_eq!(closed[1..], (2..last).chain([0, last]).collect::<Vec<_>>());
    }

    #[test]
    fn waiting_parts_are_bounded() {
        let mut streams = Streams::new();
        let mut lost = 0;
        for number in 1..2000_u32 {
            let part = StreamPart { sequence: number * 3000, opens: false, bytes: &[0; 2000] };
            streams.take((), &part, false, &mut |(), what| lost += u32::from(matches!(what, Found::Lost(_))));
            let stream = streams.0.get(&()).unwrap();
            assert!(stream.waiting.len() <= WAITING_PARTS && stream.waiting_octets <= WAITING_OCTETS);
            assert_eq!(stream.waiting_octets, stream.waiting.values().map(Vec::len).sum::<usize>());
            assert!(stream.held.len() <= 32);
        }
        assert!(lost > 1000, "{lost}");
    }

    proptest! {
        #[test]
        fn parts_in_any_order_give_the_packets(
            lens in prop::collection::vec(0..100_u8, 1..30), sizes in prop::collection::vec(1..80_usize, 1..8),
            from: u32, swaps in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        ) {
            let stream: Vec<u8> = lens.iter().flat_map(|len| interest(*len)).collect();
            let (mut parts, mut at) = (Vec::new(), 0);
            for size in sizes.iter().cycle() {
                let end = (at + size).min(stream.len());
                // Repeats some bytes of the previous part.
                let start = at - at.min(size / 3);
                parts.push((from.wrapping_add(start as u32), &stream[start..end]));
                at = end;
                if at == stream.len() {
                    break;
                }
            }
            // Sequence numbers count from the SYN, in whatever order the parts arrive.
            let mut all = Vec::new();
            let mut streams = Streams::new();
            let mut take = |(): (), what: Found<'_>| all.push(describe(what));
            let open = StreamPart { sequence: from.wrapping_sub(1), opens: true, bytes: &[] };
            streams.take((), &open, false, &mut take);
            for swap in &swaps {
                let at = swap.index(parts.len());
                if at + 1 < parts.len() {
                    parts.swap(at, at + 1);
                }
            }
            for (sequence, octets) in parts {
                streams.take((), &StreamPart { sequence, opens: false, bytes: octets }, false, &mut take);
            }
            streams.close(&mut take);
            let expected: Vec<String> = lens.iter().map(|len| format!("packet {}", interest(*len).len())).collect();
            prop_assert_eq!(all, expected);
        }

        #[test]
        fn findings_are_bounded_for_arbitrary_bytes(
            parts in prop::collection::vec((0..5000_u32, prop::collection::vec(any::<u8>(), 0..60), any::<bool>(), any::<bool>()), 0..40),
        ) {
            let mut streams = Streams::new();
            let total: usize = parts.iter().map(|part| part.1.len()).sum();
            let mut count = 0;
            for (sequence, octets, opens, cut) in &parts {
                let part = StreamPart { sequence: *sequence, opens: *opens, bytes: octets };
                streams.take((), &part, *cut, &mut |(), _| count += 1);
            }
            streams.close(&mut |(), _| count += 1);
            prop_assert!(count <= 2 * total + 4 * parts.len());
        }
    }
}
