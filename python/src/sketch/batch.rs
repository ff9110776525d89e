//! Batches for sketches: columns in pieces, without the rows that are null.

use crate::column::Column;
use crate::error::{at_row, type_name, value, wrong_type};
use crate::rows::Rows;
use crate::views::Scratch;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_buffer::NullBuffer;
use arrow_cast::cast;
use arrow_schema::DataType;
use arrow_select::filter::filter;
use hashlane_sketch::Keys;
use pyo3::PyResult;
use std::borrow::Borrow;

/// Rows of a piece, at most.
const PIECE: usize = 1 << 16;

/// Calls `each` with the rows of columns of one length, piece by piece, and the number of the first row.
///
/// # Errors
/// `ValueError` if the columns have several lengths; errors of `each`.
pub(super) fn for_each(
    columns: &[impl Borrow<Column>],
    mut each: impl FnMut(usize, &[ArrayRef]) -> PyResult<()>,
) -> PyResult<()> {
    let (first, rest) = Column::of_one_length(columns)?;
    let (mut row, mut arrays) = (0, Vec::with_capacity(columns.len()));
    for chunk in first.borrow().chunks() {
        for from in (0..chunk.len()).step_by(PIECE) {
            let len = PIECE.min(chunk.len() - from);
            arrays.clear();
            arrays.push(chunk.slice(from, len));
            for other in rest {
                arrays.push(other.borrow().slice(row, len)?);
            }
            each(row, &arrays)?;
            row += len;
        }
    }
    Ok(())
}

/// Calls `each` with the rows of one chunk, piece by piece.
///
/// # Errors
/// The errors of `each`.
pub(super) fn for_each_of(chunk: &ArrayRef, mut each: impl FnMut(ArrayRef) -> PyResult<()>) -> PyResult<()> {
    let mut pieces = (0..chunk.len()).step_by(PIECE);
    pieces.try_for_each(|from| each(chunk.slice(from, PIECE.min(chunk.len() - from))))
}

/// Calls `each` with the keys of an array, without those that are null.
///
/// # Errors
/// `TypeError` for other types than text, bytes and integers; errors of `each`.
pub(super) fn with_keys<T>(
    name: &str,
    array: &ArrayRef,
    each: impl FnOnce(&Keys<'_>) -> PyResult<T>,
) -> PyResult<T> {
    let mut array = array.clone();
    if let Some(nulls) = array.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
        array = filter(&array, &BooleanArray::new(nulls.into_inner(), None)).map_err(value)?;
    }
    let (rows, mut scratch) = (Rows::of(name, &array)?, Scratch::default());
    each(&rows.keys(0..array.len(), &mut scratch).map_err(value)?)
}

/// Checks the type of a column of keys.
///
/// # Errors
/// `TypeError` for other types than text, bytes and integers.
pub(super) fn check(column: &Column) -> PyResult<()> {
    column.chunks().iter().try_for_each(|chunk| Rows::of(column.name(), chunk).map(drop))
}

/// Appends the numbers of an array to `out`, without the rows that are null in `keys`; `first` is the number
/// of its first row.
///
/// # Errors
/// `TypeError` for a column of another type than integers; `ValueError` for a null and a negative number.
pub(super) fn numbers(
    name: &str,
    array: &ArrayRef,
    first: usize,
    keys: Option<&NullBuffer>,
    out: &mut Vec<u64>,
) -> PyResult<()> {
    let kind = array.data_type();
    if !kind.is_integer() && *kind != DataType::Null {
        return Err(wrong_type(format!(
            "{name}: a column of {}; expected integers: cast it first",
            type_name(kind)
        )));
    }
    // Negative numbers become nulls.
    let whole = cast(array, &DataType::UInt64).map_err(value)?;
    let whole = whole.as_primitive::<UInt64Type>();
    for row in 0..whole.len() {
        if keys.is_some_and(|keys| keys.is_null(row)) {
            continue;
        }
        if whole.is_null(row) {
            let why = if array.is_null(row) || *kind == DataType::Null { "null" } else { "negative" };
            return Err(at_row(
                first + row,
                format!("{name} is {why}; drop the row or set a number from 0 on"),
            ));
        }
        out.push(whole.value(row));
    }
    Ok(())
}
