//! `flow_hash`, `ehash` and `rss`: hashes of the two ends of flows.

use crate::arguments::{RssKey, SecretKey, number};
use crate::column::Column;
use crate::error::{at_row, type_name, value, wrong_type};
use crate::interrupt::Interrupt;
use crate::registry::{self, checked_key, unknown};
use crate::rows::Rows;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, UInt32Array, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use hashlane_baseline::ehash::{Function, Secrets};
use hashlane_baseline::rss::PUBLISHED_KEY;
use hashlane_flow::ehash::{Jhash2, SipHash13, SipHash24, TupleHash};
use hashlane_flow::rss::{self, CardKey, ENTRIES, SYMMETRIC_KEY};
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::Key;
use hashlane_hash::toeplitz::Rss;
use hashlane_sketch::Keys;
use pyo3::prelude::*;
use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("RSS_PUBLISHED_KEY", PUBLISHED_KEY.as_slice())?;
    module.add("RSS_SYMMETRIC_KEY", SYMMETRIC_KEY.as_slice())?;
    module.add_function(wrap_pyfunction!(flow_hash, module)?)?;
    module.add_function(wrap_pyfunction!(linux_ehash, module)?)?;
    module.add_function(wrap_pyfunction!(rss_hash, module)?)
}

/// Tuples that are hashed at once.
const BATCH: usize = 1024;

/// A hash of many tuples.
pub(crate) type Burst = Box<dyn FnMut(&[Tuple], &mut [u64]) + Send>;

fn burst<H: TupleHash + Send + 'static>(key: &Key) -> Burst {
    let hash = H::new(key);
    Box::new(move |tuples, out| hash.hash_burst(tuples, out))
}

/// The hash `id` of tuples.
///
/// # Errors
/// `ValueError` for an unknown id, a missing or superfluous key.
pub(crate) fn of_tuples(id: &str, key: Option<&[u8]>) -> PyResult<Burst> {
    macro_rules! by_id {
        ($($hash:ty,)*) => {
            match id.strip_prefix("ehash/") {
                $(Some(name) if name == <$hash as TupleHash>::INFO.id => {
                    Ok(burst::<$hash>(&checked_key(&<$hash as TupleHash>::INFO, id, key)?))
                })*
                Some(_) => {
                    let known = registry::tuple_schemes();
                    Err(unknown("scheme", id, known.iter().map(|(id, _)| id.as_str()), "hashlane.schemes() lists them"))
                }
                None => of_bytes(id, key),
            }
        };
    }
    hashlane_baseline::for_each_tuple_hash!(by_id)
}

/// A hash of bytes over the 36 bytes of tuples.
fn of_bytes(id: &str, key: Option<&[u8]>) -> PyResult<Burst> {
    macro_rules! in_registers {
        ($($hash:ty),*) => {
            $(if id == <$hash as TupleHash>::INFO.id {
                return Ok(burst::<$hash>(&checked_key(&<$hash as TupleHash>::INFO, id, key)?));
            })*
        };
    }
    in_registers!(SipHash13, SipHash24, Jhash2);
    let hasher = registry::scheme(id)?.keyed(key)?;
    Ok(Box::new(move |tuples, out| {
        let keys: Vec<&[u8]> = tuples.iter().map(|tuple| tuple.as_bytes().as_slice()).collect();
        hasher.hash(&Keys::slices(&keys), out);
    }))
}

#[pyfunction]
#[pyo3(signature = (src, sport, dst, dport, scheme, key=None))]
fn flow_hash<'py>(
    py: Python<'py>,
    src: &Bound<'py, PyAny>,
    sport: &Bound<'py, PyAny>,
    dst: &Bound<'py, PyAny>,
    dport: &Bound<'py, PyAny>,
    scheme: &str,
    key: Option<SecretKey>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut hash = of_tuples(scheme, key.as_deref())?;
    let columns = ends([("src", src), ("sport", sport), ("dst", dst), ("dport", dport)])?;
    let mut interrupt = Interrupt::default();
    Column::map_all(&columns, py, DataType::UInt64, |first, arrays| {
        hash_tuples(&columns, arrays, first, &mut hash, &mut interrupt)
    })
}

/// The hash of each tuple of the columns source address and port, destination address and port; `first` is
/// the number of the arrays' first row.
///
/// # Errors
/// As [`flow_hash`].
pub(crate) fn hash_tuples(
    columns: &[Column],
    arrays: &[ArrayRef],
    first: usize,
    hash: &mut Burst,
    interrupt: &mut Interrupt,
) -> PyResult<ArrayRef> {
    let ends = Ends::of(columns, arrays)?;
    let mut hashes = vec![0; ends.len()];
    // The packet is a received one: its destination is the local end.
    ends.for_each(first, interrupt, |place, source, destination| {
        let tuples: Vec<Tuple> = source
            .iter()
            .zip(destination)
            .map(|(source, destination)| Tuple::new(destination.0, destination.1, source.0, source.1))
            .collect();
        if let Some(out) = hashes.get_mut(place..place + tuples.len()) {
            hash(&tuples, out);
        }
        Ok(())
    })?;
    Ok(Arc::new(UInt64Array::new(hashes.into(), ends.nulls)))
}

