//! The sockets of the server, bound before it gives up its privileges.

use crate::config::Config;
use hashlane_link::udp::UdpSocket;
use hashlane_link::{tcp, udp};
use mio::net::TcpListener;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};

/// Attempts to find a port that is free for UDP and TCP, if the kernel chooses it.
const ATTEMPTS: usize = 16;

/// Sockets of one address.
pub(crate) struct Sockets {
    pub(crate) address: SocketAddr,
    /// One for each worker.
    pub(crate) udp: Vec<UdpSocket>,
    pub(crate) tcp: TcpListener,
}

/// Binds the sockets of a configuration.
///
/// # Errors
/// An address is in use, needs privileges, or is not one of this machine.
pub(crate) fn bind(config: &Config, workers: usize) -> io::Result<Vec<Sockets>> {
    clear(config)?.into_iter().map(|address| bind_address(address, workers)).collect()
}

/// The addresses for UDP and TCP.
///
/// # Errors
/// No interface has an address of the families.
pub(crate) fn clear(config: &Config) -> io::Result<Vec<SocketAddr>> {
    addresses("server.listen", &config.server.listen)
}

/// Binds the sockets for TLS, if there are any.
///
/// # Errors
/// The errors of [`bind`].
pub(crate) fn bind_tls(config: &Config) -> io::Result<Vec<(SocketAddr, TcpListener)>> {
    let listen = |address| {
        let listener = tcp::listen(address)?;
        Ok((listener.local_addr()?, listener))
    };
    tls_addresses(config)?.into_iter().map(listen).collect()
}

fn tls_addresses(config: &Config) -> io::Result<Vec<SocketAddr>> {
    match &config.tls.listen[..] {
        [] => Ok(Vec::new()),
        listen => addresses("tls.listen", listen),
    }
}

/// Checks that the addresses which transfers are sent from belong to this machine.
///
/// # Errors
/// One is not.
pub(crate) fn check_source(config: &Config) -> io::Result<()> {
    for address in &config.transfer.source {
        std::net::UdpSocket::bind((*address, 0)).map_err(|error| {
            let why = format!("`transfer.source` has {address}: {error}; name an address of this machine");
            io::Error::new(error.kind(), why)
        })?;
    }
    Ok(())
}

fn bind_address(address: SocketAddr, workers: usize) -> io::Result<Sockets> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let udp = UdpSocket::bind_shared(address, workers)?;
        let bound = udp.first().map_or(Ok(address), UdpSocket::local_addr)?;
        match tcp::listen(bound) {
            Ok(tcp) => return Ok(Sockets { address: bound, udp, tcp }),
            // Another program has this port of TCP.
            Err(error)
                if address.port() == 0 && error.kind() == io::ErrorKind::AddrInUse && attempt < ATTEMPTS => {}
            Err(error) => return Err(error),
        }
    }
}

/// Checks that the sockets could be bound, without binding them.
///
/// # Errors
/// The errors of [`bind`], except that another program has the port, or that this process has no right to it.
pub(crate) fn check(config: &Config) -> io::Result<()> {
    let clear =
        clear(config)?.into_iter().map(|address| udp::check(address).and_then(|()| tcp::check(address)));
    for checked in clear.chain(tls_addresses(config)?.into_iter().map(tcp::check)) {
        match checked {
            // Another user may start the server.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => tracing::warn!(%error),
            checked => checked?,
        }
    }
    Ok(())
}

/// The addresses of a key of the configuration, with the interfaces' addresses in place of the wildcards.
fn addresses(key: &str, listen: &[SocketAddr]) -> io::Result<Vec<SocketAddr>> {
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for listen in listen {
        let each = if listen.ip().is_unspecified() { of_interfaces(*listen)? } else { vec![*listen] };
        for address in each {
            // Ports that the kernel chooses differ.
            if address.port() == 0 || !addresses.contains(&address) {
                addresses.push(address);
            }
        }
    }
    if addresses.is_empty() {
        let why = format!(
            "no interface of this machine has an address of the families in `{key}`; name an address there"
        );
        return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, why));
    }
    Ok(addresses)
}

/// The addresses of this family that the interfaces have. A socket on a wildcard address would send from the
/// address that the route prefers, which a client that asked another one does not accept.
fn of_interfaces(wildcard: SocketAddr) -> io::Result<Vec<SocketAddr>> {
    let port = wildcard.port();
    let found = getifaddrs()?.filter(|interface| interface.flags.contains(InterfaceFlags::IFF_UP));
    let addresses = found.filter_map(|interface| {
        let storage = interface.address?;
        if let Some(address) = storage.as_sockaddr_in() {
            return Some(SocketAddr::new(IpAddr::V4(address.ip()), port));
        }
        let address = storage.as_sockaddr_in6()?;
        Some(SocketAddrV6::new(address.ip(), port, 0, address.scope_id()).into())
    });
    Ok(addresses.filter(|address| address.is_ipv4() == wildcard.is_ipv4()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Server;

    fn config(listen: &[&str]) -> Config {
        let listen = listen.iter().map(|address| address.parse().unwrap()).collect();
        Config { server: Server { listen, ..Server::default() }, ..Config::default() }
    }

    #[test]
    fn a_wildcard_stands_for_the_addresses_of_the_interfaces() {
        let all =
            addresses("server.listen", &config(&["0.0.0.0:5300", "127.0.0.1:5300"]).server.listen).unwrap();
        let loopback: SocketAddr = "127.0.0.1:5300".parse().unwrap();
        assert_eq!(all.iter().filter(|address| **address == loopback).count(), 1, "{all:?}");
        assert!(all.iter().all(|address| !address.ip().is_unspecified() && address.port() == 5300));
    }

    #[test]
    fn both_transports_have_one_port_and_a_port_in_use_is_named() {
        let sockets = bind(&config(&["127.0.0.1:0"]), 2).unwrap();
        let [Sockets { address, udp, tcp }] = &sockets[..] else { panic!("one address") };
        assert_eq!((udp.len(), tcp.local_addr().unwrap()), (2, *address));
        assert!(udp.iter().all(|socket| socket.local_addr().unwrap() == *address));
        let again = config(&[&address.to_string()]);
        let error = bind(&again, 1).err().expect("the port is in use");
        assert!(
            error.to_string().contains("in use by another program; end it, or choose another"),
            "{error}"
        );
        check(&again).expect("a check binds no port");
    }
}
