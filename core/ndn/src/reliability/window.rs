//! Link packets that were sent and are not acknowledged, and the transmissions of each.

use crate::invariant::Invariant as _;
use crate::time::Time;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Most unacknowledged link packets, and their bytes, from which no packet is added. The last packet may
/// exceed them by its fragments.
pub const MAX_FRAMES: usize = 4096;
/// See [`MAX_FRAMES`].
pub const MAX_BYTES: usize = 8 << 20;

/// Transmissions from which no packet is added. Retransmissions may exceed it.
const MAX_TRANSMISSIONS: usize = 4 * MAX_FRAMES;

/// Acks of later transmissions after which one counts as lost, as in NFD.
const LATER_ACKS: usize = 3;

/// Retransmissions of a link packet before it is given up, as in NFD.
pub const MAX_RETRANSMISSIONS: u8 = 3;

/// Link packet that is not acknowledged.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// Sequence, which no other frame has.
    pub(super) sequence: u64,
    /// Encoded fields before the Acks, then those after the TxSequence and the fragment.
    pub(super) bytes: Vec<u8>,
    /// Length of the first part of the bytes.
    pub(super) split: usize,
    /// TxSequence of the last transmission.
    tx: u64,
    retransmissions: u8,
    /// Next and previous frame of the same packet, in a circle.
    next: u32,
    previous: u32,
}

/// One transmission of a frame. Its TxSequence is its place in the queue.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    frame: u32,
    /// Sequence of that frame: another frame may have taken its place.
    sequence: u64,
    sent: Time,
}

/// Frames that wait for their Acks, and all their transmissions.
#[derive(Clone, Debug)]
pub(super) struct Window {
    frames: Vec<Option<Frame>>,
    free: Vec<u32>,
    len: usize,
    bytes: usize,
    transmissions: VecDeque<Transmission>,
    /// TxSequence of the first one in the queue.
    first: u64,
    /// TxSequence of the first one that may be outstanding. Those before it are acknowledged, or were sent
    /// again.
    oldest: u64,
    /// Numbers after the largest acknowledged TxSequences, the largest first.
    acked: [u64; LATER_ACKS],
}

/// A transmission that counts as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lost {
    pub(super) frame: u32,
    /// Time at which it was sent.
    pub(super) sent: Time,
    /// True if it has timed out; false if later ones were acknowledged.
    pub(super) is_timeout: bool,
}

/// Time this many nanoseconds later.
fn after(time: Time, nanoseconds: u64) -> Time {
    Time(time.0.saturating_add(nanoseconds))
}

impl Window {
    /// An empty window, whose first TxSequence is `first` without the highest bit, so that it never wraps
    /// around.
    pub(super) fn new(first: u64) -> Self {
        let first = first & (u64::MAX >> 1);
        Self {
            frames: Vec::new(),
            free: Vec::new(),
            len: 0,
            bytes: 0,
            transmissions: VecDeque::new(),
            first,
            oldest: first,
            acked: [0; LATER_ACKS],
        }
    }

    /// Number of frames.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bytes of the frames.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// True if another packet may be added.
    pub(super) fn has_room(&self) -> bool {
        self.len < MAX_FRAMES && self.bytes < MAX_BYTES && self.transmissions.len() < MAX_TRANSMISSIONS
    }

    /// Adds a frame that is sent now. `sibling` is another frame of the same packet. Returns its place, and
    /// the TxSequence of the transmission.
    pub(super) fn add(
        &mut self,
        sequence: u64,
        bytes: Vec<u8>,
        split: usize,
        sibling: Option<u32>,
        now: Time,
    ) -> (u32, u64) {
        let at = self.free.pop().unwrap_or_else(|| {
            self.frames.push(None);
            self.frames.len() as u32 - 1
        });
        self.len += 1;
        self.bytes += bytes.len();
        let tx = self.transmit(at, sequence, now);
        let (mut next, mut previous) = (at, at);
        if let Some((before, sibling)) = sibling.and_then(|before| Some((before, self.find_mut(before)?))) {
            previous = before;
            next = core::mem::replace(&mut sibling.next, at);
            if let Some(after) = self.find_mut(next) {
                after.previous = at;
            }
        }
        let frame = Frame { sequence, bytes, split, tx, retransmissions: 0, next, previous };
        if let Some(place) = self.frames.get_mut(at as usize) {
            *place = Some(frame);
        }
        (at, tx)
    }

    /// The frame at a place.
    pub(super) fn find(&self, at: u32) -> Option<&Frame> {
        self.frames.get(at as usize)?.as_ref()
    }

    fn find_mut(&mut self, at: u32) -> Option<&mut Frame> {
        self.frames.get_mut(at as usize)?.as_mut()
    }

