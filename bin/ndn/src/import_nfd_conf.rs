//! `hashlane ndn import-nfd-conf`

use anyhow::{Context as _, Result};
use clap::Args;
use hashlane_command::import::{exit_code, is_stdin, read};
use hashlane_command::terminal;
use hashlane_forwarder::Config;
use hashlane_forwarder::import::{Fate, Import as Imported, MAX_BYTES, import};
use hashlane_stats::format::{count, plain};
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Turn the nfd.conf of NFD into a configuration of this forwarder
///
/// Prints the new configuration, and says on standard error of every key what became of it: kept, as which
/// key; the default here; ignored, as it has no effect on forwarding and access; or not supported, with the
/// reason and the next step. The exit code is 3 if something is not supported, and 1 if the file cannot be
/// read.
#[derive(Debug, Args)]
#[command(after_help = "\
Certificates and sockets that FILE names by relative paths are those in its folder.

Examples:
  hashlane ndn import-nfd-conf /etc/ndn/nfd.conf > forwarder.toml
  hashlane ndn import-nfd-conf nfd.conf --out forwarder.toml 2> lines.txt
  hashlane ndn check-config forwarder.toml       what the forwarder says of the result
  hashlane ndn run --config forwarder.toml")]
pub(super) struct ImportNfdConf {
    /// Configuration of NFD; - for standard input
    file: PathBuf,
    /// File to write the new configuration to; must not exist [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl ImportNfdConf {
    pub(super) fn run(self) -> Result<ExitCode> {
        let (name, text) = read(&self.file, MAX_BYTES)?;
        let folder = self.file.parent().filter(|_| !is_stdin(&self.file)).unwrap_or(Path::new(""));
        let folder = std::path::absolute(Path::new(".").join(folder));
        let folder = folder.with_context(|| format!("no folder of {name}"))?;
        let imported = import(&text, &folder).map_err(|error| anyhow::anyhow!("{name}: {error}"))?;
        // What is printed is a configuration: an error here is one of the import.
        Config::parse(&imported.toml)
            .with_context(|| format!("{name}: the new configuration is not valid"))?;
        terminal::tell(&report(&name, &imported));
        match &self.out {
            None => terminal::print(&imported.toml)?,
            Some(out) => {
                let file = OpenOptions::new().write(true).create_new(true).open(out);
                file.and_then(|mut file| file.write_all(imported.toml.as_bytes()))
                    .with_context(|| format!("cannot write {}", out.display()))?;
            }
        }
        Ok(exit_code(imported.is_complete()))
    }
}

/// The lines of the report, and their counts.
fn report(name: &str, imported: &Imported) -> String {
    let mut text = String::new();
    let (mut kept, mut default, mut ignored, mut lost) = (0, 0, 0, 0);
    for line in &imported.lines {
        let _ = writeln!(text, "{}", plain(&line.to_string()));
        *match line.fate {
            Fate::Kept(_) => &mut kept,
            Fate::Default(_) => &mut default,
            Fate::Ignored(_) => &mut ignored,
            _ => &mut lost,
        } += 1;
    }
    let count = |number: usize| count(number as f64);
    let _ = writeln!(
        text,
        "{name}: {} keys kept, {} default here, {} ignored, {} not supported; {} blank lines and comments",
        count(kept),
        count(default),
        count(ignored),
        count(lost),
        count(imported.blank)
    );
    text
}
