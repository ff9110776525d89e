//! The terminal: what goes where, how wide, and whether in colour.

pub(crate) mod folder;
pub(crate) mod progress;

use lab::report::terminal::Colours;
use std::io::{self, IsTerminal, Write};

/// Writes to standard output.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Columns of the terminal, or 100 where there is none.
pub(crate) fn width() -> u16 {
    console::Term::stdout().size_checked().map_or(100, |(_, columns)| columns.clamp(60, 200))
}

/// Whether standard output takes colours: it is a terminal, and the user has not set `NO_COLOR`.
pub(crate) fn colours() -> Colours {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if wanted && io::stdout().is_terminal() { Colours::Always } else { Colours::Never }
}

/// Whether the error is that nobody reads our output any more.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
