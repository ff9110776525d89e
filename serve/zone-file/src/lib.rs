//! Zone files (RFC 1035 §5) to records and zones.
//!
//! [`zone`] reads a zone file to a [`Zone`], [`records`] and [`records_of`] pass its records to a closure.
//!
//! | read | |
//! | --- | --- |
//! | `$ORIGIN`, `@`, blank owners, parentheses, quotations, escapes | RFC 1035 §5.1 |
//! | `$TTL`; without it the last stated TTL | RFC 2308 §4, RFC 1035 §5.1 |
//! | times with units, such as `1h30m` | in TTLs and SOA records |
//! | `$INCLUDE path [origin]` | inside the zone's folder; at most [`MAX_DEPTH`] deep, [`MAX_FILES`] in all |
//! | `$GENERATE` | as BIND 9; at most [`Options::max_generated`] records in all |
//! | lines, and records of several lines | at most [`MAX_ENTRY`] bytes |
//! | unknown types and classes, `\# LENGTH HEX` | RFC 3597 §5 |
//!
//! A `$TTL` of an included file holds until the next one, as in BIND and NSD; its `$ORIGIN` and its last
//! owner end with it (RFC 1035 §5.1). A quotation may go over several lines. Records have class IN.
//!
//! A large file is split at ends of records. Threads read the pieces, and what a record inherits from an
//! earlier piece is filled in when the pieces are put in order, so that the result does not depend on their
//! number. Beside the text and the zone, memory is taken for a few pieces of [`Options::piece`] bytes.
//!
//! [`messages`] has the records of a zone file as one DNS message, and the messages of a capture.
#![forbid(unsafe_code)]

mod error;
mod field;
mod generate;
mod include;
mod library;
mod limits;
mod merge;
pub mod messages;
mod name;
mod number;
mod piece;
mod pool;
mod rdata;
mod scan;
mod special;
mod split;
#[cfg(test)]
mod tests;
mod types;
mod whole;
mod wks;

/// The README's example, compiled as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use error::{Fault, FaultKind, IncludeError, LoadError};
pub use hashlane_dns::zone::WholeRecord as Record;
pub use limits::{MAX_DEPTH, MAX_ENTRY, MAX_FILES};

use hashlane_dns::wire::RecordType;
use hashlane_dns::zone::{Builder, Zone, ZoneError};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Name, NameBuf, text};
use include::Folder;
use merge::Merger;
use split::Splitter;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::thread::available_parallelism;

/// Limits and defaults.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads for a large file; 0 for as many as there are cores.
    pub threads: usize,
    /// Most bytes of the zone file and the files that it includes.
    pub max_bytes: u64,
    /// Most records that all `$GENERATE` lines make together.
    pub max_generated: u64,
    /// Most bytes of these records, 80 bytes counted for each beside its owner and data.
    pub max_generated_bytes: usize,
    /// Errors that are reported before the reader stops, at least 1.
    pub max_errors: usize,
    /// TTL in seconds of records before any `$TTL` and any stated TTL; `None` makes them an error.
    pub default_ttl: Option<u32>,
    /// Bytes of a piece that a thread reads. A file of less than four pieces is read on one thread.
    pub piece: usize,
    /// Receives the path of each included file, without symbolic links.
    pub included: Option<Sender<PathBuf>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 0,
            max_bytes: 16 << 30,
            max_generated: 65_536,
            max_generated_bytes: 256 << 20,
            max_errors: 20,
            default_ttl: None,
            piece: 256 << 10,
            included: None,
        }
    }
}

/// Reads a zone file.
///
/// The zone's name is `apex`, else the owner of the first SOA record, else the name of the file without
/// `.zone` or `.db`. Relative names before the first `$ORIGIN` end with `apex`, or with the name of the file.
///
/// # Errors
/// The first [`Options::max_errors`] errors in the order of the file, each with its position; or the first
/// rule that the records break together, with the position of the record that does so.
pub fn zone(path: &Path, apex: Option<Name<'_>>, options: &Options, key: &Key) -> Result<Zone, LoadError> {
    let named = named(path);
    let origin = apex.or(named.as_ref().map(NameBuf::view));
    build(path, apex, origin, options, key)
}

