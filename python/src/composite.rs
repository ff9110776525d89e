//! Rows of several columns as keys of bytes, and back.
//!
//! A row is the values of its columns, each a byte for its type and its bytes. The bytes of two rows of the
//! same types have the order of their values, nulls first: integers are big-endian with the sign turned, and
//! in text and bytes a zero is `00 ff`, and the end `00 00`.

use crate::checked::is_weightless;
use crate::column::Column;
use crate::error::{type_name, value, wrong_type};
use crate::rows::Rows;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, GenericListArray, OffsetSizeTrait};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use pyo3::PyResult;
use std::ops::Range;

/// Types of a value.
pub(crate) mod tag {
    pub(crate) const NULL: u8 = 0;
    pub(crate) const TEXT: u8 = 9;
    pub(crate) const BYTES: u8 = 10;
    pub(crate) const FALSE: u8 = 11;
    pub(crate) const TRUE: u8 = 12;
    pub(crate) const LIST: u8 = 13;
    pub(crate) const STRUCT: u8 = 14;
    /// Before each value of a list or a struct.
    pub(crate) const NEXT: u8 = 1;
    /// After the last one: less than before another, so that the order is the values' order.
    pub(crate) const END: u8 = 0;
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
    List {
        ranges: Ranges<'a>,
        values: Box<Field<'a>>,
    },
    Struct(Vec<Field<'a>>),
    Null,
}

/// Places of the values of each list.
enum Ranges<'a> {
    Short(&'a [i32]),
    Long(&'a [i64]),
    /// Lists of one length.
    Fixed(usize),
}

impl Ranges<'_> {
    fn of(&self, row: usize) -> Range<usize> {
        /// Offsets that [`checked`](crate::checked) has found in order.
        fn between<O: OffsetSizeTrait>(offsets: &[O], row: usize) -> Range<usize> {
            let at = |row: usize| offsets.get(row).map_or(0, |offset| offset.as_usize());
            at(row)..at(row + 1)
        }
        match self {
            Self::Short(offsets) => between(offsets, row),
            Self::Long(offsets) => between(offsets, row),
            Self::Fixed(len) => row * len..(row + 1) * len,
        }
    }
}

/// Lists and structs within each other, at most.
const MOST_DEPTH: usize = 8;

/// Values of a list that take no memory, such as nulls, at most: of others the memory limits the number.
const MOST_WEIGHTLESS: usize = 1 << 24;

impl<'a> Field<'a> {
    /// The column `array`, with `depth` levels of lists and structs at most.
    fn of(name: &str, array: &'a ArrayRef, depth: usize) -> PyResult<Self> {
        let kind = array.data_type();
        if is_nested(kind) && depth == 0 {
            return Err(wrong_type(format!(
                "{name}: a column of {}, nested more than {MOST_DEPTH} deep: hash it first",
                type_name(kind)
            )));
        }
        let values = match kind {
            DataType::Boolean => Values::Booleans(array.as_boolean()),
            DataType::Null => Values::Null,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                Values::Strings { tag: tag::TEXT, rows: Rows::of(name, array)? }
            }
            DataType::List(_) => Values::of_list(name, array.as_list::<i32>(), Ranges::Short, depth)?,
            DataType::LargeList(_) => Values::of_list(name, array.as_list::<i64>(), Ranges::Long, depth)?,
            DataType::FixedSizeList(_, len) => {
                let ranges = Ranges::Fixed(usize::try_from(*len).unwrap_or_default());
                Values::of_values(name, ranges, array.as_fixed_size_list().values(), depth)?
            }
            DataType::Struct(_) => {
                let columns = array.as_struct().columns().iter();
                Values::Struct(
                    columns.map(|column| Self::of(name, column, depth - 1)).collect::<PyResult<_>>()?,
                )
            }
            kind => match (1..).zip(&INTEGERS).find(|(_, (integer, ..))| integer == kind) {
                Some((tag, (.., is_signed))) => {
                    Values::Integers { tag, is_signed: *is_signed, rows: Rows::of(name, array)? }
                }
                None => Values::Strings { tag: tag::BYTES, rows: Rows::of(name, array)? },
            },
        };
        let nulls = if matches!(values, Values::Null) { None } else { array.logical_nulls() };
        Ok(Self { values, nulls })
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
            Values::List { ranges, values } => {
                out.push(tag::LIST);
                for place in ranges.of(row) {
                    out.push(tag::NEXT);
                    values.write(place, out);
                }
                out.push(tag::END);
            }
            Values::Struct(fields) => {
                out.push(tag::STRUCT);
                for field in fields {
                    out.push(tag::NEXT);
                    field.write(row, out);
                }
                out.push(tag::END);
            }
        }
    }
}

