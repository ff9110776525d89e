//! The bytes of a WebSocket connection, with or without TLS.

use super::calls::{Call, counted};
use hashlane_tls::{ServerConfig, Session};
use mio::net::TcpStream;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, RawFd};
use std::sync::Arc;

/// A connected socket, and TLS over it.
#[derive(Debug)]
pub(super) enum Wire {
    Plain(TcpStream),
    Tls(Box<Session>),
}

/// Outcome of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filled {
    /// So many bytes: less than there was room for if the socket is empty.
    Exactly(usize),
    /// So many bytes, whatever the socket still has.
    SomeOf(usize),
    /// So many bytes of TLS without data.
    Overhead(usize),
}

impl Wire {
    /// A connection with TLS, before its handshake.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(super) fn tls(socket: TcpStream, config: Arc<ServerConfig>) -> io::Result<Self> {
        Ok(Self::Tls(Box::new(Session::new(socket, config)?)))
    }

    /// The socket, to register its events.
    pub(super) fn socket_mut(&mut self) -> &mut TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(session) => session.socket_mut(),
        }
    }

    /// Descriptor of the socket.
    pub(super) fn descriptor(&self) -> RawFd {
        match self {
            Self::Plain(socket) => socket.as_raw_fd(),
            Self::Tls(session) => session.socket().as_raw_fd(),
        }
    }

    /// Reads once.
    ///
    /// # Errors
    /// Nothing has come (`WouldBlock`); the connection is broken, or the peer breaks the rules of TLS.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<Filled> {
        match self {
            Self::Plain(socket) => counted(Call::Receive, socket.read(buffer)).map(Filled::Exactly),
            Self::Tls(session) => {
                let before = session.unread();
                let read = session.read(buffer)?;
                // At least 1: reads without any data must end, too.
                let overhead = session.unread().saturating_sub(before).max(1);
                Ok(read.map_or(Filled::Overhead(overhead), Filled::SomeOf))
            }
        }
    }

    /// Writes some bytes. TLS may keep the bytes of a record: see [`flush`](Self::flush).
    ///
    /// # Errors
    /// The socket takes nothing (`WouldBlock`), or the connection is broken.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(session) => session.write(bytes),
        }
    }

    /// Sends what TLS keeps.
    ///
    /// # Errors
    /// The socket has not taken all (`WouldBlock`), or the connection is broken.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Tls(session) => {
                if session.flush()? {
                    Ok(())
                } else {
                    Err(io::ErrorKind::WouldBlock.into())
                }
            }
        }
    }
}
