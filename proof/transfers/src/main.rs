//! `cargo xtask interop dns`: zones between our name server and NSD, Knot, BIND and PowerDNS.
//!
//! Each of them is the primary of ours, and a secondary of ours; those that can, over TLS, too. A zone
//! changes at random many times; after each change, the secondary must have each record that the primary has,
//! and no other ([`matrix`]). Wrong keys get nothing. A secondary that is killed at any moment serves one of
//! the versions that were published, whole ([`kills`]), and so does one behind a network with [`faults`].
//! Members of catalog zones are compared one by one ([`catalog`]).
#![forbid(unsafe_code)]

mod catalog;
mod certificate;
mod faults;
mod fetch;
mod kills;
mod makers;
mod matrix;
mod node;
mod place;
mod relay;
mod zone;

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

/// Transfer zones between our name server and four others
#[derive(Debug, Parser)]
pub(crate) struct Options {
    /// Our command, hashlane-dns
    #[arg(long)]
    hashlane: PathBuf,
    /// An empty folder for zones, settings and logs
    #[arg(long)]
    folder: PathBuf,
    /// Changes of the zone for each pair
    #[arg(long, default_value_t = 10)]
    changes: u32,
    /// Times that a secondary is killed
    #[arg(long, default_value_t = 30)]
    kills: u32,
    /// Milliseconds of each fault of the network
    #[arg(long, default_value_t = 1000)]
    fault_ms: u64,
    /// Members of catalog zones
    #[arg(long, default_value_t = 100)]
    members: usize,
    /// Seed of zones, changes and faults
    #[arg(long, default_value_t = 20)]
    seed: u64,
    /// Part of the name of the pairs to run, such as `bind`
    #[arg(long, default_value = "")]
    only: String,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let ran = matrix::run(&options)
        .and_then(|()| kills::run(&options))
        .and_then(|()| faults::run(&options))
        .and_then(|()| catalog::run(&options));
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
