//! The bytes of a connection, with or without TLS.
//!
//! A connection without TLS costs a comparison more than its socket.

use crate::tls::{Channel, DOT};
use hashlane_tls::{ServerConfig, Session};
use mio::net::TcpStream;
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::time::Instant;

/// A connected socket, and TLS over it.
pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<Tls>),
}

/// TLS over a socket.
pub(super) struct Tls {
    session: Session,
    /// Time of the connect, until the handshake is complete.
    begun: Option<Instant>,
}

impl Stream {
    /// TLS over a socket that was connected at `now`.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(super) fn tls(socket: TcpStream, config: Arc<ServerConfig>, now: Instant) -> io::Result<Self> {
        Ok(Self::Tls(Box::new(Tls { session: Session::new(socket, config)?, begun: Some(now) })))
    }

    /// The socket.
    pub(super) fn socket(&mut self) -> &mut TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => tls.session.socket_mut(),
        }
    }

    /// Reads once. Returns `None` if bytes came that are no data, such as in a handshake; 0 at the end.
    ///
    /// # Errors
    /// Nothing has come ([`io::ErrorKind::WouldBlock`]); the connection is broken, or the client breaks the
    /// rules of TLS.
    #[inline]
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self {
            Self::Plain(socket) => socket.read(buffer).map(Some),
            Self::Tls(tls) => {
                let read = tls.session.read(buffer);
                if let Err(error) = read.as_ref()
                    && error.kind() == io::ErrorKind::InvalidData
                {
                    tracing::debug!(%error, "TLS");
                }
                read
            }
        }
    }

    /// Writes some bytes. TLS may keep the bytes of a record: see [`flush`](Self::flush).
    ///
    /// # Errors
    /// The socket takes nothing ([`io::ErrorKind::WouldBlock`]), or the connection is broken.
    #[inline]
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(tls) => tls.session.write(bytes),
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
            Self::Tls(tls) => tls.session.flush(),
        }
    }

    /// True if the socket has taken all.
    pub(super) fn is_flushed(&self) -> bool {
        match self {
            Self::Plain(_) => true,
            Self::Tls(tls) => tls.session.is_flushed(),
        }
    }

    /// Bytes of memory, without the socket's in the kernel.
    pub(super) fn memory(&self) -> usize {
        match self {
            Self::Plain(_) => 0,
            Self::Tls(tls) => tls.session.memory(),
        }
    }

    /// The channel of its messages.
    pub(super) fn channel(&self) -> Channel {
        match self {
            Self::Plain(_) => Channel::Clear,
            Self::Tls(tls) if tls.session.protocol() == Some(DOT) => Channel::Dot,
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
            tls.session.end();
        }
    }
}
