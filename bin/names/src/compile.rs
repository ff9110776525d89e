//! `hashlane names compile`

use crate::input::Stop;
use crate::lists::Lists;
use crate::progress::Progress;
use crate::summary;
use anyhow::{Context as _, Result, bail};
use clap::Args;
use hashlane_command::{STOPPED, terminal};
use hashlane_name_lists::{CompiledList, write_compiled};
use hashlane_stats::format::significant;
use std::error::Error as _;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tempfile::NamedTempFile;

/// Compile lists into one file, with which `match` starts at once
///
/// The file holds the rules of all lists and the names of the lists. It is written beside FILE and then takes
/// its place, so that a reader has the old one or the new one. It holds the secret key of the table: only its
/// owner may read it. It is for the version and kind of machine that wrote it.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit code: 0; 2 after an error; 130 after Ctrl-C, which writes nothing.

Examples:
  hashlane names compile ads.txt malware.rpz --output rules.names
  hashlane names match rules.names < names.txt")]
pub(crate) struct Compile {
    #[command(flatten)]
    lists: Lists,
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Print no summary of the lists
    #[arg(short, long)]
    quiet: bool,
}

impl Compile {
    pub(crate) fn run(self) -> Result<ExitCode> {
        if let Some(list) = self.lists.paths().iter().find(|list| is_same_file(list, &self.output)) {
            bail!("--output {} is a list; name another file", list.display());
        }
        let output = target(&self.output)?;
        let stop = Stop::on_signal()?;
        let Some(loaded) = self.lists.load(&stop, Progress::new())? else {
            return Ok(ExitCode::from(STOPPED));
        };
        terminal::tell(&summary::warnings(&loaded));
        let lists: Vec<CompiledList> = loaded.lists.iter().map(|list| list.about.clone()).collect();
        let bytes = write_compiled(&loaded.rules, &lists);
        // A signal that came while the table was built.
        if stop.is_set() {
            return Ok(ExitCode::from(STOPPED));
        }
        write(&output, &bytes).with_context(|| format!("cannot write {}", self.output.display()))?;
        if !self.quiet {
            let lists: String = loaded.lists.iter().map(summary::list).collect();
            let kilobytes = significant((bytes.len() as f64 / 1e3).ceil());
            let written = format!("{kilobytes} kB in {}\n", self.output.display());
            terminal::tell(&(lists + &summary::total(&loaded) + &written));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Tests if both paths lead to the same file. False if the metadata of either cannot be read.
fn is_same_file(a: &Path, b: &Path) -> bool {
    let identity = |path: &Path| path.metadata().ok().map(|file| (file.dev(), file.ino()));
    identity(a).is_some_and(|file| identity(b) == Some(file))
}

/// The file to replace: behind symbolic links, and no device, pipe or folder.
fn target(path: &Path) -> Result<PathBuf> {
    if path.as_os_str() == "-" {
        bail!("--output -: standard output does not replace a file at once; name a file");
    }
    match path.metadata() {
        Ok(known) if known.is_dir() => bail!("--output {} is a folder; name a file in it", path.display()),
        Ok(known) if !known.is_file() => {
            bail!("--output {} is a device, pipe or socket; name a file", path.display())
        }
        Ok(_) => path.canonicalize().with_context(|| format!("cannot follow {}", path.display())),
        Err(_) => Ok(path.to_owned()),
    }
}

/// Writes a file that takes the place of an earlier one at once.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    // The error without the name of the temporary file.
    let plain =
        |error: io::Error| error.source().map(|source| io::Error::other(source.to_string())).unwrap_or(error);
    let mut file = NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(plain)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
