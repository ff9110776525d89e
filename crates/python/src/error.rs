//! Errors as exceptions, with the row that they are about.

use pyo3::PyErr;
use pyo3::exceptions::{PyTypeError, PyValueError};
use std::fmt::Display;

/// A `ValueError` about row `row`, counted from 0 over all chunks.
pub(crate) fn at_row(row: usize, why: impl Display) -> PyErr {
    PyValueError::new_err(format!("row {row}: {why}"))
}

/// A `ValueError`.
pub(crate) fn value(why: impl Display) -> PyErr {
    PyValueError::new_err(why.to_string())
}

/// A `TypeError`.
pub(crate) fn wrong_type(why: impl Display) -> PyErr {
    PyTypeError::new_err(why.to_string())
}
