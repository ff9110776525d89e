//! `hashlane lab echo`: sends back each datagram, as the floor of a server's cost.

use hashlane_link::udp::{RecvBatch, SendBatch, UdpSocket};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// Datagrams of one system call.
const BATCH: usize = 64;

/// Longest wait of one system call.
const PATIENCE: Duration = Duration::from_secs(1);

/// Echoes datagrams in batches of two system calls, with one thread and one socket, until the process is
/// ended.
///
/// # Errors
/// The address cannot be bound, or the socket can receive or send no more.
pub fn serve(address: SocketAddr) -> io::Result<()> {
    let mut socket = UdpSocket::bind(address)?;
    socket.set_patience(PATIENCE)?;
    let (mut received, mut queue) = (RecvBatch::new(BATCH), SendBatch::new(BATCH));
    loop {
        socket.recv_wait(&mut received)?;
        for datagram in received.iter() {
            if !queue.push(datagram.from, &[datagram.payload]) {
                socket.send(&mut queue)?;
                queue.push(datagram.from, &[datagram.payload]);
            }
        }
        socket.send(&mut queue)?;
    }
}
