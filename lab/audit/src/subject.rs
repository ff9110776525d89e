//! A hash function under audit.

use crate::constants::Constants;
use crate::epsilon::vectors::hex;
use crate::keys::Keys;
use hashlane_hash::scheme::{Key, Keying};

/// Lengths of the keys that a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// Any length.
    Any,
    /// Keys of this many bytes and no others.
    Exactly(usize),
}

/// Facts about a function under audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectInfo {
    /// Name of the function, for example `xxh3`, in reports.
    pub id: String,
    /// Definition of the function: RFC, paper, kernel file, crate with its version, path of a library.
    pub source: String,
    /// Bits of the result that carry information, from 1 to 64. The rest of a hash is 0.
    pub width: u32,
    /// Part of the key that reaches the result, as its author states it.
    pub keying: Keying,
    /// Lengths of its keys.
    pub lengths: Lengths,
}

impl SubjectInfo {
    /// The part of a seed that the function takes: a number for up to 64 bits, else 16 bytes in hexadecimal
    /// digits.
    pub fn seed_text(&self, seed: &Key) -> String {
        match self.keying {
            Keying::Seed(bits @ 1..=64) | Keying::Secret(bits @ 1..=64) => {
                format!("{:#x}", seed.halves().0 & (u64::MAX >> (64 - bits)))
            }
            Keying::None | Keying::Seed(_) | Keying::Secret(_) => hex(&seed.to_bytes()),
        }
    }
}

/// A hash function under audit, possibly in another process.
pub trait AuditedHash {
    /// Facts about the function.
    fn info(&self) -> &SubjectInfo;

    /// Hashes all `keys` under the seed `key`: `hashes` is cleared, and then has as many values as there are
    /// keys.
    ///
    /// # Errors
    /// The function has failed. `hashes` is then of no use.
    fn hash_all(&mut self, key: &Key, keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault>;

    /// Hashes all `keys` under each of `seeds`: `hashes` is cleared, and then has the hashes of the first
    /// seed, of the next, and so on. A function in another process answers many seeds at a time.
    ///
    /// # Errors
    /// As above.
    fn hash_under_all(&mut self, seeds: &[Key], keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault> {
        hashes.clear();
        let mut of_seed = Vec::new();
        for seed in seeds {
            self.hash_all(seed, keys, &mut of_seed)?;
            hashes.append(&mut of_seed);
        }
        Ok(())
    }

    /// Constants of the function, if its machine code or its source is at hand. An attacker has them, too.
    fn constants(&self) -> Option<Constants> {
        None
    }

    /// True if the function reads beyond the end of its keys, which only foreign functions can: it hashes
    /// them all in the middle of memory, and crashes if a page that cannot be read begins at their end.
    ///
    /// # Errors
    /// The function fails also in the middle of memory, or fails otherwise than by a crash.
    fn reads_beyond_end(&mut self, _key: &Key, _keys: &Keys) -> Result<bool, Fault> {
        Ok(false)
    }

    /// True if the function reads beyond the 16 bytes of a seed that is passed by a pointer, found in the
    /// same manner.
    ///
    /// # Errors
    /// As above.
    fn reads_beyond_seed(&mut self, _key: &Key, _keys: &Keys) -> Result<bool, Fault> {
        Ok(false)
    }
}

/// Failure of a function under audit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It has ended its process: the signal or the exit status, in words.
    #[error("the function has ended its process: {0}")]
    Crashed(String),
    /// It has not returned within this many seconds.
    #[error("the function has not returned within {0} s")]
    Hung(u64),
    /// It does not take a key of this many bytes.
    #[error("the function takes no key of {0} bytes")]
    Length(usize),
    /// It is a table that does not hold the keys that it has taken, or takes none: the reason.
    #[error("{0}")]
    LosesKeys(String),
    /// It could not be run at all: the reason, and the next step.
    #[error("{0}")]
    Unusable(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_numbers_where_the_function_takes_a_number() {
        let info = |keying| SubjectInfo {
            id: "mine".to_owned(),
            source: "a test".to_owned(),
            width: 64,
            keying,
            lengths: Lengths::Any,
        };
        let seed = Key::new(0x0123_4567_89ab_cdef_u128.to_le_bytes());
        assert_eq!(info(Keying::Seed(64)).seed_text(&seed), "0x123456789abcdef");
        assert_eq!(info(Keying::Secret(32)).seed_text(&seed), "0x89abcdef");
        assert_eq!(info(Keying::Seed(128)).seed_text(&seed), "efcdab89674523010000000000000000");
    }
}
