//! Paced load: queries are sent when they are due, whether others were answered or not.

use super::flight::Flight;
use super::{BATCH, Counts, Target};
use crate::queries::Queries;
use hashlane_lab::study::TurnError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time after the last query in which answers count.
const PATIENCE: Duration = Duration::from_millis(500);

/// A rate, and when it ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace<'a> {
    /// Queries per second.
    pub(crate) rate: u32,
    /// Place of the first query.
    pub(crate) from: usize,
    /// Longest time.
    pub(crate) time: Duration,
    /// Set once the load is to end earlier.
    pub(crate) end: &'a AtomicBool,
}

/// Outcome of a paced load.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paced {
    pub(crate) counts: Counts,
    /// Queries sent.
    pub(crate) sent: u64,
    /// Times from when a timed query was due until its answer was read, in microseconds.
    pub(crate) times: Vec<f64>,
    /// Place of the query that follows.
    pub(crate) next: usize,
}

/// Loads a server at a pace.
pub(crate) fn paced(target: Target, queries: &Queries, pace: Pace<'_>) -> Result<Paced, TurnError> {
    let mut flight = Flight::new(target, queries, pace.from)?;
    let (mut sent, mut times) = (0, Vec::new());
    let begun = Instant::now();
    let due = |query: u64| query * 1_000_000_000 / u64::from(pace.rate.max(1));
    let mut ended = None;
    loop {
        let now = begun.elapsed();
        let nanos = now.as_nanos() as u64;
        match ended {
            None if now >= pace.time || pace.end.load(Ordering::Relaxed) => ended = Some(now),
            None => {
                let late = (nanos * u64::from(pace.rate) / 1_000_000_000).saturating_sub(sent);
                let count = late.min(BATCH as u64);
                if count > 0 {
                    flight.send(count as usize, |at| due(sent + at as u64))?;
                    sent += count;
                }
            }
            Some(_) if flight.in_flight() == 0 => break,
            Some(end) if now > end + PATIENCE => {
                flight.give_up();
                break;
            }
            Some(_) => {}
        }
        let received = flight.receive(|due| {
            let nanos = begun.elapsed().as_nanos() as u64;
            times.push(nanos.saturating_sub(due) as f64 / 1e3);
        })?;
        if received == 0 {
            std::hint::spin_loop();
        }
    }
    Ok(Paced { counts: flight.counts, sent, times, next: flight.next() })
}
