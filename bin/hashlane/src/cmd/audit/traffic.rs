//! `hashlane audit --pcap T --function rss`

mod json;
mod text;

use crate::output::{self, progress::Progress};
use anyhow::{Context as _, Result, bail};
use clap::{ArgGroup, Args};
use hashlane_audit::draw::Draw;
use hashlane_audit::registered::subjects;
use hashlane_audit::subject::AuditedHash as _;
use hashlane_audit::traffic::depth::Depths;
use hashlane_audit::traffic::entropy::{self, Field};
use hashlane_audit::traffic::flows::{Flow, Flows};
use hashlane_audit::traffic::function::{Function, NAMED};
use hashlane_audit::traffic::{MOST_KEYS, ecmp, names, rss, tuples};
use hashlane_lab::study::Step;
use hashlane_link::capture::FormatError;
use hashlane_stats::nearest::suggestion;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Options of the audit of real traffic.
#[derive(Debug, Args)]
#[command(next_help_heading = "Real traffic", group = ArgGroup::new("traffic")
    .args(["pcap", "names", "tuples"])
    .requires("function")
    .conflicts_with_all(
        ["target", "schemes", "library", "secret_key", "timeout", "length", "seed_bits", "count", "table",
            "write_keys", "page", "picture", "all", "out", "minutes"]))]
#[group(skip)]
pub(super) struct Traffic {
    /// Spread the flows of this capture (pcap, pcapng) over buckets, queues and paths; - for standard input
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Spread the names of this file over buckets: one in a line, each a path or a URI; - for standard input
    #[arg(long, value_name = "FILE")]
    names: Option<PathBuf>,
    /// Spread the flows of this file: lines of src,dst,sport,dport and maybe proto, each a packet; - for
    /// standard input
    #[arg(long, value_name = "FILE.csv")]
    tuples: Option<PathBuf>,
    /// Function that chooses the bucket: rss, ecmp, ehash, or the id of a scheme
    #[arg(long, value_name = "NAME", requires = "traffic")]
    function: Option<String>,
    /// Buckets of the table [default: the power of two at or above the number of distinct keys]
    #[arg(long, value_name = "N", requires = "traffic",
        value_parser = clap::value_parser!(u32).range(1..=MOST_BUCKETS))]
    buckets: Option<u32>,
    /// Receive queues of the network card
    #[arg(long, value_name = "N", default_value_t = 8, requires = "traffic", conflicts_with = "names",
        value_parser = clap::value_parser!(u32).range(1..=rss::ENTRIES as i64))]
    queues: u32,
    /// Paths of equal cost
    #[arg(long, value_name = "N", default_value_t = 8, requires = "traffic", conflicts_with = "names",
        value_parser = clap::value_parser!(u32).range(1..=1024))]
    paths: u32,
    /// Random keys to try, for the queues and for the paths
    #[arg(long, value_name = "N", default_value_t = 256, requires = "traffic", conflicts_with = "names",
        value_parser = clap::value_parser!(u32).range(0..=65_536))]
    try_keys: u32,
}

/// Largest table: 64 MiB of counts.
const MOST_BUCKETS: i64 = 1 << 24;

/// Packets or lines between two steps of the progress.
const EVERY: u64 = 1 << 16;

/// Steps of the progress: reading, buckets, queues, paths, entropy.
const STEPS: usize = 5;

/// Result of an audit of real traffic.
struct Report {
    /// The file and its keys.
    input: String,
    function: String,
    seed: u64,
    depths: Depths,
    /// Spreads of flows over queues and paths.
    spreads: Option<Spreads>,
    fields: Vec<Field>,
}

struct Spreads {
    flows: usize,
    rss: rss::Report,
    ecmp: ecmp::Report,
}

impl Traffic {
    /// True if a file of traffic is given.
    pub(super) fn is_chosen(&self) -> bool {
        self.pcap.is_some() || self.names.is_some() || self.tuples.is_some()
    }

    /// Prints the spread of the traffic.
    pub(super) fn run(&self, seed: u64, json: bool) -> Result<ExitCode> {
        let name = self.function.as_deref().context("real traffic needs --function")?;
        let mut function = named(name)?;
        let progress = Progress::new("audit")?;
        let show = |done, path: &Path, what: &str| {
            progress.show(Step { done, total: STEPS, workload: &shown(path), what });
        };
        let (path, read): (&Path, Reader) = match (&self.pcap, &self.tuples, &self.names) {
            (Some(path), ..) => (path, of_capture),
            (_, Some(path), _) => (path, of_tuples),
            (.., Some(path)) => {
                let report = self.of_names(path, name, &mut function, seed, &show)?;
                drop(progress);
                return print(&report, json);
            }
            (None, None, None) => bail!("real traffic needs --pcap, --tuples or --names"),
        };
        let found = read(path, &mut |packets| show_reading(&show, path, packets))?;
        let report = self.of_flows(path, name, &mut function, seed, &found, &show)?;
        drop(progress);
        print(&report, json)
    }

