//! `hashlane ndn dump`

mod dissect;
mod packet;
mod stream;

use super::connection::name;
use crate::output;
use anyhow::{Context, Result, anyhow};
use clap::Args;
use dissect::{Dissector, Wanted};
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

/// Show the NDN packets of a capture, or of an interface as they pass
///
/// A line for each packet, as ndndump prints it: Interests, Data, Nacks, with the header fields of NDNLPv2. Packets are found in Ethernet
/// frames (EtherType 0x8624), in UDP datagrams, and in TCP connections, whose parts are put in order; pieces of a packet are shown as they
/// come, and the packet when the last one is there. Not read: WebSockets, and datagrams in fragments of IP.
#[derive(Debug, Args)]
#[command(after_help = "\
To listen to an interface as another user than root, the command needs a capability:
  sudo setcap cap_net_raw+ep $(command -v hashlane)

Examples:
  hashlane ndn dump capture.pcap
  hashlane ndn dump capture.pcapng --prefix /example --verbose
  hashlane ndn dump --interface lo --port 16363 --count 10
  ssh router.example tcpdump -U -w - port 6363 | hashlane ndn dump -")]
pub(super) struct Dump {
    /// A capture, pcap or pcapng, or - for standard input
    #[arg(required_unless_present = "interface", conflicts_with = "interface")]
    file: Option<PathBuf>,
    /// An interface to listen to, until Ctrl-C
    #[arg(short, long, value_name = "NAME")]
    interface: Option<String>,
    /// Ports of NDN over UDP and TCP (may be given again)
    #[arg(short, long = "port", value_name = "N", default_values_t = [6363, 56363])]
    ports: Vec<u16>,
    /// Only packets with names that begin so
    #[arg(short = 'f', long, value_name = "NAME", value_parser = name)]
    prefix: Option<OwnedName<Ndn>>,
    /// Stop after so many lines of packets
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// All elements of each packet, with their offsets and lengths, and what they hold
    #[arg(short, long)]
    verbose: bool,
    /// The type of the link header's field that is a digest of the Interest: 800 to 956, a multiple of 4; by default that of
    /// our forwarder
    #[arg(long, value_name = "N", value_parser = digest_type, default_value_t = INTEREST_DIGEST)]
    digest_type: u32,
}

fn digest_type(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(typ) if (800..=959).contains(&typ) && typ % 4 == 0 => Ok(typ),
        _ => Err("expected a type that may be ignored: 800 to 956, a multiple of 4".into()),
    }
}

/// How long to wait for a frame before looking whether to stop.
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
            // The options say that one is there.
            (None, None) => None,
        };
        let summary = dump.finish(broken)?;
        output::tell(&summary);
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes lines, so many at the most.
struct Lines {
    dissector: Dissector,
    shown: u64,
    most: Option<u64>,
    failed: Option<io::Error>,
}

impl Lines {
    /// Takes a frame; whether to go on.
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

    /// Shows what came in part, and says what there was.
    fn finish(mut self, broken: Option<String>) -> Result<String> {
        let _ = self.with(Dissector::close);
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        let Dissector { frames, passed_over, .. } = self.dissector;
        let mut text = format!("{} lines from {frames} frames", self.shown);
        let sum: u64 = passed_over.values().sum();
        if sum > 0 {
            let reasons: Vec<String> =
                passed_over.iter().map(|(why, count)| format!("{count} {why}")).collect();
            text.push_str(&format!("; {sum} passed over: {}", reasons.join(", ")));
        }
        if let Some(why) = broken {
            text.push_str(&format!("; the file breaks off: {why}"));
        }
        Ok(text)
    }
}

/// Reads a capture; why it could not be read to its end, if so.
fn read(file: &Path, lines: &mut Lines) -> Result<Option<String>> {
    let told = || format!("cannot read {}", file.display());
    let from: Box<dyn Read> = if file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(file).with_context(told)?)
    };
    match frames(from, &mut |frame| lines.take(&frame)) {
        Ok(broken) => Ok(broken),
        Err(FormatError::Read(error)) => Err(error).with_context(told),
        Err(FormatError::NotACapture(why)) => Err(anyhow!(
            "{} is no capture ({why}); pcap and pcapng are read, as `tcpdump -w FILE` writes them",
            file.display()
        )),
    }
}

/// Listens until Ctrl-C.
fn listen(interface: &str, lines: &mut Lines) -> Result<()> {
    let mut tap = Tap::open(interface, WAIT).map_err(|error| match error {
        TapError::Forbidden => anyhow!(
            "cannot listen to {interface}: {error}; run it as root, or give it the capability: sudo setcap cap_net_raw+ep \
             $(command -v hashlane)"
        ),
        error => anyhow!("cannot listen to {interface}: {error}"),
    })?;
    let stopped = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&stopped);
    ctrlc::set_handler(move || stop.store(true, Ordering::Relaxed))?;
    output::tell(&format!("listening to {interface}"));
    let link = match tap.kind() {
        LinkKind::Ethernet => ETHERNET,
        LinkKind::Ip => RAW,
    };
    while !stopped.load(Ordering::Relaxed) {
        let Some(octets) = tap.receive().with_context(|| format!("cannot listen to {interface}"))? else {
            continue;
        };
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        if lines.take(&Frame { link: Some(link), time, bytes: octets, cut: false }).is_break() {
            break;
        }
    }
    Ok(())
}
