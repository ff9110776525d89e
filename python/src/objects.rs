//! Lists of Python objects as Arrow arrays.

use crate::error::{value, wrong_type};
use crate::texts::Texts;
use arrow_array::types::{ByteArrayType, LargeBinaryType, LargeUtf8Type};
use arrow_array::{ArrayRef, Int64Array, NullArray, UInt64Array};
use pyo3::ffi::{Py_ssize_t, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt, PyList, PyString, PyTuple};
use std::ffi::c_char;
use std::sync::Arc;

/// Array of a list of `str`, `bytes` or `int`, and `None`: of text, bytes or 64-bit integers, which are
/// signed if these hold all numbers. A list without a value is one of nulls.
///
/// # Errors
/// `TypeError` for another object and for a list of several types; `ValueError` for text that has no UTF-8
/// and for numbers of more than 64 bits.
pub(crate) fn of_objects(name: &str, object: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    if let Ok(list) = object.cast::<PyList>() {
        of_items(name, || list.iter())
    } else if let Ok(tuple) = object.cast::<PyTuple>() {
        of_items(name, || tuple.iter())
    } else {
        Err(wrong_type(format!(
            "{name}: expected a column (an Arrow array, a Polars or pandas Series, a NumPy array, or a list of \
             str, bytes or int), got {}",
            object.get_type().name()?
        )))
    }
}

fn of_items<'py, I>(name: &str, items: impl Fn() -> I) -> PyResult<ArrayRef>
where
    I: ExactSizeIterator<Item = Bound<'py, PyAny>>,
{
    match items().find(|item| !item.is_none()) {
        None => Ok(Arc::new(NullArray::new(items().len()))),
        Some(first) if first.is_instance_of::<PyString>() => {
            strings::<LargeUtf8Type, _>(name, items(), |item, row| {
                item.cast::<PyString>().ok().map(|text| utf8(name, text, row)).transpose()
            })
        }
        Some(first) if first.is_instance_of::<PyBytes>() => {
            strings::<LargeBinaryType, _>(name, items(), |item, _| {
                Ok(item.cast::<PyBytes>().ok().map(|bytes| bytes.as_bytes()))
            })
        }
        Some(_) => numbers(name, items),
    }
}

/// Array of text or bytes. `read` returns nothing for an object of another type.
fn strings<'py, T, R>(
    name: &str,
    items: impl ExactSizeIterator<Item = Bound<'py, PyAny>>,
    read: R,
) -> PyResult<ArrayRef>
where
    T: ByteArrayType<Offset = i64>,
    R: for<'a> Fn(&'a Bound<'py, PyAny>, usize) -> PyResult<Option<&'a [u8]>>,
{
    let mut strings = Texts::with_rows(items.len());
    for (row, item) in items.enumerate() {
        match read(&item, row)? {
            None if !item.is_none() => return Err(mixed(name, row, &item)),
            bytes => strings.push(bytes),
        }
    }
    strings.finish::<T>()
}

/// The UTF-8 of a text, which Python keeps: of other text than ASCII from the first call on.
///
/// `PyString::to_str` calls the same, but only where the stable ABI lists the function, from 3.10 on: on 3.9
/// `to_cow` makes an object of each text, which takes three times as long.
#[allow(unsafe_code, reason = "a function of CPython that pyo3 declares for later versions alone")]
fn utf8<'a>(name: &str, text: &'a Bound<'_, PyString>, row: usize) -> PyResult<&'a [u8]> {
    unsafe extern "C" {
        fn PyUnicode_AsUTF8AndSize(text: *mut PyObject, len: *mut Py_ssize_t) -> *const c_char;
    }
    let mut len = 0;
    // SAFETY: `text` is a str, and the lock is held. Every CPython since 3.3 exports the function.
    let start = unsafe { PyUnicode_AsUTF8AndSize(text.as_ptr(), &raw mut len) };
    if start.is_null() {
        drop(PyErr::take(text.py()));
        return Err(value(format!(
            "{name}: row {row} has a surrogate, which UTF-8 cannot encode: pass bytes"
        )));
    }
    // SAFETY: the bytes are `text`'s, which cannot change, and live as long as it; there are `len` of them.
    Ok(unsafe { std::slice::from_raw_parts(start.cast(), len.unsigned_abs()) })
}

fn numbers<'py, I>(name: &str, items: impl Fn() -> I) -> PyResult<ArrayRef>
where
    I: ExactSizeIterator<Item = Bound<'py, PyAny>>,
{
    let is_number =
        |item: &Bound<'_, PyAny>| item.is_instance_of::<PyInt>() && !item.is_instance_of::<PyBool>();
    if let Some((row, item)) = items().enumerate().find(|(_, item)| !item.is_none() && !is_number(item)) {
        return Err(mixed(name, row, &item));
    }
    let signed: Result<Vec<Option<i64>>, PyErr> = items().map(|item| item.extract()).collect();
    if let Ok(signed) = signed {
        return Ok(Arc::new(Int64Array::from(signed)));
    }
    let mut unsigned = Vec::with_capacity(items().len());
    for (row, item) in items().enumerate() {
        if let Ok(number) = item.extract::<Option<u64>>() {
            unsigned.push(number);
            continue;
        }
        let why = if item.extract::<i64>().is_ok() {
            "negative, beside others above 2^63 - 1"
        } else if item.lt(0)? {
            "below -2^63"
        } else {
            "above 2^64 - 1"
        };
        return Err(value(format!(
            "{name}: row {row} is {why}; a list of int holds numbers of 64 bits, all signed or all unsigned"
        )));
    }
    Ok(Arc::new(UInt64Array::from(unsigned)))
}

/// A `TypeError` about the first object of another type.
fn mixed(name: &str, row: usize, item: &Bound<'_, PyAny>) -> PyErr {
    let kind = item.get_type().name().map_or_else(|_| "another".to_owned(), |kind| kind.to_string());
    wrong_type(format!(
        "{name}: row {row} is of type {kind}; a list holds str, bytes or int, only one of them, and None"
    ))
}
