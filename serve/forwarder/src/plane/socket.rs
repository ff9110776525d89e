//! Connections: Unix, TCP, WebSocket.

use super::calls::{Call, counted};
use super::wire::{Filled, Wire};
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::MAX_LINK_PACKET;
use mio::net::{TcpStream, UnixStream};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, Message};

/// Longest send queue of a connection, in bytes. Packets that do not fit are dropped.
pub(super) const STREAM_QUEUE: usize = 1 << 20;

/// Time after which a connection is closed whose peer takes nothing of what waits for it, in milliseconds.
pub(super) const STALLED: u64 = 30_000;

/// Sets the options of a TCP connection. The kernel closes it if its peer takes nothing, also of what is no
/// longer in our queue, for as long as [`STALLED`].
pub(super) fn prepare(stream: &TcpStream) {
    // Without these options small packets are late, and memory of the kernel is held for longer.
    let _ = hashlane_link::tcp::prepare(stream, Duration::from_millis(STALLED));
}

/// A non-blocking byte stream.
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
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let outcome = match self {
            Stream::Unix(stream) => (&mut &*stream).read(bytes),
            Stream::Tcp(stream) => (&mut &*stream).read(bytes),
        };
        counted(Call::Receive, outcome)
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => (&mut &*stream).write(bytes),
            Stream::Tcp(stream) => (&mut &*stream).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A connection that gives at most a granted number of bytes, and then reports `WouldBlock`.
///
/// The WebSocket library reads until it has a message, and a peer can send empty frames without end.
#[derive(Debug)]
pub(super) struct Metered {
    wire: Wire,
    left: usize,
    /// True if a short read has emptied the socket, so that the next one must fail.
    drained: bool,
    /// True if reads go on after a short one: to the end of the stream, or through a handshake.
    reads_on: bool,
    /// Bytes read since the last packet, in the second that began at `since`.
    barren: usize,
    since: Time,
    /// Bytes that the library has queued, about.
    queued: usize,
}

impl Metered {
    /// A connection without a limit, for handshakes, whose length the library limits.
    pub(super) fn unbounded(wire: Wire) -> Self {
        Self {
            wire,
            left: usize::MAX,
            drained: false,
            reads_on: true,
            barren: 0,
            since: Time::default(),
            queued: 0,
        }
    }
}

impl Read for Metered {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 || self.drained {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let room = bytes.len().min(self.left);
        let Some(buffer) = bytes.get_mut(..room) else {
            debug_assert!(false, "the room is at most the length of the buffer");
            return Err(io::ErrorKind::WouldBlock.into());
        };
        loop {
            let filled = self.wire.read(buffer)?;
            let (Filled::Exactly(read) | Filled::SomeOf(read) | Filled::Overhead(read)) = filled;
            self.left = self.left.saturating_sub(read);
            self.barren = self.barren.saturating_add(read);
            match filled {
                Filled::Exactly(read) => {
                    self.drained = read < room && !self.reads_on;
                    return Ok(read);
                }
                Filled::SomeOf(read) => return Ok(read),
                // The socket reports no event for what it still has: it is read to its end, or to the limit.
                Filled::Overhead(_) if self.left == 0 => return Err(io::ErrorKind::WouldBlock.into()),
                Filled::Overhead(_) => {}
            }
        }
    }
}

impl Write for Metered {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.wire.write(bytes)?;
        self.queued = self.queued.saturating_sub(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.wire.flush()
    }
}

/// A non-blocking WebSocket connection.
pub(super) struct WebSocket(pub(super) tungstenite::WebSocket<Metered>);

/// Bytes that a WebSocket may receive in a second without one whole packet: several times the longest one.
/// Empty frames and control frames have work done for 6 bytes each.
const MAX_BARREN: usize = 1 << 16;

/// Bytes of the header of a frame that is sent, at most.
const FRAME_HEADER: usize = 10;

