//! `parse_name`, `to_uri` and `name_prefix_hashes`.

use crate::arguments::SecretKey;
use crate::column::Column;
use crate::error::{at_row, value};
use crate::interrupt::Interrupt;
use crate::parsed::{Errors, each_row};
use crate::registry::{checked_key, unknown};
use crate::rows::Rows;
use crate::texts::Texts;
use arrow_array::types::{LargeBinaryType, LargeUtf8Type};
use arrow_array::{Array, ArrayRef, LargeListArray, UInt64Array};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, FieldRef};
use hashlane_hash::prefix::EveryPrefix;
use hashlane_hash::scheme::{BytesHash, Scheme};
use hashlane_name::build::OwnedName;
use hashlane_name::error::ParseError;
use hashlane_name::layout::Layout;
use hashlane_name::prefix::{BurstHashes, HashBuffer, OnePass, all_at_once};
use hashlane_name::uri::{self, parse_uri};
use hashlane_name::view::Name;
use hashlane_name::walk::Encoding;
use hashlane_name::{dns, for_each_encoding};
use pyo3::prelude::*;
use std::sync::Arc;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parse_name, module)?)?;
    module.add_function(wrap_pyfunction!(to_uri, module)?)?;
    module.add_function(wrap_pyfunction!(name_prefix_hashes, module)?)
}

/// The encoding of DNS names.
const DNS: &str = "dns";

/// Names that are hashed at once.
const BATCH: usize = 256;

fn unknown_encoding(id: &str, known: &[&str]) -> PyErr {
    unknown("encoding", id, known.iter().copied(), &format!("known: {}", known.join(", ")))
}

/// Ids of the encodings of components, without the DNS's.
fn encodings() -> [&'static str; 3] {
    macro_rules! ids {
        ($($id:ident: $encoding:ty),* $(,)?) => { [$(<$encoding>::ID),*] };
    }
    for_each_encoding!(ids)
}

/// Ids of all encodings.
fn with_dns() -> Vec<&'static str> {
    encodings().into_iter().chain([DNS]).collect()
}

/// Parser of the text of one name; the result is encoded.
type Parse = fn(&[u8]) -> Result<Vec<u8>, String>;

fn parser(encoding: &str, form: &str) -> PyResult<Parse> {
    fn from_uri<E: Layout>(text: &[u8]) -> Result<Vec<u8>, String> {
        parse_uri::<E>(text).map(OwnedName::into_bytes).map_err(|error| error.to_string())
    }
    fn from_path<E: Layout>(text: &[u8]) -> Result<Vec<u8>, String> {
        uri::parse_path::<E>(text).map(OwnedName::into_bytes).map_err(|error| error.to_string())
    }
    fn from_dns(text: &[u8]) -> Result<Vec<u8>, String> {
        dns::text::parse(text).map(|name| name.as_bytes().to_vec()).map_err(|error| error.to_string())
    }
    macro_rules! by_id {
        ($($id:ident: $encoding:ty),* $(,)?) => {
            match (encoding, form) {
                $((id, "uri") if id == <$encoding>::ID => Ok(from_uri::<$encoding>),)*
                $((id, "path") if id == <$encoding>::ID => Ok(from_path::<$encoding>),)*
                (DNS, "uri") => Ok(from_dns),
                (_, "uri" | "path") => Err(unknown_encoding(encoding, &with_dns())),
                (_, other) => Err(value(format!("form must be \"uri\" or \"path\", not {other:?}"))),
            }
        };
    }
    for_each_encoding!(by_id)
}

#[pyfunction]
fn parse_name<'py>(
    py: Python<'py>,
    names: &Bound<'py, PyAny>,
    encoding: &str,
    form: &str,
    errors: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let (parse, errors) = (parser(encoding, form)?, Errors::of(errors)?);
    let column = Column::of("names", names)?;
    column.map(py, DataType::LargeBinary, |first, array| {
        let mut encoded = Texts::new();
        each_row(&column, first, array, errors, parse, |name| encoded.push(name))?;
        encoded.finish::<LargeBinaryType>()
    })
}

