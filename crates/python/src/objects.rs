//! Lists of Python objects as Arrow arrays.

use crate::error::{value, wrong_type};
use arrow_array::{ArrayRef, Int64Array, LargeBinaryArray, LargeStringArray, NullArray, UInt64Array};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt, PyList, PyString, PyTuple};
use std::sync::Arc;

/// Type of the objects of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Bytes,
    Number,
}

impl Kind {
    fn of(item: &Bound<'_, PyAny>) -> Option<Self> {
        if item.is_instance_of::<PyString>() {
            Some(Self::Text)
        } else if item.is_instance_of::<PyBytes>() {
            Some(Self::Bytes)
        } else if item.is_instance_of::<PyInt>() && !item.is_instance_of::<PyBool>() {
            Some(Self::Number)
        } else {
            None
        }
    }
}

/// Array of a list of `str`, `bytes` or `int`, and `None`: of text, bytes or 64-bit integers, which are
/// signed if these hold all numbers. A list without a value is one of nulls.
///
/// # Errors
/// `TypeError` for another object and for a list of several types; `ValueError` for text that has no UTF-8
/// and for numbers of more than 64 bits.
pub(crate) fn of_objects(name: &str, object: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let items: Vec<Bound<'_, PyAny>> = if let Ok(list) = object.cast::<PyList>() {
        list.iter().collect()
    } else if let Ok(tuple) = object.cast::<PyTuple>() {
        tuple.iter().collect()
    } else {
        return Err(wrong_type(format!(
            "{name}: expected a column (an Arrow array, a Polars or pandas Series, a NumPy array, or a list of \
             str, bytes or int), got {}",
            object.get_type().name()?
        )));
    };
    let mut common = None;
    for (row, item) in items.iter().enumerate().filter(|(_, item)| !item.is_none()) {
        let kind = Kind::of(item);
        if kind.is_none() || common.is_some_and(|common| kind != Some(common)) {
            return Err(wrong_type(format!(
                "{name}: row {row} is of type {}; a list holds str, bytes or int, only one of them, and None",
                item.get_type().name()?
            )));
        }
        common = kind;
    }
    match common {
        None => Ok(Arc::new(NullArray::new(items.len()))),
        Some(Kind::Text) => texts(name, &items),
        Some(Kind::Bytes) => {
            let bytes = items.iter().map(|item| item.cast::<PyBytes>().ok().map(|bytes| bytes.as_bytes()));
            Ok(Arc::new(bytes.collect::<LargeBinaryArray>()))
        }
        Some(Kind::Number) => numbers(name, &items),
    }
}

fn texts(name: &str, items: &[Bound<'_, PyAny>]) -> PyResult<ArrayRef> {
    let mut texts = Vec::with_capacity(items.len());
    for (row, item) in items.iter().enumerate() {
        texts.push(match item.cast::<PyString>() {
            Ok(text) => Some(text.to_cow().map_err(|_| {
                value(format!("{name}: row {row} has a surrogate, which UTF-8 cannot encode: pass bytes"))
            })?),
            Err(_) => None,
        });
    }
    Ok(Arc::new(texts.into_iter().collect::<LargeStringArray>()))
}

fn numbers(name: &str, items: &[Bound<'_, PyAny>]) -> PyResult<ArrayRef> {
    let signed: Result<Vec<Option<i64>>, PyErr> = items.iter().map(|item| item.extract()).collect();
    if let Ok(signed) = signed {
        return Ok(Arc::new(Int64Array::from(signed)));
    }
    let mut unsigned = Vec::with_capacity(items.len());
    for (row, item) in items.iter().enumerate() {
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
