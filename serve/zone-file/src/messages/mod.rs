//! Messages out of files: the records of a [zone file](zone()), and the messages of a [capture](captured).

mod capture;
mod memory;
mod zone;

pub use capture::{Capture, in_segment, read_from};
pub use zone::{ZoneError, read, read_file};

use hashlane_dns::wire::Content;
use hashlane_link::capture::FormatError;
use hashlane_name::dns::NameBuf;
use std::error::Error;
use std::io::Read;
use std::path::Path;

/// Most bytes of a file.
const MOST_BYTES: u64 = 256 << 20;

/// Error with one line for the user.
pub type InputError = Box<dyn Error + Send + Sync>;

/// Reads a file or a pipe of at most 256 MiB; `name` is named in errors.
///
/// # Errors
/// It cannot be read, or is longer.
pub fn read_bytes(from: impl Read, name: &str) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    from.take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot read {name}: {error}"))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("{name} is longer than {} MiB: split it", MOST_BYTES >> 20).into());
    }
    Ok(bytes)
}

/// Reads the records of a zone file. With a regular file as `path`, these are the records of this file, and
/// of the files that it includes from its folder; else the records in `bytes`. `name` is named in errors, and
/// `advice` says how to give an origin.
///
/// # Errors
/// The file and the line, and the rule that it breaks.
pub fn zone(
    bytes: &[u8],
    name: &str,
    path: Option<&Path>,
    origin: Option<&NameBuf>,
    advice: &str,
) -> Result<Content, InputError> {
    let origin = origin.map(NameBuf::view);
    // A pipe can be read once, and has no folder.
    let read = match path.filter(|path| path.is_file()) {
        Some(path) => zone::read_file(path, origin),
        None => zone::read(bytes, name, origin),
    };
    read.map_err(|error| {
        let advice = if error.needs_origin() { format!("; {advice}") } else { String::new() };
        format!("{error}{advice}").into()
    })
}

/// Reads the DNS messages of a capture, keeping about `most` bytes of them.
///
/// # Errors
/// The bytes are not a capture, or have no DNS message.
pub fn captured(bytes: &[u8], name: &str, most: usize) -> Result<Capture, InputError> {
    let capture = capture::read_from(bytes, most).map_err(|error| match error {
        FormatError::Read(error) => format!("{name}: {error}"),
        FormatError::NotACapture(why) => format!("{name}: not a pcap or pcapng file: {why}"),
    })?;
    if capture.messages.is_empty() {
        return Err(format!("{name} has no DNS message over UDP or TCP: {capture}").into());
    }
    Ok(capture)
}
