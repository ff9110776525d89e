//! Hash functions of shared objects as subjects.

use super::machine_code;
use super::process::{Launcher, Session, foreign_reply};
use super::signature::Signature;
use super::wire::{Guard, Reply, Request};
use crate::constants::Constants;
use crate::keys::Keys;
use crate::subject::{AuditedHash, Fault, Lengths, SubjectInfo};
use hashlane_hash::scheme::{Key, Keying};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Most keys of a batch, and most bytes of them.
const MOST_KEYS: usize = 1 << 16;
const MOST_BYTES: usize = 4 << 20;

/// Longest key in bytes.
const LONGEST_KEY: usize = 1 << 20;

/// A hash function of a shared object, in a separate process.
///
/// A function that crashes, hangs or disturbs its process is a [`Fault`]. The next call starts a new process;
/// after four of them, the last fault is returned at once. The process ends with the thread that made the
/// first call after a fault, or called [`load`](Self::load): use a library from one thread.
#[derive(Debug)]
pub struct Library {
    session: Session,
    info: SubjectInfo,
    path: PathBuf,
}

impl Library {
    /// Loads the library at `path` and finds the function `symbol` of type `signature`, which hashes keys of
    /// `lengths`; an integer has the length of its type. Neither loading nor hashing 65,536 keys may take
    /// longer than `limit`.
    ///
    /// # Errors
    /// The library cannot be loaded, or has no such symbol; or the signature has no length, and `lengths` are
    /// any; or it takes an integer of another length.
    pub fn load(
        launcher: Launcher,
        path: &Path,
        symbol: &str,
        signature: &Signature,
        lengths: Lengths,
        limit: Duration,
    ) -> Result<Self, Fault> {
        let lengths = match (signature.integer_bytes(), lengths) {
            (Some(bytes), Lengths::Exactly(other)) if other != bytes => {
                return Err(Fault::Unusable(format!(
                    "{symbol} takes an integer ({signature}): its keys have {bytes} bytes, not {other}"
                )));
            }
            (Some(bytes), _) => Lengths::Exactly(bytes),
            (None, Lengths::Any) if !signature.has_length() => {
                return Err(Fault::Unusable(format!(
                    "{symbol} takes no length ({signature}): state the bytes of a key"
                )));
            }
            (None, lengths) => lengths,
        };
        let load = Request::LoadHash {
            parent: std::process::id(),
            path: absolute(path)?,
            symbol: symbol.to_owned(),
            signature: signature.to_string(),
        };
        let keying = match signature.seed_bits() {
            0 => Keying::None,
            bits if signature.has_secret() => Keying::Secret(bits),
            bits => Keying::Seed(bits),
        };
        let info = SubjectInfo {
            id: symbol.to_owned(),
            source: path.display().to_string(),
            width: signature.width(),
            keying,
            lengths,
        };
        Ok(Self { session: Session::start(launcher, load, limit)?, info, path: path.to_owned() })
    }

    /// As [`hash_all`](Subject::hash_all); the bytes after the guarded arguments cannot be read.
    fn hash_batches(
        &mut self,
        key: &Key,
        keys: &Keys,
        guard: Guard,
        hashes: &mut Vec<u64>,
    ) -> Result<(), Fault> {
        hashes.clear();
        for batch in batches(keys) {
            let batch = batch.map_err(Fault::Length)?;
            self.check_lengths(&batch)?;
            let count = batch.len();
            let request = Request::Hash { seed: key.to_bytes(), guard, keys: batch };
            match self.session.ask(&request)? {
                Reply::Hashes(some) if some.len() == count => hashes.extend(some),
                _ => return Err(foreign_reply()),
            }
        }
        Ok(())
    }

    /// True if the function crashes with this guard, and without it does not.
    fn crashes(&mut self, key: &Key, keys: &Keys, guard: Guard) -> Result<bool, Fault> {
        let mut hashes = Vec::new();
        self.hash_batches(key, keys, Guard::Nothing, &mut hashes)?;
        match self.hash_batches(key, keys, guard, &mut hashes) {
            Ok(()) => Ok(false),
            Err(Fault::Crashed(_)) => {
                // The crash was asked for.
                self.session.forgive();
                Ok(true)
            }
            Err(fault) => Err(fault),
        }
    }

