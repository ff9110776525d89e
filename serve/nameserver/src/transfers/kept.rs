//! The file of a received zone, as far as it is written.

use crate::zones::Bases;
use hashlane_dns::zone::Zone;
use hashlane_hash::scheme::Key;
use hashlane_name::dns::NameBuf;
use hashlane_transfer::delta::Delta;
use hashlane_transfer::disk::{self, DiskError, Loaded, Writer};
use hashlane_transfer::records::of_zone;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bytes of differences that every file may have.
const SMALL: u64 = 1 << 20;

/// A file with a zone. Its differences are at most half as long as the whole zone before them, or 1 MiB.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    path: PathBuf,
    /// Bytes that count; `None` if the file does not hold the version in service.
    len: Option<u64>,
    /// Bytes of the whole zone before the differences.
    whole: u64,
    /// Versions from which differences may lead: what is written notes the others.
    bases: Bases,
    /// The last error.
    error: Option<String>,
}

impl Kept {
    /// A file that holds nothing of use.
    pub(crate) fn nothing(path: PathBuf) -> Self {
        Self { path, len: None, whole: 0, bases: Bases::default(), error: None }
    }

    /// A file that was read.
    pub(crate) fn loaded(path: PathBuf, loaded: &Loaded) -> Self {
        let bases = Bases::new(loaded.unsure);
        Self { path, len: Some(loaded.len), whole: loaded.whole, bases, error: None }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Versions from which differences may lead.
    pub(crate) fn bases(&self) -> Bases {
        self.bases
    }

    /// Notes a whole zone that comes after another one, before it is in its file.
    pub(crate) fn note(&mut self, old: Option<&Zone>, new: &Zone, key: &Key) {
        self.bases.note(old, new, key);
    }

    /// Ends the file of a whole zone, and puts it in its place.
    ///
    /// # Errors
    /// The disk is full, or fails.
    pub(crate) fn replace(&mut self, mut writer: Writer) -> Result<(), DiskError> {
        writer.doubt(self.bases.unsure());
        let len = writer.finish()?;
        (self.len, self.whole, self.error) = (Some(len), len, None);
        Ok(())
    }

    /// The reason for which the file does not hold the version in service.
    pub(crate) fn error(&self) -> Option<String> {
        self.error.clone()
    }

    /// Notes that the version in service could not be written.
    pub(crate) fn failed(&mut self, zone: &NameBuf, error: &DiskError) {
        tracing::error!(%zone, %error, "the zone is in service, but not on the disk; the next refresh tries again");
        (self.len, self.error) = (None, Some(error.to_string()));
    }

    /// Appends differences, or writes the whole zone that they lead to if they are many, or if the file has
    /// gone.
    ///
    /// # Errors
    /// The disk is full, or fails.
    pub(crate) fn add(&mut self, zone: &Zone, deltas: &[Delta]) -> Result<(), DiskError> {
        let more: u64 = deltas.iter().map(|delta| delta.bytes() as u64).sum();
        let Some(len) = self.len.take() else { return self.write(zone) };
        if len - self.whole + more > (self.whole / 2).max(SMALL) {
            return self.write(zone);
        }
        match deltas.iter().try_fold(len, |len, delta| disk::append(&self.path, len, delta)) {
            Ok(len) => {
                self.len = Some(len);
                Ok(())
            }
            Err(_) => self.write(zone),
        }
    }

    /// Writes a version that could not be written before.
    pub(crate) fn catch_up(&mut self, apex: &NameBuf, zone: &Zone) {
        if self.len.is_none()
            && let Err(error) = self.write(zone)
        {
            self.failed(apex, &error);
        }
    }

    fn write(&mut self, zone: &Zone) -> Result<(), DiskError> {
        let mut writer = Writer::create(&self.path)?;
        of_zone(zone, |_, record| writer.push(&record))?;
        self.replace(writer)
    }

    /// Removes the file of a zone that is not served any more.
    pub(crate) fn remove(&self, apex: &NameBuf) {
        if let Err(error) = std::fs::remove_file(&self.path)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(zone = %apex, %error, "the file of a zone that has gone stays");
        }
    }

    /// Notes that a primary has confirmed the version now.
    pub(crate) fn confirm(&self) {
        if self.len.is_some()
            && let Err(error) = disk::confirm(&self.path, SystemTime::now())
        {
            tracing::warn!(%error, "the time of the last check is not kept");
        }
    }
}
