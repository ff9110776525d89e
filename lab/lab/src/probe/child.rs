//! A program that is given some text, and a limit of time and of output.

use std::io::{self, ErrorKind, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// Limits on the time and the output of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) time: Duration,
    /// Bytes of output, and as many of error messages.
    pub(super) output: u64,
}

/// Exit status and output of a program that ended by itself.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Starts `command`, writes `input` to it and collects its output until it ends; kills it if it exceeds a
/// limit.
///
/// # Errors
/// The program, and the reason for which it did not end by itself.
pub(super) fn run(command: &mut Command, input: &str, limits: Limits) -> Result<Ended, String> {
    let deadline = Instant::now() + limits.time;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let attended = command.spawn().and_then(|mut child| {
        let ended = attend(&mut child, input, limits, deadline);
        if ended.is_err() {
            // The program may have ended meanwhile; then there is nothing to kill, and the result is ignored.
            let _ = child.kill();
            let _ = child.wait();
        }
        ended
    });
    attended.map_err(|error| {
        let program = command.get_program().display();
        match error.kind() {
            ErrorKind::TimedOut => format!("{program}: stopped after {} seconds", limits.time.as_secs()),
            ErrorKind::FileTooLarge => format!("{program}: stopped after {} bytes of output", limits.output),
            _ => format!("{program}: {error}"),
        }
    })
}

fn attend(child: &mut Child, input: &str, limits: Limits, deadline: Instant) -> io::Result<Ended> {
    // The threads are not joined: a program of the child's own could hold its pipes open.
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_owned();
        // A program may end without reading its input; the failed write is no error.
        thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    }
    let stdout = collect(child.stdout.take(), limits.output);
    let stderr = collect(child.stderr.take(), limits.output);
    let stdout = text(&stdout, limits.output, deadline)?;
    let stderr = text(&stderr, limits.output, deadline)?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended { status, stdout, stderr });
        }
        if Instant::now() >= deadline {
            return Err(ErrorKind::TimedOut.into());
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Reads a stream to its end, or until it is beyond the limit.
fn collect(stream: Option<impl Read + Send + 'static>, limit: u64) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stream.map_or(Ok(0), |stream| stream.take(limit + 1).read_to_end(&mut bytes));
        // The receiver is gone once the time is over.
        let _ = sender.send(read.map(|_| bytes));
    });
    receiver
}

fn text(from: &Receiver<io::Result<Vec<u8>>>, limit: u64, deadline: Instant) -> io::Result<String> {
    let left = deadline.saturating_duration_since(Instant::now());
    let bytes = from.recv_timeout(left).map_err(|_| ErrorKind::TimedOut)??;
    if bytes.len() as u64 > limit {
        return Err(ErrorKind::FileTooLarge.into());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { time: Duration::from_secs(20), output: 1000 };

    fn sh(script: &str, input: &str, limits: Limits) -> Result<Ended, String> {
        run(Command::new("sh").args(["-c", script]), input, limits)
    }

    #[test]
    fn passes_text_in_and_out() {
        let ended = sh("cat; echo no >&2; exit 3", "yes", LIMITS).unwrap();
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("yes", "no\n"));
        assert_eq!(ended.status.code(), Some(3));
    }

    #[test]
    fn ends_what_takes_too_long() {
        let start = Instant::now();
        let limits = Limits { time: Duration::from_millis(100), ..LIMITS };
        // The second keeps nothing open that could be waited for, the third leaves a child behind.
        for script in ["exec sleep 600", "exec sleep 600 >&- 2>&-", "sleep 600; true"] {
            assert_eq!(sh(script, "", limits).unwrap_err(), "sh: stopped after 0 seconds", "{script}");
        }
        assert!(start.elapsed() < Duration::from_secs(300), "it waited for the programs' own end");
    }

    #[test]
    fn ends_what_prints_too_much() {
        for script in ["exec yes", "exec yes >&2"] {
            assert_eq!(sh(script, "", LIMITS).unwrap_err(), "sh: stopped after 1000 bytes of output");
        }
        assert_eq!(sh("head -c 1000 /dev/zero", "", LIMITS).unwrap().stdout.len(), 1000);
    }
}
