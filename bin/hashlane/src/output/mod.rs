//! Results of studies: folders, progress, terminal.

pub(crate) mod folder;
pub(crate) mod progress;
pub(crate) mod quiet;
pub(crate) mod results;

pub(crate) use hashlane_command::terminal::{is_broken_pipe, print, print_verdict, tell, width};

use hashlane_lab::report::terminal::Colours;

/// Colours of standard output.
pub(crate) fn colours() -> Colours {
    if hashlane_command::terminal::takes_colours() { Colours::Always } else { Colours::Never }
}
