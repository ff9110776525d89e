//! Addresses to listen on.

use crate::context::bind_failed;
use socket2::{Domain, Socket, Type};
use std::fs;
use std::io;
use std::net::SocketAddr;

/// Port below which a listener needs privileges, unless the system sets another one.
const UNPRIVILEGED: u16 = 1024;

/// Bit of the capability to listen on such a port, CAP_NET_BIND_SERVICE.
const BIND_SERVICE: u32 = 10;

/// Checks that a socket of this type could be bound to an address of this machine, without binding one to its
/// port. `protocol` is the name for the error.
///
/// # Errors
///
/// The port needs privileges; no interface has the address; the machine lacks the address family.
pub(crate) fn check(protocol: &str, kind: Type, address: SocketAddr) -> io::Result<()> {
    let checked = || -> io::Result<()> {
        if is_privileged(address.port()) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        // Port 0: the kernel chooses a free one.
        let mut any_port = address;
        any_port.set_port(0);
        Socket::new(Domain::for_address(address), kind.cloexec(), None)?.bind(&any_port.into())
    };
    checked().map_err(|error| bind_failed(protocol, address, &error))
}

/// True if this process may not listen on a port.
fn is_privileged(port: u16) -> bool {
    let read = |path| fs::read_to_string(path).ok();
    let first = read("/proc/sys/net/ipv4/ip_unprivileged_port_start");
    let first = first.and_then(|text| text.trim().parse().ok()).unwrap_or(UNPRIVILEGED);
    let may = || {
        let status = read("/proc/self/status")?;
        let digits = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
        let capabilities = u64::from_str_radix(digits.trim(), 16).ok()?;
        Some(capabilities >> BIND_SERVICE & 1 == 1)
    };
    // Without a status to read, only binding can tell.
    port != 0 && port < first && !may().unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use crate::{tcp, udp};
    use std::net::UdpSocket;

    #[test]
    fn refuses_addresses_of_other_machines_and_binds_no_port() {
        let error = tcp::check("192.0.2.1:6363".parse().unwrap()).unwrap_err();
        let expected =
            "cannot bind TCP 192.0.2.1:6363: no interface of this machine has the address 192.0.2.1";
        assert_eq!(error.to_string(), expected);
        let error = udp::check("[fe80::1]:6363".parse().unwrap()).unwrap_err().to_string();
        assert!(error.contains("needs the number of its interface, such as [fe80::1%2]"), "{error}");
        // A port that another socket has is accepted.
        let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
        udp::check(taken.local_addr().unwrap()).unwrap();
        udp::check("0.0.0.0:6363".parse().unwrap()).unwrap();
    }
}
