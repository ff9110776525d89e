//! What the user hands over: a zone file, hex text or a capture.

use super::hex;
use crate::output;
use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;
use hashlane_dns::wire::Content;
use hashlane_link::capture;
use hashlane_name::dns::NameBuf;
use hashlane_study_dns::input;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

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
    let octets = bytes(path, &name)?;
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

/// Bytes of a file, `-` being standard input.
fn bytes(path: &Path, name: &str) -> Result<Vec<u8>> {
    let from: Box<dyn Read> = match is_stdin(path) {
        true => Box::new(io::stdin().lock()),
        false => Box::new(File::open(path).with_context(|| format!("cannot read {name}"))?),
    };
    input::read_bytes(from, name).map_err(|error| anyhow!(error))
}

/// What the octets are, by their beginning and their characters.
fn recognise(octets: &[u8]) -> Result<Format> {
    if capture::is_capture(octets) {
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
            let message = input::zone(&octets, name, origin, "--origin NAME gives one")
                .map_err(|error| anyhow!(error))?;
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
            let capture = input::captured(&octets, name, MOST_KEPT).map_err(|error| anyhow!(error))?;
            output::tell(&format!("{name}: {capture}"));
            Ok(Box::new(capture.messages.into_iter().map(Ok)))
        }
    }
}
