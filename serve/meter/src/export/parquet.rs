//! Parquet: a column for each IPFIX information element, all optional, times as timestamps in nanoseconds.
//!
//! A Parquet file ends with a footer that lists its row groups. So that a file can be read whenever the
//! process ends, row groups are appended together with a footer for all groups so far; the footers in between
//! are bytes that no footer refers to. A process killed in the midst of such a write leaves a file that ends
//! with half a block: [`complete_len`] tells the length to cut it to.
//!
//! A row group has up to 32,768 flows, which take 7 MB. Full groups are appended once they have as many bytes
//! as the last footer, and all that waits by time: 10 s after its first flow for the first block, 10 s more
//! for each block after. So footers are at most half of a file, however long it is.

mod complete;

pub use complete::complete_len;

use super::columns::{COLUMNS, Column, ColumnType, Value};
use super::{ExportError, Exporter, FileOptions, SECOND, Sink, has_passed};
use crate::record::FlowRecord;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{FileMetaData, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type, TypePtr};
use std::fmt;
use std::sync::Arc;

/// Flows of a full row group.
const ROWS: usize = if cfg!(test) { 64 } else { 32_768 };
/// Time after which the first block is written; each further one waits that much longer.
const STEP: u64 = 10 * SECOND;
/// Start and end of a file.
const MAGIC: &[u8; 4] = b"PAR1";

/// Writes flows as Parquet.
pub struct ParquetExporter {
    sink: Sink,
    name: String,
    rows: Vec<FlowRecord>,
    /// Time of the oldest row that is not in the file.
    since: u64,
    waiting: Waiting,
    /// Row groups in the file.
    groups: Vec<RowGroupMetaData>,
    /// Bytes of the last footer in the file, and number of all.
    footer: usize,
    footers: u64,
    schema: TypePtr,
    descriptor: SchemaDescPtr,
    properties: WriterPropertiesPtr,
}

/// Row groups that are not in the file.
#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// With offsets in a file that has nothing else.
    groups: Vec<RowGroupMetaData>,
    flows: u64,
}

impl fmt::Debug for ParquetExporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetExporter").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ParquetExporter {
    /// Creates the file.
    ///
    /// # Errors
    /// The file exists and may not be overwritten, or cannot be created.
    pub fn create(options: FileOptions) -> Result<Self, ExportError> {
        let name = options.path.display().to_string();
        let failed = |error: ParquetError| ExportError::Parquet(name.clone(), error.to_string());
        let schema = schema().map_err(failed)?;
        let mut sink = Sink::file(options)?;
        *sink.prelude() = MAGIC.to_vec();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .set_created_by(concat!("hashlane ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        Ok(Self {
            sink,
            name,
            rows: Vec::new(),
            since: 0,
            waiting: Waiting::default(),
            groups: Vec::new(),
            footer: 0,
            footers: 0,
            descriptor: Arc::new(SchemaDescriptor::new(Arc::clone(&schema))),
            schema,
            properties: Arc::new(properties),
        })
    }

    fn failed(&self, error: &ParquetError) -> ExportError {
        ExportError::Parquet(self.name.clone(), error.to_string())
    }

    /// Makes a row group of the rows.
    fn group(&mut self) -> Result<(), ExportError> {
        let flows = self.rows.len() as u64;
        let place = self.waiting.bytes.len() as u64;
        let encoded = self.encode().and_then(|(group, bytes)| Ok((moved(group, place)?, bytes)));
        self.rows.clear();
        let (group, bytes) = encoded.map_err(|error| {
            self.sink.lose(flows);
            self.failed(&error)
        })?;
        self.waiting.groups.push(group);
        self.waiting.bytes.extend_from_slice(&bytes);
        self.waiting.flows += flows;
        Ok(())
    }

    /// Appends the row groups that wait, with a footer for all.
    fn append(&mut self, now: u64) -> Result<(), ExportError> {
        let Waiting { mut bytes, groups, flows } = std::mem::take(&mut self.waiting);
        let start = self.sink.begin(bytes.len(), now).inspect_err(|_| self.sink.lose(flows))?;
        if start == 0 {
            // A new file, which begins with the magic number.
            self.groups.clear();
            self.footers = 0;
        }
        let (len, before) = (bytes.len(), self.groups.len());
        let at = start.max(MAGIC.len() as u64) - MAGIC.len() as u64;
        let placed: ParquetResult<Vec<_>> = groups.into_iter().map(|group| moved(group, at)).collect();
        let written = placed.and_then(|placed| {
            self.groups.extend(placed);
            self.write_footer(&mut bytes)
        });
        let done = match written {
            Ok(()) => self.sink.send(&bytes, flows, now).map(drop),
            Err(error) => {
                self.sink.lose(flows);
                Err(self.failed(&error))
            }
        };
        match done {
            Ok(()) => (self.footer, self.footers) = (bytes.len() - len, self.footers + 1),
            Err(_) => self.groups.truncate(before),
        }
        done
    }

    /// Writes all that waits.
    fn flush(&mut self, now: u64) -> Result<(), ExportError> {
        if !self.rows.is_empty() || self.waiting.groups.is_empty() {
            self.group()?;
        }
        self.append(now)
    }

    /// Tests if all flows are in the file.
    const fn is_written(&self) -> bool {
        self.rows.is_empty() && self.waiting.flows == 0
    }

    /// Encodes the rows as a row group. Offsets count from the start of a file that has nothing else.
    fn encode(&self) -> ParquetResult<(RowGroupMetaData, Vec<u8>)> {
        let mut writer =
            SerializedFileWriter::new(Vec::new(), Arc::clone(&self.schema), Arc::clone(&self.properties))?;
        let mut group = writer.next_row_group()?;
        let mut levels = Vec::with_capacity(self.rows.len());
        for column in &COLUMNS {
            let mut target = group.next_column()?.ok_or(ParquetError::EOF("columns".to_owned()))?;
            levels.clear();
            if column.kind == ColumnType::Text {
                let values = present(&self.rows, column, &mut levels, text);
                target.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
            } else {
                let values = present(&self.rows, column, &mut levels, number);
                target.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
            }
            target.close()?;
        }
        let group = group.close()?;
        // Ending the writer would add a footer for this group alone.
        writer.flush()?;
        let block = writer.inner().get(MAGIC.len()..).unwrap_or(&[]).to_vec();
        Ok((Arc::unwrap_or_clone(group), block))
    }

    /// Appends the footer for all row groups.
    fn write_footer(&self, block: &mut Vec<u8>) -> ParquetResult<()> {
        let rows = self.groups.iter().map(RowGroupMetaData::num_rows).sum();
        let created_by = Some(self.properties.created_by().to_owned());
        let descriptor = Arc::clone(&self.descriptor);
        let file = FileMetaData::new(2, rows, created_by, None, descriptor, None);
        let metadata = ParquetMetaData::new(file, self.groups.clone());
        ParquetMetaDataWriter::new(block, &metadata).finish()
    }
}

