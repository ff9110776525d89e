//! `check-config` of a server.

use crate::terminal;
use anyhow::{Result, bail};
use clap::Args;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `check-config`. Each command says what it checks beside the text of the file.
#[derive(Debug, Args)]
pub struct CheckConfig {
    /// Configuration file; with --print it may be left out, for the default configuration
    file: Option<PathBuf>,
    /// Print the configuration with all defaults filled in; checks only the text of the file
    #[arg(short, long)]
    print: bool,
}

impl CheckConfig {
    /// Prints a configuration, or the lines that `check` has about it and a verdict.
    ///
    /// # Errors
    /// There is neither a file nor --print; `read` or `check` failed.
    pub fn run<C: Default>(
        self,
        read: impl FnOnce(&Path) -> io::Result<C>,
        to_toml: impl FnOnce(&C) -> String,
        check: impl FnOnce(&C) -> Result<String>,
    ) -> Result<ExitCode> {
        match (&self.file, self.print) {
            (None, false) => bail!("name a file to check, or use --print to print the defaults"),
            (None, true) => terminal::print(&to_toml(&C::default()))?,
            (Some(file), true) => terminal::print(&to_toml(&read(file)?))?,
            (Some(file), false) => {
                let lines = check(&read(file)?)?;
                terminal::print_verdict(&format!("{lines}{} is a valid configuration\n", file.display()))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
