//! `ndn.parse` and `ndn.encode`.

use crate::column::Column;
use crate::error::{at_row, value};
use crate::interrupt::Interrupt;
use crate::parsed::{Errors, Fields, each_row};
use crate::rows::Rows;
use crate::texts::Texts;
use arrow_array::cast::AsArray;
use arrow_array::types::{LargeBinaryType, LargeUtf8Type, UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, StructArray, UInt8Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Fields as Types};
use hashlane_name::build::{OwnedName, encode_into};
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_name::uri::parse_uri;
use hashlane_ndn::wire::data::BLOB;
use hashlane_ndn::wire::interest::{DEFAULT_LIFETIME, without_parameters_digest};
use hashlane_ndn::wire::{
    DATA, Data, DataBuilder, INTEREST, Interest, InterestBuilder, LpPacket, MAX_PACKET,
};
use pyo3::prelude::*;
use std::sync::Arc;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(ndn_parse, module)?)?;
    module.add_function(wrap_pyfunction!(ndn_encode, module)?)
}

fn packet_types() -> Types {
    [
        ("kind", DataType::LargeUtf8, false),
        ("name", DataType::LargeBinary, false),
        ("can_be_prefix", DataType::Boolean, true),
        ("must_be_fresh", DataType::Boolean, true),
        ("nonce", DataType::UInt32, true),
        ("lifetime_ms", DataType::UInt64, true),
        ("hop_limit", DataType::UInt8, true),
        ("parameters", DataType::LargeBinary, true),
        ("content_type", DataType::UInt64, true),
        ("freshness_ms", DataType::UInt64, true),
        ("content", DataType::LargeBinary, true),
    ]
    .map(|(name, kind, nullable)| Field::new(name, kind, nullable))
    .into_iter()
    .collect()
}

/// Fields of a packet; `None` in the fields of the other kind.
#[derive(Default)]
struct Parts {
    kind: &'static str,
    name: Vec<u8>,
    can_be_prefix: Option<bool>,
    must_be_fresh: Option<bool>,
    nonce: Option<u32>,
    lifetime: Option<u64>,
    hop_limit: Option<u8>,
    parameters: Option<Vec<u8>>,
    content_type: Option<u64>,
    freshness: Option<u64>,
    content: Option<Vec<u8>>,
}

fn parse(bytes: &[u8]) -> Result<Parts, String> {
    let shown = |error: hashlane_ndn::tlv::WireError| error.to_string();
    if LpPacket::is_bare(bytes) {
        return packet(bytes, false);
    }
    let link = LpPacket::parse(bytes).map_err(shown)?;
    if link.header.is_fragmented() {
        return Err("a fragment of a packet; put the fragments together first".to_owned());
    }
    if link.fragment.is_empty() {
        return Err("a link packet without a packet in it".to_owned());
    }
    packet(link.fragment, link.header.nack.is_some())
}

fn packet(bytes: &[u8], is_nack: bool) -> Result<Parts, String> {
    let shown = |error: hashlane_ndn::tlv::WireError| error.to_string();
    match bytes.first().copied().map(u32::from) {
        Some(INTEREST) => {
            let interest = Interest::parse(bytes).map_err(shown)?;
            Ok(Parts {
                kind: if is_nack { "nack" } else { "interest" },
                name: interest.name_bytes().to_vec(),
                can_be_prefix: Some(interest.can_be_prefix()),
                must_be_fresh: Some(interest.must_be_fresh()),
                nonce: interest.nonce(),
                lifetime: Some(interest.lifetime()),
                hop_limit: interest.hop_limit(),
                parameters: interest.parameters().map(<[u8]>::to_vec),
                ..Parts::default()
            })
        }
        Some(DATA) => {
            let data = Data::parse(bytes).map_err(shown)?;
            Ok(Parts {
                kind: "data",
                name: data.name_bytes().to_vec(),
                content_type: Some(data.content_type()),
                freshness: data.freshness(),
                content: Some(data.content().to_vec()),
                ..Parts::default()
            })
        }
        Some(other) => Err(format!("neither an Interest nor a Data packet: type {other}")),
        None => Err("an empty packet".to_owned()),
    }
}

