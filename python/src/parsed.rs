//! Rows that are parsed one by one, and fields of structs.

use crate::column::Column;
use crate::dictionary;
use crate::error::{at_row, type_name, value};
use crate::interrupt::Interrupt;
use crate::rows::Rows;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StructArray, new_empty_array};
use arrow_buffer::OffsetBuffer;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Fields as Types};
use pyo3::PyResult;
use std::sync::Arc;

/// Treatment of rows that cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errors {
    /// An exception that names the first of them.
    Raise,
    /// Nulls.
    Null,
}

impl Errors {
    /// The treatment `word`.
    ///
    /// # Errors
    /// `ValueError` for another word than `raise` and `null`.
    pub(crate) fn of(word: &str) -> PyResult<Self> {
        match word {
            "raise" => Ok(Self::Raise),
            "null" => Ok(Self::Null),
            other => Err(value(format!("errors must be \"raise\" or \"null\", not {other:?}"))),
        }
    }
}

/// Parses each row of `array`, whose first row has the number `first`, and passes the result on in order:
/// none for a null, and for a bad row if `errors` says so.
///
/// # Errors
/// `ValueError` about the first bad row.
pub(crate) fn each_row<T>(
    column: &Column,
    first: usize,
    array: &ArrayRef,
    errors: Errors,
    mut parse: impl FnMut(&[u8]) -> Result<T, String>,
    mut push: impl FnMut(Option<T>),
) -> PyResult<()> {
    let rows = Rows::of_strings(column.name(), array)?;
    let nulls = array.logical_nulls();
    let mut interrupt = Interrupt::default();
    for row in 0..array.len() {
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            push(None);
            continue;
        }
        let bytes = rows.row(row);
        // Parsing takes some ten times as long as hashing.
        interrupt.record(10, bytes.len())?;
        match (parse(bytes), errors) {
            (Ok(parsed), _) => push(Some(parsed)),
            (Err(_), Errors::Null) => push(None),
            (Err(why), Errors::Raise) => return Err(at_row(first + row, why)),
        }
    }
    Ok(())
}

/// Columns of structs, by their names.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    what: &'a str,
    array: &'a StructArray,
}

impl<'a> Fields<'a> {
    /// The fields of `array`.
    ///
    /// # Errors
    /// `ValueError` for another type than structs.
    pub(crate) fn of(what: &'a str, array: &'a ArrayRef) -> PyResult<Self> {
        match array.as_struct_opt() {
            Some(array) => Ok(Self { what, array }),
            None => Err(crate::error::wrong_type(format!(
                "{what}: a column of {}; expected structs or a table",
                type_name(array.data_type())
            ))),
        }
    }

    /// The field `name` as an array of type `kind`.
    ///
    /// # Errors
    /// `ValueError` if it is missing or of a type that cannot become `kind`.
    pub(crate) fn required(&self, name: &str, kind: &DataType) -> PyResult<ArrayRef> {
        let missing = || value(format!("{}: the structs have no field {name:?}", self.what));
        self.optional(name, kind)?.ok_or_else(missing)
    }

    /// As [`required`](Self::required); none if there is no such field.
    ///
    /// # Errors
    /// `ValueError` if it is of a type that cannot become `kind`.
    pub(crate) fn optional(&self, name: &str, kind: &DataType) -> PyResult<Option<ArrayRef>> {
        let Some(array) = self.array.column_by_name(name) else { return Ok(None) };
        let array = dictionary::decoded(&format!("{}: field {name:?}", self.what), Some(0), array)?;
        let strict = CastOptions { safe: false, ..CastOptions::default() };
        match cast_with_options(&array, kind, &strict) {
            Ok(array) => Ok(Some(array)),
            Err(why) => Err(value(format!("{}: field {name:?}: {why}", self.what))),
        }
    }

    /// The field `name`, a list of structs: their offsets and the structs. Lists without a type, as in a
    /// column without an item, are empty lists of `structs`.
    ///
    /// # Errors
    /// `ValueError` if it is missing, no list, or one with items of no type.
    pub(crate) fn list(&self, name: &str, structs: Types) -> PyResult<(OffsetBuffer<i64>, ArrayRef)> {
        let array = self.array.column_by_name(name);
        let array =
            array.ok_or_else(|| value(format!("{}: the structs have no field {name:?}", self.what)))?;
        let item = match array.data_type() {
            DataType::List(item) | DataType::LargeList(item) => Arc::clone(item),
            kind => {
                let kind = type_name(kind);
                return Err(value(format!("{}: field {name:?} is {kind}, expected a list", self.what)));
            }
        };
        let list =
            cast_with_options(array, &DataType::LargeList(item), &CastOptions::default()).map_err(value)?;
        let list = list.as_list::<i64>();
        let mut items = Arc::clone(list.values());
        if *items.data_type() == DataType::Null {
            if !items.is_empty() {
                return Err(value(format!("{}: field {name:?} has nulls for structs", self.what)));
            }
            items = new_empty_array(&DataType::Struct(structs));
        }
        Ok((list.offsets().clone(), items))
    }
}
