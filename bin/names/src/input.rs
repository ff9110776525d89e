//! Files and standard input, read in large blocks until a signal.

use anyhow::{Context as _, Result};
use hashlane_command::STOPPED;
use hashlane_daemon::signals::{on_stop, on_stop_and_hangup};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};

/// Bytes that are read at once.
pub(crate) const BLOCK: usize = 256 << 10;

/// Bytes that tell if a file has compiled rules, and how many bytes they have.
const START: usize = 256;

/// Milliseconds between two looks at the flag of signals, while a pipe has nothing.
const WAIT: u16 = 100;

/// A flag that signals to end set; the second signal ends the process.
#[derive(Clone, Debug)]
pub(crate) struct Stop(Arc<AtomicBool>);

fn stop_or_exit(flag: &AtomicBool) {
    if flag.swap(true, Ordering::Relaxed) {
        std::process::exit(i32::from(STOPPED));
    }
}

impl Stop {
    pub(crate) fn on_signal() -> Result<Self> {
        let stop = Self(Arc::default());
        let flag = Arc::clone(&stop.0);
        on_stop(move || stop_or_exit(&flag))?;
        Ok(stop)
    }

    /// As [`on_signal`](Self::on_signal), and a message for each SIGHUP.
    pub(crate) fn on_signal_but_hangup() -> Result<(Self, Receiver<()>)> {
        let stop = Self(Arc::default());
        let flag = Arc::clone(&stop.0);
        let (ask, asked) = channel();
        let reload = move || {
            // At the end of a run, no thread reads lists.
            let _ = ask.send(());
        };
        on_stop_and_hangup(move || stop_or_exit(&flag), reload)?;
        Ok((stop, asked))
    }

    /// True after a signal.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A file, or standard input.
pub(crate) struct Input {
    file: File,
    /// The name for messages.
    name: String,
    /// Bytes of a file; `None` for a pipe or a terminal, which may have nothing for long.
    len: Option<u64>,
    stop: Stop,
}

/// Tests if a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

impl Input {
    /// Opens a file; `-` is standard input.
    pub(crate) fn open(path: &Path, stop: &Stop) -> Result<Self> {
        let name = if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() };
        let file = match is_stdin(path) {
            true => io::stdin().as_fd().try_clone_to_owned().map(File::from),
            false => File::open(path),
        };
        let file = file.with_context(|| format!("cannot read {name}"))?;
        let data = file.metadata().with_context(|| format!("cannot read {name}"))?;
        let len = data.is_file().then_some(data.len());
        Ok(Self { file, name, len, stop: stop.clone() })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of the file, if it is one.
    pub(crate) fn len(&self) -> Option<u64> {
        self.len
    }

    /// The first bytes: some more than those that tell the format, unless there are fewer.
    pub(crate) fn start(&mut self) -> Result<Vec<u8>> {
        let mut start = vec![0; BLOCK];
        let mut len = 0;
        while len < START {
            match self.read(start.get_mut(len..).unwrap_or_default())? {
                0 => break,
                more => len += more,
            }
        }
        start.truncate(len);
        Ok(start)
    }

    /// Replaces `piece` by the next bytes. Empty at the end, and after a signal.
    pub(crate) fn next(&mut self, piece: &mut Vec<u8>) -> Result<()> {
        piece.resize(BLOCK, 0);
        let len = self.read(piece)?;
        piece.truncate(len);
        Ok(())
    }

    /// Reads the next bytes into `room`. 0 at the end, and after a signal.
    pub(crate) fn read(&mut self, room: &mut [u8]) -> Result<usize> {
        loop {
            if self.stop.is_set() {
                return Ok(0);
            }
            if self.len.is_none() && !self.is_ready()? {
                continue;
            }
            match self.file.read(room) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => return read.with_context(|| format!("cannot read {}", self.name)),
            }
        }
    }

    /// Waits for bytes or the end, for a moment. False if there is neither.
    fn is_ready(&self) -> Result<bool> {
        let mut polled = [PollFd::new(self.file.as_fd(), PollFlags::POLLIN)];
        match poll(&mut polled, PollTimeout::from(WAIT)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(error).with_context(|| format!("cannot wait for {}", self.name)),
        }
    }
}
