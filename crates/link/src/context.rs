//! Errors that say what was tried.

use std::fmt::Display;
use std::io;
use std::net::SocketAddr;

/// The error with what was tried in front of it; its kind stays.
pub(crate) fn context(what: impl Display, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// Why a program cannot have a port, in words that say what to do.
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
        _ => return context(what, error),
    };
    io::Error::new(error.kind(), format!("{what}: {reason}"))
}
