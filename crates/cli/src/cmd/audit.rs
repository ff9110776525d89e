//! `hashlane audit`

mod json;
mod own_table;
mod page;
mod table;
mod traffic;

use crate::output::{self, progress::Progress};
use anyhow::{Context as _, Result, bail};
use clap::Args;
use hashlane_audit::audit::{Report, Settings, audit};
use hashlane_audit::epsilon::vectors;
use hashlane_audit::library::{Launcher, Library, Signature, child_main};
use hashlane_audit::registered::{Registered, subjects};
use hashlane_audit::subject::{Lengths, Subject};
use hashlane_audit::table::{Geometry, MAX_KEYS};
use hashlane_lab::nearest::suggestion;
use hashlane_lab::study::Step;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Tell if a hash table can be flooded, for any hash function, with the keys that do it.
#[derive(Debug, Args)]
#[command(after_help = "\
It audits functions and tables on this machine. It opens no connection.

Exit code: 0 if no attack floods the table, 1 if one does without the seed, 2 if the audit or the function
fails.

Examples:
  hashlane audit                                every registered scheme, every attack
  hashlane audit --scheme xxh3 --keys 36        one hash, keys of 36 bytes
  hashlane audit --table linux-ehash --scheme ehash/jhash2 --page audit.html
  hashlane audit --scheme wyhash --write-keys keys.txt
  hashlane audit --library ./libmyhash.so --symbol hash_flow \\
      --signature 'u64(const u8*, usize, u64 seed)'
  hashlane audit --table ./libmytable.so        a table of your own: hashlane_audit.h
  hashlane audit --pcap T.pcap --function ehash depth of buckets, queues and paths of real traffic
  hashlane audit --tuples T.csv --function rss --queues 16 --try-keys 1000
  hashlane audit --names T.txt --function siphash-1-3 --buckets 4096")]
pub(crate) struct Audit {
    /// Audit this scheme alone; may be repeated. A wrong id lists them all
    #[arg(long = "scheme", value_name = "ID", conflicts_with = "library")]
    schemes: Vec<String>,
    /// Shared object with a hash function of your own, which runs in a process of its own
    #[arg(long, value_name = "FILE", requires_all = ["symbol", "signature"])]
    library: Option<PathBuf>,
    /// Name of the function in --library
    #[arg(long, value_name = "NAME", requires = "library")]
    symbol: Option<String>,
    /// Type of the function in --library, as in C
    #[arg(long, value_name = "TYPE", requires = "library")]
    signature: Option<Signature>,
    /// Seconds that a shared object may take for 65,536 hashes, or for one set of keys
    #[arg(long, value_name = "SECONDS", default_value_t = 10,
        value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Bytes of a key; each attack chooses them if not given
    #[arg(long = "keys", value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=4096))]
    length: Option<u32>,
    /// Keys that an attack makes, at most
    #[arg(long, value_name = "N", default_value_t = 4096,
        value_parser = clap::value_parser!(u32).range(16..=MAX_KEYS as i64))]
    count: u32,
    /// Table: chained, linear, swiss, hashbrown, linux-ehash, a file of TOML (docs/audit.md), or a shared
    /// object with a table of your own (hashlane_audit.h)
    #[arg(long, value_name = "TABLE", default_value = "chained")]
    table: String,
    /// Seed of all random choices; drawn anew if not given, and printed
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write the keys of each flood to a file, for a test of your own table
    #[arg(long, value_name = "FILE")]
    write_keys: Option<PathBuf>,
    /// Write a page with one picture per verdict
    #[arg(long, value_name = "FILE.html")]
    page: Option<PathBuf>,
    #[command(flatten)]
    traffic: traffic::Traffic,
    /// Load a library and serve requests on standard input
    #[arg(long, hide = true, exclusive = true)]
    serve_library: bool,
}

/// Exit code of an audit that failed, or found a function that fails.
const FAILED: u8 = 2;

impl Audit {
    pub(crate) fn run(self) -> Result<ExitCode> {
        if self.serve_library {
            child_main();
        }
        match self.audit() {
            Ok(code) => Ok(code),
            Err(error) if output::is_broken_pipe(&error) => Err(error),
            // Another error has the code of a table that can be flooded.
            Err(error) => {
                output::tell(&format!("hashlane: {error:#}"));
                Ok(ExitCode::from(FAILED))
            }
        }
    }

