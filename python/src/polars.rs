//! Types of Polars that Arrow's C interface cannot carry.

use crate::error::wrong_type;
use arrow_array::{ArrayRef, NullArray};
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::Arc;

/// A column of Polars, to be exported.
pub(crate) enum Exported<'py> {
    /// A Series of type Null.
    Nulls(ArrayRef),
    Object(Bound<'py, PyAny>),
}

/// A Series or frame of Polars without the type Null, of which Polars exports arrays with a buffer, and
/// Arrow's specification forbids it: within lists, structs and frames Boolean is in its place, whose nulls
/// have the same hashes. Other objects are returned as they are.
///
/// # Errors
/// `TypeError` for Series and frames of Python objects, which Polars exports as addresses in memory, and of
/// integers of 128 bits.
pub(crate) fn exported<'py>(name: &str, object: &Bound<'py, PyAny>) -> PyResult<Exported<'py>> {
    let py = object.py();
    if let Ok(kind) = object.getattr(intern!(py, "dtype")) {
        return Ok(match checked(name, &kind)? {
            Some(_) if kind.str()?.to_cow()? == "Null" => {
                Exported::Nulls(Arc::new(NullArray::new(object.len()?)))
            }
            Some(kind) => Exported::Object(object.call_method1(intern!(py, "cast"), (kind,))?),
            None => Exported::Object(object.clone()),
        });
    }
    let mut frame = object.clone();
    if object.hasattr(intern!(py, "to_series"))? {
        for (column, kind) in object.getattr(intern!(py, "dtypes"))?.try_iter()?.enumerate() {
            if let Some(kind) = checked(name, &kind?)? {
                let series = frame.call_method1(intern!(py, "to_series"), (column,))?;
                let series = series.call_method1(intern!(py, "cast"), (kind,))?;
                // The frame is the caller's: columns are replaced in one of our own.
                frame = frame.call_method0(intern!(py, "clone"))?;
                frame.call_method1(intern!(py, "replace_column"), (column, series))?;
            }
        }
    }
    Ok(Exported::Object(frame))
}

/// The type to export a column as, unless it is its own.
///
/// # Errors
/// As [`exported`].
fn checked<'py>(name: &str, kind: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    match kind.str()?.to_cow()?.as_ref() {
        "Object" => Err(wrong_type(format!(
            "{name}: a Polars column of Python objects (Object): cast it first, to String or Binary"
        ))),
        wide @ ("Int128" | "UInt128") => Err(wrong_type(format!(
            "{name}: a Polars column of {wide}; integers have at most 64 bits: cast it first"
        ))),
        text if text.contains("Null") => without_nulls(kind).map(Some),
        _ => Ok(None),
    }
}

/// The type with Boolean in place of Null.
fn without_nulls<'py>(kind: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = kind.py();
    let polars = py.import(intern!(py, "polars"))?;
    let is = |name: &str| kind.is_instance(&polars.getattr(name)?);
    let inner = || without_nulls(&kind.getattr(intern!(py, "inner"))?);
    if is("Null")? || kind.is(&polars.getattr(intern!(py, "Null"))?) {
        polars.getattr(intern!(py, "Boolean"))
    } else if is("List")? {
        polars.call_method1(intern!(py, "List"), (inner()?,))
    } else if is("Array")? {
        polars.call_method1(intern!(py, "Array"), (inner()?, kind.getattr(intern!(py, "size"))?))
    } else if is("Struct")? {
        let fields = kind.getattr(intern!(py, "fields"))?.try_iter()?.map(|field| {
            let field = field?;
            let kind = without_nulls(&field.getattr(intern!(py, "dtype"))?)?;
            polars.call_method1(intern!(py, "Field"), (field.getattr(intern!(py, "name"))?, kind))
        });
        polars.call_method1(intern!(py, "Struct"), (fields.collect::<PyResult<Vec<_>>>()?,))
    } else {
        Ok(kind.clone())
    }
}
