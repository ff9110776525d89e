//! The user's own DNS messages: a capture, or the records of a zone file.

use std::error::Error;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use hashlane_dns::wire::Content;
use hashlane_hash::scheme::Key;
use hashlane_lab::study::{Input, Loaded, Paths};
use hashlane_link::capture::FormatError;
use hashlane_name::dns::NameBuf;
use hashlane_study_flows::input::PCAP;

use crate::workload::capture::{self, Capture};
use crate::workload::split;
use crate::workload::zone;

/// Most bytes of a file.
const MOST_BYTES: u64 = 256 << 20;

/// Most bytes of memory for messages that are taken from a capture, about.
const MOST_MESSAGES: usize = 64 << 20;

/// Error with one line for the user.
pub type InputError = Box<dyn Error + Send + Sync>;

/// Options for the user's own messages.
pub(crate) const INPUTS: &[Input] = &[
    PCAP,
    Input {
        option: "zone",
        help: "Render the records of this zone file instead of generated messages",
        conflicts: &["pcap"],
    },
];

/// Reads the user's messages.
pub(crate) fn load(paths: &Paths) -> Result<Option<Loaded>, InputError> {
    if let Some(path) = paths.get("zone") {
        return own_zone(path).map(Some);
    }
    let Some(path) = paths.get(PCAP.option) else { return Ok(None) };
    let name = path.display().to_string();
    let capture = captured(&read_file(path)?, &name, MOST_MESSAGES)?;
    let note = format!("{name}: {capture}");
    Ok(Some(Loaded::new(Loaded::label("pcap", path), capture.messages).with_note(note)))
}

/// Reads the records of a zone file, split into messages as a transfer sends them.
fn own_zone(path: &Path) -> Result<Loaded, InputError> {
    let name = path.display().to_string();
    let advice = "a line `$ORIGIN NAME` before it gives one";
    let content = zone(&read_file(path)?, &name, Some(path), None, advice)?;
    let records = content.records.len();
    let messages = split(content, &Key::VECTOR);
    let kept: usize = messages.iter().map(|message| message.records.len()).sum();
    let s = if messages.len() == 1 { "" } else { "s" };
    let mut note = format!("{name}: {kept} records in {} message{s}", messages.len());
    if kept < records {
        write!(note, "; {} are too long for a message", records - kept)?;
    }
    Ok(Loaded::new(Loaded::label("zone", path), messages).with_note(note))
}

fn read_file(path: &Path) -> Result<Vec<u8>, InputError> {
    let cannot_read = |error: io::Error| format!("cannot read {}: {error}", path.display());
    read_bytes(File::open(path).map_err(cannot_read)?, &path.display().to_string())
}

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

/// Reads the records of a zone file. With a regular file as `path`, these are the records of that file, and
/// of the files that it includes from its folder; else those of `bytes`. `name` is named in errors, and
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
