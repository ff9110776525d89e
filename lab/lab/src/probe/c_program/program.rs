//! A running C program, asked over a pipe.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::compiler::Built;

/// A C program of a study in a separate process, with an empty environment. It ends when this is dropped.
#[derive(Debug)]
pub struct Program {
    child: Child,
    requests: File,
    answers: File,
    /// The first failure, after which nothing is asked.
    failure: Option<String>,
    /// Keeps the file of the program while it runs.
    _built: Built,
}

/// Longest wait for an answer, or for the program to take a request.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of a write that a pipe takes at once, if it takes any (POSIX `PIPE_BUF` is 512 or more).
const CHUNK: usize = 4096;

impl Program {
    /// Starts a program.
    ///
    /// # Errors
    /// It cannot be started, as from a folder that is mounted `noexec`.
    pub fn start(built: Built) -> Result<Self, String> {
        let fail = |error| format!("{}: {error}", built.path().display());
        let mut command = Command::new(built.path());
        // In a new process group: Ctrl-C is to end the study after its block, not the program before.
        command.env_clear().process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(fail)?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(requests), Some(answers)) => {
                let (requests, answers) = (OwnedFd::from(requests), OwnedFd::from(answers));
                Ok(Self {
                    child,
                    requests: requests.into(),
                    answers: answers.into(),
                    failure: None,
                    _built: built,
                })
            }
            // Both were asked for.
            _ => Err(fail(ErrorKind::BrokenPipe.into())),
        }
    }

    /// Sends a request, its words in the machine's order and then `bytes`, and fills `answer`.
    ///
    /// If the program has ended, or takes longer than a minute to read or to answer, that is its
    /// [`failure`](Self::failure), and later requests are not sent.
    pub fn ask(&mut self, words: &[u64], bytes: &[&[u8]], answer: &mut [u8]) {
        if self.failure.is_none() {
            let words: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            let sent = self.send(&words).and_then(|()| bytes.iter().try_for_each(|bytes| self.send(bytes)));
            let failed = sent.and_then(|()| self.receive(answer)).err();
            self.failure = failed.map(|error| format!("the C program gives no answer: {error}"));
        }
    }

    /// The reason for which the answers to the last requests are not to be used.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    fn receive(&mut self, mut answer: &mut [u8]) -> io::Result<()> {
        while !answer.is_empty() {
            let read = wait(&self.answers, PollFlags::POLLIN).and_then(|()| self.answers.read(answer));
            match read {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(taken) => answer = answer.get_mut(taken..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        for chunk in bytes.chunks(CHUNK) {
            wait(&self.requests, PollFlags::POLLOUT)?;
            self.requests.write_all(chunk)?;
        }
        Ok(())
    }
}

/// Waits until the program has read or written.
fn wait(pipe: &File, event: PollFlags) -> io::Result<()> {
    let timeout = PollTimeout::try_from(PATIENCE).unwrap_or(PollTimeout::MAX);
    loop {
        match poll(&mut [PollFd::new(pipe.as_fd(), event)], timeout) {
            Ok(0) => return Err(ErrorKind::TimedOut.into()),
            Ok(_) => return Ok(()),
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
