//! Bursts of datagrams that are received together and answered together, whatever receives them: a UDP socket
//! ([`UdpBurst`]), or a queue of an interface ([`XdpSocket`](crate::xdp::XdpSocket)).

use crate::udp::{LONGEST_SENT, RecvBatch, SendBatch, Sent, UdpSocket};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// Source of bursts.
pub trait Burst {
    /// Replies to the datagrams of a burst.
    type Replies<'a>: Replies
    where
        Self: 'a;

    /// Waits for a datagram, and receives it and those that wait with it, in place of the last ones. Returns
    /// their number; 0 if none came in time.
    ///
    /// # Errors
    /// The source can receive no more, or not now: [`NetworkDown`](io::ErrorKind::NetworkDown), the interface is
    /// down; [`NotFound`](io::ErrorKind::NotFound), it was removed.
    fn recv_wait(&mut self) -> io::Result<usize>;

    /// [`recv_wait`](Self::recv_wait) without the wait.
    ///
    /// # Errors
    /// As there.
    fn recv(&mut self) -> io::Result<usize>;

    /// The datagrams of the last receive, each with its sender, and a queue of replies to them.
    fn split(&mut self) -> (impl Iterator<Item = (SocketAddr, &[u8])>, Self::Replies<'_>);

    /// Packets that were lost or refused since the source was opened. A socket of UDP does not count them.
    ///
    /// # Errors
    /// The kernel does not report its counts.
    fn losses(&self) -> io::Result<Losses> {
        Ok(Losses::default())
    }
}

/// Packets of a source that were lost or refused since it was opened, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Received frames without a valid datagram: wrong lengths, checksums or sources.
    pub malformed: u64,
    /// Received frames that the kernel dropped, almost always because no frame was free to receive into.
    pub dropped: u64,
    /// Received frames for which the ring had no room.
    pub ring_full: u64,
    /// Sends that found the queue of the interface full. Each may have lost one reply.
    pub queue_full: u64,
    /// Frames that the kernel refused because of their address or length: a defect of this program.
    pub invalid: u64,
}

/// Queue of replies to the datagrams of a burst.
pub trait Replies {
    /// Bytes of the longest reply to this datagram, by its number in the burst.
    fn longest(&self, number: usize) -> usize;

    /// Adds a reply to the datagram with this number, whose sender is `to`. Returns false if there is no room
    /// for it: send the queue, then push again.
    fn push(&mut self, number: usize, to: SocketAddr, payload: &[u8]) -> bool;

    /// Number of replies in the queue.
    fn queued(&self) -> usize;

    /// Sends the replies in order, and empties the queue.
    ///
    /// # Errors
    /// The source can send no more. The queue is empty in this case, too.
    fn send(&mut self) -> io::Result<Sent>;
}

/// Bursts of a UDP socket, two system calls each.
#[derive(Debug)]
pub struct UdpBurst {
    socket: UdpSocket,
    received: RecvBatch,
    queue: SendBatch,
}

impl UdpBurst {
    /// Bursts of up to `burst` datagrams, without segmentation ([`UdpSocket::set_segmentation`]). Valid:
    /// 1..=1024, others are clamped. A receive waits for at most `patience`.
    ///
    /// # Errors
    /// The errors of [`UdpSocket::set_patience`].
    pub fn new(mut socket: UdpSocket, burst: usize, patience: Duration) -> io::Result<Self> {
        socket.set_patience(patience)?;
        let (received, queue) = (RecvBatch::new(burst), SendBatch::new(burst));
        Ok(Self { socket, received, queue })
    }
}

impl Burst for UdpBurst {
    type Replies<'a> = UdpReplies<'a>;

    fn recv_wait(&mut self) -> io::Result<usize> {
        self.socket.recv_wait(&mut self.received)
    }

    #[inline]
    fn recv(&mut self) -> io::Result<usize> {
        self.socket.recv(&mut self.received)
    }

    fn split(&mut self) -> (impl Iterator<Item = (SocketAddr, &[u8])>, UdpReplies<'_>) {
        let Self { socket, received, queue } = self;
        let datagrams = received.iter().map(|datagram| (datagram.from, datagram.payload));
        (datagrams, UdpReplies { socket, queue })
    }
}

/// Replies by a UDP socket.
#[derive(Debug)]
pub struct UdpReplies<'a> {
    socket: &'a mut UdpSocket,
    queue: &'a mut SendBatch,
}

impl Replies for UdpReplies<'_> {
    #[inline]
    fn longest(&self, _number: usize) -> usize {
        LONGEST_SENT
    }

    #[inline]
    fn push(&mut self, _number: usize, to: SocketAddr, payload: &[u8]) -> bool {
        self.queue.push(to, &[payload])
    }

    #[inline]
    fn queued(&self) -> usize {
        self.queue.len()
    }

    fn send(&mut self) -> io::Result<Sent> {
        self.socket.send(self.queue)
    }
}
