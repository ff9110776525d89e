//! `hashlane dns import`

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use hashlane_command::import::{exit_code, is_stdin, read, read_text};
use hashlane_command::terminal;
use hashlane_stats::format::{self, plain};
use hashlane_transfer::import::{Dialect, Fate, Import as Imported, MAX_BYTES, detect, import};
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

/// Servers whose configurations are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Source {
    /// nsd.conf
    Nsd,
    /// knot.conf
    Knot,
}

/// Turn nsd.conf or knot.conf into a configuration of this server
///
/// Prints the new configuration, and says on standard error of every line that is not blank what became of
/// it: kept, as which key; ignored, as it has no effect on what is served; or lost. The exit code is 3 if
/// something is lost that changes what is served or to whom. The output has the secrets of the keys.
#[derive(Debug, Args)]
#[command(after_help = "\
Files that FILE includes are read from its folder, and folders below it.

Examples:
  hashlane dns import /etc/nsd/nsd.conf > dns.toml
  hashlane dns import knot.conf 2> lines.txt > dns.toml
  hashlane dns check-config dns.toml             what the server says of the result")]
pub(super) struct Import {
    /// Configuration of the other server; - for standard input
    file: PathBuf,
    /// Server that the configuration is of [default: by its content]
    #[arg(long, value_name = "SERVER")]
    from: Option<Source>,
}

impl Import {
    pub(super) fn run(self) -> Result<ExitCode> {
        let (name, text) = read(&self.file, MAX_BYTES)?;
        let dialect = match self.from {
            Some(Source::Nsd) => Dialect::Nsd,
            Some(Source::Knot) => Dialect::Knot,
            None => match detect(&text) {
                Some(dialect) => dialect,
                None => bail!("{name}: neither an nsd.conf nor a knot.conf; name the server by --from"),
            },
        };
        let folder = self.file.parent().filter(|_| !is_stdin(&self.file)).unwrap_or(Path::new(""));
        let imported = import(dialect, &text, &mut |path| include(folder, Path::new(path)));
        let imported = imported.map_err(|error| anyhow::anyhow!("{name}: {error}"))?;
        terminal::tell(&report(&name, dialect, &imported));
        terminal::print(&imported.toml)?;
        Ok(exit_code(imported.is_complete()))
    }
}

/// The lines of the report, and their counts.
fn report(name: &str, dialect: Dialect, imported: &Imported) -> String {
    let mut text = String::new();
    let (mut kept, mut ignored, mut lost) = (0_usize, 0_usize, 0_usize);
    for line in &imported.lines {
        let _ = writeln!(text, "{}", plain(&line.to_string()));
        match line.fate {
            Fate::Kept(_) => kept += 1,
            Fate::Ignored(_) => ignored += 1,
            _ => lost += 1,
        }
    }
    let count = |number: usize| format::count(number as f64);
    let _ = writeln!(
        text,
        "{name}, read as {dialect}: {} statements kept, {} ignored, {} lost; {} blank lines and comments",
        count(kept),
        count(ignored),
        count(lost),
        count(imported.blank)
    );
    text
}

/// The text of a file that is included. It must be in the folder of the configuration, or below it.
fn include(folder: &Path, path: &Path) -> Result<String, String> {
    let shown = path.display();
    let within = path.strip_prefix(folder).unwrap_or(path);
    if !within.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(format!("{shown} is not in the folder of the configuration; import it by itself"));
    }
    let file = File::open(folder.join(within)).and_then(|file| match file.metadata()?.is_file() {
        true => read_text(file, MAX_BYTES),
        false => Err(io::Error::other("not a file")),
    });
    file.map_err(|error| format!("cannot read {shown}: {error}"))
}
