//! `cargo xtask interop`: whether programs of others understand ours.

mod dns;

use crate::run::Outcome;
use clap::{Args, Subcommand};

/// Run our programs with programs of others
///
/// All that there are, or those of one protocol.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Interop {
    #[command(subcommand)]
    part: Option<Part>,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask interop        all of them
  cargo xtask interop dns    what needs dig";

#[derive(Debug, Subcommand)]
enum Part {
    /// Our DNS messages in the eyes of dig
    Dns,
}

impl Interop {
    /// What a change must pass.
    pub(crate) const ALL: Self = Self { part: None };

    pub(crate) fn run(&self) -> Outcome {
        match &self.part {
            Some(Part::Dns) | None => dns::run(),
        }
    }
}
