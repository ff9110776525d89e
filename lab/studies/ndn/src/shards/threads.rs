//! Threads that forward at the same time, and their turn.

use super::clock::Clock;
use super::ends::{Ends, Packets};
use super::path::{Counts, Path};
use hashlane_lab::probe::cpu_time;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Time without an answer after which a turn has failed.
const STUCK: Duration = Duration::from_secs(10);

/// Result of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Reading {
    /// Interests of all threads, each answered once.
    pub exchanges: f64,
    /// Nanoseconds from the start of the first thread to the end of the last one.
    pub wall_ns: f64,
    /// Nanoseconds of CPU time of all threads.
    pub cpu_ns: f64,
    /// Packets handed over to other threads.
    pub handed_over: f64,
    /// Packets forwarded by the busiest shard, over the mean of all; NaN without shards.
    pub busiest: f64,
}

/// Exchanges of all threads in a turn, until each Interest is answered.
///
/// # Errors
/// An Interest was not answered exactly once, or a packet was lost.
pub(super) fn turn<P: Path>(
    paths: &mut [P],
    ends: &mut [Ends],
    exchanges: u64,
    clock: Clock,
) -> Result<Reading, String> {
    let threads = paths.len();
    let each = exchanges.div_ceil(threads.max(1) as u64);
    let together = Together {
        barrier: Barrier::new(threads),
        going: AtomicUsize::new(threads),
        has_failed: AtomicBool::new(false),
        clock,
    };
    ends.iter_mut().for_each(|ends| ends.begin(each));
    let done: Vec<Result<Part, String>> = std::thread::scope(|scope| {
        let spawn = |(path, ends)| {
            let together = &together;
            scope.spawn(move || together.run(path, ends))
        };
        let running: Vec<_> = paths.iter_mut().zip(ends.iter_mut()).map(spawn).collect();
        let end = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|_| Err("a forwarding thread has panicked".to_owned()))
        };
        running.into_iter().map(end).collect()
    });
    let parts: Vec<Part> = done.into_iter().collect::<Result<_, _>>()?;
    ends.iter().try_for_each(Ends::check)?;
    let first = parts.iter().map(|part| part.start).min();
    let last = parts.iter().map(|part| part.end).max();
    let wall = first.zip(last).map_or(Duration::ZERO, |(first, last)| last - first);
    let sum = |of: fn(&Counts) -> u64| parts.iter().map(|part| of(&part.counts)).sum::<u64>() as f64;
    let forwarded = sum(|counts| counts.forwarded);
    let busiest = parts.iter().map(|part| part.counts.forwarded).max().unwrap_or_default();
    Ok(Reading {
        exchanges: (each * threads as u64) as f64,
        wall_ns: wall.as_nanos() as f64,
        cpu_ns: parts.iter().map(|part| part.cpu_ns).sum(),
        handed_over: sum(|counts| counts.handed_over),
        busiest: if forwarded > 0.0 { busiest as f64 * threads as f64 / forwarded } else { f64::NAN },
    })
}

/// State that all threads of a turn share.
struct Together {
    barrier: Barrier,
    /// Threads with unanswered Interests.
    going: AtomicUsize,
    has_failed: AtomicBool,
    clock: Clock,
}

/// A thread's part of a turn.
struct Part {
    start: Instant,
    end: Instant,
    cpu_ns: f64,
    counts: Counts,
}

impl Together {
    fn run<P: Path>(&self, path: &mut P, ends: &mut Ends) -> Result<Part, String> {
        path.take_counts();
        self.barrier.wait();
        let (start, cpu) = (Instant::now(), cpu_time::cpu_ns());
        let outcome = self.exchange(path, ends);
        if outcome.is_err() {
            self.has_failed.store(true, SeqCst);
        }
        let (end, cpu_ns) = (Instant::now(), cpu_time::cpu_ns() - cpu);
        outcome.map(|()| Part { start, end, cpu_ns, counts: path.take_counts() })
    }

    /// Reads and forwards until the Interests of all threads are answered.
    fn exchange<P: Path>(&self, path: &mut P, ends: &mut Ends) -> Result<(), String> {
        let mut packets = Packets::default();
        let (mut is_done, mut idle) = (false, None);
        loop {
            let now = self.clock.now();
            let mut is_busy = path.take_queue(now, ends)?;
            if !path.is_congested() {
                ends.fill(&mut packets);
                is_busy |= !packets.is_empty();
                path.forward(&packets, now, ends)?;
            }
            path.end_burst(now);
            if !is_done && ends.are_done() {
                is_done = true;
                self.going.fetch_sub(1, SeqCst);
            }
            if is_busy {
                idle = None;
            } else if self.going.load(SeqCst) == 0 {
                return Ok(());
            } else if self.has_failed.load(SeqCst) {
                return Err("another thread has failed".to_owned());
            } else if now.since(*idle.get_or_insert(now)) > STUCK {
                return Err("Interests were not answered".to_owned());
            } else {
                path.wait(self.clock, ends)?;
            }
        }
    }
}
