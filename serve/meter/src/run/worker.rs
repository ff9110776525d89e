//! A worker of several: parses chunks, exchanges packets with the others, and meters its own flows.

use super::collect::{BATCH, Batches};
use super::source::{Next, Source};
use crate::largest::Scan;
use crate::meter::Meter;
use crate::packet::Packet;
use crate::pipeline::first;
use crate::record::FlowRecord;
use crate::stats::MeterStats;
use hashlane_flow::burst::BURST;
use hashlane_flow::dissect::Undissected;
use hashlane_flow::ehash::SipHash13;
use hashlane_flow::key::MeterKey;
use hashlane_flow::shards::Shards;
use hashlane_hash::scheme::Key;
use hashlane_link::capture::Chunk;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Chunks of a worker whose packets are not metered yet, at most.
const AHEAD: usize = 4;

/// The packets of one chunk, and the places of each worker's packets. All workers read it where it was
/// written.
#[derive(Debug)]
struct Parsed {
    packets: Vec<Packet>,
    places: Vec<Vec<u32>>,
    /// The worker that parsed it, and gets the memory back.
    sender: usize,
}

impl Parsed {
    /// Parses a chunk.
    fn fill(&mut self, chunk: &mut Chunk, meter: &mut Meter, shards: &Shards<SipHash13>) {
        self.packets.clear();
        self.places.iter_mut().for_each(Vec::clear);
        // No adapter around the batch: a frame should come in registers.
        if let Some(frames) = chunk.frames() {
            for frame in frames {
                meter.dissect(&frame, |_, packet| self.packets.push(packet));
            }
        }
        for (burst, packets) in self.packets.chunks(BURST).enumerate() {
            let mut keys = [MeterKey::EMPTY; BURST];
            for (key, packet) in keys.iter_mut().zip(packets) {
                *key = packet.dissected.key.between_hosts();
            }
            shards.shard_burst(first(&keys, packets.len()), |number, shard| {
                if let Some(places) = self.places.get_mut(shard) {
                    places.push((BURST * burst + number) as u32);
                }
            });
        }
    }

    /// The packets of a worker.
    fn of(&self, worker: usize) -> impl Iterator<Item = &Packet> {
        let places = self.places.get(worker).map_or(&[][..], Vec::as_slice);
        places.iter().filter_map(|place| self.packets.get(*place as usize))
    }
}

/// Message from another worker.
enum Message {
    /// The chunk with this number.
    Parsed(u64, Arc<Parsed>),
    /// A chunk of the receiver's, metered by another worker.
    Metered(Arc<Parsed>),
    /// The other worker did not come to its end: what it had taken will not come.
    Gone,
}

/// One end of the exchange. No message waits for another: their number is bounded by the memory for parsed
/// chunks, [`AHEAD`] of each worker, without which none takes a chunk.
pub(super) struct Links {
    inbox: Receiver<Message>,
    to: Vec<Sender<Message>>,
    /// True at the end of all chunks.
    finished: bool,
}

impl Links {
    /// The links of each of `workers`, between all of them.
    pub(super) fn between(workers: usize) -> Vec<Self> {
        let (to, inboxes): (Vec<_>, Vec<_>) = (0..workers).map(|_| channel()).unzip();
        inboxes.into_iter().map(|inbox| Self { inbox, to: to.clone(), finished: false }).collect()
    }

    /// Sends a message. A worker that has ended needs none.
    fn send(&self, to: usize, message: Message) {
        if let Some(to) = self.to.get(to) {
            let _ = to.send(message);
        }
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        // Its thread panicked, or did not start.
        if !self.finished {
            (0..self.to.len()).for_each(|other| self.send(other, Message::Gone));
        }
    }
}

/// A worker.
pub(super) struct Worker<'a> {
    meter: Meter,
    scan: Scan<'a>,
    number: usize,
    links: Links,
    /// Memory for parsed chunks.
    spare: Vec<Parsed>,
    /// Parsed chunks that came, by number, and the number of those metered.
    came: BTreeMap<u64, Arc<Parsed>>,
    metered: u64,
}

