//! A listener on a TCP port, and users of loopback connections.

mod peer;

pub use peer::loopback_user;

use crate::context::{bind_failed, context};
use mio::net::TcpListener;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::SocketAddr;

/// Most connections that wait to be accepted.
const BACKLOG: i32 = 1024;

/// Opens a non-blocking listener on an address of this machine; port 0 lets the kernel choose. An IPv6
/// listener accepts no IPv4 connections, so that both families can have the same port. Connections of an
/// earlier run in state TIME_WAIT do not block the port.
///
/// # Errors
///
/// The port is in use, or needs privileges; the address is not one of this machine; no file descriptors are
/// left.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let open = || -> io::Result<Socket> {
        let kind = Type::STREAM.nonblocking().cloexec();
        let socket = Socket::new(Domain::for_address(address), kind, Some(Protocol::TCP))?;
        if address.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        socket.set_reuse_address(true)?;
        socket.bind(&address.into())?;
        // `listen` fails if another socket has bound the port with the same option, and listens.
        socket.listen(BACKLOG)?;
        Ok(socket)
    };
    let socket = open().map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable | io::ErrorKind::PermissionDenied => {
            bind_failed("TCP", address, &error)
        }
        _ => context(format_args!("cannot listen on TCP {address}"), &error),
    })?;
    Ok(TcpListener::from_std(socket.into()))
}

/// Checks that [`listen`] would accept an address, without listening there.
///
/// # Errors
///
/// Those of `listen`, except that another program has the port.
pub fn check(address: SocketAddr) -> io::Result<()> {
    crate::bindable::check("TCP", Type::STREAM, address)
}
