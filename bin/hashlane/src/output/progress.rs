//! Progress of a run: a bar on a terminal, lines elsewhere.

use hashlane_lab::study::Step;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Shortest time between two lines.
const EVERY: Duration = Duration::from_secs(5);

/// Time from the start to the first line. A shorter study prints none.
const FIRST: Duration = Duration::from_secs(2);

/// Time after which a step that still runs is named again.
const AGAIN: Duration = Duration::from_secs(30);

/// Time to wait for the first step.
const SHORT: Duration = Duration::from_millis(100);

/// Progress on standard error, shown until it is dropped.
pub(crate) struct Progress {
    study: String,
    shown: Shown,
}

/// A study, and its step.
type Line = (String, String);

enum Shown {
    Bar(ProgressBar),
    /// Channel of steps to the thread that prints them, which ends when the sender is dropped.
    Lines(Option<(Sender<Line>, JoinHandle<()>)>),
}

impl Progress {
    /// Progress of one study.
    ///
    /// # Errors
    /// The thread that prints lines cannot be started.
    pub(crate) fn new(study: &str) -> io::Result<Self> {
        if !io::stderr().is_terminal() {
            let (to, steps) = mpsc::channel();
            let thread = thread::Builder::new().spawn(move || print(&steps))?;
            return Ok(Self { study: study.to_owned(), shown: Shown::Lines(Some((to, thread))) });
        }
        let bar = ProgressBar::new(1);
        let style = "{prefix} [{bar:30}] {percent:>3} %  {elapsed} of about {duration}  {msg}";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.enable_steady_tick(Duration::from_secs(1));
        Ok(Self { study: study.to_owned(), shown: Shown::Bar(bar) })
    }

    /// Shows the current step.
    pub(crate) fn show(&self, step: Step<'_>) {
        self.show_of(&self.study, step);
    }

    /// Shows the current step, of another study.
    pub(crate) fn show_of(&self, study: &str, step: Step<'_>) {
        let what = format!("{}: {}", step.workload, step.what);
        match &self.shown {
            Shown::Bar(bar) => {
                bar.set_prefix(study.to_owned());
                bar.set_length(step.total as u64);
                bar.set_position(step.done as u64);
                bar.set_message(what);
            }
            Shown::Lines(Some((to, _))) => {
                // The thread lasts until this is dropped.
                let _ =
                    to.send((study.to_owned(), format!("step {} of {}: {what}", step.done + 1, step.total)));
            }
            Shown::Lines(None) => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        match &mut self.shown {
            Shown::Bar(bar) => bar.finish_and_clear(),
            Shown::Lines(lines) => {
                if let Some((to, thread)) = lines.take() {
                    drop(to);
                    // A panic leaves no broken state here.
                    let _ = thread.join();
                }
            }
        }
    }
}

/// Prints the newest step, but no more than one line in [`EVERY`], until the sender is dropped.
fn print(steps: &Receiver<Line>) {
    let begun = Instant::now();
    let (mut newest, mut is_shown, mut next) = (None, true, begun + FIRST);
    loop {
        let due = if is_shown { next + (AGAIN - EVERY) } else { next };
        let now = Instant::now();
        match &newest {
            Some((study, step)) if now >= due => {
                super::tell(&format!("{study}, {} s: {step}", begun.elapsed().as_secs()));
                (is_shown, next) = (true, now + EVERY);
            }
            _ => match steps.recv_timeout(due.saturating_duration_since(now).max(SHORT)) {
                Ok(step) => (newest, is_shown) = (Some(step), false),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            },
        }
    }
}
