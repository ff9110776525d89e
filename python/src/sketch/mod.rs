//! Mergeable sketches.

mod add;
pub(crate) mod aggregate;
mod any;
mod batch;
mod group_columns;
mod groups;
mod refused;
mod result;
mod update;

use crate::arguments::{RssKey, SecretKey};
use crate::column::Column;
use crate::composite;
use crate::error::value;
use any::{Any, needed};
use arrow_array::UInt64Array;
use arrow_schema::{DataType, Field};
use groups::AnyGroups;
use hashlane_sketch::{Distinct, Function, HeavyHitters, KeyImbalance, Load, Prefixes, SpreadResult};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use pyo3_arrow::{PyArray, PyTable};
use refused::refused;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use update::Batch;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Sketch>()?;
    module.add_function(wrap_pyfunction!(sketch_spread, module)?)?;
    module.add_function(wrap_pyfunction!(sketch_prefixes, module)?)?;
    module.add_function(wrap_pyfunction!(sketch_imbalance, module)?)?;
    module.add_function(wrap_pyfunction!(sketch_distinct, module)?)?;
    module.add_function(wrap_pyfunction!(sketch_heavy_hitters, module)?)?;
    module.add_function(wrap_pyfunction!(sketch_groups, module)?)?;
    module.add_function(wrap_pyfunction!(spread_result, module)?)?;
    module.add_function(wrap_pyfunction!(imbalance_result, module)?)?;
    module.add_function(wrap_pyfunction!(sketch_datasketches_hll, module)?)?;
    module.add_function(wrap_pyfunction!(sketch_datasketches_theta, module)?)?;
    module.add_function(wrap_pyfunction!(sketch_read, module)?)
}

/// A sketch of any kind. Waiting for its lock needs Python's lock released: an update takes that one while it
/// holds this.
#[pyclass(frozen)]
struct Sketch(Mutex<State>);

struct State {
    any: Any,
    /// An update was stopped half way.
    is_torn: bool,
}

impl Sketch {
    fn of(any: Any) -> Self {
        Self(Mutex::new(State { any, is_torn: false }))
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, State>> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_torn {
            return Err(value(
                "an update of this sketch was interrupted and left part of its batch: begin a new sketch",
            ));
        }
        Ok(state)
    }

    /// A copy of the sketch, as of now.
    fn copy(&self, py: Python<'_>) -> PyResult<Any> {
        py.detach(|| self.lock().map(|state| state.any.clone()))
    }

    /// Calls `read` with the sketch, without Python's lock.
    fn read<T: Send>(&self, py: Python<'_>, read: impl FnOnce(&Any) -> PyResult<T> + Send) -> PyResult<T> {
        py.detach(|| read(&self.lock()?.any))
    }
}

#[pymethods]
impl Sketch {
    fn kind(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.read(py, |any| Ok(any.kind()))
    }

    fn description(&self, py: Python<'_>) -> PyResult<String> {
        self.read(py, |any| Ok(any.description()))
    }