/// Limits of a connection: messages of at most a packet, and the same send queue as a stream.
pub(super) fn limits() -> WebSocketConfig {
    let longest = Some(MAX_LINK_PACKET);
    WebSocketConfig::default()
        .max_message_size(longest)
        .max_frame_size(longest)
        // The library clears all of it before each read.
        .read_buffer_size(1 << 14)
        .write_buffer_size(1 << 16)
        .max_write_buffer_size(STREAM_QUEUE)
}

/// Outcome of reading a WebSocket.
pub(super) enum Received {
    /// A packet.
    Packet(Vec<u8>),
    /// A control message, which the library answers.
    Nothing,
    /// No more messages for now.
    Drained,
    /// The end, with its reason.
    Closed(String),
}

impl WebSocket {
    /// Grants a number of bytes to the next reads. `closing` is true if the stream is to be read to its end.
    pub(super) fn grant(&mut self, bytes: usize, closing: bool, now: Time) {
        let stream = self.0.get_mut();
        if now.since(stream.since) >= Duration::from_secs(1) {
            (stream.since, stream.barren) = (now, 0);
        }
        (stream.left, stream.drained, stream.reads_on) = (bytes, false, closing);
    }

    /// The connection, to change the registration of its events.
    pub(super) fn connection(&mut self) -> &mut TcpStream {
        self.0.get_mut().wire.socket_mut()
    }

    /// Descriptor of the connection.
    pub(super) fn descriptor(&self) -> RawFd {
        self.0.get_ref().wire.descriptor()
    }

    /// True if all granted bytes are read. There may be more, and no event reports them.
    pub(super) fn is_spent(&self) -> bool {
        self.0.get_ref().left == 0
    }

