//! The functions, and the order of their arguments.

use super::Function;
use super::arguments::Arguments;
use crate::column::Column;
use crate::error::value;
use crate::flow::{self, MAX_QUEUES};
use crate::hash::hashed;
use crate::interrupt::Interrupt;
use crate::name_map::NameMap;
use crate::names::PrefixHasher;
use crate::operators::as_signed;
use crate::parsed::Errors;
use crate::registry;
use crate::sketch::aggregate;
use arrow_array::{ArrayRef, new_empty_array};
use arrow_schema::DataType;
use pyo3::PyResult;
use std::sync::{Arc, Mutex, PoisonError};

type Columns = Vec<Column>;
type Chunks = PyResult<Vec<ArrayRef>>;

/// Columns of the two ends of a flow.
const ENDS: &[&str] = &["src", "sport", "dst", "dport"];

/// Arguments: signed, scheme, key.
pub(super) const HASH: Function = Function {
    columns: &["array"],
    kind: |arguments| signed_kind(arguments, &DataType::UInt64),
    run: |columns, arguments| {
        let signed = is_signed(arguments)?;
        let hasher = registry::scheme(arguments.text()?)?.keyed(arguments.optional()?)?;
        let (column, mut interrupt) = (one(&columns)?, Interrupt::default());
        let hash = |_, array: &ArrayRef| hashed(column.name(), array, &hasher, &mut interrupt);
        signed_chunks(signed, column.results(hash)?)
    },
};

/// Arguments: signed, scheme, key.
pub(super) const FLOW_HASH: Function = Function {
    columns: ENDS,
    kind: |arguments| signed_kind(arguments, &DataType::UInt64),
    run: |columns, arguments| {
        let signed = is_signed(arguments)?;
        let mut hash = flow::of_tuples(arguments.text()?, arguments.optional()?)?;
        let mut interrupt = Interrupt::default();
        let chunks = Column::results_of_all(&columns, |first, arrays| {
            flow::hash_tuples(&columns, arrays, first, &mut hash, &mut interrupt)
        });
        signed_chunks(signed, chunks?)
    },
};

/// Arguments: signed, key, queues.
pub(super) const RSS: Function = Function {
    columns: ENDS,
    kind: |arguments| signed_kind(arguments, &DataType::UInt32),
    run: |columns, arguments| {
        let signed = is_signed(arguments)?;
        let (key, queues) = (arguments.bytes()?, arguments.optional_number()?);
        if queues.is_some_and(|queues| !(1..=MAX_QUEUES).contains(&queues)) {
            return Err(value(format!("queues must be from 1 to {MAX_QUEUES}")));
        }
        let hash = flow::rss_of(key, queues)?;
        // A received packet: its destination is the local end.
        let Ok([src, sport, dst, dport]) = <[Column; 4]>::try_from(columns) else {
            return Err(value("expected four columns"));
        };
        let columns = [dst, dport, src, sport];
        let mut interrupt = Interrupt::default();
        let chunks = Column::results_of_all(&columns, |first, arrays| {
            flow::number_tuples(&columns, arrays, first, &hash, &mut interrupt)
        });
        signed_chunks(signed, chunks?)
    },
};

/// Arguments: signed, function, secret, secret of IPv6, mix, key.
pub(super) const EHASH: Function = Function {
    columns: &["local", "lport", "foreign", "fport"],
    kind: |arguments| signed_kind(arguments, &DataType::UInt32),
    run: |columns, arguments| {
        let signed = is_signed(arguments)?;
        let function = arguments.text()?;
        let secrets = [arguments.number()?, arguments.number()?, arguments.number()?];
        let hash = flow::ehash_of(function, secrets, arguments.optional()?)?;
        let mut interrupt = Interrupt::default();
        let chunks = Column::results_of_all(&columns, |first, arrays| {
            flow::number_tuples(&columns, arrays, first, &hash, &mut interrupt)
        });
        signed_chunks(signed, chunks?)
    },
};

