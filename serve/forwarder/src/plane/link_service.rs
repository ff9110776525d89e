//! Link service of a face: fragments, congestion marks, link reliability and counters of the packets that it
//! sends.

use hashlane_ndn::fragment::Fragmenter;
use hashlane_ndn::reliability::{Counts, Reliability};
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{LpHeader, LpPacket};
use hashlane_ndn_fw::congestion::CongestionMarking;
use hashlane_ndn_fw::face::FaceCounters;
use std::sync::Arc;

/// Link service of a face, for the packets that one thread sends.
pub(crate) struct LinkService {
    pub(crate) counters: Arc<FaceCounters>,
    fragmenter: Fragmenter,
    options: LinkOptions,
    marking: CongestionMarking,
    /// State of link reliability, if it is on and this thread sends the packets of the face.
    reliability: Option<Box<Reliability>>,
}

/// Sender of link packets: takes the parts of one, and the queue length from which the kernel is to be asked
/// for it. Returns false if it has no room.
pub(crate) trait Push: FnMut([&[u8]; 2], usize, &FaceCounters) -> bool {}

impl<F: FnMut([&[u8]; 2], usize, &FaceCounters) -> bool> Push for F {}

/// Options of a link service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkOptions {
    /// Longest link packet, in bytes.
    pub(crate) mtu: usize,
    /// True if packets are marked while the link is congested.
    pub(crate) marks: bool,
    /// Queue length above which packets are marked, in bytes.
    pub(crate) threshold: usize,
    /// First interval between marks, in milliseconds.
    pub(crate) interval: u64,
    /// True if lost link packets are sent again: by the first thread, for all shards.
    pub(crate) reliability: bool,
}

impl Default for LinkOptions {
    fn default() -> Self {
        let CongestionMarking { threshold, interval, .. } = CongestionMarking::default();
        Self { mtu: usize::MAX, marks: true, threshold, interval, reliability: false }
    }
}

impl LinkService {
    /// A link service with default options. `first_fragment` is the sequence number of the first fragment.
    pub(crate) fn new(counters: Arc<FaceCounters>, first_fragment: u64) -> Self {
        let (options, marking) = (LinkOptions::default(), CongestionMarking::default());
        let fragmenter = Fragmenter::new(first_fragment);
        Self { counters, fragmenter, options, marking, reliability: None }
    }

    /// The options.
    #[inline(always)]
    pub(crate) fn options(&self) -> LinkOptions {
        self.options
    }

    /// Replaces the options at a worker, which has no state of reliability.
    pub(crate) fn set_options(&mut self, options: LinkOptions) {
        self.options = options;
    }

    /// Replaces the options, and starts or ends reliability. What it holds at its end is lost.
    pub(crate) fn configure(&mut self, options: LinkOptions) {
        self.options = options;
        if !options.reliability {
            self.reliability = None;
        } else if self.reliability.is_none() {
            let first = self.fragmenter.next_sequence().rotate_left(32);
            self.reliability = Some(Box::new(Reliability::new(first)));
        }
    }

    /// True if lost link packets are sent again by this end.
    #[inline(always)]
    pub(crate) fn is_reliable(&self) -> bool {
        self.reliability.is_some()
    }

    /// Sends a packet: calls `push` with the header and the bytes of each link packet, and the queue length
    /// from which the kernel is to be asked for it. `queue` is the number of bytes that wait. Returns the
    /// number of link packets for which `push` had no room. Callers send packets of a
    /// [reliable](Self::is_reliable) face by [`send_reliably`](Self::send_reliably).
    #[inline]
    pub(crate) fn send(
        &mut self,
        header: &LpHeader<'_>,
        packet: &[u8],
        queue: usize,
        now: Time,
        mut push: impl Push,
    ) -> u64 {
        let header = self.mark(header, queue, now);
        let Self { counters, fragmenter, options, .. } = self;
        let LinkOptions { mtu, marks, threshold, .. } = *options;
        let asked = if marks { threshold } else { usize::MAX };
        let mut lost = 0;
        let sent = fragmenter.send(&header, packet, mtu, |head, piece| {
            if push([head, piece], asked, counters) {
                counters.out_bytes.add((head.len() + piece.len()) as u64);
            } else {
                counters.out_drops.add(1);
                lost += 1;
            }
        });
        if !sent {
            counters.out_drops.add(1);
        }
        lost
    }

    /// The header with a mark, if the link is congested.
    #[inline(always)]
    fn mark<'h>(&mut self, header: &LpHeader<'h>, queue: usize, now: Time) -> LpHeader<'h> {
        let LinkOptions { marks, threshold, interval, .. } = self.options;
        let mut header = *header;
        (self.marking.threshold, self.marking.interval) = (threshold, interval);
        if marks && header.congestion_mark == 0 && self.marking.marks(queue, now) {
            header.congestion_mark = 1;
        }
        header
    }

    /// Sends a packet of a [reliable](Self::is_reliable) face, as [`send`](Self::send) does. Returns the
    /// numbers to add to the counters of all faces.
    pub(crate) fn send_reliably(
        &mut self,
        header: &LpHeader<'_>,
        packet: &[u8],
        queue: usize,
        now: Time,
        push: impl Push,
    ) -> Counts {
        let header = self.mark(header, queue, now);
        let Self { counters, fragmenter, options, reliability: Some(reliability), .. } = self else {
            debug_assert!(false, "the caller has asked for that");
            return Counts::default();
        };
        let sent =
            reliability.send(fragmenter, &header, packet, options.mtu, now, out(*options, counters, push));
        if !sent {
            counters.out_drops.add(1);
        }
        note(reliability, counters)
    }

    /// Receives a link packet on a [reliable](Self::is_reliable) face. Returns false if it has arrived
    /// before, and the numbers to add to the counters of all faces.
    pub(crate) fn receive_reliably(
        &mut self,
        packet: &LpPacket<'_>,
        now: Time,
        push: impl Push,
    ) -> (bool, Counts) {
        let Self { counters, options, reliability: Some(reliability), .. } = self else {
            return (true, Counts::default());
        };
        let is_new = reliability.receive(packet, options.mtu, now, out(*options, counters, push));
        (is_new, note(reliability, counters))
    }

    /// Sends what is due: lost link packets, and Acks. Returns the numbers to add to the counters of all
    /// faces.
    pub(crate) fn handle_timeout(&mut self, now: Time, push: impl Push) -> Counts {
        let Self { counters, options, reliability: Some(reliability), .. } = self else {
            return Counts::default();
        };
        reliability.handle_timeout(options.mtu, now, out(*options, counters, push));
        note(reliability, counters)
    }

    /// Time of the next [`handle_timeout`](Self::handle_timeout).
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        self.reliability.as_ref()?.poll_timeout()
    }
}

/// Passes link packets on, and counts their bytes.
fn out(options: LinkOptions, counters: &FaceCounters, mut push: impl Push) -> impl FnMut(&[u8], &[u8]) {
    let asked = if options.marks { options.threshold } else { usize::MAX };
    move |head, rest| {
        if push([head, rest], asked, counters) {
            counters.out_bytes.add((head.len() + rest.len()) as u64);
        } else {
            counters.out_drops.add(1);
        }
    }
}

/// Adds the numbers of the last call to the counters of the face.
fn note(reliability: &mut Reliability, counters: &FaceCounters) -> Counts {
    let counts = reliability.take_counts();
    counters.reliability.add(&counts);
    counts
}
