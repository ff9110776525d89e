//! Tests of the reader of zone files.

mod errors;
mod files;
mod hostile;
mod pieces;
mod print;
mod rules;
mod types;
mod zones;

use super::*;
use std::fmt::Write as _;

/// A record that owns its parts.
type Owned = (String, u16, u32, Vec<u8>);

fn name(text: &str) -> NameBuf {
    text.parse().unwrap()
}

fn serial() -> Options {
    Options { threads: 1, ..Options::default() }
}

/// Records of text with the origin `example.com`.
fn read_with(text: &[u8], options: &Options) -> Result<Vec<Owned>, LoadError> {
    let mut list = Vec::new();
    let origin = name("example.com");
    let mut sink = |record: Record<'_>| {
        list.push((record.owner.to_string(), record.rtype.0, record.ttl, record.data.to_vec()));
        Ok(())
    };
    records_of("zone", text.to_vec(), Some(origin.view()), options, &mut sink)?;
    Ok(list)
}

fn read(text: &str) -> Result<Vec<Owned>, LoadError> {
    read_with(text.as_bytes(), &serial())
}

/// The data of the only record of text.
fn data(text: &str) -> Vec<u8> {
    let [(_, _, _, data)] = <[Owned; 1]>::try_from(read(text).unwrap()).unwrap();
    data
}

/// The errors of text, one a line.
fn errors(text: &str) -> String {
    read(text).expect_err(text).to_string()
}

/// Owners and TTLs of text, in short.
fn owners(text: &str) -> String {
    let mut out = String::new();
    for (owner, _, ttl, _) in read(text).unwrap() {
        let _ = write!(out, "{owner} {ttl}, ");
    }
    out.trim_end_matches(", ").to_owned()
}

fn hex(digits: &str) -> Vec<u8> {
    data_encoding::HEXLOWER.decode(digits.replace(' ', "").as_bytes()).unwrap()
}
