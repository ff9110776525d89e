//! `hashlane audit`

mod bias;
mod identity;
mod json;
mod own_table;
mod page;
mod picture;
mod referee;
mod search;
mod table;
mod traffic;

use crate::output::{self, progress::Progress};
use anyhow::{Context as _, Result, bail};
use clap::Args;
use hashlane_audit::attack::Knowledge;
use hashlane_audit::audit::{Epsilon, Report, Settings};
use hashlane_audit::curve::Curve;
use hashlane_audit::epsilon::vectors;
use hashlane_audit::library::{Launcher, Library, Signature, child_main};
use hashlane_audit::registered::{Registered, subjects};
use hashlane_audit::subject::{AuditedHash, Lengths, SubjectInfo};
use hashlane_audit::table::{Geometry, MAX_KEYS};
use hashlane_audit::verdict::Verdict;
use hashlane_hash::scheme::Keying;
use hashlane_lab::report::{Block, svg_file};
use hashlane_lab::study::Step;
use hashlane_stats::nearest::suggestion;
use std::cell::Cell;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
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

It reports, for each function: the verdict on floods; ε, the share of seeds for which the worst
pair collides; bias, the same for buckets of 2^4 to 2^16; identity, the work to make two keys with
one hash, for stores that compare no key. The exit code depends on floods alone.

Exit code: 0 if no attack floods the table, 1 if one does without the seed, 2 if the audit, the
function or the table fails. docs/audit.md says which of several verdicts counts.

Duration: 1 to 20 s a function, about half a minute for all. --minutes N adds up to N minutes for
each function that no attack floods without the seed.

Types of --signature, in C; parameters may stand in any order, and the seed may be absent:
  uint64_t f(const uint8_t *data, size_t len, uint64_t seed)        bytes; a seed of 64 bits
  uint32_t f(const void *data, uint32_t len, uint32_t seed)         bytes; a seed of 32 bits
  uint64_t f(const uint8_t *data, size_t len, const uint8_t *seed)  bytes; a seed of 16 bytes
  uint64_t f(const uint8_t *data, size_t len, const uint8_t *key)   the same, and it stays secret
  uint64_t f(uint64_t key, uint64_t seed)                           an integer of 64 bits
  uint32_t f(uint32_t key, uint32_t seed)                           an integer of 32 bits
A seed of 128 bits, or of two words, is a pointer to its 16 bytes.

Examples:
  hashlane audit ./libmyhash.so --symbol hash_flow \\
      --signature 'uint64_t f(const uint8_t *data, size_t len, uint64_t seed)'
  hashlane audit                                every registered scheme, every attack
  hashlane audit --list                         their ids
  hashlane audit --scheme xxh3 --keys 36        one hash, keys of 36 bytes
  hashlane audit --table linux-ehash --scheme ehash/jhash2 --page audit.html
  hashlane audit --scheme wyhash --write-keys keys.txt
  hashlane audit --all --markdown --out keys    a dated table of all functions, and their keys
  hashlane audit --scheme wyhash --scheme siphash-1-3 --picture audit.svg
  hashlane audit --scheme xxh64 --minutes 2 --without-priors
                                                a search that knows nothing of the function
  hashlane audit ./libmyhash.so --symbol mix64 --seed-bits 46 \\
      --signature 'u64(u64 key, u64 seed)'      integers, under a seed of 46 bits
  hashlane audit ./libmyhash.so --symbol prf --secret-key \\
      --signature 'u64(const u8*, usize, u64 seed)'
                                                a seed that never leaks
  hashlane audit --table ./libmytable.so        a table of your own: hashlane_audit.h
  hashlane audit --pcap T.pcap --function ehash
                                                buckets, queues and paths of real traffic
  hashlane audit --tuples T.csv --function rss --queues 16 --try-keys 1000
  hashlane audit --names T.txt --function siphash-1-3 --buckets 4096")]
