//! UDP datagrams straight from the queues of an interface, and replies to them, past the kernel's network
//! stack: AF_XDP sockets (Linux 5.9 and later).
//!
//! [`open`] attaches a program to an interface, which gives datagrams to some addresses and ports to the
//! sockets, one for each receive queue, and leaves all other frames to the kernel: ARP and neighbour
//! discovery, ICMP, TCP, fragments, and datagrams with IP options or extension headers. So the same addresses
//! need ordinary sockets, too. Frames are memory that the kernel and the process share ([`XdpSocket`]).
//!
//! [`XdpTap`] takes all frames that an interface receives from the kernel, for a mirror port or a tap.
//!
//! Firewall rules of the kernel and its routes do not apply to these datagrams: a reply leaves by the
//! interface of the query, to the Ethernet address that sent it.
//!
//! The program stays as long as the sockets: a file descriptor holds it, so the kernel removes it with the
//! process, however that ends.

mod bpf;
mod checksum;
mod error;
pub mod frame;
mod interface;
mod memory;
mod open;
mod parts;
mod program;
mod rings;
mod socket;
mod sys;
mod tap;

pub use error::XdpError;
pub use open::{Mode, Xdp, check, open};
pub use socket::XdpSocket;
pub(crate) use sys::mtu;
pub use tap::XdpTap;

#[cfg(test)]
mod tests;
