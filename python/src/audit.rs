//! `audit`: verdicts on registered hashes and on functions in Python.

use crate::column::Column;
use crate::error::value;
use crate::registry::unknown;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_cast::cast;
use arrow_schema::DataType;
use hashlane_audit::audit::{Epsilon, Outcome, Report, Settings, audit};
use hashlane_audit::epsilon::vectors;
use hashlane_audit::keys::Keys;
use hashlane_audit::registered::subjects;
use hashlane_audit::subject::{AuditedHash, Fault, Lengths, SubjectInfo};
use hashlane_audit::table::{Geometry, MAX_KEYS};
use hashlane_audit::verdict::power_of_two;
use hashlane_hash::scheme::{Key, Keying};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::time::{Duration, Instant};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(audit_scheme, module)?)?;
    module.add_function(wrap_pyfunction!(audit_function, module)?)
}

/// Most bytes of a key.
const LONGEST: usize = 4096;

/// Time between two looks for signals.
const EVERY: Duration = Duration::from_millis(20);

fn settings(table: &str, length: Option<usize>, count: usize, seed: u64) -> PyResult<Settings> {
    let named = Geometry::named();
    let geometry = named.iter().find(|geometry| geometry.name == table).cloned().ok_or_else(|| {
        let known: Vec<&str> = named.iter().map(|geometry| geometry.name.as_str()).collect();
        unknown("table", table, known.iter().copied(), &format!("known: {}", known.join(", ")))
    })?;
    if !(16..=MAX_KEYS).contains(&count) {
        return Err(value(format!("count must be from 16 to {MAX_KEYS} keys, not {count}")));
    }
    if length.is_some_and(|length| !(1..=LONGEST).contains(&length)) {
        return Err(value(format!("length must be from 1 to {LONGEST} bytes")));
    }
    Ok(Settings { geometry, length, seed_bits: None, count, seed })
}

#[pyfunction]
#[pyo3(signature = (scheme, table, length, count, seed))]
fn audit_scheme<'py>(
    py: Python<'py>,
    scheme: &str,
    table: &str,
    length: Option<usize>,
    count: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = settings(table, length, count, seed)?;
    let mut all = subjects();
    let place = all.iter().position(|subject| subject.info().id == scheme).ok_or_else(|| {
        let known = all.iter().map(|subject| subject.info().id.as_str());
        unknown("scheme", scheme, known, "hashlane.schemes() lists them")
    })?;
    run(py, all.swap_remove(place), &settings)
}

#[pyfunction]
#[pyo3(signature = (function, name, bits, seed_bits, secret, table, length, count, seed))]
#[expect(clippy::too_many_arguments, reason = "the facts about a function, and the settings of an audit")]
fn audit_function<'py>(
    py: Python<'py>,
    function: Py<PyAny>,
    name: String,
    bits: u32,
    seed_bits: u32,
    secret: bool,
    table: &str,
    length: Option<usize>,
    count: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    if !(1..=64).contains(&bits) {
        return Err(value(format!("bits must be from 1 to 64, not {bits}")));
    }
    let keying = match (seed_bits, secret) {
        (0, false) => Keying::None,
        (1..=128, false) => Keying::Seed(seed_bits),
        (1..=128, true) => Keying::Secret(seed_bits),
        _ => {
            return Err(value(format!(
                "seed_bits must be from 0 to 128, and above 0 for a secret, not {seed_bits}"
            )));
        }
    };
    let settings = settings(table, length, count, seed)?;
    let info = SubjectInfo {
        id: name,
        source: "a function in Python".to_owned(),
        width: bits,
        keying,
        lengths: Lengths::Any,
    };
    run(py, Function { function, info, raised: None }, &settings)
}

/// Audits a subject without the lock, until a signal handler raises.
fn run<'py>(
    py: Python<'py>,
    subject: impl Raising + Send,
    settings: &Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let pairs = vectors::committed().map_err(|(name, error)| value(format!("vector {name}: {error}")))?;
    let mut subject = Interruptible { subject, looked: Instant::now(), raised: None };
    let report = py.detach(|| audit(&mut subject, settings, &pairs, &mut |_| ()));
    if let Some(raised) = subject.raised.take().or_else(|| subject.subject.raised()) {
        return Err(raised);
    }
    dict(py, &report, settings)
}

