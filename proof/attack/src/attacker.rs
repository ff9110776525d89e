//! Means of the attacker: datagrams at a rate from many ports and addresses, and many connections.

use crate::network::Network;
use hashlane_link::udp::{SendBatch, UdpSocket};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Datagrams of one system call.
const BATCH: usize = 64;
/// Shortest pause between bursts.
const PAUSE: Duration = Duration::from_millis(1);
/// Receive buffer of a connection, in bytes.
const RECEIVE_BUFFER: usize = 4096;
/// Time limit for a connection.
const CONNECT: Duration = Duration::from_secs(2);

/// Speed of a flood.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speed {
    /// Packets a second; as many as possible if absent.
    pub(crate) rate: Option<u32>,
    pub(crate) lasting: Duration,
}

impl Speed {
    /// `packets` at a rate.
    pub(crate) fn of(packets: u32, rate: u32) -> Self {
        let lasting = Duration::from_secs_f64(f64::from(packets) / f64::from(rate.max(1)));
        Self { rate: Some(rate), lasting }
    }

    /// Packets that are due `elapsed` after the start; `None` after the end.
    fn due(self, elapsed: Duration, sent: u64) -> Option<u64> {
        let Some(rate) = self.rate else {
            return (elapsed < self.lasting).then_some(sent + BATCH as u64);
        };
        let all = (self.lasting.as_secs_f64() * f64::from(rate)).round() as u64;
        let due = (elapsed.as_secs_f64() * f64::from(rate)) as u64;
        // A stalled attacker stops late rather than send less, but not for ever.
        let over = elapsed > 2 * self.lasting + CONNECT;
        (sent < all && !over).then_some(due.min(all))
    }

    /// Calls `send` with the number of packets sent before and of those to send now, at most `BATCH`, until
    /// the flood ends.
    pub(crate) fn pace(self, mut send: impl FnMut(u64, u64)) {
        let (begun, mut sent) = (Instant::now(), 0);
        while let Some(due) = self.due(begun.elapsed(), sent) {
            if due <= sent {
                thread::sleep(PAUSE);
                continue;
            }
            let count = (due - sent).min(BATCH as u64);
            send(sent, count);
            sent += count;
        }
    }
}

/// UDP ports of the attacker.
pub(crate) struct Ports {
    sockets: Vec<UdpSocket>,
    to: SocketAddr,
}

impl Ports {
    /// Opens `count` ports of one address.
    pub(crate) fn from_one_host(network: &Network, count: usize, to: SocketAddr) -> Result<Self, String> {
        Self::open(std::iter::repeat_n(network.source(0), count), to)
    }

    /// Opens a port of each of `count` addresses.
    pub(crate) fn from_hosts(network: &Network, count: u16, to: SocketAddr) -> Result<Self, String> {
        Self::open((0..count).map(|number| network.source(number)), to)
    }

    /// Opens a port of one address of each of `count` networks of 256 addresses.
    pub(crate) fn from_networks(network: &Network, count: u16, to: SocketAddr) -> Result<Self, String> {
        Self::open((0..count).map(|number| network.source(number.wrapping_mul(256))), to)
    }

    fn open(hosts: impl Iterator<Item = Ipv4Addr>, to: SocketAddr) -> Result<Self, String> {
        let bind = |host| {
            let mut socket =
                UdpSocket::bind((IpAddr::V4(host), 0).into()).map_err(|error| error.to_string())?;
            // Older kernels send the datagrams of a batch one by one.
            socket.set_segmentation(true);
            Ok::<_, String>(socket)
        };
        Ok(Self { sockets: hosts.map(bind).collect::<Result<_, _>>()?, to })
    }

