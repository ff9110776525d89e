//! `hashlane flow check-config`

use super::meter::read;
use anyhow::{Result, bail};
use clap::Args;
use hashlane_command::terminal;
use hashlane_meter::Config;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Check or print the configuration of a meter
///
/// Refuses all that `meter --config` refuses, and looks for the interface, the user, the folders of files and
/// the hosts of collectors. It opens none of them, so the meter may be running; that `server.user` may not
/// write to a folder shows at the start. Warns of files that exist, which a meter does not overwrite.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane flow check-config flow.toml
  hashlane flow check-config --print              every key with its default value
  hashlane flow check-config --print flow.toml")]
pub(super) struct CheckConfig {
    /// Configuration file; with --print it may be left out, for the default configuration
    file: Option<PathBuf>,
    /// Print the configuration with all defaults filled in
    #[arg(short, long)]
    print: bool,
}

impl CheckConfig {
    pub(super) fn run(self) -> Result<ExitCode> {
        match (&self.file, self.print) {
            (None, false) => bail!("name a file to check, or use --print to print the defaults"),
            (None, true) => terminal::print(&Config::default().to_toml())?,
            (Some(file), true) => terminal::print(&read(file)?.to_toml())?,
            (Some(file), false) => {
                let mut text = String::new();
                for warning in hashlane_meter::check(&read(file)?)? {
                    let _ = writeln!(text, "warning: {warning}");
                }
                let _ = writeln!(text, "{} is a valid configuration", file.display());
                terminal::print_verdict(&text)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
