//! Consumers and producers of one thread, which make its packets and check what they are sent.

use super::names::Names;
use super::work::Work;
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::forward::BURST;
use std::collections::VecDeque;
use std::sync::Arc;

/// Consumers of a thread, and producers.
pub(super) const PAIRS: usize = 8;

/// Unanswered Interests of a thread at most.
pub(super) const WINDOW: u64 = 1024;

/// Bits of a number behind its thread's.
const THREAD: u32 = 40;

/// Interests of one consumer in a row: a read of its socket.
const IN_ROW: u64 = 16;

/// Packet that was sent to a face, as its peer has read it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub face: FaceId,
    is_data: bool,
    prefix: u16,
    number: u64,
}

/// Threads, faces and prefixes of a workload, the same for all threads.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Face of the first end. Ends are in the order of the threads: a thread's consumers, then its producers.
    /// Ids of faces follow one another.
    pub first: FaceId,
    /// Producer's end of each prefix.
    pub producers: Vec<u16>,
    /// Prefixes of the names.
    pub draws: Vec<u16>,
}

/// The ends of one thread.
pub(super) struct Ends {
    thread: usize,
    plan: Arc<Plan>,
    names: Names,
    /// Interests so far, of all turns.
    sent: u64,
    /// Interests of this turn are those from `first` to before `last`.
    first: u64,
    last: u64,
    /// Bits of the Interests of this turn that are answered.
    answered: Vec<u64>,
    count: u64,
    /// Packets that were not asked for, or reached the wrong end.
    wrong: u64,
    replies: VecDeque<(u16, u64)>,
}

/// Packets from the faces of a thread, at most a burst.
#[derive(Debug, Default)]
pub(super) struct Packets {
    bytes: Vec<u8>,
    items: Vec<(FaceId, usize)>,
}

impl Plan {
    /// Thread that has a face.
    #[inline]
    pub(super) fn owner(&self, face: FaceId) -> usize {
        (face.0.wrapping_sub(self.first.0)) as usize / (2 * PAIRS)
    }

    /// Face of an end.
    #[inline]
    pub(super) fn face(&self, end: usize) -> FaceId {
        FaceId(self.first.0 + end as u32)
    }

    /// Prefix of the name of a number of a thread.
    #[inline]
    fn prefix(&self, thread: usize, sequence: u64) -> u16 {
        let at = (sequence as usize).wrapping_add(thread * 7919) % self.draws.len().max(1);
        self.draws.get(at).copied().unwrap_or_default()
    }

    /// Face of the producer of a prefix.
    #[inline]
    pub(super) fn producer(&self, prefix: u16) -> FaceId {
        self.face(self.producers.get(usize::from(prefix)).copied().unwrap_or_default().into())
    }

    /// Face of the consumer of a number.
    #[inline]
    fn consumer(&self, number: u64) -> FaceId {
        let (thread, sequence) = ((number >> THREAD) as usize, number & ((1 << THREAD) - 1));
        self.face(thread * 2 * PAIRS + (sequence / IN_ROW) as usize % PAIRS)
    }
}

impl Ends {
    /// `None` for a shape that no workload has.
    pub(super) fn new(thread: usize, plan: &Arc<Plan>, work: Work) -> Option<Self> {
        Some(Self {
            thread,
            plan: plan.clone(),
            names: Names::new(work, None)?,
            sent: 0,
            first: 0,
            last: 0,
            answered: Vec::new(),
            count: 0,
            wrong: 0,
            replies: VecDeque::new(),
        })
    }

    /// Begins a turn of so many Interests.
    pub(super) fn begin(&mut self, interests: u64) {
        (self.first, self.last) = (self.sent, self.sent + interests);
        self.answered.clear();
        self.answered.resize(interests.div_ceil(64) as usize, 0);
        (self.count, self.wrong) = (0, 0);
        self.replies.clear();
    }

    /// True if all Interests of this turn are answered.
    #[inline]
    pub(super) fn are_done(&self) -> bool {
        self.first + self.count == self.last
    }

