//! The results folder of a run: locked while the run lasts, written after every workload, and never at the
//! cost of the results of an earlier run.

use super::folder::{self, EARLIER, Folder};
use anyhow::{Context, Result, bail};
use hashlane_lab::report::Part;
use hashlane_lab::run::{Machine, RunStudies};
use hashlane_records::RecordSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// File that a run keeps locked. The lock ends with the process.
const LOCK: &str = ".lock";

/// File by which a new run tests if there is room for results.
const PROBE: &str = ".room.tmp";

/// Bytes of that file: about as many as the results of all studies take.
const ROOM: usize = 1 << 20;

/// Results folder of the run of this process.
pub(crate) struct Results {
    path: PathBuf,
    lock: File,
    /// Set if the files in the folder belong to this run.
    begun: bool,
    /// Folder of the earlier results.
    earlier: Option<PathBuf>,
}

impl Results {
    /// Makes the folder and locks it. Tries to write there first, so that nothing is measured that cannot be
    /// kept.
    ///
    /// # Errors
    /// The folder cannot be written to, has too little room, or belongs to another run that still lasts.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let hint = || format!("cannot write results to {}; name another folder with --out", path.display());
        let lock = lock(path, hint)?;
        remove_leftovers(path).with_context(hint)?;
        let probe = path.join(PROBE);
        let tried = File::create(&probe).and_then(|mut file| {
            file.write_all(&vec![0; ROOM])?;
            file.sync_all()
        });
        let removed = fs::remove_file(&probe);
        tried.and(removed).with_context(hint)?;
        Ok(Self { path: path.into(), lock, begun: false, earlier: None })
    }

    /// Folder of the results.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Folder of the earlier results, if there were any.
    pub(crate) fn earlier(&self) -> Option<&Path> {
        self.earlier.as_deref()
    }

    /// Writes the records and the machine that they come from; each file is replaced as a whole. Before the
    /// first write, the results of an earlier run move to a folder of their own. No records: nothing is
    /// written.
    ///
    /// # Errors
    /// The files cannot be written. Earlier records stay: here, or in the folder that they moved to.
    pub(crate) fn write(
        &mut self,
        records: &RecordSet,
        machine: &Machine,
        studies: &RunStudies,
    ) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let cannot = || format!("cannot write results to {}", self.path.display());
        if !self.is_locked() {
            // The folder was removed, and perhaps created again.
            self.lock = lock(&self.path, cannot)?;
            self.begun = false;
        }
        if !self.begun {
            self.earlier = set_aside(&self.path).with_context(cannot)?.or(self.earlier.take());
            self.begun = true;
        }
        // In this order a reader never finds records without the machine that they come from.
        machine.write(&self.path.join(folder::MACHINE)).with_context(cannot)?;
        studies.write(&self.path.join(folder::STUDIES_FILE)).with_context(cannot)?;
        records.write(&self.path.join(folder::RECORDS)).with_context(cannot)
    }

    /// Draws the page, if there are records.
    ///
    /// # Errors
    /// The page cannot be drawn or written.
    pub(crate) fn draw(&self, parts: &[Part<'_>]) -> Result<()> {
        if parts.iter().all(|part| part.records.is_empty()) {
            return Ok(());
        }
        Folder::open(&self.path).draw(parts)
    }

    /// Tests if the locked file is still the one in the folder.
    fn is_locked(&self) -> bool {
        match (self.lock.metadata(), fs::metadata(self.path.join(LOCK))) {
            (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
            _ => false,
        }
    }
}

/// Makes the folder and locks it.
fn lock(path: &Path, cannot: impl Fn() -> String) -> Result<File> {
    fs::create_dir_all(path).with_context(&cannot)?;
    let file = OpenOptions::new().create(true).append(true).open(path.join(LOCK)).with_context(&cannot)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => bail!(
            "another run is writing to {}: wait for its end, or name another folder with --out",
            path.display()
        ),
        Err(TryLockError::Error(error)) => Err(error).with_context(cannot),
    }
}

/// Removes the temporary files of a run that was killed while it wrote them.
fn remove_leftovers(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| name.starts_with('.') && name.ends_with(".tmp")) else {
            continue;
        };
        if name.starts_with(".run-") && entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else if name == PROBE || folder::FILES.iter().any(|file| name.starts_with(&format!(".{file}."))) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Moves the results that stand in a folder to the folder `run-N` in it, `N` counting up from 1. Returns that
/// folder, or nothing if there were no results.
///
/// They are copied, the copy takes its name as a whole, and only then are they removed: a process that is
/// killed in between loses none. The records go first, so that none stand beside the machine of another run.
fn set_aside(path: &Path) -> io::Result<Option<PathBuf>> {
    let files: Vec<&str> = folder::FILES.into_iter().filter(|name| path.join(name).exists()).collect();
    if files.is_empty() {
        return Ok(None);
    }
    let number = 1 + u64::from(last_number(path)?);
    let (part, whole) = (path.join(format!(".run-{number}.tmp")), path.join(format!("{EARLIER}{number}")));
    let copied = fs::create_dir(&part).and_then(|()| {
        for name in &files {
            fs::copy(path.join(name), part.join(name))?;
            File::open(part.join(name))?.sync_all()?;
        }
        fs::rename(&part, &whole)
    });
    if copied.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_dir_all(&part);
    }
    copied?;
    for name in files {
        fs::remove_file(path.join(name))?;
    }
    Ok(Some(whole))
}

/// The highest `N` of the folders `run-N`; 0 without one.
fn last_number(path: &Path) -> io::Result<u32> {
    let mut last = 0;
    for entry in fs::read_dir(path)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(EARLIER)?.parse().ok());
        last = last.max(number.unwrap_or(0));
    }
    Ok(last)
}
