//! Servers on loopback ports, and clients.

use hashlane_nameserver::config::{Config, ZoneFile};
use hashlane_nameserver::{Handle, Server};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time after which a test fails; far more than any step takes on a loaded machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

/// The zone that most tests serve.
pub(crate) const ZONE: &str = "\
$ORIGIN example.com.
$TTL 300
@ IN SOA ns1 hostmaster 7 3600 600 86400 60
@ IN NS ns1
ns1 IN A 192.0.2.1
www IN A 192.0.2.80
*.wild IN TXT \"made of a wildcard\"
sub IN NS ns.sub
ns.sub IN A 192.0.2.53
";

/// A zone with this serial number.
pub(crate) fn zone(serial: u32) -> String {
    ZONE.replace(" 7 3600", &format!(" {serial} 3600"))
}

/// A server in this process, stopped when dropped.
pub(crate) struct Running {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) address: SocketAddr,
    /// Addresses for TLS.
    pub(crate) tls: Vec<SocketAddr>,
    pub(crate) handle: Handle,
    /// Configuration that the next reload reads.
    pub(crate) next: Arc<Mutex<Config>>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Running {
    /// Serves [`ZONE`], with changes to the configuration.
    pub(crate) fn start(change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("example.com.zone");
        std::fs::write(&file, ZONE).unwrap();
        let mut config = Config::default();
        config.server.listen = vec!["127.0.0.1:0".parse().unwrap()];
        config.server.workers = 2;
        config.control.path = PathBuf::new();
        config.zone = vec![ZoneFile::new("example.com", file)];
        change(&mut config);
        let next = Arc::new(Mutex::new(config.clone()));
        let again = Arc::clone(&next);
        let server = Server::start(&config, Box::new(move || Ok(again.lock().unwrap().clone()))).unwrap();
        let (address, handle) = (server.addresses()[0], server.handle());
        let tls = server.tls_addresses().to_vec();
        let thread = Some(std::thread::spawn(move || server.run()));
        Self { folder, address, tls, handle, next, thread }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A UDP client of this server.
    pub(crate) fn udp(&self) -> UdpSocket {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(self.address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket
    }

    /// The response to a query over UDP.
    pub(crate) fn ask(&self, query: &[u8]) -> Vec<u8> {
        exchange(&self.udp(), query)
    }

    /// A TCP client of this server.
    pub(crate) fn tcp(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Waits until a condition holds.
    #[track_caller]
    pub(crate) fn wait(&self, what: &str, holds: impl Fn(&Handle) -> bool) {
        let begun = Instant::now();
        while !holds(&self.handle) {
            assert!(begun.elapsed() < PATIENCE, "{what}: {:#?}", self.handle.stats());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Stops the server. Returns how it ended.
    pub(crate) fn stop(mut self) -> std::io::Result<()> {
        self.handle.stop();
        self.wait_for_end();
        self.thread.take().unwrap().join().unwrap()
    }

    /// Waits until the thread has ended, or until a failed test has waited long enough.
    #[track_caller]
    fn wait_for_end(&self) {
        let begun = Instant::now();
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            if begun.elapsed() > PATIENCE {
                assert!(std::thread::panicking(), "the server has not ended: {:#?}", self.handle.stats());
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.handle.stop();
        self.wait_for_end();
        if let Some(thread) = self.thread.take().filter(JoinHandle::is_finished) {
            let ended = thread.join();
            assert!(std::thread::panicking() || matches!(ended, Ok(Ok(()))), "{ended:?}");
        }
    }
}

/// A server that gets `example.com` from a primary without a key, with changes to the configuration.
pub(crate) fn secondary_of(primary: SocketAddr, folder: &Path, change: impl FnOnce(&mut Config)) -> Running {
    Running::start(|config| {
        config.transfer.folder = folder.to_owned();
        let primaries = vec![primary.to_string().parse().unwrap()];
        config.zone = vec![ZoneFile { name: "example.com".into(), primaries, ..ZoneFile::default() }];
        change(config);
    })
}

/// A NOTIFY from 127.0.0.1 that names a version.
pub(crate) fn notify(secondary: &Running, serial: u32) {
    let apex = hashlane_name::dns::text::parse(b"example.com").unwrap();
    let mut soa = [0; 22];
    soa[2..6].copy_from_slice(&serial.to_be_bytes());
    secondary.ask(&hashlane_transfer::notify::request(apex.view(), 3, Some((300, &soa))));
}

/// Serial number of the first zone.
pub(crate) fn serial_of(handle: &Handle) -> Option<u32> {
    handle.status().zones[0].serial
}

/// Sends a datagram, and receives the next one.
pub(crate) fn exchange(socket: &UdpSocket, query: &[u8]) -> Vec<u8> {
    socket.send(query).unwrap();
    let mut response = vec![0; 65_535];
    let length = socket.recv(&mut response).unwrap();
    response.truncate(length);
    response
}

/// A query in class IN.
pub(crate) fn query(id: u16, name: &str, rtype: u16) -> Vec<u8> {
    let mut query = id.to_be_bytes().to_vec();
    query.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.split('.').filter(|label| !label.is_empty()) {
        query.push(label.len() as u8);
        query.extend_from_slice(label.as_bytes());
    }
    query.push(0);
    query.extend_from_slice(&rtype.to_be_bytes());
    query.extend_from_slice(&[0, 1]);
    query
}

/// A query with an OPT record of these options.
pub(crate) fn with_options(mut query: Vec<u8>, options: &[u8]) -> Vec<u8> {
    query[11] = 1;
    query.extend_from_slice(&[0, 0, 41, 0x04, 0xd0, 0, 0, 0, 0]);
    query.extend_from_slice(&(options.len() as u16).to_be_bytes());
    query.extend_from_slice(options);
    query
}

/// The message with its length before it.
pub(crate) fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u16).to_be_bytes()[..], message].concat()
}

/// The next message of a stream; `None` at its end.
pub(crate) fn read_message(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut length = [0; 2];
    match stream.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => panic!("no response: {error}"),
        Err(_) => return None,
    }
    let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut message).ok()?;
    Some(message)
}

/// The response to a query over TCP.
pub(crate) fn ask_over(stream: &mut (impl Read + Write), query: &[u8]) -> Option<Vec<u8>> {
    stream.write_all(&framed(query)).ok()?;
    read_message(stream)
}

/// Identifier, response code, TC, and number of answers.
pub(crate) fn summary(response: &[u8]) -> (u16, u8, bool, u16) {
    let be16 = |at: usize| u16::from_be_bytes([response[at], response[at + 1]]);
    assert!(response[2] & 0x80 != 0, "a response: {response:?}");
    (be16(0), response[3] & 0xf, response[2] & 2 != 0, be16(6))
}

/// Serial number in a response to SOA.
pub(crate) fn serial(response: &[u8]) -> u32 {
    assert_eq!(summary(response).3, 1, "{response:?}");
    // The SOA record ends with five numbers of 32 bits; no OPT record or authority follows here.
    let counts =
        (u16::from_be_bytes([response[8], response[9]]), u16::from_be_bytes([response[10], response[11]]));
    let question = 12 + response[12..].iter().position(|byte| *byte == 0).unwrap() + 5;
    let owner = question + 2;
    let length = usize::from(u16::from_be_bytes([response[owner + 8], response[owner + 9]]));
    let end = owner + 10 + length;
    assert!(counts.0 > 0 || end == response.len(), "{response:?}");
    u32::from_be_bytes(response[end - 20..end - 16].try_into().unwrap())
}
