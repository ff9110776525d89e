//! Connections of applications: link packets over Unix, TCP, UDP and WebSocket.

use hashlane_ndn::tlv;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;
use tungstenite::{Message, WebSocket};

/// Time limit for a connection and for a WebSocket handshake.
const CONNECT: Duration = Duration::from_secs(4);
/// Shortest wait that the kernel accepts.
const SHORTEST: Duration = Duration::from_millis(1);
/// Time limit for a write. Bytes that do not fit by then are written before the next packet.
const WRITE: Duration = Duration::from_millis(20);

/// A connection that sends and receives link packets.
pub(crate) trait Wire: Send {
    /// # Errors
    /// The connection is broken.
    fn send(&mut self, packet: &[u8]) -> io::Result<()>;

    /// Next packet, or `None` after `wait`.
    ///
    /// # Errors
    /// The connection is broken.
    fn receive(&mut self, wait: Duration) -> io::Result<Option<Vec<u8>>>;

    /// Drops all that arrives until nothing does for `wait`.
    ///
    /// # Errors
    /// The connection is broken.
    fn discard(&mut self, wait: Duration) -> io::Result<()> {
        self.receive(wait).map(drop)
    }
}

/// Stream with time limits.
pub(crate) trait Stream: Read + Write + Send + Sized {
    fn limit(&self, read: Duration) -> io::Result<()>;

    /// Another handle of the same stream.
    fn twin(&self) -> io::Result<Self>;

    /// Closes both directions, also for other handles.
    fn close(&self) -> io::Result<()>;
}

impl Stream for UnixStream {
    fn limit(&self, read: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(read.max(SHORTEST)))?;
        self.set_write_timeout(Some(WRITE))
    }

    fn twin(&self) -> io::Result<Self> {
        self.try_clone()
    }

    fn close(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Both)
    }
}

impl Stream for TcpStream {
    fn limit(&self, read: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(read.max(SHORTEST)))?;
        self.set_write_timeout(Some(WRITE))
    }

    fn twin(&self) -> io::Result<Self> {
        self.try_clone()
    }

    fn close(&self) -> io::Result<()> {
        self.shutdown(Shutdown::Both)
    }
}

/// Connects to the socket of a forwarder.
pub(crate) fn unix(path: &Path) -> io::Result<Box<dyn Wire>> {
    Ok(Box::new(Framed::new(UnixStream::connect(path)?)))
}

pub(crate) fn tcp(to: SocketAddr) -> io::Result<Box<dyn Wire>> {
    let stream = TcpStream::connect_timeout(&to, CONNECT)?;
    stream.set_nodelay(true)?;
    Ok(Box::new(Framed::new(stream)))
}

pub(crate) fn udp(from: Ipv4Addr, to: SocketAddr) -> io::Result<Box<dyn Wire>> {
    let socket = UdpSocket::bind((IpAddr::V4(from), 0))?;
    socket.connect(to)?;
    Ok(udp_of(socket))
}

pub(crate) fn web_socket(to: SocketAddr) -> io::Result<Box<dyn Wire>> {
    let socket = web_socket_with(to, &[]).map_err(io::Error::other)?;
    Ok(Box::new(Messages(socket)))
}

