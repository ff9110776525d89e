//! Pickles of `hashlane.Array`: the type in words and the buffers, checked in full when they are read.

use crate::error::value;
use arrow_array::{Array, ArrayRef, make_array, new_empty_array};
use arrow_buffer::Buffer;
use arrow_schema::{ArrowError, DataType, Field};
use arrow_select::concat::concat;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::{PyArray, PyChunkedArray};
use std::sync::Arc;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(to_buffers, module)?)?;
    module.add_function(wrap_pyfunction!(from_buffers, module)?)
}

/// Type in words, rows, null bitmap, buffers, and the same of nested arrays.
#[derive(FromPyObject, IntoPyObject)]
struct Parts(String, usize, Option<Py<PyBytes>>, Vec<Py<PyBytes>>, Vec<Parts>);

/// The parts of a result, as one chunk: without the rows before and after a slice.
#[pyfunction]
fn to_buffers(py: Python<'_>, result: &Bound<'_, PyAny>) -> PyResult<Parts> {
    let array = match result.cast::<PyArray>() {
        Ok(array) => vec![Arc::clone(array.get().array())],
        Err(_) => result.extract::<PyChunkedArray>()?.into_inner().0,
    };
    let kind = match array.first() {
        Some(first) => first.data_type().clone(),
        None => result.extract::<PyChunkedArray>()?.data_type().clone(),
    };
    // Two arrays at least: `concat` passes one on, with its offset.
    let empty = new_empty_array(&kind);
    let mut all: Vec<&dyn Array> = array.iter().map(AsRef::as_ref).collect();
    all.extend([empty.as_ref(), empty.as_ref()]);
    Ok(parts(py, &concat(&all).map_err(value)?))
}

fn parts(py: Python<'_>, array: &ArrayRef) -> Parts {
    let data = array.to_data();
    let bytes = |buffer: &Buffer| PyBytes::new(py, buffer).unbind();
    let nulls = data.nulls().map(|nulls| bytes(&nulls.inner().sliced()));
    let nested = data.child_data().iter().map(|child| parts(py, &make_array(child.clone()))).collect();
    Parts(
        array.data_type().to_string(),
        data.len(),
        nulls,
        data.buffers().iter().map(bytes).collect(),
        nested,
    )
}

/// The array of these parts.
///
/// # Errors
/// `ValueError` for parts that are no array.
#[pyfunction]
#[pyo3(signature = (parts))]
fn from_buffers(py: Python<'_>, parts: Parts) -> PyResult<PyArray> {
    let array = read(py, &parts)?;
    let field = Arc::new(Field::new("", array.data_type().clone(), true));
    Ok(PyArray::new(array, field))
}

fn read(py: Python<'_>, parts: &Parts) -> PyResult<ArrayRef> {
    let Parts(kind, rows, nulls, buffers, nested) = parts;
    let broken = |why: ArrowError| value(format!("not a pickle of hashlane.Array: {why}"));
    // Arrow asserts this one, and returns an error for the others.
    if nulls.as_ref().is_some_and(|nulls| nulls.as_bytes(py).len() < rows.div_ceil(8)) {
        return Err(broken(ArrowError::InvalidArgumentError("its null bitmap is too short".to_owned())));
    }
    let kind: DataType = kind.parse().map_err(broken)?;
    // Copies, as the buffers of an array are aligned.
    let buffer = |bytes: &Py<PyBytes>| Buffer::from_slice_ref(bytes.as_bytes(py));
    let nested = nested.iter().map(|nested| Ok(read(py, nested)?.to_data())).collect::<PyResult<Vec<_>>>()?;
    let data = new_empty_array(&kind)
        .to_data()
        .into_builder()
        .len(*rows)
        .null_bit_buffer(nulls.as_ref().map(buffer))
        .buffers(buffers.iter().map(buffer).collect())
        .child_data(nested)
        .build()
        .map_err(broken)?;
    data.validate_full().map_err(broken)?;
    Ok(make_array(data))
}