    fn of_flows(
        &self,
        path: &Path,
        name: &str,
        function: &mut Function,
        seed: u64,
        found: &Flows,
        show: &Show<'_>,
    ) -> Result<Report> {
        let flows: &[Flow] = &found.flows;
        let mut draw = Draw::new(seed);
        show(1, path, "filling buckets");
        let hashes = function.hash_flows(&draw.key(), flows)?;
        let depths = self.depths(&hashes);
        let tried = |done, what: &str, number: u32| {
            show(done, path, &format!("{what}, key {} of {}", number + 1, self.try_keys));
        };
        let mut queues = |number| tried(2, "queues", number);
        let rss = rss::Report::of(flows, self.queues as usize, self.try_keys, &mut draw, &mut queues);
        let mut paths = |number| tried(3, "paths", number);
        let ecmp = ecmp::Report::of(flows, self.paths as usize, self.try_keys, &mut draw, &mut paths);
        show(4, path, "counting values of fields");
        Ok(Report {
            input: format!("{}: {found}", shown(path)),
            function: name.to_owned(),
            seed,
            depths,
            spreads: Some(Spreads { flows: flows.len(), rss, ecmp }),
            fields: entropy::of_flows(flows),
        })
    }

    fn of_names(
        &self,
        path: &Path,
        name: &str,
        function: &mut Function,
        seed: u64,
        show: &Show<'_>,
    ) -> Result<Report> {
        if !function.takes_names() {
            bail!("--function {name} hashes addresses and ports, not names; state a scheme, as siphash-1-3");
        }
        let file = BufReader::new(open(path)?);
        let found = names::read(file, MOST_KEYS, &mut |lines| show_reading(show, path, lines))
            .with_context(|| shown(path))?;
        if found.names.is_empty() {
            bail!("no names in {}; write one name per line, such as /usr/share or ndn:/a/b", shown(path));
        }
        show(1, path, "filling buckets");
        let hashes = function.hash_names(&Draw::new(seed).key(), &found.names)?;
        let hashes = hashes.with_context(|| format!("--function {name} hashes no names"))?;
        show(4, path, "counting values of components");
        Ok(Report {
            input: format!("{}: {found}", shown(path)),
            function: name.to_owned(),
            seed,
            depths: self.depths(&hashes),
            spreads: None,
            fields: entropy::of_names(&found.names),
        })
    }

    fn depths(&self, hashes: &[u64]) -> Depths {
        let buckets = self.buckets.map_or(hashes.len().next_power_of_two(), |buckets| buckets as usize);
        Depths::of(hashes, buckets)
    }
}

/// Shows a step of the progress: steps done, the file, the work.
type Show<'a> = dyn Fn(usize, &Path, &str) + 'a;

/// Reader of a file of flows.
type Reader = fn(&Path, &mut dyn FnMut(u64)) -> Result<Flows>;

fn of_capture(path: &Path, progress: &mut dyn FnMut(u64)) -> Result<Flows> {
    let file = shown(path);
    let found = match Flows::from_capture(open(path)?, MOST_KEYS, progress) {
        Ok(found) => found,
        Err(FormatError::Read(error)) => return Err(error).with_context(|| format!("cannot read {file}")),
        Err(FormatError::NotACapture(why)) => {
            bail!("{file}: not a pcap or pcapng file ({why}); `tcpdump -w FILE` writes one")
        }
    };
    if found.seen == 0 && found.broken.is_none() {
        bail!("{file} is an empty capture: it has no packets");
    }
    if found.flows.is_empty() {
        bail!("{file} has no packet with ports (TCP, UDP, SCTP, DCCP) over IP: {found}");
    }
    Ok(found)
}

fn of_tuples(path: &Path, progress: &mut dyn FnMut(u64)) -> Result<Flows> {
    let file = BufReader::new(open(path)?);
    let found = tuples::read(file, MOST_KEYS, progress).with_context(|| shown(path))?;
    if found.flows.is_empty() {
        bail!("no flows in {}; write one in a line: src,dst,sport,dport[,proto]", shown(path));
    }
    Ok(found)
}

/// A file, or standard input.
fn open(path: &Path) -> Result<Box<dyn Read>> {
    Ok(match is_standard_input(path) {
        true => Box::new(io::stdin().lock()),
        false => Box::new(File::open(path).with_context(|| format!("cannot read {}", path.display()))?),
    })
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// Name of a file in messages.
fn shown(path: &Path) -> String {
    if is_standard_input(path) { "standard input".to_owned() } else { path.display().to_string() }
}

fn show_reading(show: &Show<'_>, path: &Path, read: u64) {
    if read.is_multiple_of(EVERY) {
        show(0, path, &format!("{read} read"));
    }
}

/// The function of that name.
fn named(name: &str) -> Result<Function> {
    if let Some(function) = Function::named(name) {
        return Ok(function);
    }
    let subjects = subjects();
    let known = NAMED.into_iter().chain(subjects.iter().map(|subject| subject.info().id.as_str()));
    let near = match suggestion(name, known.clone()) {
        none if none.is_empty() => format!("; known: {}", known.collect::<Vec<_>>().join(", ")),
        near => near,
    };
    bail!("unknown function {name:?}{near}")
}

fn print(report: &Report, json: bool) -> Result<ExitCode> {
    output::print_verdict(&if json { json::text(report)? } else { text::text(report) })?;
    Ok(ExitCode::SUCCESS)
}
