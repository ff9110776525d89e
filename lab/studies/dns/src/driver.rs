//! Renderers in other languages: a driver in a child process parses, renders and times messages.
//!
//! The drivers are in `drivers/`; the head of `drivers/dnspython.py` describes their requests and answers.

use hashlane_lab::study::Child;
use hashlane_peers::dns::Render;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Most time for a rendering, or for another answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time for a driver to end after it closed its output.
const END: Duration = Duration::from_secs(1);

/// Most bytes of a line.
const LINE: u64 = 1000;

/// Reason that a driver has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum DriverError {
    /// The program cannot be started, or its folder not be made.
    #[error("its driver does not start: {0}")]
    Start(String),
    /// The driver ended, or closed its output. With its last output.
    #[error("its driver {0}")]
    Ended(String),
    /// The driver wrote something else than an answer.
    #[error("its driver answered {0:?}; expected `ok LENGTH` or `error TEXT`")]
    Unexpected(String),
    /// The time that a driver answered is not possible.
    #[error("its driver answered {answer:?} to {request:?} after {elapsed_ns} ns; expected `COUNT TOTAL`")]
    Time {
        /// The request for the time.
        request: String,
        /// The driver's answer.
        answer: String,
        /// Nanoseconds from the request to the answer.
        elapsed_ns: u128,
    },
    /// The library refused a message.
    #[error("{0}")]
    Refused(String),
}

/// A driver under way, with the messages that it has parsed. It is killed when this is dropped; it ends by
/// itself if this process is killed, as its input ends then.
#[derive(Debug)]
pub(crate) struct Driver {
    child: Child,
    requests: Sender<Vec<u8>>,
    answers: Receiver<Result<Vec<u8>, DriverError>>,
    patience: Duration,
    /// The last message that was rendered.
    rendered: Vec<u8>,
    /// The error that the driver was killed for.
    failed: Option<DriverError>,
    /// Folder of the driver's log and of its script.
    _folder: TempDir,
}

impl Driver {
    /// Starts a driver, by the command that `command` makes for a temporary folder.
    ///
    /// # Errors
    /// [`DriverError::Start`].
    pub(crate) fn start(
        command: impl FnOnce(&Path) -> Result<Command, String>,
        patience: Option<Duration>,
    ) -> Result<Self, DriverError> {
        let folder = tempfile::tempdir().map_err(|error| DriverError::Start(error.to_string()))?;
        let command = command(folder.path()).map_err(DriverError::Start)?;
        let child = Child::new(command, folder.path().join("log"), true, true);
        let mut child = child.map_err(|error| DriverError::Start(error.to_string()))?;
        let pipes = child.program.child();
        let (input, output) = (pipes.stdin.take(), pipes.stdout.take());
        let (requests, to_send) = channel();
        let (answered, answers) = channel();
        if let (Some(input), Some(output)) = (input, output) {
            // Pipes have no deadline. Both end with the driver, and the thread with them.
            thread::spawn(move || exchange(input, output, &to_send, &answered));
        }
        let patience = patience.unwrap_or(PATIENCE);
        Ok(Self { child, requests, answers, patience, rendered: Vec::new(), failed: None, _folder: folder })
    }

    /// The library and the language, with their versions.
    ///
    /// # Errors
    /// The driver has no answer, for example as its library is missing.
    pub(crate) fn version(&mut self) -> Result<String, DriverError> {
        let version = self.ask(b"version\n".to_vec(), self.patience)?;
        Ok(String::from_utf8_lossy(&version).into_owned())
    }

    /// Sends a message in wire form, for the library to parse.
    ///
    /// # Errors
    /// The library does not take it, or the driver has no answer.
    pub(crate) fn add(&mut self, message: &[u8]) -> Result<(), DriverError> {
        let request = [format!("message {}\n", message.len()).as_bytes(), message].concat();
        self.ask(request, self.patience).map(drop)
    }

    /// Sends a request and waits for its answer. A driver that does not answer as it should is killed; all
    /// later requests have the same error.
    fn ask(&mut self, request: Vec<u8>, patience: Duration) -> Result<Vec<u8>, DriverError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        // Without the thread there is no answer either.
        let _ = self.requests.send(request);
        let error = match self.answers.recv_timeout(patience) {
            Ok(Ok(bytes)) => return Ok(bytes),
            Ok(Err(refused @ DriverError::Refused(_))) => return Err(refused),
            Ok(Err(error)) => error,
            Err(RecvTimeoutError::Timeout) => {
                self.ended(&format!("did not answer within {} s", patience.as_secs()))
            }
            Err(RecvTimeoutError::Disconnected) => match self.child.program.wait(END) {
                Ok(Some(status)) => self.ended(&format!("ended ({status})")),
                _ => self.ended("closed its output"),
            },
        };
        Err(self.fail(error))
    }

    /// An error with the driver's last output.
    fn ended(&self, what: &str) -> DriverError {
        DriverError::Ended(self.child.failed(what).to_string())
    }

    fn fail(&mut self, error: DriverError) -> DriverError {
        self.child.program.kill();
        self.failed = Some(error.clone());
        error
    }
}

impl Render for Driver {
    fn render(&mut self, message: usize) -> Result<&[u8], String> {
        let rendered = self.ask(format!("render {message}\n").into_bytes(), self.patience);
        self.rendered = rendered.map_err(|error| error.to_string())?;
        Ok(&self.rendered)
    }

