//! Updates of sketches by batches of columns.

use super::any::{Any, refused};
use super::batch::{self, with_keys};
use crate::column::Column;
use crate::error::{at_row, value, wrong_type};
use crate::flow::{self, Order};
use crate::interrupt::Interrupt;
use arrow_array::Array;
use arrow_schema::DataType;
use hashlane_sketch::{Error, HeavyHitters, Keys};
use pyo3::PyResult;

/// Bytes of a tuple.
const TUPLE: usize = 36;

/// Tuples that a sketch takes at a time.
const TUPLES: usize = 1 << 14;

/// A batch that nothing but a signal keeps from being taken.
pub(super) enum Batch {
    Keys(Column),
    Weighted(Column, Vec<u64>),
    Tuples { rows: Vec<u8>, packets: Option<Vec<u64>>, bytes: Option<Vec<u64>> },
}

impl Batch {
    /// The batch of these columns for a sketch of this kind, checked. The columns are one of keys, or four of
    /// tuples, then weights or packets, and bytes.
    ///
    /// # Errors
    /// `TypeError` and `ValueError` for columns that the sketch does not take.
    pub(super) fn of(
        kind: &str,
        mut columns: Vec<Column>,
        packets: Option<Column>,
        bytes: Option<Column>,
    ) -> PyResult<Self> {
        if columns.len() == 1
            && let Some(keys) = columns.pop()
        {
            batch::check(&keys)?;
            return match kind {
                "Prefixes" => names(keys),
                "HeavyHitters" => weighted(keys, packets),
                _ => Ok(Self::Keys(keys)),
            };
        }
        let order = if kind == "Imbalance" { Order::Sent } else { Order::Received };
        let names: Vec<(usize, &'static str)> =
            (4..).zip(packets.iter().chain(&bytes).map(Column::name)).collect();
        let (has_packets, has_bytes) = (packets.is_some(), bytes.is_some());
        columns.extend(packets.into_iter().chain(bytes));
        let (mut rows, mut interrupt) = (Vec::new(), Interrupt::default());
        let mut numbers = [Vec::new(), Vec::new()];
        batch::for_each(&columns, |first, arrays| {
            let (Some(ends), Some(named)) = (arrays.get(..4), columns.get(..4)) else {
                return Err(value("expected four columns: src, sport, dst, dport"));
            };
            let nulls = flow::tuples(named, ends, first, order, &mut interrupt, &mut rows)?;
            for ((at, name), out) in names.iter().zip(&mut numbers) {
                if let Some(array) = arrays.get(*at) {
                    batch::numbers(name, array, first, nulls.as_ref(), out)?;
                }
            }
            Ok(())
        })?;
        let mut numbers = numbers.into_iter();
        let packets = if has_packets { numbers.next() } else { None };
        let bytes = if has_bytes { numbers.next() } else { None };
        Ok(Self::Tuples { rows, packets, bytes })
    }

    /// Adds the batch to a sketch. `begun` is set before the first change.
    ///
    /// # Errors
    /// The exception of a signal handler; `ValueError` for a sketch without a key or a total that is too
    /// large.
    pub(super) fn add(&self, any: &mut Any, begun: &mut bool) -> PyResult<()> {
        self.check_room(any).map_err(refused)?;
        let mut interrupt = Interrupt::default();
        match self {
            Self::Keys(column) | Self::Weighted(column, _) => {
                let mut weights = match self {
                    Self::Weighted(_, weights) => Some(weights.as_slice()),
                    _ => None,
                };
                for chunk in column.chunks() {
                    let bytes = chunk.get_buffer_memory_size() / chunk.len().max(1);
                    batch::for_each_of(chunk, |array| {
                        let rows = with_keys(column.name(), &array, |keys| {
                            let part = weights.map(|weights| weights.split_at(keys.len().min(weights.len())));
                            weights = part.map(|(_, rest)| rest);
                            add(any, keys, part.map(|(part, _)| part), None)?;
                            *begun = true;
                            Ok(keys.len())
                        })?;
                        interrupt.record(rows, rows.saturating_mul(bytes))
                    })?;
                }
            }
            Self::Tuples { rows, packets, bytes } => {
                for (part, rows) in rows.chunks(TUPLES * TUPLE).enumerate() {
                    let keys = Keys::rows(rows, TUPLE).map_err(refused)?;
                    let of = |numbers: &Option<Vec<u64>>| {
                        let from = part * TUPLES;
                        numbers
                            .as_ref()
                            .map(|numbers| numbers.get(from..from + keys.len()).unwrap_or_default().to_vec())
                    };
                    add(any, &keys, of(packets).as_deref(), of(bytes).as_deref())?;
                    *begun = true;
                    // Each candidate is separate work.
                    let keys_of_cards = match any {
                        Any::Imbalance(sketch) => sketch.candidates() + 1,
                        _ => 1,
                    };
                    interrupt.record(keys.len(), rows.len().saturating_mul(keys_of_cards))?;
                }
            }
        }
        Ok(())
    }

    /// Checks that the totals of the sketch have room for the whole batch, so that no part of it is taken if
    /// they have not.
    fn check_room(&self, any: &Any) -> Result<(), Error> {
        let sum = |numbers: &Vec<u64>| numbers.iter().fold(0, |sum: u64, number| sum.saturating_add(*number));
        let chunks = match self {
            Self::Keys(column) | Self::Weighted(column, _) => column.chunks(),
            Self::Tuples { .. } => &[],
        };
        let keys: u64 = chunks.iter().map(|chunk| (chunk.len() - chunk.logical_null_count()) as u64).sum();
        match (any, self) {
            (Any::Spread(sketch), Self::Tuples { rows, .. }) => {
                sketch.check_room((rows.len() / TUPLE) as u64)
            }
            (Any::Spread(sketch), _) => sketch.check_room(keys),
            (Any::Prefixes(sketch), _) => {
                // Not less than the bytes of the names.
                let bytes = chunks.iter().map(|chunk| chunk.get_buffer_memory_size() as u64).sum();
                sketch.check_room(keys, bytes)
            }
            (Any::Imbalance(sketch), Self::Tuples { rows, packets, bytes }) => {
                let packets = packets.as_ref().map_or((rows.len() / TUPLE) as u64, sum);
                sketch.check_room(packets, bytes.as_ref().map_or(0, sum))
            }
            (Any::HeavyHitters(sketch), Self::Weighted(_, weights)) => sketch.check_room(sum(weights)),
            (Any::HeavyHitters(sketch), _) => sketch.check_room(keys),
            (Any::Imbalance(_) | Any::Distinct(_), _) => Ok(()),
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
    }
    .map_err(refused)
}

fn names(names: Column) -> PyResult<Batch> {
    let text = |kind: &DataType| matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    if names.chunks().iter().any(|chunk| text(chunk.data_type())) {
        return Err(wrong_type("names: text; pass encoded names: hashlane.parse_name(names, encoding)"));
    }
    Ok(Batch::Keys(names))
}

fn weighted(keys: Column, weights: Option<Column>) -> PyResult<Batch> {
    let mut columns = vec![keys];
    columns.extend(weights);
    let mut weights = Vec::new();
    batch::for_each(&columns, |first, arrays| {
        let mut arrays = arrays.iter();
        let Some(keys) = arrays.next() else { return Ok(()) };
        let nulls = keys.logical_nulls();
        with_keys("keys", keys, |keys| {
            let long = keys.iter().position(|key| key.len() > HeavyHitters::MOST_KEY);
            let Some(place) = long else { return Ok(()) };
            // The row among those that are not null.
            let row = match &nulls {
                Some(nulls) => (0..nulls.len()).filter(|row| nulls.is_valid(*row)).nth(place),
                None => Some(place),
            };
            let most = HeavyHitters::MOST_KEY;
            Err(at_row(
                first + row.unwrap_or(place),
                format!("a key of more than {most} bytes: pass its hash"),
            ))
        })?;
        match (arrays.next(), columns.get(1)) {
            (Some(array), Some(column)) => {
                batch::numbers(column.name(), array, first, nulls.as_ref(), &mut weights)
            }
            _ => Ok(()),
        }
    })?;
    let has_weights = columns.len() > 1;
    columns.truncate(1);
    match columns.pop() {
        Some(keys) if has_weights => Ok(Batch::Weighted(keys, weights)),
        Some(keys) => Ok(Batch::Keys(keys)),
        None => Err(value("no columns")),
    }
}
