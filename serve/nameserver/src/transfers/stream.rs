//! The connection to a primary, with or without TLS; each read and write has a deadline.

use super::peers::Peer;
use crate::tls::{DOT, failure};
use hashlane_link::tcp;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A connected stream.
pub(super) enum Stream {
    Plain(Socket),
    Tls(Box<StreamOwned<ClientConnection, Socket>>),
}

/// A socket whose reads and writes fail after a time. A peer that sends byte by byte has no more time.
pub(super) struct Socket {
    stream: TcpStream,
    deadline: Instant,
}

impl Stream {
    /// Connects to a peer before the deadline, and verifies its certificate if it is asked over TLS (RFC 9103
    /// §9.3.2: strict).
    ///
    /// # Errors
    /// The peer does not answer in time; its certificate is not valid for its name.
    pub(super) fn connect(peer: &Peer, deadline: Instant) -> Result<Self, String> {
        let socket = Socket::connect(peer, deadline).map_err(|error| error.to_string())?;
        match &peer.tls {
            None => Ok(Self::Plain(socket)),
            Some((name, config)) => shake_hands(socket, name.clone(), Arc::clone(config)).map(Self::Tls),
        }
    }

    /// True if the connection is open, and the peer has sent nothing that no query asked for. TLS may have
    /// sent tickets for the next connection.
    pub(super) fn is_idle(&self) -> bool {
        match self {
            Self::Plain(socket) => matches!(socket.peek(), Err(ErrorKind::WouldBlock)),
            Self::Tls(tls) => matches!(tls.sock.peek(), Ok(1..) | Err(ErrorKind::WouldBlock)),
        }
    }

    /// Sets the time at which reads and writes fail.
    pub(super) fn set_deadline(&mut self, deadline: Instant) {
        match self {
            Self::Plain(socket) => socket.deadline = deadline,
            Self::Tls(tls) => tls.sock.deadline = deadline,
        }
    }

    /// Sends all bytes.
    ///
    /// # Errors
    /// The deadline has passed, or the connection is broken.
    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.write_all(bytes),
            Self::Tls(tls) => tls.write_all(bytes).and_then(|()| tls.flush()),
        }
    }

    /// Reads bytes; 0 at the end.
    ///
    /// # Errors
    /// The deadline has passed, or the connection is broken.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Tls(tls) => tls.read(buffer),
        }
    }
}

/// TLS over a socket.
fn shake_hands(
    mut socket: Socket,
    name: ServerName<'static>,
    config: Arc<ClientConfig>,
) -> Result<Box<StreamOwned<ClientConnection, Socket>>, String> {
    let mut session = ClientConnection::new(config, name).map_err(|error| error.to_string())?;
    while session.is_handshaking() {
        session.complete_io(&mut socket).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => {
                "closes the connection in the TLS handshake; does it speak TLS at this port?".to_owned()
            }
            _ => failure(&error),
        })?;
    }
    if session.alpn_protocol() != Some(DOT) {
        let why = "does not take the ALPN \"dot\", which RFC 9103 requires; update it, or name another port";
        return Err(why.to_owned());
    }
    Ok(Box::new(StreamOwned::new(session, socket)))
}

impl Socket {
    fn connect(peer: &Peer, deadline: Instant) -> io::Result<Self> {
        let stream = tcp::connect(peer.address, peer.source, left(deadline)?)?;
        // Without it, a query may wait for an acknowledgement.
        let _ = stream.set_nodelay(true);
        Ok(Self { stream, deadline })
    }

    /// Number of bytes that wait, 1 at most; 0 at the end.
    fn peek(&self) -> Result<usize, ErrorKind> {
        let peek = || {
            self.stream.set_nonblocking(true)?;
            let peeked = self.stream.peek(&mut [0]);
            self.stream.set_nonblocking(false)?;
            peeked
        };
        peek().map_err(|error| error.kind())
    }
}

/// Time up to a deadline.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(late()) } else { Ok(left) }
}

fn late() -> io::Error {
    io::Error::new(ErrorKind::TimedOut, "takes too long")
}

/// The error of a socket whose time has passed.
fn in_time<T>(result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| if error.kind() == ErrorKind::WouldBlock { late() } else { error })
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(left(self.deadline)?))?;
        in_time(self.stream.read(buffer))
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(left(self.deadline)?))?;
        in_time(self.stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]
mod tests {
    use super::*;
    use crate::tls;
    use std::net::{SocketAddr, TcpListener};

    /// A server that takes one connection, and sends a byte of `bytes` now and then, over and over.
    fn trickle(bytes: &'static [u8]) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            for byte in bytes.iter().chain(std::iter::repeat(&0)) {
                std::thread::sleep(Duration::from_millis(20));
                if stream.write_all(&[*byte]).is_err() {
                    return;
                }
            }
        });
        address
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(400)
    }

    #[test]
    fn a_peer_that_sends_byte_by_byte_has_no_more_time() {
        let peer = Peer { address: trickle(b""), source: None, tls: None, key: None };
        let mut stream = Stream::connect(&peer, soon()).unwrap();
        stream.set_deadline(soon());
        let mut count = 0;
        let error = loop {
            assert!(count < 1000, "bytes are read without end");
            match stream.read(&mut [0; 1]) {
                Ok(read) => count += read,
                Err(error) => break error,
            }
        };
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::TimedOut, "takes too long".to_owned()));
    }

    #[test]
    fn a_handshake_that_comes_byte_by_byte_has_no_more_time() {
        let key = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(["ns1.example".to_owned()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let roots = folder.path().join("roots.pem");
        std::fs::write(&roots, params.self_signed(&key).unwrap().pem()).unwrap();
        let mut config = crate::Config::default();
        config.tls.roots = roots;
        let settings = tls::client(&config).unwrap().unwrap();
        // The begin of a record of 16,383 bytes.
        let address = trickle(&[22, 3, 3, 0x3f, 0xff, 2]);
        let name = ServerName::try_from("ns1.example").unwrap();
        let peer = Peer { address, source: None, tls: Some((name, settings)), key: None };
        assert_eq!(Stream::connect(&peer, soon()).err(), Some("takes too long".to_owned()));
    }
}
