//! Input of `dns render`: a zone file, hex text or a capture.

use super::hex;
use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;
use hashlane_command::terminal;
use hashlane_daemon::text::utf_16;
use hashlane_dns::wire::Content;
use hashlane_link::capture;
use hashlane_name::dns::NameBuf;
use hashlane_zone_file::messages;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Approximate limit of the memory for the messages of a capture, in bytes.
const MOST_KEPT: usize = 512 << 20;

/// Formats of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A zone file in master format
    Zone,
    /// Messages as hex text
    Hex,
    /// A capture: pcap or pcapng
    Capture,
}

/// Messages in the order of the input.
pub(super) type Messages = Box<dyn Iterator<Item = Result<Content>>>;

/// Reads the messages of a file, or of standard input for `-`. Reports on standard error what a capture has
/// besides.
pub(super) fn read(path: &Path, format: Option<Format>, origin: Option<&NameBuf>) -> Result<Messages> {
    let name = if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() };
    let octets = bytes(path, &name)?;
    if octets.is_empty() {
        bail!("{name}: the file is empty; name a zone file, messages as hex text, or a capture");
    }
    let path = (!is_stdin(path)).then_some(path);
    match format {
        Some(format) => messages(octets, &name, path, format, origin),
        None => {
            let format = recognise(&octets).with_context(|| name.clone())?;
            let (read_as, because) = match format {
                Format::Zone => ("a zone file", "it is neither a capture nor only hex digits"),
                Format::Hex => ("hex", "it has only hex digits"),
                Format::Capture => ("a capture", "it begins like one"),
            };
            let advice = format!("read as {read_as}, because {because}; --input FORMAT sets the format");
            messages(octets, &name, path, format, origin).map_err(|error| anyhow!("{error:#}; {advice}"))
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
    messages::read_bytes(from, name).map_err(|error| anyhow!(error))
}

/// Detects the format by the first bytes and the characters.
fn recognise(octets: &[u8]) -> Result<Format> {
    if capture::is_capture(octets) {
        return Ok(Format::Capture);
    }
    if hex::is_hex(octets) {
        return Ok(Format::Hex);
    }
    if let Some(advice) = utf_16(octets) {
        bail!("{advice}");
    }
    match octets.iter().position(|octet| *octet == 0) {
        Some(at) => bail!(
            "neither a capture nor text: zero byte at offset {at}; convert a message in wire form to hex: \
             xxd -p FILE | hashlane dns render -"
        ),
        None => Ok(Format::Zone),
    }
}

fn messages(
    octets: Vec<u8>,
    name: &str,
    path: Option<&Path>,
    format: Format,
    origin: Option<&NameBuf>,
) -> Result<Messages> {
    match format {
        Format::Zone => {
            let message = messages::zone(&octets, name, path, origin, "--origin NAME gives one")
                .map_err(|error| anyhow!(error))?;
            Ok(Box::new([Ok(message)].into_iter()))
        }
        Format::Hex => {
            let messages = hex::parse(&octets).with_context(|| name.to_owned())?;
            if messages.is_empty() {
                bail!("{name}: no hex digits");
            }
            let name = name.to_owned();
            Ok(Box::new(messages.into_iter().map(move |(line, octets)| {
                Content::parse(&octets)
                    .with_context(|| format!("{name}: the message that begins in line {line}"))
            })))
        }
        Format::Capture => {
            let capture = messages::captured(&octets, name, MOST_KEPT).map_err(|error| anyhow!(error))?;
            terminal::tell(&format!("{name}: {capture}"));
            Ok(Box::new(capture.messages.into_iter().map(Ok)))
        }
    }
}