/// Opens a WebSocket with these headers. The error has the status code if the server refuses.
pub(crate) fn web_socket_with(
    to: SocketAddr,
    headers: &[(&'static str, &str)],
) -> Result<WebSocket<TcpStream>, String> {
    use tungstenite::http::{HeaderValue, header::HeaderName};
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let stream = TcpStream::connect_timeout(&to, CONNECT).map_err(|error| text(&error))?;
    stream.set_nodelay(true).map_err(|error| text(&error))?;
    stream.set_read_timeout(Some(CONNECT)).map_err(|error| text(&error))?;
    let mut request = tungstenite::client::IntoClientRequest::into_client_request(format!("ws://{to}/"))
        .map_err(|error| text(&error))?;
    for (name, value) in headers {
        let value = HeaderValue::from_str(value).map_err(|error| text(&error))?;
        request.headers_mut().insert(HeaderName::from_static(name), value);
    }
    match tungstenite::client(request, stream) {
        Ok((socket, _)) => Ok(socket),
        Err(error) => Err(text(&error)),
    }
}

/// Wire of an open WebSocket.
pub(crate) fn messages(socket: WebSocket<TcpStream>) -> Box<dyn Wire> {
    Box::new(Messages(socket))
}

/// Opens a WebSocket over a connection, and returns the connection for frames of the caller's own.
pub(crate) fn shake_hands(stream: TcpStream, to: SocketAddr) -> Result<TcpStream, String> {
    stream.set_read_timeout(Some(CONNECT)).map_err(|error| error.to_string())?;
    match tungstenite::client(format!("ws://{to}/"), stream) {
        Ok((socket, _)) => socket.get_ref().try_clone().map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Wire of a connected socket.
pub(crate) fn udp_of(socket: UdpSocket) -> Box<dyn Wire> {
    Box::new(Datagrams(socket))
}

/// Packets in a byte stream, framed by their type and length.
struct Framed<S> {
    stream: S,
    read: Vec<u8>,
    unsent: VecDeque<u8>,
}

impl<S: Stream> Framed<S> {
    fn new(stream: S) -> Self {
        Self { stream, read: Vec::new(), unsent: VecDeque::new() }
    }

    fn packet(&mut self) -> io::Result<Option<Vec<u8>>> {
        let frame = tlv::frame(&self.read).map_err(|error| io::Error::other(error.to_string()))?;
        let len = frame.and_then(|len| usize::try_from(len).ok()).filter(|len| *len <= self.read.len());
        Ok(len.map(|len| self.read.drain(..len).collect()))
    }
}

impl<S: Stream> Wire for Framed<S> {
    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.unsent.extend(packet);
        self.stream.limit(SHORTEST)?;
        while !self.unsent.is_empty() {
            match self.stream.write(self.unsent.as_slices().0) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(error) if is_wait(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn receive(&mut self, wait: Duration) -> io::Result<Option<Vec<u8>>> {
        if let Some(packet) = self.packet()? {
            return Ok(Some(packet));
        }
        self.stream.limit(wait)?;
        let mut bytes = [0; 16 << 10];
        match self.stream.read(&mut bytes) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                self.read.extend_from_slice(&bytes[..count]);
                self.packet()
            }
            Err(error) if is_wait(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn discard(&mut self, wait: Duration) -> io::Result<()> {
        self.read.clear();
        self.stream.limit(wait)?;
        match self.stream.read(&mut [0; 256 << 10]) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) => Ok(()),
            Err(error) if is_wait(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

struct Datagrams(UdpSocket);

impl Wire for Datagrams {
    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        match self.0.send(packet) {
            // Lost, like any datagram: nothing listens there now, or a queue is full.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn receive(&mut self, wait: Duration) -> io::Result<Option<Vec<u8>>> {
        self.0.set_read_timeout(Some(wait.max(SHORTEST)))?;
        let mut bytes = [0; 9000];
        match self.0.recv(&mut bytes) {
            Ok(count) => Ok(Some(bytes[..count].to_vec())),
            Err(error) if is_wait(&error) || error.kind() == ErrorKind::ConnectionRefused => Ok(None),
            Err(error) => Err(error),
        }
    }
}

struct Messages(WebSocket<TcpStream>);

impl Wire for Messages {
    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.0.get_ref().limit(SHORTEST)?;
        waits(self.0.send(Message::binary(packet.to_vec()))).map(drop)
    }

    fn receive(&mut self, wait: Duration) -> io::Result<Option<Vec<u8>>> {
        self.0.get_ref().limit(wait)?;
        match waits(self.0.read())? {
            Some(Message::Binary(bytes)) => Ok(Some(bytes.into())),
            Some(_) | None => Ok(None),
        }
    }
}

fn waits<T>(result: Result<T, tungstenite::Error>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(tungstenite::Error::Io(error)) if is_wait(&error) => Ok(None),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// True if nothing arrived, or nothing could be sent, within the time limit.
pub(crate) fn is_wait(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
