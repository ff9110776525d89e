//! A function whose keys have one length, or whose seed has fewer bits than its type.

use crate::constants::Constants;
use crate::keys::Keys;
use crate::subject::{AuditedHash, Fault, Lengths, SubjectInfo};
use hashlane_hash::scheme::{Key, Keying};
use std::collections::BTreeMap;

/// A function that is asked for keys of one length alone, under seeds of few bits.
///
/// Everything that audits it sees the narrower function: no attack can use a key of another length, and no
/// seed has a bit above the stated ones.
pub(crate) struct Narrowed<'a> {
    subject: &'a mut dyn AuditedHash,
    info: SubjectInfo,
    seed_bits: Option<u32>,
    /// Keys hashed, by their lengths.
    hashed: BTreeMap<usize, u64>,
}

/// Keys of one length, at least, for the length to count as tried.
const TRIED: u64 = 256;

impl<'a> Narrowed<'a> {
    /// `subject` with keys of `length` bytes, unless its keys have one length already, and with a seed of
    /// `seed_bits` bits. `None` leaves either as it is.
    pub(crate) fn new(
        subject: &'a mut dyn AuditedHash,
        length: Option<usize>,
        seed_bits: Option<u32>,
    ) -> Self {
        let mut info = subject.info().clone();
        if let (Lengths::Any, Some(length)) = (info.lengths, length) {
            info.lengths = Lengths::Exactly(length);
        }
        if let Some(bits) = seed_bits {
            info.keying = match info.keying {
                Keying::None => Keying::None,
                Keying::Seed(stated) => Keying::Seed(stated.min(bits)),
                Keying::Secret(stated) => Keying::Secret(stated.min(bits)),
            };
        }
        Self { subject, info, seed_bits, hashed: BTreeMap::new() }
    }

    /// Lengths with many hashed keys.
    pub(crate) fn lengths(&self) -> Vec<usize> {
        self.hashed.iter().filter(|(_, keys)| **keys >= TRIED).map(|(length, _)| *length).collect()
    }

    fn count(&mut self, keys: &Keys) {
        let (mut length, mut equal) = (0, 0);
        for key in keys.iter() {
            if key.len() != length && equal > 0 {
                *self.hashed.entry(length).or_default() += core::mem::take(&mut equal);
            }
            (length, equal) = (key.len(), equal + 1);
        }
        *self.hashed.entry(length).or_default() += equal;
    }

    fn check(&self, keys: &Keys) -> Result<(), Fault> {
        match self.info.lengths {
            Lengths::Any => Ok(()),
            Lengths::Exactly(length) => match keys.iter().find(|key| key.len() != length) {
                Some(other) => Err(Fault::Length(other.len())),
                None => Ok(()),
            },
        }
    }
}

/// `seed` without its bits above the lowest `bits`, which are 0; all of it if `None`.
pub(crate) fn narrowed_seed(seed: &Key, bits: Option<u32>) -> Key {
    let kept = 128_u32.saturating_sub(bits.unwrap_or(128));
    let mask = u128::MAX.checked_shr(kept).unwrap_or(0);
    Key::new((u128::from_le_bytes(seed.to_bytes()) & mask).to_le_bytes())
}

impl AuditedHash for Narrowed<'_> {
    fn info(&self) -> &SubjectInfo {
        &self.info
    }

    fn hash_all(&mut self, key: &Key, keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault> {
        self.check(keys)?;
        self.count(keys);
        self.subject.hash_all(&narrowed_seed(key, self.seed_bits), keys, hashes)
    }

    fn hash_under_all(&mut self, seeds: &[Key], keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault> {
        self.check(keys)?;
        let seeds: Vec<Key> = seeds.iter().map(|seed| narrowed_seed(seed, self.seed_bits)).collect();
        self.subject.hash_under_all(&seeds, keys, hashes)
    }

    fn constants(&self) -> Option<Constants> {
        self.subject.constants()
    }

    fn reads_beyond_end(&mut self, key: &Key, keys: &Keys) -> Result<bool, Fault> {
        self.check(keys)?;
        self.subject.reads_beyond_end(&narrowed_seed(key, self.seed_bits), keys)
    }

    fn reads_beyond_seed(&mut self, key: &Key, keys: &Keys) -> Result<bool, Fault> {
        self.check(keys)?;
        self.subject.reads_beyond_seed(&narrowed_seed(key, self.seed_bits), keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registered::subjects;

    #[test]
    fn other_lengths_are_refused_and_high_bits_of_the_seed_are_zero() {
        let mut subjects = subjects();
        let jhash = subjects.iter_mut().find(|subject| subject.info().id == "jhash").unwrap();
        let (mut wide, mut narrow) = (Vec::new(), Vec::new());
        let keys: Keys = ["eight by"].into_iter().collect();
        jhash.hash_all(&Key::new([0xff; 16]), &keys, &mut wide).unwrap();
        let mut of = |length, bits, key: &Key, keys: &Keys| {
            Narrowed::new(jhash, length, bits).hash_all(key, keys, &mut narrow).map(|()| narrow.clone())
        };
        let ones = Key::new([0xff; 16]);
        assert_eq!(of(Some(8), None, &ones, &keys), Ok(wide.clone()));
        assert_eq!(of(Some(9), None, &ones, &keys), Err(Fault::Length(8)));
        let low = Key::new(0xfff_u128.to_le_bytes());
        assert_eq!(of(None, Some(12), &ones, &keys), of(None, None, &low, &keys));
        assert_ne!(of(None, Some(12), &ones, &keys), Ok(wide));
        let many: Keys = (0..TRIED as u32).map(|number| number.to_le_bytes()).chain([[0; 4]]).collect();
        let (mut counted, mut hashes) = (Narrowed::new(jhash, None, None), Vec::new());
        counted.hash_all(&ones, &["a", "bc"].into_iter().collect(), &mut hashes).unwrap();
        counted.hash_all(&ones, &many, &mut hashes).unwrap();
        assert_eq!(counted.lengths(), [4]);
        assert_eq!(narrowed_seed(&ones, Some(0)), Key::new([0; 16]));
        assert_eq!(narrowed_seed(&ones, Some(128)), ones);
    }
}
