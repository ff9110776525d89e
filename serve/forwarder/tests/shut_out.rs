//! Floods of other hosts against a forwarder with sockets: local applications and management are served
//! throughout.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

use hashlane_forwarder::{Config, Server};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::dataset::{FaceStatus, ForwarderStatus};
use hashlane_ndn::mgmt::{CommandBuilder, ControlParameters, ControlResponse, Record, Scope};
use hashlane_ndn::tlv::{Elements, frame};
use hashlane_ndn::wire::{Data, DataBuilder, Interest, InterestBuilder, LpPacket, MAX_PACKET, NackReason};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::UdpSocket;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

/// Limit of the PIT.
const ENTRIES: usize = 2048;
/// Peers that flood, one after the other.
const PEERS: usize = 26;
/// Time limit of each step, generous for busy machines.
const TIMEOUT: Duration = Duration::from_secs(15);

fn uri(text: &str) -> OwnedName<Ndn> {
    hashlane_name::uri::parse_uri(text.as_bytes()).unwrap()
}

/// A running forwarder.
struct Running {
    _folder: TempDir,
    socket: PathBuf,
    udp: String,
    stopper: hashlane_forwarder::server::Stopper,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Running {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("nfd.sock");
        let mut config = Config::default();
        config.pit.entries = ENTRIES;
        // So that nothing that floods ends while the test runs, however slow the machine is.
        config.pit.remote_lifetime_ms = 3_600_000;
        config.faces.unix.path = vec![socket.clone()];
        config.faces.udp.listen = vec!["127.0.0.1:0".parse().unwrap()];
        config.faces.tcp.listen.clear();
        config.faces.websocket.listen.clear();
        let server = Server::start(&config).unwrap();
        let channels: Vec<String> = server.channels().iter().map(ToString::to_string).collect();
        let udp = channels.iter().find_map(|channel| channel.strip_prefix("udp4://")).unwrap().to_owned();
        let stopper = server.stopper();
        let thread = Some(std::thread::spawn(|| server.run()));
        Self { _folder: folder, socket, udp, stopper, thread }
    }

    fn peer(&self) -> UdpSocket {
        let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
        peer.connect(&self.udp).unwrap();
        peer.set_read_timeout(Some(TIMEOUT)).unwrap();
        peer
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stopper.stop();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// An application on this host.
struct App {
    stream: UnixStream,
    read: Vec<u8>,
}

/// A Nonce that no other Interest of an application has: one that comes again is a loop.
fn fresh_nonce() -> u32 {
    static NONCE: AtomicU32 = AtomicU32::new(1);
    NONCE.fetch_add(1, Ordering::Relaxed)
}

impl App {
    fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        Self { stream, read: Vec::new() }
    }

    fn send(&mut self, packet: &[u8]) {
        self.stream.write_all(packet).unwrap();
    }

    /// The next link packet.
    fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(len) = frame(&self.read).unwrap() {
                let len = usize::try_from(len).unwrap();
                if len <= self.read.len() {
                    return Some(self.read.drain(..len).collect());
                }
            }
            let mut bytes = [0; 8192];
            let count = self.stream.read(&mut bytes).ok().filter(|count| *count > 0)?;
            self.read.extend_from_slice(bytes.get(..count)?);
        }
    }

    /// The content of the Data that answers an Interest, where there is one.
    fn fetch(&mut self, interest: &[u8]) -> Option<Vec<u8>> {
        self.send(interest);
        let interest = Interest::parse(interest).unwrap();
        loop {
            let bytes = self.next()?;
            let packet = LpPacket::parse(&bytes).unwrap();
            if packet.header.nack.is_some() {
                return None;
            }
            let data = Data::parse(packet.fragment).unwrap();
            let name: Vec<_> = data.name().components().collect();
            if name.starts_with(&interest.name().components().collect::<Vec<_>>()) {
                return Some(data.content().to_vec());
            }
        }
    }

    fn list(&mut self, list: &str) -> Option<Vec<u8>> {
        let name = uri(&format!("/localhost/nfd/{list}"));
        let nonce = Some(fresh_nonce());
        let interest = InterestBuilder { can_be_prefix: true, nonce, ..InterestBuilder::new(name.view()) };
        self.fetch(&interest.build())
    }

    fn status(&mut self) -> Option<ForwarderStatus> {
        self.list("status/general")
            .map(|content| ForwarderStatus::parse_fields(Elements::new(&content)).unwrap())
    }

    fn command(&mut self, module: &str, verb: &str, parameters: &ControlParameters) {
        let nonce = fresh_nonce();
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
        let command = CommandBuilder {
            target: Target { scope: Scope::Localhost, module: module.as_bytes(), verb: verb.as_bytes() },
            parameters,
            nonce,
            lifetime: 60_000,
            signature_nonce: u64::from(nonce).to_be_bytes(),
            time,
        };
        let answer = self.fetch(&command.build().unwrap()).unwrap();
        let response = ControlResponse::parse(&answer).unwrap();
        assert_eq!(response.code, 200, "{module}/{verb}: {}", response.text);
    }

    fn register(socket: &Path, prefix: &str) -> Self {
        let mut app = Self::connect(socket);
        app.command("rib", "register", &ControlParameters { name: Some(uri(prefix)), ..Default::default() });
        app
    }
}

