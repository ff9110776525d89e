//! Ctrl-C during long calls.

use pyo3::{PyResult, Python};

/// Bytes between two checks for signals: some tens of milliseconds of work.
const BETWEEN: usize = 32 << 20;

/// Cost of a row in bytes, whatever its length.
const ROW: usize = 32;

/// Runs Python's signal handlers from time to time in a call that has released the lock.
#[derive(Debug, Default)]
pub(crate) struct Interrupt {
    since: usize,
}

impl Interrupt {
    /// Records work on `rows` rows of `bytes` bytes altogether.
    ///
    /// # Errors
    /// The exception of a signal handler: `KeyboardInterrupt` after Ctrl-C.
    pub(crate) fn record(&mut self, rows: usize, bytes: usize) -> PyResult<()> {
        self.since = self.since.saturating_add(rows.saturating_mul(ROW)).saturating_add(bytes);
        if self.since < BETWEEN {
            return Ok(());
        }
        self.since = 0;
        Python::attach(|py| py.check_signals())
    }
}
