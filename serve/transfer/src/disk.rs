//! A received zone in a file: the whole zone, then the differences that came after it.
//!
//! | bytes | |
//! | --- | --- |
//! | 16 | `hashlane zone 1` and a newline |
//! | frames | |
//!
//! | bytes of a frame | |
//! | --- | --- |
//! | 4 | kind: 1 records of the whole zone, 2 their end, 3 a difference, 4 a doubt, before the end |
//! | 4 | length of what follows the head |
//! | 4 | CRC-32C of kind, length and what follows |
//! | any | records; the number of records in 8 bytes; the length of the removed records in 4 bytes, and all; or a serial number |
//!
//! A doubt is a serial number up to which versions may have had several contents, so that no differences may
//! lead from them to others.
//! Numbers are little-endian. A whole zone is written to a file beside the old one, and takes its place once
//! it is on the disk; a difference is appended. The part of a frame that a crash leaves is cut off at the
//! next start, so that the file always holds one of the versions that were received.

mod frames;
mod read;

pub use read::{Loaded, load};

use crate::delta::Delta;
use crate::records::{Record, Records};
use frames::{MAGIC, crc32c, frame};
use hashlane_dns::zone::ZoneError;
use hashlane_name::dns::Name;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bytes of records in a frame of a whole zone.
const CHUNK: usize = 256 << 10;

const RECORDS: u32 = 1;
const END: u32 = 2;
const DELTA: u32 = 3;
const DOUBT: u32 = 4;

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
    unsure: Option<u32>,
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
            unsure: None,
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

    /// Sets the serial number up to which versions may have had several contents, if there is one.
    pub fn doubt(&mut self, unsure: Option<u32>) {
        self.unsure = unsure;
    }

    /// Ends the file, and puts it in its place. Returns its length.
    ///
    /// # Errors
    /// The disk is full, or fails; the old file is as it was.
    pub fn finish(mut self) -> Result<u64, DiskError> {
        self.flush()?;
        if let Some(serial) = self.unsure {
            self.frame(DOUBT, &[&serial.to_le_bytes()])?;
        }
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

/// Writes the folder of a file to the disk, so that its new name is there after a crash.
fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => File::open(".")?.sync_all(),
    }
}
