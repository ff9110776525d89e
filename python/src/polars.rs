//! Types of Polars that Arrow's C interface cannot carry.

use crate::error::wrong_type;
use arrow_array::{ArrayRef, NullArray};
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::Arc;

/// Nulls for a Series of Polars of type `Null`: it exports them with a buffer, which Arrow's specification
/// forbids. `None` for other columns of Polars.
///
/// # Errors
/// `TypeError` for Series and frames of Python objects, which Polars exports as addresses in memory, and of
/// integers of 128 bits.
pub(crate) fn nulls(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Option<ArrayRef>> {
    let py = object.py();
    let types: Vec<Bound<'_, PyAny>> = if let Ok(one) = object.getattr(intern!(py, "dtype")) {
        vec![one]
    } else if let Ok(all) = object.getattr(intern!(py, "dtypes")) {
        all.extract()?
    } else {
        return Ok(None);
    };
    for kind in &types {
        match kind.str()?.to_cow()?.as_ref() {
            "Object" => {
                return Err(wrong_type(format!(
                    "{name}: a Polars column of Python objects (Object): cast it first, to String or Binary"
                )));
            }
            wide @ ("Int128" | "UInt128") => {
                return Err(wrong_type(format!(
                    "{name}: a Polars column of {wide}; integers have at most 64 bits: cast it first"
                )));
            }
            "Null" if object.hasattr(intern!(py, "dtype"))? => {
                return Ok(Some(Arc::new(NullArray::new(object.len()?))));
            }
            _ => {}
        }
    }
    Ok(None)
}