    fn audit(&self) -> Result<ExitCode> {
        if self.traffic.is_chosen() {
            return self.traffic.run(self.seed.map_or_else(random_seed, Ok)?, self.json);
        }
        if own_table::is_library(&self.table) {
            return own_table::run(self);
        }
        let settings = Settings {
            geometry: geometry(&self.table)?,
            length: self.length.map(|length| length as usize),
            count: self.count as usize,
            seed: self.seed.map_or_else(random_seed, Ok)?,
        };
        let reports = match &self.library {
            Some(path) => vec![self.of_library(path, &settings)?],
            None => of_schemes(chosen(&self.schemes)?, &settings)?,
        };
        if let Some(path) = &self.write_keys {
            std::fs::write(path, keys_text(&reports))
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        if let Some(path) = &self.page {
            let mut subjects = subjects();
            let page = page::html(&reports, &settings, &mut subjects);
            std::fs::write(path, page).with_context(|| format!("cannot write {}", path.display()))?;
        }
        let text = match self.json {
            true => json::text(&reports, &settings)?,
            false => {
                let text = table::text(&reports, &settings, self.write_keys.as_deref());
                if self.library.is_none() && self.schemes.is_empty() {
                    text + &table::not_audited()
                } else {
                    text
                }
            }
        };
        output::print(&text)?;
        Ok(exit_code(&reports))
    }

    fn of_library(&self, path: &Path, settings: &Settings) -> Result<Report> {
        let (Some(symbol), Some(signature)) = (&self.symbol, &self.signature) else {
            bail!("--library needs --symbol and --signature");
        };
        let lengths = match (signature.has_length(), settings.length) {
            (true, _) => Lengths::Any,
            (false, Some(length)) => Lengths::Exactly(length),
            (false, None) => {
                bail!("{symbol} takes no length ({signature}): state the bytes of a key with --keys")
            }
        };
        let limit = Duration::from_secs(self.timeout);
        let mut library = Library::load(launcher()?, path, symbol, signature, lengths, limit)
            .with_context(|| format!("cannot use {}", path.display()))?;
        let progress = Progress::new("audit")?;
        let total = hashlane_audit::attack::attacks().len() + 2;
        let mut done = 0;
        let report = audit(&mut library, settings, &[], &mut |what| {
            progress.show(Step { done, total, workload: symbol, what });
            done = (done + 1).min(total - 1);
        });
        Ok(report)
    }
}

/// The registered functions of these ids, or all.
fn chosen(ids: &[String]) -> Result<Vec<Registered>> {
    let mut all = subjects();
    if let Some(unknown) = ids.iter().find(|id| !all.iter().any(|subject| subject.info().id == **id)) {
        let ids: Vec<&str> = all.iter().map(|subject| subject.info().id.as_str()).collect();
        let near = match suggestion(unknown, ids.iter().copied()) {
            none if none.is_empty() => format!("; known: {}", ids.join(", ")),
            near => near,
        };
        bail!("unknown scheme {unknown:?}{near}");
    }
    all.retain(|subject| ids.is_empty() || ids.contains(&subject.info().id));
    Ok(all)
}

/// Audits functions on all processors, and returns the reports in the order of the functions.
fn of_schemes(subjects: Vec<Registered>, settings: &Settings) -> Result<Vec<Report>> {
    let pairs = vectors::committed().map_err(|(name, error)| anyhow::anyhow!("vector {name}: {error}"))?;
    let progress = Progress::new("audit")?;
    let total = subjects.len();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(0));
    let reports: Vec<Mutex<Option<Report>>> = subjects.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some(subject) = subjects.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut subject = subject.clone();
            let id = subject.info().id.clone();
            let number = subjects.iter().position(|other| other.info().id == id);
            let report = audit(&mut subject, settings, &pairs, &mut |what| {
                let done = *done.lock().unwrap_or_else(PoisonError::into_inner);
                progress.show(Step { done, total, workload: &id, what });
            });
            *done.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            if let Some(place) = number.and_then(|number| reports.get(number)) {
                *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
            }
        }
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(total);
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let reports =
        reports.into_iter().map(|report| report.into_inner().unwrap_or_else(PoisonError::into_inner));
    reports.collect::<Option<_>>().context("an audit has ended without a report")
}

/// The start of this program as the process of a library.
fn launcher() -> Result<Launcher> {
    Launcher::this_program(["audit", "--serve-library"]).context("cannot start the process of the library")
}

/// The named table, or that of a file.
fn geometry(name: &str) -> Result<Geometry> {
    let named = Geometry::named();
    if let Some(geometry) = named.iter().find(|geometry| geometry.name == name) {
        return Ok(geometry.clone());
    }
    let known = named.iter().map(|geometry| geometry.name.as_str());
    if !name.contains(['.', '/']) {
        let near = suggestion(name, known.clone());
        let all: Vec<&str> = known.collect();
        bail!(
            "unknown table {name:?}{near}{}",
            match near.is_empty() {
                true => format!("; known: {}, or a file FILE.toml", all.join(", ")),
                false => String::new(),
            }
        );
    }
    let text = std::fs::read_to_string(name).with_context(|| format!("cannot read the table {name}"))?;
    Geometry::parse(name, &text).with_context(|| format!("{name} states no table"))
}

fn random_seed() -> Result<u64> {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).context("no random seed; state one with --seed")?;
    Ok(u64::from(u32::from_le_bytes(bytes)))
}

fn exit_code(reports: &[Report]) -> ExitCode {
    let any = |is: fn(&Report) -> bool| reports.iter().any(is);
    match (any(|report| report.verdict.is_faulty()), any(|report| report.verdict.is_floodable())) {
        (true, _) => ExitCode::from(FAILED),
        (false, true) => ExitCode::from(1),
        (false, false) => ExitCode::SUCCESS,
    }
}

/// Text of the file of keys: for each flood a line of comment, then one key a line in hexadecimal digits.
fn keys_text(reports: &[Report]) -> String {
    let mut text = String::new();
    for report in reports {
        let Some(flood) = report.verdict.flood() else { continue };
        let seed = vectors::hex(&flood.seed.to_bytes());
        // A `String` takes everything.
        let _ = writeln!(text, "# {}: {}; a seed: {seed}", report.info.id, report.verdict.word());
        for key in flood.keys.iter() {
            let _ = writeln!(text, "{}", vectors::hex(key));
        }
    }
    text
}
