//! Lists read again while names are matched: after SIGHUP, or when their files change.

use crate::input::Stop;
use crate::lists::Lists;
use crate::loaded::Loaded;
use crate::progress::Progress;
use crate::summary;
use anyhow::{Context as _, Result, bail};
use hashlane_command::terminal::tell;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Time between two looks at the files. A file that changed is read when it stayed the same from one look to
/// the next: its writer may have been at work.
const EVERY: Duration = Duration::from_millis(500);

/// Rules that were read again and are not in use yet: the newest.
#[derive(Clone, Default)]
pub(crate) struct Reload(Arc<Mutex<Option<Loaded>>>);

/// The thread that reads lists.
pub(crate) struct Reader {
    pub(crate) lists: Lists,
    pub(crate) stop: Stop,
    /// A message for each SIGHUP.
    pub(crate) asked: Receiver<()>,
    /// True if files are read again when they change.
    pub(crate) watch: bool,
    /// True without a summary.
    pub(crate) quiet: bool,
}

/// State of a file: device, inode, bytes, and time of its last change. `None` if it is not there.
type Stamp = Option<[i64; 5]>;

fn stamp(path: &PathBuf) -> Stamp {
    let data = fs::metadata(path).ok()?;
    Some([data.dev() as i64, data.ino() as i64, data.size() as i64, data.mtime(), data.mtime_nsec()])
}

impl Reload {
    /// Starts the thread. Changes of files count from now on.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn start(reader: Reader) -> Result<Self> {
        let reload = Self::default();
        let slot = reload.clone();
        let seen = reader.stamps();
        let thread = thread::Builder::new().name("reload".into());
        thread.spawn(move || reader.run(&slot, seen)).context("cannot start the thread that reads lists")?;
        Ok(reload)
    }

    /// The newest rules, once.
    pub(crate) fn take(&self) -> Option<Loaded> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Reader {
    fn stamps(&self) -> Vec<Stamp> {
        if self.watch { self.lists.paths().iter().map(stamp).collect() } else { Vec::new() }
    }

    fn run(self, slot: &Reload, mut seen: Vec<Stamp>) {
        let mut last = seen.clone();
        loop {
            let asked = match self.watch {
                true => self.asked.recv_timeout(EVERY),
                false => self.asked.recv().map_err(RecvTimeoutError::from),
            };
            let now = self.stamps();
            match asked {
                Ok(()) => self.asked.try_iter().for_each(drop),
                Err(RecvTimeoutError::Timeout) if now != seen && now == last => {}
                Err(RecvTimeoutError::Timeout) => {
                    last = now;
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
            (seen, last) = (now.clone(), now);
            match self.read() {
                Ok(None) => return,
                Ok(Some(loaded)) => {
                    let mut text = summary::warnings(&loaded);
                    if !self.quiet {
                        text += &format!("lists read again: {}", summary::total(&loaded));
                    }
                    *slot.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(loaded);
                    tell(&text);
                }
                Err(error) => tell(&format!("hashlane: the rules stay as they were: {error:#}\n")),
            }
        }
    }

    /// Reads all lists. `None` after a signal to stop.
    fn read(&self) -> Result<Option<Loaded>> {
        self.lists.paths().iter().try_for_each(|path| check(path))?;
        self.lists.load(&self.stop, Progress::silent())
    }
}

/// Checks that a list can be read again.
fn check(path: &Path) -> Result<()> {
    let name = path.display();
    if path.as_os_str() == "-" {
        bail!("a list came from standard input, which is read once");
    }
    let data = fs::metadata(path).with_context(|| format!("cannot read {name}"))?;
    if !data.is_file() {
        bail!("{name} is a pipe or a device, which is read once; write the list to a file");
    }
    Ok(())
}
