//! The meter of an interface as a server: start, reload, reports, end.
//!
//! | command of the control socket | document |
//! | --- | --- |
//! | `status` | [`Status`] |
//! | `stats` | [`Stats`] |
//! | `reload` | [`Reloaded`] |

mod reload;
mod report;

pub use report::{Reloaded, Stats, Status};

use crate::config::Config;
use crate::meter::MeterOptions;
use crate::metrics::Metrics;
use crate::outputs::{self, Exporters, Finished, Origin, RunFacts, SharedExporters};
use crate::run::{Capture, Live, Output, RunError, RunOptions, RunState, Summary, interface_index, wall};
use hashlane_daemon::control::{self, to_json};
use hashlane_daemon::metrics::Http;
use hashlane_daemon::privileges::Account;
use hashlane_hash::scheme::Key;
use reload::Reloader;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Reads the configuration again, for a reload.
pub type Reread = Box<dyn Fn() -> io::Result<(Config, Origin)> + Send>;

/// Reason why a meter does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The interface cannot be opened.
    #[error(transparent)]
    Run(#[from] RunError),
    /// An output cannot be opened.
    #[error("{0}")]
    Output(String),
    /// A value is not valid, or a socket or the user cannot be had.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A meter whose interface and outputs are open, and which does not meter yet.
pub struct Server {
    capture: Capture,
    metrics: Metrics,
    urls: Vec<String>,
    control: Option<control::Service>,
    handle: Handle,
    options: MeterOptions,
    key: Key,
}

/// Handle to a meter, for any thread.
#[derive(Clone)]
pub struct Handle(Arc<Shared>);

/// State that the run and its handles share.
struct Shared {
    begun: Instant,
    /// Configuration of the start; reloads keep their own.
    config: Config,
    exporters: SharedExporters,
    state: RunState,
    stop: AtomicBool,
    reloader: Mutex<Reloader>,
    reloads: Mutex<Reloads>,
}

/// Reloads since the start.
#[derive(Default)]
struct Reloads {
    done: u64,
    refused: u64,
    /// Reason for which the last one was refused.
    reason: Option<String>,
}

/// End of a run.
#[derive(Debug)]
pub struct Ended {
    /// Counters of the run, or the reason why it failed: all outputs have failed, or a thread does not start.
    pub ran: Result<Summary, RunError>,
    /// Result of each output.
    pub finished: Vec<Finished>,
}

impl Server {
    /// Opens the interface and the listeners of a configuration, becomes its user, and opens its outputs and
    /// its control socket as that user. The run ends after `duration`, if there is one. `reread` gets the
    /// configuration again at each reload; `notes` gets a line for each output that fails while others go on,
    /// and for a source of frames that changes what the host receives.
    ///
    /// # Errors
    /// The configuration is not valid; the interface, an address, an output or the socket cannot be opened;
    /// the user cannot be changed.
    pub fn start(
        config: &Config,
        origin: Origin,
        duration: Option<Duration>,
        reread: Reread,
        mut notes: impl FnMut(&str) + Send + 'static,
    ) -> Result<Self, StartError> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        config.check().map_err(invalid)?;
        outputs::check(&config.output, &[], origin).map_err(StartError::Output)?;
        let Config { input, meter, .. } = config;
        let interface = &input.interface;
        let index = interface_index(interface)?;
        let account = Account::of(&config.server.user, &config.server.group)?;
        let key = Key::random().map_err(|error| io::Error::other(format!("cannot draw a key: {error}")))?;
        let live = Live { interface, duration, promiscuous: input.promiscuous, io: input.io };
        let capture = Capture::open(&live, meter.workers)?;
        if let Some(warning) = capture.warning() {
            notes(&warning);
        }
        let http = Http::bind_all(&config.metrics.listen, "metrics.listen or --metrics")?;
        let socket = config.control.socket();
        socket.prepare(account.as_ref())?;
        if let Some(account) = &account {
            account.assume()?;
        }
        let interfaces = vec![(index, interface.clone())];
        let facts = RunFacts { interfaces, domain: meter.domain, sampling: meter.sampling };
        let exporters = Exporters::open(&config.output, &facts, notes)
            .map_err(|error| StartError::Output(origin.explain(&error)))?;
        let exporters = SharedExporters::new(exporters);
        let control = socket.listen()?;
        let metrics = Metrics::new(meter.domain);
        let urls = http.iter().map(Http::url).collect();
        http.into_iter().try_for_each(|http| metrics.serve(http))?;
        let stop = AtomicBool::new(false);
        let options = meter.options(index);
        let state = RunState::new(options, meter.workers);
        let reloader = Mutex::new(Reloader::new(config.clone(), facts, reread));
        let begun = Instant::now();
        let config = config.clone();
        let reloads = Mutex::default();
        let shared = Shared { begun, config, exporters, state, stop, reloader, reloads };
        Ok(Self { capture, metrics, urls, control, handle: Handle(Arc::new(shared)), options, key })
    }

    /// Path of the control socket, if there is one.
    #[must_use]
    pub fn control(&self) -> Option<&Path> {
        self.control.as_ref().map(control::Service::path)
    }

    /// URLs of the counters.
    #[must_use]
    pub fn metrics(&self) -> &[String] {
        &self.urls
    }

    /// A handle.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Meters until it is [stopped](Handle::stop), its time has passed, or the interface goes down. Completes
    /// all outputs in any case.
    #[must_use]
    pub fn run(self) -> Ended {
        let Self { capture, mut metrics, control, handle, options: meter, key, .. } = self;
        let thread = control.and_then(|control| {
            // The meter does its work without commands, too.
            let started = handle.serve(control);
            started.inspect_err(|error| tracing::error!(%error, "cannot start the control thread")).ok()
        });
        let Shared { config, exporters, state, stop, .. } = &*handle.0;
        let options = RunOptions { meter, workers: config.meter.workers, key: &key, stop, largest: None };
        let mut outputs = exporters.clone();
        let mut receivers: Vec<&mut dyn Output> = vec![&mut metrics, &mut outputs];
        let ran = capture.meter(&options, state, &mut receivers);
        let finished = exporters.finish(wall());
        // So that the control socket ends, and its file is removed.
        handle.stop();
        if let Some(thread) = thread {
            // A panic is logged.
            let _ = thread.join();
        }
        Ended { ran, finished }
    }
}

