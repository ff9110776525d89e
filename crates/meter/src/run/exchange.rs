//! Several workers that share nothing: packets of captures go to their flow's worker.
//!
//! One thread reads. It hands the captures out in chunks, to each worker in turn. A worker parses its chunk,
//! and gives each packet to the worker that owns its flow: by a keyed hash of addresses, virtual LANs and
//! tunnel, so that both directions and all fragments come to the same one. Each worker meters the
//! packets of all chunks in the order of the capture; so the result is that of one worker. The calling thread
//! takes the records.

use super::captures::{Captures, worker as meter};
use super::collect::{Collector, TICK};
use super::worker::{Links, Worker};
use super::{Output, RunError, RunOptions, Summary};
use crate::record::FlowRecord;
use crate::stats::MeterStats;
use hashlane_link::capture::Chunk;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Batches of records on their way.
const RECORDS: usize = 64;

/// Meters captures with several workers.
pub(super) fn run(
    mut captures: Captures<'_>,
    options: &RunOptions<'_>,
    output: &mut dyn Output,
) -> Result<Summary, RunError> {
    let (records, taken) = sync_channel::<Vec<FlowRecord>>(RECORDS);
    let stats = Mutex::new(vec![MeterStats::default(); options.workers]);
    // Set if the output failed; the workers then end early.
    let failed = AtomicBool::new(false);
    let mut out = Collector::new(output);
    let summary = thread::scope(|scope| -> Result<_, RunError> {
        let mut workers = Vec::new();
        let mut chunks = Vec::new();
        let (empty, emptied) = sync_channel(3 * options.workers);
        for (number, links) in Links::between(options.workers).into_iter().enumerate() {
            let (full, filled) = sync_channel(1);
            chunks.push(full);
            let meter = meter(options, number);
            let worker = Worker { meter, number, links, chunks: filled, empty: empty.clone() };
            let (records, stats) = (records.clone(), &stats);
            let thread = thread::Builder::new().name(format!("meter-{number}"));
            let run = move || worker.run(options.key, &records, stats);
            workers.push(thread.spawn_scoped(scope, run).map_err(RunError::Thread)?);
        }
        drop((records, empty));
        let stopped = || options.stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed);
        let reader = thread::Builder::new().name("meter-read".into());
        let read = move || {
            read(&mut captures, &chunks, &emptied, stopped);
            captures
        };
        let reader = reader.spawn_scoped(scope, read).map_err(RunError::Thread)?;
        let snapshot = || stats.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut result = Ok(());
        loop {
            match taken.recv_timeout(TICK) {
                Ok(records) if result.is_ok() => out.take_all(&records),
                // After an error records are dropped until the workers end.
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if result.is_ok() {
                result = out.tick(snapshot);
                failed.store(result.is_err(), Ordering::Relaxed);
            }
        }
        result?;
        let captures = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let mut summary = Summary { problems: captures.problems, ..Summary::default() };
        for worker in workers {
            let undissected = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            summary.add_undissected(&undissected);
        }
        Ok(summary)
    })?;
    let workers = stats.into_inner().unwrap_or_else(PoisonError::into_inner);
    out.finish(&workers)?;
    Ok(Summary { workers, ..summary })
}

/// Reads the captures, and hands their chunks to the workers in turn.
fn read(
    captures: &mut Captures<'_>,
    workers: &[SyncSender<Chunk>],
    emptied: &Receiver<Chunk>,
    stopped: impl Fn() -> bool,
) {
    let mut made = 0;
    for worker in workers.iter().cycle() {
        let mut chunk = if made < 3 * workers.len() {
            made += 1;
            Chunk::default()
        } else {
            let Ok(chunk) = emptied.recv() else { return };
            chunk
        };
        if stopped() || !captures.next_chunk(&mut chunk) || worker.send(chunk).is_err() {
            return;
        }
    }
}
