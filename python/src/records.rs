//! `records` and `compare`: measurements of studies as tables.

use crate::error::value;
use arrow_array::{ArrayRef, Float64Array, LargeStringArray, RecordBatch, UInt64Array};
use arrow_schema::{Field, Schema};
use hashlane_records::compare::{Row, folders};
use hashlane_records::{FILE_NAME, Record, RecordSet};
use hashlane_stats::Interval;
use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(read_records, module)?)?;
    module.add_function(wrap_pyfunction!(compare_records, module)?)
}

/// The records of a file, or of the folder of a run.
fn read(path: &Path) -> PyResult<RecordSet> {
    let file = if path.is_dir() { path.join(FILE_NAME) } else { path.to_owned() };
    if !file.exists() {
        return Err(PyFileNotFoundError::new_err(format!(
            "{}: no such file; `hashlane study run` writes records.csv into its folder",
            file.display()
        )));
    }
    RecordSet::read(&file).map_err(value)
}

#[pyfunction]
fn read_records(py: Python<'_>, path: PathBuf) -> PyResult<PyTable> {
    let set = py.detach(|| read(&path))?;
    let records: Vec<&Record> = set.iter().collect();
    let text = |of: fn(&Record) -> &str| texts(records.iter().map(|record| of(record)));
    let number = |of: fn(&Record) -> f64| numbers(records.iter().map(|record| Some(of(record))));
    table(vec![
        ("study", text(|record| &record.study)),
        ("model", text(|record| &record.model)),
        ("workload", text(|record| &record.workload)),
        ("scheme", text(|record| &record.scheme)),
        ("probe", text(|record| &record.probe)),
        ("metric", text(|record| &record.metric)),
        ("unit", text(|record| &record.unit)),
        ("value", number(|record| record.value)),
        ("low", number(|record| record.low)),
        ("high", number(|record| record.high)),
        ("samples", Arc::new(UInt64Array::from_iter_values(records.iter().map(|record| record.samples)))),
        ("launches", Arc::new(UInt64Array::from_iter_values(records.iter().map(|record| record.launches)))),
    ])
}

#[pyfunction]
fn compare_records(py: Python<'_>, a: PathBuf, b: PathBuf, metrics: Vec<String>) -> PyResult<PyTable> {
    let (of_a, of_b) = py.detach(|| PyResult::Ok((read(&a)?, read(&b)?)))?;
    folders::check([&a, &b], [&of_a, &of_b], &metrics).map_err(value)?;
    let comparison = folders::compare(&of_a, &of_b, &metrics, |_| None);
    let rows: Vec<&Row> = comparison.rows().collect();
    let text = |of: fn(&Row) -> &str| texts(rows.iter().map(|row| of(row)));
    let number = |of: fn(&Row) -> Option<f64>| numbers(rows.iter().map(|row| of(row)));
    let ratio = |of: fn(Interval) -> f64| numbers(rows.iter().map(|row| row.ratio.map(of)));
    table(vec![
        ("study", text(|row| &row.key.study)),
        ("workload", text(|row| &row.key.workload)),
        ("scheme", text(|row| &row.key.scheme)),
        ("metric", text(|row| &row.key.metric)),
        ("unit", text(|row| &row.key.unit)),
        ("a", number(|row| Some(row.a.value))),
        ("b", number(|row| Some(row.b.value))),
        ("ratio", ratio(|ratio| ratio.value)),
        ("low", ratio(|ratio| ratio.low)),
        ("high", ratio(|ratio| ratio.high)),
    ])
}

fn texts<'a>(values: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(LargeStringArray::from_iter_values(values))
}

fn numbers(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    Arc::new(values.collect::<Float64Array>())
}

fn table(columns: Vec<(&str, ArrayRef)>) -> PyResult<PyTable> {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(value)?;
    PyTable::try_new(vec![batch], schema)
}