#[pyfunction]
#[pyo3(signature = (local, lport, foreign, fport, function, ehash_secret, ipv6_secret, mix, key))]
#[expect(clippy::too_many_arguments, reason = "the arguments of the kernel's function and its secrets")]
fn linux_ehash<'py>(
    py: Python<'py>,
    local: &Bound<'py, PyAny>,
    lport: &Bound<'py, PyAny>,
    foreign: &Bound<'py, PyAny>,
    fport: &Bound<'py, PyAny>,
    function: &str,
    ehash_secret: &Bound<'py, PyAny>,
    ipv6_secret: &Bound<'py, PyAny>,
    mix: &Bound<'py, PyAny>,
    key: Option<SecretKey>,
) -> PyResult<Bound<'py, PyAny>> {
    let secret = |name: &str, object: &Bound<'py, PyAny>| {
        number(name, object, 0..=u64::from(u32::MAX)).map(|secret| secret as u32)
    };
    let secrets =
        [secret("ehash_secret", ehash_secret)?, secret("ipv6_secret", ipv6_secret)?, secret("mix", mix)?];
    let hash = ehash_of(function, secrets, key.as_deref())?;
    let columns = ends([("local", local), ("lport", lport), ("foreign", foreign), ("fport", fport)])?;
    each_tuple(py, &columns, DataType::UInt32, hash)
}

/// Linux' function over tuples under the secrets of `ehash`, of IPv6 and the mix of the namespace.
///
/// # Errors
/// `ValueError` for an unknown function, and a missing key.
pub(crate) fn ehash_of(
    function: &str,
    [ehash_secret, ipv6_secret, mix]: [u32; 3],
    key: Option<&[u8]>,
) -> PyResult<impl Fn(&Tuple) -> u32 + Sync + Send + use<>> {
    let hash = Function::of(function).map_err(|_| {
        let known = Function::ids().collect::<Vec<_>>().join(", ");
        unknown("function", function, Function::ids(), &format!("known: {known}"))
    })?;
    let key = match key {
        Some(key) => Key::new(key.try_into().map_err(|_| value("key must have 16 bytes"))?),
        None if hash.has_key() => return Err(value(format!("{function} needs key, 16 bytes"))),
        None => Key::VECTOR,
    };
    let secrets = Secrets { ehash: ehash_secret, ipv6: ipv6_secret, mix, key };
    Ok(move |tuple: &Tuple| hash.hash(tuple, &secrets))
}

#[pyfunction]
#[pyo3(signature = (src, sport, dst, dport, key, queues=None))]
fn rss_hash<'py>(
    py: Python<'py>,
    src: &Bound<'py, PyAny>,
    sport: &Bound<'py, PyAny>,
    dst: &Bound<'py, PyAny>,
    dport: &Bound<'py, PyAny>,
    key: RssKey,
    queues: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let queues = queues.map(|queues| number("queues", queues, 1..=ENTRIES as u64)).transpose()?;
    let hash = rss_of(&key, queues)?;
    let columns = ends([("dst", dst), ("dport", dport), ("src", src), ("sport", sport)])?;
    each_tuple(py, &columns, DataType::UInt32, hash)
}

/// Queues of a card, at most.
pub(crate) const MAX_QUEUES: u64 = ENTRIES as u64;

/// A card's hash of a received tuple, or its queue among `queues`, 1 to [`MAX_QUEUES`].
///
/// # Errors
/// `ValueError` for a key of another length.
pub(crate) fn rss_of(
    key: &[u8],
    queues: Option<u64>,
) -> PyResult<impl Fn(&Tuple) -> u32 + Sync + Send + use<>> {
    let card: &CardKey = key.try_into().map_err(|_| {
        value(format!("the key of a card has {} bytes, got {}", SYMMETRIC_KEY.len(), key.len()))
    })?;
    let card = Rss::new(card);
    Ok(move |received: &Tuple| match queues {
        Some(queues) => rss::queue(&card, received, queues as usize) as u32,
        None => rss::hash(&card, received),
    })
}

/// A number for each tuple, whose columns are local address and port, foreign address and port.
fn each_tuple<'py>(
    py: Python<'py>,
    columns: &[Column],
    kind: DataType,
    number: impl Fn(&Tuple) -> u32 + Sync + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let mut interrupt = Interrupt::default();
    Column::map_all(columns, py, kind, |first, arrays| {
        number_tuples(columns, arrays, first, &number, &mut interrupt)
    })
}

