//! Tests of packets: published ones, ones that break a rule each, and properties.

mod data;
mod interest;
mod link;
mod properties;

use std::vec::Vec;

/// The bytes that hexadecimal `digits` are; blanks and brackets are for the reader.
pub(super) fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    assert_eq!(digits.len() % 2, 0, "{digits:?}");
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// An element around `parts`, of a type and a length of one byte.
pub(super) fn packet(typ: u8, parts: &[&str]) -> Vec<u8> {
    let value: Vec<u8> = parts.iter().flat_map(|part| hex(part)).collect();
    [&[typ, u8::try_from(value.len()).expect("a short packet")][..], &value].concat()
}
