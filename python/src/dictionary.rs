//! Arrays of dictionaries: indices of values.

use crate::error::{at_row, value};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, LargeListArray, ListArray, OffsetSizeTrait,
    StructArray,
};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, FieldRef};
use arrow_select::take::take;
use pyo3::PyResult;
use std::sync::Arc;

/// The type whose arrays have values in place of indices, also within structs and lists; `None` for a type
/// without dictionaries.
pub(crate) fn decoded_type(kind: &DataType) -> Option<DataType> {
    let field = |field: &FieldRef| decoded_type(field.data_type()).map(|kind| with_type(field, kind));
    Some(match kind {
        DataType::Dictionary(_, values) => decoded_type(values).unwrap_or_else(|| as_views(values)),
        DataType::Struct(fields) if fields.iter().any(|one| field(one).is_some()) => {
            DataType::Struct(fields.iter().map(|one| field(one).unwrap_or_else(|| Arc::clone(one))).collect())
        }
        DataType::List(values) => DataType::List(field(values)?),
        DataType::LargeList(values) => DataType::LargeList(field(values)?),
        DataType::FixedSizeList(values, len) => DataType::FixedSizeList(field(values)?, *len),
        _ => return None,
    })
}

/// The field with another type. Its values may be null, as those of a dictionary.
fn with_type(field: &FieldRef, kind: DataType) -> FieldRef {
    Arc::new(Field::new(field.name(), kind, true))
}

/// The values of dictionaries in place of their indices, also within structs and lists; `array` itself if it
/// has none. `first` is the number of its first row; `None` for an array whose rows are no rows of the
/// column.
///
/// # Errors
/// `ValueError` about the first index that no value has: programs can make such arrays without a check.
pub(crate) fn decoded(name: &str, first: Option<usize>, array: &ArrayRef) -> PyResult<ArrayRef> {
    Ok(match decoded_type(array.data_type()) {
        None => Arc::clone(array),
        Some(DataType::Struct(fields)) if array.as_struct_opt().is_some() => {
            let columns = array.as_struct().columns().iter().map(|column| decoded(name, first, column));
            let columns = columns.collect::<PyResult<_>>()?;
            Arc::new(StructArray::try_new(fields, columns, array.nulls().cloned()).map_err(value)?)
        }
        Some(DataType::List(values)) if array.as_list_opt::<i32>().is_some() => {
            Arc::new(decoded_list(name, values, array.as_list::<i32>())?) as Arc<ListArray>
        }
        Some(DataType::LargeList(values)) if array.as_list_opt::<i64>().is_some() => {
            Arc::new(decoded_list(name, values, array.as_list::<i64>())?) as Arc<LargeListArray>
        }
        Some(DataType::FixedSizeList(field, len)) if array.as_fixed_size_list_opt().is_some() => {
            let list = array.as_fixed_size_list();
            let values = decoded(name, None, list.values())?;
            Arc::new(FixedSizeListArray::try_new(field, len, values, list.nulls().cloned()).map_err(value)?)
        }
        Some(_) => decoded(name, first, &values_of(name, first, array)?)?,
    })
}

fn decoded_list<O: OffsetSizeTrait>(
    name: &str,
    field: FieldRef,
    list: &GenericListArray<O>,
) -> PyResult<GenericListArray<O>> {
    let values = decoded(name, None, list.values())?;
    GenericListArray::try_new(field, list.offsets().clone(), values, list.nulls().cloned()).map_err(value)
}

/// The values of a dictionary, which may have dictionaries within them.
fn values_of(name: &str, first: Option<usize>, array: &ArrayRef) -> PyResult<ArrayRef> {
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
        let index = arrow_cast::display::array_value_to_string(indices, row).unwrap_or_default();
        let why = format!("{name} has the dictionary index {index}, outside of 0..{len}");
        return Err(first.map_or_else(|| value(&why), |first| at_row(first + row, &why)));
    }
    let values = cast(dictionary.values(), &as_views(dictionary.values().data_type())).map_err(value)?;
    take(&values, indices, None).map_err(value)
}

/// Type of the decoded values of a dictionary: of text and bytes views, as many indices may have one long
/// value.
fn as_views(values: &DataType) -> DataType {
    match values {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        other => other.clone(),
    }
}
