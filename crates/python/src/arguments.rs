//! Arguments that are no columns: keys and numbers.

use crate::error::{value, wrong_type};
use hashlane_flow::rss::SYMMETRIC_KEY;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView};
use std::ops::{Deref, RangeInclusive};

/// The bytes of a key: of `bytes`, a `bytearray` or a `memoryview`. Their number is not checked.
pub(crate) struct SecretKey(Vec<u8>);

/// The bytes of the key of a network card, as those of a [`SecretKey`].
pub(crate) struct RssKey(Vec<u8>);

impl Deref for SecretKey {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Deref for RssKey {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl<'py> FromPyObject<'_, 'py> for SecretKey {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match bytes(&object)? {
            Some(bytes) => Ok(Self(bytes)),
            None => Err(wrong_type(format!(
                "key: expected 16 bytes, got {}; pass hashlane.random_key()",
                object.get_type().name()?
            ))),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for RssKey {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match bytes(&object)? {
            Some(bytes) => Ok(Self(bytes)),
            None => Err(wrong_type(format!(
                "key of the card: expected {} bytes, got {}; pass hashlane.RSS_SYMMETRIC_KEY",
                SYMMETRIC_KEY.len(),
                object.get_type().name()?
            ))),
        }
    }
}

fn bytes(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(Some(bytes.as_bytes().to_vec()));
    }
    if let Ok(bytes) = object.cast::<PyByteArray>() {
        return Ok(Some(bytes.to_vec()));
    }
    match object.cast::<PyMemoryView>() {
        Ok(view) => view.call_method0("tobytes")?.extract().map(Some),
        Err(_) => Ok(None),
    }
}

/// The integer `object`, an argument called `name`.
///
/// # Errors
/// `TypeError` for another type than `int`; `ValueError` for a number outside of `range`.
pub(crate) fn number(name: &str, object: &Bound<'_, PyAny>, range: RangeInclusive<u64>) -> PyResult<u64> {
    match object.extract::<u64>() {
        Ok(number) if range.contains(&number) => Ok(number),
        Err(why) if why.is_instance_of::<PyTypeError>(object.py()) => {
            Err(wrong_type(format!("{name}: expected an int, got {}", object.get_type().name()?)))
        }
        // A number of thousands of digits has no text.
        _ => Err(value(format!(
            "{name} must be from {} to {}, not {}",
            range.start(),
            range.end(),
            object.str().map_or_else(|_| "a longer number".to_owned(), |text| text.to_string())
        ))),
    }
}
