//! `hash` and `schemes`.

use crate::arguments::SecretKey;
use crate::column::Column;
use crate::composite;
use crate::error::value;
use crate::interrupt::Interrupt;
use crate::registry;
use crate::rows::Rows;
use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_schema::DataType;
use hashlane_hash::scheme::{Keying, SchemeInfo};
use hashlane_sketch::Keys;
use hashlane_sketch::hasher::Hasher;
use pyo3::prelude::*;
use std::sync::Arc;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(hash, module)?)?;
    module.add_function(wrap_pyfunction!(schemes, module)?)
}

/// Rows that are hashed between two looks at the bytes hashed.
const BATCH: usize = 1024;

#[pyfunction]
#[pyo3(signature = (array, scheme, key=None))]
fn hash<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyAny>,
    scheme: &str,
    key: Option<SecretKey>,
) -> PyResult<Bound<'py, PyAny>> {
    let hasher = registry::scheme(scheme)?.keyed(key.as_deref())?;
    let column = Column::of("array", array)?;
    let mut interrupt = Interrupt::default();
    column.map(py, DataType::UInt64, |_, array| hashed(column.name(), array, &hasher, &mut interrupt))
}

/// The hash of each row; a null for each null. A row of a table is hashed as its [bytes](composite).
pub(crate) fn hashed(
    name: &str,
    array: &ArrayRef,
    hasher: &Hasher,
    interrupt: &mut Interrupt,
) -> PyResult<ArrayRef> {
    if matches!(array.data_type(), DataType::Struct(_)) {
        return hashed_rows(name, array, hasher, interrupt);
    }
    let rows = Rows::of(name, array)?;
    let mut hashes = vec![0; array.len()];
    for (number, out) in hashes.chunks_mut(BATCH).enumerate() {
        let from = number * BATCH;
        let mut slices = Vec::new();
        let keys = rows.keys(from..from + out.len(), &mut slices).map_err(value)?;
        hasher.hash(&keys, out);
        interrupt.record(out.len(), keys.bytes())?;
    }
    Ok(Arc::new(UInt64Array::new(hashes.into(), array.logical_nulls())))
}

/// As [`hashed`], of a table. A null in a column is a value; a row that is null itself stays null.
fn hashed_rows(
    name: &str,
    table: &ArrayRef,
    hasher: &Hasher,
    interrupt: &mut Interrupt,
) -> PyResult<ArrayRef> {
    let mut hashes = vec![0; table.len()];
    for (number, out) in hashes.chunks_mut(BATCH).enumerate() {
        let encoded = composite::encode(name, &[table.slice(number * BATCH, out.len())])?;
        let keys = Keys::offsets64(&encoded.offsets, &encoded.bytes).map_err(value)?;
        hasher.hash(&keys, out);
        interrupt.record(out.len(), keys.bytes())?;
    }
    Ok(Arc::new(UInt64Array::new(hashes.into(), table.nulls().cloned())))
}

/// Rows of the table of schemes: id, kind of keys, bits, keying, bits of the key, check value, source, safe
/// uses.
type SchemeRow = (String, &'static str, u32, &'static str, u32, u64, &'static str, &'static str);

#[pyfunction]
fn schemes() -> Vec<SchemeRow> {
    let bytes = registry::schemes();
    let of_bytes = bytes.iter().map(|scheme| row(scheme.info.id, "bytes", &scheme.info));
    of_bytes.chain(crate::flow::tuple_schemes().iter().map(|(id, info)| row(id, "tuple", info))).collect()
}

fn row(id: &str, keys: &'static str, info: &SchemeInfo) -> SchemeRow {
    let (keying, bits) = match info.keying {
        Keying::None => ("none", 0),
        Keying::Seed(bits) => ("seed", bits),
        Keying::Secret(bits) => ("secret", bits),
    };
    (id.to_owned(), keys, info.width, keying, bits, info.check, info.source, info.safe)
}
