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

/// Loads a server for a `time`, from the query at a place on. Returns the counts, the time until the last
/// answer, and the place of the query that follows.
pub(crate) fn full(
    target: Target,
    queries: &Queries,
    from: usize,
    time: Duration,
) -> Result<(Counts, Duration, usize), TurnError> {
    let mut flight = Flight::new(target, queries, from)?;
    let begun = Instant::now();
    let mut last = begun;
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
        if flight.receive(|_| ())? > 0 {
            last = now;
        } else if now.duration_since(last) > SILENCE {
            flight.give_up();
            last = now;
        } else {
            std::hint::spin_loop();
        }
    }
    Ok((flight.counts, last.duration_since(begun), flight.next()))
}