impl Exporter for ParquetExporter {
    fn write(&mut self, flow: &FlowRecord, now: u64) -> Result<(), ExportError> {
        if self.is_written() {
            self.since = now;
        }
        self.rows.push(*flow);
        if self.rows.len() < ROWS {
            return Ok(());
        }
        self.group()?;
        if self.waiting.bytes.len() < self.footer { Ok(()) } else { self.append(now) }
    }

    fn tick(&mut self, now: u64) -> Result<(), ExportError> {
        let wait = STEP.saturating_mul(1 + self.footers);
        if !self.is_written() && has_passed(&mut self.since, wait, now) {
            return self.flush(now);
        }
        Ok(())
    }

    /// A file without flows has an empty row group, so that it has a footer.
    fn finish(&mut self, now: u64) -> Result<(), ExportError> {
        let done = if self.is_written() && !self.groups.is_empty() { Ok(()) } else { self.flush(now) };
        done.and(self.sink.finish(now))
    }

    fn sink(&self) -> &Sink {
        &self.sink
    }
}

/// Values of a column, and for each row 1 if it has one.
fn present<T>(
    rows: &[FlowRecord],
    column: &Column,
    levels: &mut Vec<i16>,
    convert: fn(Value) -> Option<T>,
) -> Vec<T> {
    let mut values = Vec::new();
    for row in rows {
        let value = convert((column.value)(row));
        levels.push(i16::from(value.is_some()));
        values.extend(value);
    }
    values
}

fn text(value: Value) -> Option<ByteArray> {
    (value != Value::Absent).then(|| value.to_string().into_bytes().into())
}

#[allow(clippy::cast_possible_wrap, reason = "Parquet keeps unsigned numbers in signed ones of their width")]
const fn number(value: Value) -> Option<i64> {
    match value {
        Value::Number(number) | Value::Time(number) => Some(number as i64),
        Value::Absent | Value::Address(_) | Value::Text(_) => None,
    }
}

fn schema() -> ParquetResult<TypePtr> {
    let field = |column: &Column| {
        let (physical, logical) = match column.kind {
            ColumnType::Number => (PhysicalType::INT64, LogicalType::integer(64, false)),
            ColumnType::Time => (PhysicalType::INT64, LogicalType::timestamp(true, TimeUnit::NANOS)),
            ColumnType::Text => (PhysicalType::BYTE_ARRAY, LogicalType::String),
        };
        let builder = Type::primitive_type_builder(column.name, physical);
        builder.with_repetition(Repetition::OPTIONAL).with_logical_type(Some(logical)).build().map(Arc::new)
    };
    let fields = COLUMNS.iter().map(field).collect::<ParquetResult<Vec<_>>>()?;
    Type::group_type_builder("flows").with_fields(fields).build().map(Arc::new)
}

