//! The connections of consumers and producers.

use super::datagrams::Datagrams;
use super::reliable::Reliable;
use hashlane_lab::study::TurnError;
use hashlane_link::stream::{Filled, Framing, StreamReader, StreamWriter};
use hashlane_link::udp::{RecvBatch, SendBatch, UdpSocket};
use hashlane_ndn::tlv;
use hashlane_ndn::wire::{LpHeader, MAX_LINK_PACKET};
use mio::net::UnixStream;
use mio::{Interest, Registry, Token};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

/// Most bytes queued for a stream; the Interests of a flood are sent in pieces far smaller.
const QUEUE: usize = 4 << 20;

/// Datagrams of one system call, as in the forwarder.
pub(super) const BATCH: usize = 64;

/// A connection to the forwarder.
pub(super) enum Port {
    /// A stream, its reader, and the bytes that it has not taken yet.
    Unix { stream: UnixStream, reader: StreamReader, writer: StreamWriter },
    /// A socket, where the forwarder listens, and the state of link reliability if it is on.
    Udp { socket: UdpSocket, forwarder: SocketAddr, reliable: Option<Box<Reliable>> },
}

/// Room for the datagrams of one call, for all ports.
pub(super) struct Batches {
    received: RecvBatch,
    queue: SendBatch,
}

impl Batches {
    pub(super) fn new() -> Self {
        Self { received: RecvBatch::new(BATCH), queue: SendBatch::new(BATCH) }
    }
}

/// Sending end of a port.
pub(super) enum Out<'a> {
    Stream(&'a mut StreamWriter),
    Datagrams(Datagrams<'a>),
    Reliable(&'a mut Reliable, Datagrams<'a>),
}

impl Out<'_> {
    /// Queues a packet with this header. A packet that a full queue drops is lost, as on any link.
    #[inline]
    pub(super) fn push(&mut self, header: &LpHeader<'_>, packet: &[u8]) -> io::Result<()> {
        match self {
            Self::Stream(writer) => {
                writer.push(&[header.frame(packet.len()).as_bytes(), packet]);
                Ok(())
            }
            Self::Datagrams(out) => out.push(&[header.frame(packet.len()).as_bytes(), packet]),
            Self::Reliable(reliable, out) => reliable.send(header, packet, out),
        }
    }
}

/// Length of the packet at the start of the bytes.
pub(super) fn framing(bytes: &[u8]) -> Framing {
    match tlv::frame(bytes) {
        Ok(Some(length)) => Framing::Packet(usize::try_from(length).unwrap_or(usize::MAX)),
        Ok(None) => Framing::More,
        Err(_) => Framing::Lost,
    }
}

/// A reader of link packets: a packet, and a header around it.
pub(super) fn reader() -> StreamReader {
    StreamReader::new(MAX_LINK_PACKET)
}

