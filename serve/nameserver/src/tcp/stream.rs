//! The bytes of a connection, with or without TLS.
//!
//! A connection without TLS costs a comparison more than its socket. The buffers of TLS are bounded: at most
//! one record is encrypted before the socket has taken the one before it, and decrypted bytes are taken
//! before more is read.

use crate::tls::{Channel, DOT};
use mio::net::TcpStream;
use rustls::{ServerConfig, ServerConnection};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::sync::Arc;
use std::time::Instant;

/// Bytes of memory of a TLS session without data: keys, tables, and the buffer of a short record.
const SESSION: usize = 12 << 10;

/// Most bytes that are encrypted at one time: a record.
const RECORD: usize = 16 << 10;

/// Most bytes that TLS keeps of a record, or of a handshake, that has not come whole.
const MAX_UNREAD: usize = 66 << 10;

/// A connected socket, and TLS over it.
pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<Tls>),
}

/// TLS over a socket.
pub(super) struct Tls {
    socket: TcpStream,
    session: ServerConnection,
    /// Time of the connect, until the handshake is complete.
    begun: Option<Instant>,
    /// Bytes read since plaintext came last.
    unread: usize,
    /// Bytes encrypted that the socket has not taken.
    unsent: usize,
}

impl Stream {
    /// TLS over a socket that was connected at `now`.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(super) fn tls(socket: TcpStream, config: Arc<ServerConfig>, now: Instant) -> io::Result<Self> {
        let session = ServerConnection::new(config).map_err(io::Error::other)?;
        Ok(Self::Tls(Box::new(Tls { socket, session, begun: Some(now), unread: 0, unsent: 0 })))
    }

    /// The socket.
    pub(super) fn socket(&mut self) -> &mut TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => &mut tls.socket,
        }
    }

    /// Reads once. Returns `None` if bytes came that are no data, such as those of a handshake; 0 at the end.
    ///
    /// # Errors
    /// Nothing has come ([`ErrorKind::WouldBlock`]); the connection is broken, or the client breaks the rules
    /// of TLS.
    #[inline]
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self {
            Self::Plain(socket) => socket.read(buffer).map(Some),
            Self::Tls(tls) => tls.read(buffer),
        }
    }

    /// Writes some bytes. TLS may keep those of a record: see [`flush`](Self::flush).
    ///
    /// # Errors
    /// The socket takes nothing ([`ErrorKind::WouldBlock`]), or the connection is broken.
    #[inline]
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(tls) => tls.write(bytes),
        }
    }

    /// Sends what TLS keeps. Returns true if the socket has taken all.
    ///
    /// # Errors
    /// The connection is broken.
    #[inline]
    pub(super) fn flush(&mut self) -> io::Result<bool> {
        match self {
            Self::Plain(_) => Ok(true),
            Self::Tls(tls) => tls.push(),
        }
    }

    /// True if the socket has taken all.
    pub(super) fn is_flushed(&self) -> bool {
        match self {
            Self::Plain(_) => true,
            Self::Tls(tls) => !tls.session.wants_write(),
        }
    }

    /// Bytes of memory, but those of the socket in the kernel.
    pub(super) fn memory(&self) -> usize {
        match self {
            Self::Plain(_) => 0,
            Self::Tls(tls) => SESSION + tls.unread.min(MAX_UNREAD) + tls.unsent,
        }
    }

    /// The channel of its messages.
    pub(super) fn channel(&self) -> Channel {
        match self {
            Self::Plain(_) => Channel::Clear,
            Self::Tls(tls) if tls.session.alpn_protocol() == Some(DOT) => Channel::Dot,
            Self::Tls(_) => Channel::Tls,
        }
    }

    /// True once, after the handshake is complete.
    pub(super) fn has_shaken_hands(&mut self) -> bool {
        match self {
            Self::Tls(tls) if tls.begun.is_some() && !tls.session.is_handshaking() => {
                tls.begun = None;
                true
            }
            _ => false,
        }
    }

    /// Time of the connect, while the handshake is not complete.
    pub(super) fn handshake(&self) -> Option<Instant> {
        match self {
            Self::Plain(_) => None,
            Self::Tls(tls) => tls.begun,
        }
    }

    /// Says that nothing more is sent, so that the client knows that nothing was cut off.
    pub(super) fn end(&mut self) {
        if let Self::Tls(tls) = self {
            tls.session.send_close_notify();
            // A client that takes nothing sees the end of the connection.
            let _ = tls.push();
        }
    }
}

impl Tls {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        if let Some(read) = self.take(buffer)? {
            return Ok(Some(read));
        }
        self.unread += self.session.read_tls(&mut self.socket)?;
        if let Err(error) = self.session.process_new_packets() {
            tracing::debug!(%error, "TLS");
            // The client learns the reason, if it takes it.
            let _ = self.push();
            return Err(io::Error::new(ErrorKind::InvalidData, error));
        }
        self.push()?;
        self.take(buffer)
    }

    /// Takes decrypted bytes; `None` without any.
    fn take(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.session.reader().read(buffer) {
            Ok(read) => {
                self.unread = 0;
                Ok(Some(read))
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            // The client has closed the connection without saying so: each message has its length.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(Some(0)),
            Err(error) => Err(error),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.push()? {
            return Err(ErrorKind::WouldBlock.into());
        }
        let written = self.session.writer().write(bytes.get(..RECORD).unwrap_or(bytes))?;
        self.unsent = written;
        self.push()?;
        Ok(written)
    }

    /// Sends encrypted bytes. Returns true if the socket has taken all.
    fn push(&mut self) -> io::Result<bool> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut self.socket) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.unsent = 0;
        Ok(true)
    }
}
