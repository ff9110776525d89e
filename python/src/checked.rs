//! Arrays by Arrow's C interface, and checks of them.
//!
//! The interface has addresses and no sizes: a buffer is as long as the array and the last offset
//! say. pyarrow knows the sizes, but reads files without a check, so it is asked; offsets, views and nested
//! arrays are checked here, as their kernels rely on them.

use crate::error::{at_row, type_name, value, wrong_type};
use crate::rows::Rows;
use arrow_array::cast::AsArray;
use arrow_array::types::{ByteArrayType, ByteViewType};
use arrow_array::{
    Array, ArrayRef, GenericByteArray, GenericByteViewArray, GenericListArray, OffsetSizeTrait,
};
use arrow_schema::DataType;
use hashlane_sketch::Error;
use hashlane_sketch::arrow::{check_offsets, check_views};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3_arrow::{PyArray, PyChunkedArray};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The array that `object` exports.
///
/// # Errors
/// `TypeError` for a type that cannot be read; `ValueError` for an array that breaks its layout.
pub(crate) fn one(name: &str, object: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let array = import::<PyArray>(name, object)?.into_inner().0;
    check(name, 0, &array)?;
    Ok(array)
}

/// The chunks that `object` exports, and their type.
///
/// # Errors
/// As [`one`].
pub(crate) fn chunks(name: &str, object: &Bound<'_, PyAny>) -> PyResult<(Vec<ArrayRef>, DataType)> {
    let (chunks, field) = import::<PyChunkedArray>(name, object)?.into_inner();
    let mut first = 0;
    for chunk in &chunks {
        check(name, first, chunk)?;
        first += chunk.len();
    }
    Ok((chunks, field.data_type().clone()))
}

fn import<T>(name: &str, object: &Bound<'_, PyAny>) -> PyResult<T>
where
    T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    let unread =
        |why: String| wrong_type(format!("{name}: Arrow data that cannot be read: {why}; cast it first"));
    // The reader asserts what the interface demands: an array that was moved out before has no buffers.
    match catch_unwind(AssertUnwindSafe(|| object.extract::<T>())) {
        Ok(read) => read.map_err(|why| unread(why.value(object.py()).to_string())),
        Err(_) => Err(unread("its buffers do not match its type, or were read before".to_owned())),
    }
}

/// An array or table of pyarrow whose buffers have the sizes that its lengths and last offsets need.
///
/// # Errors
/// `ValueError` for another.
pub(crate) fn of_pyarrow<'py>(name: &str, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    // A reader gives its batches once.
    let object = match object.hasattr(intern!(py, "read_all"))? {
        true => object.call_method0(intern!(py, "read_all"))?,
        false => object.clone(),
    };
    if object.hasattr(intern!(py, "validate"))? {
        let broken = |why: PyErr| broken(name, why.value(py));
        object.call_method0(intern!(py, "validate")).map_err(broken)?;
    }
    Ok(object)
}

/// Rows of a column whose values take no memory, such as nulls, at most: a file of some hundred bytes may
/// state any number, and results take memory for each.
const MOST_WEIGHTLESS: usize = 1 << 28;

/// Checks the layout of an array whose first row has the number `first`.
///
/// # Errors
/// `ValueError` about the first row that breaks it, and for more rows without memory than results can have.
pub(crate) fn check(name: &str, first: usize, array: &ArrayRef) -> PyResult<()> {
    let rows = first.saturating_add(array.len());
    if is_weightless(array.data_type()) && rows > MOST_WEIGHTLESS {
        return Err(value(format!(
            "{name}: {rows} rows of type {}, at most {MOST_WEIGHTLESS} are supported",
            type_name(array.data_type())
        )));
    }
    layout(array).map_err(|(row, why)| match row {
        Some(row) => at_row(first + row, format!("{name}: {INVALID}: {why}; {NEXT}")),
        None => broken(name, why),
    })
}

/// A row, if there is one, and the reason.
type Broken = (Option<usize>, String);