impl<'a> Values<'a> {
    fn of_list<O: OffsetSizeTrait>(
        name: &str,
        list: &'a GenericListArray<O>,
        ranges: impl FnOnce(&'a [O]) -> Ranges<'a>,
        depth: usize,
    ) -> PyResult<Self> {
        Self::of_values(name, ranges(list.value_offsets()), list.values(), depth)
    }

    fn of_values(name: &str, ranges: Ranges<'a>, values: &'a ArrayRef, depth: usize) -> PyResult<Self> {
        if is_weightless(values.data_type()) && values.len() > MOST_WEIGHTLESS {
            return Err(value(format!(
                "{name}: lists of {} values of type {}, at most {MOST_WEIGHTLESS} are supported",
                values.len(),
                type_name(values.data_type())
            )));
        }
        Ok(Self::List { ranges, values: Box::new(Field::of(name, values, depth - 1)?) })
    }
}

/// Returns true for types of lists and structs.
pub(crate) fn is_nested(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) | DataType::Struct(_)
    )
}

/// Rows as keys.
#[derive(Debug, Default)]
pub(crate) struct Encoded {
    pub(crate) bytes: Vec<u8>,
    /// One more than there are rows.
    pub(crate) offsets: Vec<i64>,
}

/// Encodes the rows of arrays of one length, also of lists and structs within each other. The fields of an
/// array of structs are columns, in its place.
///
/// # Errors
/// `TypeError` for other values than text, bytes, integers and booleans, and for types that are nested too
/// deep; `ValueError` for too many nulls in lists.
pub(crate) fn encode_nested(name: &str, arrays: &[ArrayRef]) -> PyResult<Encoded> {
    let mut fields = Vec::with_capacity(arrays.len());
    for array in arrays {
        let Some(table) = array.as_struct_opt() else {
            fields.push(Field::of(name, array, MOST_DEPTH)?);
            continue;
        };
        for column in table.columns() {
            let mut field = Field::of(name, column, MOST_DEPTH)?;
            // A row that is null in the struct is so in its columns, whatever these have there.
            field.nulls = NullBuffer::union(field.nulls.as_ref(), table.nulls());
            fields.push(field);
        }
    }
    let rows = arrays.first().map_or(0, |array| array.len());
    let mut encoded = Encoded { bytes: Vec::new(), offsets: Vec::with_capacity(rows + 1) };
    encoded.offsets.push(0);
    for row in 0..rows {
        fields.iter().for_each(|field| field.write(row, &mut encoded.bytes));
        encoded.offsets.push(encoded.bytes.len() as i64);
    }
    Ok(encoded)
}

/// Names of the columns of `column`: the fields of a table, or `name`.
pub(crate) fn names(column: &Column, name: &str) -> Vec<String> {
    match column.kind() {
        DataType::Struct(fields) => fields.iter().map(|field| field.name().clone()).collect(),
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
    List(Vec<Self>),
    /// The fields, whose names the bytes do not have.
    Struct(Vec<Self>),
}

/// The values of a row, whose bytes may come from anyone.
///
/// # Errors
/// `ValueError` for bytes that are no row.
pub(crate) fn decode(mut row: &[u8]) -> PyResult<Vec<Value>> {
    let mut values = Vec::new();
    while !row.is_empty() {
        let damaged = || value("a key is no row of columns: it is damaged, or was made elsewhere");
        let (value, rest) = decode_value(row, MOST_DEPTH).ok_or_else(damaged)?;
        row = rest;
        values.push(value);
    }
    Ok(values)
}

/// The first value, with `depth` levels of lists and structs at most, and the rest. `None` if `row` does not
/// begin with one.
fn decode_value(row: &[u8], depth: usize) -> Option<(Value, &[u8])> {
    let (tag, row) = row.split_first()?;
    Some(match *tag {
        tag::NULL => (Value::Null, row),
        tag::FALSE | tag::TRUE => (Value::Boolean(*tag == tag::TRUE), row),
        tag::TEXT => {
            let (bytes, rest) = string(row)?;
            (Value::Text(String::from_utf8(bytes).ok()?), rest)
        }
        tag::BYTES => {
            let (bytes, rest) = string(row)?;
            (Value::Bytes(bytes), rest)
        }
        tag::LIST | tag::STRUCT => {
            let depth = depth.checked_sub(1)?;
            let (mut values, mut row) = (Vec::new(), row);
            loop {
                let (mark, rest) = row.split_first()?;
                match *mark {
                    tag::END if *tag == tag::LIST => break (Value::List(values), rest),
                    tag::END => break (Value::Struct(values), rest),
                    tag::NEXT => {
                        let (value, rest) = decode_value(rest, depth)?;
                        row = rest;
                        values.push(value);
                    }
                    _ => return None,
                }
            }
        }
        tag => {
            let (_, width, is_signed) = INTEGERS.get(usize::from(tag).checked_sub(1)?)?;
            let (bytes, rest) = row.split_at_checked(*width)?;
            let number = bytes.iter().fold(0_i128, |number, byte| number << 8 | i128::from(*byte));
            let half = if *is_signed { 1 << (8 * width - 1) } else { 0 };
            (Value::Integer(tag, number - half), rest)
        }
    })
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
