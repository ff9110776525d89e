//! Words and numbers of reports.

use hashlane_stats::format::{self, plain};

/// Lines of an error, one after the other.
pub(super) fn one_line(error: &str) -> String {
    error.lines().map(plain).collect::<Vec<_>>().join("; ")
}

/// A number with separators.
pub(super) fn count(number: u64) -> String {
    format::count(number as f64)
}
