//! Arrays of dictionaries: indices of values.

use crate::error::{at_row, value};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_schema::DataType;
use arrow_select::take::take;
use pyo3::PyResult;
use std::sync::Arc;

/// The values of `array` in place of their indices; `array` itself if it has no dictionary. `first` is the
/// number of its first row.
///
/// # Errors
/// `ValueError` about the first index that no value has: programs can make such arrays without a check.
pub(crate) fn decoded(name: &str, first: usize, array: &ArrayRef) -> PyResult<ArrayRef> {
    let Some(dictionary) = array.as_any_dictionary_opt() else { return Ok(Arc::clone(array)) };
    let (indices, len) = (dictionary.keys(), dictionary.values().len());
    // An index above 2^63 becomes a null.
    let numbers = cast(indices, &DataType::Int64).map_err(value)?;
    let numbers = numbers.as_primitive::<Int64Type>();
    let is_outside = |row: &usize| {
        let number = numbers.is_valid(*row).then(|| usize::try_from(numbers.value(*row)).ok()).flatten();
        indices.is_valid(*row) && number.is_none_or(|number| number >= len)
    };
    if let Some(row) = (0..numbers.len()).find(is_outside) {
        return Err(at_row(
            first + row,
            format!(
                "{name} has the dictionary index {}, outside of 0..{len}",
                arrow_cast::display::array_value_to_string(indices, row).unwrap_or_default()
            ),
        ));
    }
    let values = cast(dictionary.values(), &decoded_kind(dictionary.values().data_type())).map_err(value)?;
    take(&values, indices, None).map_err(value)
}

/// Type of the decoded values of a dictionary: of text and bytes views, as many indices may have one long
/// value.
pub(crate) fn decoded_kind(values: &DataType) -> DataType {
    match values {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        other => other.clone(),
    }
}
