//! Files of compiled rules, read.

use crate::input::{Input, Stop};
use crate::loaded::{List, Loaded};
use crate::progress::Progress;
use anyhow::{Result, anyhow, bail};
use hashlane_name_lists::{compiled_len, read_compiled};

/// Bytes that are reserved by the statement of a file alone.
const MAX_RESERVED: u64 = 64 << 20;

/// Reads the rest of a file of compiled rules, of which `bytes` were read. `None` after a signal.
///
/// # Errors
/// The file cannot be read, or has other bytes than were written.
pub(crate) fn read(
    mut input: Input,
    mut bytes: Vec<u8>,
    stop: &Stop,
    progress: &Progress,
) -> Result<Option<Loaded>> {
    // A file of another length than it states is refused before it takes memory.
    if let Some(expected) = compiled_len(&bytes) {
        match input.len() {
            Some(len) if len != expected => {
                bail!(
                    "{}: compiled rules of {len} bytes, where {expected} are expected; the file was cut or is \
                     being written",
                    input.name()
                )
            }
            _ => {
                bytes.reserve_exact(usize::try_from(expected.min(MAX_RESERVED))?.saturating_sub(bytes.len()))
            }
        }
        let mut piece = Vec::new();
        while (bytes.len() as u64) < expected {
            input.next(&mut piece)?;
            if stop.is_set() {
                return Ok(None);
            }
            if piece.is_empty() {
                break;
            }
            bytes.extend_from_slice(&piece);
        }
    }
    let read = read_compiled(&bytes).map_err(|error| anyhow!("{}: {error}", input.name()))?;
    let lists = read.1.into_iter().map(|about| List { about, counts: None }).collect();
    Ok(Some(Loaded { lists, rules: read.0, time: progress.elapsed() }))
}
