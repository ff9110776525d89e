//! A received zone in a file: the whole zone, then the differences that came after it.
//!
//! | bytes | |
//! | --- | --- |
//! | 16 | `hashlane zone 1` and a newline |
//! | frames | |
//!
//! | bytes of a frame | |
//! | --- | --- |
//! | 4 | kind: 1 records of the whole zone, 2 their end, 3 a difference |
//! | 4 | length of what follows the head |
//! | 4 | CRC-32C of kind, length and what follows |
//! | any | records; the number of records in 8 bytes; or the length of the removed records in 4 bytes, and all |
//!
//! Numbers are little-endian. A whole zone is written to a file beside the old one, and takes its place once
//! it is on the disk; a difference is appended. The part of a frame that a crash leaves is cut off at the
//! next start, so that the file always holds one of the versions that were received.

use crate::delta::{ApplyError, Delta};
use crate::records::{Record, Records, split};
use hashlane_dns::zone::{Builder, Zone, ZoneError};
use hashlane_hash::crc32c::Crc32c;
use hashlane_hash::scheme::{Key, PrefixHash as _};
use hashlane_name::dns::Name;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const MAGIC: &[u8; 16] = b"hashlane zone 1\n";

/// Bytes of the head of a frame.
const HEAD: usize = 12;

/// Bytes of records in a frame of a whole zone.
const CHUNK: usize = 1 << 20;

/// Most bytes of a frame.
const MAX_FRAME: usize = 1 << 30;

const RECORDS: u32 = 1;
const END: u32 = 2;
const DELTA: u32 = 3;

/// Longest name of a file without its ending.
const MAX_STEM: usize = 200;

/// Reasons for which a file holds no zone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiskError {
    /// The file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The file is damaged before the end of its whole zone.
    #[error("{}: damaged at byte {at}; the zone is transferred anew", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Offset of the frame.
        at: u64,
    },
    /// The records are no zone.
    #[error("{}: {error}", .path.display())]
    Zone {
        /// The file.
        path: PathBuf,
        /// The rule that they break.
        error: ZoneError,
    },
}

/// A zone out of a file.
#[derive(Debug)]
pub struct Loaded {
    /// The zone, after all differences.
    pub zone: Zone,
    /// The differences, in order.
    pub deltas: Vec<Delta>,
    /// Bytes of the file that are valid.
    pub len: u64,
    /// Bytes of the whole zone, before the differences.
    pub whole: u64,
    /// Bytes that followed, the rest of a difference that was not written to its end, and do not count.
    pub cut: u64,
    /// Time at which a primary has last confirmed the version.
    pub checked: SystemTime,
}

