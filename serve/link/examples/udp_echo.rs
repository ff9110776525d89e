//! A UDP echo server over the loopback interface. It receives and sends datagrams in batches, and ends by
//! itself.
//!
//! ```text
//! cargo run -p hashlane-link --example udp_echo
//! ```

use hashlane_link::udp::{RecvBatch, SendBatch, UdpSocket};
use mio::{Events, Interest, Poll, Token};
use std::io;
use std::time::Duration;

/// Datagrams that the client sends at once.
const DATAGRAMS: usize = 64;

fn main() -> io::Result<()> {
    let loopback = "127.0.0.1:0".parse().map_err(io::Error::other)?;
    let (mut server, mut client) = (UdpSocket::bind(loopback)?, UdpSocket::bind(loopback)?);
    let mut poll = Poll::new()?;
    poll.registry().register(&mut server, Token(0), Interest::READABLE)?;
    poll.registry().register(&mut client, Token(1), Interest::READABLE)?;

    let (mut received, mut queue) = (RecvBatch::new(64), SendBatch::new(64));
    for number in 0..DATAGRAMS {
        queue.push(server.local_addr()?, &[b"datagram ", number.to_string().as_bytes()]);
    }
    let sent = client.send(&mut queue)?;
    println!("client: sent {} datagrams with one system call", sent.sent);

    let mut events = Events::with_capacity(16);
    let mut answers = 0;
    while answers < sent.sent {
        poll.poll(&mut events, Some(Duration::from_secs(1)))?;
        if events.is_empty() {
            return Err(io::Error::other("datagrams were lost: no more arrive"));
        }
        for event in &events {
            if event.token() == Token(0) {
                echo(&mut server, &mut received, &mut queue)?;
            } else {
                answers += client.recv(&mut received)?;
                println!("client: {answers} answers so far");
            }
        }
    }
    Ok(())
}

/// Sends all waiting datagrams back. An event reports a change only, so everything that waits must be read.
fn echo(server: &mut UdpSocket, received: &mut RecvBatch, queue: &mut SendBatch) -> io::Result<()> {
    loop {
        println!("server: received {} datagrams", server.recv(received)?);
        for datagram in received.iter() {
            if !queue.push(datagram.from, &[datagram.payload]) {
                server.send(queue)?;
                queue.push(datagram.from, &[datagram.payload]);
            }
        }
        server.send(queue)?;
        if !received.is_full() {
            return Ok(());
        }
    }
}