impl Handle {
    /// Ends the run: open flows are exported.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }

    /// Reads the configuration again, exchanges outputs, and changes timeouts and limits; see
    /// [`SharedExporters::exchange`].
    ///
    /// # Errors
    /// The configuration is refused, or an output cannot be opened; nothing has changed then.
    pub fn reload(&self) -> io::Result<Reloaded> {
        let shared = &self.0;
        let outcome = lock(&shared.reloader).reload(&shared.exporters, &shared.state);
        let mut reloads = lock(&shared.reloads);
        *if outcome.is_ok() { &mut reloads.done } else { &mut reloads.refused } += 1;
        reloads.reason = outcome.as_ref().err().map(ToString::to_string);
        outcome
    }

    /// State of the meter.
    #[must_use]
    pub fn status(&self) -> Status {
        let shared = &self.0;
        let Reloads { done, refused, reason } = &*lock(&shared.reloads);
        Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            uptime_s: shared.begun.elapsed().as_secs(),
            interface: shared.config.input.interface.clone(),
            workers: shared.config.meter.workers,
            outputs: shared.exporters.status(),
            reloads: *done,
            reloads_refused: *refused,
            refused: reason.clone(),
        }
    }

    /// Counters since the start.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats::new(self.0.config.meter.domain, &self.0.state.workers())
    }

    /// A function that returns true if all threads of the run have made progress since its last call. A run
    /// that ends needs none.
    pub fn progress(&self) -> impl FnMut() -> bool + Send + 'static + use<> {
        let handle = self.clone();
        let mut last = handle.0.state.count_turns();
        move || {
            let state = &handle.0.state;
            let before = std::mem::replace(&mut last, state.count_turns());
            state.has_ended() || before.iter().zip(&last).all(|(before, now)| before != now)
        }
    }

    /// Starts the thread of the control socket.
    fn serve(&self, control: control::Service) -> io::Result<thread::JoinHandle<()>> {
        let (handle, stopped) = (self.clone(), self.clone());
        let answer = move |command: &str| match command.trim() {
            "status" => Ok(to_json(&handle.status())),
            "stats" => Ok(to_json(&handle.stats())),
            "reload" => handle.reload().map(|reloaded| to_json(&reloaded)),
            _ => Err(io::Error::other("unknown command; send status, stats or reload")),
        };
        thread::Builder::new().name("control".into()).spawn(move || {
            if let Err(error) = control.run(answer, || stopped.0.stop.load(Ordering::Relaxed)) {
                tracing::error!(%error, "the control socket has failed");
            }
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends a command to the meter at a socket. Returns its document: see [`control::request`].
///
/// # Errors
/// No meter listens there, or this user may not connect; it does not answer; the command fails.
pub fn request(path: &Path, command: &str) -> io::Result<String> {
    control::request(path, command, "hashlane flow meter --config FILE")
}