fn dict<'py>(py: Python<'py>, report: &Report, settings: &Settings) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("scheme", &report.info.id)?;
    dict.set_item("source", &report.info.source)?;
    dict.set_item("verdict", report.verdict.word())?;
    dict.set_item("sentence", report.sentence())?;
    dict.set_item("floodable", report.verdict.is_floodable())?;
    dict.set_item("faulty", report.verdict.is_faulty())?;
    dict.set_item("epsilon", epsilon(&report.epsilon))?;
    dict.set_item("table", &settings.geometry.name)?;
    dict.set_item("seed", settings.seed)?;
    let keys = report
        .verdict
        .flood()
        .map(|flood| flood.keys.iter().map(|key| PyBytes::new(py, key)).collect::<Vec<_>>());
    dict.set_item("keys", keys.unwrap_or_default())?;
    let attacks = PyList::empty(py);
    for (about, outcome) in &report.attempts {
        let (word, why) = match outcome {
            Outcome::Flood(_) => ("floods", None),
            Outcome::Harmless => ("harmless", None),
            Outcome::NotApplicable(why) => ("does not apply", Some(why.as_str())),
            Outcome::NotTried => ("not tried", Some("it needs the key, which is declared secret")),
        };
        attacks.append((about.id, about.knowledge.to_string(), word, why, about.title, about.source))?;
    }
    dict.set_item("attacks", attacks)?;
    Ok(dict)
}

fn epsilon(epsilon: &Epsilon) -> String {
    match epsilon {
        Epsilon::Proved(proved) => format!("proved ≤ {} a pair", power_of_two(proved.log2)),
        Epsilon::Broken { log2, source, .. } => {
            format!("broken: a pair collides for {} of the seeds ({source})", power_of_two(*log2))
        }
        Epsilon::Measured { keys, seeds } => {
            format!("measured: no pair of {keys} keys collided twice under {seeds} seeds")
        }
        Epsilon::Unknown => "unknown: the function has failed".to_owned(),
    }
}

/// A subject whose calls may raise exceptions.
trait Raising: AuditedHash {
    /// The first exception.
    fn raised(&mut self) -> Option<PyErr>;
}

impl Raising for hashlane_audit::registered::Registered {
    fn raised(&mut self) -> Option<PyErr> {
        None
    }
}

/// A function in Python: it takes a list of keys and a seed of 16 bytes, and returns as many hashes.
struct Function {
    function: Py<PyAny>,
    info: SubjectInfo,
    raised: Option<PyErr>,
}

impl Raising for Function {
    fn raised(&mut self) -> Option<PyErr> {
        self.raised.take()
    }
}

impl AuditedHash for Function {
    fn info(&self) -> &SubjectInfo {
        &self.info
    }

    fn hash_all(&mut self, key: &Key, keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault> {
        if self.raised.is_some() {
            return Err(stopped());
        }
        hashes.clear();
        let called = Python::attach(|py| {
            let list = PyList::new(py, keys.iter().map(|key| PyBytes::new(py, key)))?;
            let result = self.function.bind(py).call1((list, PyBytes::new(py, &key.to_bytes())))?;
            numbers(&result, hashes)?;
            if hashes.len() != keys.len() {
                let (given, got) = (keys.len(), hashes.len());
                return Err(value(format!("the function was given {given} keys and returned {got} hashes")));
            }
            let most = u64::MAX >> (64 - self.info.width);
            match hashes.iter().find(|hash| **hash > most) {
                Some(hash) => {
                    Err(value(format!("the function returned {hash}, more than {} bits", self.info.width)))
                }
                None => Ok(()),
            }
        });
        called.map_err(|raised| {
            self.raised = Some(raised);
            stopped()
        })
    }
}

/// The hashes that a function returned: a column or a sequence of numbers.
fn numbers(result: &Bound<'_, PyAny>, hashes: &mut Vec<u64>) -> PyResult<()> {
    let is_column = ["__arrow_c_array__", "__arrow_c_stream__", "__array_interface__"];
    if !is_column.iter().any(|name| result.hasattr(*name).unwrap_or_default()) {
        *hashes = result.extract()?;
        return Ok(());
    }
    for chunk in Column::of("the result of the function", result)?.chunks() {
        let chunk = cast(chunk, &DataType::UInt64).map_err(value)?;
        let chunk = chunk.as_primitive::<UInt64Type>();
        if arrow_array::Array::null_count(chunk) > 0 {
            return Err(value("the function returned a null or a negative hash"));
        }
        hashes.extend_from_slice(chunk.values());
    }
    Ok(())
}

fn stopped() -> Fault {
    Fault::Unusable("stopped by an exception".to_owned())
}

/// A subject that fails once a signal handler has raised.
struct Interruptible<S> {
    subject: S,
    looked: Instant,
    raised: Option<PyErr>,
}

impl<S: Raising> AuditedHash for Interruptible<S> {
    fn info(&self) -> &SubjectInfo {
        self.subject.info()
    }

    fn hash_all(&mut self, key: &Key, keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault> {
        if self.raised.is_none() && self.looked.elapsed() > EVERY {
            self.looked = Instant::now();
            self.raised = Python::attach(|py| py.check_signals()).err();
        }
        match self.raised {
            Some(_) => Err(stopped()),
            None => self.subject.hash_all(key, keys, hashes),
        }
    }
}
