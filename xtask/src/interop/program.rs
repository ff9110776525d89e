//! A program of a scenario: its output and its end.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Interval between two polls of a program.
const TICK: Duration = Duration::from_millis(10);

/// A running program, killed when dropped.
pub(crate) struct Program {
    name: String,
    child: Child,
    output: Stream,
    errors: Stream,
}

impl Program {
    /// Starts `command`. Lines of its output are shown after `name`; its input stays open until
    /// [`Program::feed`] or the end.
    pub(crate) fn start(name: &str, command: &mut Command) -> Result<Self, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{name}: {error}"))?;
        let output = Stream::read(child.stdout.take());
        let errors = Stream::read(child.stderr.take());
        Ok(Self { name: name.to_owned(), child, output, errors })
    }

    /// Starts `command`, waits for its end, and returns its standard output.
    pub(crate) fn run(name: &str, command: &mut Command, timeout: Duration) -> Result<Vec<u8>, String> {
        Self::start(name, command)?.finish(timeout)
    }

    /// Writes all input of the program, and closes it.
    pub(crate) fn feed(&mut self, input: &[u8]) -> Result<(), String> {
        let mut stdin = self.child.stdin.take().ok_or("its input is closed")?;
        stdin.write_all(input).map_err(|error| self.broken(&format!("its input: {error}")))
    }

    /// Waits for a line of its output that starts with `start`.
    ///
    /// # Errors
    /// The program ends before, or prints no such line within `timeout`.
    pub(crate) fn wait_for(&mut self, start: &str, timeout: Duration) -> Result<(), String> {
        let said = |program: &Self| program.output.text().lines().any(|line| line.starts_with(start));
        if self.poll(timeout, said)? {
            Ok(())
        } else {
            Err(self.broken(&format!("has not printed {start:?}")))
        }
    }

    /// Waits until `ready`.
    ///
    /// # Errors
    /// The program ends before, or `ready` stays false for `timeout`.
    pub(crate) fn wait_until(&mut self, ready: impl Fn() -> bool, timeout: Duration) -> Result<(), String> {
        if self.poll(timeout, |_| ready())? { Ok(()) } else { Err(self.broken("is not ready")) }
    }

    fn poll(&mut self, timeout: Duration, done: impl Fn(&Self) -> bool) -> Result<bool, String> {
        let start = Instant::now();
        while start.elapsed() < timeout {
            let ended = self.ended()?;
            if done(self) {
                return Ok(true);
            }
            if let Some(status) = ended {
                return Err(self.broken(&status.to_string()));
            }
            thread::sleep(TICK);
        }
        Ok(false)
    }

    /// Waits for its end, and returns its standard output.
    ///
    /// # Errors
    /// The program fails, or does not end within `timeout`.
    pub(crate) fn finish(mut self, timeout: Duration) -> Result<Vec<u8>, String> {
        let start = Instant::now();
        while start.elapsed() < timeout {
            if let Some(status) = self.ended()? {
                if !status.success() {
                    return Err(self.broken(&status.to_string()));
                }
                return Ok(self.output.bytes());
            }
            thread::sleep(TICK);
        }
        Err(self.broken(&format!("still runs after {} s", timeout.as_secs())))
    }

    /// Waits for its end, whatever its exit status.
    ///
    /// # Errors
    /// The program does not end within `timeout`.
    pub(crate) fn end(mut self, timeout: Duration) -> Result<Ended, String> {
        let start = Instant::now();
        while start.elapsed() < timeout {
            if let Some(status) = self.ended()? {
                return Ok(Ended {
                    code: status.code(),
                    output: self.output.bytes(),
                    errors: self.errors.text(),
                });
            }
            thread::sleep(TICK);
        }
        Err(self.broken(&format!("still runs after {} s", timeout.as_secs())))
    }

    /// Process ID.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM, and waits for the end.
    ///
    /// # Errors
    /// The program does not stop, or exits with an error.
    pub(crate) fn terminate(self, timeout: Duration) -> Result<(), String> {
        let mut kill = Command::new("kill");
        let sent = kill.args(["-TERM", &self.child.id().to_string()]).status();
        if !sent.is_ok_and(|status| status.success()) {
            return Err(self.broken("ended before the signal"));
        }
        self.finish(timeout).map(drop)
    }

    /// Kills the program.
    pub(crate) fn kill(&mut self) {
        // Fails if the program has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Output so far.
    pub(crate) fn said(&self) -> String {
        let said = self.output.text() + &self.errors.text();
        said.lines().map(|line| format!("  {}: {line}\n", self.name)).collect()
    }

    /// An error with the output so far.
    fn broken(&self, what: &str) -> String {
        format!("{}: {what}\n{}", self.name, self.said())
    }

    /// Exit status if the program has ended; all its output has been read then.
    fn ended(&mut self) -> Result<Option<ExitStatus>, String> {
        let ended = self.child.try_wait().map_err(|error| format!("{}: {error}", self.name))?;
        if ended.is_some() {
            self.output.close();
            self.errors.close();
        }
        Ok(ended)
    }
}

/// Exit code and output of a program that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// `None` after a signal.
    pub(crate) code: Option<i32>,
    pub(crate) output: Vec<u8>,
    pub(crate) errors: String,
}

impl Ended {
    /// Output and error output.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned() + &self.errors
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Output of a program. A thread reads it until it is closed, so that the program never waits for a reader.
struct Stream {
    said: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Stream {
    fn read(source: Option<impl Read + Send + 'static>) -> Self {
        let said = Arc::new(Mutex::new(Vec::new()));
        let to = Arc::clone(&said);
        let reader = source.map(|mut source| {
            thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(count @ 1..) = source.read(&mut buffer) {
                    to.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&buffer[..count]);
                }
            })
        });
        Self { said, reader }
    }

    /// Waits for the end of the stream.
    fn close(&mut self) {
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }

    fn bytes(&self) -> Vec<u8> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}
