//! The terminal: what goes where, how wide, and whether in colour.

pub(crate) mod folder;
pub(crate) mod log;
pub(crate) mod progress;
pub(crate) mod results;

use hashlane_lab::report::terminal::Colours;
use std::io::{self, IsTerminal, Write};

/// Writes to standard output.
pub(crate) fn print(text: &str) -> io::Result<()> {
    write(text.as_bytes())
}

/// Writes octets to standard output, as they are.
pub(crate) fn write(octets: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(octets)?;
    out.flush()
}

/// Writes to standard error. Where nobody reads that, nothing is lost.
///
/// The text may hold what a file holds: control characters are spelled out, so that none reaches the terminal, and long
/// lines are cut.
pub(crate) fn tell(text: &str) {
    const LONGEST_LINE: usize = 2000;
    let mut shown = String::new();
    for line in text.trim_end().lines() {
        for (at, character) in line.chars().enumerate() {
            match character {
                _ if at == LONGEST_LINE => {
                    shown.push('…');
                    break;
                }
                control if control.is_control() => shown.extend(control.escape_default()),
                other => shown.push(other),
            }
        }
        shown.push('\n');
    }
    let _ = io::stderr().lock().write_all(shown.as_bytes());
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
