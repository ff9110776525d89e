//! Keys with the largest weights.

use crate::error::{Error, ReadError, alike, within};
use crate::keys::Keys;
use crate::sketch::Sketch;
use crate::wire::{Reader, SketchKind, Writer, grown, total};
use std::collections::HashMap;

/// Keys with the largest weights, by counters of Misra and Gries.
///
/// There are at most twice as many counters as asked for. When they are used up, the largest of the weights
/// that shall go is subtracted from all counters, and those that reach 0 are dropped; what was subtracted is
/// the error. A counter is never above the weight of its key, and below it by the error at most. Each
/// subtraction takes more than `counters` times the error from the total, so that after any updates and
/// merges, in any order,
///
/// > error ≤ (total − Σ counters) / (counters + 1) ≤ total / (counters + 1).
///
/// So each key whose weight is above total / (counters + 1) is in the result. The counters depend on the
/// order of keys and merges, the bound does not.
///
/// Takes about 64 bytes and the key for each of the counters, twice; a key has at most
/// [`MOST_KEY`](Self::MOST_KEY) bytes. The map of counters has its own random key.
///
/// ```
/// use hashlane_sketch::{HeavyHitters, Keys};
///
/// let mut heavy = HeavyHitters::new(10)?;
/// let row = |row: u32| if row % 4 == 0 { *b"often" } else { [row as u8; 5] };
/// let rows: Vec<u8> = (0..1000).flat_map(row).collect();
/// heavy.update(&Keys::rows(&rows, 5)?, None)?;
/// let result = heavy.result();
/// assert_eq!(*result.hitters[0].key, *b"often");
/// assert!(result.error <= 1000 / 11 && result.hitters[0].least + result.error >= 250);
/// # Ok::<(), hashlane_sketch::Error>(())
/// ```
///
/// Sources: Misra and Gries, "Finding repeated elements" (Science of Computer Programming 2, 1982); Agarwal,
/// Cormode, Huang, Phillips, Wei and Yi, "Mergeable summaries" (PODS 2012), for merges and their bound;
/// Anderson et al., "A high-performance algorithm for identifying frequent items in data streams" (IMC 2017),
/// for subtracting seldom.
#[derive(Clone, Debug)]
pub struct HeavyHitters {
    counters: usize,
    columns: u8,
    total: u64,
    error: u64,
    held: HashMap<Box<[u8]>, u64>,
}

/// Keys with the largest weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeavyHittersResult {
    /// Weight of all keys.
    pub total: u64,
    /// Bound of the error: the weight of a key is [`least`](HeavyHitter::least) to `least + error`, and of a
    /// key that is not listed at most `error`. At most total / (counters + 1).
    pub error: u64,
    /// Keys, the heaviest first.
    pub hitters: Vec<HeavyHitter>,
}

/// One key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeavyHitter {
    /// The key.
    pub key: Box<[u8]>,
    /// Weight that it has at least.
    pub least: u64,
}

impl HeavyHitters {
    /// Most counters.
    pub const MOST_COUNTERS: usize = 1 << 20;

    /// Most bytes of a key.
    pub const MOST_KEY: usize = 4096;

    /// No keys, with `counters` counters, 1 to [`MOST_COUNTERS`](Self::MOST_COUNTERS).
    ///
    /// # Errors
    /// The number of counters is out of range.
    pub fn new(counters: usize) -> Result<Self, Error> {
        within("number of counters", counters as u64, 1, Self::MOST_COUNTERS as u64)?;
        Ok(Self { counters, columns: 1, total: 0, error: 0, held: HashMap::new() })
    }

    /// The same for keys that are rows of several columns, 1 to 255, in an encoding of the caller's: a mark
    /// in the bytes, so that sketches of other keys do not merge with it.
    ///
    /// # Errors
    /// The number is out of range.
    pub fn with_columns(self, columns: usize) -> Result<Self, Error> {
        within("number of columns", columns as u64, 1, u8::MAX.into())?;
        Ok(Self { columns: columns as u8, ..self })
    }

    /// Number of columns of a key.
    pub fn columns(&self) -> usize {
        self.columns.into()
    }

    /// Checks that the sketch can take so much more weight.
    ///
    /// # Errors
    /// The total would pass 2⁶³ − 1.
    pub fn check_room(&self, weight: u64) -> Result<(), Error> {
        grown(self.total, weight).map(drop)
    }

    /// Adds the weights of the keys of a batch; each is 1 without `weights`.
    ///
    /// # Errors
    /// A key is too long, there are more or fewer weights than keys, or the total would pass 2⁶³ − 1. The
    /// sketch then stays as it was.
    pub fn update(&mut self, keys: &Keys<'_>, weights: Option<&[u64]>) -> Result<(), Error> {
        let added = match weights {
            Some(weights) => {
                keys.check_rows("weights", weights.len())?;
                total(weights.iter().copied())
            }
            None => keys.len() as u64,
        };
        let total = grown(self.total, added)?;
        Self::check_keys(keys)?;
        self.total = total;
        for (row, key) in keys.iter().enumerate() {
            let weight = weights.map_or(1, |weights| weights.get(row).copied().unwrap_or(0));
            self.add(key, weight);
        }
        Ok(())
    }

