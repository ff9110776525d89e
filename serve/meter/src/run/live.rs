//! The packets of an interface: each worker has its own source, and the kernel or the interface shares out
//! the frames.

use super::collect::{BATCH, Collector, TICK};
use super::frames::Frames;
use super::{Output, RunError, RunOptions, RunState, Summary, wall};
use crate::config::Io;
use crate::largest::Scan;
use crate::meter::Meter;
use crate::record::FlowRecord;
use crate::stats::MeterStats;
use hashlane_flow::dissect::Undissected;
use nix::net::if_::if_nametoindex;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Batches of records on their way to the output, before records are lost.
const RECORDS: usize = 256;

/// Time that a worker waits for packets at most, so that it sees the end of the run.
const WAIT: Duration = Duration::from_millis(100);

/// Time after the end of a run for frames that the kernel has already received.
const DRAIN: Duration = Duration::from_millis(200);

/// Interface to meter.
#[derive(Clone, Copy, Debug)]
pub struct Live<'a> {
    /// Name of the interface.
    pub interface: &'a str,
    /// Ends the run after this time; `None`: when it is stopped.
    pub duration: Option<Duration>,
    /// `true`: also frames to other hosts.
    pub promiscuous: bool,
    /// Source of the frames.
    pub io: Io,
}

/// Meters the packets of an interface until it is stopped.
///
/// The kernel gives each worker its flows, by a hash of addresses and ports. Later fragments have no ports,
/// so they may come to another worker than the first one; they are then counted in a flow without ports. With
/// XDP, the interface does so by its receive queues: unless its hash is alike for both directions, they may
/// be flows of different workers.
///
/// Records that the output is too slow for are lost and counted ([`MeterStats::flows_lost`]): workers never
/// wait for it while packets come in. An interface that goes down ends the run, with a problem in the
/// [`Summary`].
///
/// # Errors
/// The interface cannot be opened, the output failed, or no thread could be started.
pub fn meter_interface(
    live: &Live<'_>,
    options: &RunOptions<'_>,
    output: &mut dyn Output,
) -> Result<Summary, RunError> {
    Capture::open(live, options.workers)?.meter(
        options,
        &RunState::new(options.meter, options.workers),
        output,
    )
}

/// Index of an interface.
///
/// # Errors
/// No interface has this name.
pub fn interface_index(interface: &str) -> io::Result<u32> {
    if_nametoindex(interface).map_err(|error| {
        let why = format!("no interface {interface}; `ip link` lists this host's: {}", error.desc());
        io::Error::new(io::ErrorKind::NotFound, why)
    })
}

/// An interface with a source of frames for each worker.
#[derive(Debug)]
pub struct Capture {
    interface: String,
    duration: Option<Duration>,
    sources: Vec<Frames>,
}

impl Capture {
    /// Opens an interface. Only this needs the capability CAP_NET_RAW, or for XDP more.
    ///
    /// # Errors
    /// The interface cannot be opened.
    pub fn open(live: &Live<'_>, workers: usize) -> Result<Self, RunError> {
        let Live { interface, duration, promiscuous, io } = *live;
        let sources = Frames::open(interface, io, promiscuous, workers.max(1))?;
        Ok(Self { interface: interface.to_owned(), duration, sources })
    }

    /// Warning about the source of the frames, for the user: XDP takes them from the kernel.
    pub fn warning(&self) -> Option<String> {
        let note = self.sources.first()?.note()?;
        Some(format!("{}: {note}", self.interface))
    }