    fn check_lengths(&self, keys: &Keys) -> Result<(), Fault> {
        let other = match self.info.lengths {
            Lengths::Any => None,
            Lengths::Exactly(len) => keys.iter().map(<[u8]>::len).find(|other| *other != len),
        };
        other.map_or(Ok(()), |len| Err(Fault::Length(len)))
    }
}

impl AuditedHash for Library {
    fn info(&self) -> &SubjectInfo {
        &self.info
    }

    fn hash_all(&mut self, key: &Key, keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault> {
        self.hash_batches(key, keys, Guard::Nothing, hashes)
    }

    fn hash_under_all(&mut self, seeds: &[Key], keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault> {
        hashes.clear();
        self.check_lengths(keys)?;
        let bytes: usize = keys.iter().map(<[u8]>::len).sum();
        let each = (MOST_KEYS / keys.len().max(1)).min(MOST_BYTES / bytes.max(1)).max(1);
        for seeds in seeds.chunks(each) {
            if bytes > MOST_BYTES || keys.len() > MOST_KEYS {
                let mut of_seed = Vec::new();
                self.hash_all(&seeds[0], keys, &mut of_seed)?;
                hashes.append(&mut of_seed);
                continue;
            }
            let request = Request::HashUnderAll {
                seeds: seeds.iter().map(|seed| seed.to_bytes()).collect(),
                keys: keys.clone(),
            };
            match self.session.ask(&request)? {
                Reply::Hashes(some) if some.len() == seeds.len() * keys.len() => hashes.extend(some),
                _ => return Err(foreign_reply()),
            }
        }
        Ok(())
    }

    fn constants(&self) -> Option<Constants> {
        machine_code::constants(&self.path, &self.info.id)
    }

    fn reads_beyond_end(&mut self, key: &Key, keys: &Keys) -> Result<bool, Fault> {
        self.crashes(key, keys, Guard::Keys)
    }

    fn reads_beyond_seed(&mut self, key: &Key, keys: &Keys) -> Result<bool, Fault> {
        self.crashes(key, keys, Guard::Seed)
    }
}

/// The absolute path: `dlopen` searches names without a slash elsewhere.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, Fault> {
    let failed = |error: io::Error| Fault::Unusable(format!("cannot load {}: {error}", path.display()));
    let absolute = path.canonicalize().map_err(failed)?;
    match absolute.metadata() {
        Ok(file) if file.is_file() => Ok(absolute),
        Ok(_) => Err(Fault::Unusable(format!("cannot load {}: not a file", path.display()))),
        Err(error) => Err(failed(error)),
    }
}

/// The keys in batches; an error is the length of a key that is too long.
pub(super) fn batches(keys: &Keys) -> impl Iterator<Item = Result<Keys, usize>> + '_ {
    let mut keys = keys.iter().peekable();
    std::iter::from_fn(move || {
        let (mut batch, mut bytes) = (Keys::default(), 0);
        while batch.len() < MOST_KEYS
            && let Some(key) = keys.next_if(|key| bytes == 0 || bytes + key.len() <= MOST_BYTES)
        {
            if key.len() > LONGEST_KEY {
                return Some(Err(key.len()));
            }
            bytes += key.len();
            batch.push(key);
        }
        (!batch.is_empty()).then_some(Ok(batch))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_hold_all_keys_in_order() {
        let keys: Keys = (0..MOST_KEYS as u32 * 2 + 3).map(u32::to_le_bytes).collect();
        let parts: Vec<Keys> = batches(&keys).map(Result::unwrap).collect();
        assert_eq!(parts.iter().map(Keys::len).collect::<Vec<_>>(), [MOST_KEYS, MOST_KEYS, 3]);
        assert!(parts.iter().flat_map(Keys::iter).eq(keys.iter()));
        let long: Keys =
            [vec![0; LONGEST_KEY], vec![0; LONGEST_KEY], vec![0; LONGEST_KEY + 1]].iter().collect();
        assert_eq!(batches(&long).last(), Some(Err(LONGEST_KEY + 1)));
        let full: Keys = std::iter::repeat_n(vec![0; LONGEST_KEY], 9).collect();
        assert_eq!(batches(&full).map(|batch| batch.unwrap().len()).collect::<Vec<_>>(), [4, 4, 1]);
        assert_eq!(batches(&Keys::default()).count(), 0);
    }
}