/// An Interest of an hour.
fn hour(name: &str, nonce: u32) -> Vec<u8> {
    let name = uri(name);
    let nonce = Some(nonce);
    InterestBuilder { nonce, lifetime: 3_600_000, ..InterestBuilder::new(name.view()) }.build()
}

#[test]
fn a_row_of_floods_shuts_no_local_application_out() {
    let running = Running::start();
    // Receives the Interests of the peers, and answers none.
    let _sink = App::register(&running.socket, "/sink");
    let mut producer = App::register(&running.socket, "/good");
    let mut client = App::connect(&running.socket);
    let (mut peers, mut most) = (Vec::new(), 0);
    for number in 0..PEERS {
        let peer = running.peer();
        for chunk in 0..ENTRIES as u32 / 64 {
            for nonce in 64 * chunk..64 * (chunk + 1) {
                peer.send(&hour(&format!("/sink/{number}/{nonce}"), nonce + 1)).unwrap();
            }
            let status = client.status();
            assert!(status.is_some(), "management is silent after {chunk} × 64 Interests of peer {number}");
            most = most.max(status.unwrap().pit_entries);
        }
        let name = uri(&format!("/good/{number}"));
        client.send(&hour(&format!("/good/{number}"), 1));
        let asked = producer.next().expect("an Interest for the producer");
        assert_eq!(Interest::parse(LpPacket::parse(&asked).unwrap().fragment).unwrap().name(), name.view());
        producer.send(&DataBuilder::new(name.view(), b"here").build());
        let given = client.next().expect("Data for the client");
        assert_eq!(Data::parse(LpPacket::parse(&given).unwrap().fragment).unwrap().content(), b"here");
        // A newcomer is served, too.
        assert!(
            App::connect(&running.socket).status().is_some(),
            "for a new application after peer {number}"
        );
        peers.push(peer);
    }
    let (least, limit) = (ENTRIES as u64 / 2, ENTRIES as u64 / 4 * 3 + 8);
    assert!((least..=limit).contains(&most), "the floods have filled their part of the table: {most}");
    // When the peers are gone, so is all that they waited for.
    let mut faces = BTreeSet::new();
    for peer in &peers {
        let uri = format!("udp4://{}", peer.local_addr().unwrap());
        let filter = hashlane_ndn::mgmt::dataset::FaceQueryFilter { uri: Some(uri), ..Default::default() };
        let escaped: String = filter.to_bytes().iter().map(|byte| format!("%{byte:02X}")).collect();
        let found = FaceStatus::parse_all(&client.list(&format!("faces/query/{escaped}")).unwrap()).unwrap();
        faces.extend(found.iter().map(|face| face.face_id));
    }
    assert_eq!(faces.len(), PEERS);
    for face in faces {
        client.command("faces", "destroy", &ControlParameters { face_id: Some(face), ..Default::default() });
    }
    let end = std::time::Instant::now() + TIMEOUT;
    while client.status().expect("status").pit_entries > 8 {
        assert!(std::time::Instant::now() < end, "the table does not get empty");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn names_that_the_management_does_not_know_are_sent_back() {
    let running = Running::start();
    let peer = running.peer();
    for nonce in 1..=64 {
        let interest = hour(&format!("/localhop/nfd/{nonce}"), nonce);
        peer.send(&interest).unwrap();
        let mut bytes = [0; MAX_PACKET];
        let len = peer.recv(&mut bytes).expect("a Nack");
        let packet = LpPacket::parse(&bytes[..len]).unwrap();
        assert_eq!((packet.header.nack, packet.fragment), (Some(NackReason::NO_ROUTE), &interest[..]));
    }
    let status = App::connect(&running.socket).status().unwrap();
    assert!(status.pit_entries <= 1, "{} Interests wait", status.pit_entries);
}
