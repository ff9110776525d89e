//! `hashlane audit`

mod bias;
mod files;
mod functions;
mod identity;
mod json;
mod own_table;
mod page;
mod picture;
mod referee;
mod search;
mod table;
mod traffic;
mod tried;

use crate::output;
use anyhow::{Context as _, Result, bail};
use clap::Args;
use files::check_writable;
use hashlane_audit::library::{Signature, child_main};
use hashlane_audit::registered::subjects;
use hashlane_audit::subject::{AuditedHash, SubjectInfo};
use hashlane_audit::table::MAX_KEYS;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

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
    /// Bytes of every key; each attack chooses them if not given, and an integer has as many as its type
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
        self.referee.check(self.json, !self.schemes.is_empty())?;
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

fn random_seed() -> Result<u64> {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).context("no random seed; state one with --seed")?;
    Ok(u64::from(u32::from_le_bytes(bytes)))
}
