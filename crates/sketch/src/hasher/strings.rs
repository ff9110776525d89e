//! Keys of any lengths: eight at a time through a group, or one by one.

use super::Strings;
use crate::keys::Keys;
use hashlane_hash::prefix::{EveryKernel, EveryPrefix, Group};
use hashlane_hash::scheme::{BytesHash, BytesKernel};
use std::sync::Arc;

/// Eight keys at a time, each as a name with one prefix.
pub(super) fn in_groups<H: EveryPrefix + Send + Sync + 'static>(hash: H) -> Arc<Strings> {
    Arc::new(move |keys, out| hash.run_every(Groups { keys, out }))
}

struct Groups<'a> {
    keys: &'a Keys<'a>,
    out: &'a mut [u64],
}

impl EveryKernel for Groups<'_> {
    type Output = ();

    #[inline(always)]
    fn run<H: EveryPrefix>(self, hash: &H) {
        let Self { keys, out } = self;
        let mut group = Group::new();
        // The first row of the group, and the number of keys that have a place.
        let (mut first, rows) = (0, keys.len().min(out.len()));
        for (row, key) in keys.iter().take(rows).enumerate() {
            let added = group.push(hash, key).is_some_and(|mut prefixes| {
                prefixes.push(key.len());
                prefixes.add()
            });
            if !added {
                flush(hash, &mut group, first, out);
                if let Some(place) = out.get_mut(row) {
                    *place = hash.hash(key);
                }
                first = row + 1;
            } else if group.is_full() {
                flush(hash, &mut group, first, out);
                first = row + 1;
            }
        }
        flush(hash, &mut group, first, out);
    }
}

/// Writes the hashes of the group to the places from `first` on, and empties the group.
#[inline(always)]
fn flush<H: EveryPrefix>(hash: &H, group: &mut Group, first: usize, out: &mut [u64]) {
    if group.names() > 0 {
        let mut hashes = [0; Group::NAMES];
        hash.every_prefix(group, &mut hashes);
        for (place, hash) in out.iter_mut().skip(first).zip(hashes).take(group.names()) {
            *place = hash;
        }
        group.clear();
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
