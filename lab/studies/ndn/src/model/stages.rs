//! The stages of the forwarder's receive path, timed: the calls of its process for each burst from a socket.

use hashlane_lab::probe::counter;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::lp::{DigestField, INTEREST_DIGEST};
use hashlane_ndn::wire::{Label, LpHeader};
use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use hashlane_ndn_fw::forward::{BURST, Burst, Forwarder, Output, Part};
use hashlane_ndn_fw::pit::{Pit, TOKEN_LEN};
use hashlane_table::stage::Stage as _;
use std::hint::black_box;

/// Packets of a burst in the studies: the window of a consumer, which one read of its socket brings under
/// full load.
pub(super) const PACKETS: usize = 16;

/// Counts of the counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StageCounts {
    /// Link packets parsed, packets decoded, names hashed.
    pub decode: u64,
    /// Marks derived (digests, for the index that needs them), and prefetches.
    pub prefetch: u64,
    /// Lookups, changes of tables, packets handed over.
    pub act: u64,
}

impl StageCounts {
    /// All stages.
    pub(super) fn sum(self) -> u64 {
        self.decode + self.prefetch + self.act
    }

    /// Adds the counts of other packets.
    pub(super) fn add(&mut self, other: Self) {
        self.decode += other.decode;
        self.prefetch += other.prefetch;
        self.act += other.act;
    }
}

/// Adds a face of a neighbour that sends tokens.
pub(super) fn add_face<P: Pit>(forwarder: &mut Forwarder<P>) -> Option<FaceId> {
    let mut face = Face::new(Scope::Local, LinkType::PointToPoint);
    face.pit_tokens = true;
    forwarder.add_face(face)
}

/// The header of a packet with the label of an Interest: nothing, a token, or a digest, by its length.
pub(super) fn labelled(label: &[u8]) -> LpHeader<'_> {
    match label.len() {
        0 => LpHeader::default(),
        TOKEN_LEN => LpHeader { pit_token: label, ..LpHeader::default() },
        _ => LpHeader { digest: DigestField::new(INTEREST_DIGEST, label), ..LpHeader::default() },
    }
}

/// Runs the stages over packets with their ingress faces, in bursts of `size` packets, and times each stage.
pub(super) fn run<P: Pit>(
    forwarder: &mut Forwarder<P>,
    packets: &[(FaceId, &[u8])],
    size: usize,
    now: Time,
    out: &mut Sink,
) -> StageCounts {
    let mut counts = StageCounts::default();
    for packets in packets.chunks(size.clamp(1, BURST)) {
        let mut burst = Burst::new();
        let start = counter::start();
        for (face, bytes) in packets {
            // A malformed packet is not forwarded, and the count shows it.
            let _ = burst.push(*face, bytes);
        }
        forwarder.decode().run(&mut burst);
        let decoded = counter::stop();
        let resumed = counter::start();
        forwarder.prefetch().run(&mut burst);
        let prefetched = counter::stop();
        let acting = counter::start();
        forwarder.act(now, out).run(&mut burst);
        let acted = counter::stop();
        // Ends the last part of the last packet.
        out.enter(Part::Face);
        counts.add(StageCounts {
            decode: decoded.saturating_sub(start),
            prefetch: prefetched.saturating_sub(resumed),
            act: acted.saturating_sub(acting),
        });
    }
    counts
}

/// Sink of a forwarder's packets: counts them, and keeps the labels that producers put on the Data. One
/// that is [timed](Sink::timed) also times the parts of the last stage.
///
/// A read of the counter takes about 20 cycles and waits for nothing, so packets overlap as without it; the
/// cost of the reads themselves is subtracted.
#[derive(Debug)]
pub(super) struct Sink {
    /// Packets sent.
    pub packets: u64,
    /// Tokens and digests, in the order of the packets that had one.
    pub labels: Vec<Label>,
    is_timed: bool,
    counts: [u64; PARTS],
    visits: [u64; PARTS],
    part: Part,
    since: u64,
    /// Counts of a reading.
    reading: u64,
}

/// Parts of the last stage.
const PARTS: usize = 6;

impl Sink {
    /// One that reads no counter.
    pub(super) const fn plain() -> Self {
        Self {
            packets: 0,
            labels: Vec::new(),
            is_timed: false,
            counts: [0; PARTS],
            visits: [0; PARTS],
            part: Part::Face,
            since: 0,
            reading: 0,
        }
    }

    /// One that times the parts.
    pub(super) fn timed() -> Self {
        let mut sink = Self { is_timed: true, since: counter::now(), ..Self::plain() };
        // The smallest of several: interruptions only add.
        const READINGS: u64 = 100;
        let readings = (0..20).map(|_| {
            sink.clear();
            for _ in 0..READINGS {
                sink.enter(Part::Send);
            }
            sink.of(Part::Send).0 / READINGS
        });
        sink.reading = readings.min().unwrap_or_default();
        sink.clear();
        sink
    }

    /// Clears the counts and the labels.
    pub(super) fn clear(&mut self) {
        self.labels.clear();
        (self.counts, self.visits) = ([0; PARTS], [0; PARTS]);
    }

    fn of(&self, part: Part) -> (u64, u64) {
        let at = part as usize;
        let [counts, visits] = [self.counts, self.visits].map(|of| of.get(at).copied().unwrap_or_default());
        (counts, visits)
    }

    /// Counts of a part since it was [cleared](Self::clear), less the cost of the reads. Cycles of
    /// [`Part::Face`] include the time between bursts and mean nothing.
    pub(super) fn count(&self, part: Part) -> u64 {
        let (counts, visits) = self.of(part);
        counts.saturating_sub(visits * self.reading)
    }
}

impl Output for Sink {
    #[inline]
    fn send(&mut self, face: FaceId, header: &LpHeader<'_>, packet: &[u8]) {
        black_box((face, header, packet));
        self.packets += 1;
        let label = if header.pit_token.is_empty() { header.digest.value } else { header.pit_token };
        if !label.is_empty() {
            self.labels.push(Label::new(label));
        }
    }

    #[inline(always)]
    fn enter(&mut self, part: Part) {
        if !self.is_timed {
            return;
        }
        let (now, at) = (counter::now(), self.part as usize);
        if let (Some(count), Some(visits)) = (self.counts.get_mut(at), self.visits.get_mut(at)) {
            *count += now.saturating_sub(self.since);
            *visits += 1;
        }
        (self.part, self.since) = (part, now);
    }
}
