//! Output to the terminal: streams, width and colours.

pub(crate) mod folder;
pub(crate) mod log;
pub(crate) mod progress;
pub(crate) mod quiet;
pub(crate) mod results;

use hashlane_lab::report::terminal::Colours;
use hashlane_stats::format;
use std::io::{self, IsTerminal, Write};

/// Writes to standard output.
pub(crate) fn print(text: &str) -> io::Result<()> {
    write(text.as_bytes())
}

/// Writes a verdict to standard output. A reader that has closed it (`| head`) is no error: the exit code
/// says the verdict all the same.
pub(crate) fn print_verdict(text: &str) -> io::Result<()> {
    match print(text) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

/// Writes bytes to standard output, unchanged.
pub(crate) fn write(octets: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(octets)?;
    out.flush()
}

/// Writes to standard error, and ignores errors.
pub(crate) fn tell(text: &str) {
    let _ = io::stderr().lock().write_all(plain(text).as_bytes());
}

/// The lines of a text from a file or from another host: control characters are escaped, so that none reaches
/// the terminal, and long lines are cut.
fn plain(text: &str) -> String {
    const LONGEST_LINE: usize = 2000;
    let mut shown = String::new();
    for line in text.trim_end().lines() {
        for (at, character) in line.chars().enumerate() {
            match character {
                _ if at == LONGEST_LINE => {
                    shown.push('…');
                    break;
                }
                control if steers(control) => shown.extend(control.escape_default()),
                other => shown.push(other),
            }
        }
        shown.push('\n');
    }
    shown
}

/// Tests if a character steers a terminal, or turns the direction of reading.
fn steers(character: char) -> bool {
    character.is_control() || format::plain(character.encode_utf8(&mut [0; 4])) == "\u{fffd}"
}

/// Columns of the terminal; 100 without one.
pub(crate) fn width() -> u16 {
    console::Term::stdout().size_checked().map_or(100, |(_, columns)| columns.clamp(60, 200))
}

/// Colours of standard output: on if it is a terminal, and the user has not set `NO_COLOR`.
pub(crate) fn colours() -> Colours {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if wanted && io::stdout().is_terminal() { Colours::Always } else { Colours::Never }
}

/// Tests if the error is a closed reader of our output.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}
