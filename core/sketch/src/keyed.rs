//! The hash of a sketch and its key, which stays out of the bytes.

use crate::error::{Error, ReadError, alike};
use crate::hasher::{self, Hasher};
use crate::wire::{Reader, Writer};
use hashlane_hash::scheme::{Key, SchemeInfo};

/// Longest id of a hash.
const MOST_ID: usize = 64;

/// A hash by its id, the number by which its key is recognised, and the hash itself unless the sketch was
/// read from bytes.
#[derive(Clone, Debug)]
pub(crate) struct Keyed {
    info: SchemeInfo,
    check: u64,
    hasher: Option<(Hasher, Key)>,
}

impl Keyed {
    pub(crate) fn new(id: &str, key: &Key) -> Result<Self, Error> {
        let hasher = Hasher::new(id, key)?;
        Ok(Self { info: *hasher.info(), check: hasher.check(), hasher: Some((hasher, *key)) })
    }

    pub(crate) fn info(&self) -> &SchemeInfo {
        &self.info
    }

    pub(crate) fn hasher(&self) -> Result<&Hasher, Error> {
        self.hasher.as_ref().map(|(hasher, _)| hasher).ok_or(Error::NoKey)
    }

    pub(crate) fn key(&self) -> Result<&Key, Error> {
        self.hasher.as_ref().map(|(_, key)| key).ok_or(Error::NoKey)
    }

    /// Gives the hash its key.
    pub(crate) fn resume(&mut self, key: &Key) -> Result<(), Error> {
        if hasher::check(key) != self.check {
            return Err(Error::WrongKey);
        }
        self.hasher = Some((Hasher::new(self.info.id, key)?, *key));
        Ok(())
    }

    /// Checks that both hash alike.
    pub(crate) fn alike(&self, other: &Self) -> Result<(), Error> {
        alike("hash", self.info.id, other.info.id)?;
        alike("key", format!("{:016x}", self.check), format!("{:016x}", other.check))
    }

    pub(crate) fn write(&self, to: &mut Writer) {
        to.string(self.info.id.as_bytes());
        to.word(self.check);
    }

    pub(crate) fn read(from: &mut Reader<'_>) -> Result<Self, ReadError> {
        let at = from.at();
        let id = str::from_utf8(from.string("id of the hash", MOST_ID)?).ok();
        let info = id.and_then(hasher::info).ok_or(ReadError::Field { field: "id of the hash", at })?;
        Ok(Self { info, check: from.word()?, hasher: None })
    }

    /// Reads the hash of a sketch that has this one only.
    pub(crate) fn read_as(from: &mut Reader<'_>, id: &str) -> Result<Self, ReadError> {
        let at = from.at();
        let read = Self::read(from)?;
        if read.info.id == id { Ok(read) } else { Err(ReadError::Field { field: "id of the hash", at }) }
    }
}
