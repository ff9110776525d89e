//! DNS over TLS: clients of all kinds, certificates and their reload.

use crate::support::{PATIENCE, Running, ask_over, framed, query, read_message, summary, with_options};
use hashlane_nameserver::Server;
use hashlane_nameserver::config::{Config, ZoneFile};
use rcgen::{CertificateParams, Issuer, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Name in the certificates of servers.
pub(crate) const NAME: &str = "ns1.example";

/// An issuer of certificates, with a folder for them.
pub(crate) struct Authority {
    folder: tempfile::TempDir,
    issuer: Issuer<'static, KeyPair>,
    root: CertificateDer<'static>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        Self::named("issuer of tests")
    }

    pub(crate) fn named(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let root = params.self_signed(&key).unwrap();
        fs::write(folder.path().join("roots.pem"), root.pem()).unwrap();
        Self { issuer: Issuer::new(params, key), root: root.der().clone(), folder }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// File of the issuer's certificate.
    pub(crate) fn roots(&self) -> PathBuf {
        self.file("roots.pem")
    }

    /// Writes `FILE.pem` and `FILE.key`: a certificate for a name, which expires in a year.
    pub(crate) fn issue(&self, file: &str, name: &str, year: i32) -> (PathBuf, PathBuf) {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(2001, 1, 1);
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let (pem, key_pem) = (self.file(&format!("{file}.pem")), self.file(&format!("{file}.key")));
        fs::write(&pem, certificate.pem()).unwrap();
        fs::write(&key_pem, key.serialize_pem()).unwrap();
        (pem, key_pem)
    }

    /// Has a server listen by TLS, with a certificate for [`NAME`].
    pub(crate) fn configure(&self, config: &mut Config) {
        config.tls.listen = vec!["127.0.0.1:0".parse().unwrap()];
        (config.tls.certificate, config.tls.key) = self.issue("server", NAME, 4000);
    }

    /// The settings of a client that trusts this issuer.
    fn client(&self, protocols: &[&[u8]]) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.clone()).unwrap();
        let builder = ClientConfig::builder_with_provider(ring::default_provider().into());
        let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).unwrap();
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Arc::new(config)
    }

    /// A client over a socket that takes at most `cut` bytes at a time.
    fn connect_cut(&self, address: SocketAddr, protocols: &[&[u8]], cut: usize) -> io::Result<Client> {
        let session = ClientConnection::new(self.client(protocols), NAME.try_into().unwrap()).unwrap();
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        let mut client = StreamOwned::new(session, Cut { stream, cut });
        while client.conn.is_handshaking() {
            client.conn.complete_io(&mut client.sock)?;
        }
        Ok(client)
    }

    /// A client that speaks DNS over TLS.
    pub(crate) fn connect(&self, server: &Running) -> io::Result<Client> {
        self.connect_cut(server.tls[0], &[b"dot"], usize::MAX)
    }

    /// A client that does not say what it speaks.
    pub(crate) fn connect_silent(&self, server: &Running) -> io::Result<Client> {
        self.connect_cut(server.tls[0], &[], usize::MAX)
    }
}

/// A client over TLS.
pub(crate) type Client = StreamOwned<ClientConnection, Cut>;

/// A socket that is written a few bytes at a time.
#[derive(Debug)]
pub(crate) struct Cut {
    stream: TcpStream,
    cut: usize,
}

impl Read for Cut {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }
}

impl Write for Cut {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(&bytes[..bytes.len().min(self.cut)])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn serve(authority: &Authority, change: impl FnOnce(&mut Config)) -> Running {
    Running::start(|config| {
        authority.configure(config);
        change(config);
    })
}

/// Number of the first label after a certificate's change: its serial number.
fn certificate(client: &Client) -> CertificateDer<'static> {
    client.conn.peer_certificates().unwrap()[0].clone().into_owned()
}

fn www(id: u16) -> Vec<u8> {
    query(id, "www.example.com", 1)
}

