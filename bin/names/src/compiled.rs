//! Files of compiled rules, read.

use crate::input::{Input, Stop};
use crate::loaded::{List, Loaded};
use crate::progress::Progress;
use anyhow::{Result, anyhow, bail};
use hashlane_name_lists::{compiled_len, read_compiled};

/// Bytes of the largest file: the names of a table have 4 GiB at most, and its buckets fewer than twice that.
const MAX_FILE: u64 = 16 << 30;

/// Reads the rest of a file of compiled rules, after its `start`. `None` after a signal.
///
/// # Errors
/// The file cannot be read, or has other bytes than were written.
pub(crate) fn read(
    mut input: Input,
    start: Vec<u8>,
    stop: &Stop,
    progress: &Progress,
) -> Result<Option<Loaded>> {
    let bytes = match compiled_len(&start) {
        Some(expected) if input.len().is_some_and(|len| len != expected) => bail!(
            "{}: compiled rules of {} bytes, where {expected} are expected; the file was cut or is being \
             written",
            input.name(),
            input.len().unwrap_or_default()
        ),
        Some(expected) if expected > MAX_FILE => {
            bail!("{}: compiled rules of {expected} bytes; they have 16 GiB at most", input.name())
        }
        // The file has as many bytes as it states.
        Some(expected) if input.len().is_some() => read_file(&mut input, &start, usize::try_from(expected)?)?,
        Some(expected) => read_pipe(&mut input, start, expected)?,
        None => start,
    };
    if stop.is_set() {
        return Ok(None);
    }
    let read = read_compiled(&bytes).map_err(|error| anyhow!("{}: {error}", input.name()))?;
    let lists = read.1.into_iter().map(|about| List { about, counts: None }).collect();
    Ok(Some(Loaded { lists, rules: read.0, time: progress.elapsed() }))
}

/// The bytes of a file of this length. Fewer if it was cut meanwhile.
fn read_file(input: &mut Input, start: &[u8], len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| anyhow!("{}: no memory for {len} bytes", input.name()))?;
    bytes.resize(len, 0);
    let mut at = start.len().min(len);
    if let (Some(to), Some(from)) = (bytes.get_mut(..at), start.get(..at)) {
        to.copy_from_slice(from);
    }
    while let Some(rest) = bytes.get_mut(at..).filter(|rest| !rest.is_empty()) {
        match input.read(rest)? {
            0 => break,
            more => at += more,
        }
    }
    bytes.truncate(at);
    Ok(bytes)
}

/// The bytes of a pipe, up to the length that they state. Memory grows with the bytes that come.
fn read_pipe(input: &mut Input, mut bytes: Vec<u8>, len: u64) -> Result<Vec<u8>> {
    let mut piece = Vec::new();
    while (bytes.len() as u64) < len {
        input.next(&mut piece)?;
        if piece.is_empty() {
            break;
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}
