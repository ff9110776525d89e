//! Keys of any lengths: eight at a time from where they lie, or one by one.

use super::Strings;
use crate::keys::{Keys, Layout};
use hashlane_hash::ragged::{self, Joined, RaggedHash};
use hashlane_hash::scheme::{BytesHash, BytesKernel};
use std::sync::Arc;

/// Eight keys or more at a time, from where they lie.
pub(super) fn in_lanes<H: RaggedHash + Send + Sync + 'static>(hash: H) -> Arc<Strings> {
    Arc::new(move |keys, out| match keys.layout() {
        Layout::Rows { bytes, width } => hash.hash_ragged(&Table { bytes, width }, out),
        Layout::Short { offsets, bytes } => hash.hash_ragged(&Joined { bytes, offsets }, out),
        Layout::Long { offsets, bytes } => hash.hash_ragged(&Joined { bytes, offsets }, out),
        Layout::Slices(keys) => hash.hash_ragged(keys, out),
    })
}

/// Rows of one width, one after another.
struct Table<'a> {
    bytes: &'a [u8],
    width: usize,
}

impl ragged::Keys for Table<'_> {
    type Eight<'a>
        = Self
    where
        Self: 'a;

    #[inline(always)]
    fn count(&self) -> usize {
        self.bytes.len() / self.width
    }

    #[inline(always)]
    fn key(&self, place: usize) -> &[u8] {
        let from = place.saturating_mul(self.width);
        self.bytes.get(from..from.saturating_add(self.width)).unwrap_or_default()
    }

    #[inline(always)]
    fn eight(&self, first: usize) -> Option<Self> {
        let from = first.checked_mul(self.width)?;
        let bytes = self.bytes.get(from..from.checked_add(8 * self.width)?)?;
        Some(Self { bytes, width: self.width })
    }

    #[inline(always)]
    fn each_part(&self, first: usize, count: usize, mut each: impl FnMut(&[u8])) {
        let at = |row: usize| row.saturating_mul(self.width);
        each(self.bytes.get(at(first)..at(first + count)).unwrap_or_default());
    }

    #[inline(always)]
    fn joined<const G: usize>(&self, first: usize, before: usize, lengths: &mut [u64; G]) -> Option<&[u8]> {
        lengths.fill(self.width as u64);
        let from = first.checked_mul(self.width)?;
        self.bytes.get(from.checked_sub(before)?..from.checked_add(G.checked_mul(self.width)?)?)
    }
}

impl ragged::Eight for Table<'_> {
    #[inline(always)]
    fn lengths(&self) -> [u64; 8] {
        [self.width as u64; 8]
    }

    #[inline(always)]
    fn key(&self, place: usize) -> &[u8] {
        ragged::Keys::key(self, place)
    }
}

/// One key after another.
pub(super) fn one_by_one<H: BytesHash + Send + Sync + 'static>(hash: H) -> Arc<Strings> {
    struct Each<'a>(&'a Keys<'a>, &'a mut [u64]);
    impl BytesKernel for Each<'_> {
        type Output = ();

        #[inline(always)]
        fn run<H: BytesHash>(self, hash: &H) {
            for (place, key) in self.1.iter_mut().zip(self.0.iter()) {
                *place = hash.hash(key);
            }
        }
    }
    Arc::new(move |keys, out| hash.run(Each(keys, out)))
}
