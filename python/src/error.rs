//! Errors as exceptions, with the row that they are about.

use arrow_schema::DataType;
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

/// Name of a type as pyarrow writes it, without parameters and fields.
pub(crate) fn type_name(kind: &DataType) -> String {
    let name = match kind {
        DataType::Boolean => "bool",
        DataType::Float16 => "halffloat",
        DataType::Float32 => "float",
        DataType::Float64 => "double",
        DataType::Utf8 => "string",
        DataType::LargeUtf8 => "large_string",
        DataType::Utf8View => "string_view",
        DataType::Binary => "binary",
        DataType::LargeBinary => "large_binary",
        DataType::BinaryView => "binary_view",
        DataType::FixedSizeBinary(_) => "fixed_size_binary",
        DataType::Date32 => "date32",
        DataType::Date64 => "date64",
        DataType::Time32(_) => "time32",
        DataType::Time64(_) => "time64",
        DataType::Timestamp(..) => "timestamp",
        DataType::Duration(_) => "duration",
        DataType::Decimal128(..) => "decimal128",
        DataType::Decimal256(..) => "decimal256",
        DataType::List(_) => "list",
        DataType::LargeList(_) => "large_list",
        DataType::FixedSizeList(..) => "fixed_size_list",
        DataType::Struct(_) => "struct",
        DataType::Map(..) => "map",
        DataType::Null => "null",
        // Integers differ in the first letter alone.
        kind => return kind.to_string().to_lowercase(),
    };
    name.to_owned()
}