/// A number for each tuple of the columns local address and port, foreign address and port; `first` is the
/// number of the arrays' first row.
///
/// # Errors
/// As [`flow_hash`].
pub(crate) fn number_tuples(
    columns: &[Column],
    arrays: &[ArrayRef],
    first: usize,
    number: impl Fn(&Tuple) -> u32,
    interrupt: &mut Interrupt,
) -> PyResult<ArrayRef> {
    let ends = Ends::of(columns, arrays)?;
    let mut numbers = Vec::with_capacity(ends.len());
    ends.for_each(first, interrupt, |_, local, foreign| {
        numbers.extend(local.iter().zip(foreign).map(|(l, f)| number(&Tuple::new(l.0, l.1, f.0, f.1))));
        Ok(())
    })?;
    Ok(Arc::new(UInt32Array::new(numbers.into(), ends.nulls)))
}

/// Order of the ends in the rows of tuples.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// Order of [`flow_hash`]: destination, then source.
    Received,
    /// Source, then destination.
    Sent,
}

/// The tuples of 36 bytes, one after the other, of the columns source address and port, destination address
/// and port. Rows with a null are left out; they are null in the second result. `first` is the number of the
/// arrays' first row.
///
/// # Errors
/// As [`flow_hash`].
pub(crate) fn tuples(
    columns: &[Column],
    arrays: &[ArrayRef],
    first: usize,
    order: Order,
    interrupt: &mut Interrupt,
    rows: &mut Vec<u8>,
) -> PyResult<Option<NullBuffer>> {
    let ends = Ends::of(columns, arrays)?;
    rows.reserve(ends.len().saturating_mul(Tuple::LEN));
    ends.for_each(first, interrupt, |place, source, destination| {
        for (row, (s, d)) in source.iter().zip(destination).enumerate() {
            if ends.nulls.as_ref().is_some_and(|nulls| nulls.is_null(place + row)) {
                continue;
            }
            let tuple = match order {
                Order::Received => Tuple::new(d.0, d.1, s.0, s.1),
                Order::Sent => Tuple::new(s.0, s.1, d.0, d.1),
            };
            rows.extend_from_slice(tuple.as_bytes());
        }
        Ok(())
    })?;
    Ok(ends.nulls)
}

fn ends<'py>(arguments: [(&'static str, &Bound<'py, PyAny>); 4]) -> PyResult<Vec<Column>> {
    arguments.into_iter().map(|(name, object)| Column::of(name, object)).collect()
}

/// Address and port of an end of a flow; IPv4 as IPv4-mapped.
type End = (Ipv6Addr, u16);

/// Columns of the two ends of flows: address and port of one, address and port of the other.
struct Ends<'a> {
    addresses: [Addresses<'a>; 2],
    ports: [Ports<'a>; 2],
    nulls: Option<NullBuffer>,
    len: usize,
}

impl<'a> Ends<'a> {
    fn of(columns: &[Column], arrays: &'a [ArrayRef]) -> PyResult<Self> {
        let ([a, b, c, d], [na, nb, nc, nd]) = (arrays, columns) else {
            return Err(value("expected four columns"));
        };
        let nulls = arrays
            .iter()
            .fold(None, |nulls, array| NullBuffer::union(nulls.as_ref(), array.logical_nulls().as_ref()));
        Ok(Self {
            addresses: [Addresses::of(na.name(), a)?, Addresses::of(nc.name(), c)?],
            ports: [Ports::of(nb.name(), b)?, Ports::of(nd.name(), d)?],
            nulls,
            len: a.len(),
        })
    }

    const fn len(&self) -> usize {
        self.len
    }

    /// Calls `each` with the ends of many rows; the first one is row `place` of the arrays. A row with a null
    /// has the unspecified address. `first` is the number of the arrays' first row, for errors.
    fn for_each(
        &self,
        first: usize,
        interrupt: &mut Interrupt,
        mut each: impl FnMut(usize, &[End], &[End]) -> PyResult<()>,
    ) -> PyResult<()> {
        let mut parts: [Vec<End>; 2] = [Vec::with_capacity(BATCH), Vec::with_capacity(BATCH)];
        let mut versions: [Vec<Version>; 2] = [Vec::with_capacity(BATCH), Vec::with_capacity(BATCH)];
        for from in (0..self.len).step_by(BATCH) {
            let rows = from..self.len.min(from + BATCH);
            for (side, (part, versions)) in parts.iter_mut().zip(&mut versions).enumerate() {
                part.clear();
                versions.clear();
                let (Some(addresses), Some(ports)) = (self.addresses.get(side), self.ports.get(side)) else {
                    continue;
                };
                for row in rows.clone() {
                    if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                        part.push((Ipv6Addr::UNSPECIFIED, 0));
                        versions.push(Version::Mapped);
                        continue;
                    }
                    let address = addresses.at(row).map_err(|why| at_row(first + row, why))?;
                    versions.push(Version::of(address));
                    let address = match address {
                        IpAddr::V4(address) => address.to_ipv6_mapped(),
                        IpAddr::V6(address) => address,
                    };
                    part.push((address, ports.at(row).map_err(|why| at_row(first + row, why))?));
                }
            }
            let [one, other] = &versions;
            let mixed = one.iter().zip(other).position(|(one, other)| {
                matches!((one, other), (Version::Four, Version::Six) | (Version::Six, Version::Four))
            });
            let [one, other] = &parts;
            if let Some(row) = mixed {
                return Err(at_row(first + from + row, "the two addresses are of different IP versions"));
            }
            each(from, one, other)?;
            interrupt.record(rows.len(), 0)?;
        }
        Ok(())
    }
}