pub(crate) struct Audit {
    /// Scheme to audit, as by --scheme, or shared object, as by --library
    #[arg(value_name = "SCHEME|FILE", conflicts_with_all = ["schemes", "library"])]
    target: Option<String>,
    /// Audit this scheme alone; may be repeated
    #[arg(long = "scheme", value_name = "ID", conflicts_with = "library")]
    schemes: Vec<String>,
    /// Shared object with your own hash function, which runs in a separate process
    #[arg(long, value_name = "FILE", requires_all = ["symbol", "signature"])]
    library: Option<PathBuf>,
    /// Name of the function in the shared object
    #[arg(long, value_name = "NAME")]
    symbol: Option<String>,
    /// Type of the function in the shared object, as in C; the types are below
    #[arg(long, value_name = "TYPE")]
    signature: Option<Signature>,
    /// The seed of the function in the shared object stays secret: try no attack that knows it
    #[arg(long)]
    secret_key: bool,
    /// List the registered schemes, with their sources, and audit none
    #[arg(long, exclusive = true)]
    list: bool,
    /// Seconds that a shared object may take for 65,536 hashes, or for one set of keys
    #[arg(long, value_name = "SECONDS", default_value_t = 10,
        value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Bytes of every key; each attack chooses them if not given, and an integer has those of its type
    #[arg(long = "keys", value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=4096))]
    length: Option<u32>,
    /// Bits of the seed, the lowest ones, if they are fewer than its type has; the others are 0
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=128))]
    seed_bits: Option<u32>,
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
    /// Write the keys of each flood to a file, for a test of your own table. A seed in it is 16 bytes in
    /// hexadecimal digits, as with --out and --json: a function of a number takes the first 4 or 8 of them
    /// as a little-endian number
    #[arg(long, value_name = "FILE")]
    write_keys: Option<PathBuf>,
    /// Write a page with one picture per verdict
    #[arg(long, value_name = "FILE.html")]
    page: Option<PathBuf>,
    /// Write one picture of all: hostile keys against entries compared
    #[arg(long, value_name = "FILE.svg")]
    picture: Option<PathBuf>,
    #[command(flatten)]
    referee: referee::Referee,
    #[command(flatten)]
    search: search::Search,
    #[command(flatten)]
    traffic: traffic::Traffic,
    /// Load a library and serve requests on standard input
    #[arg(long, hide = true, exclusive = true)]
    serve_library: bool,
}

/// Line below a verdict without a flood on a function of the user's own.
const MEANS_LITTLE: &str = "For a function of your own, a verdict without a flood means little: most \
    attacks are made for published\nfunctions (docs/audit.md, Limits).\n";

/// Exit code of an audit that failed, or found a function that fails.
const FAILED: u8 = 2;

impl Audit {
    pub(crate) fn run(self) -> Result<ExitCode> {
        if self.serve_library {
            child_main();
        }
        // An error that `main` reports would have the code of a table that can be flooded.
        let json = self.json;
        Ok(self.with_target().and_then(|chosen| chosen.audit()).unwrap_or_else(|error| {
            output::tell(&format!("hashlane: {error:#}"));
            if json {
                print_error(&format!("{error:#}"));
            }
            ExitCode::from(FAILED)
        }))
    }

    /// Prints an error of the arguments as JSON, if they ask for it: before the command is started, clap ends
    /// the process.
    pub(crate) fn print_usage_error(arguments: &[OsString], parse: impl FnOnce() -> clap::error::Result<()>) {
        let is_asked = |arguments: &[OsString]| arguments.iter().any(|argument| argument == "--json");
        let [verb, rest @ ..] = arguments else { return };
        if verb != "audit" || !is_asked(rest) {
            return;
        }
        if let Err(error) = parse()
            && error.use_stderr()
        {
            let text = error.to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            print_error(text.split("\n\n").next().unwrap_or(text).trim());
        }
    }

    /// The options with the target as `--library` or `--scheme`.
    fn with_target(mut self) -> Result<Self> {
        if let Some(target) = self.target.take() {
            let is_scheme = subjects().iter().any(|subject| subject.info().id == target);
            match !is_scheme && (target.contains('/') || Path::new(&target).exists()) {
                true => self.library = Some(target.into()),
                false => self.schemes.push(target),
            }
        }
        if self.library.is_none() {
            let symbol = self.symbol.as_ref().map(|_| "--symbol");
            let signature = self.signature.as_ref().map(|_| "--signature");
            let secret = self.secret_key.then_some("--secret-key");
            if let Some(option) = symbol.or(signature).or(secret) {
                bail!("{option} is for a function of a shared object: state the file, as in ./libmyhash.so");
            }
        }
        Ok(self)
    }

