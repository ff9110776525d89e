//! A relay of datagrams: the cost of faces without forwarding.
//!
//! It receives and sends with the same calls, and batches of the same size, as the forwarder, and changes no
//! byte.

use super::port::BATCH;
use hashlane_link::udp::{RecvBatch, SendBatch, UdpSocket};
use mio::{Events, Interest, Poll, Token};
use std::collections::HashMap;
use std::io::{self, Write as _};
use std::net::SocketAddr;

/// Beginning of the line with the address that a relay took.
pub(super) const LISTENING: &str = "listening on ";

/// Relays datagrams that arrive at `address` from one of a pair to the other, until the process ends. Port 0
/// takes any free port; a line on standard output reports it.
///
/// # Errors
/// The socket or standard output fails. It never returns otherwise.
pub fn serve(address: SocketAddr, pairs: &[(SocketAddr, SocketAddr)]) -> io::Result<()> {
    let partner: HashMap<SocketAddr, SocketAddr> =
        pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
    let mut socket = UdpSocket::bind(address)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{LISTENING}{}", socket.local_addr()?)?;
    out.flush()?;
    drop(out);
    // As the forwarder does, where the kernel can.
    socket.set_segmentation(true);
    let (mut received, mut queue) = (RecvBatch::new(BATCH), SendBatch::new(BATCH));
    let mut poll = Poll::new()?;
    poll.registry().register(&mut socket, Token(0), Interest::READABLE)?;
    let mut events = Events::with_capacity(8);
    loop {
        match poll.poll(&mut events, None) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            done => done?,
        }
        loop {
            socket.recv(&mut received)?;
            for datagram in received.iter() {
                let Some(to) = partner.get(&datagram.from) else { continue };
                if !queue.push(*to, &[datagram.payload]) {
                    socket.send(&mut queue)?;
                    queue.push(*to, &[datagram.payload]);
                }
            }
            socket.send(&mut queue)?;
            // As the forwarder does: no second call where the first has left nothing.
            if !received.is_full() {
                break;
            }
        }
    }
}
