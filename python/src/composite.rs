//! Rows of several columns as keys of bytes, and back.
//!
//! A row is the values of its columns, each a byte for its type and its bytes. The bytes of two rows of the
//! same types have the order of their values, nulls first: integers are big-endian with the sign turned, and
//! in text and bytes a zero is `00 ff`, and the end `00 00`.

use crate::column::Column;
use crate::error::{type_name, value, wrong_type};
use crate::rows::Rows;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use pyo3::PyResult;

/// Types of a value.
pub(crate) mod tag {
    pub(crate) const NULL: u8 = 0;
    pub(crate) const TEXT: u8 = 9;
    pub(crate) const BYTES: u8 = 10;
    pub(crate) const FALSE: u8 = 11;
    pub(crate) const TRUE: u8 = 12;
}

/// Integers by their tag, from 1 on, with their bytes and whether they have a sign.
pub(crate) const INTEGERS: [(DataType, usize, bool); 8] = [
    (DataType::Int8, 1, true),
    (DataType::Int16, 2, true),
    (DataType::Int32, 4, true),
    (DataType::Int64, 8, true),
    (DataType::UInt8, 1, false),
    (DataType::UInt16, 2, false),
    (DataType::UInt32, 4, false),
    (DataType::UInt64, 8, false),
];

/// A column of a row.
struct Field<'a> {
    values: Values<'a>,
    nulls: Option<NullBuffer>,
}

enum Values<'a> {
    /// Bytes in the order of the machine, which is little-endian.
    Integers {
        tag: u8,
        is_signed: bool,
        rows: Rows<'a>,
    },
    Strings {
        tag: u8,
        rows: Rows<'a>,
    },
    Booleans(&'a BooleanArray),
    Null,
}

impl<'a> Field<'a> {
    fn of(name: &str, array: &'a ArrayRef) -> PyResult<Self> {
        let kind = array.data_type();
        let values = match kind {
            DataType::Boolean => Values::Booleans(array.as_boolean()),
            DataType::Null => Values::Null,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                Values::Strings { tag: tag::TEXT, rows: Rows::of(name, array)? }
            }
            kind => match (1..).zip(&INTEGERS).find(|(_, (integer, ..))| integer == kind) {
                Some((tag, (.., is_signed))) => {
                    Values::Integers { tag, is_signed: *is_signed, rows: Rows::of(name, array)? }
                }
                None if matches!(kind, DataType::Struct(_) | DataType::List(_) | DataType::LargeList(_)) => {
                    return Err(wrong_type(format!("{name}: a column of {} in a row", type_name(kind))));
                }
                None => Values::Strings { tag: tag::BYTES, rows: Rows::of(name, array)? },
            },
        };
        Ok(Self { values, nulls: array.logical_nulls() })
    }

    fn write(&self, row: usize, out: &mut Vec<u8>) {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            out.push(tag::NULL);
            return;
        }
        match &self.values {
            Values::Null => out.push(tag::NULL),
            Values::Booleans(array) => out.push(if array.value(row) { tag::TRUE } else { tag::FALSE }),
            Values::Integers { tag, is_signed, rows } => {
                out.push(*tag);
                let first = out.len();
                out.extend(rows.row(row).iter().rev());
                if let Some(first) = out.get_mut(first).filter(|_| *is_signed) {
                    *first ^= 0x80;
                }
            }
            Values::Strings { tag, rows } => {
                out.push(*tag);
                for part in rows.row(row).split_inclusive(|byte| *byte == 0) {
                    out.extend_from_slice(part);
                    if part.ends_with(&[0]) {
                        out.push(0xff);
                    }
                }
                out.extend([0, 0]);
            }
        }
    }
}

/// Rows as keys.
#[derive(Debug, Default)]
pub(crate) struct Encoded {
    pub(crate) bytes: Vec<u8>,
    /// One more than there are rows.
    pub(crate) offsets: Vec<i64>,
}

