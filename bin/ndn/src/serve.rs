//! `hashlane ndn serve`

use super::connection::{Connection, millis, name, stopped};
use anyhow::{Context, Result, bail};
use clap::Args;
use hashlane_client::{Library, Publication};
use hashlane_daemon::log::{LAST_LINES, Log};
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Publish a file, or a folder with its subfolders, under a prefix, until stopped.
#[derive(Debug, Args)]
#[command(after_help = "\
FOLDER/a/b.txt becomes the object PREFIX/a/b.txt; its version is its modification time at the
start. Files whose names begin with a period are skipped, and links are not followed.

Examples:
  hashlane ndn serve /example/site public
  hashlane ndn get /example/site/index.html")]
pub(super) struct Serve {
    /// Prefix of the names
    #[arg(value_parser = name)]
    prefix: OwnedName<Ndn>,
    /// File or folder to publish
    path: PathBuf,
    /// Freshness of segments, in milliseconds
    #[arg(short = 'f', long, value_name = "MS", default_value = "10000", value_parser = millis)]
    freshness: Duration,
    /// Print the name of each Data packet sent
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    connection: Connection,
}

/// Largest number of files; each is held open.
const MOST_FILES: usize = 10_000;

/// Shortest time between two errors that are printed: consumers cause them.
const ERROR_PAUSE: Duration = Duration::from_secs(1);

/// Deepest nesting of folders.
const DEEPEST: usize = 64;

impl Serve {
    pub(super) async fn run(self) -> Result<ExitCode> {
        let mut files = Vec::new();
        if self.path.is_dir() {
            find(&self.path, &mut Vec::new(), &mut files)?;
        } else {
            files.push((self.path.clone(), Vec::new()));
        }
        if files.is_empty() {
            let folder = self.path.display();
            bail!("no files in {folder}: those with names that begin with a period are not served");
        }
        let mut library = Library::new();
        let mut octets = 0;
        for (path, elements) in &files {
            let under = elements.iter().map(|element| Component::generic(element.as_bytes()));
            let name = OwnedName::<Ndn>::from_components(self.prefix.view().components().chain(under))?;
            let object = Publication::file(name.view(), path).with_context(|| path.display().to_string())?;
            octets += object.len();
            library.insert(object.with_freshness(self.freshness));
        }
        let client = self.connection.open().await?;
        let registered = client.register(self.prefix.view()).await;
        let mut registration = registered.with_context(|| format!("cannot register {}", self.prefix))?;
        let s = if files.len() == 1 { "" } else { "s" };
        let log = Log::stderr()?;
        log.add(&format!("serving {}: {} file{s}, {octets} bytes", self.prefix, files.len()));
        let answered = |data: &[u8]| {
            if self.verbose
                && let Ok(data) = hashlane_ndn::wire::Data::parse(data)
            {
                log.add(&data.name().to_string());
            }
        };
        let serve = async {
            let mut said: Option<Instant> = None;
            // A file that became unreadable does not stop the others. Each Interest for it fails.
            while let Err(error) = library.serve(&mut registration, answered).await {
                if said.is_none_or(|said| said.elapsed() >= ERROR_PAUSE) {
                    said = Some(Instant::now());
                    log.add(&format!("hashlane: {error}"));
                }
            }
        };
        tokio::select! {
            () = stopped() => {}
            () = serve => {}
        }
        registration.close().await;
        log.flush(LAST_LINES);
        Ok(ExitCode::SUCCESS)
    }
}

/// A file, and the elements of its path below the folder.
type Found = (PathBuf, Vec<String>);

/// Adds the files of `folder`; `below` is its path from the root.
fn find(folder: &Path, below: &mut Vec<String>, found: &mut Vec<Found>) -> Result<()> {
    if below.len() > DEEPEST {
        bail!("{}: folders nested more than {DEEPEST} deep", folder.display());
    }
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let Ok(element) = entry.file_name().into_string() else { continue };
        let kind = entry.file_type()?;
        if element.starts_with('.') {
            continue;
        }
        below.push(element);
        if kind.is_dir() {
            find(&entry.path(), below, found)?;
        } else if kind.is_file() {
            if found.len() == MOST_FILES {
                bail!(
                    "{}: more than {MOST_FILES} files; serve its subfolders with one command each",
                    folder.display()
                );
            }
            found.push((entry.path(), below.clone()));
        }
        below.pop();
    }
    Ok(())
}