    #[pyo3(signature = (columns, weights=None, bytes=None))]
    fn update<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Bound<'py, PyAny>>,
        weights: Option<&Bound<'py, PyAny>>,
        bytes: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let (kind, width) = self.read(py, |any| Ok((any.kind(), any.columns())))?;
        let read = columns_of(kind, width, &columns, weights, bytes)?;
        py.detach(|| {
            let batch = read.batch(kind, width)?;
            let (mut state, mut begun) = (self.lock()?, false);
            let added = batch.add(&mut state.any, &mut begun);
            state.is_torn = begun && added.is_err();
            added
        })
    }

    /// Updates groups by the columns `by`, which have names; returns these, for a table its own.
    #[pyo3(signature = (by, columns, weights=None, bytes=None))]
    fn update_groups<'py>(
        &self,
        py: Python<'py>,
        by: Vec<(String, Bound<'py, PyAny>)>,
        columns: Vec<Bound<'py, PyAny>>,
        weights: Option<&Bound<'py, PyAny>>,
        bytes: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<String>> {
        let (kind, width) = self.groups(py, |groups| Ok((groups.kind(), groups.columns())))?;
        let (mut names, mut groups) = (Vec::new(), Vec::new());
        for (name, object) in &by {
            let column = Column::of("by", object)?;
            names.extend(composite::names(&column, name));
            groups.push(column);
        }
        let by = groups;
        let read = columns_of(kind, width, &columns, weights, bytes)?;
        py.detach(|| {
            let batch = read.batch(kind, width)?;
            let (mut state, mut begun) = (self.lock()?, false);
            let Any::Groups(groups) = &mut state.any else { return Err(value("only Groups has groups")) };
            let added = groups.update(&by, &batch, &mut begun);
            state.is_torn = begun && added.is_err();
            added.map(|()| names)
        })
    }

    /// Number of groups.
    fn group_count(&self, py: Python<'_>) -> PyResult<usize> {
        self.groups(py, |groups| Ok(groups.len()))
    }

    /// The sketch of the group of one row of the columns `by`.
    fn group(&self, py: Python<'_>, by: Vec<Bound<'_, PyAny>>) -> PyResult<Option<Self>> {
        let by = by.iter().map(|object| Column::of("by", object)).collect::<PyResult<Vec<_>>>()?;
        self.groups(py, |groups| {
            let arrays = by.iter().map(|column| column.slice(0, 1)).collect::<PyResult<Vec<_>>>()?;
            let name = composite::encode_nested("by", &arrays)?.bytes;
            Ok(Any::of_group(groups, Some(&name)).map(Self::of))
        })
    }

    /// Results of all groups.
    fn group_results(&self, py: Python<'_>, names: Vec<String>) -> PyResult<PyTable> {
        let batch = self.groups(py, |groups| groups.result(&names))?;
        let schema = batch.schema();
        PyTable::try_new(vec![batch], schema)
    }

    fn merge(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<()> {
        // A copy, so that never two locks are held: the other one may be this one.
        let other = other.get().copy(py)?;
        py.detach(|| self.lock()?.any.merge(&other))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.read(py, |any| Ok(any.to_bytes())).map(|bytes| PyBytes::new(py, &bytes))
    }

    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        result::result(py, &self.copy(py)?)
    }

    /// Keys in each bucket of a `Spread`.
    fn counts(&self, py: Python<'_>) -> PyResult<PyArray> {
        let counts = self.read(py, |any| match any {
            Any::Spread(sketch) => Ok(UInt64Array::from(sketch.counts().to_vec())),
            _ => Err(value("only Spread has counts")),
        })?;
        Ok(PyArray::new(Arc::new(counts), Arc::new(Field::new("", DataType::UInt64, false))))
    }

    /// Entries and bytes of a FIB of prefixes of these depths.
    fn fib(&self, py: Python<'_>, least: usize, most: usize) -> PyResult<(u64, u64)> {
        self.read(py, |any| match any {
            Any::Prefixes(sketch) => Ok(result::memory(sketch.result().fib(least..=most))),
            _ => Err(value("only Prefixes has a FIB")),
        })
    }

    /// Number of candidates of an `Imbalance`.
    fn candidates(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, |any| match any {
            Any::Imbalance(sketch) => Ok(sketch.candidates()),
            _ => Err(value("only Imbalance has candidates")),
        })
    }

    /// Packets and bytes of each queue under a key.
    fn loads(&self, py: Python<'_>, number: u64) -> PyResult<Vec<(u64, u64)>> {
        self.read(py, |any| match any {
            Any::Imbalance(sketch) if number <= sketch.candidates() as u64 => {
                Ok(sketch.loads(number).iter().map(result::load).collect())
            }
            Any::Imbalance(sketch) => {
                Err(value(format!("key {number}; there are keys 0 to {}", sketch.candidates())))
            }
            _ => Err(value("only Imbalance has loads")),
        })
    }

    /// The key of a candidate.
    fn candidate_key<'py>(&self, py: Python<'py>, number: u64) -> PyResult<Bound<'py, PyBytes>> {
        let key = self.read(py, |any| match any {
            Any::Imbalance(sketch) => match sketch.function() {
                Function::Keyed => sketch.hash_key(number).map(|key| key.to_bytes().to_vec()),
                _ => sketch.card_key(number).map(|key| key.to_vec()),
            }
            .map_err(refused),
            _ => Err(value("only Imbalance has candidates")),
        })?;
        Ok(PyBytes::new(py, &key))
    }
}

impl Sketch {
    /// Calls `read` with the groups, without Python's lock.
    fn groups<T: Send>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&AnyGroups) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        self.read(py, |any| match any {
            Any::Groups(groups) => read(groups),
            _ => Err(value("only Groups has groups")),
        })
    }
}

/// Columns of an update, read from Python's objects.
struct Columns {
    keys: Vec<Column>,
    weights: Option<Column>,
    bytes: Option<Column>,
}

