//! Output to the terminal: streams, width and colours.

use hashlane_stats::escape::lines;
use std::io::{self, IsTerminal, Write};

/// Writes to standard output.
///
/// # Errors
/// Standard output is closed, or full.
pub fn print(text: &str) -> io::Result<()> {
    write(text.as_bytes())
}

/// Writes a verdict to standard output. A reader that has closed it (`| head`) is no error: the exit code
/// says the verdict all the same.
///
/// # Errors
/// Standard output is full.
pub fn print_verdict(text: &str) -> io::Result<()> {
    match print(text) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

/// Writes bytes to standard output, unchanged.
///
/// # Errors
/// Standard output is closed, or full.
pub fn write(octets: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(octets)?;
    out.flush()
}

/// Writes to standard error, and ignores errors.
pub fn tell(text: &str) {
    let _ = io::stderr().lock().write_all(lines(text).as_bytes());
}

/// Columns of the terminal; 100 without one.
pub fn width() -> u16 {
    console::Term::stdout().size_checked().map_or(100, |(_, columns)| columns.clamp(60, 200))
}

/// Tests if standard output takes colours: it is a terminal, and the user has not set `NO_COLOR`.
pub fn takes_colours() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && io::stdout().is_terminal()
}

/// Tests if the error is a closed reader of our output.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