/// Arguments: signed, encoding, scheme, key, errors.
pub(super) const PREFIX_HASHES: Function = Function {
    columns: &["names"],
    kind: |arguments| signed_kind(arguments, &PrefixHasher::kind()),
    run: |columns, arguments| {
        let signed = is_signed(arguments)?;
        let (encoding, scheme, key) = (arguments.text()?, arguments.text()?, arguments.optional()?);
        let mut hasher = PrefixHasher::new(encoding, scheme, key, arguments.text()?)?;
        let column = one(&columns)?;
        signed_chunks(signed, column.results(|first, array| hasher.hash(column, first, array))?)
    },
};

/// Arguments: errors, digest of the map, map.
pub(super) const NAME_MATCH: Function = Function {
    columns: &["names"],
    kind: |_| Ok(DataType::UInt64),
    run: |columns, arguments| {
        let errors = Errors::of(arguments.text()?)?;
        let map = name_map(arguments.bytes()?, arguments.bytes()?)?;
        let column = one(&columns)?;
        column.results(|first, array| map.lists_of(column, errors, first, array))
    },
};

/// Arguments: precision, key.
pub(super) const DISTINCT: Function = Function {
    columns: &["keys"],
    kind: |_| Ok(DataType::Float64),
    run: |columns, arguments| {
        let (precision, key) = (arguments.number()?, arguments.optional()?);
        Ok(vec![aggregate::distinct(columns, precision, key)?])
    },
};

/// Arguments: scheme, buckets, key, reduction.
pub(super) const SPREAD: Function = Function {
    columns: &["keys"],
    kind: |_| Ok(aggregate::spread_kind()),
    run: |columns, arguments| {
        let (scheme, buckets, key) = (arguments.text()?, arguments.number()?, arguments.optional()?);
        Ok(vec![aggregate::spread(columns, scheme, buckets, key, arguments.text()?)?])
    },
};

/// Arguments: counters.
pub(super) const HEAVY: Function = Function {
    columns: &["keys"],
    kind: |_| Ok(aggregate::heavy_kind()),
    run: |columns, arguments| Ok(vec![aggregate::heavy(columns, arguments.number()?)?]),
};

fn one(columns: &Columns) -> PyResult<&Column> {
    columns.first().ok_or_else(|| value("no columns"))
}

/// The first argument of functions of hashes: 0, or 1 for signed numbers.
fn is_signed(arguments: &mut Arguments<'_>) -> PyResult<bool> {
    arguments.number::<u64>().map(|signed| signed != 0)
}

fn signed_kind(arguments: &mut Arguments<'_>, kind: &DataType) -> PyResult<DataType> {
    match is_signed(arguments)? {
        true => Ok(as_signed(&new_empty_array(kind))?.data_type().clone()),
        false => Ok(kind.clone()),
    }
}

fn signed_chunks(signed: bool, chunks: Vec<ArrayRef>) -> Chunks {
    match signed {
        true => chunks.iter().map(as_signed).collect(),
        false => Ok(chunks),
    }
}

/// Maps that were read last, by their digests.
static MAPS: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// Digest of a map's bytes, and the map.
type Kept = (Box<[u8]>, Arc<NameMap>);

/// Maps that are kept.
const MOST_KEPT: usize = 4;

/// The map of these bytes, read once: an expression is called for each piece of a column.
fn name_map(digest: &[u8], bytes: &[u8]) -> PyResult<Arc<NameMap>> {
    let mut maps = MAPS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, map)) = maps.iter().find(|(of, _)| **of == *digest) {
        return Ok(Arc::clone(map));
    }
    let map = Arc::new(NameMap::read(bytes)?);
    if maps.len() >= MOST_KEPT {
        maps.remove(0);
    }
    maps.push((digest.into(), Arc::clone(&map)));
    Ok(map)
}
