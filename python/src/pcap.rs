//! `pcap.tuples`.

use crate::arguments::number;
use crate::error::value;
use arrow_array::builder::{FixedSizeBinaryBuilder, LargeStringBuilder};
use arrow_array::{
    ArrayRef, RecordBatch, RecordBatchReader, TimestampNanosecondArray, UInt8Array, UInt16Array, UInt32Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use hashlane_flow::captured::{Carried, NOT_IP};
use hashlane_flow::packet::Packet;
use hashlane_link::capture::{FormatError, Frame, Input, Reader, open};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatchReader;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Skipped>()?;
    module.add_function(wrap_pyfunction!(pcap_tuples, module)?)
}

/// Most rows of a batch.
const MOST: usize = 1 << 22;

/// Packets without a tuple, by reason.
#[pyclass(frozen)]
#[derive(Clone, Debug, Default)]
struct Skipped(Arc<Mutex<BTreeMap<&'static str, u64>>>);

#[pymethods]
impl Skipped {
    /// Number of packets so far by reason.
    fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[pyfunction]
fn pcap_tuples(
    py: Python<'_>,
    path: PathBuf,
    batch_size: &Bound<'_, PyAny>,
    text: bool,
) -> PyResult<(PyRecordBatchReader, Skipped)> {
    let batch_size = number("batch_size", batch_size, 1..=MOST as u64)? as usize;
    // A file that is called `-` is not standard input.
    let file = if path == Path::new("-") { PathBuf::from("./-") } else { path.clone() };
    let reader = py.detach(|| open(&file)).map_err(|error| unopened(py, &path, &error))?;
    let skipped = Skipped::default();
    let tuples = Tuples {
        reader: Some(reader),
        path,
        schema: schema(text),
        rows: Columns::new(text),
        batch: batch_size,
        skipped: skipped.clone(),
    };
    Ok((PyRecordBatchReader::new(Box::new(tuples)), skipped))
}

/// The `OSError` of the system, of the kind that its number has; or a `ValueError` for a file that is no
/// capture.
fn unopened(py: Python<'_>, path: &Path, error: &FormatError) -> PyErr {
    let number = match error {
        FormatError::Read(error) => error.raw_os_error(),
        FormatError::NotACapture(_) => None,
    };
    let Some(number) = number else { return value(format!("{}: {error}", path.display())) };
    let why = py.import("os").and_then(|os| os.call_method1("strerror", (number,))?.extract::<String>());
    match why {
        Ok(why) => PyOSError::new_err((number, why, path.display().to_string())),
        Err(error) => error,
    }
}

fn schema(text: bool) -> SchemaRef {
    let address = if text { DataType::LargeUtf8 } else { DataType::FixedSizeBinary(16) };
    let fields = [
        ("time", DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()))),
        ("src", address.clone()),
        ("sport", DataType::UInt16),
        ("dst", address),
        ("dport", DataType::UInt16),
        ("protocol", DataType::UInt8),
        ("length", DataType::UInt32),
    ];
    Arc::new(Schema::new(fields.map(|(name, kind)| Field::new(name, kind, name == "time")).to_vec()))
}

/// Reads a capture batch by batch, in the memory of one batch.
struct Tuples {
    /// None after the end, or an error.
    reader: Option<Reader<Input<'static>>>,
    path: PathBuf,
    schema: SchemaRef,
    rows: Columns,
    batch: usize,
    skipped: Skipped,
}

impl Tuples {
    /// Reads frames until a batch is full.
    fn read(&mut self) -> Result<(), ArrowError> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        let (mut skipped, mut ended) = (BTreeMap::new(), Ok(()));
        while self.rows.times.len() < self.batch {
            match reader.next_batch() {
                Ok(Some(frames)) => {
                    for frame in frames {
                        match packet(&frame) {
                            Ok(packet) => self.rows.push(&frame, &packet),
                            Err(why) => *skipped.entry(why).or_insert(0) += 1,
                        }
                        // Frames that were not taken are in the next batch.
                        if self.rows.times.len() >= self.batch {
                            break;
                        }
                    }
                }
                Ok(None) => {
                    self.reader = None;
                    break;
                }
                Err(error) => {
                    self.reader = None;
                    ended = Err(ArrowError::IoError(
                        format!("{}: {error}", self.path.display()),
                        std::io::ErrorKind::UnexpectedEof.into(),
                    ));
                    break;
                }
            }
        }
        let mut counts = self.skipped.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (why, count) in skipped {
            *counts.entry(why).or_insert(0) += count;
        }
        ended
    }
}

