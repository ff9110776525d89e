//! `dns.parse` and `dns.render`.

use crate::arguments;
use crate::column::Column;
use crate::error::{at_row, value};
use crate::interrupt::Interrupt;
use crate::parsed::{Errors, Fields, each_row};
use crate::texts::Texts;
use arrow_array::cast::AsArray;
use arrow_array::types::{LargeBinaryType, LargeUtf8Type, UInt16Type, UInt32Type};
use arrow_array::{Array, ArrayRef, LargeListArray, StructArray, UInt16Array, UInt32Array};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Fields as Types};
use hashlane_dns::render::{Framing, Options, Renderer};
use hashlane_dns::wire::{Class, Content, Flags, Header, Rdata, RecordType, Section};
use hashlane_name::dns::{Case, text};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(dns_parse, module)?)?;
    module.add_function(wrap_pyfunction!(dns_render, module)?)
}

fn question_types() -> Types {
    [("name", DataType::LargeUtf8), ("type", DataType::LargeUtf8), ("class", DataType::LargeUtf8)]
        .map(|(name, kind)| Field::new(name, kind, false))
        .into_iter()
        .collect()
}

fn record_types() -> Types {
    [
        ("section", DataType::LargeUtf8),
        ("owner", DataType::LargeUtf8),
        ("type", DataType::LargeUtf8),
        ("class", DataType::LargeUtf8),
        ("ttl", DataType::UInt32),
        ("data", DataType::LargeBinary),
    ]
    .map(|(name, kind)| Field::new(name, kind, false))
    .into_iter()
    .collect()
}

fn list_of(types: Types) -> DataType {
    DataType::LargeList(Arc::new(Field::new_list_field(DataType::Struct(types), false)))
}

fn message_types() -> Types {
    [
        ("id", DataType::UInt16),
        ("flags", DataType::UInt16),
        ("questions", list_of(question_types())),
        ("records", list_of(record_types())),
    ]
    .map(|(name, kind)| Field::new(name, kind, false))
    .into_iter()
    .collect()
}

#[pyfunction]
fn dns_parse<'py>(
    py: Python<'py>,
    messages: &Bound<'py, PyAny>,
    errors: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let (errors, column) = (Errors::of(errors)?, Column::of("messages", messages)?);
    column.map(py, DataType::Struct(message_types()), |first, array| {
        let mut parts = Parts::default();
        let parse = |bytes: &[u8]| Content::parse(bytes).map_err(|error| error.to_string());
        each_row(&column, first, array, errors, parse, |content| parts.push(content.as_ref()))?;
        parts.finish()
    })
}

/// Columns of parsed messages under construction.
#[derive(Default)]
struct Parts {
    valid: Vec<bool>,
    ids: Vec<u16>,
    flags: Vec<u16>,
    questions: Lengths,
    records: Lengths,
    ttls: Vec<u32>,
    /// Names, types and classes of the questions; sections, owners, types, classes and data of the records.
    texts: [Texts; 8],
}

#[derive(Default)]
struct Lengths(Vec<usize>);

impl Parts {
    fn push(&mut self, content: Option<&Content>) {
        self.valid.push(content.is_some());
        let header = content.map_or_else(Header::default, |content| content.header);
        self.ids.push(header.id);
        self.flags.push(header.flags.0);
        let (questions, records) = content
            .map_or((&[][..], &[][..]), |content| (content.questions.as_slice(), content.records.as_slice()));
        self.questions.0.push(questions.len());
        self.records.0.push(records.len());
        let [name, qtype, qclass, section, owner, rtype, class, data] = &mut self.texts;
        for question in questions {
            name.push(Some(question.name.view().to_string()));
            qtype.push(Some(question.rtype.to_string()));
            qclass.push(Some(question.class.to_string()));
        }
        for record in records {
            section.push(Some(record.section.name()));
            owner.push(Some(record.owner.view().to_string()));
            rtype.push(Some(record.rtype.to_string()));
            class.push(Some(record.class.to_string()));
            self.ttls.push(record.ttl);
            data.push(Some(&record.data));
        }
    }

