//! Sockets on a cable between two network namespaces: a client that is the kernel's, or frames by hand.
//!
//! Skipped where no namespace can be made; with CI=true that is a failure.

mod frames;
mod program;
mod sockets;
mod tap;

use super::program::{Lan, assemble};
use super::*;
use crate::burst::{Burst, Losses, Replies};
use hashlane_rig::namespace;
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType};
use nix::sys::socket::{bind, send, socket};
use socket2::{Domain, Protocol, Socket, Type};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Time for what must happen, also on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(15);
/// Wait of one receive.
const WAIT: Duration = Duration::from_millis(20);

const PORT: u16 = 5300;
const SERVER: [&str; 2] = ["10.9.0.2", "fd09::2"];

/// Addresses to listen on.
fn local() -> Vec<SocketAddr> {
    SERVER.map(|ip| SocketAddr::new(ip.parse().unwrap(), PORT)).to_vec()
}

/// Runs a test in the namespace of the server's end `far`; `near`, the client's, is in the other one.
fn with_cable(test: fn(&File)) {
    let (sender, receiver) = std::sync::mpsc::channel();
    let prepare = move || {
        let near = ("near", &["10.9.0.1/24", "fd09::1/64"][..]);
        let far = ("far", &["10.9.0.2/24", "fd09::2/64"][..]);
        let client = namespace::create_cable(far, near)?;
        sender.send(client).map_err(std::io::Error::other)
    };
    namespace::with(prepare, move || test(&receiver.recv().unwrap()));
}

/// A socket of the kernel in the client's namespace, connected to the server's address of its family.
fn client(namespace: &File, server: SocketAddr) -> UdpSocket {
    let any = if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = namespace::within(namespace, || UdpSocket::bind(any).unwrap());
    socket.connect(server).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// Echoes datagrams in reverse order of their bytes until `count` were received.
fn echo(socket: &mut XdpSocket, count: usize) {
    let (mut received, deadline) = (0, Instant::now() + PATIENCE);
    while received < count {
        assert!(Instant::now() < deadline, "{received} of {count}");
        received += socket.recv_wait().unwrap();
        let (datagrams, mut replies) = socket.split();
        for (number, (from, payload)) in datagrams.enumerate() {
            let reply: Vec<u8> = payload.iter().rev().copied().collect();
            assert!(replies.longest(number) >= 1400);
            assert!(replies.push(number, from, &reply));
        }
        let queued = replies.queued();
        assert_eq!(replies.send().unwrap().sent, queued);
    }
    assert_eq!(received, count);
}

/// Text of `ip link show far`.
fn shown() -> String {
    let output = Command::new("ip").args(["-details", "link", "show", "far"]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The interface `far` in one of these modes, with these addresses.
fn open_lans(modes: &[Mode], lans: Vec<Lan>) -> Xdp {
    let far = interface::Interface::find("far").unwrap();
    open::open_in(modes, ("far", &far), lans, 64, WAIT).unwrap()
}

/// The socket of the only queue.
fn open_far() -> XdpSocket {
    let mut sockets = open("far", &local(), 64, WAIT).unwrap().sockets;
    assert_eq!(sockets.len(), 1);
    sockets.remove(0)
}

/// Ethernet address of an interface in the namespace of this thread.
fn mac(interface: &str) -> [u8; 6] {
    interface::Interface::find(interface).unwrap().mac
}
