//! Columns of Python programs: Arrow arrays, whole or in chunks.

use crate::error::value;
use crate::objects::of_objects;
use crate::polars::{self, Exported};
use crate::{checked, dictionary, numpy};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use arrow_select::concat::concat;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3_arrow::{PyArray, PyChunkedArray};
use std::borrow::Borrow;
use std::sync::Arc;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Array", module.py().get_type::<PyArray>())?;
    module.add("ChunkedArray", module.py().get_type::<PyChunkedArray>())?;
    module.add_function(wrap_pyfunction!(chunked, module)?)?;
    module.add_function(wrap_pyfunction!(combined, module)?)?;
    module.add_function(wrap_pyfunction!(is_integer, module)?)?;
    module.add_function(wrap_pyfunction!(null_count, module)?)?;
    module.add_function(wrap_pyfunction!(is_numeric, module)?)
}

/// The result in chunks, for consumers of streams.
#[pyfunction]
pub(crate) fn chunked(result: &Bound<'_, PyAny>) -> PyResult<PyChunkedArray> {
    match result.cast::<PyArray>() {
        Ok(array) => {
            PyChunkedArray::try_new(vec![Arc::clone(array.get().array())], Arc::clone(array.get().field()))
        }
        Err(_) => result.extract(),
    }
}

/// The result as one array.
#[pyfunction]
pub(crate) fn combined(result: PyChunkedArray) -> PyResult<PyArray> {
    let (chunks, field) = result.into_inner();
    let array = match chunks.as_slice() {
        [] => arrow_array::new_empty_array(field.data_type()),
        chunks => concat(&chunks.iter().map(AsRef::as_ref).collect::<Vec<_>>()).map_err(value)?,
    };
    Ok(PyArray::new(array, field))
}

/// Returns true for a result of numbers without nulls.
#[pyfunction]
fn is_numeric(result: &Bound<'_, PyAny>) -> PyResult<bool> {
    let result = chunked(result)?;
    Ok(result.data_type().is_numeric() && result.chunks().iter().all(|chunk| chunk.null_count() == 0))
}

/// Returns true for a result of integers.
#[pyfunction]
fn is_integer(result: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(chunked(result)?.data_type().is_integer())
}

/// Number of nulls of a result.
#[pyfunction]
fn null_count(result: &Bound<'_, PyAny>) -> PyResult<usize> {
    Ok(chunked(result)?.chunks().iter().map(|chunk| chunk.logical_null_count()).sum())
}

/// Name of the package that the type of `object` is from.
fn library(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let module = object.get_type().module()?;
    Ok(module.to_cow()?.split('.').next().unwrap_or_default().to_owned())
}

/// A column.
#[derive(Debug)]
pub(crate) struct Column {
    /// Name of the argument, for errors.
    name: &'static str,
    chunks: Vec<ArrayRef>,
    /// Number of the row after each chunk.
    ends: Vec<usize>,
    kind: DataType,
    /// False for an object that is one array.
    is_chunked: bool,
}