#[pyfunction]
fn to_uri<'py>(
    py: Python<'py>,
    names: &Bound<'py, PyAny>,
    encoding: &str,
    errors: &str,
) -> PyResult<Bound<'py, PyAny>> {
    fn shown<E: Layout>(name: &[u8]) -> Result<String, String> {
        Name::<E>::parse(name).map(|name| name.to_string()).map_err(|error| error.to_string())
    }
    macro_rules! by_id {
        ($($id:ident: $encoding:ty),* $(,)?) => {
            match encoding {
                $(id if id == <$encoding>::ID => shown::<$encoding>,)*
                DNS => |name: &[u8]| dns::Name::parse(name).map(|name| name.to_string()).map_err(|error| error.to_string()),
                other => return Err(unknown_encoding(other, &with_dns())),
            }
        };
    }
    let show: fn(&[u8]) -> Result<String, String> = for_each_encoding!(by_id);
    let (errors, column) = (Errors::of(errors)?, Column::of("names", names)?);
    column.map(py, DataType::LargeUtf8, |first, array| {
        let mut texts = Texts::new();
        each_row(&column, first, array, errors, show, |text| texts.push(text))?;
        texts.finish::<LargeUtf8Type>()
    })
}

/// Result of one name: the hashes of its prefixes, the shortest first.
type Hashes<'a> = Result<&'a [u64], ParseError>;

/// Hashes the prefixes of many names, and passes on the result of each in order until one is refused.
type Burst = Box<dyn FnMut(&[&[u8]], &mut dyn FnMut(Hashes<'_>) -> PyResult<()>) -> PyResult<()> + Send>;

fn in_groups<E: Encoding + Send + 'static, H: EveryPrefix + Send + 'static>(hash: H) -> Burst {
    let (mut pass, mut hashes) = (Box::new(OnePass::<E, H>::new(hash)), BurstHashes::new());
    Box::new(move |names, each| {
        pass.burst(names.iter().copied(), &mut hashes);
        hashes.iter().try_for_each(each)
    })
}

fn one_by_one<E: Encoding + 'static, H: BytesHash + Send + 'static>(hash: H) -> Burst {
    let mut buffer = Box::new(HashBuffer::new());
    Box::new(move |names, each| {
        names.iter().try_for_each(|name| {
            let hashed = all_at_once::<E, H>(&hash, name, &mut buffer);
            each(hashed.map(|()| buffer.hashes()))
        })
    })
}

fn burst<E: Layout + Send + 'static>(id: &str, key: Option<&[u8]>) -> PyResult<Burst> {
    macro_rules! by_id {
        (every_prefix: $($every:ty),*; $($group:ident: $($hash:ty),*;)*) => {
            match id {
                $(id if id == <$every>::INFO.id => {
                    Ok(in_groups::<E, $every>(<$every>::new(&checked_key(&<$every>::INFO, id, key)?)))
                })*
                $($(id if id == <$hash>::INFO.id => {
                    Ok(one_by_one::<E, $hash>(<$hash>::new(&checked_key(&<$hash>::INFO, id, key)?)))
                })*)*
                other => {
                    let known = [$(<$every>::INFO.id,)* $($(<$hash>::INFO.id),*),*];
                    let next = format!("for names: {}", known.join(", "));
                    Err(unknown("scheme", other, known.into_iter(), &next))
                }
            }
        };
    }
    hashlane_hash::for_each_hash!(by_id)
}

#[pyfunction]
#[pyo3(signature = (names, encoding, scheme, key, errors))]
fn name_prefix_hashes<'py>(
    py: Python<'py>,
    names: &Bound<'py, PyAny>,
    encoding: &str,
    scheme: &str,
    key: Option<SecretKey>,
    errors: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let mut hasher = PrefixHasher::new(encoding, scheme, key.as_deref(), errors)?;
    let column = Column::of("names", names)?;
    column.map(py, PrefixHasher::kind(), |first, array| hasher.hash(&column, first, array))
}

/// Hashes of the prefixes of names.
pub(crate) struct PrefixHasher {
    burst: Burst,
    parse: Parse,
    errors: Errors,
}