    fn time(&mut self, message: usize, least_ns: u64) -> Option<Result<f64, String>> {
        let request = format!("time {message} {least_ns}");
        let begun = Instant::now();
        // It renders the message at least twice.
        let patience = 2 * self.patience + Duration::from_nanos(least_ns);
        let answer = match self.ask(format!("{request}\n").into_bytes(), patience) {
            Ok(answer) => String::from_utf8_lossy(&answer).into_owned(),
            Err(error) => return Some(Err(error.to_string())),
        };
        let elapsed_ns = begun.elapsed().as_nanos();
        let time = per_rendering(&answer, u128::from(least_ns), elapsed_ns);
        let error = DriverError::Time { request, answer, elapsed_ns };
        Some(time.ok_or_else(|| self.fail(error).to_string()))
    }
}

/// Nanoseconds per rendering; `None` if `answer` is not a number of renderings and a time between the two.
fn per_rendering(answer: &str, least_ns: u128, most_ns: u128) -> Option<f64> {
    let (count, total) = answer.split_once(' ')?;
    let (count, total): (u64, u128) = (count.parse().ok()?, total.parse().ok()?);
    (count > 0 && (least_ns..=most_ns).contains(&total)).then(|| total as f64 / count as f64)
}

/// Sends requests and reads their answers, until a pipe is closed or an answer is malformed.
fn exchange(
    mut input: ChildStdin,
    output: ChildStdout,
    requests: &Receiver<Vec<u8>>,
    answers: &Sender<Result<Vec<u8>, DriverError>>,
) {
    let mut output = BufReader::new(output);
    for request in requests {
        if input.write_all(&request).and_then(|()| input.flush()).is_err() {
            break;
        }
        let Some(answer) = answer(&mut output) else { break };
        let is_last = matches!(answer, Err(DriverError::Unexpected(_)));
        if answers.send(answer).is_err() || is_last {
            break;
        }
    }
}

/// The next answer; `None` if the output has ended.
fn answer(output: &mut impl BufRead) -> Option<Result<Vec<u8>, DriverError>> {
    let mut line = Vec::new();
    output.by_ref().take(LINE).read_until(b'\n', &mut line).ok()?;
    if line.last() != Some(&b'\n') && (line.len() as u64) < LINE {
        return None;
    }
    let text = String::from_utf8_lossy(&line).trim_end().to_owned();
    match text.split_once(' ') {
        Some(("error", why)) => Some(Err(DriverError::Refused(why.to_owned()))),
        Some(("ok", length)) => match length.parse::<u16>() {
            Ok(length) => {
                let mut bytes = vec![0; usize::from(length)];
                output.read_exact(&mut bytes).ok()?;
                Some(Ok(bytes))
            }
            Err(_) => Some(Err(DriverError::Unexpected(text))),
        },
        _ => Some(Err(DriverError::Unexpected(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A script of the shell in place of a driver.
    fn shell(script: &str, patience: Duration) -> Driver {
        let command = |_: &Path| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            Ok(command)
        };
        Driver::start(command, Some(patience)).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    fn answered(script: &str) -> Result<String, DriverError> {
        shell(script, LONG).version()
    }

    #[test]
    fn answers_are_read_and_words_of_the_library_kept() {
        let script = "read line; printf 'ok 3\\na b'; read line; echo error too long; \
                      read line; printf 'ok 2\\n\\1\\2'; read line; printf 'ok 9\\n4 9000000'; read line";
        let mut driver = shell(script, LONG);
        assert_eq!(driver.version().unwrap(), "a b");
        assert_eq!(driver.add(b"").unwrap_err().to_string(), "too long");
        assert_eq!(driver.render(0).unwrap(), [1, 2]);
        // More time than has passed, for certain.
        let error = driver.time(0, 1000).unwrap().unwrap_err();
        assert!(error.starts_with("its driver answered \"4 9000000\" to \"time 0 1000\" after"), "{error}");
        assert_eq!(driver.render(0).unwrap_err(), error);
    }

    #[test]
    fn a_time_is_within_its_limits() {
        assert_eq!(per_rendering("4 1000", 1000, 1000), Some(250.0));
        for answer in ["4 999", "4 1001", "0 1000", "-4 1000", "4 1000.0", "4", "", "4 1000 1"] {
            assert_eq!(per_rendering(answer, 1000, 1000), None, "{answer:?}");
        }
    }

    #[test]
    fn a_driver_that_ends_is_an_error_with_its_last_output() {
        let error = answered("echo no memory >&2; exit 3").unwrap_err().to_string();
        assert_eq!(error, "its driver ended (exit status: 3); last output: no memory");
        let within = answered("printf 'ok 20\\nabc'; exit 0").unwrap_err().to_string();
        assert_eq!(within, "its driver ended (exit status: 0)");
        let missing = Driver::start(|_| Ok(Command::new("/no/such/program")), None).unwrap_err();
        assert!(missing.to_string().starts_with("its driver does not start: "), "{missing}");
    }

    #[test]
    fn a_driver_that_hangs_is_killed_even_if_it_reads_nothing() {
        let mut driver = shell("exec sleep 600", Duration::from_millis(200));
        let error = driver.add(&vec![0; 1 << 20]).unwrap_err();
        assert_eq!(error, DriverError::Ended("did not answer within 0 s".into()));
        assert!(driver.child.program.ended().unwrap().is_some());
        assert_eq!(driver.version(), Err(error));
    }

    #[test]
    fn other_output_is_an_error() {
        for said in ["hello", "ok", "ok 65536", "ok -1", "ok 2 3"] {
            let error = answered(&format!("read line; echo {said}; sleep 600")).unwrap_err();
            assert_eq!(error, DriverError::Unexpected(said.into()));
        }
        let endless = answered("yes | tr -d '\\n'").unwrap_err().to_string();
        assert!(endless.starts_with("its driver answered \"yyyy") && endless.len() < 1100, "{endless}");
    }
}
