//! `cargo xtask interop`: our programs with programs of other projects.

mod bench;
mod collector;
mod dns;
mod flow;
mod forwarder;
mod meter;
mod ndn;
mod peers;
mod program;
mod readme;
pub(crate) mod testbed;
mod toolchains;

use crate::run::Outcome;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Run our programs with programs of other projects
///
/// Without a subcommand, runs the scenarios of all protocols.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Interop {
    #[command(subcommand)]
    part: Option<Part>,
    /// Run every NDN scenario under every PIT index; by default digest and token run a few
    #[arg(long)]
    every_index: bool,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask interop                                      all of them
  cargo xtask interop dns                                  only DNS: NSD, BIND and unbound beside our server
  cargo xtask interop dns --whole                          the same, with every name validated
  cargo xtask interop flow                                 only flows, which nfdump, pmacct and Python read
  cargo xtask interop meter                                flows of captures, beside three other meters
  cargo xtask interop ndn --only python-v1-unix            scenarios whose names contain this
  cargo xtask interop ndn --index token                    all of them, with our PIT indexed by token
  cargo xtask interop testbed --path /opt/ndn              beside NFD, NLSR and their tools, which lie there";

#[derive(Debug, Subcommand)]
enum Part {
    /// Compare our name server with NSD, BIND and unbound; transfer zones between it and four others
    Dns {
        /// Validate 110,000 queries for each server in place of 4,000; transfer 1,000 changes, not 10
        #[arg(long)]
        whole: bool,
    },
    /// Export flows to nfcapd and nfacctd, and read our files with Python packages
    Flow,
    /// Meter captures, and compare all flows with the output of softflowd, nfpcapd and tshark
    Meter,
    Ndn(ndn::Ndn),
    Testbed(testbed::Testbed),
}

impl Interop {
    /// The scenarios that a change must pass.
    pub(crate) const ALL: Self = Self { part: None, every_index: false };
    /// The nightly run.
    pub(crate) const EVERY_INDEX: Self = Self { part: None, every_index: true };

    pub(crate) fn run(&self) -> Outcome {
        match &self.part {
            Some(Part::Dns { whole }) => dns::run(*whole),
            Some(Part::Flow) => flow::run(),
            Some(Part::Meter) => meter::run(),
            Some(Part::Ndn(ndn)) => ndn.run(),
            Some(Part::Testbed(testbed)) => testbed.run(),
            None => both(
                both(dns::run(self.every_index), both(flow::run(), meter::run())),
                ndn::Ndn::all(self.every_index),
            ),
        }
    }
}

/// Installs ndnd alone, and returns its path.
///
/// # Errors
/// Names the step that failed.
pub(crate) fn install_ndnd() -> Result<PathBuf, String> {
    peers::ndnd_alone()
}

/// Failed if either has failed, else skipped if either was skipped.
fn both(one: Outcome, other: Outcome) -> Outcome {
    use Outcome::{Failed, Passed, Skipped};
    match (one, other) {
        (Failed(one), Failed(other)) => Failed(format!("{one}\n{other}")),
        (Failed(why), _) | (_, Failed(why)) => Failed(why),
        (Skipped(one), Skipped(other)) => Skipped(format!("{one}; {other}")),
        (Skipped(why), Passed) | (Passed, Skipped(why)) => Skipped(why),
        (Passed, Passed) => Passed,
    }
}
