//! `hashlane schemes`

use crate::output;
use anyhow::Result;
use clap::Args;
use hashlane_audit::stated::stated;
use hashlane_hash::scheme::Keying;
use hashlane_study_names::schemes;
use std::fmt::Write as _;
use std::process::ExitCode;

/// List the registered hashes: source, width, keying, check value, where each is safe, and ε: the share of
/// seeds for which the worst pair known collides.
#[derive(Debug, Args)]
#[command(after_help = "\
The check value is the hash of the nine bytes 123456789 under the key 00 01 … 0f.

Examples:
  hashlane schemes
  hashlane schemes | grep -A 2 siphash")]
pub(crate) struct Schemes {}

impl Schemes {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let mut text = String::new();
        for scheme in schemes::schemes() {
            let info = scheme.info;
            let keying = match info.keying {
                Keying::None => "no key".to_owned(),
                Keying::Seed(bits) => format!("{bits}-bit seed"),
                Keying::Secret(bits) => format!("{bits}-bit secret key"),
            };
            let digits = info.width as usize / 4;
            writeln!(text, "{}  {} bits, {keying}, check {:0digits$x}", info.id, info.width, info.check)?;
            writeln!(text, "    source: {}", info.source)?;
            writeln!(text, "    safe:   {}", info.safe)?;
            writeln!(text, "    ε:      {}", stated(info.id))?;
        }
        writeln!(text, "\nIn studies: {}.", schemes::names_help())?;
        output::print(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}