impl PrefixHasher {
    /// # Errors
    /// `ValueError` for an unknown encoding, scheme or treatment of errors, and for a missing or superfluous
    /// key.
    pub(crate) fn new(encoding: &str, scheme: &str, key: Option<&[u8]>, errors: &str) -> PyResult<Self> {
        macro_rules! by_id {
            ($($id:ident: $encoding:ty),* $(,)?) => {
                match encoding {
                    $(id if id == <$encoding>::ID => burst::<$encoding>(scheme, key),)*
                    other => Err(unknown_encoding(other, &encodings())),
                }
            };
        }
        let burst = for_each_encoding!(by_id)?;
        Ok(Self { burst, parse: parser(encoding, "uri")?, errors: Errors::of(errors)? })
    }

    /// Type of the result.
    pub(crate) fn kind() -> DataType {
        DataType::LargeList(Self::item())
    }

    fn item() -> FieldRef {
        Arc::new(Field::new_list_field(DataType::UInt64, false))
    }

    /// A list of hashes for each name of a chunk, whose first row has the number `first`.
    ///
    /// # Errors
    /// `ValueError` about the first row that is no name.
    pub(crate) fn hash(&mut self, column: &Column, first: usize, array: &ArrayRef) -> PyResult<ArrayRef> {
        let mut lists = Lists::new(array.len());
        match array.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                lists.push_texts(column, first, array, self.errors, self.parse, &mut self.burst)?;
            }
            _ => lists.push_encoded(column.name(), first, array, self.errors, &mut self.burst)?,
        }
        lists.finish(Self::item())
    }
}

/// Lists of hashes under construction.
struct Lists {
    hashes: Vec<u64>,
    lengths: Vec<usize>,
    valid: Vec<bool>,
}

impl Lists {
    fn new(rows: usize) -> Self {
        Self { hashes: Vec::new(), lengths: Vec::with_capacity(rows), valid: Vec::with_capacity(rows) }
    }

    fn push(&mut self, hashes: Option<&[u64]>) {
        self.valid.push(hashes.is_some());
        let hashes = hashes.unwrap_or_default();
        self.hashes.extend_from_slice(hashes);
        self.lengths.push(hashes.len());
    }

    /// Encoded names.
    fn push_encoded(
        &mut self,
        name: &str,
        first: usize,
        array: &ArrayRef,
        errors: Errors,
        burst: &mut Burst,
    ) -> PyResult<()> {
        let rows = Rows::of_strings(name, array)?;
        let nulls = array.logical_nulls();
        let is_null = |row: usize| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        let (mut names, mut interrupt) = (Vec::with_capacity(BATCH), Interrupt::default());
        for from in (0..array.len()).step_by(BATCH) {
            let to = array.len().min(from + BATCH);
            rows.gather(from..to, &mut names);
            let mut row = from;
            burst(&names, &mut |hashes| {
                match (is_null(row), hashes) {
                    (true, _) | (false, Err(_)) if is_null(row) || errors == Errors::Null => self.push(None),
                    (_, Ok(hashes)) => self.push(Some(hashes)),
                    (_, Err(why)) => return Err(at_row(first + row, why)),
                }
                row += 1;
                Ok(())
            })?;
            interrupt.record(8 * names.len(), names.iter().map(|name| name.len()).sum())?;
        }
        Ok(())
    }

    /// Names as text.
    fn push_texts(
        &mut self,
        column: &Column,
        first: usize,
        array: &ArrayRef,
        errors: Errors,
        parse: Parse,
        burst: &mut Burst,
    ) -> PyResult<()> {
        let mut hashes = Vec::new();
        let hash = |text: &[u8]| {
            let name = parse(text)?;
            let mut result = Err(String::new());
            // The callback refuses nothing.
            let _ = burst(&[&name], &mut |of_name| {
                result = of_name.map_err(|why| why.to_string()).map(|of_name| {
                    hashes.clear();
                    hashes.extend_from_slice(of_name);
                });
                Ok(())
            });
            result.map(|()| hashes.clone())
        };
        each_row(column, first, array, errors, hash, |hashes| self.push(hashes.as_deref()))
    }

    fn finish(self, item: FieldRef) -> PyResult<ArrayRef> {
        let offsets = OffsetBuffer::from_lengths(self.lengths);
        let hashes = Arc::new(UInt64Array::from(self.hashes));
        let array = LargeListArray::try_new(item, offsets, hashes, Some(self.valid.into()));
        Ok(Arc::new(array.map_err(value)?))
    }
}
