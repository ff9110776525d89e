//! Several workers that share nothing: packets of captures go to their flow's worker.
//!
//! Each worker takes the next chunk of the captures when it has time, parses it, and notes for each packet
//! the worker that owns its flow: by a keyed hash of addresses, virtual LANs and tunnel, so that both
//! directions and all fragments come to the same one. Each worker meters its packets of all chunks in the
//! order of the capture; so the result is the same as with one worker. The calling thread takes the records.

use super::captures::Captures;
use super::collect::{Batches, Collector, TICK};
use super::source::Source;
use super::worker::{Links, Worker};
use super::{Output, RunError, RunOptions, Summary};
use crate::largest::Scan;
use crate::stats::MeterStats;
use std::sync::mpsc::{RecvTimeoutError, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Batches of records on their way.
const RECORDS: usize = 64;

/// Meters captures with several workers.
pub(super) fn run(
    captures: Captures<'_>,
    options: &RunOptions<'_>,
    output: &mut dyn Output,
) -> Result<Summary, RunError> {
    let (records, taken) = sync_channel(RECORDS);
    let (empty, emptied) = channel();
    let records = Batches::new(records, emptied);
    let stats = Mutex::new(vec![MeterStats::default(); options.workers]);
    let source = Source::new(captures, options.stop);
    let mut out = Collector::new(output);
    let mut summary = thread::scope(|scope| -> Result<_, RunError> {
        let mut workers = Vec::new();
        for (number, links) in Links::between(options.workers).into_iter().enumerate() {
            let worker =
                Worker::new(options.meter_of(number), Scan::new(options.largest, number), number, links);
            let (source, records, stats) = (&source, records.clone(), &stats);
            let thread = thread::Builder::new().name(format!("meter-{number}"));
            let run = move || worker.run(source, options.key, &records, stats);
            // If one does not start, the others end: its links are gone.
            workers.push(thread.spawn_scoped(scope, run).map_err(RunError::Thread)?);
        }
        drop(records);
        let snapshot = || stats.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut result = Ok(());
        loop {
            match taken.recv_timeout(TICK) {
                Ok(records) => {
                    // After an error records are dropped until the workers end.
                    if result.is_ok() {
                        out.take_all(&records);
                    }
                    let _ = empty.send(records);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if result.is_ok() {
                result = out.tick(snapshot);
                if result.is_err() {
                    source.fail();
                }
            }
        }
        result?;
        let mut summary = Summary::default();
        for worker in workers {
            let undissected = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            summary.add_undissected(&undissected);
        }
        Ok(summary)
    })?;
    summary.problems = source.problems();
    summary.workers = stats.into_inner().unwrap_or_else(PoisonError::into_inner);
    out.finish(&summary.workers)?;
    Ok(summary)
}
