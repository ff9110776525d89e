//! `hashlane dns render`

use super::compressor::{Id, Recorder};
use super::input::{self, Format};
use super::pcap::{Capture, MAX_DATAGRAM};
use super::piece::{self, Piece};
use super::{explain, hex};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use hashlane_dns::render::{Framing, Options, Renderer};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Case, NameBuf};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Write records or messages as messages in wire form, with their names compressed.
///
/// FILE is a zone file in master format, messages as hex text, or a capture of messages (pcap, pcapng); which one is seen
/// from its content. Where a message would become longer than the limit, a further one goes on.
#[derive(Debug, Args)]
#[command(after_help = "\
Zone file: its records become the answer to a question of type AXFR for the first record's owner. Times are
numbers of seconds, the class is IN unless stated, and $INCLUDE is refused. Data of rarer types are given in
the generic form, TYPE1234 \\# LENGTH HEX.
Hex: two digits are an octet, # begins a comment, and an empty line ends a message. What this command prints
can be read again.
Capture: messages over UDP from or to port 53, and those over TCP that lie whole in one segment. Header, questions and
records are kept as they were, OPT too.

Examples:
  hashlane dns render example.com.zone
  hashlane dns render db.example --origin example.com. --limit 1232 --explain
  hashlane dns render answers.pcap --compressor dumb > whole.hex
  echo '1234 8180 0001 0000 0000 0000 0161 00 0001 0001' | hashlane dns render -
  hashlane dns render whole.hex --output pcap --out small.pcap; tcpdump -nr small.pcap")]
pub(crate) struct Render {
    /// What to render; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What FILE is, where its content does not tell
    #[arg(long, value_enum, value_name = "FORMAT")]
    input: Option<Format>,
    /// What ends names in a zone file that have no dot at their end, until the file has $ORIGIN
    #[arg(long, value_name = "NAME")]
    origin: Option<NameBuf>,
    /// Print hex, or write the messages as UDP datagrams into a capture
    #[arg(long, value_enum, default_value = "hex", value_name = "FORMAT")]
    output: Output,
    /// Where to write; hex goes to standard output without it
    #[arg(long, value_name = "FILE", required_if_eq("output", "pcap"))]
    out: Option<PathBuf>,
    /// Octets of a message at the most, 512 to 65535 [default: 65535, and 65507 for pcap]
    #[arg(long, value_name = "OCTETS", value_parser = clap::value_parser!(u16).range(512..))]
    limit: Option<u16>,
    /// What compresses the names
    #[arg(long, value_enum, default_value = "ours", value_name = "NAME")]
    compressor: Id,
    /// Keep the spelling of every name: no pointer to one with other cases of letters
    #[arg(long)]
    case_sensitive: bool,
    /// Print where every name went, and why
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
                bail!("--limit {limit}: a UDP datagram over IPv4 has room for {MAX_DATAGRAM} octets")
            }
            (Output::Pcap, None) => MAX_DATAGRAM,
            (Output::Hex, None) => u16::MAX,
            (_, Some(limit)) => limit,
        };
        let case = if self.case_sensitive { Case::Sensitive } else { Case::Ignored };
        let options = Options { limit: limit.into(), framing: Framing::Datagram, case };
        let mut renderer = Renderer::with(Recorder::new(self.compressor, &random_key()?));
        if let Some(out) = self.out.as_deref().filter(|out| is_same_file(out, &self.file)) {
            bail!("--out {} is the file that is read; name another file", out.display());
        }
        // Nothing is written, and no file replaced, before the first message stands.
        let mut sink = None;
        for message in input::read(&self.file, self.input, self.origin.as_ref())? {
            let message = message?;
            let pieces = piece::render(&message, &mut renderer, options)?;
            let sink = match &mut sink {
                Some(sink) => sink,
                none => none.insert(Sink::open(self.output, self.out.as_deref())?),
            };
            for piece in &pieces {
                sink.write(piece, self.explain.then_some(case))?;
            }
        }
        if let Some(sink) = sink {
            sink.finish(self.out.as_deref())?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Tells if both paths lead to one file; false where either cannot be looked at.
fn is_same_file(a: &Path, b: &Path) -> bool {
    let identity = |path: &Path| path.metadata().ok().map(|file| (file.dev(), file.ino()));
    identity(a).is_some_and(|file| identity(b) == Some(file))
}

/// A key for this run alone.
fn random_key() -> Result<Key> {
    Key::random().context("no random numbers from the operating system")
}

/// Where messages and explanations go.
struct Sink {
    text: BufWriter<Box<dyn Write>>,
    capture: Option<Capture<BufWriter<File>>>,
    messages: usize,
}

impl Sink {
    fn open(output: Output, out: Option<&Path>) -> Result<Self> {
        let file = |path: &Path| File::create(path).with_context(|| cannot_write(path));
        let (text, capture): (Box<dyn Write>, _) = match (output, out) {
            (Output::Hex, Some(path)) => (Box::new(file(path)?), None),
            (Output::Pcap, Some(path)) => {
                (Box::new(io::stdout()), Some(Capture::new(BufWriter::new(file(path)?))?))
            }
            (_, None) => (Box::new(io::stdout()), None),
        };
        Ok(Self { text: BufWriter::new(text), capture, messages: 0 })
    }

    /// Writes a message; and, where the case of letters is given by which its names were compared, the explanation.
    fn write(&mut self, piece: &Piece<'_>, explained: Option<Case>) -> Result<()> {
        self.messages += 1;
        if explained.is_some() || self.capture.is_none() {
            let (number, records) = (self.messages, piece.records());
            let s = if records == 1 { "" } else { "s" };
            let (octets, whole) = (piece.octets.len(), piece.whole_len());
            let continues = if piece.continues { "; goes on with the one before" } else { "" };
            writeln!(
                self.text,
                "# message {number}: {records} record{s}, {octets} octets ({whole} without compression){continues}"
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
            capture.into_writer().flush().with_context(|| cannot_write(path))?;
            let s = if self.messages == 1 { "" } else { "s" };
            writeln!(self.text, "{} message{s} in {}", self.messages, path.display())?;
        }
        self.text.flush()?;
        Ok(())
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