/// [`zone`] with the `origin` of relative names.
fn build(
    path: &Path,
    apex: Option<Name<'_>>,
    origin: Option<Name<'_>>,
    options: &Options,
    key: &Key,
) -> Result<Zone, LoadError> {
    let mut builder = apex.map(|apex| Builder::new(apex, key));
    // Until the SOA record names the zone: owner and data in their order.
    let mut early: Vec<(NameBuf, RecordType, u32, Vec<u8>)> = Vec::new();
    // The zone's name, if a record before the SOA record is refused.
    let mut again: Option<NameBuf> = None;
    let refused = |error: ZoneError| FaultKind::Zone(error.to_string());
    let mut add = |record: Record<'_>| {
        let Record { owner, rtype, ttl, data } = record;
        if let Some(builder) = &mut builder {
            return builder.add(owner, rtype, ttl, data).map_err(refused);
        }
        if rtype != RecordType::SOA {
            early.push((owner.into(), rtype, ttl, data.to_vec()));
            return Ok(());
        }
        let builder = builder.insert(Builder::new(owner, key));
        let mut early = early.drain(..);
        if early.any(|(owner, rtype, ttl, data)| builder.add(owner.view(), rtype, ttl, &data).is_err()) {
            again = Some(owner.into());
        }
        builder.add(owner, rtype, ttl, data).map_err(refused)
    };
    let read = records(path, origin, options, &mut add);
    if let Some(apex) = again {
        // From the start with the name, so that each error has its own line.
        return build(path, Some(apex.view()), origin, options, key);
    }
    read?;
    let builder = match (builder, origin) {
        (Some(builder), _) => builder,
        // The builder says what is missing.
        (None, Some(origin)) => Builder::new(origin, key),
        (None, None) => return Err(whole::of_file(path, FaultKind::NoApex)),
    };
    builder.finish().map_err(|error| whole::error(path, origin, options, &error))
}

/// The name of a zone by its file's name, which may end with `.zone` or `.db`. `None` for a name that is not
/// a domain name.
pub fn named(path: &Path) -> Option<NameBuf> {
    named_zone_file(path).or_else(|| text::parse(path.file_name()?.to_str()?.as_bytes()).ok())
}

/// The name of a zone by its file's name, which ends with `.zone` or `.db`. `None` for other files.
pub fn named_zone_file(path: &Path) -> Option<NameBuf> {
    let name = path.file_name()?.to_str()?.as_bytes();
    [&b".zone"[..], b".db"].into_iter().find_map(|suffix| {
        let (name, end) = name.split_at_checked(name.len().checked_sub(suffix.len())?)?;
        end.eq_ignore_ascii_case(suffix).then(|| text::parse(name).ok())?
    })
}

/// Reads the records of a zone file in their order. `origin` ends relative names before the first `$ORIGIN`.
/// An error of `sink` is reported with the line of its record.
///
/// # Errors
/// The first [`Options::max_errors`] errors in the order of the file, each with its position.
pub fn records(
    path: &Path,
    origin: Option<Name<'_>>,
    options: &Options,
    sink: &mut dyn FnMut(Record<'_>) -> Result<(), FaultKind>,
) -> Result<(), LoadError> {
    let file = path.display().to_string();
    match Folder::zone(path, options.max_bytes) {
        Ok((mut folder, text)) => {
            folder.included_to(options.included.clone());
            run(file, text, folder, origin, options, sink)
        }
        Err(what) => Err(whole::of_file(path, what)),
    }
}

/// [`records`] of text that is not in a file, called `name` in errors. It includes no files.
///
/// # Errors
/// As [`records`].
pub fn records_of(
    name: &str,
    text: Vec<u8>,
    origin: Option<Name<'_>>,
    options: &Options,
    sink: &mut dyn FnMut(Record<'_>) -> Result<(), FaultKind>,
) -> Result<(), LoadError> {
    run(name.to_owned(), text, Folder::none(options.max_bytes), origin, options, sink)
}

/// Returns true if text after a `$` may be an `$INCLUDE`.
fn includes(text: &[u8]) -> bool {
    text.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"INCLUDE"))
}

fn run(
    file: String,
    text: Vec<u8>,
    folder: Folder,
    origin: Option<Name<'_>>,
    options: &Options,
    sink: &mut dyn FnMut(Record<'_>) -> Result<(), FaultKind>,
) -> Result<(), LoadError> {
    let threads = match options.threads {
        0 => available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    // Files that it includes may be large.
    let small = text.len() / 4 < options.piece && !text.split(|byte| *byte == b'$').skip(1).any(includes);
    let origin = origin.map(Name::as_bytes);
    let splitter = Splitter::new(file, text, origin, folder, options.piece.max(1), options.max_bytes);
    let merger = Merger::new(options.default_ttl);
    match threads == 1 || small {
        true => pool::serial(splitter, merger, options, sink),
        false => pool::parallel(splitter, merger, options, threads, sink),
    }
}
