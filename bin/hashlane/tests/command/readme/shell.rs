//! A shell that runs blocks of a page.

use hashlane_rig::children::{PROMPT, start, status_within};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The folder of the command, which the shell finds it in.
fn bin() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_hashlane")).parent().expect("the folder of the command")
}

/// Long enough for a study on a machine that others load, so that a test that hangs ends.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A shell as a user has one, in a folder, which ends its jobs when it ends.
pub(super) struct Shell {
    shell: Child,
    commands: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Shell {
    pub(super) fn new(folder: &Path) -> Self {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("bash");
        command
            .arg("-s")
            .current_dir(folder)
            .env("PATH", format!("{}:{path}", bin().display()))
            .env_remove("NDN_CLIENT_TRANSPORT")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let mut shell = start(&mut command);
        let (sender, lines) = channel();
        let out = BufReader::new(shell.stdout.take().expect("its output"));
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let commands = shell.stdin.take();
        let mut shell = Self { shell, commands, lines };
        shell.give("trap 'kill $(jobs -p) 2>/dev/null' EXIT\n");
        shell
    }

    fn give(&mut self, commands: &str) {
        self.commands.as_mut().expect("a shell").write_all(commands.as_bytes()).expect("a shell that reads");
    }

    /// Runs a block of commands; what it printed. Each must succeed.
    pub(super) fn run(&mut self, block: &str) -> String {
        self.give(&format!("trap 'echo FAILED: $BASH_COMMAND' ERR\n{block}\ntrap - ERR\necho; echo END\n"));
        let (mut said, begun) = (String::new(), Instant::now());
        loop {
            let left = TIMEOUT.saturating_sub(begun.elapsed());
            let line = self.lines.recv_timeout(left).unwrap_or_else(|_| panic!("{block}\nsaid only\n{said}"));
            assert!(!line.starts_with("FAILED"), "{line}\n{said}");
            if line == "END" {
                return said;
            }
            said += &line;
            said.push('\n');
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // At the end of its input it ends, and its jobs.
        self.commands = None;
        if status_within(&mut self.shell, PROMPT).is_none() {
            // A command that does not end; the shell then ends its jobs, too.
            let _ = kill(Pid::from_raw(self.shell.id() as i32), Signal::SIGTERM);
            if status_within(&mut self.shell, PROMPT).is_none() {
                let _ = self.shell.kill();
                let _ = self.shell.wait();
            }
        }
    }
}
