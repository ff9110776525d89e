//! `hash`, `hash128` and `schemes`.

use crate::arguments::SecretKey;
use crate::column::{Column, chunked, combined};
use crate::composite;
use crate::error::value;
use crate::interrupt::Interrupt;
use crate::registry::{self, checked_key};
use crate::rows::Rows;
use crate::views::Scratch;
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, UInt64Array};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use hashlane_hash::scheme::{Keying, Scheme, SchemeInfo};
use hashlane_hash::siphash::{SipHash13, SipHash24};
use hashlane_hash::siphash128::{SipHash13x128, SipHash24x128};
use hashlane_sketch::Keys;
use hashlane_sketch::hasher::Hasher;
use pyo3::prelude::*;
use pyo3_arrow::PyArray;
use std::sync::Arc;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(hash, module)?)?;
    module.add_function(wrap_pyfunction!(hash128, module)?)?;
    module.add_function(wrap_pyfunction!(words, module)?)?;
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

/// The hash of each row; a null for each null. A row of a table, and a list, is hashed as its
/// [bytes](composite).
pub(crate) fn hashed(
    name: &str,
    array: &ArrayRef,
    hasher: &Hasher,
    interrupt: &mut Interrupt,
) -> PyResult<ArrayRef> {
    // By way of a batch that stays in the cache: a result that begins as zeros is written twice.
    let mut hashes = Vec::with_capacity(array.len());
    let mut batch = [0; BATCH];
    for_each(name, array, interrupt, |keys| {
        let batch = batch.get_mut(..keys.len()).unwrap_or_default();
        hasher.hash(keys, batch);
        hashes.extend_from_slice(batch);
    })?;
    Ok(Arc::new(UInt64Array::new(hashes.into(), array.logical_nulls())))
}

/// Passes the rows of an array as keys to `each`, batch by batch.
fn for_each(
    name: &str,
    array: &ArrayRef,
    interrupt: &mut Interrupt,
    mut each: impl FnMut(&Keys<'_>),
) -> PyResult<()> {
    let is_nested = composite::is_nested(array.data_type());
    let rows = if is_nested { None } else { Some(Rows::of(name, array)?) };
    let mut scratch = Scratch::default();
    for first in (0..array.len()).step_by(BATCH) {
        let len = BATCH.min(array.len() - first);
        let encoded;
        let keys = match &rows {
            Some(rows) => rows.keys(first..first + len, &mut scratch),
            None => {
                encoded = composite::encode_nested(name, &[array.slice(first, len)])?;
                Keys::offsets64(&encoded.offsets, &encoded.bytes)
            }
        };
        let keys = keys.map_err(value)?;
        each(&keys);
        interrupt.record(len, keys.bytes())?;
    }
    Ok(())
}

/// A hash of 128 bits under a key.
enum Hasher128 {
    Sip24(SipHash24x128),
    Sip13(SipHash13x128),
}

impl Hasher128 {
    fn keyed(scheme: &str, key: Option<&[u8]>) -> PyResult<Self> {
        match scheme {
            SIPHASH_24 => Ok(Self::Sip24(SipHash24x128::new(&checked_key(&SipHash24::INFO, scheme, key)?))),
            SIPHASH_13 => Ok(Self::Sip13(SipHash13x128::new(&checked_key(&SipHash13::INFO, scheme, key)?))),
            other => {
                let known = [SIPHASH_13, SIPHASH_24];
                let next = format!("of 128 bits there are {}", known.join(" and "));
                Err(registry::unknown("scheme", other, known.into_iter(), &next))
            }
        }
    }

    fn hash(&self, key: &[u8]) -> u128 {
        match self {
            Self::Sip24(hash) => hash.hash(key),
            Self::Sip13(hash) => hash.hash(key),
        }
    }
}

/// Ids of the hashes of 128 bits.
const SIPHASH_13: &str = "siphash-1-3-128";
const SIPHASH_24: &str = "siphash-2-4-128";

/// Bytes of a hash of 128 bits.
const WIDE: i32 = 16;

#[pyfunction]
#[pyo3(signature = (array, scheme, key=None))]
fn hash128<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyAny>,
    scheme: &str,
    key: Option<SecretKey>,
) -> PyResult<Bound<'py, PyAny>> {
    let hasher = Hasher128::keyed(scheme, key.as_deref())?;
    let column = Column::of("array", array)?;
    let mut interrupt = Interrupt::default();
    column.map(py, DataType::FixedSizeBinary(WIDE), |_, array| {
        let mut words = Vec::with_capacity(2 * array.len());
        for_each(column.name(), array, &mut interrupt, |keys| {
            for key in keys.iter() {
                let hash = hasher.hash(key);
                words.extend([hash as u64, (hash >> 64) as u64].map(u64::to_le));
            }
        })?;
        let bytes = Buffer::from_vec(words);
        let hashes = FixedSizeBinaryArray::try_new(WIDE, bytes, array.logical_nulls()).map_err(value)?;
        Ok(Arc::new(hashes) as ArrayRef)
    })
}

/// The words of a result of [`hash128`], two for each row.
#[pyfunction]
fn words(result: &Bound<'_, PyAny>) -> PyResult<PyArray> {
    let (result, _) = combined(chunked(result)?)?.into_inner();
    if !matches!(result.data_type(), DataType::FixedSizeBinary(WIDE)) {
        return Err(value("expected a result of hash128"));
    }
    let data = result.to_data();
    let (first, len) = (2 * data.offset(), 2 * data.len());
    let bytes = data.buffers().first().cloned().unwrap_or_default();
    let words = UInt64Array::new(ScalarBuffer::new(bytes, first, len), None);
    Ok(PyArray::new(Arc::new(words), Arc::new(Field::new("", DataType::UInt64, false))))
}

/// Rows of the table of schemes: id, kind of keys, bits, keying, bits of the key, check value, source, safe
/// uses.
type SchemeRow = (String, &'static str, u32, &'static str, u32, u64, &'static str, &'static str);

#[pyfunction]
fn schemes() -> Vec<SchemeRow> {
    let bytes = registry::schemes();
    let of_bytes = bytes.iter().map(|scheme| row(scheme.info.id, "bytes", &scheme.info));
    of_bytes.chain(registry::tuple_schemes().iter().map(|(id, info)| row(id, "tuple", info))).collect()
}

fn row(id: &str, keys: &'static str, info: &SchemeInfo) -> SchemeRow {
    let (keying, bits) = match info.keying {
        Keying::None => ("none", 0),
        Keying::Seed(bits) => ("seed", bits),
        Keying::Secret(bits) => ("secret", bits),
    };
    (id.to_owned(), keys, info.width, keying, bits, info.check, info.source, info.safe)
}