    /// Checks a turn in which all Interests were answered as far as the counts say.
    ///
    /// # Errors
    /// An Interest was not answered exactly once by the Data of its name.
    pub(super) fn check(&self) -> Result<(), String> {
        let answered: u64 = self.answered.iter().map(|bits| u64::from(bits.count_ones())).sum();
        let interests = self.last - self.first;
        if self.wrong > 0 || answered != interests || !self.replies.is_empty() {
            let Self { thread, wrong, .. } = self;
            return Err(format!(
                "thread {thread}: {answered} of {interests} Interests got their Data, and {wrong} packets came \
                 twice or to the wrong face"
            ));
        }
        Ok(())
    }

    /// Makes further Interests, then the answers that are due, at most a burst. So under every scheme as many
    /// Interests are pending as the window allows.
    #[inline]
    pub(super) fn fill(&mut self, packets: &mut Packets) {
        packets.bytes.clear();
        packets.items.clear();
        while packets.items.len() < BURST
            && self.sent < self.last
            && self.sent - self.first - self.count < WINDOW
        {
            let number = (self.thread as u64) << THREAD | self.sent;
            let prefix = self.plan.prefix(self.thread, self.sent);
            packets.push(self.plan.consumer(number), self.names.interest(prefix, number));
            self.sent += 1;
        }
        while packets.items.len() < BURST
            && let Some((prefix, number)) = self.replies.pop_front()
        {
            packets.push(self.plan.producer(prefix), self.names.data(prefix, number));
        }
    }

    /// Receives a packet that was sent to a face of this thread.
    #[inline]
    pub(super) fn receive(&mut self, face: FaceId, packet: &[u8]) {
        match self.read(face, packet) {
            Some(arrival) => self.note(arrival),
            None => self.wrong += 1,
        }
    }

    /// Reads a packet that was sent to a face of any thread. `None` if it does not belong to the workload.
    #[inline]
    pub(super) fn read(&self, face: FaceId, packet: &[u8]) -> Option<Arrival> {
        if let Some((prefix, number)) = self.names.of_interest(packet) {
            return Some(Arrival { face, is_data: false, prefix, number });
        }
        let (prefix, number) = self.names.of_data(packet)?;
        Some(Arrival { face, is_data: true, prefix, number })
    }

    /// Counts a packet that does not belong to the workload.
    pub(super) fn note_wrong(&mut self) {
        self.wrong += 1;
    }

    /// Notes a packet that was sent to a face of this thread.
    #[inline]
    pub(super) fn note(&mut self, Arrival { face, is_data, prefix, number }: Arrival) {
        if !is_data && face == self.plan.producer(prefix) {
            self.replies.push_back((prefix, number));
        } else if is_data
            && face == self.plan.consumer(number)
            && prefix == self.plan.prefix(self.thread, number & ((1 << THREAD) - 1))
            && let Some(at) = (number & ((1 << THREAD) - 1)).checked_sub(self.first)
            && let Some(bits) = self.answered.get_mut(at as usize / 64)
            && *bits & 1 << (at % 64) == 0
        {
            *bits |= 1 << (at % 64);
            self.count += 1;
        } else {
            self.wrong += 1;
        }
    }

    /// Receives a packet as the other end of its exchange would send it on.
    pub(super) fn receive_own(&mut self, packet: &[u8]) {
        let plan = self.plan.clone();
        if let Some((prefix, _)) = self.names.of_interest(packet) {
            self.receive(plan.producer(prefix), packet);
        } else if let Some((_, number)) = self.names.of_data(packet) {
            self.receive(plan.consumer(number), packet);
        }
    }
}

impl Packets {
    #[inline]
    fn push(&mut self, face: FaceId, packet: &[u8]) {
        self.bytes.extend_from_slice(packet);
        self.items.push((face, self.bytes.len()));
    }

    /// True if there is no packet.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The packets, with their ingress faces.
    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = (FaceId, &[u8])> {
        let mut start = 0;
        self.items.iter().map(move |(face, end)| {
            let packet = self.bytes.get(start..*end).unwrap_or_default();
            start = *end;
            (*face, packet)
        })
    }
}
