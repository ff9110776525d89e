//! A collector over TCP, connected to again when it goes away.

use super::Totals;
use super::health::Health;
use super::queue::Queue;
use crate::export::SECOND;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// Longest wait between two attempts to connect.
const MAX_BACKOFF: u64 = 60 * SECOND;
/// Time that a connection may take to be established.
const CONNECT_TIMEOUT: u64 = 10 * SECOND;
/// Time after which the kernel ends a connection whose collector takes nothing of what was sent. By default
/// the kernel repeats it for a quarter of an hour.
const TAKE_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct TcpSink {
    collector: SocketAddr,
    link: Link,
    /// Wait after the next failure, in nanoseconds.
    backoff: u64,
    pub(super) queue: Queue,
    pub(super) health: Health,
}

#[derive(Debug)]
enum Link {
    Down { retry: u64 },
    Connecting { stream: TcpStream, deadline: u64 },
    Up(Session),
}

/// An established connection.
#[derive(Debug)]
struct Session {
    stream: TcpStream,
    /// The prelude, until it is sent.
    head: Vec<u8>,
    /// Bytes sent of `head`, or of the oldest block if `head` is empty.
    sent: usize,
}

impl TcpSink {
    pub(super) fn new(collector: SocketAddr) -> Self {
        let (queue, health) = (Queue::new(), Health::default());
        Self { collector, link: Link::Down { retry: 0 }, backoff: SECOND, queue, health }
    }

    /// Connects if need be, and sends until the queue is empty or the socket's buffer is full.
    ///
    /// A block that was sent in part when the connection broke is sent whole on the next one.
    pub(super) fn pump(&mut self, prelude: &[u8], now: u64, totals: &mut Totals) {
        if let Link::Down { retry } = self.link {
            if now < retry && retry - now <= MAX_BACKOFF {
                return;
            }
            match connect(self.collector) {
                Ok(stream) => self.link = Link::Connecting { stream, deadline: now + CONNECT_TIMEOUT },
                Err(error) => return self.fail(error, now, totals),
            }
        }
        if let Link::Connecting { stream, deadline } = &self.link {
            match established(stream) {
                Ok(false) if now < *deadline && *deadline - now <= CONNECT_TIMEOUT => return,
                Ok(false) => return self.fail(ErrorKind::TimedOut.into(), now, totals),
                Err(error) => return self.fail(error, now, totals),
                Ok(true) => {}
            }
            let stream = match stream.try_clone() {
                Ok(stream) => stream,
                Err(error) => return self.fail(error, now, totals),
            };
            totals.connections += 1;
            self.backoff = SECOND;
            self.link = Link::Up(Session { stream, head: prelude.to_vec(), sent: 0 });
        }
        if let Link::Up(session) = &mut self.link {
            match session.send(&mut self.queue, totals) {
                Ok(()) => self.health.succeed(now),
                Err(error) => self.fail(error, now, totals),
            }
        }
        self.health.tick(now);
    }

    /// Ends the connection in order.
    pub(super) fn close(&mut self) {
        if let Link::Up(session) = &self.link {
            // Fails if the collector has closed it already.
            let _ = session.stream.shutdown(Shutdown::Write);
        }
        self.link = Link::Down { retry: 0 };
    }

    fn fail(&mut self, error: io::Error, now: u64, totals: &mut Totals) {
        totals.errors += 1;
        self.health.fail(error);
        self.link = Link::Down { retry: now + self.backoff };
        self.backoff = (2 * self.backoff).min(MAX_BACKOFF);
    }
}

impl Session {
    fn send(&mut self, queue: &mut Queue, totals: &mut Totals) -> io::Result<()> {
        // Collectors send nothing: a read tells if the connection was closed.
        match self.stream.read(&mut [0; 64]) {
            Ok(0) => return Err(ErrorKind::ConnectionReset.into()),
            Ok(_) => {}
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(error),
        }
        loop {
            let bytes = match queue.front() {
                _ if !self.head.is_empty() => &self.head,
                Some(block) => &*block.bytes,
                None => return Ok(()),
            };
            while self.sent < bytes.len() {
                match self.stream.write(&bytes[self.sent..]) {
                    Ok(0) => return Err(ErrorKind::WriteZero.into()),
                    Ok(count) => self.sent += count,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                    Err(error) => return Err(error),
                }
            }
            self.sent = 0;
            if self.head.is_empty() {
                drop(queue.delivered(totals));
            } else {
                self.head = Vec::new();
            }
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Starts to connect.
fn connect(collector: SocketAddr) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(collector), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    // Without it, an outage is noticed later.
    let _ = socket.set_tcp_user_timeout(Some(TAKE_TIMEOUT));
    match socket.connect(&collector.into()) {
        Ok(()) => {}
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) || is_passing(&error) => {}
        Err(error) => return Err(error),
    }
    Ok(socket.into())
}

/// Tests if the connection is established.
///
/// # Errors
/// It was refused, or failed in another way.
fn established(stream: &TcpStream) -> io::Result<bool> {
    if let Some(error) = stream.take_error()? {
        return Err(error);
    }
    match stream.peer_addr() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotConnected => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_ends_a_connection_to_a_host_that_is_gone() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = connect(listener.local_addr().unwrap()).unwrap();
        let timeout = socket2::SockRef::from(&stream).tcp_user_timeout().unwrap();
        assert_eq!(timeout, Some(TAKE_TIMEOUT));
    }
}