    fn audit(&self) -> Result<ExitCode> {
        if self.list {
            let ids = subjects().into_iter().map(|subject| {
                let SubjectInfo { id, source, .. } = subject.info();
                format!("{id}: {source}\n")
            });
            output::print(&ids.collect::<String>())?;
            return Ok(ExitCode::SUCCESS);
        }
        if self.traffic.is_chosen() {
            return self.traffic.run(self.seed.map_or_else(random_seed, Ok)?, self.json);
        }
        let files = [&self.write_keys, &self.page, &self.picture].map(Option::as_deref);
        self.check_distinct(files)?;
        files.into_iter().flatten().try_for_each(check_writable)?;
        self.referee.check(self.json)?;
        self.search.prepare()?;
        let printed = match own_table::is_library(&self.table) {
            true => own_table::run(self)?,
            false => self.of_functions()?,
        };
        let texts = [Some(printed.keys), Some(printed.page), printed.picture];
        for (path, text) in files.into_iter().zip(texts) {
            let Some(path) = path else { continue };
            let Some(text) = text else {
                output::tell(&format!("{} is not written: no function gives hashes to draw", path.display()));
                continue;
            };
            std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        output::print_verdict(&printed.text)?;
        Ok(ExitCode::from(printed.code))
    }

    /// Checks that no file is written twice, and none that is read.
    fn check_distinct(&self, files: [Option<&Path>; 3]) -> Result<()> {
        let read = [("--library", self.library.as_deref()), ("--table", Some(Path::new(&self.table)))];
        let written = ["--write-keys", "--page", "--picture"].into_iter().zip(files);
        let all: Vec<(&str, &Path)> =
            read.into_iter().chain(written).filter_map(|(option, path)| Some((option, path?))).collect();
        for (number, (option, path)) in all.iter().enumerate() {
            let same = all.iter().take(number).find(|(_, other)| place(other) == place(path));
            // The same library may have a hash and a table.
            if let Some((other, _)) = same.filter(|_| *option != "--table") {
                bail!("{option} and {other} name one file, {}: name another", path.display());
            }
        }
        Ok(())
    }

    /// Audits registered functions, or a library's.
    fn of_functions(&self) -> Result<Printed> {
        let settings = Settings {
            geometry: geometry(&self.table)?,
            length: self.length.map(|length| length as usize),
            seed_bits: self.seed_bits,
            count: self.count as usize,
            seed: self.seed.map_or_else(random_seed, Ok)?,
        };
        let mut table = None;
        let wants_curves = self.page.is_some() || self.picture.is_some();
        let (reports, curves) = match &self.library {
            Some(path) => {
                let mut library = self.load(path, &settings)?;
                check_seed_bits(library.info(), self.seed_bits)?;
                let reports = vec![self.of_library(&mut library, &settings)?];
                self.write_keys(vec![&mut library], &reports, &settings)?;
                let asked: Vec<&mut dyn AuditedHash> = vec![&mut library];
                let curves = wants_curves.then(|| picture::curves(&reports, &settings, asked));
                (reports, curves.transpose()?)
            }
            None => {
                let mut subjects = chosen(&self.schemes)?;
                subjects.iter().try_for_each(|subject| check_seed_bits(subject.info(), self.seed_bits))?;
                let reports = self.of_schemes(&subjects, &settings)?;
                self.write_keys(dynamic(&mut subjects), &reports, &settings)?;
                if self.referee.is_table() {
                    table = Some(self.referee.text(&mut subjects, &reports, &settings, self.json)?);
                }
                let asked = dynamic(&mut subjects);
                let curves = wants_curves.then(|| picture::curves(&reports, &settings, asked));
                (reports, curves.transpose()?)
            }
        };
        let curves = curves.unwrap_or_else(|| reports.iter().map(|_| None).collect());
        Ok(Printed {
            text: table.map_or_else(|| self.text(&reports, &settings), Ok)?,
            keys: keys_text(&reports),
            page: page_of(&reports, &curves, &settings)?,
            picture: picture_of(&reports, &curves),
            code: exit_code(&reports),
        })
    }

    /// Writes the keys of functions that have not failed to the folder of `--out`.
    fn write_keys(
        &self,
        subjects: Vec<&mut dyn AuditedHash>,
        reports: &[Report],
        settings: &Settings,
    ) -> Result<()> {
        match self.referee.folder() {
            Some(folder) => referee::write_keys(folder, subjects, reports, settings),
            None => Ok(()),
        }
    }

    fn text(&self, reports: &[Report], settings: &Settings) -> Result<String> {
        if self.json {
            return json::of_functions(reports, settings);
        }
        let mut text = table::text(reports, settings, self.write_keys.as_deref());
        if self.library.is_none() && self.schemes.is_empty() {
            text += &table::not_audited();
        }
        let has_flood = |report: &Report| match &report.verdict {
            Verdict::PairAlways => false,
            verdict => verdict.is_floodable() || verdict.is_faulty(),
        };
        if self.library.is_some() && !reports.iter().any(has_flood) {
            text.push_str(MEANS_LITTLE);
        }
        Ok(text)
    }

    /// Loads the library.
    fn load(&self, path: &Path, settings: &Settings) -> Result<Library> {
        let (Some(symbol), Some(signature)) = (&self.symbol, &self.signature) else {
            bail!(
                "{} has functions of any names and types: state --symbol NAME and --signature TYPE, as in \
                 --signature 'u64(const u8* data, usize len, u64 seed)'",
                path.display()
            );
        };
        let signature = match self.secret_key {
            true => &signature
                .clone()
                .with_secret()
                .with_context(|| format!("{symbol} takes no seed ({signature}): leave out --secret-key"))?,
            false => signature,
        };
        let lengths = match (settings.length, signature.integer_bytes()) {
            (Some(length), _) => Lengths::Exactly(length),
            (None, Some(bytes)) => Lengths::Exactly(bytes),
            (None, None) if signature.has_length() => Lengths::Any,
            (None, None) => {
                bail!("{symbol} takes no length ({signature}): state the bytes of a key with --keys")
            }
        };
        let limit = Duration::from_secs(self.timeout);
        let progress = Progress::new("audit")?;
        progress.show(Step { done: 0, total: 1, workload: symbol, what: "loading" });
        Library::load(launcher()?, path, symbol, signature, lengths, limit)
            .with_context(|| format!("cannot use {}", path.display()))
    }

    fn of_library(&self, library: &mut Library, settings: &Settings) -> Result<Report> {
        let progress = Progress::new("audit")?;
        let total = hashlane_audit::attack::attacks().len() + 2;
        let calls = Cell::new(0);
        let done = || calls.replace((calls.get() + 1).min(total - 1));
        Ok(self.search.audit(library, settings, &[], (&progress, &done, total)))
    }

    /// Audits functions on all processors, and returns the reports in the order of the functions.
    fn of_schemes(&self, subjects: &[Registered], settings: &Settings) -> Result<Vec<Report>> {
        let pairs =
            vectors::committed().map_err(|(name, error)| anyhow::anyhow!("vector {name}: {error}"))?;
        let progress = Progress::new("audit")?;
        let total = subjects.len();
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let reports: Vec<Mutex<Option<Report>>> = subjects.iter().map(|_| Mutex::new(None)).collect();
        let work = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some((subject, place)) = subjects.get(number).zip(reports.get(number)) else { break };
                let shown = (&progress, &(|| done.load(Ordering::Relaxed)) as &dyn Fn() -> usize, total);
                let report = self.search.audit(&mut subject.clone(), settings, &pairs, shown);
                done.fetch_add(1, Ordering::Relaxed);
                *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
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
}

/// The functions as trait objects.
fn dynamic(subjects: &mut [Registered]) -> Vec<&mut dyn AuditedHash> {
    subjects.iter_mut().map(|subject| subject as &mut dyn AuditedHash).collect()
}

/// Prints an error as JSON. The reader may be gone, and the exit code says the same.
fn print_error(error: &str) {
    if let Ok(text) = json::of_error(error) {
        let _ = output::print(&text);
    }
}

/// Results of an audit: the text that is printed, the contents of files, and the exit code.
struct Printed {
    text: String,
    keys: String,
    page: String,
    picture: Option<String>,
    code: u8,
}

/// Checks that a seed of `bits` bits is one of this function.
fn check_seed_bits(info: &SubjectInfo, bits: Option<u32>) -> Result<()> {
    let (id, Some(bits)) = (&info.id, bits) else { return Ok(()) };
    match info.keying {
        Keying::None => bail!("{id} takes no seed: leave out --seed-bits"),
        Keying::Seed(most) | Keying::Secret(most) if most < bits => {
            bail!("{id} takes a seed of {most} bits: --seed-bits must be at most {most}, not {bits}")
        }
        Keying::Seed(_) | Keying::Secret(_) => Ok(()),
    }
}

/// Path of a file without links, also of one that is not there yet.
fn place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let in_folder = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}

/// Checks that a file can be written, before the work begins. It changes nothing.
fn check_writable(path: &Path) -> Result<()> {
    let is_new = !path.exists();
    let opened = File::options().append(true).create(true).open(path);
    opened.with_context(|| format!("cannot write {}", path.display()))?;
    if is_new {
        std::fs::remove_file(path).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn page_of(reports: &[Report], curves: &[Option<Curve>], settings: &Settings) -> Result<String> {
    let parts: Vec<page::Part<'_>> = reports
        .iter()
        .zip(curves)
        .map(|(report, curve)| page::Part {
            name: &report.info.id,
            sentence: report.sentence(),
            facts: vec![
                format!("Source: {}", report.info.source),
                format!("ε: {}", table::epsilon_sentence(&report.epsilon)),
            ],
            curve: curve.as_ref().map(|curve| (curve, report.verdict.flood().is_some())),
        })
        .collect();
    page::html(&table::describe(&settings.geometry), settings.seed, &parts)
}

/// One picture of all functions that give hashes.
fn picture_of(reports: &[Report], curves: &[Option<Curve>]) -> Option<String> {
    let drawn: Vec<(&Report, &Curve)> =
        reports.iter().zip(curves).filter_map(|(report, curve)| Some((report, curve.as_ref()?))).collect();
    let plots = match drawn[..] {
        [] => return None,
        [(report, curve)] => picture::of_one(curve, report.verdict.flood().is_some(), String::new()),
        _ => picture::of_many(&drawn),
    };
    svg_file(&Block::Lines(plots))
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

/// The start of this program as the process of a library.
fn launcher() -> Result<Launcher> {
    Launcher::this_program(["audit", "--serve-library"]).context("cannot start the process of the library")
}

/// The named table, or a file's.
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

fn exit_code(reports: &[Report]) -> u8 {
    let any = |is: fn(&Report) -> bool| reports.iter().any(is);
    match (any(|report| report.verdict.is_faulty()), any(|report| report.verdict.is_floodable())) {
        (true, _) => FAILED,
        (false, flooded) => u8::from(flooded),
    }
}

/// Text of the file of keys: for each verdict a line of comment, then one key a line in hexadecimal digits.
///
/// The keys are those of the flood, or two of one hash under every seed if no larger flood is known.
fn keys_text(reports: &[Report]) -> String {
    let mut text = String::new();
    for report in reports {
        let SubjectInfo { id, source, .. } = &report.info;
        let (head, keys): (String, Vec<&[u8]>) = match (&report.verdict, &report.epsilon) {
            (Verdict::PairAlways, Epsilon::Broken { keys, .. }) => {
                ("two keys of one hash, needs nothing".to_owned(), keys.iter().map(Vec::as_slice).collect())
            }
            (verdict, _) => {
                let (Some(attack), Some(flood)) = (verdict.attack(), verdict.flood()) else { continue };
                let about = report.attempts.iter().map(|(about, _)| about).find(|about| about.id == attack);
                let needs = about.map_or(Knowledge::Nothing, |about| about.knowledge);
                let seed = vectors::hex(&flood.seed.to_bytes());
                let tables = flood.tables();
                let head = format!("attack {attack}, needs {needs}; the keys meet {tables}; a seed: {seed}");
                (head, flood.keys.iter().collect())
            }
        };
        // A `String` takes everything.
        let _ = writeln!(text, "# {id} ({source}): {}; {head}", report.verdict.word());
        for key in keys {
            let _ = writeln!(text, "{}", vectors::hex(key));
        }
    }
    text
}
