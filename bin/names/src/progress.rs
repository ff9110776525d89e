//! Progress on a terminal.

use hashlane_stats::format::{percent, significant};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

/// Time until progress shows.
const SOON: Duration = Duration::from_secs(2);

/// Shortest time between two messages.
const EVERY: Duration = Duration::from_millis(100);

/// A line on standard error, if that is a terminal and the work takes longer than a moment.
pub(crate) struct Progress {
    begun: Instant,
    next: Duration,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let next = if io::stderr().is_terminal() { SOON } else { Duration::MAX };
        Self { begun: Instant::now(), next, bar: None }
    }

    /// Measures time, and shows nothing.
    pub(crate) fn silent() -> Self {
        Self { begun: Instant::now(), next: Duration::MAX, bar: None }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Shows a message, if the last one was some time ago: lines that were read of `name`, and its share.
    pub(crate) fn refresh(&mut self, name: &str, lines: u64, bytes: u64, len: Option<u64>) {
        let elapsed = self.begun.elapsed();
        if elapsed < self.next {
            return;
        }
        self.next = elapsed + EVERY;
        let style = || {
            let style = ProgressStyle::with_template("{spinner} {elapsed}  {msg}");
            style.unwrap_or_else(|_| ProgressStyle::default_spinner())
        };
        let bar = self.bar.get_or_insert_with(|| ProgressBar::new_spinner().with_style(style()));
        let share = len.filter(|len| *len > 0).map(|len| bytes as f64 / len as f64);
        let share = share.map_or_else(String::new, |share| format!(", {}", percent(share.min(1.0))));
        bar.set_message(format!("{name}: {} lines{share}", significant(lines as f64)));
        bar.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
