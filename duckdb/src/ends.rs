//! Columns of the two ends of flows: addresses and ports.

use crate::api::{Chunk, Column, Type};
use crate::arguments::shortened;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Types of addresses: text, 4 or 16 bytes in network order, or IPv4 addresses as numbers.
pub(crate) const ADDRESSES: [Type; 3] = [Type::Varchar, Type::Blob, Type::UInteger];

/// Address and port; IPv4 as IPv4-mapped.
pub(crate) type End = (Ipv6Addr, u16);

/// Types of the four arguments of two ends, whose addresses are of type `address`.
pub(crate) const fn types(address: Type) -> [Type; 4] {
    [address, Type::BigInt, address, Type::BigInt]
}

/// The first four columns of a chunk: address and port of one end, address and port of the other.
pub(crate) struct Ends<'a> {
    columns: [Column<'a>; 4],
}

impl<'a> Ends<'a> {
    /// The first four columns of `chunk`.
    ///
    /// # Errors
    /// There are fewer.
    pub(crate) fn of(chunk: &Chunk<'a>) -> Result<Self, String> {
        let [a, b, c, d] = [0, 1, 2, 3].map(|number| chunk.column(number));
        Ok(Self { columns: [a?, b?, c?, d?] })
    }

    /// The two ends of a row; `None` if an address or a port is null.
    ///
    /// # Errors
    /// No address, no port, or addresses of different versions of IP.
    pub(crate) fn at(&self, row: usize) -> Result<Option<(End, End)>, String> {
        let [a, b, c, d] = &self.columns;
        if self.columns.iter().any(|column| column.is_null(row)) {
            return Ok(None);
        }
        let (one, other) = (address(a, row)?, address(c, row)?);
        // An IPv4-mapped address is of both versions.
        let differ = |four: IpAddr, other: IpAddr| four.is_ipv4() && !other.to_canonical().is_ipv4();
        if differ(one, other) || differ(other, one) {
            return Err("the two addresses are of different IP versions".to_owned());
        }
        let (one, other) = (mapped(one), mapped(other));
        Ok(Some(((one, port(b, row)?), (other, port(d, row)?))))
    }
}

fn address(column: &Column<'_>, row: usize) -> Result<IpAddr, String> {
    if let Some(numbers) = column.numbers::<u32>() {
        let number = numbers.get(row).copied().unwrap_or_default();
        return Ok(Ipv4Addr::from_bits(number).into());
    }
    let bytes = column.bytes(row).unwrap_or_default();
    if column.is(Type::Varchar) {
        let address = std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok());
        return address.ok_or_else(|| format!("{:?} is no IP address", shortened(bytes)));
    }
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Ok(four.into());
    }
    let sixteen = <[u8; 16]>::try_from(bytes);
    sixteen.map(IpAddr::from).map_err(|_| format!("{} bytes; an address has 4 or 16", bytes.len()))
}

/// An address of either version, IPv4 as IPv4-mapped.
pub(crate) const fn mapped(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

fn port(column: &Column<'_>, row: usize) -> Result<u16, String> {
    let number = column.integer(row).unwrap_or(-1);
    u16::try_from(number).map_err(|_| format!("{number} is no port from 0 to 65,535"))
}