/// IP version of an address.
enum Version {
    Four,
    Six,
    /// An IPv4-mapped IPv6 address: IPv4 beside such an address or an IPv4 one, IPv6 beside another one.
    Mapped,
}

impl Version {
    const fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Self::Four,
            IpAddr::V6(address) if address.to_ipv4_mapped().is_some() => Self::Mapped,
            IpAddr::V6(_) => Self::Six,
        }
    }
}

/// A column of addresses.
enum Addresses<'a> {
    Text(&'static str, Rows<'a>),
    /// 4 or 16 bytes in network order.
    Bytes(&'static str, Rows<'a>),
    /// IPv4 addresses as numbers: 192.0.2.1 is 0xc0000201.
    Numbers(&'a UInt32Array),
    Nulls,
}

impl<'a> Addresses<'a> {
    fn of(name: &'static str, array: &'a ArrayRef) -> PyResult<Self> {
        Ok(match array.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                Self::Text(name, Rows::of(name, array)?)
            }
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => Self::Bytes(name, Rows::of(name, array)?),
            DataType::UInt32 => Self::Numbers(array.as_primitive()),
            DataType::Null => Self::Nulls,
            kind => {
                return Err(wrong_type(format!(
                    "{name}: a column of {}; addresses are text, 4 or 16 bytes, or uint32 for IPv4",
                    type_name(kind)
                )));
            }
        })
    }

    fn at(&self, row: usize) -> Result<IpAddr, String> {
        match self {
            Self::Text(name, rows) => {
                let text = rows.row(row);
                let address = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
                address.ok_or_else(|| format!("{name} {:?} is no IP address", shortened(text)))
            }
            Self::Bytes(name, rows) => {
                let bytes = rows.row(row);
                if let Ok(four) = <[u8; 4]>::try_from(bytes) {
                    return Ok(four.into());
                }
                <[u8; 16]>::try_from(bytes)
                    .map(IpAddr::from)
                    .map_err(|_| format!("{name} has {} bytes; an address has 4 or 16", bytes.len()))
            }
            Self::Numbers(numbers) => Ok(Ipv4Addr::from_bits(numbers.value(row)).into()),
            Self::Nulls => Ok(Ipv6Addr::UNSPECIFIED.into()),
        }
    }
}

/// The start of a text, for errors.
pub(crate) fn shortened(text: &[u8]) -> String {
    String::from_utf8_lossy(text).chars().take(60).collect()
}

/// A column of ports.
struct Ports<'a> {
    name: &'static str,
    at: Box<dyn Fn(usize) -> Option<u16> + 'a>,
    array: &'a ArrayRef,
}

impl<'a> Ports<'a> {
    fn of(name: &'static str, array: &'a ArrayRef) -> PyResult<Self> {
        macro_rules! by_type {
            ($($kind:ident => $integer:ty),*) => {
                match array.data_type() {
                    $(DataType::$kind => {
                        let numbers = array.as_primitive::<$integer>();
                        Box::new(move |row| u16::try_from(numbers.value(row)).ok())
                    })*
                    DataType::Null => Box::new(|_| None),
                    kind => {
                        return Err(wrong_type(format!("{name}: a column of {}; ports are integers", type_name(kind))));
                    }
                }
            };
        }
        let at: Box<dyn Fn(usize) -> Option<u16> + 'a> = by_type!(
            UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type, UInt64 => UInt64Type,
            Int8 => Int8Type, Int16 => Int16Type, Int32 => Int32Type, Int64 => Int64Type
        );
        Ok(Self { name, at, array })
    }

    fn at(&self, row: usize) -> Result<u16, impl Display> {
        (self.at)(row)
            .ok_or_else(|| format!("{} {} is no port from 0 to 65,535", self.name, shown(self.array, row)))
    }
}

/// A value as text, for errors.
fn shown(array: &ArrayRef, row: usize) -> String {
    arrow_cast::display::array_value_to_string(array, row).unwrap_or_default()
}
