//! Operators of `hashlane.Array`: slices, remainders and masks of hashes, and comparisons.

use crate::column::{Column, combined};
use crate::error::{at_row, type_name, value, wrong_type};
use crate::objects::of_objects;
use crate::rows::Rows;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_cast::cast;
use arrow_schema::{DataType, Field};
use arrow_select::take::take;
use pyo3::exceptions::PyZeroDivisionError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyString};
use pyo3_arrow::{PyArray, PyChunkedArray};
use std::cmp::Ordering;
use std::sync::Arc;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(operate, module)?)?;
    module.add_function(wrap_pyfunction!(strided, module)?)?;
    module.add_function(wrap_pyfunction!(signed, module)?)
}

/// Array of a result, as one chunk.
fn array(result: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    match result.cast::<PyArray>() {
        Ok(array) => Ok(Arc::clone(array.get().array())),
        Err(_) => Ok(combined(result.extract()?)?.into_inner().0),
    }
}

fn returned(array: ArrayRef) -> PyArray {
    let field = Arc::new(Field::new("", array.data_type().clone(), true));
    PyArray::new(array, field)
}

/// The rows `start`, `start + step` and so on, `count` of them. A step of 1 copies nothing.
///
/// # Errors
/// `ValueError` for rows outside of the array.
#[pyfunction]
fn strided(result: &Bound<'_, PyAny>, start: i64, step: i64, count: i64) -> PyResult<PyArray> {
    let array = array(result)?;
    let last = step.checked_mul((count - 1).max(0)).and_then(|last| last.checked_add(start));
    let is_inside = |row: i64| u64::try_from(row).is_ok_and(|row| row < array.len() as u64);
    if count > 0 && !(is_inside(start) && last.is_some_and(is_inside)) {
        return Err(value(format!("rows {start} to {} of {}", last.unwrap_or(i64::MAX), array.len())));
    }
    let (count, from) = (count.max(0) as usize, start.max(0) as usize);
    if count == 0 || step == 1 {
        return Ok(returned(array.slice(if count == 0 { 0 } else { from }, count)));
    }
    let rows = (0..count as i64).map(|place| (start + step * place) as u64);
    take(&array, &UInt64Array::from_iter_values(rows), None).map(returned).map_err(value)
}

/// The result with `int64` in place of `uint64` of the same 64 bits, without a copy, and of `uint32` of the
/// same value. Lists likewise; other types are unchanged.
#[pyfunction]
fn signed<'py>(py: Python<'py>, result: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(one) = result.cast::<PyArray>() {
        return Ok(Bound::new(py, returned(as_signed(one.get().array())?))?.into_any());
    }
    let (chunks, field) = result.extract::<PyChunkedArray>()?.into_inner();
    let chunks = chunks.iter().map(as_signed).collect::<PyResult<Vec<_>>>()?;
    let empty = as_signed(&arrow_array::new_empty_array(field.data_type()))?;
    let field = Arc::new(Field::new("", empty.data_type().clone(), true));
    Ok(Bound::new(py, PyChunkedArray::try_new(chunks, field)?)?.into_any())
}

pub(crate) fn as_signed(array: &ArrayRef) -> PyResult<ArrayRef> {
    Ok(match array.data_type() {
        DataType::UInt64 => {
            let array = array.as_primitive::<UInt64Type>();
            Arc::new(Int64Array::new(array.values().inner().clone().into(), array.nulls().cloned()))
        }
        DataType::UInt32 => cast(array, &DataType::Int64).map_err(value)?,
        DataType::LargeList(item) => {
            let list = array.as_list::<i64>();
            let values = as_signed(list.values())?;
            let item = Arc::new(item.as_ref().clone().with_data_type(values.data_type().clone()));
            let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
            Arc::new(arrow_array::LargeListArray::try_new(item, offsets, values, nulls).map_err(value)?)
        }
        _ => Arc::clone(array),
    })
}

