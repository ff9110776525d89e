//! Keys of the files, and the bytes that their sketch must have.

use hashlane_hash::scheme::Key;
use hashlane_lab::study::TurnError;
use hashlane_sketch::{Error, Keys, Sketch as _, Spread};
use std::sync::atomic::{AtomicBool, Ordering};

/// Buckets of the sketch.
pub(super) const BUCKETS: usize = 1 << 16;

/// Keys between two looks at the stop flag.
const BATCH: u64 = 1 << 16;

/// The numbers 0, 1, 2, …, as little-endian `uint64`, in files of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Files {
    /// Files: 16 at least, so that a worker can be killed between two.
    pub(super) files: u64,
    /// Keys of a file; the last one may have fewer.
    pub(super) rows: u64,
    /// Keys of all files.
    pub(super) keys: u64,
}

impl Files {
    /// Files of so many keys: at most 10,000,000 in each, one task of Ray.
    pub(super) fn new(keys: u64) -> Self {
        let keys = keys.max(16);
        let rows = keys.div_ceil((keys / 10_000_000).clamp(16, 1_000));
        Self { files: keys.div_ceil(rows), rows, keys }
    }

    /// The first tenth of the files.
    pub(super) fn tenth(self) -> Self {
        let files = self.files.div_ceil(10);
        Self { files, rows: self.rows, keys: self.keys.min(files * self.rows) }
    }

    /// Bytes of the sketch of all keys.
    pub(super) fn expected(self, key: &Key, stop: &AtomicBool) -> Result<Vec<u8>, TurnError> {
        let failed = |error: Error| TurnError::Failed(format!("cannot make a sketch: {error}"));
        let mut spread = Spread::new("siphash-1-3", key, BUCKETS).map_err(failed)?;
        let mut first = 0;
        while first < self.keys {
            if stop.load(Ordering::Relaxed) {
                return Err(TurnError::Stopped);
            }
            let end = self.keys.min(first + BATCH);
            let rows: Vec<u8> = (first..end).flat_map(u64::to_le_bytes).collect();
            let keys = Keys::rows(&rows, 8).map_err(failed)?;
            spread.update(&keys).map_err(failed)?;
            first = end;
        }
        Ok(spread.to_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_all_keys() {
        assert_eq!(Files::new(10_000_000), Files { files: 16, rows: 625_000, keys: 10_000_000 });
        let full = Files::new(1_000_000_000);
        assert_eq!((full.files, full.rows), (100, 10_000_000));
        assert_eq!(full.tenth(), Files { files: 10, rows: 10_000_000, keys: 100_000_000 });
        for keys in [1, 17, 1_000, 123_457, 160_000_001] {
            let files = Files::new(keys);
            let last = files.keys - (files.files - 1) * files.rows;
            assert!(last > 0 && last <= files.rows && files.keys >= keys, "{files:?}");
            assert!(files.tenth().keys <= files.keys);
        }
    }

    #[test]
    fn the_expected_sketch_has_each_key_once() {
        let files = Files::new(70_000);
        let bytes = files.expected(&Key::VECTOR, &AtomicBool::new(false)).unwrap();
        assert_eq!(Spread::from_bytes(&bytes).unwrap().result().keys, 70_000);
        let stopped = files.expected(&Key::VECTOR, &AtomicBool::new(true));
        assert!(matches!(stopped, Err(TurnError::Stopped)));
    }
}
