//! `hashlane flow meter --top` in a pseudo terminal.

use crate::flow::{PATIENCE, capture, signal};
use hashlane_rig::children::{ended, start};
use hashlane_rig::command::{Folder, lines};
use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::termios::{LocalFlags, tcgetattr};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The second screen of a terminal, on and off.
const SHOWN: &str = "\x1b[?1049h";
const HIDDEN: &str = "\x1b[?1049l";

/// A run in a new terminal.
struct InTerminal {
    child: Child,
    keys: File,
    screen: Arc<Mutex<Vec<u8>>>,
    terminal: OwnedFd,
}

impl InTerminal {
    fn start(folder: &Folder, columns: u16, arguments: &[&str]) -> Self {
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let OpenptyResult { master, slave } = openpty(&size, None).unwrap();
        // The new terminal controls the process also where this test has another one.
        let mut command = Command::new("setsid");
        command.args(["--ctty", env!("CARGO_BIN_EXE_hashlane-flow"), "meter"]).args(arguments);
        command.current_dir(folder.path("")).env("TERM", "xterm");
        command.stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap());
        let child = start(command.stderr(slave.try_clone().unwrap()));
        let keys = File::from(master);
        let (mut from, screen) = (keys.try_clone().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let all = Arc::clone(&screen);
        thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(length @ 1..) = from.read(&mut part) {
                all.lock().unwrap().extend_from_slice(&part[..length]);
            }
        });
        Self { child, keys, screen, terminal: slave }
    }

    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
    }

    #[track_caller]
    fn wait(&self, text: &str) {
        let begun = Instant::now();
        while !self.screen().contains(text) {
            assert!(begun.elapsed() < PATIENCE, "{text:?} is not in:\n{}", self.screen());
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn press(&mut self, key: &str) {
        self.keys.write_all(key.as_bytes()).unwrap();
    }

    /// Exit code and screen at the end, where the terminal is as before.
    #[track_caller]
    fn end(mut self) -> (Option<i32>, String) {
        let code = ended(&mut self.child).code();
        // Behind all that it has written.
        File::from(self.terminal.try_clone().unwrap()).write_all(b"-- the end").unwrap();
        self.wait("-- the end");
        let screen = self.screen();
        assert_eq!(screen.matches(SHOWN).count(), screen.matches(HIDDEN).count(), "{screen}");
        let flags = tcgetattr(&self.terminal).unwrap().local_flags;
        assert!(flags.contains(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG), "{flags:?}");
        (code, screen)
    }
}

/// A run over a capture that goes on, with the flows of a test on the screen.
fn running(folder: &Folder, arguments: &[&str]) -> (InTerminal, File) {
    let pipe = folder.path("pipe");
    if !pipe.exists() {
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    }
    let run = InTerminal::start(folder, 100, &[&["pipe", "--top"], arguments].concat());
    // Held open, so that the run goes on.
    let mut pipe = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    pipe.write_all(&capture()).unwrap();
    run.wait("10.0.0.1:50000");
    assert!(run.screen().contains(SHOWN));
    (run, pipe)
}

#[test]
fn q_and_ctrl_c_and_sigterm_export_and_restore_the_terminal() {
    let folder = Folder::new();
    for (number, (key, code)) in [("q", 0), ("\x03", 130), ("TERM", 130)].into_iter().enumerate() {
        let file = format!("{number}.csv");
        let (mut run, pipe) = running(&folder, &["--csv", &file]);
        if key == "TERM" {
            signal(&run.child, "-TERM");
        } else {
            run.press("p");
            run.wait("paused");
            run.press(key);
        }
        let (ended, screen) = run.end();
        assert_eq!(ended, Some(code), "{screen}");
        assert_eq!(lines(&folder.path(&file)).len(), 6);
        let (_, after) = screen.rsplit_once(HIDDEN).unwrap();
        assert!(after.contains("14 packets, ") && after.contains("5 flows"), "{after}");
        drop(pipe);
    }
}

#[test]
fn an_output_that_fails_restores_the_terminal_and_is_named() {
    let folder = Folder::new();
    let (mut run, _pipe) = running(&folder, &["--csv", "/dev/full", "--force"]);
    run.press("q");
    let (code, screen) = run.end();
    assert_eq!(code, Some(1), "{screen}");
    let (_, after) = screen.rsplit_once(HIDDEN).unwrap();
    assert!(after.contains("cannot write /dev/full"), "{after}");
}

#[test]
fn the_end_of_a_capture_stays_until_q_or_ctrl_c() {
    let folder = Folder::new();
    folder.write("trace.pcap", capture());
    for (key, code) in [("q", 0), ("\x03", 130)] {
        let mut run = InTerminal::start(&folder, 100, &["trace.pcap", "--top"]);
        run.wait("10.0.0.1:50000");
        run.wait("ended");
        assert_eq!(run.child.try_wait().unwrap(), None);
        run.press(key);
        assert_eq!(run.end().0, Some(code));
    }
}

#[test]
fn a_terminal_that_is_too_narrow_is_an_error_before_anything_starts() {
    let folder = Folder::new();
    folder.write("trace.pcap", capture());
    let run = InTerminal::start(&folder, 60, &["trace.pcap", "--top", "--csv", "flows.csv"]);
    run.wait("--top needs a terminal of 80 columns and 10 rows, and this one has 60 and 24");
    let (code, screen) = run.end();
    assert!(code == Some(1) && !screen.contains(SHOWN), "{screen}");
    assert!(!folder.path("flows.csv").exists());
}