#[test]
fn pipelined_queries_over_tls_are_answered_in_order_however_they_are_cut() {
    let authority = Authority::new();
    let server = serve(&authority, |_| {});
    let all: Vec<u8> = (0..300).flat_map(|id| framed(&www(id))).collect();
    // Bytes of a record, and bytes of a segment.
    for (record, segment) in [(all.len(), usize::MAX), (7, 1000), (all.len(), 1), (1000, 3)] {
        let mut client = authority.connect_cut(server.tls[0], &[b"dot"], segment).unwrap();
        for part in all.chunks(record) {
            client.write_all(part).unwrap();
        }
        for id in 0..300 {
            assert_eq!(summary(&read_message(&mut client).unwrap()), (id, 0, false, 1));
        }
    }
    let tcp = server.handle.stats().tcp;
    assert!(server.handle.metrics().contains("hashlane_dns_tls_handshakes_total{result=\"completed\"} 4\n"));
    assert_eq!((tcp.handshakes, tcp.failed_handshakes, tcp.accepted), (4, 0, 4));
    assert_eq!(server.handle.status().listen_tls, server.tls);
}

#[test]
fn a_client_that_ends_its_side_gets_its_responses_and_the_end() {
    let authority = Authority::new();
    let server = serve(&authority, |_| {});
    let mut client = authority.connect(&server).unwrap();
    client.write_all(&[framed(&www(1)), framed(&www(2))].concat()).unwrap();
    client.conn.send_close_notify();
    client.flush().unwrap();
    for id in 1..3 {
        assert_eq!(summary(&read_message(&mut client).unwrap()).0, id);
    }
    // 0 is the end that the server has announced; without that, a read is an error.
    assert_eq!(client.read(&mut [0; 2]).unwrap(), 0);
    // Bytes that are no query end the connection.
    let mut client = authority.connect(&server).unwrap();
    client.write_all(&framed(b"short")).unwrap();
    assert_eq!(client.read(&mut [0; 2]).unwrap(), 0);
}

#[test]
fn responses_to_padded_queries_are_padded_over_tls_alone() {
    let authority = Authority::new();
    let server = serve(&authority, |config| config.server.nsid = "ascii_ns1".into());
    let padding = [0, 12, 0, 5, 0, 0, 0, 0, 0];
    let mut client = authority.connect(&server).unwrap();
    for name in ["www.example.com", "a.very.long.name.that.is.not.there.example.com", "other.test"] {
        for options in [&padding[..], &[&[0, 3, 0, 0], &padding[..]].concat()] {
            let padded = with_options(query(7, name, 1), options);
            let plain = ask_over(&mut server.tcp(), &padded).unwrap();
            let response = ask_over(&mut client, &padded).unwrap();
            assert_eq!((response.len() % 468, response.len() > plain.len()), (0, true), "{name}");
            assert_eq!(summary(&response), summary(&plain));
            let message = hashlane_dns::wire::Content::parse(&response).expect("well-formed");
            let opt = message.records.last().unwrap();
            let own = plain.len() - (plain.len() - opt_data(&plain));
            assert_eq!(opt.data[..own], plain[plain.len() - own..], "{name}: the other options stay");
            let fill = opt.data.len() - own - 4;
            assert_eq!(opt.data[own..][..4], [0, 12, (fill >> 8) as u8, fill as u8]);
        }
        let unpadded = with_options(query(7, name, 1), &[0, 3, 0, 0]);
        assert_eq!(ask_over(&mut client, &unpadded), ask_over(&mut server.tcp(), &unpadded));
    }
}

/// Bytes of data of the OPT record that ends a response.
fn opt_data(response: &[u8]) -> usize {
    hashlane_dns::wire::Content::parse(response).unwrap().records.last().unwrap().data.len()
}