#[pyfunction]
fn ndn_parse<'py>(py: Python<'py>, packets: &Bound<'py, PyAny>, errors: &str) -> PyResult<Bound<'py, PyAny>> {
    let (errors, column) = (Errors::of(errors)?, Column::of("packets", packets)?);
    column.map(py, DataType::Struct(packet_types()), |first, array| {
        let mut parsed = Vec::with_capacity(array.len());
        each_row(&column, first, array, errors, parse, |parts| parsed.push(parts))?;
        structs(&parsed)
    })
}

fn structs(parsed: &[Option<Parts>]) -> PyResult<ArrayRef> {
    let texts = |of: &dyn Fn(&Parts) -> Option<&[u8]>, needed: bool| {
        let mut texts = Texts::new();
        for parts in parsed {
            texts.push(match parts {
                Some(parts) => of(parts),
                // A null among the structs has some value in the fields that have no nulls.
                None => needed.then_some(&[][..]),
            });
        }
        texts
    };
    let fields = || parsed.iter().map(Option::as_ref);
    let columns: Vec<ArrayRef> = vec![
        texts(&|parts| Some(parts.kind.as_bytes()), true).finish::<LargeUtf8Type>()?,
        texts(&|parts| Some(&parts.name), true).finish::<LargeBinaryType>()?,
        Arc::new(fields().map(|parts| parts?.can_be_prefix).collect::<BooleanArray>()),
        Arc::new(fields().map(|parts| parts?.must_be_fresh).collect::<BooleanArray>()),
        Arc::new(fields().map(|parts| parts?.nonce).collect::<UInt32Array>()),
        Arc::new(fields().map(|parts| parts?.lifetime).collect::<UInt64Array>()),
        Arc::new(fields().map(|parts| parts?.hop_limit).collect::<UInt8Array>()),
        texts(&|parts| parts.parameters.as_deref(), false).finish::<LargeBinaryType>()?,
        Arc::new(fields().map(|parts| parts?.content_type).collect::<UInt64Array>()),
        Arc::new(fields().map(|parts| parts?.freshness).collect::<UInt64Array>()),
        texts(&|parts| parts.content.as_deref(), false).finish::<LargeBinaryType>()?,
    ];
    let valid: Vec<bool> = parsed.iter().map(Option::is_some).collect();
    let array = StructArray::try_new(packet_types(), columns, Some(valid.into()));
    Ok(Arc::new(array.map_err(value)?))
}

#[pyfunction]
fn ndn_encode<'py>(py: Python<'py>, packets: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let column = Column::of("packets", packets)?;
    column.map(py, DataType::LargeBinary, |first, array| {
        let source = Source::of(array)?;
        let names = Rows::of("name", &source.names)?;
        let (mut encoded, mut interrupt) = (Texts::new(), Interrupt::default());
        for row in 0..array.len() {
            if array.is_null(row) {
                encoded.push(None::<&[u8]>);
                continue;
            }
            let packet = source.encode(row, &names).map_err(|why| at_row(first + row, why))?;
            interrupt.record(10, packet.len())?;
            encoded.push(Some(packet));
        }
        encoded.finish::<LargeBinaryType>()
    })
}

