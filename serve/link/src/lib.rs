//! Non-blocking packet I/O on Linux, for any protocol.
//!
//! For one thread that waits for many sockets with `mio`:
//!
//! - [`udp`]: datagrams, many with one system call; multicast groups.
//! - [`packet`]: the same for the payloads of Ethernet frames of one type.
//! - [`interfaces`]: the network interfaces, and notice of their changes.
//! - [`stream`]: packets read from a byte stream without a copy, and a bounded send queue.
//! - [`unix`]: a listener on a socket in the file system, the user of the peer, and permissions to connect.
//! - [`tcp`]: a listener on a port, and the user at the other end of a loopback connection.
//!
//! For a thread that answers datagrams: [`burst`], from a socket, or by [`xdp`] from a queue of an interface.
//!
//! For a thread that only listens: [`tap`], all frames of an interface one by one; [`ring`], the same in
//! memory shared with the kernel; [`xdp::XdpTap`], those that an interface receives, before the kernel. For
//! files: [`capture`]. For any process: [`memory`] and [`priority`]; for a thread that packets wake one by
//! one: [`moderation`].
//!
//! [`capture`] compiles on every system; the other modules exist on Linux alone.
//!
//! Received bytes are untrusted: none make these types panic, or hold more memory than they state.
//!
//! # Examples
//!
//! An echo server:
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
//!             if !queue.push(datagram.from, &[datagram.payload]) {
//!                 socket.send(queue)?;
//!                 queue.push(datagram.from, &[datagram.payload]);
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
//! let mut socket = UdpSocket::bind(([127, 0, 0, 1], 0).into())?;
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

// All else calls Linux.
#[cfg(target_os = "linux")]
mod address;
#[cfg(target_os = "linux")]
mod bindable;
#[cfg(target_os = "linux")]
pub mod burst;
#[cfg(target_os = "linux")]
mod context;
#[cfg(target_os = "linux")]
pub mod interfaces;
#[cfg(target_os = "linux")]
mod limit;
#[cfg(target_os = "linux")]
pub mod memory;
#[cfg(target_os = "linux")]
pub mod moderation;
#[cfg(target_os = "linux")]
pub mod packet;
#[cfg(target_os = "linux")]
pub mod priority;
#[cfg(target_os = "linux")]
pub mod ring;
#[cfg(target_os = "linux")]
pub mod stream;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
pub mod tap;
#[cfg(target_os = "linux")]
pub mod tcp;
#[cfg(target_os = "linux")]
pub mod udp;
#[cfg(target_os = "linux")]
pub mod unix;
#[cfg(target_os = "linux")]
pub mod xdp;
