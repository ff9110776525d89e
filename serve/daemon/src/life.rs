//! The life of a server: start, signals, readiness, end.

use crate::error::context;
use crate::limits::raise_descriptor_limit;
use crate::log::{LAST_LINES, Log};
use crate::signals::Signals;
use crate::supervisor::Supervisor;
use std::io;
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

/// The parts of a process that serves until it is stopped: signals, log, limits, supervisor.
pub struct Daemon {
    signals: Option<Signals>,
    log: Log,
    supervisor: Supervisor,
}

impl Daemon {
    /// Blocks the signals, starts the log, and raises the limit of file descriptors to at most `descriptors`.
    /// Call it before the process has threads: each inherits the blocked signals.
    ///
    /// # Errors
    /// `HASHLANE_LOG` is not a level; no thread or descriptor is left.
    pub fn start(descriptors: u64) -> io::Result<Self> {
        let signals = Some(Signals::block()?);
        let log = Log::start()?;
        raise_descriptor_limit(descriptors);
        Ok(Self { signals, log, supervisor: Supervisor::from_environment() })
    }

    /// Takes signals from now on. The first SIGINT or SIGTERM calls `stop`, the second ends the process at
    /// once. SIGHUP calls `reload` on a separate thread; signals that come meanwhile ask for one more call.
    ///
    /// Both get the handle that the server puts into the returned place once it has started, which may take
    /// its time: until then the first SIGINT or SIGTERM ends the process, and a reload waits.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn on_signals<H: Send + Sync + 'static>(
        &mut self,
        stop: impl Fn(&H) + Send + 'static,
        reload: impl Fn(&H) + Send + 'static,
    ) -> io::Result<Arc<OnceLock<H>>> {
        let started = Arc::new(OnceLock::<H>::new());
        let Some(signals) = self.signals.take() else {
            debug_assert!(false, "signals are taken once");
            return Ok(started);
        };
        let (ask, asked) = channel();
        let supervisor = self.supervisor.clone();
        let (running, reloaded) = (Arc::clone(&started), Arc::clone(&started));
        let run = move || {
            while asked.recv().is_ok() {
                asked.try_iter().for_each(drop);
                supervisor.reloading();
                reload(reloaded.wait());
                supervisor.ready();
            }
        };
        let thread = thread::Builder::new().name("sighup".into());
        thread.spawn(run).map_err(context("cannot start the reload thread"))?;
        let stop = move |signal| {
            tracing::info!(signal, "stopping");
            match running.get() {
                Some(handle) => stop(handle),
                None => std::process::exit(0),
            }
        };
        signals.handle(stop, self.supervisor.clone(), ask)?;
        Ok(started)
    }

    /// Reports to the supervisor that the server is up, and feeds its watchdog, if it has one: `start` gets
    /// the interval, and returns a function that is true if the server has made progress since its last call.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn ready<F: FnMut() -> bool + Send + 'static>(
        &self,
        start: impl FnOnce(Duration) -> F,
    ) -> io::Result<()> {
        self.supervisor.watch(start)?;
        self.supervisor.ready();
        Ok(())
    }

    /// Writes the waiting lines of the log, at most for a moment.
    pub fn flush(&self) {
        self.log.flush(LAST_LINES);
    }

    /// Logs how the server has ended, and returns the exit code of the process. `name` names the server:
    /// `the forwarder`.
    pub fn end(self, name: &str, outcome: io::Result<()>) -> ExitCode {
        if let Err(error) = &outcome {
            // Through the log: standard error itself may block forever.
            tracing::error!(%error, "{name} has failed");
        }
        self.flush();
        if outcome.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
