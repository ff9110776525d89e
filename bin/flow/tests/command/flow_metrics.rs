//! `hashlane flow meter --metrics`: counters over HTTP during a run.

use crate::flow::{PATIENCE, Reading};
use hashlane_rig::children::{ended, read_line, start};
use hashlane_rig::command::{Folder, holds, lines};
use std::io::{BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

/// The counters of a run, and what it says on standard error.
pub(crate) struct Metrics {
    address: String,
    said: thread::JoinHandle<String>,
}

impl Metrics {
    /// The metrics of a run with `--metrics 127.0.0.1:0`, whose standard error is a pipe.
    pub(crate) fn of(child: &mut Child) -> Self {
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        let address = loop {
            let line = read_line(&mut err);
            if let Some(rest) = line.strip_prefix("metrics: http://") {
                break rest.strip_suffix("/metrics\n").unwrap().to_owned();
            }
            assert!(!line.is_empty(), "no metrics after {said:?}");
            said.push_str(&line);
        };
        // Read on, so that the process never waits for the pipe.
        let said = thread::spawn(move || {
            err.read_to_string(&mut said).unwrap();
            said
        });
        Self { address, said }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// A response to `GET /metrics`.
    pub(crate) fn scrape(&self) -> String {
        let mut stream = self.connect();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: meter\r\n\r\n").unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }

    /// The sum of a counter over all workers.
    pub(crate) fn sum(&self, name: &str) -> u64 {
        let response = self.scrape();
        let values =
            response.lines().filter_map(|line| line.strip_prefix(&format!("hashlane_flow_{name}{{")));
        values.map(|rest| rest.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
    }

    /// Waits until a counter has at least this value, and acts in between.
    #[track_caller]
    pub(crate) fn wait(&self, name: &str, value: u64, mut act: impl FnMut()) {
        let begun = Instant::now();
        while self.sum(name) < value {
            assert!(begun.elapsed() < PATIENCE, "{name} is {} and not {value}", self.sum(name));
            act();
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Standard error of the process after its end.
    pub(crate) fn said(self) -> String {
        self.said.join().unwrap()
    }
}

#[test]
fn a_signal_ends_a_run_whose_standard_input_is_silent() {
    let folder = Folder::new();
    for (signal, threads, file) in [("-INT", "1", "int.json"), ("-TERM", "2", "term.json")] {
        let arguments = ["--json", file, "--metrics", "127.0.0.1:0", "--threads", threads];
        let mut run = Reading::start(&folder, &arguments);
        let metrics = Metrics::of(&mut run.child);
        metrics.wait("packets_total", 14, || {});
        run.signal(signal);
        // Standard input stays open.
        assert_eq!(ended(&mut run.child).code(), Some(130));
        assert_eq!(lines(&folder.path(file)).len(), 5);
        let said = metrics.said();
        holds(&said, &["14 packets, ", " 5 flows in "]);
        assert!(!said.contains("ends within"), "{said}");
    }
}

#[test]
fn a_signal_ends_a_run_that_has_not_got_a_capture_yet() {
    let folder = Folder::new();
    let mut command =
        folder.command(&["flow", "meter", "-", "--json", "none.json", "--metrics", "127.0.0.1:0"]);
    command.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = start(&mut command);
    let metrics = Metrics::of(&mut child);
    crate::flow::signal(&child, "-INT");
    assert_eq!(ended(&mut child).code(), Some(130));
    holds(&metrics.said(), &["0 packets, 0 bytes, 0 flows in "]);
    assert_eq!(lines(&folder.path("none.json")).len(), 0);
}

#[test]
fn clients_that_are_slow_stop_neither_others_nor_the_run() {
    let folder = Folder::new();
    let mut run = Reading::start(&folder, &["--json", "flows.json", "--metrics", "127.0.0.1:0"]);
    let metrics = Metrics::of(&mut run.child);
    let response = metrics.scrape();
    holds(&response, &["HTTP/1.1 200 OK\r\n", "# TYPE hashlane_flow_packets_total counter\n"]);
    // One that says nothing, one that asks and never reads, and one that sends a byte now and then.
    let _silent = metrics.connect();
    let mut deaf = metrics.connect();
    deaf.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let mut slow = metrics.connect();
    let slow = thread::spawn(move || {
        let begun = Instant::now();
        while slow.write_all(b"G").is_ok() {
            assert!(begun.elapsed() < PATIENCE, "a request may take for ever");
            thread::sleep(Duration::from_millis(200));
        }
    });
    // Packets are metered and counters served meanwhile.
    let before = metrics.sum("packets_total");
    let mut sent = 0;
    run.go_on("no packets were counted", |_| {
        sent += 1;
        sent > 20 && metrics.sum("packets_total") > before
    });
    run.signal("-INT");
    assert_eq!(ended(&mut run.child).code(), Some(130));
    slow.join().unwrap();
    assert_eq!(lines(&folder.path("flows.json")).len(), 6);
}
