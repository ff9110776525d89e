//! Errors of sketches as exceptions.

use crate::error::value;
use hashlane_sketch::Error;
use pyo3::PyErr;

/// An error of a sketch as `ValueError`.
pub(super) fn refused(error: Error) -> PyErr {
    match error {
        Error::NoKey => value(
            "this sketch was read without its key: read it with from_bytes(data, key) to update it and to \
             see candidates",
        ),
        Error::WrongKey => value("the key is not the one that this sketch was made with"),
        Error::Unlike { .. } => value(format!("{error}; make all sketches with the same arguments")),
        error => value(error),
    }
}