fn packet(frame: &Frame<'_>) -> Result<Packet, &'static str> {
    match Carried::of(frame.link, frame.bytes)? {
        Carried::Segment(segment) => Ok(segment.packet),
        Carried::Other { .. } => Err(NOT_IP),
    }
}

impl Iterator for Tuples {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read();
        // Rows before an error are a batch of their own; the error comes next.
        match read {
            Err(error) if self.rows.times.is_empty() => return Some(Err(error)),
            Err(error) => self.rows.error = Some(error),
            Ok(()) => {}
        }
        if self.rows.times.is_empty() {
            return self.rows.error.take().map(Err);
        }
        Some(self.rows.batch(&self.schema))
    }
}

impl RecordBatchReader for Tuples {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Rows of the next batch.
struct Columns {
    text: bool,
    times: Vec<Option<i64>>,
    sources: Vec<(IpAddr, u16)>,
    destinations: Vec<(IpAddr, u16)>,
    protocols: Vec<u8>,
    lengths: Vec<u32>,
    /// The error after these rows.
    error: Option<ArrowError>,
}

impl Columns {
    const fn new(text: bool) -> Self {
        Self {
            text,
            times: Vec::new(),
            sources: Vec::new(),
            destinations: Vec::new(),
            protocols: Vec::new(),
            lengths: Vec::new(),
            error: None,
        }
    }

    fn push(&mut self, frame: &Frame<'_>, packet: &Packet) {
        // A capture that states no time has zeros.
        self.times.push(i64::try_from(frame.time).ok().filter(|time| *time > 0));
        let [source, destination] = packet.addresses();
        self.sources.push((source, packet.source.1));
        self.destinations.push((destination, packet.destination.1));
        self.protocols.push(packet.protocol);
        self.lengths.push(frame.original);
    }

    fn batch(&mut self, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        let ports = |ends: &[(IpAddr, u16)]| -> ArrayRef {
            Arc::new(UInt16Array::from_iter_values(ends.iter().map(|end| end.1)))
        };
        let columns: Vec<ArrayRef> = vec![
            Arc::new(TimestampNanosecondArray::from(std::mem::take(&mut self.times)).with_timezone("UTC")),
            addresses(&self.sources, self.text)?,
            ports(&self.sources),
            addresses(&self.destinations, self.text)?,
            ports(&self.destinations),
            Arc::new(UInt8Array::from(std::mem::take(&mut self.protocols))),
            Arc::new(UInt32Array::from(std::mem::take(&mut self.lengths))),
        ];
        self.sources.clear();
        self.destinations.clear();
        RecordBatch::try_new(Arc::clone(schema), columns)
    }
}

fn addresses(ends: &[(IpAddr, u16)], text: bool) -> Result<ArrayRef, ArrowError> {
    if !text {
        let mut bytes = FixedSizeBinaryBuilder::with_capacity(ends.len(), 16);
        ends.iter().try_for_each(|(address, _)| match address {
            IpAddr::V4(address) => bytes.append_value(address.to_ipv6_mapped().octets()),
            IpAddr::V6(address) => bytes.append_value(address.octets()),
        })?;
        return Ok(Arc::new(bytes.finish()));
    }
    let mut texts = LargeStringBuilder::with_capacity(ends.len(), 24 * ends.len());
    let mut shown = Vec::with_capacity(64);
    for (address, _) in ends {
        shown.clear();
        write!(shown, "{address}")?;
        texts.append_value(String::from_utf8_lossy(&shown));
    }
    Ok(Arc::new(texts.finish()))
}
