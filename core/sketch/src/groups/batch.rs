//! Rows of a batch, and the sketches that take them by group.

use crate::error::Error;
use crate::keys::Keys;
use crate::sketch::Sketch;
use crate::wire::total;
use crate::{Distinct, HeavyHitters, Imbalance, Spread};
use hashlane_hash::scheme::Key;

/// Keys of a batch, and numbers of each for the sketches that take them.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    pub(super) keys: Keys<'a>,
    weights: Option<&'a [u64]>,
    bytes: Option<&'a [u64]>,
}

impl<'a> Batch<'a> {
    /// Keys alone.
    pub fn new(keys: Keys<'a>) -> Self {
        Self { keys, weights: None, bytes: None }
    }

    /// The same with a weight for each key, or its packets; 1 each without.
    pub fn with_weights(self, weights: Option<&'a [u64]>) -> Self {
        Self { weights, ..self }
    }

    /// The same with the bytes of the packets of each key; 0 each without.
    pub fn with_bytes(self, bytes: Option<&'a [u64]>) -> Self {
        Self { bytes, ..self }
    }

    fn check_rows(&self) -> Result<(), Error> {
        self.weights.map_or(Ok(()), |weights| self.keys.check_rows("weights", weights.len()))?;
        self.bytes.map_or(Ok(()), |bytes| self.keys.check_rows("bytes", bytes.len()))
    }
}

/// Sketches that [`Groups`](crate::Groups) has.
pub trait Grouped: Sketch {
    /// Sums that pass 2⁶³ − 1 neither in a group nor over all of them: keys, packets or weights, and bytes; 0
    /// for a sketch without such a limit.
    fn totals(&self) -> [u64; 2];

    /// The sums that a batch adds.
    fn totals_of(batch: &Batch<'_>) -> [u64; 2] {
        let sum = |numbers: &[u64]| total(numbers.iter().copied());
        [batch.weights.map_or(batch.keys.len() as u64, sum), batch.bytes.map_or(0, sum)]
    }

    /// Returns true if the sketch has taken any keys.
    fn has_keys(&self) -> bool;

    /// Gives a sketch that was read from bytes its key.
    ///
    /// # Errors
    /// The sketch was made with another key, or has none.
    fn with_key_of_groups(&self, key: &Key) -> Result<Self, Error>;

    /// Checks a batch for all errors except of totals.
    ///
    /// # Errors
    /// The errors of an update.
    fn check_batch(&self, batch: &Batch<'_>) -> Result<(), Error>;

    /// Adds row i of a checked batch to sketch `places[i]`.
    ///
    /// # Errors
    /// The errors of an update.
    fn update_each(sketches: &mut [Self], places: &[u32], batch: &Batch<'_>) -> Result<(), Error>;
}

impl Grouped for Distinct {
    fn totals(&self) -> [u64; 2] {
        [0; 2]
    }

    fn totals_of(_: &Batch<'_>) -> [u64; 2] {
        [0; 2]
    }

    fn has_keys(&self) -> bool {
        self.result().keys > 0.0
    }

    fn with_key_of_groups(&self, key: &Key) -> Result<Self, Error> {
        self.clone().with_key(key)
    }

    fn check_batch(&self, batch: &Batch<'_>) -> Result<(), Error> {
        batch.check_rows()?;
        self.hasher().map(drop)
    }

    fn update_each(sketches: &mut [Self], places: &[u32], batch: &Batch<'_>) -> Result<(), Error> {
        let Some(hasher) = sketches.first().map(Self::hasher).transpose()? else { return Ok(()) };
        let mut places = places.iter();
        hasher.for_each(batch.keys, |_, hashes| {
            for (hash, place) in hashes.iter().zip(&mut places) {
                if let Some(sketch) = sketches.get_mut(*place as usize) {
                    sketch.add(*hash);
                }
            }
        });
        Ok(())
    }
}

impl Grouped for Spread {
    fn totals(&self) -> [u64; 2] {
        [self.total(), 0]
    }

    fn has_keys(&self) -> bool {
        self.total() > 0
    }

    fn with_key_of_groups(&self, key: &Key) -> Result<Self, Error> {
        self.clone().with_key(key)
    }

    fn check_batch(&self, batch: &Batch<'_>) -> Result<(), Error> {
        batch.check_rows()?;
        self.choice().map(drop)
    }

    fn update_each(sketches: &mut [Self], places: &[u32], batch: &Batch<'_>) -> Result<(), Error> {
        let Some(choice) = sketches.first().map(Self::choice).transpose()? else { return Ok(()) };
        let mut places = places.iter();
        choice.for_each(&batch.keys, |bucket| {
            if let Some(sketch) = places.next().and_then(|place| sketches.get_mut(*place as usize)) {
                sketch.count(bucket);
            }
        });
        Ok(())
    }
}

impl Grouped for HeavyHitters {
    fn totals(&self) -> [u64; 2] {
        [self.total(), 0]
    }

    fn has_keys(&self) -> bool {
        self.total() > 0
    }

    fn with_key_of_groups(&self, _: &Key) -> Result<Self, Error> {
        Err(Error::WrongKey)
    }

    fn check_batch(&self, batch: &Batch<'_>) -> Result<(), Error> {
        batch.check_rows()?;
        Self::check_keys(&batch.keys)
    }

    fn update_each(sketches: &mut [Self], places: &[u32], batch: &Batch<'_>) -> Result<(), Error> {
        for (row, (key, place)) in batch.keys.iter().zip(places).enumerate() {
            let weight = batch.weights.map_or(1, |weights| weights.get(row).copied().unwrap_or(0));
            if let Some(sketch) = sketches.get_mut(*place as usize) {
                sketch.add_checked(key, weight);
            }
        }
        Ok(())
    }
}

impl Grouped for Imbalance {
    fn totals(&self) -> [u64; 2] {
        let total = self.total();
        [total.packets, total.bytes]
    }

    fn has_keys(&self) -> bool {
        self.totals() != [0; 2]
    }

    fn with_key_of_groups(&self, key: &Key) -> Result<Self, Error> {
        self.clone().with_key(key)
    }

    fn check_batch(&self, batch: &Batch<'_>) -> Result<(), Error> {
        batch.check_rows()?;
        self.check_rows(&batch.keys).map(drop)
    }

    /// The rows of each group at once, as its candidates take many rows together.
    fn update_each(sketches: &mut [Self], places: &[u32], batch: &Batch<'_>) -> Result<(), Error> {
        let mut rows: Vec<usize> = (0..places.len()).collect();
        rows.sort_by_key(|row| places.get(*row));
        let (mut keys, mut weights, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        for rows in rows.chunk_by(|one, other| places.get(*one) == places.get(*other)) {
            let gather = |from: Option<&[u64]>, to: &mut Vec<u64>| {
                to.clear();
                let numbers = rows.iter().map(|row| from.and_then(|from| from.get(*row)).copied());
                to.extend(numbers.map(Option::unwrap_or_default));
            };
            keys.clear();
            keys.extend(rows.iter().filter_map(|row| batch.keys.get(*row)));
            gather(batch.weights, &mut weights);
            gather(batch.bytes, &mut bytes);
            let place = rows.first().and_then(|row| places.get(*row));
            if let Some(sketch) = place.and_then(|place| sketches.get_mut(*place as usize)) {
                let weights = batch.weights.is_some().then_some(&*weights);
                let bytes = batch.bytes.is_some().then_some(&*bytes);
                sketch.update(&Keys::slices(&keys), weights, bytes)?;
            }
        }
        Ok(())
    }
}
