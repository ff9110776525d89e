//! Listeners on TCP ports, options of connections, and users of loopback connections.

mod peer;

pub use peer::loopback_user;

use crate::context::{bind_failed, context};
use mio::net::{TcpListener, TcpStream};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

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

/// Prepares a connection for packets: small ones are sent at once, and the kernel closes the connection if
/// its peer takes nothing of what was sent for as long as `patience`. Without that limit, a peer that never
/// reads holds megabytes of the kernel's memory.
///
/// # Errors
///
/// The kernel does not have an option; the connection works without it.
pub fn prepare(stream: &TcpStream, patience: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    SockRef::from(stream).set_tcp_user_timeout(Some(patience))
}

/// Connects to a peer within a time, from an address of this machine if one is given. The stream blocks.
///
/// # Errors
///
/// The peer does not answer in time, or refuses; `source` is not an address of this machine.
pub fn connect(
    peer: SocketAddr,
    source: Option<IpAddr>,
    patience: Duration,
) -> io::Result<std::net::TcpStream> {
    let Some(source) = source else { return std::net::TcpStream::connect_timeout(&peer, patience) };
    let socket = Socket::new(Domain::for_address(peer), Type::STREAM.cloexec(), Some(Protocol::TCP))?;
    let bound = socket.bind(&SocketAddr::new(source, 0).into());
    bound.map_err(|error| context(format_args!("cannot connect from {source}"), &error))?;
    socket.connect_timeout(&peer.into(), patience)?;
    Ok(socket.into())
}

/// Checks that [`listen`] would accept an address, without listening there.
///
/// # Errors
///
/// The errors of `listen`, except that another program has the port.
pub fn check(address: SocketAddr) -> io::Result<()> {
    crate::bindable::check("TCP", Type::STREAM, address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_comes_from_the_address_that_was_given() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let source: IpAddr = "127.0.0.9".parse().expect("an address");
        for source in [Some(source), None] {
            let stream = connect(address, source, Duration::from_secs(30)).expect("a connection");
            let (accepted, from) = listener.accept().expect("the other end");
            assert_eq!(from, stream.local_addr().expect("its address"));
            assert_eq!(from.ip(), source.unwrap_or(address.ip()));
            drop(accepted);
        }
        // An address of documentation (RFC 5737), which no machine has.
        let other = "192.0.2.9".parse().ok();
        let error = connect(address, other, Duration::from_secs(30)).expect_err("a foreign address");
        assert!(error.to_string().contains("cannot connect from 192.0.2.9"), "{error}");
    }

    #[test]
    fn a_prepared_connection_ends_if_its_peer_takes_nothing() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let stream = TcpStream::from_std(std::net::TcpStream::connect(address).expect("a connection"));
        prepare(&stream, Duration::from_secs(30)).expect("the options");
        let timeout = SockRef::from(&stream).tcp_user_timeout().expect("the option");
        assert_eq!((stream.nodelay().ok(), timeout), (Some(true), Some(Duration::from_secs(30))));
    }
}
