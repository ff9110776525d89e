//! Batches that sketches take.

use super::any::Any;
use super::refused::refused;
use super::update::Batch;
use crate::column::Column;
use crate::error::value;
use arrow_array::Array;
use hashlane_sketch::{Error, Keys};
use pyo3::PyResult;

impl Batch {
    /// Adds the batch to a sketch. `begun` is set before the first change.
    ///
    /// # Errors
    /// The exception of a signal handler; `ValueError` for a sketch without a key or a total that is too
    /// large.
    pub(super) fn add(&self, any: &mut Any, begun: &mut bool) -> PyResult<()> {
        self.check_room(any).map_err(refused)?;
        // Each candidate is separate work.
        let work = match any {
            Any::Imbalance(sketch) => sketch.candidates() + 1,
            _ => 1,
        };
        self.for_each(work, |keys, weights, bytes| {
            add(any, keys, weights, bytes)?;
            *begun = true;
            Ok(())
        })
    }

    /// Checks that the totals of the sketch have room for the whole batch, so that no part of it is taken if
    /// they have not.
    fn check_room(&self, any: &Any) -> Result<(), Error> {
        let [packets, bytes] = self.totals();
        match any {
            Any::Spread(sketch) => sketch.check_room(packets),
            Any::Prefixes(sketch) => {
                // Not less than the bytes of the names.
                let chunks = self.columns().iter().flat_map(Column::chunks);
                sketch.check_room(packets, chunks.map(|chunk| chunk.get_buffer_memory_size() as u64).sum())
            }
            Any::Imbalance(sketch) => sketch.check_room(packets, bytes),
            Any::HeavyHitters(sketch) => sketch.check_room(packets),
            Any::Distinct(_) | Any::Groups(_) | Any::Hll(_) | Any::Theta(_) => Ok(()),
        }
    }
}

fn add(any: &mut Any, keys: &Keys<'_>, packets: Option<&[u64]>, bytes: Option<&[u64]>) -> PyResult<()> {
    match any {
        Any::Spread(sketch) => sketch.update(keys),
        Any::Prefixes(sketch) => sketch.update(keys),
        Any::Imbalance(sketch) => sketch.update(keys, packets, bytes),
        Any::Distinct(sketch) => sketch.update(keys),
        Any::HeavyHitters(sketch) => sketch.update(keys, packets),
        Any::Hll(sketch) => {
            sketch.update(keys);
            Ok(())
        }
        Any::Theta(sketch) => {
            sketch.update(keys);
            Ok(())
        }
        Any::Groups(_) => return Err(value("groups need the columns that they are named by")),
    }
    .map_err(refused)
}
