//! `hashlane lab echo`: sends back each datagram, as the floor of a server's cost.

use hashlane_link::burst::{Burst, Replies, UdpBurst};
use hashlane_link::udp::UdpSocket;
use hashlane_link::xdp;
use std::io;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

/// Datagrams of one system call.
const BATCH: usize = 64;

/// Longest wait of one system call.
const PATIENCE: Duration = Duration::from_secs(1);

/// Echoes datagrams in batches until the process is ended: by one socket and one thread; or by XDP on an
/// interface, with a thread for each of its queues.
///
/// # Errors
/// The address cannot be bound, or the interface opened; or no more can be received or sent.
pub fn serve(address: SocketAddr, interface: Option<&str>) -> io::Result<()> {
    let Some(interface) = interface else {
        return echo(UdpBurst::new(UdpSocket::bind(address)?, BATCH, PATIENCE)?);
    };
    let opened = xdp::open(interface, &[address], BATCH, PATIENCE)
        .map_err(|error| io::Error::other(format!("XDP on {interface}: {error}")))?;
    thread::scope(|scope| {
        let threads: Vec<_> = opened.sockets.into_iter().map(|socket| scope.spawn(|| echo(socket))).collect();
        let mut ended = threads.into_iter().map(|thread| thread.join());
        ended.try_for_each(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Echoes the datagrams of one source.
fn echo(mut source: impl Burst) -> io::Result<()> {
    loop {
        source.recv_wait()?;
        let (datagrams, mut replies) = source.split();
        for (number, (from, payload)) in datagrams.enumerate() {
            if !replies.push(number, from, payload) {
                replies.send()?;
                replies.push(number, from, payload);
            }
        }
        replies.send()?;
    }
}