    /// Sends packets from all ports in turn, `BATCH` of each. `write` writes the packet of a number. Returns
    /// the number of packets that the attacker's kernel took.
    pub(crate) fn flood(
        &mut self,
        speed: Speed,
        mut write: impl FnMut(u64, &mut Vec<u8>),
    ) -> Result<u64, String> {
        let (mut batch, mut packet, mut taken) = (SendBatch::new(BATCH), Vec::new(), 0);
        speed.pace(|sent, count| {
            let turn = usize::try_from(sent / BATCH as u64).unwrap_or(0) % self.sockets.len().max(1);
            let Some(socket) = self.sockets.get_mut(turn) else { return };
            for number in sent..sent + count {
                packet.clear();
                write(number, &mut packet);
                batch.push(self.to, &[&packet]);
            }
            // Whatever the kernel does not take is lost, like datagrams anywhere.
            taken += socket.send(&mut batch).map_or(0, |sent| sent.sent as u64);
        });
        Ok(taken)
    }

    /// Sends one packet from each port.
    pub(crate) fn send_each(
        &mut self,
        rate: u32,
        mut write: impl FnMut(u64, &mut Vec<u8>),
    ) -> Result<(), String> {
        let mut batch = SendBatch::new(1);
        let mut packet = Vec::new();
        let begun = Instant::now();
        for (number, socket) in self.sockets.iter_mut().enumerate() {
            packet.clear();
            write(number as u64, &mut packet);
            batch.push(self.to, &[&packet]);
            // Lost, like datagrams anywhere.
            let _ = socket.send(&mut batch);
            pace(begun, number, rate);
        }
        Ok(())
    }
}

/// Sleeps until `number` things at `rate` a second are due.
pub(crate) fn pace(begun: Instant, number: usize, rate: u32) {
    let due = Duration::from_secs_f64((number + 1) as f64 / f64::from(rate.max(1)));
    if let Some(wait) = due.checked_sub(begun.elapsed()).filter(|wait| *wait > PAUSE) {
        thread::sleep(wait);
    }
}

/// Opens up to `count` TCP connections from an address of the attacker, within `limit`.
pub(crate) fn connections(from: Ipv4Addr, to: SocketAddr, count: usize, limit: Duration) -> Vec<TcpStream> {
    let begun = Instant::now();
    let mut open = Vec::new();
    while open.len() < count && begun.elapsed() < limit {
        match connect(from, to) {
            Ok(stream) => open.push(stream),
            // The forwarder, or this process, has no room: the attack is at its height.
            Err(_) => thread::sleep(Duration::from_millis(20)),
        }
    }
    open
}

/// Opens a TCP connection from an address.
pub(crate) fn connect(from: Ipv4Addr, to: SocketAddr) -> std::io::Result<TcpStream> {
    use socket2::{Domain, Protocol, Socket, Type};
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    // Packets that nobody reads wait at the forwarder, not here.
    socket.set_recv_buffer_size(RECEIVE_BUFFER)?;
    socket.bind(&SocketAddr::from((from, 0)).into())?;
    socket.connect_timeout(&to.into(), CONNECT)?;
    Ok(socket.into())
}

/// Counts connections that the other end has closed.
pub(crate) fn closed(streams: &[TcpStream]) -> usize {
    let is_closed = |stream: &&TcpStream| {
        let nonblocking = stream.set_nonblocking(true);
        let read = stream.peek(&mut [0]);
        nonblocking.is_ok()
            && match read {
                Ok(count) => count == 0,
                Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
            }
    };
    streams.iter().filter(is_closed).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_keeps_its_rate_and_its_number() {
        let speed = Speed::of(1000, 500);
        assert_eq!(speed.lasting, Duration::from_secs(2));
        assert_eq!(speed.due(Duration::from_secs(1), 0), Some(500));
        assert_eq!(speed.due(Duration::from_secs(3), 900), Some(1000), "late, but all");
        assert_eq!(speed.due(Duration::from_secs(3), 1000), None);
        assert_eq!(speed.due(Duration::from_secs(60), 10), None, "not for ever");
        let line = Speed { rate: None, lasting: Duration::from_secs(1) };
        assert_eq!(line.due(Duration::ZERO, 64), Some(64 + BATCH as u64));
        assert_eq!(line.due(Duration::from_secs(1), 64), None);
    }
}
