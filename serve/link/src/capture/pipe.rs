//! Pipes, whose bytes may be long in coming.

use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};

/// Milliseconds of a wait.
#[cfg(unix)]
const WAIT: u8 = 100;

/// A pipe, terminal or socket that ends once `stop` is true. A read returns [`io::ErrorKind::WouldBlock`]
/// after 100 ms without bytes; on other systems than Unix it waits for bytes.
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
        if is_ready(&self.file)? { self.file.read(out) } else { Err(io::ErrorKind::WouldBlock.into()) }
    }
}

/// Waits for bytes or the end of the file for [`WAIT`].
#[cfg(unix)]
fn is_ready(file: &File) -> io::Result<bool> {
    use nix::errno::Errno;
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::os::fd::AsFd as _;

    let mut fds = [PollFd::new(file.as_fd(), PollFlags::POLLIN)];
    match poll(&mut fds, PollTimeout::from(WAIT)) {
        Ok(0) | Err(Errno::EINTR) => Ok(false),
        Ok(_) => Ok(true),
        Err(errno) => Err(errno.into()),
    }
}

/// The read waits.
#[cfg(not(unix))]
fn is_ready(_: &File) -> io::Result<bool> {
    Ok(true)
}

/// Standard input without the buffer of the standard library: bytes in it do not wake a wait for the
/// descriptor.
pub(super) fn unbuffered_stdin() -> io::Result<File> {
    #[cfg(unix)]
    let handle = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned();
    #[cfg(windows)]
    let handle = std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned();
    handle.map(File::from)
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