    fn finish(self) -> PyResult<ArrayRef> {
        let [name, qtype, qclass, section, owner, rtype, class, data] = self.texts;
        let questions = vec![
            name.finish::<LargeUtf8Type>()?,
            qtype.finish::<LargeUtf8Type>()?,
            qclass.finish::<LargeUtf8Type>()?,
        ];
        let records = vec![
            section.finish::<LargeUtf8Type>()?,
            owner.finish::<LargeUtf8Type>()?,
            rtype.finish::<LargeUtf8Type>()?,
            class.finish::<LargeUtf8Type>()?,
            Arc::new(UInt32Array::from(self.ttls)),
            data.finish::<LargeBinaryType>()?,
        ];
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt16Array::from(self.ids)),
            Arc::new(UInt16Array::from(self.flags)),
            lists(question_types(), questions, self.questions)?,
            lists(record_types(), records, self.records)?,
        ];
        let array = StructArray::try_new(message_types(), columns, Some(self.valid.into()));
        Ok(Arc::new(array.map_err(value)?))
    }
}

fn lists(types: Types, columns: Vec<ArrayRef>, lengths: Lengths) -> PyResult<ArrayRef> {
    let item = Arc::new(Field::new_list_field(DataType::Struct(types.clone()), false));
    let structs = StructArray::try_new(types, columns, None).map_err(value)?;
    let offsets = OffsetBuffer::from_lengths(lengths.0);
    Ok(Arc::new(LargeListArray::try_new(item, offsets, Arc::new(structs), None).map_err(value)?))
}

/// The numbers of types and classes by their mnemonics.
fn numbers() -> &'static [HashMap<&'static str, u16>; 2] {
    static NUMBERS: OnceLock<[HashMap<&'static str, u16>; 2]> = OnceLock::new();
    NUMBERS.get_or_init(|| {
        let all = |mnemonic: fn(u16) -> Option<&'static str>| {
            (0..=u16::MAX).filter_map(|number| Some((mnemonic(number)?, number))).collect()
        };
        [all(|number| RecordType(number).mnemonic()), all(|number| Class(number).mnemonic())]
    })
}

/// Number of a type or a class in its presentation form (RFC 3597 §5).
fn number(what: &str, generic: &str, known: &HashMap<&'static str, u16>, text: &str) -> Result<u16, String> {
    let named = known.get(text).copied();
    let number = named.or_else(|| text.strip_prefix(generic)?.parse().ok());
    number.ok_or_else(|| format!("unknown {what} {text:?}; write {generic} and its number"))
}

#[pyfunction]
#[pyo3(signature = (messages, limit, case_sensitive))]
fn dns_render<'py>(
    py: Python<'py>,
    messages: &Bound<'py, PyAny>,
    limit: &Bound<'py, PyAny>,
    case_sensitive: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let limit = arguments::number("limit", limit, 512..=65_535)? as usize;
    let column = Column::of("messages", messages)?;
    let case = if case_sensitive { Case::Sensitive } else { Case::Ignored };
    let options = Options { limit, framing: Framing::Datagram, case };
    let mut renderer = Renderer::with_random_key().map_err(|error| {
        PyOSError::new_err(format!("no random numbers from the operating system: {error}"))
    })?;
    column.map(py, DataType::LargeBinary, |first, array| {
        let source = Source::of(array)?;
        let (mut rendered, mut interrupt) = (Texts::new(), Interrupt::default());
        for row in 0..array.len() {
            if array.is_null(row) {
                rendered.push(None::<&[u8]>);
                continue;
            }
            let bytes = source.render(row, &mut renderer, options).map_err(|why| at_row(first + row, why))?;
            interrupt.record(10, bytes.len())?;
            rendered.push(Some(bytes));
        }
        rendered.finish::<LargeBinaryType>()
    })
}

