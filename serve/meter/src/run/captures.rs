//! Captures in, one after the other.

use super::collect::Collector;
use super::{Output, RunError, RunOptions, Summary, exchange};
use crate::largest::Scan;
use crate::meter::{Meter, MeterOptions};
use crate::stats::MeterStats;
use hashlane_link::capture::{self, Chunk, Input, Reader};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Meters captures, one after the other, as if they were one; `-` is the standard input. A run that is
/// stopped ends also while its input is silent.
///
/// A capture that ends early, or one after the first that does not open, is a problem of the [`Summary`]; its
/// packets so far count.
///
/// # Errors
/// The first capture is none, the output failed, or no thread could be started.
pub fn meter_captures(
    paths: &[PathBuf],
    options: &RunOptions<'_>,
    output: &mut dyn Output,
) -> Result<Summary, RunError> {
    let Some(mut captures) = Captures::open(paths, options.stop)? else {
        return Ok(Summary {
            workers: vec![MeterStats::default(); options.workers.max(1)],
            ..Summary::default()
        });
    };
    if options.workers > 1 {
        return exchange::run(captures, options, output);
    }
    let mut meter = Meter::new(options.key, options.meter);
    let mut scan = Scan::new(options.largest, 0);
    let mut out = Collector::new(output);
    while !options.stop.load(Ordering::Relaxed)
        && captures.next_batch(|frames| meter.receive(frames, &mut |record| out.take(record)))
    {
        scan.step(&meter);
        out.tick(|| vec![meter.stats()])?;
    }
    scan.finish(&meter);
    let undissected = meter.undissected().causes().to_vec();
    let stats = meter.finish(&mut |record| out.take(record));
    out.finish(&[stats])?;
    Ok(Summary { workers: vec![stats], undissected, problems: captures.problems })
}

/// The meter of a worker: it has a share of the flows, and a domain of its own.
pub(super) fn worker(options: &RunOptions<'_>, number: usize) -> Meter {
    let all = options.meter;
    let flows = all.flows.div_ceil(options.workers.max(1));
    let domain = all.domain.saturating_add(number as u32);
    Meter::new(options.key, MeterOptions { flows, domain, ..all })
}

/// Captures that are read one after the other.
pub(super) struct Captures<'a> {
    reader: Reader<Input<'a>>,
    path: &'a Path,
    stop: &'a AtomicBool,
    rest: std::slice::Iter<'a, PathBuf>,
    pub(super) problems: Vec<(PathBuf, String)>,
}

impl<'a> Captures<'a> {
    /// Opens the first capture; `None` if the run was stopped before its first bytes.
    fn open(paths: &'a [PathBuf], stop: &'a AtomicBool) -> Result<Option<Self>, RunError> {
        let mut rest = paths.iter();
        let path = rest.next().map_or(Path::new("-"), PathBuf::as_path);
        match capture::open_until(path, stop) {
            Ok(reader) => Ok(Some(Self { reader, path, stop, rest, problems: Vec::new() })),
            Err(_) if stop.load(Ordering::Relaxed) => Ok(None),
            Err(error) => Err(RunError::Capture(path.into(), error)),
        }
    }

    /// Passes the frames that one read brings to `take`. Returns false at the end.
    fn next_batch(&mut self, take: impl FnOnce(capture::Batch<'_>)) -> bool {
        loop {
            match self.reader.next_batch() {
                Ok(Some(batch)) => {
                    take(batch);
                    return true;
                }
                Ok(None) => {}
                Err(error) => self.problem(&error),
            }
            if !self.next() {
                return false;
            }
        }
    }

    /// Fills a chunk. Returns false at the end.
    pub(super) fn next_chunk(&mut self, chunk: &mut Chunk) -> bool {
        loop {
            match self.reader.next_chunk(chunk) {
                Ok(true) => return true,
                Ok(false) => {}
                Err(error) => self.problem(&error),
            }
            if !self.next() {
                return false;
            }
        }
    }

    /// Notes why the capture ended. After a stop it may have ended within a packet.
    fn problem(&mut self, error: &dyn std::fmt::Display) {
        if !self.stop.load(Ordering::Relaxed) {
            self.problems.push((self.path.into(), error.to_string()));
        }
    }

    /// Opens the next capture that is one. Returns false if none is left.
    fn next(&mut self) -> bool {
        while let Some(path) = self.rest.next() {
            self.path = path;
            match capture::open_until(path, self.stop) {
                Ok(reader) => {
                    self.reader = reader;
                    return true;
                }
                Err(error) => self.problem(&error),
            }
        }
        false
    }
}
