//! A process beside a test, and the lines that it prints.

use crate::children::{PROMPT, start};
use crate::wait;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// A process, killed when dropped, and the lines that it prints.
pub struct Process {
    /// The process itself.
    pub child: Child,
    /// Lines so far.
    pub lines: Arc<Mutex<Vec<String>>>,
    /// Ends after the last line.
    reader: Option<JoinHandle<()>>,
}

impl Process {
    /// A process, and the pipe with the lines that it prints.
    pub fn new(mut child: Child, output: impl Read + Send + 'static) -> Self {
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let printed = Arc::clone(&lines);
        let reader = thread::spawn(move || {
            BufReader::new(output)
                .lines()
                .map_while(Result::ok)
                .for_each(|line| printed.lock().unwrap().push(line));
        });
        // An unread pipe would block the process.
        if let Some(mut output) = child.stdout.take() {
            thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        }
        Self { child, lines, reader: Some(reader) }
    }

    /// A process with the lines of its standard output.
    pub fn printing(mut command: Command) -> Self {
        let mut child = start(command.stderr(Stdio::null()));
        let output = child.stdout.take().unwrap();
        Self::new(child, output)
    }

    /// Number of lines that contain a text.
    pub fn count(&self, text: &str) -> usize {
        self.lines.lock().unwrap().iter().filter(|line| line.contains(text)).count()
    }

    /// Waits until `lines` lines contain the text.
    #[track_caller]
    pub fn wait_for(&self, text: &str, lines: usize) {
        until(|| self.count(text) >= lines, || format!("{text:?} in {:#?}", self.lines.lock().unwrap()));
    }

    /// Sends a signal, by its name: `-INT`.
    pub fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Waits for its end, and for the last of its lines.
    #[track_caller]
    pub fn end(mut self) -> Option<i32> {
        let lines = || format!("its end after {:#?}", self.lines.lock().unwrap());
        until(|| self.child.try_wait().unwrap().is_some(), lines);
        let code = self.child.wait().unwrap().code();
        self.reader.take().map(JoinHandle::join).transpose().unwrap();
        code
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for a condition; the deadline stops a hang.
#[track_caller]
pub fn until(done: impl FnMut() -> bool, what: impl Fn() -> String) {
    assert!(wait::until(PROMPT, done), "waited in vain for {}", what());
}