/// Integers of 32 or 64 bits.
enum Integers<'a> {
    Unsigned(&'a [u64]),
    Short(&'a [u32]),
    Signed(&'a [i64]),
}

impl<'a> Integers<'a> {
    fn of(array: &'a ArrayRef) -> Option<Self> {
        match array.data_type() {
            DataType::UInt64 => Some(Self::Unsigned(array.as_primitive::<UInt64Type>().values())),
            DataType::UInt32 => Some(Self::Short(array.as_primitive::<UInt32Type>().values())),
            DataType::Int64 => Some(Self::Signed(array.as_primitive::<Int64Type>().values())),
            _ => None,
        }
    }

    fn at(&self, row: usize) -> i128 {
        match self {
            Self::Unsigned(values) => values.get(row).copied().unwrap_or_default().into(),
            Self::Short(values) => values.get(row).copied().unwrap_or_default().into(),
            Self::Signed(values) => values.get(row).copied().unwrap_or_default().into(),
        }
    }
}

/// `left op right` for each row: an integer operator gives the type of `left`, a comparison booleans.
///
/// # Errors
/// `TypeError` for types without the operator; `ValueError` for columns of several lengths, and numbers that
/// the type cannot hold; `ZeroDivisionError`.
#[pyfunction]
fn operate(
    py: Python<'_>,
    result: &Bound<'_, PyAny>,
    operator: &str,
    other: &Bound<'_, PyAny>,
) -> PyResult<PyArray> {
    let left = array(result)?;
    let is_scalar = other.is_none()
        || other.is_instance_of::<PyInt>()
        || other.is_instance_of::<PyString>()
        || other.is_instance_of::<PyBytes>();
    let right = match is_scalar {
        true => of_objects("the other operand", PyList::new(py, [other])?.as_any())?,
        false => {
            let column = Column::of("the other operand", other)?;
            column.slice(0, column.len())?
        }
    };
    if !is_scalar && right.len() != left.len() {
        return Err(value(format!("columns of several lengths: {} and {} rows", left.len(), right.len())));
    }
    let kernel = Kernel { right: &right, is_scalar, left: &left, operator };
    py.detach(|| kernel.run()).map(returned)
}

struct Kernel<'a> {
    left: &'a ArrayRef,
    right: &'a ArrayRef,
    is_scalar: bool,
    operator: &'a str,
}

impl Kernel<'_> {
    fn run(&self) -> PyResult<ArrayRef> {
        let comparison: Option<fn(Ordering) -> bool> = match self.operator {
            "==" => Some(Ordering::is_eq),
            "!=" => Some(Ordering::is_ne),
            "<" => Some(Ordering::is_lt),
            "<=" => Some(Ordering::is_le),
            ">" => Some(Ordering::is_gt),
            ">=" => Some(Ordering::is_ge),
            _ => None,
        };
        let right = match self.right.data_type() {
            kind if kind.is_signed_integer() => cast(self.right, &DataType::Int64).map_err(value)?,
            kind if kind.is_unsigned_integer() => cast(self.right, &DataType::UInt64).map_err(value)?,
            _ => Arc::clone(self.right),
        };
        let nulls = self.nulls();
        let len = self.left.len();
        let is_valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        if right.data_type() == &DataType::Null {
            let kind = comparison.map_or(self.left.data_type(), |_| &DataType::Boolean);
            return Ok(arrow_array::new_null_array(kind, len));
        }
        match (Integers::of(self.left), Integers::of(&right), comparison) {
            (Some(left), Some(right), Some(holds)) => {
                let rows = (0..len).map(|row| holds(left.at(row).cmp(&right.at(self.place(row)))));
                Ok(Arc::new(BooleanArray::new(rows.collect(), nulls)))
            }
            (Some(left), Some(right), None) => {
                let mut out = Vec::with_capacity(len);
                for row in 0..len {
                    let (a, b) = (left.at(row), right.at(self.place(row)));
                    out.push(if is_valid(row) { self.integer(row, a, b)? } else { 0 });
                }
                self.narrow(&out, nulls)
            }
            (None, None, Some(holds)) => {
                let (left, other) = (Rows::of("array", self.left)?, Rows::of("the other operand", &right)?);
                let compare = |row| is_valid(row) && holds(left.row(row).cmp(other.row(self.place(row))));
                Ok(Arc::new(BooleanArray::new((0..len).map(compare).collect(), nulls)))
            }
            _ => Err(wrong_type(format!(
                "{} of a column of {} and {}: convert by to_arrow()",
                self.operator,
                type_name(self.left.data_type()),
                type_name(right.data_type())
            ))),
        }
    }

    const fn place(&self, row: usize) -> usize {
        if self.is_scalar { 0 } else { row }
    }

    fn nulls(&self) -> Option<NullBuffer> {
        let right = if self.is_scalar { None } else { self.right.logical_nulls() };
        NullBuffer::union(self.left.logical_nulls().as_ref(), right.as_ref())
    }

    fn integer(&self, row: usize, a: i128, b: i128) -> PyResult<i128> {
        let divisor = || match b {
            0 => Err(PyZeroDivisionError::new_err(format!("row {row}: division by zero"))),
            b => Ok(b),
        };
        Ok(match self.operator {
            // As in Python, a remainder has the sign of the divisor.
            "%" => {
                let rest = a % divisor()?;
                if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
            }
            "//" => {
                let quotient = a / divisor()?;
                if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
            }
            "&" => a & b,
            "|" => a | b,
            "^" => a ^ b,
            ">>" => match u32::try_from(b) {
                Ok(bits) => a.checked_shr(bits).unwrap_or(if a < 0 { -1 } else { 0 }),
                Err(_) => return Err(at_row(row, format!("a shift by {b} bits"))),
            },
            other => return Err(wrong_type(format!("unknown operator {other}"))),
        })
    }

    /// The numbers in the type of the left operand.
    fn narrow(&self, out: &[i128], nulls: Option<NullBuffer>) -> PyResult<ArrayRef> {
        macro_rules! narrow {
            ($kind:ty, $integer:ty) => {{
                let fit = out.iter().map(|number| <$integer>::try_from(*number));
                let fit = fit.enumerate().map(|(row, number)| {
                    number.map_err(|_| at_row(row, format!("the result of {} does not fit", self.operator)))
                });
                let values = fit.collect::<PyResult<Vec<_>>>()?;
                Arc::new(arrow_array::PrimitiveArray::<$kind>::new(values.into(), nulls))
            }};
        }
        Ok(match self.left.data_type() {
            DataType::UInt64 => narrow!(UInt64Type, u64),
            DataType::UInt32 => narrow!(UInt32Type, u32),
            _ => narrow!(Int64Type, i64),
        })
    }
}