impl Port {
    /// A stream to the socket file `path`, on which nothing was received yet.
    pub(super) fn unix(stream: std::os::unix::net::UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self::Unix {
            stream: UnixStream::from_std(stream),
            reader: reader(),
            writer: StreamWriter::new(QUEUE),
        })
    }

    /// A socket of this address, for a forwarder at `forwarder` whose port is not known yet, with or without
    /// link reliability.
    pub(super) fn udp(own: Ipv4Addr, forwarder: Ipv4Addr, is_reliable: bool) -> io::Result<Self> {
        let socket = UdpSocket::bind(SocketAddr::from((own, 0)))?;
        let reliable = is_reliable.then(|| Box::new(Reliable::new()));
        Ok(Self::Udp { socket, forwarder: (forwarder, 0).into(), reliable })
    }

    /// Sets the UDP port of the forwarder.
    pub(super) fn set_forwarder(&mut self, port: u16) {
        if let Self::Udp { forwarder, .. } = self {
            forwarder.set_port(port);
        }
    }

    /// Its own address; none of a stream.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Unix { .. } => None,
            Self::Udp { socket, .. } => socket.local_addr().ok(),
        }
    }

    pub(super) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        match self {
            Self::Unix { stream, .. } => {
                registry.register(stream, token, Interest::READABLE | Interest::WRITABLE)
            }
            Self::Udp { socket, .. } => registry.register(socket, token, Interest::READABLE),
        }
    }

    /// Lets `write` queue packets, and sends them.
    pub(super) fn send(
        &mut self,
        batches: &mut Batches,
        write: impl FnOnce(&mut Out<'_>) -> io::Result<()>,
    ) -> Result<(), TurnError> {
        match self {
            Self::Unix { stream, writer, .. } => {
                write(&mut Out::Stream(writer)).and_then(|()| writer.flush(stream).map(drop)).map_err(closed)
            }
            Self::Udp { socket, forwarder, reliable } => {
                let queue = &mut batches.queue;
                write(&mut datagrams(socket, queue, *forwarder, reliable))
                    .and_then(|()| socket.send(queue).map(drop))
                    .map_err(TurnError::io("cannot send to the forwarder"))
            }
        }
    }

    /// Sends what link reliability has to send by now: lost link packets, and Acks.
    pub(super) fn handle_timeout(&mut self, batches: &mut Batches) -> Result<(), TurnError> {
        let Self::Udp { socket, forwarder, reliable: Some(reliable) } = self else { return Ok(()) };
        let queue = &mut batches.queue;
        reliable
            .handle_timeout(&mut Datagrams { socket, queue, to: *forwarder })
            .and_then(|()| socket.send(queue).map(drop))
            .map_err(TurnError::io("cannot send to the forwarder"))
    }

    /// Handles all waiting packets, and sends the answers queued for each.
    pub(super) fn receive(
        &mut self,
        batches: &mut Batches,
        mut take: impl FnMut(&[u8], &mut Out<'_>) -> io::Result<()>,
    ) -> Result<(), TurnError> {
        match self {
            Self::Unix { stream, reader, writer } => loop {
                let filled = reader.fill(stream).map_err(closed)?;
                for packet in reader.frames(framing) {
                    let packet = packet.map_err(|error| {
                        TurnError::Failed(format!("the forwarder sent a malformed packet: {error}"))
                    })?;
                    take(packet, &mut Out::Stream(writer)).map_err(closed)?;
                }
                writer.flush(stream).map_err(closed)?;
                match filled {
                    Filled::Full(_) => {}
                    Filled::Drained(_) => return Ok(()),
                    Filled::End => return Err(closed(io::ErrorKind::UnexpectedEof.into())),
                }
            },
            Self::Udp { socket, forwarder, reliable } => {
                let Batches { received, queue } = batches;
                let failed = TurnError::io("cannot exchange datagrams with the forwarder");
                loop {
                    socket.recv(received).map_err(failed)?;
                    for datagram in received.iter().filter(|datagram| datagram.from == *forwarder) {
                        let packet = datagram.payload;
                        let mut out = Datagrams { socket, queue, to: *forwarder };
                        if let Some(reliable) = reliable
                            && !reliable.receive(packet, &mut out).map_err(failed)?
                        {
                            continue;
                        }
                        take(packet, &mut datagrams(socket, queue, *forwarder, reliable)).map_err(failed)?;
                    }
                    if !queue.is_empty() {
                        socket.send(queue).map_err(failed)?;
                    }
                    if !received.is_full() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// Sending end of a socket.
fn datagrams<'a>(
    socket: &'a mut UdpSocket,
    queue: &'a mut SendBatch,
    to: SocketAddr,
    reliable: &'a mut Option<Box<Reliable>>,
) -> Out<'a> {
    let out = Datagrams { socket, queue, to };
    match reliable {
        Some(reliable) => Out::Reliable(reliable, out),
        None => Out::Datagrams(out),
    }
}

fn closed(error: io::Error) -> TurnError {
    TurnError::Failed(format!("the forwarder closed a connection: {error}"))
}

/// A connection to the socket file `path`.
pub(super) fn connect(path: &Path) -> Result<std::os::unix::net::UnixStream, TurnError> {
    std::os::unix::net::UnixStream::connect(path).map_err(TurnError::io("cannot connect to the forwarder"))
}
