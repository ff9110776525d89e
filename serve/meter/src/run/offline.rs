//! Runs over captures.

use super::captures::Captures;
use super::collect::Collector;
use super::{Output, RunError, RunOptions, Summary, exchange};
use crate::largest::Scan;
use crate::meter::Meter;
use crate::stats::MeterStats;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Meters captures, one after the other, as if they were one; `-` is the standard input. A run that is
/// stopped ends also while its input is silent.
///
/// A capture that ends early, or one after the first that does not open, is a problem of the [`Summary`]; its
/// packets so far count.
///
/// # Errors
/// The first file is not a capture, the output failed, or no thread could be started.
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
