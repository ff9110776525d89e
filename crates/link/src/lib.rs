//! Packets in and out, on Linux. Knows no protocol.
//!
//! For one thread that waits for many sockets with `mio` and never blocks on one of them:
//!
//! - [`udp`]: datagrams, many with one system call.
//! - [`stream`]: packets out of a stream of octets, without copying them, and a bounded queue of octets into one.
//! - [`unix`]: a listener on a socket in the file system, the user of the peer, and who may connect.
//! - [`tcp`]: a listener on a port, and the user at the other end of a loopback connection.
//!
//! And for one that looks on: [`tap`], the frames of an interface.
//!
//! What is received is outside data: no octets make these types panic, or hold more memory than they state.
//!
//! # Examples
//!
//! Sends back whatever comes:
//!
//! ```
//! use hashlane_link::udp::{RecvBatch, SendBatch, UdpSocket};
//! use mio::{Events, Interest, Poll, Token};
//!
//! fn echo(socket: &mut UdpSocket, received: &mut RecvBatch, queue: &mut SendBatch) -> std::io::Result<()> {
//!     // Events report changes, so everything that waits must be read.
//!     loop {
//!         socket.recv(received)?;
//!         for datagram in received.iter() {
//!             if !queue.push(datagram.from, &[datagram.octets]) {
//!                 socket.send(queue)?;
//!                 queue.push(datagram.from, &[datagram.octets]);
//!             }
//!         }
//!         socket.send(queue)?;
//!         if !received.is_full() {
//!             return Ok(());
//!         }
//!     }
//! }
//!
//! # fn main() -> std::io::Result<()> {
//! let mut socket = UdpSocket::bind("127.0.0.1:0".parse().expect("an address"))?;
//! let (mut received, mut queue) = (RecvBatch::new(64), SendBatch::new(64));
//! let mut poll = Poll::new()?;
//! poll.registry().register(&mut socket, Token(0), Interest::READABLE)?;
//!
//! let client = std::net::UdpSocket::bind("127.0.0.1:0")?;
//! client.send_to(b"hello", socket.local_addr()?)?;
//! poll.poll(&mut Events::with_capacity(16), None)?;
//! echo(&mut socket, &mut received, &mut queue)?;
//!
//! let mut answer = [0; 16];
//! let (length, _) = client.recv_from(&mut answer)?;
//! assert_eq!(&answer[..length], b"hello");
//! # Ok(())
//! # }
//! ```
#![deny(unsafe_code)]

pub mod capture;
pub mod stream;
pub mod tap;
pub mod tcp;
pub mod udp;
pub mod unix;

mod address;
mod context;
mod sys;