    /// Handles an Ack. Returns the time of the transmission if its frame was not acknowledged before. An Ack
    /// of any transmission shows that the frame has arrived, also if it was sent again since.
    pub(super) fn acknowledge(&mut self, tx: u64) -> Option<Time> {
        let at = usize::try_from(tx.checked_sub(self.first)?).ok()?;
        let Transmission { frame, sequence, sent } = *self.transmissions.get(at)?;
        self.find(frame).filter(|found| found.sequence == sequence)?;
        self.release(frame);
        let mut number = tx + 1;
        for largest in &mut self.acked {
            if number > *largest {
                core::mem::swap(largest, &mut number);
            }
        }
        self.settle();
        Some(sent)
    }

    /// Time at which [`next_lost`](Self::next_lost) may return a transmission; `None` if all frames are
    /// acknowledged.
    pub(super) fn deadline(&self, timeout: u64) -> Option<Time> {
        let at = (self.oldest - self.first) as usize;
        let oldest = self.transmissions.get(at)?;
        Some(if self.is_passed(self.oldest) { oldest.sent } else { after(oldest.sent, timeout) })
    }

    /// The oldest outstanding transmission if it is lost: it was sent `timeout` nanoseconds ago, or three
    /// later ones are acknowledged. Each transmission is returned once; the caller sends its frame again, or
    /// gives it up.
    pub(super) fn next_lost(&mut self, timeout: u64, now: Time) -> Option<Lost> {
        let at = (self.oldest - self.first) as usize;
        let Transmission { frame, sent, .. } = *self.transmissions.get(at)?;
        let is_timeout = !self.is_passed(self.oldest);
        if is_timeout && now < after(sent, timeout) {
            return None;
        }
        self.oldest += 1;
        self.settle();
        Some(Lost { frame, sent, is_timeout })
    }

    /// True if enough later transmissions are acknowledged.
    fn is_passed(&self, tx: u64) -> bool {
        let [.., least] = self.acked;
        // The numbers are one after the TxSequences.
        tx + 1 < least
    }

    /// Counts a transmission of a frame that is to be sent again. Returns its TxSequence; `None` if the frame
    /// was sent often enough.
    pub(super) fn send_again(&mut self, at: u32, now: Time) -> Option<u64> {
        let frame = self.find_mut(at).filter(|frame| frame.retransmissions < MAX_RETRANSMISSIONS)?;
        frame.retransmissions += 1;
        let sequence = frame.sequence;
        let tx = self.transmit(at, sequence, now);
        self.find_mut(at)?.tx = tx;
        Some(tx)
    }

    /// Removes a frame, and all others of its packet, which is useless without it. Returns their number.
    pub(super) fn give_up(&mut self, at: u32) -> u64 {
        let mut count = 0;
        let mut next = Some(at);
        while let Some(at) = next {
            // Releasing takes the frame out of the circle.
            next = self.find(at).map(|frame| frame.next).filter(|next| *next != at);
            self.release(at);
            count += 1;
        }
        self.settle();
        count
    }

    fn transmit(&mut self, frame: u32, sequence: u64, now: Time) -> u64 {
        let tx = self.first + self.transmissions.len() as u64;
        self.transmissions.push_back(Transmission { frame, sequence, sent: now });
        tx
    }

    fn release(&mut self, at: u32) {
        let Some(frame) = self.frames.get_mut(at as usize).and_then(Option::take) else {
            debug_assert!(false, "a frame is released once");
            return;
        };
        self.len -= 1;
        self.bytes -= frame.bytes.len();
        self.free.push(at);
        let Frame { next, previous, .. } = frame;
        if let Some(next) = self.find_mut(next) {
            next.previous = previous;
        }
        if let Some(previous) = self.find_mut(previous) {
            previous.next = next;
        }
    }

    /// Moves on to the first outstanding transmission, and forgets those before it that say nothing any
    /// more: all, once nothing is outstanding, and transmissions of frames that are gone. Each is passed
    /// once.
    fn settle(&mut self) {
        let end = self.first + self.transmissions.len() as u64;
        while self.oldest < end && !self.is_outstanding(self.oldest) {
            self.oldest += 1;
        }
        while self.first < self.oldest
            && let Some(front) = self.transmissions.front()
            && (self.transmissions.len() >= MAX_TRANSMISSIONS || !self.is_waiting(front))
        {
            self.transmissions.pop_front();
            self.first += 1;
        }
        if self.len == 0 {
            self.frames.clear();
            self.free.clear();
        }
    }

    fn is_waiting(&self, transmission: &Transmission) -> bool {
        let frame = self.find(transmission.frame);
        frame.is_some_and(|frame| frame.sequence == transmission.sequence)
    }

    fn is_outstanding(&self, tx: u64) -> bool {
        let transmission = self.transmissions.get((tx - self.first) as usize);
        let transmission = transmission.invariant("a transmission of the queue");
        transmission.is_some_and(|of| {
            self.find(of.frame).is_some_and(|frame| frame.sequence == of.sequence && frame.tx == tx)
        })
    }
}
