//! Keys of the study of calls, the same here and in Python, and the results that Python must have.

use hashlane_hash::scheme::{BytesHash, Key, Scheme as _};
use hashlane_hash::siphash::{SipHash13, SipHash24};
use hashlane_lab::study::TurnError;
use hashlane_sketch::{Keys, Sketch as _, Spread};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use std::fs;
use std::path::Path;

/// Rows of a batch.
pub(crate) const BATCH: usize = 1 << 16;

/// Batches of a column.
pub(crate) const BATCHES: usize = 16;

/// Bytes of a tuple: destination and source address, destination and source port, as `hashlane.flow_hash`
/// orders them.
const WIDTH: usize = 36;

/// Columns of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Data {
    /// Strings of 16 to 64 printable characters, one after another.
    strings: Vec<u8>,
    /// Start of each string, and the end of the last.
    offsets: Vec<i32>,
    /// Tuples of 36 bytes. Addresses are IPv6.
    tuples: Vec<u8>,
}

impl Data {
    /// Columns of so many rows.
    pub(crate) fn new(seed: u64, rows: usize) -> Self {
        let mut random = SplitMix64::seed_from_u64(seed);
        let (mut strings, mut offsets) = (Vec::new(), vec![0]);
        for _ in 0..rows {
            let length = 16 + random.next_u64() as usize % 49;
            // The printable characters without the space: 0x21 to 0x7e.
            strings.extend((0..length).map(|_| 0x21 + (random.next_u64() % 94) as u8));
            let end = i32::try_from(strings.len());
            debug_assert!(end.is_ok(), "at most 2^25 rows");
            offsets.push(end.unwrap_or(i32::MAX));
        }
        let mut tuples = Vec::with_capacity(rows * WIDTH);
        for _ in 0..rows {
            let mut tuple: Vec<u8> =
                (0..5).flat_map(|_| random.next_u64().to_le_bytes()).take(WIDTH).collect();
            for address in [0, 16] {
                // 2000::/8: no address is IPv4-mapped.
                if let Some(first) = tuple.get_mut(address) {
                    *first = 0x20;
                }
            }
            tuples.extend(tuple);
        }
        Self { strings, offsets, tuples }
    }

    /// Writes the columns as Arrow has them in memory.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), TurnError> {
        let offsets: Vec<u8> = self.offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
        for (name, bytes) in [("strings", &self.strings), ("offsets", &offsets), ("tuples", &self.tuples)] {
            fs::write(folder.join(name), bytes).map_err(TurnError::io("cannot write the keys"))?;
        }
        Ok(())
    }

    /// The first `rows` strings.
    fn strings(&self, rows: usize) -> impl Iterator<Item = &[u8]> {
        let ends = self.offsets.iter().skip(1);
        let range = |(start, end): (&i32, &i32)| {
            self.strings.get(usize::try_from(*start).ok()?..usize::try_from(*end).ok()?)
        };
        self.offsets.iter().zip(ends).take(rows).filter_map(range)
    }

    /// Sum of hashes, modulo 2^64, that a scheme must have on a workload; `None` if there is no other
    /// implementation here.
    pub(crate) fn expected(&self, workload: &str, scheme: &str, key: &Key) -> Option<u64> {
        let short = SipHash13::new(key);
        let long = SipHash24::new(key);
        let rows = if workload == "strings-16-64" { BATCH } else { usize::MAX };
        match (workload, scheme) {
            ("call/hash-36" | "call/flow-hash", _) => Some(sum(self.tuples.chunks(WIDTH), &short)),
            (
                "strings-16-64" | "call/hash-strings",
                "hashlane/siphash-1-3" | "hashlane/siphash-1-3/batches",
            ) => Some(sum(self.strings(rows), &short)),
            ("strings-16-64", "hashlane/siphash-2-4" | "siphashc/siphash-2-4") => {
                Some(sum(self.strings(rows), &long))
            }
            ("strings-16-64", "pandas/hash-array") => {
                let mixed = self.strings(rows).map(|string| mix(long.hash(string)));
                Some(mixed.fold(0, u64::wrapping_add))
            }
            _ => None,
        }
    }

    /// Bytes of the sketch of all tuples.
    pub(crate) fn sketch(&self, key: &Key, buckets: usize) -> Result<Vec<u8>, hashlane_sketch::Error> {
        let mut spread = Spread::new("siphash-1-3", key, buckets)?;
        spread.update(&Keys::rows(&self.tuples, WIDTH)?)?;
        Ok(spread.to_bytes())
    }
}

fn sum<'a>(keys: impl Iterator<Item = &'a [u8]>, hash: &impl BytesHash) -> u64 {
    keys.map(|key| hash.hash(key)).fold(0, u64::wrapping_add)
}

/// Last step of `pandas.util.hash_array`: the output function of SplitMix64 (Steele, Lea and Flood, Fast
/// Splittable Pseudorandom Number Generators, 2014), whose state grows by a constant first.
fn mix(hash: u64) -> u64 {
    SplitMix64::seed_from_u64(hash.wrapping_sub(0x9e37_79b9_7f4a_7c15)).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_have_16_to_64_printable_bytes() {
        let data = Data::new(2015, 5_000);
        let mut lengths: Vec<usize> = data.strings(usize::MAX).map(<[u8]>::len).collect();
        assert!(data.strings.iter().all(u8::is_ascii_graphic));
        lengths.sort_unstable();
        lengths.dedup();
        assert_eq!(lengths, (16..=64).collect::<Vec<_>>());
        assert_eq!(data, Data::new(2015, 5_000));
        assert_ne!(data, Data::new(2016, 5_000));
    }

    #[test]
    fn writes_columns_of_arrow() {
        let folder = tempfile::tempdir().unwrap();
        let data = Data::new(1, 100);
        data.write(folder.path()).unwrap();
        let length = |name: &str| fs::metadata(folder.path().join(name)).unwrap().len();
        assert_eq!((length("offsets"), length("tuples")), (404, 3_600));
        assert_eq!(length("strings"), data.strings.len() as u64);
        assert!(data.write(&folder.path().join("none")).is_err());
    }

    #[test]
    fn expects_the_same_of_tuples_and_of_their_columns() {
        let data = Data::new(1, 100);
        let expected = |workload, scheme| data.expected(workload, scheme, &Key::VECTOR);
        let hashed = expected("call/hash-36", "hashlane/siphash-1-3");
        assert!(hashed.is_some());
        assert_eq!(hashed, expected("call/flow-hash", "hashlane/siphash-1-3/batches"));
        let [siphashc, pandas] = ["siphashc/siphash-2-4", "pandas/hash-array"];
        assert_eq!(expected("strings-16-64", siphashc), expected("strings-16-64", "hashlane/siphash-2-4"));
        assert_ne!(expected("strings-16-64", siphashc), expected("strings-16-64", pandas));
        assert_eq!(expected("strings-16-64", "polars/hash"), None);
        let sketch = Spread::from_bytes(&data.sketch(&Key::VECTOR, 64).unwrap()).unwrap();
        assert_eq!(sketch.result().keys, 100);
    }

    /// `pandas.util.hash_array(numpy.array(["a"], dtype=object), hash_key="0123456789123456")` of pandas 3.1.
    #[test]
    fn mixes_as_pandas_does() {
        let hash = SipHash24::new(&Key::new(*b"0123456789123456")).hash(b"a");
        assert_eq!(mix(hash), 0xc199_9a45_4057_bfd0);
    }
}
