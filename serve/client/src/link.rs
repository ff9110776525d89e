//! Packets to and from one socket.

use crate::transport::{ConnectError, Transport};
use hashlane_ndn::tlv;
use hashlane_ndn::wire::MAX_LINK_PACKET;
use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket, UnixStream, lookup_host};

/// Length of the receive buffer, in bytes.
const READ: usize = 64 << 10;

/// Requested length of the system's receive queue for datagrams, in bytes.
const RECEIVE_BUFFER: usize = 4 << 20;

/// A connected socket with its receive buffer and send queue.
pub(crate) struct Link {
    socket: Socket,
    /// True if the forwarder takes this for a connection from its own host.
    pub(crate) is_local: bool,
    /// Received bytes: `input[taken..filled]`.
    input: Vec<u8>,
    taken: usize,
    filled: usize,
    /// Send queue: `output[written..]`, whole packets except for the first on a stream.
    output: Vec<u8>,
    written: usize,
}

enum Socket {
    Stream { reader: Box<dyn AsyncRead + Send + Unpin>, writer: Box<dyn AsyncWrite + Send + Unpin> },
    Datagrams(UdpSocket),
}

impl Link {
    pub(crate) async fn open(transport: &Transport) -> Result<Self, ConnectError> {
        let opened = match transport {
            Transport::Unix(path) => UnixStream::connect(path).await.map(|stream| {
                let (reader, writer) = stream.into_split();
                Self::new(Socket::Stream { reader: Box::new(reader), writer: Box::new(writer) }, true)
            }),
            Transport::Tcp { host, port } => Self::open_tcp(host, *port).await,
            Transport::Udp { host, port } => Self::open_udp(host, *port).await,
        };
        opened.map_err(|error| ConnectError { transport: transport.clone(), error })
    }

    /// A link over a byte stream of this host that is connected.
    pub(crate) fn over(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self::new(Socket::Stream { reader: Box::new(reader), writer: Box::new(writer) }, true)
    }

    async fn open_tcp(host: &str, port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect((host, port)).await?;
        stream.set_nodelay(true)?;
        let is_local = stream.peer_addr()?.ip().to_canonical().is_loopback();
        let (reader, writer) = stream.into_split();
        Ok(Self::new(Socket::Stream { reader: Box::new(reader), writer: Box::new(writer) }, is_local))
    }

    async fn open_udp(host: &str, port: u16) -> io::Result<Self> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for peer in lookup_host((host, port)).await? {
            let any: SocketAddr = if peer.is_ipv4() { ([0; 4], 0).into() } else { ([0; 16], 0).into() };
            let connected = async {
                let socket = UdpSocket::bind(any).await?;
                // A window of fragmented packets arrives at once. A smaller queue than requested is no error.
                let _ = socket2::SockRef::from(&socket).set_recv_buffer_size(RECEIVE_BUFFER);
                socket.connect(peer).await?;
                Ok(socket)
            };
            match connected.await {
                // A datagram does not prove its sender: forwarders take UDP for non-local, also from their
                // own host.
                Ok(socket) => return Ok(Self::new(Socket::Datagrams(socket), false)),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn new(socket: Socket, is_local: bool) -> Self {
        Self { socket, is_local, input: vec![0; READ], taken: 0, filled: 0, output: Vec::new(), written: 0 }
    }

    /// Length of the send queue, in bytes.
    pub(crate) fn queued(&self) -> usize {
        self.output.len() - self.written
    }

    /// Queues a whole link packet, given as its parts in order.
    pub(crate) fn push(&mut self, parts: &[&[u8]]) {
        if self.written == self.output.len() {
            self.output.clear();
            self.written = 0;
        }
        parts.iter().for_each(|part| self.output.extend_from_slice(part));
    }

    /// Waits until something is read or written. Cancel-safe: nothing is lost if the future is dropped.
    pub(crate) async fn turn(&mut self) -> io::Result<()> {
        if self.taken > 0 {
            self.input.copy_within(self.taken..self.filled, 0);
            self.filled -= self.taken;
            self.taken = 0;
        }
        let room = self.input.get_mut(self.filled..).unwrap_or_default();
        let waiting = self.output.get(self.written..).unwrap_or_default();
        match &mut self.socket {
            Socket::Stream { reader, writer } => tokio::select! {
                read = reader.read(room) => match read? {
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    read => self.filled += read,
                },
                written = writer.write(waiting), if !waiting.is_empty() => self.written += written?,
            },
            Socket::Datagrams(socket) => {
                let next = tlv::frame(waiting).ok().flatten().and_then(|len| waiting.get(..len as usize));
                tokio::select! {
                    // The buffer is longer than any datagram, and the one before has been taken.
                    read = socket.recv(room) => self.filled = read?,
                    sent = socket.send(next.unwrap_or(waiting)), if !waiting.is_empty() => {
                        self.written += next.unwrap_or(waiting).len();
                        sent?;
                    }
                }
            }
        }
        if self.written == self.output.len() {
            self.output.clear();
            self.written = 0;
        }
        Ok(())
    }

    /// Takes the next whole link packet out of the receive buffer.
    ///
    /// # Errors
    /// The start of the next packet cannot be found: the connection is lost.
    pub(crate) fn next_packet(&mut self) -> io::Result<Option<&[u8]>> {
        let read = self.input.get(self.taken..self.filled).unwrap_or_default();
        if let Socket::Datagrams(_) = self.socket {
            self.taken = 0;
            self.filled = 0;
            return Ok(Some(read).filter(|read| !read.is_empty()));
        }
        let broken = |rule: String| io::Error::new(io::ErrorKind::InvalidData, rule);
        match tlv::frame(read).map_err(|error| broken(error.to_string()))? {
            Some(len) if len > MAX_LINK_PACKET as u64 => {
                Err(broken(format!("packet too long: {len} bytes, at most {MAX_LINK_PACKET} allowed")))
            }
            Some(len) => Ok(read.get(..len as usize).inspect(|_| self.taken += len as usize)),
            None => Ok(None),
        }
    }
}
