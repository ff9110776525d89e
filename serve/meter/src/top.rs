//! The view of a run on the terminal: its largest flows, while it goes on.
//!
//! A separate thread reads keys and draws, so that a slow terminal never holds up packets or outputs.

mod draw;
mod state;
mod terminal;

pub use terminal::restore;

use crate::export::ExportError;
use crate::largest::{LargestFlows, Ranking};
use crate::record::FlowRecord;
use crate::run::Output;
use crate::stats::MeterStats;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use state::{Key, Phase, Sample, State};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use terminal::Screen;

/// Flows of each worker by each ranking: more than a screen has rows.
const ROWS: usize = 200;

/// Time between two samples.
const PERIOD: Duration = Duration::from_secs(1);

/// Longest wait for a key, after which a stopped run is noticed.
const WAIT: Duration = Duration::from_millis(100);

/// The view of a run.
pub struct Top {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

/// State that the run and the thread of the view share.
struct Shared {
    largest: Arc<LargestFlows>,
    total: Mutex<MeterStats>,
    /// Ends the run, as Ctrl-C does.
    stop: Arc<AtomicBool>,
    /// The user has ended the run by a key.
    quit: AtomicBool,
    /// The outputs are complete: the view closes with the next key `q`.
    ended: AtomicBool,
    /// The view closes at once.
    closed: AtomicBool,
    /// Exit code of the process if the user ends it at once.
    exit_code: u8,
}

/// Run that a view shows.
#[derive(Clone, Debug)]
pub struct ViewedRun {
    /// Interface or captures, for the title.
    pub source: String,
    /// True for an interface.
    pub is_live: bool,
    /// Limit of the flows in the table.
    pub limit: usize,
    /// Lists that the run makes: [`lists`].
    pub largest: Arc<LargestFlows>,
    /// Ends the run.
    pub stop: Arc<AtomicBool>,
    /// Exit code of the process if the user ends it at once.
    pub exit_code: u8,
}

/// A function that puts `what` before an error.
fn context(what: &'static str) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// Checks that a view can be shown on this terminal.
///
/// # Errors
/// It cannot; the message says how it could be.
pub fn check() -> io::Result<()> {
    terminal::check()
}

/// Lists for the view of a run.
pub fn lists() -> Arc<LargestFlows> {
    Arc::new(LargestFlows::new(ROWS))
}

impl Top {
    /// Shows the view.
    ///
    /// # Errors
    /// The terminal or a thread cannot be had.
    pub fn show(subject: ViewedRun) -> io::Result<Self> {
        let ViewedRun { source, is_live, limit, largest, stop, exit_code } = subject;
        let shared = Arc::new(Shared {
            largest,
            total: Mutex::default(),
            stop,
            quit: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            exit_code,
        });
        let state = State::new(source, is_live, limit as u64);
        let screen = Screen::open()?;
        let view = Arc::clone(&shared);
        let thread = thread::Builder::new().name("top".into());
        let thread = thread
            .spawn(move || view.run(screen, state))
            .map_err(context("cannot start a thread for --top"))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Tests if the user has ended the run by the key `q`.
    pub fn has_quit(&self) -> bool {
        self.shared.quit.load(Ordering::Relaxed)
    }

    /// Shows the end of the run until the user closes the view, and restores the terminal. Returns true if
    /// the key `q` has ended the run or closed the view.
    ///
    /// # Errors
    /// The terminal failed during the run.
    pub fn end(mut self) -> io::Result<bool> {
        self.shared.ended.store(true, Ordering::Relaxed);
        self.join()?;
        Ok(self.has_quit())
    }

    /// Restores the terminal.
    ///
    /// # Errors
    /// The terminal failed during the run.
    pub fn close(mut self) -> io::Result<()> {
        self.shared.closed.store(true, Ordering::Relaxed);
        self.join()
    }

    fn join(&mut self) -> io::Result<()> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            Some(Ok(result)) => result,
            None => Ok(()),
        }
    }
}

impl Drop for Top {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Its error or panic is not the reason of this end.
            let _ = thread.join();
        }
    }
}

impl Output for Top {
    fn flows(&mut self, _: &[FlowRecord], _: u64) -> Result<(), ExportError> {
        Ok(())
    }

    fn tick(&mut self, workers: &[MeterStats], _: u64) -> Result<(), ExportError> {
        let mut total = MeterStats::default();
        workers.iter().for_each(|worker| total.add(worker));
        *self.shared.total.lock().unwrap_or_else(PoisonError::into_inner) = total;
        Ok(())
    }
}

/// Stops the run when dropped: a view that has failed or panicked cannot be quit any more.
struct StopsRun<'a>(&'a AtomicBool);

impl Drop for StopsRun<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    /// Draws and reads keys until the view is closed.
    fn run(&self, mut screen: Screen, mut state: State) -> io::Result<()> {
        let _stops = StopsRun(&self.stop);
        let begun = Instant::now();
        let mut next = begun;
        let mut phase = Phase::Running;
        while !self.closed.load(Ordering::Relaxed) && terminal::is_shown() {
            let now = self.phase();
            if now == Phase::Ended && self.is_left() {
                break;
            }
            if Instant::now() >= next || now != phase {
                next = Instant::now() + PERIOD;
                phase = now;
                state.refresh(self.sample(begun.elapsed()), phase);
            }
            let drawn = screen.0.draw(|frame| draw::draw(&state, frame));
            drawn.map_err(context("cannot draw on the terminal"))?;
            let cannot = context("cannot read keys from the terminal");
            if event::poll(WAIT.min(next.saturating_duration_since(Instant::now()))).map_err(&cannot)?
                && let Event::Key(key) = event::read().map_err(&cannot)?
                && key.kind != KeyEventKind::Release
            {
                self.on_key(key, &mut state);
            }
        }
        Ok(())
    }

    fn phase(&self) -> Phase {
        if self.ended.load(Ordering::Relaxed) {
            Phase::Ended
        } else if self.stop.load(Ordering::Relaxed) {
            Phase::Stopping
        } else {
            Phase::Running
        }
    }

    /// Tests if the user leaves, or has left, the view of a run that has ended.
    fn is_left(&self) -> bool {
        self.quit.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed)
    }

    fn sample(&self, at: Duration) -> Sample {
        let total = *self.total.lock().unwrap_or_else(PoisonError::into_inner);
        Sample { at, total, lists: self.largest.lists() }
    }

    fn on_key(&self, key: KeyEvent, state: &mut State) {
        match key.code {
            KeyCode::Char('q') => self.leave(&self.quit),
            // In raw mode, Ctrl-C is a key and no signal.
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => self.leave(&self.stop),
            KeyCode::Char('b') => state.on_key(Key::Rank(Ranking::Bytes)),
            KeyCode::Char('k') => state.on_key(Key::Rank(Ranking::Packets)),
            KeyCode::Char('r') => state.on_key(Key::Rank(Ranking::Rate)),
            KeyCode::Char('p') => state.on_key(Key::Pause),
            _ => {}
        }
    }

    /// Stops the run and notes by which key; the second time it ends the process.
    fn leave(&self, by: &AtomicBool) {
        if self.phase() == Phase::Stopping {
            restore();
            std::process::exit(i32::from(self.exit_code));
        }
        by.store(true, Ordering::Relaxed);
        self.stop.store(true, Ordering::Relaxed);
    }
}
