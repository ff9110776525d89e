//! A worker of several: parses chunks, exchanges packets with the others, and meters its own flows.

use super::collect::BATCH;
use crate::meter::{Meter, Packet};
use crate::record::FlowRecord;
use crate::stats::MeterStats;
use hashlane_flow::dissect::Undissected;
use hashlane_flow::ehash::SipHash13;
use hashlane_flow::key::MeterKey;
use hashlane_flow::shards::Shards;
use hashlane_hash::scheme::Key;
use hashlane_link::capture::Chunk;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

/// Packets of one chunk for one worker.
#[derive(Debug, Default)]
pub(super) struct Parcel {
    packets: Vec<Packet>,
    /// True if the sender has no chunk any more.
    last: bool,
}

/// One end of the exchange: to each worker and from each, full parcels and empty ones.
pub(super) struct Links {
    to: Vec<(SyncSender<Parcel>, Receiver<Parcel>)>,
    from: Vec<(Receiver<Parcel>, SyncSender<Parcel>)>,
}

impl Links {
    /// The links of each of `workers`, between all of them.
    pub(super) fn between(workers: usize) -> Vec<Self> {
        let mut all: Vec<Self> = (0..workers).map(|_| Self { to: Vec::new(), from: Vec::new() }).collect();
        for sender in 0..workers {
            for receiver in 0..workers {
                let (full, filled) = sync_channel(2);
                let (empty, emptied) = sync_channel(2);
                for _ in 0..2 {
                    // The channel has room for both.
                    let _ = empty.send(Parcel::default());
                }
                if let Some(links) = all.get_mut(sender) {
                    links.to.push((full, emptied));
                }
                if let Some(links) = all.get_mut(receiver) {
                    links.from.push((filled, empty));
                }
            }
        }
        all
    }
}

/// A worker.
pub(super) struct Worker {
    pub(super) meter: Meter,
    pub(super) number: usize,
    pub(super) links: Links,
    /// Chunks to parse.
    pub(super) chunks: Receiver<Chunk>,
    /// Chunks that are parsed.
    pub(super) empty: SyncSender<Chunk>,
}

impl Worker {
    /// Works until the chunks of all workers are metered, and sends the records of its flows.
    pub(super) fn run(
        mut self,
        key: &Key,
        records: &SyncSender<Vec<FlowRecord>>,
        stats: &Mutex<Vec<MeterStats>>,
    ) -> Undissected {
        let shards = Shards::new::<MeterKey>(key, self.links.to.len());
        let mut batch = Vec::with_capacity(BATCH);
        let mut out = |record: &FlowRecord| {
            batch.push(*record);
            if batch.len() == BATCH {
                // The receiver is dropped after the workers.
                let _ = records.send(std::mem::replace(&mut batch, Vec::with_capacity(BATCH)));
            }
        };
        let publish = |number, worker| {
            let mut stats = stats.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(place) = stats.get_mut(number) {
                *place = worker;
            }
        };
        // A round takes one chunk of each worker; none of them waits before it has sent its parcels.
        while self.send_parcels(&shards) && self.meter_parcels(&mut out) {
            publish(self.number, self.meter.stats());
        }
        let undissected = *self.meter.undissected();
        publish(self.number, self.meter.finish(&mut out));
        let _ = records.send(batch);
        undissected
    }

    /// Parses a chunk, and sends each worker its packets. Returns false if a worker is gone.
    fn send_parcels(&mut self, shards: &Shards<SipHash13>) -> bool {
        let mut parcels = Vec::with_capacity(self.links.to.len());
        for (_, emptied) in &self.links.to {
            let Ok(mut parcel) = emptied.recv() else { return false };
            parcel.packets.clear();
            parcels.push(parcel);
        }
        let chunk = self.chunks.recv().ok();
        for frame in chunk.iter().flat_map(Chunk::frames) {
            if let Some(packet) = self.meter.dissect(&frame)
                && let Some(parcel) = parcels.get_mut(shards.shard(&packet.dissected.key.between_hosts()))
            {
                parcel.packets.push(packet);
            }
        }
        let last = chunk.is_none();
        if let Some(chunk) = chunk {
            // The reader may have come to its end.
            let _ = self.empty.send(chunk);
        }
        let sent = |((full, _), parcel): (&(SyncSender<Parcel>, _), Parcel)| {
            full.send(Parcel { last, ..parcel }).is_ok()
        };
        self.links.to.iter().zip(parcels).all(sent)
    }

    /// Meters the packets of one chunk of each worker, in the order of the capture. Returns false if these
    /// were the last.
    fn meter_parcels(&mut self, out: &mut impl FnMut(&FlowRecord)) -> bool {
        let mut more = false;
        for (filled, empty) in &self.links.from {
            let Ok(mut parcel) = filled.recv() else { return false };
            self.meter.meter(&mut parcel.packets, out);
            more |= !parcel.last;
            // The sender may have ended.
            let _ = empty.send(parcel);
        }
        more
    }
}