    /// Reads one message.
    pub(super) fn receive(&mut self) -> Received {
        let message = self.0.read();
        if self.0.get_ref().barren > MAX_BARREN && !matches!(message, Ok(Message::Binary(_))) {
            return Received::Closed(format!("{MAX_BARREN} bytes of frames without a packet"));
        }
        match message {
            Ok(Message::Binary(bytes)) => {
                self.0.get_mut().barren = 0;
                Received::Packet(bytes.into())
            }
            Ok(Message::Text(_)) => Received::Closed("text message; packets are binary messages".into()),
            // The library sends its replies with the next read or flush.
            Ok(Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_)) => {
                Received::Nothing
            }
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => Received::Drained,
            Err(Error::ConnectionClosed) => Received::Closed("closed by the peer".into()),
            Err(error) => Received::Closed(error.to_string()),
        }
    }

    /// Queues a packet. Returns false if the queue is full or the connection has failed.
    pub(super) fn push(&mut self, parts: &[&[u8]]) -> bool {
        let packet = parts.concat();
        let length = packet.len() + FRAME_HEADER;
        self.0.get_mut().queued += length;
        let taken = match self.0.write(Message::binary(packet)) {
            Ok(()) => true,
            Err(Error::Io(error)) => error.kind() == io::ErrorKind::WouldBlock,
            Err(_) => false,
        };
        if !taken {
            let stream = self.0.get_mut();
            stream.queued = stream.queued.saturating_sub(length);
        }
        taken
    }

    /// Bytes in the send queue, about.
    pub(super) fn queue(&self) -> usize {
        self.0.get_ref().queued
    }

    /// Sends the queue, as far as the connection takes it. Returns true if the queue is empty.
    pub(super) fn flush(&mut self) -> Result<bool, String> {
        match self.0.flush() {
            Ok(()) => {
                self.0.get_mut().queued = 0;
                Ok(true)
            }
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            // The reader reports the end, with its reason.
            Err(Error::ConnectionClosed | Error::AlreadyClosed) => Ok(true),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::calls::counter;
    use super::*;
    use std::net::{Ipv4Addr, TcpListener};
    use tungstenite::protocol::Role;

    /// Receiving calls of this thread.
    fn receives() -> usize {
        counter::calls()[0]
    }

    #[test]
    fn a_short_read_is_followed_by_none_unless_the_end_is_to_come() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let mut peer =
            std::net::TcpStream::connect(listener.local_addr().expect("its address")).expect("connects");
        let (stream, _) = listener.accept().expect("the connection");
        stream.set_nonblocking(true).expect("a socket");
        let stream = Metered::unbounded(Wire::Plain(TcpStream::from_std(stream)));
        let mut socket =
            WebSocket(tungstenite::WebSocket::from_raw_socket(stream, Role::Server, Some(limits())));
        // A whole message of one byte, with a mask of zeroes.
        peer.write_all(&[0x82, 0x81, 0, 0, 0, 0, 7]).expect("room");
        let packet = loop {
            socket.grant(6000, false, Time::default());
            match socket.receive() {
                Received::Packet(packet) => break packet,
                Received::Drained => std::thread::yield_now(),
                Received::Nothing | Received::Closed(_) => panic!("a packet was sent"),
            }
        };
        assert_eq!(packet, [7]);
        let before = receives();
        assert!(matches!(socket.receive(), Received::Drained));
        assert!(!socket.is_spent());
        assert_eq!(receives(), before);
        // The end has been reported.
        drop(peer);
        let closed = loop {
            socket.grant(6000, true, Time::default());
            match socket.receive() {
                Received::Closed(_) => break true,
                Received::Drained => std::thread::yield_now(),
                Received::Packet(_) | Received::Nothing => break false,
            }
        };
        assert!(closed);
    }

    #[test]
    fn frames_without_end_or_octet_take_no_more_than_their_turn() {
        const GRANT: usize = 6000;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let mut peer =
            std::net::TcpStream::connect(listener.local_addr().expect("its address")).expect("connects");
        let (stream, _) = listener.accept().expect("the connection");
        // A message is begun, and goes on with frames that are empty.
        let frame = |kind: u8| [kind, 0x80, 0, 0, 0, 0];
        let frames = [frame(2).to_vec(), frame(0).repeat(4999)].concat();
        peer.write_all(&frames).expect("room in the kernel");
        drop(peer);
        let stream = Metered::unbounded(Wire::Plain(TcpStream::from_std(stream)));
        let mut socket =
            WebSocket(tungstenite::WebSocket::from_raw_socket(stream, Role::Server, Some(limits())));
        let mut turns = 0;
        loop {
            socket.grant(GRANT, true, Time::default());
            match socket.receive() {
                Received::Drained if socket.is_spent() => turns += 1,
                Received::Closed(_) => break,
                Received::Drained | Received::Nothing => assert!(turns <= 5),
                Received::Packet(_) => panic!("no message has ended"),
            }
        }
        assert_eq!(turns, frames.len() / GRANT);
    }

    #[test]
    fn a_connection_of_empty_frames_is_closed_and_one_that_is_kept_alive_is_not() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let mut peer =
            std::net::TcpStream::connect(listener.local_addr().expect("its address")).expect("connects");
        let (stream, _) = listener.accept().expect("the connection");
        let stream = Metered::unbounded(Wire::Plain(TcpStream::from_std(stream)));
        let mut socket =
            WebSocket(tungstenite::WebSocket::from_raw_socket(stream, Role::Server, Some(limits())));
        let frame = |kind: u8| [kind, 0x80, 0, 0, 0, 0];
        let mut read_all = |bytes: &[u8], now| {
            peer.write_all(bytes).expect("room in the kernel");
            let mut left = bytes.len();
            while left > 0 {
                socket.grant(left.min(6000), true, now);
                match socket.receive() {
                    Received::Closed(_) => return false,
                    _ => left -= left.min(6000) - socket.0.get_ref().left.min(6000),
                }
            }
            true
        };
        // A ping a second, for two days; then a message that does not end.
        let pings = (0..172_800)
            .step_by(16)
            .all(|second| read_all(&frame(0x89).repeat(16), Time::from_millis(1000 * second)));
        assert!(pings);
        let now = Time::from_millis(200_000_000);
        assert!(read_all(&frame(2), now) && read_all(&frame(0).repeat(9000), now));
        assert!(!read_all(&frame(0).repeat(9000), now));
    }
}
