//! `hashlane ndn dump`

use super::connection::name;
use anyhow::{Context, Result, anyhow};
use clap::{ArgGroup, Args};
use hashlane_client::dump::{Dissector, Wanted};
use hashlane_command::number::positive;
use hashlane_command::terminal;
use hashlane_daemon::signals::on_stop;
use hashlane_flow::captured::{ETHERNET, RAW};
use hashlane_link::capture::{FormatError, Frame, frames};
use hashlane_link::tap::{LinkKind, Tap, TapError};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::wire::lp::INTEREST_DIGEST;
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Print the NDN packets of a capture or an interface
///
/// Prints a line for each packet, as ndndump does: Interests, Data and Nacks, with the NDNLPv2 header fields.
/// Reads Ethernet frames (EtherType 0x8624), UDP datagrams and TCP connections, whose segments it reorders.
/// Fragments of a packet are printed as they arrive, and the packet once it is reassembled. WebSockets and
/// fragmented IP packets are not read.
#[derive(Debug, Args)]
#[command(after_help = "\
Listening to an interface needs the capability CAP_NET_RAW, as under sudo.

Examples:
  hashlane ndn dump capture.pcap
  hashlane ndn dump capture.pcapng --prefix /example --verbose
  hashlane ndn dump --interface lo --port 16363 --count 10
  ssh router.example tcpdump -U -w - port 6363 | hashlane ndn dump -")]
#[group(skip)]
#[command(group = ArgGroup::new("source").required(true).args(["file", "interface"]))]
pub(super) struct Dump {
    /// Capture file (pcap, pcapng), or - for standard input
    file: Option<PathBuf>,
    /// Interface to listen to, until Ctrl-C
    #[arg(short, long, value_name = "NAME")]
    interface: Option<String>,
    /// UDP and TCP ports of NDN (repeatable)
    #[arg(short, long = "port", value_name = "N", default_values_t = [6363, 56363])]
    ports: Vec<u16>,
    /// Print only packets with names under this prefix
    #[arg(short = 'f', long, value_name = "NAME", value_parser = name)]
    prefix: Option<OwnedName<Ndn>>,
    /// Stop after this number of packet lines
    #[arg(short, long, value_name = "N", value_parser = positive)]
    count: Option<u64>,
    /// Print all elements of each packet: offset, length, value
    #[arg(short, long)]
    verbose: bool,
    /// TLV type of the InterestDigest field in the link header, as `pit.digest.tlv_type` of the forwarder:
    /// 800 to 956, a multiple of 4
    #[arg(long, value_name = "N", value_parser = digest_type, default_value_t = INTEREST_DIGEST)]
    digest_type: u32,
}

fn digest_type(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(typ) if (800..=959).contains(&typ) && typ % 4 == 0 => Ok(typ),
        _ => Err("expected an ignorable TLV type: 800 to 956, a multiple of 4".into()),
    }
}

/// Longest wait for a frame between two checks for Ctrl-C.
const WAIT: Duration = Duration::from_millis(200);

impl Dump {
    pub(super) fn run(self) -> Result<ExitCode> {
        let prefix = self.prefix.as_ref().map(|prefix| {
            let octets = prefix.view();
            hashlane_ndn::tlv::single(octets.as_bytes())
                .map_or_else(|_| Vec::new(), |name| name.value.to_vec())
        });
        let wanted = Wanted { ports: self.ports, prefix, digest: self.digest_type, verbose: self.verbose };
        let mut dump = Lines { dissector: Dissector::new(wanted), shown: 0, most: self.count, failed: None };
        let broken = match (&self.file, &self.interface) {
            (Some(file), _) => read(file, &mut dump)?,
            (None, Some(interface)) => {
                listen(interface, &mut dump)?;
                None
            }
            // clap requires one of the two.
            (None, None) => None,
        };
        let summary = dump.finish(broken)?;
        terminal::tell(&summary);
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes lines, up to a limit.
struct Lines {
    dissector: Dissector,
    shown: u64,
    most: Option<u64>,
    failed: Option<io::Error>,
}

impl Lines {
    /// Dissects a frame. Breaks at the limit or after a failed write.
    fn take(&mut self, frame: &Frame<'_>) -> ControlFlow<()> {
        self.with(|dissector, show| dissector.take(frame, show))
    }

    fn with(&mut self, lines: impl FnOnce(&mut Dissector, &mut dyn FnMut(String))) -> ControlFlow<()> {
        let Self { dissector, shown, most, failed } = self;
        let mut out = io::stdout().lock();
        let mut written = false;
        lines(dissector, &mut |line| {
            if failed.is_none() && most.is_none_or(|most| *shown < most) {
                *failed = out.write_all(line.as_bytes()).err();
                *shown += 1;
                written = true;
            }
        });
        if written && failed.is_none() {
            *failed = out.flush().err();
        }
        let done = self.failed.is_some() || self.most.is_some_and(|most| self.shown >= most);
        if done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Prints incomplete packets. Returns the summary.
    fn finish(mut self, broken: Option<String>) -> Result<String> {
        let _ = self.with(Dissector::close);
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        let Dissector { frames, passed_over, .. } = self.dissector;
        let s = |count: u64| if count == 1 { "" } else { "s" };
        let (shown, lines, ends) = (self.shown, s(self.shown), s(frames));
        let mut text = format!("{shown} line{lines} from {frames} frame{ends}");
        let sum: u64 = passed_over.values().sum();
        if sum > 0 {
            let reasons: Vec<String> =
                passed_over.iter().map(|(why, count)| format!("{count} {why}")).collect();
            text.push_str(&format!("; {sum} skipped: {}", reasons.join(", ")));
        }
        if let Some(why) = broken {
            text.push_str(&format!("; the file is truncated: {why}"));
        }
        Ok(text)
    }
}

/// Reads a capture. Returns the reason if the capture is truncated.
fn read(file: &Path, lines: &mut Lines) -> Result<Option<String>> {
    let cannot_read = || format!("cannot read {}", file.display());
    let from: Box<dyn Read> = if file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(file).with_context(cannot_read)?)
    };
    match frames(from, &mut |frame| lines.take(&frame)) {
        Ok(broken) => Ok(broken),
        Err(FormatError::Read(error)) => Err(error).with_context(cannot_read),
        Err(FormatError::NotACapture(why)) => Err(anyhow!(
            "{}: not a pcap or pcapng file ({why}); `tcpdump -w FILE` writes one",
            file.display()
        )),
    }
}

/// Listens until Ctrl-C.
fn listen(interface: &str, lines: &mut Lines) -> Result<()> {
    let mut tap = Tap::open(interface, WAIT).map_err(|error| match error {
        TapError::Forbidden => anyhow!(
            "cannot listen to {interface}: {error}; run it with sudo, or as a service with \
             AmbientCapabilities=CAP_NET_RAW"
        ),
        error => anyhow!("cannot listen to {interface}: {error}"),
    })?;
    let stopped = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&stopped);
    on_stop(move || stop.store(true, Ordering::Relaxed))?;
    terminal::tell(&format!("listening to {interface}"));
    let link = match tap.kind() {
        LinkKind::Ethernet => ETHERNET,
        LinkKind::Ip => RAW,
    };
    while !stopped.load(Ordering::Relaxed) {
        let Some(octets) = tap.receive().with_context(|| format!("cannot listen to {interface}"))? else {
            continue;
        };
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
        let original = octets.len() as u32;
        if lines.take(&Frame { link: Some(link), time, original, bytes: octets }).is_break() {
            break;
        }
    }
    Ok(())
}
