//! Full load: the next queries follow as soon as answers arrive.

use super::flight::Flight;
use super::{BATCH, Counts, Target};
use crate::queries::Queries;
use hashlane_lab::study::TurnError;
use std::time::{Duration, Instant};

/// Most queries without an answer: two batches, so that the server has one while the load handles
/// the other, and short queues of the kernel have room for both.
const WINDOW: usize = 2 * BATCH;

/// Time without any answer after which those that lack are lost.
const SILENCE: Duration = Duration::from_millis(200);

/// Outcome of a full load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loaded {
    pub(crate) counts: Counts,
    /// Time until the last answer.
    pub(crate) time: Duration,
    /// Time in which the load had nothing to do but to look for answers.
    pub(crate) idle: Duration,
    /// Place of the query that follows.
    pub(crate) next: usize,
}

/// Loads a server for a `time`, from the query at a place on.
pub(crate) fn full(
    target: Target,
    queries: &Queries,
    from: usize,
    time: Duration,
) -> Result<Loaded, TurnError> {
    let mut flight = Flight::new(target, queries, from)?;
    let begun = Instant::now();
    let (mut last, mut idle) = (begun, Duration::ZERO);
    loop {
        let now = Instant::now();
        let is_over = now.duration_since(begun) >= time;
        if !is_over {
            let room = WINDOW.saturating_sub(flight.in_flight());
            // Whole batches: single queries would cost a system call each.
            if room >= BATCH / 2 {
                flight.send(room, |_| 0)?;
            }
        } else if flight.in_flight() == 0 {
            break;
        }
        let looks = Instant::now();
        if flight.receive(|_| ())? > 0 {
            last = now;
            continue;
        }
        idle += looks.elapsed();
        if now.duration_since(last) > SILENCE {
            flight.give_up();
            last = now;
        } else {
            std::hint::spin_loop();
        }
    }
    Ok(Loaded { counts: flight.counts, time: last.duration_since(begun), idle, next: flight.next() })
}
