//! Processes of `hashlane ndn`, and operations on them.

use hashlane_client::{Client, Express, Incoming, Transport};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::wire::{DataBuilder, InterestBuilder};
use hashlane_rig::children::{output, start};
use hashlane_rig::command::hashlane;
pub(crate) use hashlane_rig::process::{Process, until};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A new folder, removed when dropped.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("hashlane-run-{}-{number}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn transport(&self) -> Transport {
        Transport::Unix(self.path("nfd.sock"))
    }

    /// `hashlane ndn …`, with the forwarder of this folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = hashlane(&[&["ndn"], arguments].concat());
        command.current_dir(&self.0);
        command.env("NDN_CLIENT_TRANSPORT", self.transport().to_string()).env("HASHLANE_LOG", "debug");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        output(&mut self.command(arguments))
    }

    /// A forwarder on a Unix socket, and on ports of UDP and TCP that the kernel chooses.
    pub(crate) fn forwarder(&self, more: &[&str]) -> Forwarder {
        Forwarder::start(self.command(&[&RUN[..], more].concat()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) const RUN: [&str; 9] =
    ["run", "--unix", "nfd.sock", "--udp", "127.0.0.1:0", "--tcp", "127.0.0.1:0", "--ws", "none"];

/// A forwarder that listens.
pub(crate) struct Forwarder {
    pub(crate) process: Process,
    pub(crate) udp: SocketAddr,
    pub(crate) tcp: SocketAddr,
}

impl Forwarder {
    #[track_caller]
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = start(&mut command);
        let log = child.stderr.take().unwrap();
        let process = Process::new(child, log);
        process.wait_for("listening", 3);
        let address = |scheme: &str| {
            let lines = process.lines.lock().unwrap();
            lines.iter().find_map(|line| line.split_once(scheme)?.1.trim().parse().ok()).unwrap()
        };
        let (udp, tcp) = (address("channel=udp4://"), address("channel=tcp4://"));
        Self { process, udp, tcp }
    }

    /// Its WebSocket port, once it listens there.
    pub(crate) fn websocket(&self) -> SocketAddr {
        self.process.wait_for("channel=ws://", 1);
        let lines = self.process.lines.lock().unwrap();
        lines.iter().find_map(|line| line.split_once("channel=ws://")?.1.trim().parse().ok()).unwrap()
    }

    /// Resident memory, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").trim().parse::<usize>().unwrap() << 10
    }
}

pub(crate) fn parse(uri: &str) -> OwnedName<Ndn> {
    hashlane_name::uri::parse_uri(uri.as_bytes()).unwrap()
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Registers a prefix over a new connection, and answers each Interest with the content that `answer`
/// returns, until the test ends.
pub(crate) fn produce(
    folder: &Folder,
    prefix: &str,
    mut answer: impl FnMut(&Incoming) -> Vec<u8> + Send + 'static,
) {
    produce_some(folder, prefix, move |incoming| Some(answer(incoming)));
}

/// As [`produce`], but leaves Interests without an answer if `answer` returns `None`.
pub(crate) fn produce_some(
    folder: &Folder,
    prefix: &str,
    mut answer: impl FnMut(&Incoming) -> Option<Vec<u8>> + Send + 'static,
) {
    let (transport, prefix) = (folder.transport(), parse(prefix));
    let (registered, wait) = mpsc::channel();
    thread::spawn(move || {
        block_on(async {
            let client = Client::connect(&transport).await.unwrap();
            let mut registration = client.register(prefix.view()).await.unwrap();
            registered.send(()).unwrap();
            while let Some(incoming) = registration.next().await {
                let Some(content) = answer(&incoming) else { continue };
                let data = DataBuilder::new(incoming.interest().name(), &content).build();
                let _ = incoming.reply(&data).await;
            }
        });
    });
    wait.recv_timeout(Duration::from_secs(15)).expect("the prefix is registered");
}

/// The answer to a packet over a WebSocket, as text; `header` is a header line, or nothing.
pub(crate) fn over_websocket(at: SocketAddr, header: &str, packet: &[u8]) -> String {
    over_websocket_all(at, header, &[packet.to_vec()])
}

/// The first answer to packets over a WebSocket, as [`over_websocket`].
pub(crate) fn over_websocket_all(at: SocketAddr, header: &str, packets: &[Vec<u8>]) -> String {
    let mut stream = TcpStream::connect(at).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    let key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    let upgrade = "Upgrade: websocket\r\nConnection: Upgrade";
    write!(stream, "GET / HTTP/1.1\r\nHost: localhost\r\n{upgrade}\r\n{key}\r\n{header}\r\n").unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0);
    }
    // Clients mask their messages; here the mask is zero.
    for packet in packets {
        let header = [&[0x82, 0x80 | 126][..], &(packet.len() as u16).to_be_bytes(), &[0; 4]].concat();
        stream.write_all(&[&header, &packet[..]].concat()).unwrap();
    }
    let mut header = [0; 4];
    reader.read_exact(&mut header).unwrap();
    assert_eq!(header[..2], [0x82, 126]);
    let mut answer = vec![0; usize::from(u16::from_be_bytes([header[2], header[3]]))];
    reader.read_exact(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// Fetches the Data of a name.
pub(crate) async fn fetch(client: &Client, uri: &str) -> bool {
    let name = parse(uri);
    client.express(&InterestBuilder::new(name.view()), &Express::default()).await.is_ok()
}
