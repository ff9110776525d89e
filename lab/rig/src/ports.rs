//! Ports of 127.0.0.1 for programs that cannot choose one themselves.
//!
//! A port was free a moment ago: another program may take it first, and the one that it is for then fails to
//! start.

use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};

/// A port that is free for UDP and TCP.
///
/// # Errors
/// No port can be bound.
pub fn free() -> io::Result<u16> {
    distinct().map(|[port]| port)
}

/// Different ports, each of them free for UDP and TCP.
///
/// # Errors
/// No port can be bound.
pub fn distinct<const N: usize>() -> io::Result<[u16; N]> {
    // Bound until all are known, so that they differ.
    let mut bound = Vec::new();
    let mut ports = [0; N];
    for port in &mut ports {
        let (udp, tcp) = pair()?;
        *port = udp.local_addr()?.port();
        bound.push((udp, tcp));
    }
    Ok(ports)
}

fn pair() -> io::Result<(UdpSocket, TcpListener)> {
    for _ in 0..100 {
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        if let Ok(tcp) = TcpListener::bind(udp.local_addr()?) {
            return Ok((udp, tcp));
        }
    }
    Err(io::Error::other("100 ports in a row were taken for TCP"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ports_differ_and_can_be_bound() {
        // Another program of the machine may take one of them in between.
        assert!((0..20).any(|_| {
            let mut ports = distinct::<8>().unwrap();
            let bindable = ports.iter().all(|&port| {
                UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
                    && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
            });
            ports.sort_unstable();
            assert!(ports.is_sorted_by(|a, b| a < b), "{ports:?}");
            bindable
        }));
    }
}