/// The row group `by` bytes further on in its file.
#[allow(clippy::cast_possible_wrap, reason = "files are shorter than 2⁶³ bytes")]
fn moved(group: RowGroupMetaData, by: u64) -> ParquetResult<RowGroupMetaData> {
    let by = by as i64;
    let columns = group.columns().iter().map(|column| {
        let (data, dictionary) = (column.data_page_offset(), column.dictionary_page_offset());
        let builder = column.clone().into_builder().set_data_page_offset(data + by);
        builder.set_dictionary_page_offset(dictionary.map(|offset| offset + by)).build()
    });
    let columns = columns.collect::<ParquetResult<Vec<_>>>()?;
    let offset = group.file_offset().map(|offset| offset + by);
    let builder = group.into_builder().set_column_metadata(columns);
    match offset {
        Some(offset) => builder.set_file_offset(offset).build(),
        None => builder.build(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::Rotation;
    use crate::export::testing::samples;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use std::fs::{self, File};
    use std::io;
    use std::path::Path;

    /// Source ports of a file, checking the other values of each row.
    fn read(path: &Path) -> Vec<u64> {
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        let mut ports = Vec::new();
        for row in reader.get_row_iter(None).unwrap() {
            let row = row.unwrap();
            let value = |name: &str| {
                row.get_column_iter()
                    .find(|(found, _)| *found == name)
                    .map(|(_, value)| value.clone())
                    .unwrap()
            };
            assert!(matches!(value("octetDeltaCount"), Field::ULong(3_400)), "{row}");
            ports.push(match value("sourceTransportPort") {
                Field::ULong(port) => port,
                Field::Null => 0,
                other => panic!("{other}"),
            });
        }
        ports
    }

    #[test]
    fn each_block_ends_with_a_footer_for_all_groups() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("flows.parquet");
        let mut exporter = ParquetExporter::create(FileOptions::new(&path)).unwrap();
        let flows = samples();
        let expected: Vec<_> = flows.iter().map(|flow| u64::from(flow.source_port)).collect();
        let mut now = 0;
        for group in 1..=3 {
            flows.iter().for_each(|flow| exporter.write(flow, now).unwrap());
            now += group * STEP;
            exporter.tick(now).unwrap();
            assert_eq!(read(&path), expected.repeat(usize::try_from(group).unwrap()));
        }
        exporter.finish(now).unwrap();
        assert_eq!(exporter.totals().flows, 3 * flows.len() as u64);

        // A killed process may leave this.
        let whole = fs::read(&path).unwrap();
        assert_eq!(complete_len(io::Cursor::new(&whole)).unwrap(), whole.len() as u64);
        let cut = whole.len() - 100;
        let len = complete_len(io::Cursor::new(&whole[..cut])).unwrap();
        let repaired = dir.path().join("repaired.parquet");
        fs::write(&repaired, &whole[..usize::try_from(len).unwrap()]).unwrap();
        assert_eq!(read(&repaired), expected.repeat(2));
        assert_eq!(complete_len(io::Cursor::new(b"PAR1 and more PAR1")).unwrap(), 0);
    }

    #[test]
    fn footers_are_a_bounded_part_of_a_long_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("flows.parquet");
        let mut exporter = ParquetExporter::create(FileOptions::new(&path)).unwrap();
        let (flow, count) = (samples()[0], 400 * ROWS);
        (0..count).for_each(|_| exporter.write(&flow, 0).unwrap());
        exporter.finish(0).unwrap();
        assert_eq!(exporter.groups.len(), 400);
        let (bytes, last) = (fs::metadata(&path).unwrap().len(), exporter.footer as u64);
        // A footer for each group would be 200 times the last one in all.
        assert!(bytes < 16 * last && exporter.footers > 4, "{bytes} bytes, {last} of the last footer");
        assert_eq!(read(&path).len(), count);
        assert_eq!((exporter.totals().flows, exporter.totals().flows_lost), (count as u64, 0));
    }

    #[test]
    fn a_file_without_flows_can_be_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("flows.parquet");
        ParquetExporter::create(FileOptions::new(&path)).unwrap().finish(0).unwrap();
        assert!(read(&path).is_empty());
    }

    #[test]
    fn each_rotated_file_has_a_footer_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let mut options = FileOptions::new(dir.path().join("f.parquet"));
        options.rotation = Some(Rotation { bytes: 1, seconds: 0 });
        let mut exporter = ParquetExporter::create(options).unwrap();
        for group in 0..3 {
            exporter.write(&samples()[0], group * 10 * STEP).unwrap();
            exporter.tick((group + 1) * 10 * STEP).unwrap();
        }
        exporter.finish(0).unwrap();
        for number in 1..=3 {
            assert_eq!(read(&dir.path().join(format!("f-{number:04}.parquet"))), [40_000]);
        }
    }

    #[test]
    fn a_lost_group_leaves_the_others_readable() {
        let mut exporter = ParquetExporter::create(FileOptions::new("/dev/full")).unwrap();
        exporter.write(&samples()[0], 0).unwrap();
        assert!(exporter.finish(0).is_err());
        assert_eq!((exporter.totals().flows_lost, exporter.groups.len()), (1, 0));
    }
}
