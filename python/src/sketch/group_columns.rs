//! Values of groups as columns of a table.

use crate::composite::{INTEGERS, Value};
use crate::error::value;
use crate::texts::Texts;
use arrow_array::types::{LargeBinaryType, LargeUtf8Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int64Array, LargeListArray, NullArray, StructArray, UInt64Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_cast::cast;
use arrow_schema::{Field, Fields};
use pyo3::{PyErr, PyResult};
use std::mem::discriminant;
use std::sync::Arc;

/// Columns of rows with their names, each of the type of its values; with a number behind a name that several
/// have.
///
/// # Errors
/// `ValueError` for rows of several lengths, and for values of several types.
pub(super) fn group_columns(names: &[String], rows: &[Vec<Value>]) -> PyResult<Vec<(String, ArrayRef)>> {
    let width = rows.first().map_or(names.len(), Vec::len);
    if rows.iter().any(|row| row.len() != width) {
        return Err(value("groups of several numbers of columns: group all batches by the same columns"));
    }
    let name = |at: usize| match names {
        names if names.len() == width => names.get(at).cloned().unwrap_or_default(),
        [one] => format!("{one}_{at}"),
        _ => format!("group_{at}"),
    };
    (0..width)
        .map(|at| {
            let values: Vec<&Value> = rows.iter().filter_map(|row| row.get(at)).collect();
            Ok((name(at), typed(&name(at), &values)?))
        })
        .collect()
}

/// Values of one type as an array. Lists of any layout are `large_list`; the fields of a struct are called
/// `field_0` and so on.
fn typed(name: &str, values: &[&Value]) -> PyResult<ArrayRef> {
    let kind = |value: &Value| match value {
        Value::Integer(tag, _) => (discriminant(value), usize::from(*tag)),
        Value::Struct(fields) => (discriminant(value), fields.len()),
        other => (discriminant(other), 0),
    };
    let mut present = values.iter().filter(|value| ***value != Value::Null);
    let Some(first) = present.next() else { return Ok(Arc::new(NullArray::new(values.len()))) };
    if present.any(|value| kind(value) != kind(first)) {
        return Err(several(name));
    }
    match first {
        Value::Text(_) | Value::Bytes(_) | Value::Null => {
            let mut texts = Texts::new();
            for value in values {
                texts.push(match value {
                    Value::Text(text) => Some(text.as_bytes()),
                    Value::Bytes(bytes) => Some(bytes.as_slice()),
                    _ => None,
                });
            }
            if let Value::Text(_) = first {
                texts.finish::<LargeUtf8Type>()
            } else {
                texts.finish::<LargeBinaryType>()
            }
        }
        Value::Boolean(_) => {
            let of = values.iter().map(|value| if let Value::Boolean(of) = value { Some(*of) } else { None });
            Ok(Arc::new(BooleanArray::from_iter(of)))
        }
        Value::Integer(tag, _) => integers(name, *tag, values),
        Value::List(_) => {
            let lists =
                || values.iter().map(|value| if let Value::List(of) = value { of.as_slice() } else { &[] });
            let items: Vec<&Value> = lists().flatten().collect();
            let items = typed(name, &items)?;
            let field = Arc::new(Field::new("item", items.data_type().clone(), true));
            let offsets = OffsetBuffer::from_lengths(lists().map(<[Value]>::len));
            Ok(Arc::new(LargeListArray::try_new(field, offsets, items, nulls(values)).map_err(value)?))
        }
        Value::Struct(of_first) if of_first.is_empty() => {
            Ok(Arc::new(StructArray::new_empty_fields(values.len(), nulls(values))))
        }
        Value::Struct(of_first) => {
            let field = |at: usize| {
                let of = values.iter().map(|value| match value {
                    Value::Struct(fields) => fields.get(at).unwrap_or(&Value::Null),
                    _ => &Value::Null,
                });
                typed(name, &of.collect::<Vec<_>>())
            };
            let arrays = (0..of_first.len()).map(field).collect::<PyResult<Vec<_>>>()?;
            let fields = arrays.iter().enumerate();
            let fields: Fields = fields
                .map(|(at, array)| Field::new(format!("field_{at}"), array.data_type().clone(), true))
                .collect();
            Ok(Arc::new(StructArray::try_new(fields, arrays, nulls(values)).map_err(value)?))
        }
    }
}

/// Integers of the type with this tag.
fn integers(name: &str, tag: u8, values: &[&Value]) -> PyResult<ArrayRef> {
    let Some((kind, _, is_signed)) = INTEGERS.get(usize::from(tag).saturating_sub(1)) else {
        return Err(several(name));
    };
    let numbers = values.iter().map(|value| if let Value::Integer(_, of) = value { Some(*of) } else { None });
    let wide: ArrayRef = if *is_signed {
        Arc::new(Int64Array::from_iter(numbers.map(|number| number.map(|of| of as i64))))
    } else {
        Arc::new(UInt64Array::from_iter(numbers.map(|number| number.map(|of| of as u64))))
    };
    cast(&wide, kind).map_err(value)
}

/// Validity of values.
fn nulls(values: &[&Value]) -> Option<NullBuffer> {
    Some(values.iter().map(|value| **value != Value::Null).collect::<NullBuffer>())
        .filter(|nulls| nulls.null_count() > 0)
}

fn several(name: &str) -> PyErr {
    value(format!("{name}: values of several types, which are several groups: cast the columns to one type"))
}
