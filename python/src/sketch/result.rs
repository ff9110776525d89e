//! Results of sketches as dictionaries.

use super::any::Any;
use crate::composite::{self, Value};
use crate::error::value;
use hashlane_sketch::{ImbalanceResult, KeyImbalance, Load, Memory, SpreadResult};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

/// The result of a sketch; the modules of the package give it types.
pub(super) fn result<'py>(py: Python<'py>, any: &Any) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    match any {
        Any::Spread(sketch) => {
            return spread(py, py.detach(|| sketch.result()));
        }
        Any::Prefixes(sketch) => {
            let of = py.detach(|| sketch.result());
            result.set_item("names", of.names)?;
            result.set_item("invalid", of.invalid)?;
            result.set_item("distinct_names", of.distinct_names)?;
            result.set_item("mean_name_len", of.mean_name_len)?;
            result.set_item("standard_error", of.standard_error)?;
            result.set_item("pit", memory(of.pit()))?;
            let depths = of.depths.iter().map(|d| (d.depth, d.names, d.distinct, d.mean_len));
            result.set_item("depths", depths.collect::<Vec<_>>())?;
        }
        Any::Imbalance(sketch) => {
            let of: ImbalanceResult = py.detach(|| sketch.result());
            let row = |of: &KeyImbalance| (of.number, of.packets, of.bytes);
            result.set_item("total", load(&of.total))?;
            result.set_item("current", row(&of.current))?;
            result.set_item("best", row(&of.best))?;
            result.set_item("median", of.median)?;
            result.set_item("keys", of.keys.iter().map(row).collect::<Vec<_>>())?;
        }
        Any::Distinct(sketch) => {
            let of = sketch.result();
            result.set_item("keys", of.keys)?;
            result.set_item("standard_error", of.standard_error)?;
        }
        Any::Hll(sketch) => {
            let of = py.detach(|| sketch.result());
            result.set_item("keys", of.keys)?;
            result.set_item("standard_error", of.standard_error)?;
        }
        Any::Theta(sketch) => {
            let of = py.detach(|| sketch.result());
            result.set_item("keys", of.keys)?;
            result.set_item("standard_error", of.standard_error)?;
        }
        Any::HeavyHitters(sketch) => {
            let of = py.detach(|| sketch.result());
            result.set_item("total", of.total)?;
            result.set_item("error", of.error)?;
            let is_row = sketch.columns() > 1;
            let hitters = of.hitters.iter().map(|hitter| {
                let key =
                    if is_row { row(py, &hitter.key)? } else { PyBytes::new(py, &hitter.key).into_any() };
                Ok((key, hitter.least))
            });
            result.set_item("hitters", hitters.collect::<PyResult<Vec<_>>>()?)?;
        }
        Any::Groups(_) => return Err(value("groups have a table of results")),
    }
    Ok(result)
}

/// The values of a row of several columns, as a tuple.
fn row<'py>(py: Python<'py>, key: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyTuple::new(py, objects(py, composite::decode(key)?)?)?.into_any())
}

/// Values of Python: a list for a list, a tuple for a struct, whose fields have no names here.
fn objects(py: Python<'_>, values: Vec<Value>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    let objects = values.into_iter().map(|value| match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Integer(_, number) => number.into_bound_py_any(py),
        Value::Text(text) => text.into_bound_py_any(py),
        Value::Bytes(bytes) => Ok(PyBytes::new(py, &bytes).into_any()),
        Value::Boolean(of) => of.into_bound_py_any(py),
        Value::List(values) => Ok(PyList::new(py, objects(py, values)?)?.into_any()),
        Value::Struct(fields) => Ok(PyTuple::new(py, objects(py, fields)?)?.into_any()),
    });
    objects.collect()
}

/// Entries and bytes.
pub(super) const fn memory(of: Memory) -> (u64, u64) {
    (of.entries, of.bytes)
}

/// Packets and bytes.
pub(super) const fn load(of: &Load) -> (u64, u64) {
    (of.packets, of.bytes)
}

/// Statistics of buckets.
pub(super) fn spread(py: Python<'_>, of: SpreadResult) -> PyResult<Bound<'_, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("keys", of.keys)?;
    result.set_item("buckets", of.buckets)?;
    result.set_item("chi_squared", of.chi_squared)?;
    result.set_item("degrees", of.degrees)?;
    result.set_item("p_value", of.p_value)?;
    result.set_item("longest", of.longest)?;
    result.set_item("longest_median", of.longest_median)?;
    result.set_item("longest_limit", of.longest_limit)?;
    result.set_item("loads", of.loads)?;
    Ok(result)
}
