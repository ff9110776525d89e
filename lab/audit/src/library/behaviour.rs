//! Treatment of arguments by a function: the same hash for the same key, its length, its seed.

use crate::keys::Keys;
use crate::subject::{AuditedHash, Fault, Lengths};
use core::fmt;
use hashlane_hash::scheme::{Key, Keying};

/// A fault of a function that returns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Behaviour {
    /// It crashes if the byte after its key cannot be read.
    ReadsBeyondEnd,
    /// It crashes if the byte after its seed of 16 bytes cannot be read.
    ReadsBeyondSeed,
    /// The same key has another hash in a later call.
    NotDeterministic,
    /// The hash of a key depends on the keys that were hashed before it, or lie beside it in memory.
    DependsOnOtherKeys,
    /// Prefixes of the same bytes, of a quarter of them and more, have one hash.
    IgnoresLength,
    /// All seeds that were tried give the same hashes.
    IgnoresSeed,
    /// Only so many bits of its seed change any hash.
    IgnoresSeedBits {
        /// Bits that change a hash.
        used: u32,
        /// Bits of the seed.
        stated: u32,
    },
}

impl fmt::Display for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReadsBeyondEnd => f.write_str("reads beyond the end of its key"),
            Self::ReadsBeyondSeed => f.write_str("reads beyond the 16 bytes of its seed"),
            Self::NotDeterministic => {
                f.write_str("not deterministic: the same key has another hash in a later call")
            }
            Self::DependsOnOtherKeys => f.write_str(
                "the hash of a key depends on other keys, hashed before it or beside it in memory",
            ),
            Self::IgnoresLength => {
                f.write_str("ignores its length: prefixes of the same bytes have one hash")
            }
            Self::IgnoresSeed => f.write_str("ignores its seed: every seed gives the same hashes"),
            Self::IgnoresSeedBits { used, stated } => {
                write!(f, "ignores a part of its seed: {used} of {stated} bits change a hash")
            }
        }
    }
}

/// Bytes of the keys of functions that take any length.
const LEN: usize = 36;

/// Keys of a check.
const KEYS: u64 = 64;

/// Checks a function with pseudorandom keys and seeds that follow from `seed`.
///
/// # Errors
/// The function has failed.
pub fn check<S: AuditedHash + ?Sized>(subject: &mut S, seed: &Key) -> Result<Vec<Behaviour>, Fault> {
    let keys = sample_keys(subject.info().lengths, seed, 0);
    let of_key = subject.reads_beyond_end(seed, &keys)?.then_some(Behaviour::ReadsBeyondEnd);
    let of_seed = subject.reads_beyond_seed(seed, &keys)?.then_some(Behaviour::ReadsBeyondSeed);
    let beyond = of_key.into_iter().chain(of_seed);
    let first = hashes(subject, seed, &keys)?;
    if hashes(subject, seed, &keys)? != first {
        // The other checks compare hashes, and would report this again.
        return Ok(beyond.chain([Behaviour::NotDeterministic]).collect());
    }
    // A function that ignores its length hashes the next key, too.
    let found = if ignores_length(subject, seed)? {
        Some(Behaviour::IgnoresLength)
    } else {
        depends_on_others(subject, seed, &keys, &first)?.then_some(Behaviour::DependsOnOtherKeys)
    };
    let seed = check_seed(subject, seed)?;
    Ok(beyond.chain(found).chain(seed).collect())
}

/// Hashes of some keys under `seed`, to be compared with a later call's.
///
/// # Errors
/// The function has failed.
pub fn witness<S: AuditedHash + ?Sized>(subject: &mut S, seed: &Key) -> Result<Vec<u64>, Fault> {
    let keys = sample_keys(subject.info().lengths, seed, 0);
    hashes(subject, seed, &keys)
}

/// Keys of `set`, by SipHash-2-4.
fn sample_keys(lengths: Lengths, seed: &Key, set: u64) -> Keys {
    let len = match lengths {
        Lengths::Any => LEN,
        Lengths::Exactly(len) => len,
    };
    let blocks = len.div_ceil(16) as u64;
    (0..KEYS)
        .map(|number| {
            let first = (set * KEYS + number) * blocks;
            let bytes = (first..first + blocks).flat_map(|block| seed.derive(b"behavior", block).to_bytes());
            bytes.take(len).collect::<Vec<u8>>()
        })
        .collect()
}

fn hashes<S: AuditedHash + ?Sized>(subject: &mut S, seed: &Key, keys: &Keys) -> Result<Vec<u64>, Fault> {
    let mut hashes = Vec::new();
    subject.hash_all(seed, keys, &mut hashes)?;
    Ok(hashes)
}