/// Columns of packets to encode.
struct Source {
    kinds: ArrayRef,
    names: ArrayRef,
    names_are_text: bool,
    /// Names and columns of the other fields that there are.
    others: Vec<(&'static str, ArrayRef)>,
}

impl Source {
    fn of(array: &ArrayRef) -> PyResult<Self> {
        let fields = Fields::of("packets", array)?;
        let names_are_text = array.as_struct().column_by_name("name").is_some_and(|names| {
            matches!(names.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
        });
        let name = if names_are_text { DataType::LargeUtf8 } else { DataType::LargeBinary };
        let mut others = Vec::new();
        for (field, kind) in [
            ("can_be_prefix", DataType::Boolean),
            ("must_be_fresh", DataType::Boolean),
            ("nonce", DataType::UInt32),
            ("lifetime_ms", DataType::UInt64),
            ("hop_limit", DataType::UInt8),
            ("parameters", DataType::LargeBinary),
            ("content_type", DataType::UInt64),
            ("freshness_ms", DataType::UInt64),
            ("content", DataType::LargeBinary),
        ] {
            others.extend(fields.optional(field, &kind)?.map(|array| (field, array)));
        }
        Ok(Self {
            kinds: fields.required("kind", &DataType::LargeUtf8)?,
            names: fields.required("name", &name)?,
            names_are_text,
            others,
        })
    }

    fn field(&self, name: &str, row: usize) -> Option<&ArrayRef> {
        let (_, array) = self.others.iter().find(|(other, _)| *other == name)?;
        (!array.is_null(row)).then_some(array)
    }

    fn number<T: ArrowPrimitiveType>(&self, name: &str, row: usize) -> Option<T::Native> {
        self.field(name, row).map(|array| array.as_primitive::<T>().value(row))
    }

    fn flag(&self, name: &str, row: usize) -> bool {
        self.field(name, row).is_some_and(|array| array.as_boolean().value(row))
    }

    fn bytes(&self, name: &str, row: usize) -> Option<&[u8]> {
        self.field(name, row).map(|array| array.as_binary::<i64>().value(row))
    }

    fn encode(&self, row: usize, names: &Rows<'_>) -> Result<Vec<u8>, String> {
        if self.kinds.is_null(row) || self.names.is_null(row) {
            return Err("a null kind or name".to_owned());
        }
        let bytes = names.row(row);
        let parsed: Option<OwnedName<Ndn>> = match self.names_are_text {
            true => Some(parse_uri(bytes).map_err(|error| error.to_string())?),
            false => None,
        };
        let name = match &parsed {
            Some(name) => name.view(),
            None => NdnName::parse(bytes).map_err(|error| error.to_string())?,
        };
        if name.is_empty() {
            return Err("the name of a packet has at least one component".to_owned());
        }
        let packet = match self.kinds.as_string::<i64>().value(row) {
            "interest" => self.interest(row, name)?,
            "data" => self.data(row, name),
            other => return Err(format!("unknown kind {other:?}; write interest or data")),
        };
        match packet.len() {
            ..=MAX_PACKET => Ok(packet),
            len => Err(format!("a packet of {len} bytes; NDN packets have at most {MAX_PACKET}")),
        }
    }

    fn interest(&self, row: usize, name: NdnName<'_>) -> Result<Vec<u8>, String> {
        let parameters = self.bytes("parameters", row);
        let mut without = Vec::new();
        let name = match parameters {
            // The builder appends the digest of the parameters.
            Some(_) => {
                let components: Vec<_> = without_parameters_digest(name).collect();
                encode_into::<Ndn>(&mut without, components.into_iter())
                    .map_err(|error| error.to_string())?;
                NdnName::parse(&without).map_err(|error| error.to_string())?
            }
            None => name,
        };
        let builder = InterestBuilder {
            can_be_prefix: self.flag("can_be_prefix", row),
            must_be_fresh: self.flag("must_be_fresh", row),
            nonce: self.number::<UInt32Type>("nonce", row),
            lifetime: self.number::<UInt64Type>("lifetime_ms", row).unwrap_or(DEFAULT_LIFETIME),
            hop_limit: self.number::<UInt8Type>("hop_limit", row),
            parameters,
            ..InterestBuilder::new(name)
        };
        Ok(builder.build())
    }

    fn data(&self, row: usize, name: NdnName<'_>) -> Vec<u8> {
        let builder = DataBuilder {
            content_type: self.number::<UInt64Type>("content_type", row).unwrap_or(BLOB),
            freshness: self.number::<UInt64Type>("freshness_ms", row),
            ..DataBuilder::new(name, self.bytes("content", row).unwrap_or_default())
        };
        builder.build()
    }
}