/// The columns of an update of a sketch of this kind, with keys of `width` columns.
fn columns_of(
    kind: &str,
    width: usize,
    columns: &[Bound<'_, PyAny>],
    weights: Option<&Bound<'_, PyAny>>,
    bytes: Option<&Bound<'_, PyAny>>,
) -> PyResult<Columns> {
    let names: &[&'static str] = match (kind, columns.len()) {
        ("HeavyHitters", _) if width > 1 => &[],
        ("Prefixes", _) => &["names"],
        (_, 1) => &["keys"],
        _ => &["src", "sport", "dst", "dport"],
    };
    if columns.len() != names.len() && width == 1 {
        return Err(value(format!(
            "{} columns; expected one of keys, or four: src, sport, dst, dport",
            columns.len()
        )));
    }
    let names = names.iter().copied().chain(core::iter::repeat("keys"));
    let keys = names.zip(columns).map(|(name, object)| Column::of(name, object));
    let named = if kind == "HeavyHitters" { "weights" } else { "packets" };
    Ok(Columns {
        keys: keys.collect::<PyResult<_>>()?,
        weights: weights.map(|object| Column::of(named, object)).transpose()?,
        bytes: bytes.map(|object| Column::of("bytes", object)).transpose()?,
    })
}

impl Columns {
    fn batch(self, kind: &str, width: usize) -> PyResult<Batch> {
        if width > 1 {
            return Batch::composite(self.keys, width, self.weights);
        }
        Batch::of(kind, self.keys, self.weights, self.bytes)
    }
}

#[pyfunction]
fn sketch_groups(py: Python<'_>, sketch: &Bound<'_, Sketch>, most: usize) -> PyResult<Sketch> {
    let empty = sketch.get().copy(py)?;
    empty.groups(most).map(Sketch::of)
}

#[pyfunction]
#[pyo3(signature = (scheme, buckets, key, reduction))]
fn sketch_spread(scheme: &str, buckets: usize, key: Option<SecretKey>, reduction: &str) -> PyResult<Sketch> {
    Any::spread(scheme, buckets, key.as_deref(), reduction).map(Sketch::of)
}

#[pyfunction]
#[pyo3(signature = (encoding, precision, key))]
fn sketch_prefixes(encoding: &str, precision: u8, key: Option<SecretKey>) -> PyResult<Sketch> {
    let sketch = Prefixes::new(encoding, precision, &needed(key.as_deref())?).map_err(refused)?;
    Ok(Sketch::of(Any::Prefixes(Box::new(sketch))))
}

#[pyfunction]
#[pyo3(signature = (function, queues, candidates, key, rss_key))]
fn sketch_imbalance(
    function: &str,
    queues: usize,
    candidates: usize,
    key: Option<SecretKey>,
    rss_key: RssKey,
) -> PyResult<Sketch> {
    Any::imbalance(function, queues, candidates, key.as_deref(), &rss_key).map(Sketch::of)
}

#[pyfunction]
#[pyo3(signature = (precision, key))]
fn sketch_distinct(precision: u8, key: Option<SecretKey>) -> PyResult<Sketch> {
    let sketch = Distinct::new(precision, &needed(key.as_deref())?).map_err(refused)?;
    Ok(Sketch::of(Any::Distinct(sketch)))
}

#[pyfunction]
fn sketch_heavy_hitters(counters: usize, columns: usize) -> PyResult<Sketch> {
    let sketch =
        HeavyHitters::new(counters).and_then(|sketch| sketch.with_columns(columns)).map_err(refused)?;
    Ok(Sketch::of(Any::HeavyHitters(sketch)))
}

#[pyfunction]
fn sketch_datasketches_hll(lg_k: u8, kind: &str) -> PyResult<Sketch> {
    Any::hll(lg_k, kind).map(Sketch::of)
}

#[pyfunction]
fn sketch_datasketches_theta(lg_k: u8) -> PyResult<Sketch> {
    Any::theta(lg_k).map(Sketch::of)
}

/// Numbers of a column without nulls.
fn numbers(column: &Column) -> PyResult<Vec<u64>> {
    let mut numbers = Vec::new();
    batch::for_each(&[column], |first, arrays| {
        arrays.iter().try_for_each(|array| batch::numbers(column.name(), array, first, None, &mut numbers))
    })?;
    Ok(numbers)
}

/// Statistics of buckets: their counts, or with `buckets` of them the bucket of each key.
#[pyfunction]
#[pyo3(signature = (column, buckets=None))]
fn spread_result<'py>(
    py: Python<'py>,
    column: &Bound<'py, PyAny>,
    buckets: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let column = Column::of(if buckets.is_some() { "numbers" } else { "counts" }, column)?;
    let spread = py.detach(|| {
        let numbers = numbers(&column)?;
        match buckets {
            Some(buckets) => SpreadResult::from_buckets(&numbers, buckets),
            None => SpreadResult::from_counts(&numbers),
        }
        .map_err(refused)
    })?;
    result::spread(py, spread)
}

/// Imbalance of queues with these packets and bytes.
#[pyfunction]
#[pyo3(signature = (packets, bytes=None))]
fn imbalance_result(
    packets: &Bound<'_, PyAny>,
    bytes: Option<&Bound<'_, PyAny>>,
) -> PyResult<(u64, f64, f64)> {
    let packets = Column::of("packets", packets)?;
    let bytes = bytes.map(|bytes| Column::of("bytes", bytes)).transpose()?;
    Column::of_one_length(&[Some(&packets), bytes.as_ref()].into_iter().flatten().collect::<Vec<_>>())?;
    let packets = numbers(&packets)?;
    let bytes = bytes.map_or_else(|| Ok(vec![0; packets.len()]), |bytes| numbers(&bytes))?;
    let loads: Vec<Load> = packets
        .iter()
        .zip(&bytes)
        .map(|(packets, bytes)| Load { packets: *packets, bytes: *bytes })
        .collect();
    let of = KeyImbalance::from_loads(&loads);
    Ok((of.number, of.packets, of.bytes))
}

#[pyfunction]
#[pyo3(signature = (kind, data, key))]
fn sketch_read(py: Python<'_>, kind: &str, data: &[u8], key: Option<SecretKey>) -> PyResult<Sketch> {
    py.detach(|| Any::read(kind, data, key.as_deref())).map(Sketch::of)
}