/// Path of a zone's file in a folder: its name in small letters, other bytes than letters, digits, `-`, `_`
/// and `.` as `%` and two digits; a long name is cut, and ends with its checksum.
pub fn path(folder: &Path, apex: Name<'_>) -> PathBuf {
    let mut stem = String::new();
    for label in apex.labels() {
        for byte in label {
            match byte.to_ascii_lowercase() {
                byte @ (b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_') => stem.push(byte.into()),
                byte => stem.push_str(&format!("%{byte:02x}")),
            }
        }
        stem.push('.');
    }
    if stem.len() > MAX_STEM {
        let sum = crc32c([apex.as_bytes().to_ascii_lowercase().as_slice()]);
        stem.truncate(MAX_STEM - 10);
        stem.push_str(&format!("~{sum:08x}."));
    }
    folder.join(if apex.is_root() { "root.transfer".to_owned() } else { stem + "transfer" })
}

/// Writes a whole zone.
#[derive(Debug)]
pub struct Writer {
    out: BufWriter<File>,
    path: PathBuf,
    temporary: PathBuf,
    records: Records,
    count: u64,
    len: u64,
    is_finished: bool,
}

impl Writer {
    /// Begins a file that takes the place of `path` when it is [finished](Self::finish).
    ///
    /// # Errors
    /// The file beside it cannot be made.
    pub fn create(path: &Path) -> Result<Self, DiskError> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".new");
        let temporary = PathBuf::from(temporary);
        let failed = |error| DiskError::Io { path: temporary.clone(), error };
        let mut out = BufWriter::with_capacity(CHUNK, File::create(&temporary).map_err(failed)?);
        out.write_all(MAGIC).map_err(failed)?;
        Ok(Self {
            out,
            path: path.to_owned(),
            records: Records::default(),
            count: 0,
            len: MAGIC.len() as u64,
            is_finished: false,
            temporary,
        })
    }

    /// Adds a record.
    ///
    /// # Errors
    /// The disk is full, or fails.
    pub fn push(&mut self, record: &Record<'_>) -> Result<(), DiskError> {
        self.records.push(record);
        self.count += 1;
        if self.records.as_bytes().len() < CHUNK { Ok(()) } else { self.flush() }
    }

    /// Ends the file, and puts it in its place. Returns its length.
    ///
    /// # Errors
    /// The disk is full, or fails; the old file is as it was.
    pub fn finish(mut self) -> Result<u64, DiskError> {
        self.flush()?;
        let count = self.count.to_le_bytes();
        self.frame(END, &[&count])?;
        let done = self
            .out
            .flush()
            .and_then(|()| self.out.get_ref().sync_all())
            .and_then(|()| fs::rename(&self.temporary, &self.path))
            .and_then(|()| sync_folder(&self.path));
        done.map_err(|error| DiskError::Io { path: self.path.clone(), error })?;
        self.is_finished = true;
        Ok(self.len)
    }

    fn flush(&mut self) -> Result<(), DiskError> {
        if self.records.is_empty() {
            return Ok(());
        }
        let mut records = std::mem::take(&mut self.records);
        let written = self.frame(RECORDS, &[records.as_bytes()]);
        records.clear();
        self.records = records;
        written
    }

    fn frame(&mut self, kind: u32, parts: &[&[u8]]) -> Result<(), DiskError> {
        let written = frame(&mut self.out, kind, parts);
        self.len += written.map_err(|error| DiskError::Io { path: self.temporary.clone(), error })?;
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if !self.is_finished {
            // The next whole zone would overwrite it.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Appends a difference to a file of `len` valid bytes. Returns the new length.
///
/// # Errors
/// The disk is full, or fails: what was written of it does not count.
pub fn append(path: &Path, len: u64, delta: &Delta) -> Result<u64, DiskError> {
    let write = || {
        let mut file = OpenOptions::new().write(true).open(path)?;
        file.set_len(len)?;
        file.seek(SeekFrom::Start(len))?;
        let removed = delta.removed().as_bytes();
        let head = (removed.len() as u32).to_le_bytes();
        let mut out = BufWriter::with_capacity(CHUNK, &file);
        let written = frame(&mut out, DELTA, &[&head, removed, delta.added().as_bytes()])?;
        out.flush()?;
        drop(out);
        file.sync_data()?;
        Ok(len + written)
    };
    write().map_err(|error| DiskError::Io { path: path.to_owned(), error })
}

/// Notes that a primary has confirmed the version in the file.
///
/// # Errors
/// The file cannot be changed.
pub fn confirm(path: &Path, now: SystemTime) -> Result<(), DiskError> {
    let set = || OpenOptions::new().write(true).open(path)?.set_modified(now);
    set().map_err(|error| DiskError::Io { path: path.to_owned(), error })
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
    let mut frames = Frames { input: BufReader::with_capacity(CHUNK, file), at: 0, left: found.len() };
    let damaged = |at| DiskError::Damaged { path: path.to_owned(), at };
    let broken = |error| DiskError::Zone { path: path.to_owned(), error };
    frames.magic().map_err(failed)?.ok_or_else(|| damaged(0))?;
    let (mut builder, mut count) = (Builder::new(apex, key), 0_u64);
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
    Ok(Some(Loaded { zone, deltas, len, whole, cut: found.len().saturating_sub(len), checked }))
}

fn parse_delta(body: Vec<u8>) -> Option<Delta> {
    let (head, rest) = body.split_first_chunk::<4>()?;
    let (removed, added) = rest.split_at_checked(u32::from_le_bytes(*head) as usize)?;
    let [removed, added] = [removed, added].map(|part| Records::from_bytes(part.to_vec()));
    Delta::new(removed.ok()?, added.ok()?).ok()
}

/// The frames of a file.
struct Frames<R> {
    input: R,
    /// Offset of the next frame.
    at: u64,
    /// Bytes from there on.
    left: u64,
}

impl<R: Read> Frames<R> {
    fn magic(&mut self) -> io::Result<Option<()>> {
        let mut magic = [0; MAGIC.len()];
        if self.left < magic.len() as u64 {
            return Ok(None);
        }
        self.input.read_exact(&mut magic)?;
        self.advance(magic.len());
        Ok((magic == *MAGIC).then_some(()))
    }

    fn advance(&mut self, bytes: usize) {
        self.at += bytes as u64;
        self.left = self.left.saturating_sub(bytes as u64);
    }

    /// The next frame; `None` if what follows is none.
    fn next(&mut self) -> io::Result<Option<(u32, Vec<u8>)>> {
        let mut head = [0; HEAD];
        if self.left < HEAD as u64 {
            return Ok(None);
        }
        self.input.read_exact(&mut head)?;
        let [kind, len, sum] = [0, 4, 8].map(|at| {
            let bytes = head.get(at..).and_then(<[u8]>::first_chunk);
            u32::from_le_bytes(bytes.copied().unwrap_or_default())
        });
        let size = len as usize;
        if u64::from(len) + HEAD as u64 > self.left || size > MAX_FRAME {
            return Ok(None);
        }
        let mut body = vec![0; size];
        self.input.read_exact(&mut body)?;
        if checksum(kind, &[&body]) != sum {
            return Ok(None);
        }
        self.advance(HEAD + size);
        Ok(Some((kind, body)))
    }
}

fn checksum(kind: u32, parts: &[&[u8]]) -> u32 {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    let head = [kind.to_le_bytes(), (len as u32).to_le_bytes()];
    crc32c([head.as_flattened()].into_iter().chain(parts.iter().copied()))
}

/// The CRC-32C of parts in a row.
fn crc32c<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u32 {
    let crc = Crc32c::detect();
    let mut state = crc.start();
    parts.into_iter().for_each(|part| crc.extend(&mut state, part));
    crc.finish(&state) as u32
}

/// Writes a frame; returns its length.
fn frame(out: &mut impl Write, kind: u32, parts: &[&[u8]]) -> io::Result<u64> {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    if len > MAX_FRAME {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "more than 1 GiB of records in one difference",
        ));
    }
    for number in [kind, len as u32, checksum(kind, parts)] {
        out.write_all(&number.to_le_bytes())?;
    }
    parts.iter().try_for_each(|part| out.write_all(part))?;
    Ok((HEAD + len) as u64)
}

/// Writes the folder of a file to the disk, so that its new name is there after a crash.
fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => File::open(".")?.sync_all(),
    }
}
