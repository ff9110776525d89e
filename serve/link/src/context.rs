//! Errors with the operation that failed.

use std::fmt::Display;
use std::io;
use std::net::SocketAddr;

/// The error with the failed operation in front; its kind stays.
pub(crate) fn context(operation: impl Display, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{operation}: {error}"))
}

/// The error of a bind, with the reason and the next step.
pub(crate) fn bind_failed(protocol: &str, address: SocketAddr, error: &io::Error) -> io::Error {
    let what = format!("cannot bind {protocol} {address}");
    let reason = match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("port {} is in use by another program; end it, or choose another port", address.port())
        }
        io::ErrorKind::AddrNotAvailable => {
            format!("no interface of this machine has the address {}", address.ip())
        }
        io::ErrorKind::PermissionDenied => format!("port {} is only for privileged programs", address.port()),
        io::ErrorKind::InvalidInput if address.is_ipv6() => {
            format!("an address of a link needs the number of its interface, such as [{}%2]", address.ip())
        }
        _ => return context(what, error),
    };
    io::Error::new(error.kind(), format!("{what}: {reason}"))
}
