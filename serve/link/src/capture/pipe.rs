//! Pipes, whose bytes may be long in coming.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};

/// Milliseconds of a wait.
const WAIT: u8 = 100;

/// A pipe, terminal or socket that ends once `stop` is true. A read returns [`io::ErrorKind::WouldBlock`]
/// after [`WAIT`] without bytes.
pub(super) struct Pipe<'a> {
    file: File,
    stop: &'a AtomicBool,
}

impl<'a> Pipe<'a> {
    pub(super) const fn new(file: File, stop: &'a AtomicBool) -> Self {
        Self { file, stop }
    }
}

impl Read for Pipe<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Ok(0);
        }
        let mut fds = [PollFd::new(self.file.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, PollTimeout::from(WAIT)) {
            Ok(0) | Err(Errno::EINTR) => Err(io::ErrorKind::WouldBlock.into()),
            Ok(_) => self.file.read(out),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// A stream that waits on while the one within returns [`io::ErrorKind::WouldBlock`], as a [`Pipe`] does.
pub(super) struct Patient<R>(pub(super) R);

impl<R: Read> Read for Patient<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(out) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
        }
    }
}
