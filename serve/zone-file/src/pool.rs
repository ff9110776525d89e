//! Pieces on threads, and their records in the order of the file.

use crate::piece::{self, Limits, Records};
use crate::split::{Item, Piece, Splitter};
use crate::{Fault, FaultKind, LoadError, Merger, Options, Record};
use std::collections::VecDeque;
use std::sync::{Mutex, mpsc};

/// Pieces that are read or wait for each thread: some, so that none waits; few, as they take memory.
const PIECES: usize = 3;

/// Errors so far.
struct Faults {
    list: Vec<Fault>,
    most: usize,
    /// The reader has stopped before the end of the file.
    stopped: bool,
}

impl Faults {
    /// Adds errors. Returns false if they are as many as are reported.
    fn add(&mut self, faults: impl IntoIterator<Item = Fault>) -> bool {
        let left = self.most - self.list.len();
        self.list.extend(faults.into_iter().take(left));
        self.list.len() < self.most
    }

    /// Passes the records of a piece on. Returns false if no more are to be read.
    fn take(
        &mut self,
        merger: &mut Merger,
        piece: &Piece,
        records: Records,
        sink: &mut dyn FnMut(Record<'_>) -> Result<(), FaultKind>,
    ) -> bool {
        self.stopped = records.cut_off;
        self.add(merger.add(piece, records, sink)) && !self.stopped
    }

    /// Adds the error of an `$INCLUDE`. Returns false if no more are to be read.
    fn take_fault(&mut self, fault: Fault, stops: bool) -> bool {
        self.stopped = stops;
        self.add([fault]) && !stops
    }

    fn result(self) -> Result<(), LoadError> {
        match self.list.is_empty() {
            true => Ok(()),
            false => {
                let more = self.stopped || self.list.len() >= self.most;
                Err(LoadError { more, faults: self.list })
            }
        }
    }
}

/// Reads pieces one after the other on this thread.
pub(super) fn serial(
    splitter: Splitter,
    mut merger: Merger,
    options: &Options,
    sink: &mut dyn FnMut(Record<'_>) -> Result<(), FaultKind>,
) -> Result<(), LoadError> {
    let limits = Limits::new(options);
    let mut faults = Faults { list: Vec::new(), most: limits.faults, stopped: false };
    for item in splitter {
        let more = match item {
            Item::Fault { fault, stops } => faults.take_fault(fault, stops),
            Item::Piece(piece) => {
                let records = piece::read(&piece, &limits);
                faults.take(&mut merger, &piece, records, sink)
            }
        };
        if !more {
            break;
        }
    }
    faults.result()
}

/// A piece, and the way back for its records.
struct Job {
    piece: Piece,
    done: mpsc::SyncSender<(Piece, Records)>,
}

/// Results of the pieces, in their order.
enum Waiting {
    Fault(Fault, bool),
    Records(mpsc::Receiver<(Piece, Records)>),
}

/// Reads pieces on `threads` threads; splits the file, and passes the records to `sink`, on this one.
pub(super) fn parallel(
    mut splitter: Splitter,
    mut merger: Merger,
    options: &Options,
    threads: usize,
    sink: &mut dyn FnMut(Record<'_>) -> Result<(), FaultKind>,
) -> Result<(), LoadError> {
    let limits = Limits::new(options);
    let mut faults = Faults { list: Vec::new(), most: limits.faults, stopped: false };
    let (jobs, queue) = mpsc::channel::<Job>();
    let queue = Mutex::new(queue);
    let work = || {
        // A separate statement, so that the lock is not held while the piece is read.
        let next = || queue.lock().ok()?.recv().ok();
        while let Some(Job { piece, done }) = next() {
            let records = piece::read(&piece, &limits);
            // The receiver is gone after too many errors.
            let _ = done.send((piece, records));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
        let mut waiting = VecDeque::new();
        loop {
            while waiting.len() < PIECES * threads
                && let Some(item) = splitter.next()
            {
                waiting.push_back(match item {
                    Item::Fault { fault, stops } => Waiting::Fault(fault, stops),
                    Item::Piece(piece) => {
                        let (done, records) = mpsc::sync_channel(1);
                        // The queue lives as long as this scope.
                        let _ = jobs.send(Job { piece, done });
                        Waiting::Records(records)
                    }
                });
            }
            let more = match waiting.pop_front() {
                Some(Waiting::Fault(fault, stops)) => faults.take_fault(fault, stops),
                Some(Waiting::Records(records)) => match records.recv() {
                    Ok((piece, records)) => faults.take(&mut merger, &piece, records, sink),
                    // The thread panicked, and so does this scope at its end.
                    Err(_) => false,
                },
                None => false,
            };
            if !more {
                break;
            }
        }
        drop(jobs);
    });
    faults.result()
}
