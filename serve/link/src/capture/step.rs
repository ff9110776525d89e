//! Steps through a window over a capture.

use super::Frame;
use super::error::Problem;

/// Result of one step through the window.
pub(super) enum Step<'a> {
    Frame {
        frame: Frame<'a>,
        used: usize,
    },
    /// That many bytes hold no frame.
    Skip(usize),
    /// The record goes on behind the window.
    Short,
    Bad(Problem),
}
