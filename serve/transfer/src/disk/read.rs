//! Reading of a zone's file.

use super::frames::Frames;
use super::{CHUNK, DELTA, DOUBT, DiskError, END, RECORDS};
use crate::delta::{ApplyError, Delta};
use crate::records::{Record, Records, split};
use hashlane_dns::zone::{Builder, Zone};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::Name;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::time::SystemTime;

/// A zone out of a file.
#[derive(Debug)]
pub struct Loaded {
    /// The zone, after all differences.
    pub zone: Zone,
    /// The differences, in order.
    pub deltas: Vec<Delta>,
    /// Serial number up to which versions may have had several contents: see
    /// [`Writer::doubt`](super::Writer::doubt).
    pub unsure: Option<u32>,
    /// Bytes of the file that are valid.
    pub len: u64,
    /// Bytes of the whole zone, before the differences.
    pub whole: u64,
    /// Bytes that followed, the rest of a difference that was not written to its end, and do not count.
    pub cut: u64,
    /// Time at which a primary has last confirmed the version.
    pub checked: SystemTime,
}

/// Reads the zone `apex` from a file, under `key`. `None` if there is no file.
///
/// # Errors
/// The file cannot be read, is damaged before the first version is complete, or holds no zone.
pub fn load(path: &Path, apex: Name<'_>, key: &Key) -> Result<Option<Loaded>, DiskError> {
    let failed = |error| DiskError::Io { path: path.to_owned(), error };
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(failed)?,
    };
    let found = file.metadata().map_err(failed)?;
    let checked = found.modified().map_err(failed)?;
    let mut frames = Frames::new(BufReader::with_capacity(CHUNK, file), found.len());
    let damaged = |at| DiskError::Damaged { path: path.to_owned(), at };
    let broken = |error| DiskError::Zone { path: path.to_owned(), error };
    frames.magic().map_err(failed)?.ok_or_else(|| damaged(0))?;
    let (mut builder, mut count, mut unsure) = (Builder::new(apex, key), 0_u64, None);
    loop {
        let at = frames.at;
        match frames.next().map_err(failed)? {
            Some((RECORDS, body)) => {
                let mut rest = body.as_slice();
                while !rest.is_empty() {
                    let (Record { owner, rtype, ttl, data }, len) = split(rest).ok_or_else(|| damaged(at))?;
                    builder.add(owner, rtype, ttl, data).map_err(broken)?;
                    rest = rest.get(len..).unwrap_or_default();
                    count += 1;
                }
            }
            Some((DOUBT, body)) => {
                let serial = body.try_into().map_err(|_| damaged(at))?;
                unsure = Some(u32::from_le_bytes(serial));
            }
            Some((END, body)) if body == count.to_le_bytes() => break,
            _ => return Err(damaged(at)),
        }
    }
    let mut zone = builder.finish().map_err(broken)?;
    let (whole, mut deltas, mut serial) = (frames.at, Vec::new(), zone.serial());
    let mut len = whole;
    while let Some((DELTA, body)) = frames.next().map_err(failed)? {
        match parse_delta(body).filter(|delta| delta.from() == serial) {
            Some(delta) => {
                serial = delta.to();
                deltas.push(delta);
                len = frames.at;
            }
            None => break,
        }
    }
    if !deltas.is_empty() {
        zone = Delta::apply(&zone, &deltas, key).map_err(|error| match error {
            ApplyError::Zone(error) => broken(error),
            // Each was applied when it came.
            _ => damaged(whole),
        })?;
    }
    Ok(Some(Loaded { zone, deltas, unsure, len, whole, cut: found.len().saturating_sub(len), checked }))
}

fn parse_delta(body: Vec<u8>) -> Option<Delta> {
    let (head, rest) = body.split_first_chunk::<4>()?;
    let (removed, added) = rest.split_at_checked(u32::from_le_bytes(*head) as usize)?;
    let [removed, added] = [removed, added].map(|part| Records::from_bytes(part.to_vec()));
    Delta::new(removed.ok()?, added.ok()?).ok()
}