/// Columns of messages to render.
struct Source {
    ids: ArrayRef,
    flags: ArrayRef,
    questions: OffsetBuffer<i64>,
    records: OffsetBuffer<i64>,
    /// As in [`Parts`].
    texts: [ArrayRef; 7],
    ttls: ArrayRef,
    data: ArrayRef,
}

impl Source {
    fn of(array: &ArrayRef) -> PyResult<Self> {
        let message = Fields::of("messages", array)?;
        let (questions, of_questions) = message.list("questions", question_types())?;
        let (records, of_records) = message.list("records", record_types())?;
        let question = Fields::of("questions", &of_questions)?;
        let record = Fields::of("records", &of_records)?;
        let text = DataType::LargeUtf8;
        let source = Self {
            ids: message.required("id", &DataType::UInt16)?,
            flags: message.required("flags", &DataType::UInt16)?,
            questions,
            records,
            texts: [
                question.required("name", &text)?,
                question.required("type", &text)?,
                question.required("class", &text)?,
                record.required("section", &text)?,
                record.required("owner", &text)?,
                record.required("type", &text)?,
                record.required("class", &text)?,
            ],
            ttls: record.required("ttl", &DataType::UInt32)?,
            data: record.required("data", &DataType::LargeBinary)?,
        };
        Ok(source)
    }

    fn text(&self, column: usize, row: usize) -> Result<&str, String> {
        let array = self.texts.get(column).map(|array| array.as_string::<i64>());
        let array = array.filter(|array| !array.is_null(row));
        array.map(|array| array.value(row)).ok_or_else(|| "a null within a question or a record".to_owned())
    }

    fn render(&self, row: usize, renderer: &mut Renderer, options: Options) -> Result<Vec<u8>, String> {
        let shown = |error: &dyn std::fmt::Display| error.to_string();
        let [types, classes] = numbers();
        if self.ids.is_null(row) || self.flags.is_null(row) {
            return Err("a null id or flags".to_owned());
        }
        let header = Header {
            id: self.ids.as_primitive::<UInt16Type>().value(row),
            flags: Flags(self.flags.as_primitive::<UInt16Type>().value(row)),
        };
        let mut message = renderer.start(header, options);
        for place in rows(&self.questions, row) {
            let name = self.text(0, place)?;
            let name = text::parse(name.as_bytes()).map_err(|error| format!("{name:?}: {error}"))?;
            let rtype = RecordType(number("type", "TYPE", types, self.text(1, place)?)?);
            let class = Class(number("class", "CLASS", classes, self.text(2, place)?)?);
            message.question(name.view(), rtype, class).map_err(|error| shown(&error))?;
        }
        let (ttls, data) = (self.ttls.as_primitive::<UInt32Type>(), self.data.as_binary::<i64>());
        for place in rows(&self.records, row) {
            let section = match self.text(3, place)? {
                "answer" => Section::Answer,
                "authority" => Section::Authority,
                "additional" => Section::Additional,
                other => {
                    return Err(format!("unknown section {other:?}; write answer, authority or additional"));
                }
            };
            let owner = self.text(4, place)?;
            let owner = text::parse(owner.as_bytes()).map_err(|error| format!("{owner:?}: {error}"))?;
            let rtype = RecordType(number("type", "TYPE", types, self.text(5, place)?)?);
            let class = Class(number("class", "CLASS", classes, self.text(6, place)?)?);
            if ttls.is_null(place) || data.is_null(place) {
                return Err("a null ttl or data".to_owned());
            }
            let rdata = Rdata::parse(rtype, data.value(place)).map_err(|error| shown(&error))?;
            message
                .record(section, owner.view(), rtype, class, ttls.value(place), &rdata)
                .map_err(|error| format!("record of {}: {error}", owner.view()))?;
        }
        Ok(message.finish().to_vec())
    }
}

/// The rows of a list.
fn rows(offsets: &OffsetBuffer<i64>, row: usize) -> std::ops::Range<usize> {
    let at = |row: usize| offsets.get(row).map_or(0, |offset| usize::try_from(*offset).unwrap_or_default());
    at(row)..at(row + 1)
}
