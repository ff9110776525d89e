//! Results of sketches over one column, as arrays of one row: aggregations of a query.

use super::any::{Any, needed};
use super::refused::refused;
use super::update::Batch;
use crate::column::Column;
use crate::error::value;
use arrow_array::{ArrayRef, Float64Array, LargeBinaryArray, LargeListArray, StructArray, UInt64Array};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Fields};
use hashlane_sketch::{Distinct, HeavyHitters};
use pyo3::PyResult;
use std::sync::Arc;

fn updated(mut any: Any, columns: Vec<Column>) -> PyResult<Any> {
    Batch::of(any.kind(), columns, None, None)?.add(&mut any, &mut false)?;
    Ok(any)
}

/// Number of distinct keys, as `Distinct`.
///
/// # Errors
/// As `Distinct` and its update.
pub(crate) fn distinct(columns: Vec<Column>, precision: u8, key: Option<&[u8]>) -> PyResult<ArrayRef> {
    let sketch = Any::Distinct(Distinct::new(precision, &needed(key)?).map_err(refused)?);
    match updated(sketch, columns)? {
        Any::Distinct(sketch) => Ok(Arc::new(Float64Array::from(vec![sketch.result().keys]))),
        _ => Err(value("another sketch")),
    }
}

fn unsigned(name: &str) -> Field {
    Field::new(name, DataType::UInt64, true)
}

fn spread_fields() -> Fields {
    let float = |name| Field::new(name, DataType::Float64, true);
    let fields = [
        unsigned("keys"),
        unsigned("buckets"),
        float("chi_squared"),
        unsigned("degrees"),
        float("p_value"),
        unsigned("longest"),
        unsigned("longest_median"),
        unsigned("longest_limit"),
    ];
    fields.into_iter().collect()
}

/// Type of the result of [`spread`].
pub(crate) fn spread_kind() -> DataType {
    DataType::Struct(spread_fields())
}

/// Keys of each bucket, as `Spread`, without the histogram of loads.
///
/// # Errors
/// As `Spread` and its update.
pub(crate) fn spread(
    columns: Vec<Column>,
    scheme: &str,
    buckets: usize,
    key: Option<&[u8]>,
    reduction: &str,
) -> PyResult<ArrayRef> {
    let Any::Spread(sketch) = updated(Any::spread(scheme, buckets, key, reduction)?, columns)? else {
        return Err(value("another sketch"));
    };
    let of = sketch.result();
    let unsigned = |number| -> ArrayRef { Arc::new(UInt64Array::from(vec![number])) };
    let float = |number| -> ArrayRef { Arc::new(Float64Array::from(vec![number])) };
    let columns = vec![
        unsigned(of.keys),
        unsigned(of.buckets),
        float(of.chi_squared),
        unsigned(of.degrees),
        float(of.p_value),
        unsigned(of.longest),
        unsigned(of.longest_median),
        unsigned(of.longest_limit),
    ];
    Ok(Arc::new(StructArray::try_new(spread_fields(), columns, None).map_err(value)?))
}

fn hitter_fields() -> Fields {
    [Field::new("key", DataType::LargeBinary, true), unsigned("least")].into_iter().collect()
}

fn heavy_fields() -> Fields {
    let hitter = Arc::new(Field::new_list_field(DataType::Struct(hitter_fields()), true));
    [unsigned("total"), unsigned("error"), Field::new("hitters", DataType::LargeList(hitter), true)]
        .into_iter()
        .collect()
}

/// Type of the result of [`heavy`].
pub(crate) fn heavy_kind() -> DataType {
    DataType::Struct(heavy_fields())
}

/// Keys with the largest weights, as `HeavyHitters`.
///
/// # Errors
/// As `HeavyHitters` and its update.
pub(crate) fn heavy(columns: Vec<Column>, counters: usize) -> PyResult<ArrayRef> {
    let sketch = Any::HeavyHitters(HeavyHitters::new(counters).map_err(refused)?);
    let Any::HeavyHitters(sketch) = updated(sketch, columns)? else {
        return Err(value("another sketch"));
    };
    let of = sketch.result();
    let keys = LargeBinaryArray::from_iter_values(of.hitters.iter().map(|hitter| &hitter.key));
    let least = UInt64Array::from_iter_values(of.hitters.iter().map(|hitter| hitter.least));
    let hitters = StructArray::try_new(hitter_fields(), vec![Arc::new(keys), Arc::new(least)], None);
    let item = Arc::new(Field::new_list_field(DataType::Struct(hitter_fields()), true));
    let offsets = OffsetBuffer::from_lengths([of.hitters.len()]);
    let list = LargeListArray::try_new(item, offsets, Arc::new(hitters.map_err(value)?), None);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt64Array::from(vec![of.total])),
        Arc::new(UInt64Array::from(vec![of.error])),
        Arc::new(list.map_err(value)?),
    ];
    Ok(Arc::new(StructArray::try_new(heavy_fields(), columns, None).map_err(value)?))
}
