//! The log of a server: lines for standard error, which never block the server and never end it.
//!
//! A thread writes them from a bounded queue. Lines that do not fit, because the pipe is not read, and lines
//! that cannot be written, because the disk is full, are dropped; the next line written reports their number.

use hashlane_stats::escape::lines;
use hashlane_stats::nearest::suggestion;
use std::env;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::os::fd::AsFd;
use std::panic;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tracing_subscriber::filter::LevelFilter;

/// Bytes of lines that wait to be written.
const QUEUE: usize = 256 << 10;
/// Time to write the last lines, at the end of a command: a reader that takes them is not missed on a loaded
/// machine, and one that takes nothing holds the command up no longer.
pub const LAST_LINES: Duration = Duration::from_secs(1);
/// Pause after a write to a non-blocking standard error that is full.
const PAUSE: Duration = Duration::from_millis(10);

/// Values of `HASHLANE_LOG`.
const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];

/// The level that a value of `HASHLANE_LOG` names; info if it is not set or empty.
fn level(value: Option<&OsStr>) -> io::Result<LevelFilter> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(LevelFilter::INFO) };
    let text = value.to_string_lossy();
    let known = LEVELS.iter().any(|level| level.eq_ignore_ascii_case(&text));
    match text.parse() {
        Ok(level) if known => Ok(level),
        _ => {
            let (last, others) = LEVELS.split_last().unwrap_or((&"", &[]));
            let advice = suggestion(&text.to_ascii_lowercase(), LEVELS);
            let others = others.join(", ");
            Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "HASHLANE_LOG={text} is not a level: set {others} or {last}, for all of the log{advice}"
                ),
            ))
        }
    }
}

/// A queue of lines, and the thread that writes them.
#[derive(Clone)]
pub struct Log(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified of new lines, and when all are written.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    /// Lines that did not fit and are not reported yet.
    dropped: u64,
    /// Set while the thread writes lines from the queue.
    writing: bool,
}

impl Log {
    /// Sends what `tracing` reports, and panics, to standard error. The variable `HASHLANE_LOG` sets the
    /// level.
    ///
    /// # Errors
    /// `HASHLANE_LOG` names no level, no thread or descriptor is available, or a log has been started before.
    pub fn start() -> io::Result<Self> {
        // A new descriptor: other writers to standard error do not wait for a lock of this thread.
        let log = Self::stderr()?;
        let level = level(env::var_os("HASHLANE_LOG").as_deref())?;
        let (lines, ansi) = (log.clone(), console::colors_enabled_stderr());
        tracing_subscriber::fmt()
            .with_writer(move || Line(lines.clone(), ansi))
            .log_internal_errors(false)
            .with_max_level(level)
            .with_ansi(ansi)
            .with_target(false)
            .try_init()
            .map_err(|error| io::Error::other(format!("cannot start the log: {error}")))?;
        panic::set_hook(Box::new(|panic| {
            let text = panic.payload().downcast_ref::<&str>().copied();
            let string = panic.payload().downcast_ref::<String>().map(String::as_str);
            let (thread, what) = (thread::current(), text.or(string));
            let at = panic.location().map(ToString::to_string);
            tracing::error!(thread = thread.name(), at, what, "a thread has panicked; report this defect");
        }));
        Ok(log)
    }

    /// Lines for standard error, of a command that serves others.
    ///
    /// # Errors
    /// No thread or descriptor is left.
    pub fn stderr() -> io::Result<Self> {
        Self::to(File::from(io::stderr().as_fd().try_clone_to_owned()?))
    }

    /// Lines for standard output, of a command that serves others.
    ///
    /// # Errors
    /// No thread or descriptor is left.
    pub fn stdout() -> io::Result<Self> {
        Self::to(File::from(io::stdout().as_fd().try_clone_to_owned()?))
    }

    /// Adds the lines of a text, with control characters escaped.
    pub fn add(&self, text: &str) {
        self.0.push(lines(text).as_bytes());
    }

    /// A log that writes to `sink`.
    fn to(sink: impl Write + Send + 'static) -> io::Result<Self> {
        let log = Self(Arc::default());
        let shared = Arc::clone(&log.0);
        thread::Builder::new().name("log".into()).spawn(move || shared.write_to(sink))?;
        Ok(log)
    }

