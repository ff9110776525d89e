//! NumPy arrays as Arrow arrays: without a copy, except for bytes of one width that end with zeros.
//!
//! NumPy describes an array by its attribute `__array_interface__`
//! (<https://numpy.org/doc/stable/reference/arrays.interface.html>), which needs no NumPy to build.

use crate::error::{value, wrong_type};
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeBinaryArray, LargeBinaryArray, PrimitiveArray,
};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_select::nullif::nullif;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;

/// Array of a NumPy array, which must be contiguous: of integers, of bytes of one width (`S16`), or a matrix
/// of `uint8`, whose rows become rows of bytes. Masked elements become nulls, and rows of a matrix with a
/// masked element. `None` for arrays of Python objects and of text.
///
/// # Errors
/// `TypeError` for another type, another byte order or a shape of more dimensions, and for an interface that
/// is not as documented; `ValueError` for gaps between elements.
pub(crate) fn array(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Option<ArrayRef>> {
    let interface = object.getattr("__array_interface__")?;
    let unlike = |field: &str| {
        wrong_type(format!(
            "{name}: __array_interface__ has no {field} as NumPy documents it; pass numpy.asarray(array)"
        ))
    };
    let interface = interface.cast::<PyDict>().map_err(|_| unlike("fields"))?;
    let field = |name: &str| interface.get_item(name)?.ok_or_else(|| unlike(name));
    let kind: String = field("typestr")?.extract().map_err(|_| unlike("typestr"))?;
    if matches!(kind.as_bytes(), [_, b'O' | b'U' | b'T', ..]) {
        return Ok(None);
    }
    let shape: Vec<usize> = field("shape")?.extract().map_err(|_| unlike("shape"))?;
    let strides: Option<Bound<'_, PyAny>> =
        interface.get_item("strides")?.filter(|strides| !strides.is_none());
    let rows = shape.first().copied().unwrap_or_default();
    let width: usize = kind.get(2..).and_then(|digits| digits.parse().ok()).unwrap_or_default();
    let columns = match shape.as_slice() {
        [_] => None,
        [_, columns] if kind == "|u1" => Some(*columns),
        _ => {
            return Err(wrong_type(format!(
                "{name}: a NumPy array of shape {shape:?} and type {kind}: pass one dimension, or rows of uint8"
            )));
        }
    };
    if strides.is_some() && rows > 0 {
        return Err(value(format!(
            "{name}: a NumPy array with gaps between its elements: pass numpy.ascontiguousarray(array)"
        )));
    }
    let (address, _): (usize, bool) = field("data")?.extract().map_err(|_| unlike("data"))?;
    let len = rows.checked_mul(width).and_then(|len| len.checked_mul(columns.unwrap_or(1)));
    // Neither the size of memory nor a sum with an address may pass the end of the address space.
    let is_memory =
        |len: &usize| *len == 0 || (address != 0 && isize::try_from(address.saturating_add(*len)).is_ok());
    let len = len.filter(is_memory).ok_or_else(|| unlike("data of its shape"))?;
    let buffer = borrowed(address, len, object.clone().unbind());
    let array: ArrayRef = match (kind.as_str(), columns) {
        (_, Some(columns)) => Arc::new(fixed(name, buffer, columns)?),
        ("|u1", None) => primitive::<UInt8Type>(buffer, rows),
        ("<u2", None) => primitive::<UInt16Type>(buffer, rows),
        ("<u4", None) => primitive::<UInt32Type>(buffer, rows),
        ("<u8", None) => primitive::<UInt64Type>(buffer, rows),
        ("|i1", None) => primitive::<Int8Type>(buffer, rows),
        ("<i2", None) => primitive::<Int16Type>(buffer, rows),
        ("<i4", None) => primitive::<Int32Type>(buffer, rows),
        ("<i8", None) => primitive::<Int64Type>(buffer, rows),
        (kind, None) if kind.starts_with("|S") => without_padding(fixed(name, buffer, width)?, width),
        (kind, None) if kind.starts_with("|V") => {
            return Err(wrong_type(format!(
                "{name}: a NumPy array of structures or of raw bytes ({kind}), whose padding is of no meaning: \
                 pass one field, or rows of uint8"
            )));
        }
        (kind, None) => {
            return Err(wrong_type(format!(
                "{name}: a NumPy array of type {kind}: pass integers in little-endian order, bytes (S), or text"
            )));
        }
    };
    match mask(object, rows)? {
        Some(mask) => nullif(&array, &mask).map(Some).map_err(value),
        None => Ok(Some(array)),
    }
}

/// The rows with a masked element, for an array of `numpy.ma`.
fn mask(object: &Bound<'_, PyAny>, rows: usize) -> PyResult<Option<BooleanArray>> {
    if !object.hasattr("mask")? || !object.hasattr("harden_mask")? {
        return Ok(None);
    }
    let mask =
        object.py().import("numpy.ma")?.call_method1("getmaskarray", (object,))?.call_method0("tobytes")?;
    let mask = mask.cast::<PyBytes>()?.as_bytes();
    if rows == 0 || !mask.contains(&1) {
        return Ok(None);
    }
    let rows = mask.chunks((mask.len() / rows).max(1)).map(|row| row.contains(&1));
    Ok(Some(BooleanArray::from(rows.collect::<Vec<_>>())))
}

/// Bytes of `width` each without the zeros at their ends, which NumPy does not tell from padding. Rows
/// without such zeros are not copied.
fn without_padding(array: FixedSizeBinaryArray, width: usize) -> ArrayRef {
    let is_full = |row: &[u8]| row.last().is_none_or(|last| *last != 0);
    if array.value_data().chunks_exact(width.max(1)).all(is_full) {
        return Arc::new(array);
    }
    let end = |row: &[u8]| row.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let rows = array.iter().map(|row| row.map(|row| row.get(..end(row)).unwrap_or_default()));
    Arc::new(rows.collect::<LargeBinaryArray>())
}

fn fixed(name: &str, buffer: Buffer, width: usize) -> PyResult<FixedSizeBinaryArray> {
    let width = i32::try_from(width).ok().filter(|width| *width > 0);
    let width = width.ok_or_else(|| {
        wrong_type(format!("{name}: a NumPy array of rows without bytes, or of rows above 2 GiB"))
    })?;
    FixedSizeBinaryArray::try_new(width, buffer, None).map_err(value)
}

fn primitive<T: ArrowPrimitiveType>(buffer: Buffer, rows: usize) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::new(buffer, 0, rows), None))
}

/// The memory of a Python object, which lives as long as the buffer.
#[allow(unsafe_code, reason = "the memory of a NumPy array is known by its address")]
fn borrowed(address: usize, len: usize, owner: Py<PyAny>) -> Buffer {
    let Some(start) = NonNull::new(address as *mut u8).filter(|_| len > 0) else {
        return Buffer::from_vec(Vec::<u64>::new());
    };
    // An array that is not aligned to its elements is copied: Arrow's typed buffers must be aligned.
    if !address.is_multiple_of(8) {
        // SAFETY: as below, and the slice is dropped while the owner lives.
        return Buffer::from_slice_ref(unsafe { std::slice::from_raw_parts(start.as_ptr(), len) });
    }
    // SAFETY: `__array_interface__` states that `len` bytes at `address` belong to the array; the owner keeps
    // them alive, and a contiguous array does not move. The lock is released while they are read: as with
    // NumPy's own functions, another thread must not write into the array meanwhile.
    unsafe { Buffer::from_custom_allocation(start, len, Arc::new(AssertUnwindSafe(owner))) }
}
