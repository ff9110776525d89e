//! Histogram of hashes over the buckets of a table.

mod result;

pub use result::SpreadResult;

use crate::error::{Error, ReadError, alike, within};
use crate::hasher::Hasher;
use crate::keyed::Keyed;
use crate::keys::Keys;
use crate::sketch::Sketch;
use crate::wire::{MOST, Reader, SketchKind, Writer, grown, total};
use core::fmt;
use hashlane_hash::scheme::{Key, SchemeInfo};
use std::sync::Arc;

/// Choice of the bucket of a hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reduction {
    /// Hash modulo the number of buckets: the lowest bits if that is a power of two, as in the tables of
    /// Linux for connections (ehash).
    #[default]
    Remainder = 0,
    /// Hash times the number of buckets, divided by 2^width: the highest bits if that is a power of two.
    /// `reciprocal_scale` of Linux, which conntrack uses (net/netfilter/nf_conntrack_core.c).
    Scaled = 1,
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Remainder => "remainder",
            Self::Scaled => "scaled",
        })
    }
}

/// Number of keys in each bucket of a table under a hash.
///
/// Exact: the keys of each bucket are counted. Keys that come several times count each time; pass distinct
/// keys where the question is the depth of a table. Takes 8 bytes a bucket, and 1 to 9 bytes a bucket when
/// written.
///
/// ```
/// use hashlane_hash::scheme::Key;
/// use hashlane_sketch::{Keys, Sketch, Spread};
///
/// let rows: Vec<u8> = (0..10_000_u32).flat_map(u32::to_be_bytes).collect();
/// let key = Key::new([7; 16]);
/// let mut spread = Spread::new("siphash-1-3", &key, 1 << 10)?;
/// spread.update(&Keys::rows(&rows, 4)?)?;
///
/// let mut other = Spread::new("siphash-1-3", &key, 1 << 10)?;
/// other.update(&Keys::rows(b"cafe", 4)?)?;
/// spread.merge(&Spread::from_bytes(&other.to_bytes())?)?;
///
/// let result = spread.result();
/// assert_eq!(result.keys, 10_001);
/// assert!(result.p_value > 1e-6 && result.longest <= 30);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Spread {
    /// Shared with clones.
    hash: Arc<Keyed>,
    reduction: Reduction,
    counts: Vec<u64>,
    /// Sum of the counts.
    total: u64,
}

impl Spread {
    /// Most buckets: 512 MiB.
    pub const MOST_BUCKETS: usize = 1 << 26;

    /// No keys in `buckets` buckets, 1 to [`MOST_BUCKETS`](Self::MOST_BUCKETS), chosen by
    /// [`Reduction::Remainder`]. `scheme` is the id of a hash (`hashlane schemes`).
    ///
    /// # Errors
    /// No hash has the id, or the number of buckets is out of range.
    pub fn new(scheme: &str, key: &Key, buckets: usize) -> Result<Self, Error> {
        within("number of buckets", buckets as u64, 1, Self::MOST_BUCKETS as u64)?;
        let hash = Arc::new(Keyed::new(scheme, key)?);
        Ok(Self { hash, reduction: Reduction::default(), counts: vec![0; buckets], total: 0 })
    }

    /// The same with another choice of buckets; for a sketch that has no keys yet.
    ///
    /// # Errors
    /// The sketch has keys.
    pub fn with_reduction(self, reduction: Reduction) -> Result<Self, Error> {
        if self.counts.iter().any(|count| *count > 0) {
            alike("reduction", self.reduction, reduction)?;
        }
        Ok(Self { reduction, ..self })
    }

    /// Gives a sketch that was read from bytes its key, so that it can be updated.
    ///
    /// # Errors
    /// The sketch was made with another key.
    pub fn with_key(mut self, key: &Key) -> Result<Self, Error> {
        Arc::make_mut(&mut self.hash).resume(key)?;
        Ok(self)
    }

    /// Facts about the hash.
    pub fn scheme(&self) -> &SchemeInfo {
        self.hash.info()
    }

    /// Choice of the buckets.
    pub fn reduction(&self) -> Reduction {
        self.reduction
    }

