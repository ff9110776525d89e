//! TLS over a connected, non-blocking socket.
//!
//! The buffers are bounded: at most one record is encrypted before the socket has taken the one before it,
//! and decrypted bytes are taken before more is read.

use mio::net::TcpStream;
use rustls::{ServerConfig, ServerConnection};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::sync::Arc;

/// Bytes of memory of a session without data: keys, tables, and the buffer of a short record.
const SESSION: usize = 12 << 10;

/// Most bytes that are encrypted at one time: a record.
const RECORD: usize = 16 << 10;

/// Most bytes that TLS keeps of a record, or of a handshake, that has not come whole.
const MAX_UNREAD: usize = 66 << 10;

/// TLS over a socket, at the side of the server.
#[derive(Debug)]
pub struct Session {
    socket: TcpStream,
    session: ServerConnection,
    /// Bytes read since plaintext came last.
    unread: usize,
    /// Bytes encrypted that the socket has not taken.
    unsent: usize,
}

impl Session {
    /// A session over a connected socket, before its handshake.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn new(socket: TcpStream, config: Arc<ServerConfig>) -> io::Result<Self> {
        let session = ServerConnection::new(config).map_err(io::Error::other)?;
        Ok(Self { socket, session, unread: 0, unsent: 0 })
    }

    /// The socket.
    pub fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// The socket, to register its events.
    pub fn socket_mut(&mut self) -> &mut TcpStream {
        &mut self.socket
    }

    /// Protocol that both sides have chosen (ALPN), once the handshake is complete.
    pub fn protocol(&self) -> Option<&[u8]> {
        self.session.alpn_protocol()
    }

    /// True until the handshake is complete.
    pub fn is_handshaking(&self) -> bool {
        self.session.is_handshaking()
    }

    /// True if the socket has taken all.
    pub fn is_flushed(&self) -> bool {
        !self.session.wants_write()
    }

    /// Bytes of memory, without the socket's in the kernel.
    pub fn memory(&self) -> usize {
        SESSION + self.unread.min(MAX_UNREAD) + self.unsent
    }

    /// Bytes read from the socket since plaintext came last.
    pub fn unread(&self) -> usize {
        self.unread
    }

    /// Reads from the socket at most once. Returns `None` if bytes came that are no data, such as in a
    /// handshake; 0 at the end.
    ///
    /// # Errors
    /// Nothing has come ([`ErrorKind::WouldBlock`]); the connection is broken, or the client breaks the rules
    /// of TLS.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        if let Some(read) = self.take(buffer)? {
            return Ok(Some(read));
        }
        // A part of a handshake may wait for the socket.
        self.flush()?;
        self.unread += self.session.read_tls(&mut self.socket)?;
        if let Err(error) = self.session.process_new_packets() {
            // The client learns the reason, if it takes it.
            let _ = self.flush();
            return Err(io::Error::new(ErrorKind::InvalidData, error));
        }
        self.flush()?;
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

    /// Encrypts and writes some bytes. The session may keep the bytes of a record: see
    /// [`flush`](Self::flush).
    ///
    /// # Errors
    /// The socket takes nothing ([`ErrorKind::WouldBlock`]), or the connection is broken.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.flush()? {
            return Err(ErrorKind::WouldBlock.into());
        }
        let written = self.session.writer().write(bytes.get(..RECORD).unwrap_or(bytes))?;
        self.unsent = written;
        self.flush()?;
        Ok(written)
    }

    /// Sends what the session keeps. Returns true if the socket has taken all.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn flush(&mut self) -> io::Result<bool> {
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

    /// Says that nothing more is sent, so that the client knows that nothing was cut off.
    pub fn end(&mut self) {
        self.session.send_close_notify();
        // A client that takes nothing sees the end of the connection.
        let _ = self.flush();
    }
}