/// Hashes the same keys again: in the opposite order, and each after another key.
fn depends_on_others<S: AuditedHash + ?Sized>(
    subject: &mut S,
    seed: &Key,
    keys: &Keys,
    first: &[u64],
) -> Result<bool, Fault> {
    let backwards: Vec<&[u8]> = (0..keys.len()).rev().filter_map(|number| keys.get(number)).collect();
    let reversed = hashes(subject, seed, &backwards.into_iter().collect())?;
    let others = sample_keys(subject.info().lengths, seed, 1);
    let between = others.iter().zip(keys.iter()).flat_map(|(other, key)| [other, key]).collect();
    let between = hashes(subject, seed, &between)?;
    Ok(!reversed.iter().rev().eq(first) || !between.iter().skip(1).step_by(2).eq(first))
}

/// Hashes prefixes of one row of bytes. The rest of the row is the next key, so that the memory of a library
/// holds the same bytes each time.
fn ignores_length<S: AuditedHash + ?Sized>(subject: &mut S, seed: &Key) -> Result<bool, Fault> {
    if subject.info().lengths != Lengths::Any {
        return Ok(false);
    }
    // No byte is 0, which may end a string.
    let row: Vec<u8> = sample_keys(Lengths::Any, seed, 2).iter().flatten().map(|byte| byte | 1).collect();
    let row = row.get(..LEN).unwrap_or(&row);
    let mut seen = None;
    for len in LEN / 4..row.len() {
        let (prefix, rest) = row.split_at(len);
        let hash = hashes(subject, seed, &[prefix, rest].into_iter().collect())?.first().copied();
        if *seen.get_or_insert(hash) != hash {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Flips each bit of the seed.
fn check_seed<S: AuditedHash + ?Sized>(subject: &mut S, seed: &Key) -> Result<Option<Behaviour>, Fault> {
    let stated = match subject.info().keying {
        Keying::None => return Ok(None),
        Keying::Seed(bits) | Keying::Secret(bits) => bits,
    };
    let keys = sample_keys(subject.info().lengths, seed, 3);
    let first = hashes(subject, seed, &keys)?;
    let mut used = 0;
    for bit in 0..128 {
        let flipped = Key::new((u128::from_le_bytes(seed.to_bytes()) ^ 1 << bit).to_le_bytes());
        used += u32::from(hashes(subject, &flipped, &keys)? != first);
    }
    Ok(match used {
        0 => Some(Behaviour::IgnoresSeed),
        used if used < stated => Some(Behaviour::IgnoresSeedBits { used, stated }),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registered;
    use crate::subject::SubjectInfo;

    /// A function of the number of the call, the seed and the keys.
    struct Plain<F> {
        info: SubjectInfo,
        calls: u64,
        hash: F,
    }

    fn check_plain(hash: impl Fn(u64, &Key, &[u8]) -> u64) -> Vec<Behaviour> {
        let info = SubjectInfo {
            id: "plain".into(),
            source: "here".into(),
            width: 64,
            keying: Keying::Seed(64),
            lengths: Lengths::Any,
        };
        check(&mut Plain { info, calls: 0, hash }, &Key::VECTOR).unwrap()
    }

    impl<F: Fn(u64, &Key, &[u8]) -> u64> AuditedHash for Plain<F> {
        fn info(&self) -> &SubjectInfo {
            &self.info
        }

        fn hash_all(&mut self, key: &Key, keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault> {
            hashes.clear();
            for bytes in keys.iter() {
                self.calls += 1;
                hashes.push((self.hash)(self.calls, key, bytes));
            }
            Ok(())
        }
    }

    fn sum(bytes: &[u8]) -> u64 {
        bytes.iter().fold(7, |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)))
    }

    #[test]
    fn each_behaviour_is_told_from_the_others() {
        let low = |key: &Key| key.halves().0;
        assert_eq!(check_plain(|_, key, bytes| low(key) ^ sum(bytes)), []);
        assert_eq!(check_plain(|call, _, bytes| call + sum(bytes)), [Behaviour::NotDeterministic]);
        // The same in every second batch of the same size, and of keys in the same places.
        assert_eq!(
            check_plain(|call, key, bytes| (call % 64 + low(key)) ^ sum(bytes)),
            [Behaviour::DependsOnOtherKeys]
        );
        assert_eq!(check_plain(|_, _, bytes| sum(bytes)), [Behaviour::IgnoresSeed]);
        assert_eq!(
            check_plain(|_, key, bytes| (low(key) & 0xffff) ^ sum(bytes)),
            [Behaviour::IgnoresSeedBits { used: 16, stated: 64 }]
        );
        assert_eq!(check_plain(|_, key, bytes| low(key) ^ u64::from(bytes[0])), [Behaviour::IgnoresLength]);
    }

    #[test]
    fn registered_hashes_behave() {
        for subject in &mut registered::subjects() {
            let found = check(subject, &Key::VECTOR).unwrap();
            assert_eq!(found, [], "{}", subject.info().id);
        }
    }
}
