//! The log of `hashlane ndn run`: no failure of it ends or delays the forwarder.

use crate::forwarder::{Folder, Process, RUN, block_on, fetch, produce, until};
use hashlane_client::Client;
use hashlane_rig::children::{output, read_line, start};
use std::fs::OpenOptions;
use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Connections opened and closed; each logs two lines at the level debug.
const CONNECTIONS: usize = 3000;

/// A process, killed when dropped, with any output.
struct Silent(Child);

impl Drop for Silent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Silent {
    fn start(folder: &Folder, log: Stdio) -> Self {
        Self(start(folder.command(&RUN).stdout(Stdio::null()).stderr(log)))
    }

    /// Waits until it listens, without its log.
    #[track_caller]
    fn wait_for(&mut self, folder: &Folder) {
        let connects = || UnixStream::connect(folder.path("nfd.sock")).is_ok();
        until(
            || self.0.try_wait().unwrap().is_some() || connects(),
            || "a socket that takes connections".into(),
        );
        assert_eq!(self.0.try_wait().unwrap(), None, "it has ended");
    }

    /// Stops the process, which must exit with 0.
    #[track_caller]
    fn end(&mut self) {
        let id = self.0.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        until(|| self.0.try_wait().unwrap().is_some(), || "its end".into());
        assert_eq!(self.0.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn a_level_that_there_is_not_is_an_error() {
    let folder = Folder::new();
    let ended = output(folder.command(&RUN).env("HASHLANE_LOG", "bogus"));
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    let expected = "HASHLANE_LOG=bogus is not a level: set error, warn, info, debug, trace or off";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn the_soft_limit_of_descriptors_is_raised() {
    let folder = Folder::new();
    let mut limited = std::process::Command::new("sh");
    let script = "ulimit -Sn 64; exec \"$0\" \"$@\"";
    limited.args(["-c", script, env!("CARGO_BIN_EXE_hashlane-ndn")]).args(RUN).current_dir(&folder.0);
    let mut forwarder = Silent(start(limited.stdout(Stdio::null()).stderr(Stdio::null())));
    forwarder.wait_for(&folder);
    let many: Vec<_> = (0..100).map(|_| UnixStream::connect(folder.path("nfd.sock")).unwrap()).collect();
    block_on(async {
        let client = Client::connect(&folder.transport()).await.unwrap();
        client.dataset("status", "general", None).await.unwrap();
    });
    drop(many);
    forwarder.end();
}

/// Connects and closes many times, to fill the log.
fn come_and_go(folder: &Folder) {
    for _ in 0..CONNECTIONS {
        drop(UnixStream::connect(folder.path("nfd.sock")).unwrap());
    }
    // The answer proves that earlier packets have been handled.
    until(|| folder.run(&["status"]).status.success(), || "an answer".into());
}

/// Fetches Data through the forwarder.
#[track_caller]
fn forwards(folder: &Folder) {
    produce(folder, "/a", |_| b"hello".to_vec());
    block_on(async {
        let client = Client::connect(&folder.transport()).await.unwrap();
        for number in 0..20 {
            assert!(fetch(&client, &format!("/a/{number}")).await);
        }
    });
}

#[test]
fn a_full_disk_under_the_log_does_not_end_it() {
    let folder = Folder::new();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut forwarder = Silent::start(&folder, full.into());
    forwarder.wait_for(&folder);
    come_and_go(&folder);
    forwards(&folder);
    forwarder.end();
}

#[test]
fn a_closed_pipe_under_the_log_does_not_end_it() {
    let folder = Folder::new();
    let mut forwarder = Silent::start(&folder, Stdio::piped());
    assert_ne!(read_line(&mut BufReader::new(forwarder.0.stderr.take().unwrap())), "", "it logs");
    forwarder.wait_for(&folder);
    come_and_go(&folder);
    forwards(&folder);
    forwarder.end();
}

#[test]
fn an_unread_pipe_does_not_block_the_forwarder() {
    let folder = Folder::new();
    let mut forwarder = Silent::start(&folder, Stdio::piped());
    forwarder.wait_for(&folder);
    // More than fits into the pipe and the queue.
    come_and_go(&folder);
    forwards(&folder);
    // A later reader sees the number of missing lines.
    let mut log = BufReader::new(forwarder.0.stderr.take().unwrap());
    let mut line = String::new();
    while !line.ends_with(" lines of the log were dropped\n") {
        line = read_line(&mut log);
        assert_ne!(line, "");
    }
    let dropped: usize = line.split(' ').nth(1).unwrap().parse().unwrap();
    assert!((1..=3 * CONNECTIONS).contains(&dropped), "{line}");
    // The pipe is unread again when the forwarder stops.
    come_and_go(&folder);
    forwarder.end();
    log.read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn bad_handshakes_make_a_few_lines_a_second_and_their_count() {
    const HANDSHAKES: usize = 2000;
    let folder = Folder::new();
    let more = ["--udp", "127.0.0.1:0", "--tcp", "127.0.0.1:0", "--ws", "127.0.0.1:0"];
    let arguments = [&["run", "--unix", "nfd.sock"], &more[..]].concat();
    let mut child = start(folder.command(&arguments).env("HASHLANE_LOG", "info"));
    let log = child.stderr.take().unwrap();
    let process = Process::new(child, log);
    process.wait_for("channel=ws://", 1);
    let at: SocketAddr = {
        let lines = process.lines.lock().unwrap();
        lines.iter().find_map(|line| line.split_once("channel=ws://")?.1.trim().parse().ok()).unwrap()
    };
    let begun = Instant::now();
    for _ in 0..HANDSHAKES {
        let mut stream = TcpStream::connect(at).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
        stream.write_all(b"nonsense\r\n\r\n").unwrap();
        // The connection is closed after the failure.
        let _ = stream.read_to_end(&mut Vec::new());
    }
    let left_out = || {
        let lines = process.lines.lock().unwrap();
        let counts = lines.iter().filter_map(|line| {
            line.split_once("log lines about faces in the last second lines=")?.1.parse::<usize>().ok()
        });
        counts.sum::<usize>()
    };
    until(
        || process.count("WebSocket handshake failed") + left_out() >= HANDSHAKES,
        || format!("all of {HANDSHAKES}: {} and {}", process.count("WebSocket handshake failed"), left_out()),
    );
    // Four lines per address and second, by the forwarder's clock.
    let seconds = begun.elapsed().as_secs() as usize + 2;
    let logged = process.count("WebSocket handshake failed");
    assert!((1..=4 * seconds).contains(&logged), "{logged} lines in {seconds} s");
    assert_eq!(logged + left_out(), HANDSHAKES);
    forwards(&folder);
}

/// Fails unless every one of many Interests is answered, though nobody reads what the producer prints.
#[track_caller]
fn is_answered(folder: &Folder, uri: &str) {
    // Lines of 500 bytes: more than the pipe and the queue hold.
    let name = "n".repeat(480);
    block_on(async {
        let client = Client::connect(&folder.transport()).await.unwrap();
        until_registered(&client, uri).await;
        for number in 0..1000 {
            assert!(fetch(&client, &format!("{uri}/{number}/{name}")).await, "{number}");
        }
    });
}

async fn until_registered(client: &Client, uri: &str) {
    let begun = Instant::now();
    while !fetch(client, &format!("{uri}/first")).await {
        assert!(begun.elapsed() < Duration::from_secs(15));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[test]
fn a_producer_whose_output_is_full_closed_or_unread_goes_on() {
    let folder = Folder::new();
    let _forwarder = folder.forwarder(&[]);
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    for kind in 0..3 {
        let prefix = format!("/k{kind}");
        let mut command = folder.command(&["ping-server", &prefix]);
        match kind {
            0 => command.stdout(full()).stderr(full()),
            _ => command.stdout(Stdio::piped()).stderr(Stdio::piped()),
        };
        let mut server = Silent(start(&mut command));
        if kind == 1 {
            drop((server.0.stdout.take(), server.0.stderr.take()));
        }
        is_answered(&folder, &format!("{prefix}/ping"));
        server.end();
    }
    std::fs::write(folder.path("file"), vec![7; 8_000_000]).unwrap();
    for kind in 0..3 {
        let prefix = format!("/s{kind}");
        let mut command = folder.command(&["serve", "--verbose", &prefix, "file"]);
        match kind {
            0 => command.stdout(full()).stderr(full()),
            _ => command.stdout(Stdio::piped()).stderr(Stdio::piped()),
        };
        let mut server = Silent(start(&mut command));
        if kind == 1 {
            drop((server.0.stdout.take(), server.0.stderr.take()));
        }
        // 1,000 segments each: their names fill the pipe.
        until(|| folder.run(&["get", &prefix, "-o", "got"]).status.success(), || "the object".into());
        (0..4).for_each(|_| assert!(folder.run(&["get", &prefix, "-o", "got"]).status.success()));
        server.end();
    }
}
