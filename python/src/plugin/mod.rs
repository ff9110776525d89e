//! Expressions of Polars: the functions of this package over the columns of a query plan.
//!
//! Polars loads this library by its path and calls functions by their names ([`abi`]); each is a
//! [`Function`] over [columns](crate::column::Column), the same that the functions of Python take, so that
//! results are equal. `python/hashlane/polars.py` makes the expressions. Python's lock is not held
//! during the work; it is taken for the text of an error, and between pieces of long work, as Polars has
//! released it.

mod abi;
mod arguments;
mod functions;

use crate::column::Column;
use crate::error::value;
use arguments::Arguments;
use arrow_array::{Array, ArrayRef, NullArray, UInt64Array, new_empty_array};
use arrow_schema::DataType;
use arrow_select::take::take;
use pyo3::types::PyAnyMethods;
use pyo3::{PyErr, PyResult, Python};
use std::sync::Arc;

/// A function over columns of a query.
struct Function {
    /// Names of its columns, for errors.
    columns: &'static [&'static str],
    /// Type of the result.
    kind: fn(&mut Arguments<'_>) -> PyResult<DataType>,
    /// Chunks of the result.
    run: fn(Vec<Column>, &mut Arguments<'_>) -> PyResult<Vec<ArrayRef>>,
}

/// A column as Polars passes it.
struct Input {
    kind: DataType,
    chunks: Vec<ArrayRef>,
}

impl Input {
    fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    /// The column with `rows` rows: one row, such as a literal's, stands for all.
    fn broadcast(self, rows: usize) -> PyResult<Self> {
        if rows == 1 || self.len() != 1 {
            return Ok(self);
        }
        let Some(one) = self.chunks.iter().find(|chunk| chunk.len() == 1) else { return Ok(self) };
        let all: ArrayRef = match self.kind {
            DataType::Null => Arc::new(NullArray::new(rows)),
            _ => take(one, &UInt64Array::from(vec![0; rows]), None).map_err(value)?,
        };
        Ok(Self { kind: self.kind, chunks: vec![all] })
    }
}

impl Function {
    /// Calls the function; at least one chunk of the result.
    fn call(&self, inputs: Vec<Input>, arguments: &[u8]) -> PyResult<(DataType, Vec<ArrayRef>)> {
        if inputs.len() != self.columns.len() {
            return Err(value(format!("{} columns; expected {}", inputs.len(), self.columns.len())));
        }
        let lengths = || inputs.iter().map(Input::len);
        let rows = lengths().find(|len| *len != 1).unwrap_or(1);
        let columns = inputs.into_iter().zip(self.columns).map(|(input, name)| {
            let Input { kind, chunks } = input.broadcast(rows)?;
            Column::of_arrays(name, chunks, kind)
        });
        let columns = columns.collect::<PyResult<Vec<_>>>()?;
        let kind = (self.kind)(&mut Arguments::read(arguments)?)?;
        let mut chunks = (self.run)(columns, &mut Arguments::read(arguments)?)?;
        if chunks.is_empty() {
            chunks.push(new_empty_array(&kind));
        }
        Ok((kind, chunks))
    }

    fn kind(&self, arguments: &[u8]) -> PyResult<DataType> {
        (self.kind)(&mut Arguments::read(arguments)?)
    }
}

/// The text of an exception.
fn text(error: &PyErr) -> String {
    let text = Python::try_attach(|py| error.value(py).str().map(|text| text.to_string()));
    text.and_then(Result::ok).unwrap_or_else(|| "the function failed".to_owned())
}