impl<'a> Worker<'a> {
    pub(super) fn new(meter: Meter, scan: Scan<'a>, number: usize, links: Links) -> Self {
        let workers = links.to.len();
        let parsed = || Parsed { packets: Vec::new(), places: vec![Vec::new(); workers], sender: number };
        let spare = (0..AHEAD).map(|_| parsed()).collect();
        Self { meter, scan, number, links, spare, came: BTreeMap::new(), metered: 0 }
    }

    /// Works until all chunks are metered, and sends the records of its flows.
    pub(super) fn run(
        mut self,
        source: &Source<'_>,
        key: &Key,
        records: &Batches,
        stats: &Mutex<Vec<MeterStats>>,
    ) -> Undissected {
        let shards = Shards::new::<MeterKey>(key, self.links.to.len());
        let mut batch = Vec::with_capacity(BATCH);
        let mut out = |record: &FlowRecord| {
            batch.push(*record);
            if batch.len() == BATCH {
                batch = records.hand_over(std::mem::take(&mut batch));
            }
        };
        let publish = |number, worker| {
            let mut stats = stats.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(place) = stats.get_mut(number) {
                *place = worker;
            }
        };
        let mut chunk = Chunk::default();
        loop {
            if !self.receive() {
                break;
            }
            self.meter_chunks(&mut out);
            self.scan.step(&self.meter);
            publish(self.number, self.meter.stats());
            let mut chunks = None;
            if let Some(parsed) = self.spare.pop() {
                match source.next(&mut chunk) {
                    Next::Chunk(number) => {
                        self.parse(number, parsed, &mut chunk, &shards);
                        continue;
                    }
                    Next::End(all) => {
                        chunks = Some(all);
                        self.spare.push(parsed);
                    }
                }
            }
            if chunks == Some(self.metered) || !self.wait() {
                break;
            }
        }
        self.links.finished = true;
        self.scan.finish(&self.meter);
        let undissected = *self.meter.undissected();
        publish(self.number, self.meter.finish(&mut out));
        records.hand_over(batch);
        undissected
    }

    /// Takes the messages that have come. Returns false if a worker is gone.
    fn receive(&mut self) -> bool {
        while let Ok(message) = self.links.inbox.try_recv() {
            if !self.take(message) {
                return false;
            }
        }
        true
    }

    /// Waits for a message: another worker parses a chunk, or has metered one.
    fn wait(&mut self) -> bool {
        self.links.inbox.recv().is_ok_and(|message| self.take(message))
    }

    fn take(&mut self, message: Message) -> bool {
        match message {
            Message::Parsed(number, parsed) => {
                self.came.insert(number, parsed);
            }
            // The last one to meter it brings the memory.
            Message::Metered(parsed) => self.spare.extend(Arc::into_inner(parsed)),
            Message::Gone => return false,
        }
        true
    }

    /// Parses a chunk, and shows it to each worker.
    fn parse(&mut self, number: u64, mut parsed: Parsed, chunk: &mut Chunk, shards: &Shards<SipHash13>) {
        parsed.fill(chunk, &mut self.meter, shards);
        let parsed = Arc::new(parsed);
        for to in (0..self.links.to.len()).filter(|to| *to != self.number) {
            self.links.send(to, Message::Parsed(number, parsed.clone()));
        }
        self.came.insert(number, parsed);
    }

    /// Meters this worker's packets of the chunks that have come, in the order of the capture.
    fn meter_chunks(&mut self, out: &mut impl FnMut(&FlowRecord)) {
        while let Some(parsed) = self.came.remove(&self.metered) {
            self.meter.meter(parsed.of(self.number), out);
            self.metered += 1;
            let sender = parsed.sender;
            if sender == self.number {
                self.spare.extend(Arc::into_inner(parsed));
            } else {
                self.links.send(sender, Message::Metered(parsed));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_is_gone_ends_the_others() {
        let mut links = Links::between(3).into_iter();
        let [gone, mut finished, last] = std::array::from_fn(|_| links.next().unwrap());
        let meter = Meter::new(&Key::VECTOR, crate::meter::MeterOptions::default());
        let mut worker = Worker::new(meter, Scan::new(None, 2), 2, last);
        finished.finished = true;
        drop(finished);
        assert!(worker.receive(), "one that came to its end");
        drop(gone);
        assert!(!worker.receive());
    }
}
