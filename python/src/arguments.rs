//! Arguments that are no columns: keys and numbers.

use crate::error::{value, wrong_type};
use hashlane_flow::rss::SYMMETRIC_KEY;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView};
use std::ops::{Deref, RangeInclusive};

/// The bytes of a key that has `LEN` of them: of `bytes`, a `bytearray` or a `memoryview`. Their number is
/// not checked.
pub(crate) struct KeyBytes<const LEN: usize>(Vec<u8>);

/// A key of a hash.
pub(crate) type SecretKey = KeyBytes<16>;

/// The key of a network card.
pub(crate) type RssKey = KeyBytes<{ SYMMETRIC_KEY.len() }>;

impl<const LEN: usize> Deref for KeyBytes<LEN> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl<'py, const LEN: usize> FromPyObject<'_, 'py> for KeyBytes<LEN> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Some(bytes) = bytes(&object)? {
            return Ok(Self(bytes));
        }
        let (what, next_step) = match LEN {
            16 => ("key", "hashlane.random_key()"),
            _ => ("key of the card", "hashlane.RSS_SYMMETRIC_KEY"),
        };
        let kind = object.get_type();
        Err(wrong_type(format!("{what}: expected {LEN} bytes, got {}; pass {next_step}", kind.name()?)))
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
