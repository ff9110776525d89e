//! `hashlane dns render`

use super::compressor::{Id, Recorder};
use super::input::{self, Format};
use super::pcap::{Capture, MAX_DATAGRAM};
use super::piece::{self, Piece};
use super::{explain, hex};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use hashlane_command::number::within;
use hashlane_dns::render::{Framing, Options, Renderer};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Case, NameBuf};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Render records or messages in wire form, with compressed names
///
/// FILE is a zone file in master format, messages as hex text, or a capture (pcap, pcapng); the content
/// decides which. A message that would exceed the limit is continued in another message.
#[derive(Debug, Args)]
#[command(after_help = "\
Zone file: its records become the answer to an AXFR question for the owner of the first record.
Times are seconds or have units, as in 1h30m; the class is IN unless stated. $INCLUDE reads files
inside the folder of FILE. Use the generic form for the data of rare types: TYPE1234 \\# LENGTH HEX.
Hex: two digits are a byte, # begins a comment, and an empty line ends a message. This command
reads its own output.
Capture: messages over UDP from or to port 53, and messages over TCP that are complete in one
segment. Headers, questions and records, also OPT, are kept.

Examples:
  hashlane dns render example.com.zone
  hashlane dns render db.example --origin example.com. --limit 1232 --explain
  hashlane dns render answers.pcap --compressor dumb > whole.hex
  echo '1234 8180 0001 0000 0000 0000 0161 00 0001 0001' | hashlane dns render -
  hashlane dns render whole.hex --output pcap --out small.pcap; tcpdump -nr small.pcap")]
pub(crate) struct Render {
    /// File to render, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Format of FILE; detected from its content by default
    #[arg(long, value_enum, value_name = "FORMAT")]
    input: Option<Format>,
    /// Origin of relative names in a zone file, until its first $ORIGIN [default: NAME of a file
    /// NAME.zone or NAME.db]
    #[arg(long, value_name = "NAME")]
    origin: Option<NameBuf>,
    /// Format of the output
    #[arg(long, value_enum, default_value = "hex", value_name = "FORMAT")]
    output: Output,
    /// File to write; hex goes to standard output by default
    #[arg(long, value_name = "FILE", required_if_eq("output", "pcap"))]
    out: Option<PathBuf>,
    /// Largest message, in bytes, 512 to 65535 [default: 65535, for pcap 65507]
    #[arg(long, value_name = "BYTES", value_parser = within(512, u16::MAX))]
    limit: Option<u16>,
    /// Compressor of the names
    #[arg(long, value_enum, default_value = "ours", value_name = "NAME")]
    compressor: Id,
    /// Compare names with case: no pointer to a name that is spelled otherwise
    #[arg(long)]
    case_sensitive: bool,
    /// Print the position and form of each name, and the reason
    #[arg(long)]
    explain: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// Hex text
    Hex,
    /// A capture of UDP datagrams over IPv4
    Pcap,
}

impl Render {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let limit = match (self.output, self.limit) {
            (Output::Pcap, Some(limit)) if limit > MAX_DATAGRAM => {
                bail!(
                    "--limit {limit}: a UDP datagram over IPv4 has room for {MAX_DATAGRAM} bytes; lower \
                     --limit"
                )
            }
            (Output::Pcap, None) => MAX_DATAGRAM,
            (Output::Hex, None) => u16::MAX,
            (_, Some(limit)) => limit,
        };
        let case = if self.case_sensitive { Case::Sensitive } else { Case::Ignored };
        let options = Options { limit: limit.into(), framing: Framing::Datagram, case };
        let mut renderer = Renderer::with(Recorder::new(self.compressor, &random_key()?));
        if let Some(out) = self.out.as_deref().filter(|out| is_same_file(out, &self.file)) {
            bail!("--out {} is the input file; name another file", out.display());
        }
        // The output is opened, and a file replaced, after the first message has been rendered.
        let mut sink = None;
        for message in input::read(&self.file, self.input, self.origin.as_ref())? {
            let message = message?;
            let pieces = piece::render(&message, &mut renderer, options)?;
            let sink = match &mut sink {
                Some(sink) => sink,
                none => none.insert(Sink::open(self.output, self.out.as_deref())?),
            };
            for piece in &pieces {
                let written = sink.write(piece, self.explain.then_some(case));
                written.with_context(|| cannot_write(self.out.as_deref()))?;
            }
        }
        if let Some(sink) = sink {
            let written = sink.finish(self.out.as_deref());
            written.with_context(|| cannot_write(self.out.as_deref()))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Tests if both paths lead to the same file. False if the metadata of either cannot be read.
fn is_same_file(a: &Path, b: &Path) -> bool {
    let identity = |path: &Path| path.metadata().ok().map(|file| (file.dev(), file.ino()));
    identity(a).is_some_and(|file| identity(b) == Some(file))
}

/// A random key for this run.
fn random_key() -> Result<Key> {
    Key::random().context("cannot get random bytes from the system")
}

/// Output of messages and explanations.
struct Sink {
    text: BufWriter<Box<dyn Write>>,
    capture: Option<Capture<BufWriter<File>>>,
    messages: usize,
}

impl Sink {
    fn open(output: Output, out: Option<&Path>) -> Result<Self> {
        let file = |path: &Path| File::create(path).with_context(|| cannot_write(Some(path)));
        let (text, capture): (Box<dyn Write>, _) = match (output, out) {
            (Output::Hex, Some(path)) => (Box::new(file(path)?), None),
            (Output::Pcap, Some(path)) => {
                (Box::new(io::stdout()), Some(Capture::new(BufWriter::new(file(path)?))?))
            }
            (_, None) => (Box::new(io::stdout()), None),
        };
        Ok(Self { text: BufWriter::new(text), capture, messages: 0 })
    }

    /// Writes a message, and the explanation if `explained` is the case in which its names were compared.
    fn write(&mut self, piece: &Piece<'_>, explained: Option<Case>) -> Result<()> {
        self.messages += 1;
        if explained.is_some() || self.capture.is_none() {
            let (number, records) = (self.messages, piece.records());
            let s = if records == 1 { "" } else { "s" };
            let (octets, whole) = (piece.octets.len(), piece.whole_len());
            let continues = if piece.continues { "; continues the previous message" } else { "" };
            writeln!(
                self.text,
                "# message {number}: {records} record{s}, {octets} bytes ({whole} without \
                 compression){continues}"
            )?;
        }
        if let Some(case) = explained {
            self.text.write_all(explain::table(piece, case).as_bytes())?;
        }
        match &mut self.capture {
            Some(capture) => capture.write(piece.header, &piece.octets),
            None => Ok(self.text.write_all(hex::text(&piece.octets).as_bytes())?),
        }
    }

    fn finish(mut self, out: Option<&Path>) -> Result<()> {
        if let (Some(capture), Some(path)) = (self.capture, out) {
            capture.into_writer().flush()?;
            let s = if self.messages == 1 { "" } else { "s" };
            writeln!(self.text, "{} message{s} in {}", self.messages, path.display())?;
        }
        self.text.flush()?;
        Ok(())
    }
}

/// Start of the error for a file, or standard output, that cannot be written.
fn cannot_write(out: Option<&Path>) -> String {
    out.map_or_else(
        || "cannot write to standard output".into(),
        |path| format!("cannot write {}", path.display()),
    )
}