    /// Checks that the sketch can take so many more keys.
    ///
    /// # Errors
    /// The total would pass 2⁶³ − 1.
    pub fn check_room(&self, keys: u64) -> Result<(), Error> {
        grown(self.total, keys).map(drop)
    }

    /// Counts the keys of a batch.
    ///
    /// # Errors
    /// The sketch has no key, or the total would pass 2⁶³ − 1. The sketch then stays as it was.
    pub fn update(&mut self, keys: &Keys<'_>) -> Result<(), Error> {
        let choice = self.choice()?;
        self.total = grown(self.total, keys.len() as u64)?;
        // No count overflows, as the total does not.
        let counts = self.counts.as_mut_slice();
        choice.for_each(keys, |bucket| {
            if let Some(count) = counts.get_mut(bucket) {
                *count += 1;
            }
        });
        Ok(())
    }

    /// The bucket of each key.
    pub(crate) fn choice(&self) -> Result<Choice, Error> {
        let (buckets, reduction) = (self.counts.len() as u64, self.reduction);
        Ok(Choice { hasher: self.hash.hasher()?.clone(), reduction, buckets })
    }

    /// Counts a key, whose total has been checked.
    pub(crate) fn count(&mut self, bucket: usize) {
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
            self.total += 1;
        }
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Keys in each bucket.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Statistics of the buckets.
    pub fn result(&self) -> SpreadResult {
        SpreadResult::of(&self.counts)
    }
}

/// Hash and reduction.
pub(crate) struct Choice {
    hasher: Hasher,
    reduction: Reduction,
    buckets: u64,
}

impl Choice {
    /// Passes the bucket of each key on, in order.
    #[inline]
    pub(crate) fn for_each(&self, keys: &Keys<'_>, each: impl FnMut(usize)) {
        let (buckets, width) = (self.buckets, self.hasher.info().width);
        // One loop for each choice.
        match self.reduction {
            Reduction::Remainder if buckets.is_power_of_two() => {
                self.reduced(keys, |hash| hash & (buckets - 1), each);
            }
            Reduction::Remainder => self.reduced(keys, |hash| hash % buckets, each),
            Reduction::Scaled if width <= 32 => self.reduced(keys, |hash| (hash * buckets) >> width, each),
            Reduction::Scaled => {
                let scaled = |hash| ((u128::from(hash) * u128::from(buckets)) >> 64) as u64;
                self.reduced(keys, scaled, each);
            }
        }
    }

    #[inline(always)]
    fn reduced(&self, keys: &Keys<'_>, bucket: impl Fn(u64) -> u64, mut each: impl FnMut(usize)) {
        self.hasher.for_each(*keys, |_, hashes| hashes.iter().for_each(|hash| each(bucket(*hash) as usize)));
    }
}

impl Sketch for Spread {
    const KIND: SketchKind = SketchKind::Spread;

    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.hash.alike(&other.hash)?;
        alike("reduction", self.reduction, other.reduction)?;
        alike("number of buckets", self.counts.len(), other.counts.len())?;
        self.total = grown(self.total, other.total)?;
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer::new(Self::KIND);
        self.hash.write(&mut to);
        to.byte(self.reduction as u8);
        to.number(self.counts.len() as u64);
        self.counts.iter().for_each(|count| to.count(*count));
        to.finish()
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let mut from = Reader::begin(bytes, Self::KIND)?;
        let hash = Arc::new(Keyed::read(&mut from)?);
        let at = from.at();
        let reduction = match from.byte()? {
            0 => Reduction::Remainder,
            1 => Reduction::Scaled,
            _ => return Err(ReadError::Field { field: "reduction", at }),
        };
        let at = from.at();
        let buckets = from.number("number of buckets", Self::MOST_BUCKETS as u64)? as usize;
        // Each bucket takes a byte at least.
        if buckets == 0 || buckets > from.left() {
            return Err(ReadError::Field { field: "number of buckets", at });
        }
        let at = from.at();
        let mut counts = Vec::with_capacity(buckets);
        for _ in 0..buckets {
            counts.push(from.count("count of a bucket")?);
        }
        from.finish()?;
        let total = total(counts.iter().copied());
        if total > MOST {
            return Err(ReadError::Field { field: "total of the counts", at });
        }
        Ok(Self { hash, reduction, counts, total })
    }
}