    /// Checks that no key is too long.
    pub(crate) fn check_keys(keys: &Keys<'_>) -> Result<(), Error> {
        match keys.iter().enumerate().find(|(_, key)| key.len() > Self::MOST_KEY) {
            Some((row, key)) => Err(Error::KeyTooLong { row, len: key.len(), most: Self::MOST_KEY }),
            None => Ok(()),
        }
    }

    /// Adds the weight of a key; both have been checked.
    pub(crate) fn add_checked(&mut self, key: &[u8], weight: u64) {
        self.total += weight;
        self.add(key, weight);
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    fn add(&mut self, key: &[u8], weight: u64) {
        match self.held.get_mut(key) {
            Some(held) => *held += weight,
            None if weight > 0 => {
                self.held.insert(key.into(), weight);
                if self.held.len() > 2 * self.counters {
                    self.subtract();
                }
            }
            None => {}
        }
    }

    /// Leaves as many keys as asked for, at most: subtracts the largest weight of those that go from all.
    fn subtract(&mut self) {
        let mut weights: Vec<u64> = self.held.values().copied().collect();
        if weights.len() <= self.counters {
            return;
        }
        let (_, cut, _) = weights.select_nth_unstable_by(self.counters, |a, b| b.cmp(a));
        let cut = *cut;
        self.error += cut;
        self.held.retain(|_, weight| {
            *weight = weight.saturating_sub(cut);
            *weight > 0
        });
    }

    /// The keys with the largest weights, and the bound of the error.
    pub fn result(&self) -> HeavyHittersResult {
        let mut hitters: Vec<_> =
            self.held.iter().map(|(key, least)| HeavyHitter { key: key.clone(), least: *least }).collect();
        hitters.sort_unstable_by(|a, b| b.least.cmp(&a.least).then_with(|| a.key.cmp(&b.key)));
        HeavyHittersResult { total: self.total, error: self.error, hitters }
    }

    /// Number of counters asked for.
    pub fn counters(&self) -> usize {
        self.counters
    }
}

impl Sketch for HeavyHitters {
    const KIND: SketchKind = SketchKind::HeavyHitters;

    /// Adds the counters of another sketch, and subtracts if they are too many.
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        alike("number of counters", self.counters, other.counters)?;
        alike("number of columns", self.columns, other.columns)?;
        self.total = grown(self.total, other.total)?;
        self.error += other.error;
        for (key, weight) in &other.held {
            match self.held.get_mut(key) {
                Some(held) => *held += weight,
                None => {
                    self.held.insert(key.clone(), *weight);
                }
            }
        }
        if self.held.len() > 2 * self.counters {
            self.subtract();
        }
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer::new(Self::KIND);
        to.number(self.counters as u64);
        to.byte(self.columns);
        to.number(self.total);
        to.number(self.error);
        to.number(self.held.len() as u64);
        let mut held: Vec<_> = self.held.iter().collect();
        held.sort_unstable();
        for (key, weight) in held {
            to.string(key);
            to.number(*weight);
        }
        to.finish()
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let mut from = Reader::begin(bytes, Self::KIND)?;
        let at = from.at();
        let counters = from.number("number of counters", Self::MOST_COUNTERS as u64)? as usize;
        if counters == 0 {
            return Err(ReadError::Field { field: "number of counters", at });
        }
        let (at, columns) = (from.at(), from.byte()?);
        if columns == 0 {
            return Err(ReadError::Field { field: "number of columns", at });
        }
        let (total, at) = (from.count("total")?, from.at());
        let error = from.count("error")?;
        let keys = from.number("number of keys", 2 * counters as u64)?;
        // The map grows with the keys that there are, whatever their number claims to be.
        let (mut held, mut sum, mut before) = (HashMap::new(), 0_u128, None);
        for _ in 0..keys {
            let at = from.at();
            let key = from.string("key", Self::MOST_KEY)?;
            if before.is_some_and(|before| before >= key) {
                return Err(ReadError::Field { field: "key out of order", at });
            }
            before = Some(key);
            let at = from.at();
            let weight = from.count("weight")?;
            if weight == 0 {
                return Err(ReadError::Field { field: "weight", at });
            }
            sum += u128::from(weight);
            held.insert(key.into(), weight);
        }
        from.finish()?;
        // The bound that the result states holds for what was read, too.
        if sum + u128::from(error) * (counters as u128 + 1) > u128::from(total) {
            return Err(ReadError::Field { field: "error", at });
        }
        Ok(Self { counters, columns, total, error, held })
    }
}