    /// Waits until all lines are written, at most for `timeout`.
    pub fn flush(&self, timeout: Duration) {
        let end = Instant::now() + timeout;
        let mut state = self.0.lock();
        while !state.waiting.is_empty() || state.writing {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.0.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, line: &[u8]) {
        let mut state = self.lock();
        if state.waiting.len() + line.len() > QUEUE {
            state.dropped += 1;
        } else {
            state.waiting.extend_from_slice(line);
            self.changed.notify_all();
        }
    }

    /// Writes lines for as long as the process lasts.
    fn write_to(&self, mut sink: impl Write) {
        let mut lines = Vec::new();
        let mut dropped = 0;
        loop {
            lines.clear();
            let mut state = self.lock();
            while state.waiting.is_empty() {
                state.writing = false;
                self.changed.notify_all();
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            mem::swap(&mut lines, &mut state.waiting);
            dropped += mem::take(&mut state.dropped);
            state.writing = true;
            drop(state);
            dropped += write(&mut sink, &lines);
            // Lines dropped meanwhile are reported at once, as the sink accepts lines now.
            dropped += mem::take(&mut self.lock().dropped);
            if dropped > 0 {
                let report = format!("hashlane: {dropped} lines of the log were dropped\n");
                if write(&mut sink, report.as_bytes()) == 0 {
                    dropped = 0;
                }
            }
        }
    }
}

/// Writes lines. Returns how many of them could not be written.
fn write(sink: &mut impl Write, mut lines: &[u8]) -> u64 {
    while !lines.is_empty() {
        match sink.write(lines) {
            Ok(0) => break,
            Ok(written) => lines = lines.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(PAUSE),
            Err(_) => break,
        }
    }
    lines.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// A text as one line: a value with a line feed cannot pretend to be another event.
fn one_line(text: &str) -> String {
    lines(&text.trim_end().replace('\n', "\u{fffd}"))
}

/// One line on its way into the queue, and if it has colours. Writing never fails and never waits.
struct Line(Log, bool);

impl Write for Line {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        // The values in a line with colours are escaped already, and one line is all that an event makes.
        let text =
            if self.1 { text.trim_end().replace(['\n', '\r'], "\u{fffd}") + "\n" } else { one_line(&text) };
        self.0.0.push(text.as_bytes());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Read};
    use std::os::unix::net::UnixStream;

    const HANG: Duration = Duration::from_secs(60);

    #[test]
    fn levels_are_named_in_the_error_about_another_one() {
        let level = |text: &str| level(Some(OsStr::new(text))).map_err(|error| error.to_string());
        assert_eq!(super::level(None).ok(), Some(LevelFilter::INFO));
        assert_eq!(level(""), Ok(LevelFilter::INFO));
        assert_eq!([level("off"), level("DEBUG")], [Ok(LevelFilter::OFF), Ok(LevelFilter::DEBUG)]);
        let all = "set error, warn, info, debug, trace or off, for all of the log";
        for (text, advice) in [
            ("bogus", ""),
            ("3", ""),
            ("inof", "; did you mean \"info\"?"),
            ("Warning", "; did you mean \"warn\"?"),
            ("hashlane=debug", ""),
        ] {
            assert_eq!(level(text), Err(format!("HASHLANE_LOG={text} is not a level: {all}{advice}")));
        }
    }

    #[test]
    fn control_characters_and_line_feeds_of_values_are_not_written() {
        let disk = Disk::default();
        disk.0.lock().unwrap().0 = true;
        let log = Log::to(disk.clone()).unwrap();
        let forged = b"INFO a\x1b[31m b\nERROR c\r d\x07 \xc2\x9b e\n";
        Line(log.clone(), false).write_all(forged).unwrap();
        Line(log.clone(), true).write_all(b"\x1b[32mINFO\x1b[0m b\nERROR c\r\n").unwrap();
        log.add("x\x1b[2Jy");
        log.flush(HANG);
        let text = String::from_utf8(disk.0.lock().unwrap().1.clone()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text:?}");
        assert!(
            lines[0].starts_with("INFO a\\u{1b}[31m b") && !lines[0].contains(char::is_control),
            "{text:?}"
        );
        assert_eq!(lines[1], "\x1b[32mINFO\x1b[0m b\u{fffd}ERROR c");
        assert_eq!(lines[2], "x\\u{1b}[2Jy");
    }

    /// A sink that fails until it is repaired.
    #[derive(Clone, Default)]
    struct Disk(Arc<Mutex<(bool, Vec<u8>)>>);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut disk = self.0.lock().unwrap();
            if !disk.0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            disk.1.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_cannot_be_written_are_counted_with_the_first_that_can() {
        let disk = Disk::default();
        let log = Log::to(disk.clone()).unwrap();
        for number in 0..5 {
            Line(log.clone(), false).write_all(format!("lost {number}\n").as_bytes()).unwrap();
            log.flush(HANG);
        }
        disk.0.lock().unwrap().0 = true;
        Line(log.clone(), false).write_all(b"kept\n").unwrap();
        log.flush(HANG);
        let text = String::from_utf8(disk.0.lock().unwrap().1.clone()).unwrap();
        assert_eq!(text, "kept\nhashlane: 5 lines of the log were dropped\n");
    }

    #[test]
    fn a_reader_that_does_not_read_costs_lines_and_neither_time_nor_memory() {
        const LINES: u64 = 100_000;
        let (sink, reader) = UnixStream::pair().unwrap();
        reader.set_read_timeout(Some(HANG)).unwrap();
        let log = Log::to(sink).unwrap();
        for number in 0..LINES {
            Line(log.clone(), false).write_all(format!("line {number:>40}\n").as_bytes()).unwrap();
        }
        assert!(log.0.lock().waiting.capacity() <= 2 * QUEUE);
        // Now it reads, and hears how many are missing.
        let (mut came, mut missing) = (0, 0);
        let mut lines = BufReader::new(reader).lines();
        while came + missing < LINES {
            let text = lines.next().unwrap().unwrap();
            match text.strip_prefix("hashlane: ") {
                Some(report) => missing += report.split(' ').next().unwrap().parse::<u64>().unwrap(),
                None => came += 1,
            }
        }
        assert_eq!(came + missing, LINES);
        assert!(missing > LINES / 2, "{missing}");
    }

    #[test]
    fn flushing_into_a_full_pipe_ends() {
        let (sink, mut reader) = UnixStream::pair().unwrap();
        let log = Log::to(sink).unwrap();
        Line(log.clone(), false).write_all(&vec![b'x'; QUEUE]).unwrap();
        Line(log.clone(), false).write_all(b"\n").unwrap();
        log.flush(Duration::from_millis(50));
        let mut first = [0];
        reader.read_exact(&mut first).unwrap();
        assert_eq!(first, *b"x");
    }
}