    /// Meters the packets until the run is stopped: see [`meter_interface`]. Other threads may read and
    /// change the state meanwhile.
    ///
    /// # Errors
    /// The output failed, or no thread could be started.
    pub fn meter(
        self,
        options: &RunOptions<'_>,
        state: &RunState,
        output: &mut dyn Output,
    ) -> Result<Summary, RunError> {
        let Capture { interface, duration, sources } = self;
        let deadline = duration.and_then(|duration| Instant::now().checked_add(duration));
        let (records, taken) = sync_channel::<Vec<FlowRecord>>(RECORDS);
        // Set if the output or a source failed; all workers then end.
        let failed = AtomicBool::new(false);
        let mut out = Collector::new(output);
        let ended = thread::scope(|scope| -> Result<_, RunError> {
            // Dropped first if a thread does not start; no worker waits for it then.
            let taken = taken;
            let mut workers = Vec::new();
            for (number, frames) in sources.into_iter().enumerate() {
                let (records, failed) = (records.clone(), &failed);
                let stopped = move || {
                    options.stop.load(Ordering::Relaxed)
                        || failed.load(Ordering::Relaxed)
                        || deadline.is_some_and(|deadline| Instant::now() >= deadline)
                };
                let meter = options.meter_of(number);
                let records = Records { to: records, batch: Vec::new(), lost: 0 };
                let scan = Scan::new(options.largest, number);
                let worker = Worker { frames, meter, records, scan, state, number };
                let thread = thread::Builder::new().name(format!("meter-{number}"));
                let run = move || {
                    let ended = worker.run(stopped);
                    if ended.problem.is_some() {
                        failed.store(true, Ordering::Relaxed);
                    }
                    ended
                };
                let spawned = thread.spawn_scoped(scope, run);
                // Those that were started must end before the scope does.
                let spawned = spawned.inspect_err(|_| failed.store(true, Ordering::Relaxed));
                workers.push(spawned.map_err(RunError::Thread)?);
            }
            drop(records);
            let mut result = Ok(());
            loop {
                state.count_turn(workers.len());
                match taken.recv_timeout(TICK) {
                    Ok(records) if result.is_ok() => out.take_all(&records),
                    // After an error records are dropped until the workers end.
                    Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if result.is_ok() {
                    result = out.tick(|| state.workers());
                    if result.is_err() {
                        failed.store(true, Ordering::Relaxed);
                    }
                }
            }
            result?;
            let join = |worker: thread::ScopedJoinHandle<'_, Ended>| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            Ok(workers.into_iter().map(join).collect::<Vec<_>>())
        })?;
        let workers = state.workers();
        out.finish(&workers)?;
        let mut summary = Summary { workers, ..Summary::default() };
        for Ended { undissected, problem } in ended {
            summary.add_undissected(&undissected);
            // One reason is enough: all sources are of the same interface.
            if let (Some(problem), true) = (problem, summary.problems.is_empty()) {
                summary.problems.push((PathBuf::from(&interface), problem.to_string()));
            }
        }
        Ok(summary)
    }
}

/// Result of a worker.
struct Ended {
    undissected: Undissected,
    problem: Option<io::Error>,
}

/// Records of a worker on their way to the output.
struct Records {
    to: SyncSender<Vec<FlowRecord>>,
    batch: Vec<FlowRecord>,
    lost: u64,
}

impl Records {
    #[inline]
    fn take(&mut self, record: &FlowRecord) {
        self.batch.push(*record);
        if self.batch.len() >= BATCH {
            self.hand_over();
        }
    }

    /// Hands the batch over, or loses it.
    fn hand_over(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        if let Err(TrySendError::Full(mut batch) | TrySendError::Disconnected(mut batch)) =
            self.to.try_send(batch)
        {
            self.lost += batch.len() as u64;
            batch.clear();
            self.batch = batch;
        }
    }

    /// Adds a record after the last packet, and waits for the output if need be.
    fn take_patiently(&mut self, record: &FlowRecord) {
        self.batch.push(*record);
        if self.batch.len() >= BATCH {
            let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
            // The output is there until all workers have ended.
            let _ = self.to.send(batch);
        }
    }
}

/// A worker: a source of frames and a meter.
struct Worker<'a> {
    frames: Frames,
    meter: Meter,
    records: Records,
    scan: Scan<'a>,
    state: &'a RunState,
    number: usize,
}

impl Worker<'_> {
    /// Works until `stopped`, then ends all flows. At each tick it publishes its counters, and takes settings
    /// that were changed.
    fn run(mut self, stopped: impl Fn() -> bool) -> Ended {
        let Self { state, number, .. } = self;
        let mut changes = 0;
        let mut next_tick = Instant::now() + TICK;
        let mut problem = None;
        let mut more = false;
        while !stopped() {
            state.count_turn(number);
            let wait = if more { Duration::ZERO } else { WAIT };
            match self.receive(Instant::now() + wait) {
                Ok(due) => more = due,
                Err(error) => {
                    problem = Some(error);
                    break;
                }
            }
            self.scan.step(&self.meter);
            if Instant::now() >= next_tick {
                next_tick = Instant::now() + TICK;
                problem = self.count_lost().err();
                self.records.hand_over();
                self.meter.follow_clock(wall());
                state.publish(number, self.stats());
                if let Some(meter) = state.changed(&mut changes) {
                    self.meter.change(&meter);
                }
                if problem.is_some() {
                    break;
                }
            }
        }
        state.end();
        let drained = Instant::now() + DRAIN;
        while problem.is_none() && Instant::now() < drained {
            problem = self.receive(drained).err();
        }
        problem = problem.or(self.count_lost().err());
        let Self { meter, mut records, .. } = self;
        let undissected = *meter.undissected();
        let stats = meter.finish(&mut |record| records.take_patiently(record));
        let Records { to, batch, lost } = records;
        state.publish(number, MeterStats { flows_lost: lost, ..stats });
        let _ = to.send(batch);
        Ended { undissected, problem }
    }

    /// Meters the next frames, or lets time go on without any. Returns true if flows wait for their
    /// end.
    fn receive(&mut self, deadline: Instant) -> io::Result<bool> {
        let Self { frames, meter, records, .. } = self;
        let mut out = |record: &FlowRecord| records.take(record);
        // Frames of other blocks may be older than the clock.
        let now = if frames.meter(deadline, meter, &mut out)? { 0 } else { wall() };
        Ok(meter.advance(now, &mut out))
    }

    /// Counts the frames that the source had no room for.
    fn count_lost(&mut self) -> io::Result<()> {
        let lost = self.frames.lost()?;
        let counted = self.meter.stats().dropped.ring;
        self.meter.count_lost(lost.saturating_sub(counted));
        Ok(())
    }

    fn stats(&self) -> MeterStats {
        MeterStats { flows_lost: self.records.lost, ..self.meter.stats() }
    }
}

#[cfg(test)]
mod tests;
