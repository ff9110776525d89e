//! Floods of TLS handshakes.

use super::super::innocents::Dot;
use super::super::scene::{Scene, Testbed, thousands};
use super::super::table::Line;
use super::MB;
use crate::attacker;
use crate::cleanup;
use crate::network::Network;
use crate::verdict::Check;
use hashlane_rig::ports;
use rcgen::{CertificateParams, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::fs;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Name in the certificate.
const NAME: &str = "ns1.example";

/// Default of `tcp.memory`, and as much for connections themselves, buffers and the allocator.
const GROWTH: u64 = 128 * MB + 64 * MB;

/// Threads of the attacker.
const THREADS: u16 = 2;

/// Addresses of each thread.
const ADDRESSES: u16 = 15;

/// Connections that a thread keeps of the handshakes that it does not finish.
const KEPT: usize = 1000;

/// Time after which a handshake is given up.
const PATIENCE: Duration = Duration::from_secs(2);

/// A server's certificate, and what its clients need.
struct Service {
    _folder: TempDir,
    certificate: PathBuf,
    key: PathBuf,
    address: SocketAddr,
    client: Arc<ClientConfig>,
}

impl Service {
    fn new() -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("cannot make a certificate: {error}");
        let pair = KeyPair::generate().map_err(|error| failed(&error))?;
        let params = CertificateParams::new([NAME.to_owned()]).map_err(|error| failed(&error))?;
        let text = params.self_signed(&pair).map_err(|error| failed(&error))?.pem();
        let folder = cleanup::folder()?;
        let [certificate, key] = ["certificate.pem", "key.pem"].map(|name| folder.path().join(name));
        let written = fs::write(&certificate, &text).and_then(|()| fs::write(&key, pair.serialize_pem()));
        written.map_err(|error| failed(&error))?;
        let mut roots = RootCertStore::empty();
        let root = CertificateDer::from_pem_slice(text.as_bytes()).map_err(|error| failed(&error))?;
        roots.add(root).map_err(|error| failed(&error))?;
        let builder = ClientConfig::builder_with_provider(ring::default_provider().into());
        let builder = builder.with_safe_default_protocol_versions().map_err(|error| failed(&error))?;
        let mut client = builder.with_root_certificates(roots).with_no_client_auth();
        client.alpn_protocols = vec![b"dot".to_vec()];
        // Each handshake is a whole one.
        client.resumption = rustls::client::Resumption::disabled();
        let port = ports::free().map_err(|error| format!("no free port: {error}"))?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Ok(Self { _folder: folder, certificate, key, address, client: Arc::new(client) })
    }

    /// Lines of the server's configuration.
    fn toml(&self) -> String {
        format!(
            "tls.listen = [\"{}\"]\ntls.certificate = \"{}\"\ntls.key = \"{}\"\n",
            self.address,
            self.certificate.display(),
            self.key.display()
        )
    }

    fn dot(&self) -> Result<Dot, String> {
        let name = ServerName::try_from(NAME).map_err(|error| error.to_string())?;
        Ok(Dot { address: self.address, name, config: Arc::clone(&self.client) })
    }

    fn session(&self) -> Result<ClientConnection, String> {
        let Dot { name, config, .. } = self.dot()?;
        ClientConnection::new(config, name).map_err(|error| error.to_string())
    }

    /// Connects from an address of the attacker.
    fn connect(&self, thread: u16, number: u64) -> Option<TcpStream> {
        let address = thread * ADDRESSES + (number % u64::from(ADDRESSES)) as u16;
        let stream = attacker::connect(Network::Loopback.source(address), self.address).ok()?;
        let patient = stream
            .set_nodelay(true)
            .and_then(|()| stream.set_read_timeout(Some(PATIENCE)))
            .and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
        patient.ok().map(|()| stream)
    }
}

/// Runs `work` on all threads of the attacker for the time of an attack. `work` returns what it keeps open,
/// which is counted. Each thread keeps at most `kept` of them open.
fn flood<T: Send>(
    bench: &Testbed,
    kept: usize,
    work: impl Fn(u16, u64) -> Option<T> + Sync,
) -> Result<(u64, Vec<T>), String> {
    let (work, begun) = (&work, Instant::now());
    let run = move |thread: u16| {
        let (mut open, mut number, mut count) = (Vec::new(), 0, 0);
        while begun.elapsed() < bench.lasting() {
            if let Some(one) = work(thread, number) {
                count += 1;
                if open.len() == kept {
                    open.clear();
                }
                open.push(one);
            }
            number += 1;
        }
        (count, open)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || run(thread))).collect();
        let (mut count, mut open) = (0, Vec::new());
        for thread in threads {
            let (of_thread, kept) = thread.join().map_err(|_| "a thread has panicked".to_owned())?;
            count += of_thread;
            open.extend(kept);
        }
        Ok((count, open))
    })
}

/// Sends the first message of handshakes, which costs the server a signature, and nothing more.
pub(in super::super) fn begun(bench: &Testbed, name: (u8, &str)) -> Result<Line, String> {
    let service = Service::new()?;
    let scene = Scene::open_tls(bench, &service.toml(), service.dot()?)?;
    let mut hello = Vec::new();
    service.session()?.write_tls(&mut hello).map_err(|error| error.to_string())?;
    let attack = scene.attack(|| {
        flood(bench, KEPT, |thread, number| {
            let mut stream = service.connect(thread, number)?;
            stream.write_all(&hello).ok().map(|()| stream)
        })
    })?;
    let failed = attack.count("/tcp/failed_handshakes");
    let open = attack.state("/connections");
    let found =
        format!("{} handshakes ended by the server, {open} connections open", thousands(failed as f64));
    let (rate, check) = (attack.rate("handshakes"), Check::new(open <= 4096, found));
    scene.close(name, &attack, rate, GROWTH, vec![check])
}

/// Finishes handshakes, and closes the connections at once.
pub(in super::super) fn finished(bench: &Testbed, name: (u8, &str)) -> Result<Line, String> {
    let service = Service::new()?;
    let scene = Scene::open_tls(bench, &service.toml(), service.dot()?)?;
    let attack = scene.attack(|| {
        flood(bench, 1, |thread, number| {
            let mut stream = service.connect(thread, number)?;
            let mut session = service.session().ok()?;
            while session.is_handshaking() {
                session.complete_io(&mut stream).ok()?;
            }
            Some(())
        })
    })?;
    let finished = attack.count("/tcp/handshakes");
    let check = Check::new(finished > 0, format!("{} handshakes finished", thousands(finished as f64)));
    let rate = attack.rate("handshakes");
    scene.close(name, &attack, rate, GROWTH, vec![check])
}
