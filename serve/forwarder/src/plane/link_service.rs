//! Link service of a face: fragments, congestion marks and counters of the packets that it sends.

use hashlane_ndn::fragment::Fragmenter;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::LpHeader;
use hashlane_ndn_fw::congestion::CongestionMarking;
use hashlane_ndn_fw::face::FaceCounters;
use std::sync::Arc;

/// Link service of a face, for the packets that one thread sends.
pub(crate) struct LinkService {
    pub(crate) counters: Arc<FaceCounters>,
    fragmenter: Fragmenter,
    pub(crate) options: LinkOptions,
    marking: CongestionMarking,
}

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
}

impl Default for LinkOptions {
    fn default() -> Self {
        let CongestionMarking { threshold, interval, .. } = CongestionMarking::default();
        Self { mtu: usize::MAX, marks: true, threshold, interval }
    }
}

impl LinkService {
    /// A link service with default options. `first_fragment` is the sequence number of the first fragment.
    pub(crate) fn new(counters: Arc<FaceCounters>, first_fragment: u64) -> Self {
        let (options, marking) = (LinkOptions::default(), CongestionMarking::default());
        Self { counters, fragmenter: Fragmenter::new(first_fragment), options, marking }
    }

    /// Sends a packet: calls `push` with the header and the bytes of each link packet, and the queue length
    /// from which the kernel is to be asked for it. `queue` is the number of bytes that wait. Returns the
    /// number of link packets for which `push` had no room.
    #[inline]
    pub(crate) fn send(
        &mut self,
        header: &LpHeader<'_>,
        packet: &[u8],
        queue: usize,
        now: Time,
        mut push: impl FnMut([&[u8]; 2], usize, &FaceCounters) -> bool,
    ) -> u64 {
        let Self { counters, fragmenter, options, marking } = self;
        let LinkOptions { mtu, marks, threshold, interval } = *options;
        let mut header = *header;
        (marking.threshold, marking.interval) = (threshold, interval);
        if marks && header.congestion_mark == 0 && marking.marks(queue, now) {
            header.congestion_mark = 1;
        }
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
}