impl Column {
    /// The column `object`: an Arrow array or a stream of arrays by the PyCapsule interface, a NumPy array,
    /// or a list of `str`, `bytes` or `int`. Dictionaries are decoded, also within structs and lists.
    ///
    /// # Errors
    /// `TypeError` for another object; `ValueError` for an array that breaks its layout, and for an index
    /// outside of its dictionary.
    pub(crate) fn of(name: &'static str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let of_array = |array: ArrayRef| Self {
            name,
            kind: array.data_type().clone(),
            ends: vec![array.len()],
            chunks: vec![array],
            is_chunked: false,
        };
        let library = library(object)?;
        let object = &match library.as_str() {
            "pyarrow" => checked::of_pyarrow(name, object)?,
            "polars" => match polars::exported(name, object)? {
                Exported::Nulls(array) => {
                    checked::check(name, 0, &array)?;
                    return Ok(Self { is_chunked: true, ..of_array(array) });
                }
                Exported::Object(object) => object,
            },
            _ => object.clone(),
        };
        let column = if object.hasattr(intern!(py, "__arrow_c_array__"))? {
            of_array(checked::one(name, object)?)
        } else if object.hasattr(intern!(py, "__arrow_c_stream__"))? {
            let (chunks, kind) = checked::chunks(name, object)?;
            Self::of_chunks(name, chunks, kind)
        } else if object.hasattr(intern!(py, "__array_interface__"))? {
            match numpy::array(name, object)? {
                Some(array) => of_array(array),
                None => of_array(of_objects(name, &object.call_method0("tolist")?)?),
            }
        } else {
            of_array(of_objects(name, object)?)
        };
        column.decoded()
    }

    fn of_chunks(name: &'static str, chunks: Vec<ArrayRef>, kind: DataType) -> Self {
        let ends = chunks.iter().scan(0, |row, chunk| {
            *row += chunk.len();
            Some(*row)
        });
        Self { name, kind, ends: ends.collect(), chunks, is_chunked: true }
    }

    /// The column of these chunks of type `kind`, which are checked. Dictionaries are decoded.
    ///
    /// # Errors
    /// `ValueError` for an array that breaks its layout, and for an index outside of its dictionary.
    pub(crate) fn of_arrays(name: &'static str, chunks: Vec<ArrayRef>, kind: DataType) -> PyResult<Self> {
        let mut first = 0;
        for chunk in &chunks {
            checked::check(name, first, chunk)?;
            first += chunk.len();
        }
        Self::of_chunks(name, chunks, kind).decoded()
    }

    /// The values of dictionaries in place of their indices.
    fn decoded(mut self) -> PyResult<Self> {
        if let Some(kind) = dictionary::decoded_type(&self.kind) {
            let mut first = 0;
            for chunk in &mut self.chunks {
                *chunk = dictionary::decoded(self.name, Some(first), chunk)?;
                first += chunk.len();
            }
            self.kind = kind;
        }
        Ok(self)
    }

    /// The column with other arrays of the same lengths.
    ///
    /// # Errors
    /// The errors of `each`.
    pub(crate) fn with_arrays(mut self, each: impl Fn(&ArrayRef) -> PyResult<ArrayRef>) -> PyResult<Self> {
        for chunk in &mut self.chunks {
            *chunk = each(chunk)?;
            self.kind = chunk.data_type().clone();
        }
        Ok(self)
    }

    /// Name of the argument.
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// Type of the rows.
    pub(crate) const fn kind(&self) -> &DataType {
        &self.kind
    }

    /// The chunks.
    pub(crate) fn chunks(&self) -> &[ArrayRef] {
        &self.chunks
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Result for each chunk, `each` called with the number of the chunk's first row; as a Python object of
    /// the column's form.
    ///
    /// # Errors
    /// The errors of `each`.
    pub(crate) fn map<'py>(
        &self,
        py: Python<'py>,
        kind: DataType,
        each: impl FnMut(usize, &ArrayRef) -> PyResult<ArrayRef> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let results = py.detach(|| self.results(each))?;
        self.returned(py, kind, results)
    }

    /// Result for each chunk, as [`map`](Self::map), as arrays. Needs no Python.
    ///
    /// # Errors
    /// The errors of `each`.
    pub(crate) fn results(
        &self,
        mut each: impl FnMut(usize, &ArrayRef) -> PyResult<ArrayRef>,
    ) -> PyResult<Vec<ArrayRef>> {
        let mut first = 0;
        let mut results = Vec::with_capacity(self.chunks.len());
        for chunk in &self.chunks {
            results.push(each(first, chunk)?);
            first += chunk.len();
        }
        Ok(results)
    }

    /// As [`map`](Self::map), over the rows of several columns of one length.
    ///
    /// # Errors
    /// `ValueError` if the columns have several lengths; errors of `each`.
    pub(crate) fn map_all<'py>(
        columns: &[Self],
        py: Python<'py>,
        kind: DataType,
        each: impl FnMut(usize, &[ArrayRef]) -> PyResult<ArrayRef> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (first, _) = Self::of_one_length(columns)?;
        let results = py.detach(|| Self::results_of_all(columns, each))?;
        first.returned(py, kind, results)
    }

    /// As [`map_all`](Self::map_all), as arrays. Needs no Python.
    ///
    /// # Errors
    /// As [`map_all`](Self::map_all).
    pub(crate) fn results_of_all(
        columns: &[Self],
        mut each: impl FnMut(usize, &[ArrayRef]) -> PyResult<ArrayRef>,
    ) -> PyResult<Vec<ArrayRef>> {
        let (first, rest) = Self::of_one_length(columns)?;
        let mut arrays = Vec::with_capacity(columns.len());
        first.results(|row, chunk| {
            arrays.clear();
            arrays.push(Arc::clone(chunk));
            for other in rest {
                arrays.push(other.slice(row, chunk.len())?);
            }
            each(row, &arrays)
        })
    }

    /// The first column, and the others, which have as many rows.
    ///
    /// # Errors
    /// `ValueError` if the columns have several lengths, or there are none.
    pub(crate) fn of_one_length<C: Borrow<Self>>(columns: &[C]) -> PyResult<(&C, &[C])> {
        let Some((first, rest)) = columns.split_first() else { return Err(value("no columns")) };
        let ours = first.borrow();
        if let Some(other) = rest.iter().map(C::borrow).find(|other| other.len() != ours.len()) {
            return Err(value(format!(
                "columns of several lengths: {} has {} rows, {} has {}",
                ours.name,
                ours.len(),
                other.name,
                other.len()
            )));
        }
        Ok((first, rest))
    }

    /// Rows `from..from + len` as one array.
    ///
    /// # Errors
    /// `ValueError` if the chunks are of several types.
    pub(crate) fn slice(&self, from: usize, len: usize) -> PyResult<ArrayRef> {
        let mut parts = Vec::new();
        let end = from + len;
        // Chunks before the row were passed: a search, as each slice of a long column would pass them again.
        let passed = self.ends.partition_point(|end| *end <= from);
        for (chunk, last) in self.chunks.iter().zip(&self.ends).skip(passed) {
            let before = last - chunk.len();
            if before >= end {
                break;
            }
            let (start, stop) = (from.max(before), end.min(*last));
            if start < stop {
                parts.push(chunk.slice(start - before, stop - start));
            }
        }
        match parts.as_slice() {
            [one] => Ok(Arc::clone(one)),
            [] => Ok(arrow_array::new_empty_array(&self.kind)),
            parts => concat(&parts.iter().map(AsRef::as_ref).collect::<Vec<_>>()).map_err(value),
        }
    }

    fn returned<'py>(
        &self,
        py: Python<'py>,
        kind: DataType,
        results: Vec<ArrayRef>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let field = Arc::new(arrow_schema::Field::new("", kind, true));
        match (self.is_chunked, results.as_slice()) {
            (false, [one]) => Ok(Bound::new(py, PyArray::new(Arc::clone(one), field))?.into_any()),
            _ => Ok(Bound::new(py, PyChunkedArray::try_new(results, field)?)?.into_any()),
        }
    }
}
