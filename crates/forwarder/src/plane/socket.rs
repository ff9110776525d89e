//! Connections: Unix, TCP, WebSocket.

use mio::net::{TcpStream, UnixStream};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, Message};

/// A connection of octets that never blocks.
#[derive(Debug)]
pub(super) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl AsRawFd for Stream {
    fn as_raw_fd(&self) -> RawFd {
        match self {
            Self::Unix(stream) => stream.as_raw_fd(),
            Self::Tcp(stream) => stream.as_raw_fd(),
        }
    }
}

impl Read for &Stream {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => (&mut &*stream).read(octets),
            Stream::Tcp(stream) => (&mut &*stream).read(octets),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => (&mut &*stream).write(octets),
            Stream::Tcp(stream) => (&mut &*stream).write(octets),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A WebSocket connection that never blocks.
pub(super) struct WebSocket(pub(super) tungstenite::WebSocket<TcpStream>);

/// Limits of a connection: no message longer than a packet, and no longer queue than a stream's.
pub(super) fn limits() -> WebSocketConfig {
    let longest = Some(super::MAX_LINK_PACKET);
    WebSocketConfig::default()
        .max_message_size(longest)
        .max_frame_size(longest)
        .write_buffer_size(1 << 16)
        .max_write_buffer_size(super::port::STREAM_QUEUE)
}

/// What a WebSocket gave.
pub(super) enum Received {
    Packet(Vec<u8>),
    /// A message that is none of ours.
    Nothing,
    /// Nothing more for now.
    Drained,
    /// The end, and why.
    Closed(String),
}

impl WebSocket {
    /// Reads one message.
    pub(super) fn receive(&mut self) -> Received {
        match self.0.read() {
            Ok(Message::Binary(octets)) => Received::Packet(octets.into()),
            Ok(Message::Text(_)) => Received::Closed("a text where packets are binary".into()),
            // Answers to these are sent with the next read or flush.
            Ok(Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_)) => {
                Received::Nothing
            }
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => Received::Drained,
            Err(Error::ConnectionClosed) => Received::Closed("closed by the peer".into()),
            Err(error) => Received::Closed(error.to_string()),
        }
    }

    /// Queues a packet; false where the queue is full.
    pub(super) fn push(&mut self, parts: &[&[u8]]) -> bool {
        match self.0.write(Message::binary(parts.concat())) {
            Ok(()) => true,
            Err(Error::Io(error)) => error.kind() == io::ErrorKind::WouldBlock,
            Err(_) => false,
        }
    }

    /// Sends what waits, as far as the connection takes it.
    pub(super) fn flush(&mut self) -> Result<(), String> {
        match self.0.flush() {
            Ok(()) => Ok(()),
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            // The reader finds the end, with its reason.
            Err(Error::ConnectionClosed | Error::AlreadyClosed) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }
}
