//! Parts of the commands that turn the configuration of another server into ours.

use anyhow::{Context as _, Result};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

/// Exit code if a line has an effect that the new configuration does not have.
const INCOMPLETE: u8 = 3;

/// Name and text of the configuration in `file`, or of standard input for `-`. Of a text longer than `limit`
/// bytes, `limit` + 1 bytes; bytes that are not UTF-8 are replaced.
///
/// # Errors
/// The file cannot be read.
pub fn read(file: &Path, limit: usize) -> Result<(String, String)> {
    let (name, text) = match is_stdin(file) {
        true => ("standard input".to_owned(), read_text(io::stdin().lock(), limit)),
        false => (file.display().to_string(), File::open(file).and_then(|file| read_text(file, limit))),
    };
    let text = text.with_context(|| format!("cannot read {name}"))?;
    Ok((name, text))
}

/// True if a file stands for standard input.
pub fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// The text of a reader, as [`read`](fn@read).
///
/// # Errors
/// The reader fails.
pub fn read_text(from: impl Read, limit: usize) -> io::Result<String> {
    let mut bytes = Vec::new();
    // One byte more shows the import that the text is too long.
    from.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Exit code of an import: 0 if nothing is lost that has an effect, else 3.
pub fn exit_code(is_complete: bool) -> ExitCode {
    if is_complete { ExitCode::SUCCESS } else { ExitCode::from(INCOMPLETE) }
}
