//! `cargo xtask interop dns`: our name server beside NSD and BIND.
//!
//! All three serve the same zones and get the same queries. Each difference between our answer and another
//! one must be excused by a rule in [`rules`]. No rule excuses the want of a record of a DNSSEC proof that
//! both others give. A validating resolver then checks our proofs.
#![forbid(unsafe_code)]

mod answer;
mod cases;
mod compare;
mod content;
mod document;
mod draw;
mod exchange;
mod generate;
mod process;
mod query;
mod rules;
mod run;
mod servers;
mod sign;
mod validate;
mod verdict;
mod zone;

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compare the answers of our name server with NSD's and BIND's.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    /// Our command; without it, NSD is compared with BIND
    #[arg(long)]
    hashlane: Option<PathBuf>,
    /// An empty folder for zones, settings and logs
    #[arg(long)]
    folder: PathBuf,
    /// Number of queries
    #[arg(long, default_value_t = 210_000)]
    queries: usize,
    /// Number of queries through a validating resolver for each server
    #[arg(long, default_value_t = 4_000)]
    validated: usize,
    /// Seed of zones and queries
    #[arg(long, default_value_t = 20)]
    seed: u64,
    /// Document that must explain all rules
    #[arg(long)]
    document: Option<PathBuf>,
    /// Print the rules for the document
    #[arg(long)]
    markdown: bool,
    /// Number of unexplained differences that are printed
    #[arg(long, default_value_t = 20)]
    show: usize,
}

fn main() -> ExitCode {
    match run::run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