/// Encodes the rows of arrays of one length. The fields of a struct are columns, in its place.
///
/// # Errors
/// `TypeError` for other types than text, bytes, integers and booleans.
pub(crate) fn encode(name: &str, arrays: &[ArrayRef]) -> PyResult<Encoded> {
    let flat: Vec<ArrayRef> = arrays.iter().flat_map(fields).collect();
    let fields: Vec<Field<'_>> = flat.iter().map(|array| Field::of(name, array)).collect::<PyResult<_>>()?;
    let rows = arrays.first().map_or(0, |array| array.len());
    let mut encoded = Encoded { bytes: Vec::new(), offsets: Vec::with_capacity(rows + 1) };
    encoded.offsets.push(0);
    for row in 0..rows {
        fields.iter().for_each(|field| field.write(row, &mut encoded.bytes));
        encoded.offsets.push(encoded.bytes.len() as i64);
    }
    Ok(encoded)
}

/// The columns of a struct, or the array. A row that is null in the struct is in its columns.
fn fields(array: &ArrayRef) -> Vec<ArrayRef> {
    match array.as_struct_opt() {
        Some(table) if table.null_count() == 0 => table.columns().to_vec(),
        Some(table) => {
            let nulls = table.nulls();
            let with = |column: &ArrayRef| {
                let nulls = NullBuffer::union(column.logical_nulls().as_ref(), nulls);
                let data = column.to_data().into_builder().nulls(nulls).build();
                data.map_or_else(|_| column.clone(), arrow_array::make_array)
            };
            table.columns().iter().map(with).collect()
        }
        None => vec![array.clone()],
    }
}

/// Names of the columns of `column`: the fields of a table, or `name`.
pub(crate) fn names(column: &Column, name: &str) -> Vec<String> {
    match column.chunks().first().map(Array::data_type) {
        Some(DataType::Struct(fields)) => fields.iter().map(|field| field.name().clone()).collect(),
        _ => vec![name.to_owned()],
    }
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Integer(u8, i128),
    Text(String),
    Bytes(Vec<u8>),
    Boolean(bool),
}

/// The values of a row, whose bytes may come from anyone.
///
/// # Errors
/// `ValueError` for bytes that are no row.
pub(crate) fn decode(mut row: &[u8]) -> PyResult<Vec<Value>> {
    let damaged = || value("a key is no row of columns: it is damaged, or was made elsewhere");
    let mut values = Vec::new();
    while let Some((tag, rest)) = row.split_first() {
        row = rest;
        values.push(match *tag {
            tag::NULL => Value::Null,
            tag::FALSE | tag::TRUE => Value::Boolean(*tag == tag::TRUE),
            tag::TEXT | tag::BYTES => {
                let (bytes, rest) = string(row).ok_or_else(damaged)?;
                row = rest;
                match *tag {
                    tag::TEXT => Value::Text(String::from_utf8(bytes).map_err(|_| damaged())?),
                    _ => Value::Bytes(bytes),
                }
            }
            tag => {
                let integer = usize::from(tag).checked_sub(1).and_then(|at| INTEGERS.get(at));
                let (_, width, is_signed) = integer.ok_or_else(damaged)?;
                let (bytes, rest) = row.split_at_checked(*width).ok_or_else(damaged)?;
                row = rest;
                let number = bytes.iter().fold(0_i128, |number, byte| number << 8 | i128::from(*byte));
                let half = if *is_signed { 1 << (8 * width - 1) } else { 0 };
                Value::Integer(tag, number - half)
            }
        });
    }
    Ok(values)
}

/// Bytes to their end, and the rest.
fn string(row: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (mut bytes, mut rest) = (Vec::new(), row);
    loop {
        let zero = rest.iter().position(|byte| *byte == 0)?;
        bytes.extend_from_slice(rest.get(..zero)?);
        let after = rest.get(zero + 1)?;
        rest = rest.get(zero + 2..)?;
        match after {
            0 => return Some((bytes, rest)),
            0xff => bytes.push(0),
            _ => return None,
        }
    }
}
