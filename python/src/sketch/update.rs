//! Updates of sketches by batches of columns.

use super::batch::{self, with_keys};
use super::refused::refused;
use crate::checked::check_text;
use crate::column::Column;
use crate::composite;
use crate::error::{at_row, value, wrong_type};
use crate::flow::{self, Order};
use crate::interrupt::Interrupt;
use crate::rows::Rows;
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_schema::DataType;
use hashlane_sketch::{HeavyHitters, Keys};
use pyo3::{PyErr, PyResult};

/// Bytes of a tuple.
const TUPLE: usize = 36;

/// Tuples that a sketch takes at a time.
const TUPLES: usize = 1 << 14;

/// A batch that nothing but a signal keeps from being taken.
pub(super) enum Batch {
    Keys(Column),
    Weighted(Column, Vec<u64>),
    /// Rows of several columns as keys.
    Composite(Vec<Column>, Option<Vec<u64>>),
    /// Rows without nulls of the four columns `ends`.
    Tuples {
        ends: Vec<Column>,
        rows: Vec<u8>,
        packets: Option<Vec<u64>>,
        bytes: Option<Vec<u64>>,
    },
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
                "DataSketchesHll" | "DataSketchesTheta" => Ok(Self::Keys(keys.with_arrays(signed)?)),
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
        columns.truncate(4);
        Ok(Self::Tuples { ends: columns, rows, packets, bytes })
    }

    /// The batch of rows of these columns as keys, checked.
    ///
    /// # Errors
    /// As [`of`](Self::of), and for another number of columns than `width`.
    pub(super) fn composite(keys: Vec<Column>, width: usize, weights: Option<Column>) -> PyResult<Self> {
        let found: usize = keys.iter().map(|column| composite::names(column, "").len()).sum();
        if found != width {
            return Err(value(format!("keys of {found} columns; this sketch takes keys of {width}")));
        }
        let (of_keys, has_weights) = (keys.len(), weights.is_some());
        let mut columns = keys;
        columns.extend(weights);
        let mut weights = Vec::new();
        batch::for_each(&columns, |first, arrays| {
            let (keys, rest) = arrays.split_at(of_keys.min(arrays.len()));
            keys.iter().try_for_each(|array| check_text("keys", first, array))?;
            let encoded = composite::encode_nested("keys", keys)?;
            let rows = Keys::offsets64(&encoded.offsets, &encoded.bytes).map_err(refused)?;
            if let Some(row) = rows.iter().position(|key| key.len() > HeavyHitters::MOST_KEY) {
                return Err(too_long(first + row));
            }
            rest.iter().try_for_each(|array| batch::numbers("weights", array, first, None, &mut weights))
        })?;
        columns.truncate(of_keys);
        Ok(Self::Composite(columns, has_weights.then_some(weights)))
    }

    /// The columns of keys.
    pub(super) fn columns(&self) -> &[Column] {
        match self {
            Self::Keys(column) | Self::Weighted(column, _) => core::slice::from_ref(column),
            Self::Composite(columns, _) => columns,
            Self::Tuples { ends, .. } => ends,
        }
    }

    /// Returns true if the keys are rows, in which a null is a value.
    pub(super) const fn is_composite(&self) -> bool {
        matches!(self, Self::Composite(..))
    }

    /// Sum of the packets or weights, and of the bytes.
    pub(super) fn totals(&self) -> [u64; 2] {
        let sum = |numbers: &Vec<u64>| numbers.iter().fold(0, |sum: u64, number| sum.saturating_add(*number));
        let valid = |column: &Column| {
            column.chunks().iter().map(|chunk| (chunk.len() - chunk.logical_null_count()) as u64).sum()
        };
        match self {
            Self::Keys(column) => [valid(column), 0],
            Self::Weighted(_, weights) => [sum(weights), 0],
            Self::Composite(columns, weights) => {
                [weights.as_ref().map_or(columns.first().map_or(0, Column::len) as u64, sum), 0]
            }
            Self::Tuples { rows, packets, bytes, .. } => {
                let packets = packets.as_ref().map_or((rows.len() / TUPLE) as u64, sum);
                [packets, bytes.as_ref().map_or(0, sum)]
            }
        }
    }

    /// Passes the keys on in parts, with their packets or weights, and bytes; `work` is the time of a key
    /// over the time of one hash.
    ///
    /// # Errors
    /// The exception of a signal handler, and errors of `each`.
    pub(super) fn for_each(
        &self,
        work: usize,
        mut each: impl FnMut(&Keys<'_>, Option<&[u64]>, Option<&[u64]>) -> PyResult<()>,
    ) -> PyResult<()> {
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
                            each(keys, next(&mut weights, keys.len()), None)?;
                            Ok(keys.len())
                        })?;
                        interrupt.record(rows, rows.saturating_mul(bytes))
                    })?;
                }
                Ok(())
            }
            Self::Composite(columns, weights) => {
                let mut weights = weights.as_deref();
                batch::for_each(columns, |_, arrays| {
                    let encoded = composite::encode_nested("keys", arrays)?;
                    let keys = Keys::offsets64(&encoded.offsets, &encoded.bytes).map_err(refused)?;
                    each(&keys, next(&mut weights, keys.len()), None)?;
                    interrupt.record(keys.len(), encoded.bytes.len())
                })
            }
            Self::Tuples { rows, packets, bytes, .. } => {
                let (mut packets, mut bytes) = (packets.as_deref(), bytes.as_deref());
                for rows in rows.chunks(TUPLES * TUPLE) {
                    let keys = Keys::rows(rows, TUPLE).map_err(refused)?;
                    each(&keys, next(&mut packets, keys.len()), next(&mut bytes, keys.len()))?;
                    interrupt.record(keys.len(), rows.len().saturating_mul(work))?;
                }
                Ok(())
            }
        }
    }
}

/// The next numbers of a column.
fn next<'a>(numbers: &mut Option<&'a [u64]>, len: usize) -> Option<&'a [u64]> {
    let (part, rest) = numbers.map(|numbers| numbers.split_at(len.min(numbers.len())))?;
    *numbers = Some(rest);
    Some(part)
}

/// Integers as Apache DataSketches hashes them: signed numbers of 64 bits. Unsigned ones of 64 bits have the
/// same bytes.
fn signed(array: &ArrayRef) -> PyResult<ArrayRef> {
    match array.data_type() {
        kind if kind.is_integer() && *kind != DataType::UInt64 => {
            cast(array, &DataType::Int64).map_err(value)
        }
        _ => Ok(array.clone()),
    }
}

fn names(names: Column) -> PyResult<Batch> {
    let text = |kind: &DataType| matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    if names.chunks().iter().any(|chunk| text(chunk.data_type())) {
        return Err(wrong_type("names: text; pass encoded names: hashlane.parse_name(names, encoding)"));
    }
    names.chunks().iter().try_for_each(|chunk| Rows::of_strings(names.name(), chunk).map(drop))?;
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
            Err(too_long(first + row.unwrap_or(place)))
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

fn too_long(row: usize) -> PyErr {
    let most = HeavyHitters::MOST_KEY;
    at_row(row, format!("a key of more than {most} bytes: pass its hash"))
}
