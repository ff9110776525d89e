//! Registered hashes by their id, over batches of keys.
//!
//! With the feature `widths`, SipHash and jhash take rows of the widths of addresses and tuples as words,
//! eight in a vector, and CRC32C takes such rows one by one, without a branch. SipHash and CRC32C take
//! [keys of any lengths](hashlane_hash::ragged) eight at once. All other keys are hashed one by one. The
//! results equal [`BytesHash::hash`].

#[cfg(feature = "widths")]
mod rows;
mod strings;

#[cfg(feature = "widths")]
pub use rows::WIDTHS;

use crate::error::Error;
use crate::keys::{Keys, Layout};
use core::fmt;
use hashlane_hash::crc32c::Crc32c;
use hashlane_hash::jhash::Jhash;
use hashlane_hash::scheme::{BytesHash, Key, Scheme, SchemeInfo};
use hashlane_hash::siphash::{SipHash13, SipHash24};
use std::sync::Arc;

/// Keys that are hashed at a time: their hashes stay in the first-level cache.
pub(crate) const BURST: usize = 1024;

/// Hashes rows of a width that it has a form for; returns false for others.
type Rows = dyn Fn(&[u8], usize, &mut [u64]) -> bool + Send + Sync;
/// Hashes keys of any lengths.
type Strings = dyn Fn(&Keys<'_>, &mut [u64]) + Send + Sync;

/// A registered hash under a key. Clones share its tables.
#[derive(Clone)]
pub struct Hasher {
    info: SchemeInfo,
    check: u64,
    rows: Option<Arc<Rows>>,
    strings: Arc<Strings>,
}

impl Hasher {
    /// The hash with this id of [`for_each_hash!`](hashlane_hash::for_each_hash), under `key`.
    ///
    /// # Errors
    /// No hash has the id.
    pub fn new(id: &str, key: &Key) -> Result<Self, Error> {
        by_id(id, key).ok_or_else(|| Error::UnknownScheme { id: id.chars().take(64).collect() })
    }

    /// A hash of another crate under `key`, one key after another.
    pub fn of<H: Scheme + BytesHash + Send + Sync + 'static>(key: &Key) -> Self {
        Self::with::<H>(key, None, strings::one_by_one(H::new(key)))
    }

    fn with<H: Scheme>(key: &Key, rows: Option<Arc<Rows>>, strings: Arc<Strings>) -> Self {
        Self { info: H::INFO, check: check(key), rows, strings }
    }

    /// Facts about the hash.
    pub fn info(&self) -> &SchemeInfo {
        &self.info
    }

    /// Number by which two sketches tell that they have one key; see [`check`].
    pub(crate) fn check(&self) -> u64 {
        self.check
    }

    /// Writes the hash of each key to its place in `out`. Keys beyond the length of `out` are ignored, and
    /// places beyond the number of keys unchanged.
    pub fn hash(&self, keys: &Keys<'_>, out: &mut [u64]) {
        let keys = &keys.as_rows();
        if let (Some(rows), Layout::Rows { bytes, width }) = (&self.rows, keys.layout())
            && rows(bytes, width, out)
        {
            return;
        }
        (self.strings)(keys, out);
    }

    /// Passes the hashes of the keys to `each`, in order, at most [`BURST`] at a time.
    pub(crate) fn for_each(&self, keys: Keys<'_>, mut each: impl FnMut(Keys<'_>, &[u64])) {
        let mut hashes = [0; BURST];
        for keys in keys.chunks(BURST) {
            self.hash(&keys, &mut hashes);
            each(keys, hashes.get(..keys.len()).unwrap_or_default());
        }
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hasher({})", self.info.id)
    }
}

/// Number that follows from the key alone, and from which the key does not follow: 64 bits of a key derived
/// for this purpose.
pub(crate) fn check(key: &Key) -> u64 {
    key.derive(b"sketches", 0).halves().0
}

/// Facts about the hash with this id, whatever its key.
pub fn info(id: &str) -> Option<SchemeInfo> {
    macro_rules! find {
        ($($group:ident: $($hash:ty),*;)*) => {
            [$($(<$hash>::INFO),*),*].into_iter().find(|info| info.id == id)
        };
    }
    hashlane_hash::for_each_hash!(find)
}

/// Ids of all hashes that [`Hasher::new`] knows.
pub fn ids() -> impl Iterator<Item = &'static str> {
    macro_rules! list {
        ($($group:ident: $($hash:ty),*;)*) => { [$($(<$hash>::INFO.id),*),*].into_iter() };
    }
    hashlane_hash::for_each_hash!(list)
}