fn layout(array: &ArrayRef) -> Result<(), Broken> {
    if let Some(nulls) = array.nulls()
        && nulls.len() - nulls.inner().count_set_bits() != nulls.null_count()
    {
        return Err((None, "its number of nulls differs from its bitmap's".to_owned()));
    }
    // A slice without rows has an offset, and no data.
    if array.is_empty() {
        return Ok(());
    }
    let strings = match array.data_type() {
        DataType::Utf8 => of_offsets(array.as_string::<i32>()),
        DataType::LargeUtf8 => of_offsets(array.as_string::<i64>()),
        DataType::Binary => of_offsets(array.as_binary::<i32>()),
        DataType::LargeBinary => of_offsets(array.as_binary::<i64>()),
        DataType::Utf8View => of_views(array.as_string_view()),
        DataType::BinaryView => of_views(array.as_binary_view()),
        DataType::Dictionary(..) => {
            return array.as_any_dictionary_opt().map_or(Ok(()), |array| inner(array.values()));
        }
        DataType::Struct(_) => return array.as_struct().columns().iter().try_for_each(inner),
        DataType::List(_) => return of_list(array.as_list::<i32>()),
        DataType::LargeList(_) => return of_list(array.as_list::<i64>()),
        // No function takes these.
        kind if kind.is_nested() => {
            return array
                .to_data()
                .validate_full()
                .map_err(|_| (None, "its values break its layout".to_owned()));
        }
        _ => Ok(()),
    };
    strings.map_err(|why| match why {
        Error::Offset { at } | Error::View { at } => (Some(at.min(array.len() - 1)), why.to_string()),
        why => (None, why.to_string()),
    })
}

/// Checks an array within another: also that text is UTF-8, as fields are read as text.
fn inner(array: &ArrayRef) -> Result<(), Broken> {
    layout(array).map_err(|(_, why)| (None, why))?;
    match not_utf8(array) {
        None => Ok(()),
        Some(_) => Err((None, "its text is not UTF-8".to_owned())),
    }
}

/// Checks that the text of a column is UTF-8, which libraries do not when they read files: that of its fields
/// and lists is. `first` is the number of its first row.
///
/// # Errors
/// `ValueError` about the first row that is not.
pub(crate) fn check_text(name: &str, first: usize, array: &ArrayRef) -> PyResult<()> {
    match not_utf8(array) {
        None => Ok(()),
        Some(row) => Err(at_row(first + row, format!("{name}: text that is not UTF-8; cast it to binary"))),
    }
}

/// The first row of a column of text that is not UTF-8.
fn not_utf8(array: &ArrayRef) -> Option<usize> {
    let is_text = matches!(array.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let rows = Rows::of("", array).ok().filter(|_| is_text)?;
    (0..array.len()).find(|row| !array.is_null(*row) && std::str::from_utf8(rows.row(*row)).is_err())
}

fn of_list<O: OffsetSizeTrait + Into<i64>>(list: &GenericListArray<O>) -> Result<(), Broken> {
    match check_offsets(list.value_offsets(), list.values().len()) {
        Ok(()) => inner(list.values()),
        Err(why) => Err((None, why.to_string())),
    }
}

/// Returns true for types whose values take no memory, so that a small array can have any number of them.
pub(crate) fn is_weightless(kind: &DataType) -> bool {
    match kind {
        DataType::Null | DataType::FixedSizeBinary(0) => true,
        DataType::FixedSizeList(values, len) => *len == 0 || is_weightless(values.data_type()),
        DataType::Struct(fields) => fields.iter().all(|field| is_weightless(field.data_type())),
        _ => false,
    }
}

const INVALID: &str = "invalid Arrow data";

const NEXT: &str = "read it again, or replace the file that it is from";

fn broken(name: &str, why: impl std::fmt::Display) -> PyErr {
    value(format!("{name}: {INVALID}: {why}; {NEXT}"))
}

fn of_offsets<T: ByteArrayType>(array: &GenericByteArray<T>) -> Result<(), Error>
where
    T::Offset: Into<i64> + Ord,
{
    check_offsets(array.value_offsets(), array.values().len())
}

fn of_views<T: ByteViewType>(array: &GenericByteViewArray<T>) -> Result<(), Error> {
    // A negative length has become one that no slice has.
    let lengths: Vec<usize> = array.data_buffers().iter().map(|buffer| buffer.len()).collect();
    if lengths.iter().any(|len| isize::try_from(*len).is_err()) {
        return Err(Error::View { at: 0 });
    }
    check_views(array.views(), &lengths, |row| array.is_null(row))
}
