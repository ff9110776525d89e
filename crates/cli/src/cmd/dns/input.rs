//! What the user hands over: a zone file, hex text or a capture.

use super::hex;
use crate::output;
use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;
use hashlane_dns::wire::Content;
use hashlane_lab::workload::capture::packets::{self, FormatError};
use hashlane_lab::workload::dns::capture::{self, Capture};
use hashlane_lab::workload::dns::zone::{self, ZoneError};
use hashlane_name::dns::NameBuf;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Octets of a file at the most.
const MOST: u64 = 256 << 20;

/// Octets of memory for the messages of a capture at the most, about.
const MOST_KEPT: usize = 512 << 20;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A zone file in master format
    Zone,
    /// Messages as hex text
    Hex,
    /// A capture: pcap or pcapng
    Capture,
}

/// What was read: messages one by one.
pub(super) type Messages = Box<dyn Iterator<Item = Result<Content>>>;

/// Reads the messages of a file, `-` being standard input. What was passed over in a capture is told on standard error.
pub(super) fn read(path: &Path, format: Option<Format>, origin: Option<&NameBuf>) -> Result<Messages> {
    let name = if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() };
    let octets = octets(path, &name)?;
    match format {
        Some(format) => messages(octets, &name, format, origin),
        None => {
            let format = recognise(&octets).with_context(|| name.clone())?;
            let read = messages(octets, &name, format, origin);
            read.with_context(|| match format {
                Format::Zone => "read as a zone file, as it is neither a capture nor hex digits alone",
                Format::Hex => "read as hex, as there are hex digits alone",
                Format::Capture => "read as a capture, as it begins like one",
            })
        }
    }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The octets of a file, `-` being standard input.
pub(crate) fn octets(path: &Path, name: &str) -> Result<Vec<u8>> {
    let cannot_read = || format!("cannot read {name}");
    // A pipe has no length before it ends.
    let (from, len): (Box<dyn Read>, u64) = match is_stdin(path) {
        true => (Box::new(io::stdin().lock()), 0),
        false => {
            let file = File::open(path).with_context(cannot_read)?;
            let len = file.metadata().with_context(cannot_read)?.len();
            (Box::new(file), len)
        }
    };
    let mut octets = Vec::new();
    if len <= MOST {
        from.take(MOST + 1).read_to_end(&mut octets).with_context(cannot_read)?;
    }
    if len.max(octets.len() as u64) > MOST {
        bail!("{name} has more than {} MiB, and no more are read; divide it", MOST >> 20);
    }
    Ok(octets)
}

/// What the octets are, by their beginning and their characters.
fn recognise(octets: &[u8]) -> Result<Format> {
    if packets::is_capture(octets) {
        return Ok(Format::Capture);
    }
    if hex::is_hex(octets) {
        return Ok(Format::Hex);
    }
    match octets.iter().position(|octet| *octet == 0) {
        Some(at) => bail!(
            "neither a capture nor text, by the zero at octet {at}; a message in wire form is read as hex: \
             xxd -p FILE | hashlane dns render -"
        ),
        None => Ok(Format::Zone),
    }
}

fn messages(octets: Vec<u8>, name: &str, format: Format, origin: Option<&NameBuf>) -> Result<Messages> {
    match format {
        Format::Zone => {
            let message = zone(&octets, name, origin, "--origin NAME gives one")?;
            Ok(Box::new([Ok(message)].into_iter()))
        }
        Format::Hex => {
            let messages = hex::parse(&octets).with_context(|| name.to_owned())?;
            if messages.is_empty() {
                bail!("{name}: there is no hex digit");
            }
            let name = name.to_owned();
            Ok(Box::new(messages.into_iter().map(move |(line, octets)| {
                Content::parse(&octets)
                    .with_context(|| format!("{name}: the message that begins in line {line}"))
            })))
        }
        Format::Capture => {
            let capture = captured(&octets, name, MOST_KEPT)?;
            output::tell(&format!("{name}: {capture}"));
            Ok(Box::new(capture.messages.into_iter().map(Ok)))
        }
    }
}

/// The records of a zone file; `advice` says what to do where names need an origin.
pub(crate) fn zone(octets: &[u8], name: &str, origin: Option<&NameBuf>, advice: &str) -> Result<Content> {
    zone::read(octets, origin.map(NameBuf::view)).map_err(|error| match error {
        ZoneError::NoOrigin(_) => anyhow!("{name}: {error}; {advice}"),
        error => anyhow!("{name}: {error}"),
    })
}

/// The messages of a capture, one at least; about `most` octets of them are kept.
pub(crate) fn captured(octets: &[u8], name: &str, most: usize) -> Result<Capture> {
    let capture = capture::read_from(octets, most).map_err(|error| match error {
        FormatError::Read(error) => anyhow::Error::new(error).context(name.to_owned()),
        FormatError::NotACapture(why) => anyhow!("{name} is no capture: {why}"),
    })?;
    if capture.messages.is_empty() {
        bail!("{name} has no message of the DNS over UDP or TCP: {capture}");
    }
    Ok(capture)
}