#[test]
fn garbage_other_protocols_and_slow_handshakes_end_and_others_are_served() {
    let authority = Authority::new();
    let server = serve(&authority, |config| {
        config.tcp.message_timeout_ms = 700;
        config.tcp.idle_timeout_ms = 60_000;
    });
    // A query without TLS, zeros, and a record of 65,535 bytes.
    for bytes in [framed(&www(1)), vec![0; 5000], [&[22, 3, 3, 0xff, 0xff][..], &[1; 70_000]].concat()] {
        let mut stream = TcpStream::connect(server.tls[0]).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let _ = stream.write_all(&bytes);
        let mut rest = Vec::new();
        // An alert may come before the end or the reset.
        match stream.read_to_end(&mut rest) {
            Ok(_) => {}
            Err(error) => assert_ne!(error.kind(), ErrorKind::WouldBlock, "the server waits"),
        }
        assert!(rest.len() < 100, "{rest:?}");
    }
    let refused = authority.connect_cut(server.tls[0], &[b"h2"], usize::MAX).unwrap_err();
    assert!(refused.to_string().contains("NoApplicationProtocol"), "{refused}");
    server.wait("four failures", |handle| handle.stats().tcp.failed_handshakes == 4);

    // One sends nothing, one a byte at a time.
    let mut silent = TcpStream::connect(server.tls[0]).unwrap();
    silent.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut slow = TcpStream::connect(server.tls[0]).unwrap();
    let writer = std::thread::spawn(move || {
        let begun = Instant::now();
        while slow.write_all(&[22, 3, 3, 2, 0][..1]).is_ok() {
            assert!(begun.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let mut client = authority.connect(&server).unwrap();
    assert_eq!(summary(&ask_over(&mut client, &www(3)).unwrap()).0, 3);
    let mut rest = Vec::new();
    silent.read_to_end(&mut rest).unwrap();
    assert!(rest.len() < 100, "no more than an alert: {rest:?}");
    writer.join().unwrap();
    server.wait("two more", |handle| handle.stats().tcp.failed_handshakes == 6);
    // A connection whose handshake is complete stays.
    assert_eq!(summary(&ask_over(&mut client, &www(4)).unwrap()).0, 4);
    assert_eq!(server.handle.stats().tcp.handshakes, 1);
}

#[test]
fn connections_over_tls_are_bounded_in_number_and_memory() {
    let authority = Authority::new();
    let server = serve(&authority, |config| config.tcp.connections_per_address = 8);
    let mut clients: Vec<Client> = (0..30).map(|_| authority.connect(&server).unwrap()).collect();
    let last = clients.last_mut().unwrap();
    assert_eq!(summary(&ask_over(last, &www(1)).unwrap()).0, 1);
    server.wait("eight are open", |handle| handle.status().connections == 8);
    assert_eq!(server.handle.stats().tcp.closed_for_others, 22);
    assert!(ask_over(&mut clients[0], &www(1)).is_none(), "the oldest was closed");

    let server = serve(&authority, |config| config.tcp.memory = 1 << 20);
    let clients: Vec<Client> = (0..150).map(|_| authority.connect(&server).unwrap()).collect();
    server.wait("all but those of 1 MiB were closed", |handle| {
        (20..100).contains(&handle.status().connections)
    });
    drop(clients);
}

#[test]
fn unfinished_handshakes_count_as_memory() {
    let authority = Authority::new();
    let server = serve(&authority, |config| {
        config.tcp.memory = 1 << 20;
        // On a loaded machine, too, none ends for another reason.
        config.tcp.message_timeout_ms = 600_000;
        config.tcp.idle_timeout_ms = 600_000;
    });
    // The first 48 KiB of a handshake message of 60,000 bytes, in three records.
    let record = [&[22, 3, 1, 0x40, 0][..], &[0; 16_384]].concat();
    let mut begin = record.repeat(3);
    begin[5..9].copy_from_slice(&[1, 0, 0xea, 0x60]);
    let clients: Vec<TcpStream> = (0..64)
        .map(|_| {
            let mut stream = TcpStream::connect(server.tls[0]).unwrap();
            let _ = stream.write_all(&begin);
            stream
        })
        .collect();
    // Not the number of open connections, which comes from the turn before until a turn has ended.
    server.wait("most gave way", |handle| handle.stats().tcp.closed_for_others > 40);
    assert_eq!(server.handle.stats().tcp.accepted, 64);
    server.wait("few are open", |handle| handle.status().connections < 24);
    let mut client = authority.connect(&server).unwrap();
    assert_eq!(summary(&ask_over(&mut client, &www(1)).unwrap()).0, 1, "a newcomer is served");
    drop(clients);
}

#[test]
fn a_client_over_tls_that_never_reads_is_cut() {
    let authority = Authority::new();
    let server = serve(&authority, |config| config.tcp.write_timeout_ms = 500);
    let mut client = authority.connect(&server).unwrap();
    client.sock.stream.set_write_timeout(Some(Duration::from_secs(2))).unwrap();
    let many = framed(&www(1)).repeat(1000);
    let begun = Instant::now();
    while client.write_all(&many).is_ok() {
        assert!(begun.elapsed() < PATIENCE);
    }
    server.wait("it was cut", |handle| handle.stats().tcp.closed_slow_reader == 1);
    server.wait("its place is free", |handle| handle.status().connections == 0);
}

#[test]
fn a_reload_takes_new_certificates_and_a_wrong_one_keeps_the_old_ones() {
    let authority = Authority::new();
    let server = serve(&authority, |_| {});
    let mut early = authority.connect(&server).unwrap();
    let first = certificate(&early);
    authority.issue("server", NAME, 4000);
    assert_eq!(certificate(&authority.connect(&server).unwrap()), first, "files alone change nothing");
    server.handle.reload(Some("example.com")).unwrap();
    assert_eq!(certificate(&authority.connect(&server).unwrap()), first, "nor does a zone's reload");
    server.handle.reload(None).unwrap();
    let second = certificate(&authority.connect(&server).unwrap());
    assert_ne!(second, first);
    // The end of the year 3999.
    assert_eq!(server.handle.status().certificate_expires, Some(64_060_588_800));
    assert_eq!(summary(&ask_over(&mut early, &www(5)).unwrap()).0, 5, "the connection stays");

    let (_, other_key) = authority.issue("other", NAME, 4000);
    let pem = authority.file("server.pem");
    type Fault<'a> = (&'a str, Box<dyn Fn() + 'a>);
    let faults: [Fault<'_>; 4] = [
        ("is not the key of", Box::new(|| drop(fs::copy(&other_key, authority.file("server.key"))))),
        ("has no certificate", Box::new(|| fs::write(&pem, "no PEM").unwrap())),
        ("ends before an END", Box::new(|| cut(&pem, 200))),
        ("cannot be read", Box::new(|| fs::remove_file(&pem).unwrap())),
    ];
    for (words, break_it) in faults {
        authority.issue("server", NAME, 4000);
        break_it();
        let error = server.handle.reload(None).unwrap_err().to_string();
        assert!(error.starts_with("`tls.") && error.contains(words), "{words}: {error}");
        assert_eq!(server.handle.status().refused, Some(error));
        assert_eq!(certificate(&authority.connect(&server).unwrap()), second);
        // The check says so before the reload, and a start is refused.
        let config = server.next.lock().unwrap().clone();
        assert!(Server::check(&config).unwrap_err().to_string().contains(words));
        let start = Server::start(&config, Box::new(|| Ok(Config::default()))).err();
        assert!(start.is_some_and(|error| error.to_string().contains(words)));
    }
}

#[test]
fn a_certificate_that_has_expired_is_warned_of_by_the_check() {
    let authority = Authority::new();
    let server = serve(&authority, |_| {});
    let config = || server.next.lock().unwrap().clone();
    let of_certificate = |config: &Config| {
        let warnings = Server::check(config).unwrap().warnings;
        warnings.into_iter().find(|warning| warning.contains("certificate"))
    };
    assert_eq!(of_certificate(&config()), None);
    let (pem, _) = authority.issue("server", NAME, 2002);
    let expected = format!("`tls.certificate` {}: the certificate has expired; renew it", pem.display());
    assert_eq!(of_certificate(&config()), Some(expected));
}

/// Leaves the first bytes of a file of PEM.
fn cut(path: &Path, len: usize) {
    let text = "-----BEGIN CERTIFICATE-----\n".to_owned() + &"AAAA\n".repeat(100);
    fs::write(path, &text[..len]).unwrap();
}

#[test]
fn without_listeners_no_certificate_is_read() {
    let config = Config {
        zone: vec![ZoneFile::new("example.com", "a.zone")],
        ..Config::parse("[tls]\ncertificate = \"missing.pem\"").unwrap()
    };
    let states = Server::check(&config).unwrap();
    assert!(states.zones[0].error.is_some(), "the zone file is missing, too, which the check reports");
}
