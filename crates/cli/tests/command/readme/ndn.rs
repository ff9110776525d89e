//! The README's commands for Named Data Networking, run in a shell as they stand, and the configurations of
//! its page.

use super::{README, blocks};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The folder of the command, which the shell finds it in.
fn bin() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_hashlane")).parent().expect("the folder of the command")
}

/// Long enough for any machine, so that a test that hangs ends.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A folder that is gone in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("hashlane-readme-{name}-{}", std::process::id()));
        fs::create_dir(&folder).expect("a folder");
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A shell as a user has one, in a folder, which ends its jobs when it ends.
struct Shell {
    shell: Child,
    commands: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Shell {
    fn new(folder: &Path) -> Self {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("bash")
            .arg("-s")
            .current_dir(folder)
            .env("PATH", format!("{}:{path}", bin().display()))
            .env_remove("NDN_CLIENT_TRANSPORT")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("bash");
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
    fn run(&mut self, block: &str) -> String {
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

    /// Gives a command again and again until it succeeds: what a user sees before going on.
    fn wait_for(&mut self, command: &str) {
        self.run(&format!("until {command}; do sleep 0.05; done"));
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // At the end of its input it ends, and its jobs.
        self.commands = None;
        let _ = self.shell.wait();
    }
}

/// The part of a page under a heading.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let start = page.find(heading).expect("the heading") + heading.len();
    let rest = &page[start..];
    &rest[..rest.find("\n## ").unwrap_or(rest.len())]
}

#[test]
fn the_commands_of_the_readme_ping_across_two_forwarders() {
    // The ports are those of the README: one run at a time.
    let lock = File::create(std::env::temp_dir().join("hashlane-readme.lock")).expect("a file to lock");
    lock.lock().expect("the lock");
    let blocks = blocks(section(README, "\n## Named Data Networking\n"), "sh");
    let [forwarders, server, ping, manage, configure] = blocks[..] else { panic!("{blocks:?}") };
    let folder = Folder::new("two");
    let mut shell = Shell::new(&folder.0);

    shell.run(forwarders);
    for socket in ["a.sock", "b.sock"] {
        shell.wait_for(&format!("hashlane ndn status --connect unix://$PWD/{socket} >/dev/null 2>&1"));
    }
    assert!(shell.run(server).contains("route-added prefix=/example "));
    shell.wait_for("hashlane ndn route list --connect unix://$PWD/b.sock | grep -q prefix=/example/ping");

    let said = shell.run(ping);
    assert!(said.contains("3 packets transmitted, 3 received, 0 lost"), "{said}");
    let said = shell.run("hashlane ndn face list --connect unix://$PWD/b.sock");
    let from_a = said.lines().find(|face| face.contains("remote=udp4://127.0.0.1:16363 ")).expect("a face");
    assert!(from_a.contains(" in-interests=3 ") && from_a.contains(" out-data=3 "), "{from_a}");

    let said = shell.run(manage);
    let message =
        ["version", "remote=udp4://127.0.0.1:16364 ", "prefix=/example ", "strategy/multicast", "\"hits\""];
    message.iter().for_each(|part| assert!(said.contains(part), "{part} in\n{said}"));
    assert!(shell.run(configure).contains("forwarder.toml is a valid configuration"));
    assert!(README.contains("`kill %1 %2 %3` ends it all"));
    shell.run("kill %1 %2 %3\nwait");
    assert!(!folder.0.join("a.sock").exists(), "it takes its socket away");
}

#[test]
fn the_package_is_where_the_readme_installs_it_from() {
    let (_, rest) = README.split_once("`cargo install --path ").expect("how to install it");
    let (path, _) = rest.split_once('`').expect("a path");
    assert_eq!(Path::new("../..").join(path).canonicalize().ok(), Path::new(".").canonicalize().ok());
}

#[test]
fn the_configurations_of_the_page_are_some() {
    let folder = Folder::new("configurations");
    let configurations = blocks(include_str!("../../../../../docs/ndn.md"), "toml");
    assert!(!configurations.is_empty());
    for configuration in configurations {
        let file = folder.0.join("forwarder.toml");
        fs::write(&file, configuration).expect("a file");
        let checked =
            Command::new(env!("CARGO_BIN_EXE_hashlane")).args(["ndn", "check-config"]).arg(&file).output();
        assert!(checked.as_ref().is_ok_and(|checked| checked.status.success()), "{checked:?}");
    }
}