/// Without a form for rows: they are hashed as strings are.
#[cfg(not(feature = "widths"))]
mod rows {
    use super::{Arc, Rows};

    pub(super) fn of<H>(_: H) -> Option<Arc<Rows>> {
        None
    }

    pub(super) fn one_by_one<H>(_: H) -> Option<Arc<Rows>> {
        None
    }
}

/// The hash with this id of [`for_each_hash!`](hashlane_hash::for_each_hash) in its fastest form.
fn by_id(id: &str, key: &Key) -> Option<Hasher> {
    let has = |info: SchemeInfo| info.id == id;
    macro_rules! in_lanes {
        ($($hash:ty),*) => {
            $(if has(<$hash>::INFO) {
                let hash = <$hash>::new(key);
                return Some(Hasher::with::<$hash>(key, rows::of(hash.clone()), strings::in_lanes(hash)));
            })*
        };
    }
    in_lanes!(SipHash13, SipHash24);
    if has(Jhash::INFO) {
        let (rows, strings) = (rows::of(Jhash::new(key)), strings::one_by_one(Jhash::new(key)));
        return Some(Hasher::with::<Jhash>(key, rows, strings));
    }
    if has(Crc32c::INFO) {
        let hash = Crc32c::new(key);
        let rows = rows::one_by_one(hash);
        return Some(Hasher::with::<Crc32c>(key, rows, strings::in_lanes(hash)));
    }
    macro_rules! find {
        ($($group:ident: $($hash:ty),*;)*) => {
            $($(if has(<$hash>::INFO) {
                return Some(Hasher::of::<$hash>(key));
            })*)*
        };
    }
    hashlane_hash::for_each_hash!(find);
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// The hash of each key by itself.
    fn naive(id: &str, key: &Key, keys: &Keys<'_>) -> Vec<u64> {
        macro_rules! find {
            ($($group:ident: $($hash:ty),*;)*) => {
                $($(if id == <$hash>::INFO.id {
                    let hash = <$hash>::new(key);
                    return keys.iter().map(|key| hash.hash(key)).collect();
                })*)*
            };
        }
        hashlane_hash::for_each_hash!(find);
        panic!("no hash {id}");
    }

    fn agrees(key: &Key, keys: &Keys<'_>) {
        for id in ids() {
            let hasher = Hasher::new(id, key).unwrap();
            let expected = naive(id, key, keys);
            let mut out = vec![7; keys.len() + 3];
            hasher.hash(keys, &mut out);
            assert_eq!(out[..keys.len()], expected, "{id}");
            assert_eq!(out[keys.len()..], [7; 3], "{id}");
            let short = keys.len() / 2;
            out.fill(7);
            hasher.hash(keys, &mut out[..short]);
            assert_eq!(out[..short], expected[..short], "{id}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn hashes_rows_as_their_bytes(
            key: [u8; 16],
            bytes in vec(any::<u8>(), 0..3000),
            width in 1..80usize,
        ) {
            for width in [width, 36] {
                let whole = &bytes[..bytes.len() / width * width];
                agrees(&Key::new(key), &Keys::rows(whole, width).unwrap());
            }
        }

        #[test]
        fn hashes_strings_as_their_bytes(
            key: [u8; 16],
            lengths in vec(0..90usize, 0..140),
            long in 0..1200usize,
        ) {
            let mut offsets = vec![3_i32];
            for length in lengths.into_iter().chain([long, 2]) {
                offsets.push(offsets.last().unwrap() + length as i32);
            }
            let bytes: Vec<u8> = (0..*offsets.last().unwrap()).map(|i| ((i * i) >> 3) as u8).collect();
            agrees(&Key::new(key), &Keys::offsets32(&offsets, &bytes).unwrap());
        }
    }

    #[cfg(feature = "widths")]
    #[test]
    fn every_width_with_a_form_is_hashed_as_its_bytes() {
        let bytes: Vec<u8> = (0..64 * 70_u32).map(|i| ((i * i) >> 5) as u8).collect();
        for width in WIDTHS {
            let keys = Keys::rows(&bytes[..70 * width], width).unwrap();
            agrees(&Key::VECTOR, &keys);
        }
    }

    #[test]
    fn an_unknown_hash_is_named() {
        let error = Hasher::new("md5", &Key::VECTOR).unwrap_err();
        assert_eq!(error, Error::UnknownScheme { id: "md5".into() });
        assert_eq!(ids().filter(|id| info(id).is_none()).count(), 0);
    }
}
