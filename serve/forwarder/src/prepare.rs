//! Checks before the forwarder listens: files that a configuration names, and places to listen on.

use crate::config::{self, Config, Faces};
use crate::management::trust::verifier;
use crate::management::{Propagation, Verify};
use crate::plane;
use hashlane_daemon::privileges::Account;
use hashlane_link::{tcp, udp, unix};
use hashlane_tls::Identity;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Parts of a forwarder that come from files.
pub(crate) struct Prepared {
    /// The check of signed commands.
    pub(crate) verify: Box<Verify>,
    /// Certificate and key of WebSockets with TLS, if there are any.
    pub(crate) tls: Option<Identity>,
    /// Propagation to a gateway; `None` if it stays as it is.
    pub(crate) propagation: Option<Propagation>,
    /// Faults that are no errors, for the log.
    pub(crate) warnings: Vec<String>,
}

/// Reads the files of a configuration, and checks the places to listen on without listening there. The Unix
/// sockets `open` exist already.
///
/// # Errors
/// An invalid value, a forwarder that could have no face, a file that is not a certificate, a place to listen
/// on that does not exist, needs privileges or is listed twice; a key that is not of its certificate, or
/// cannot be decrypted.
pub(crate) fn prepare(config: &Config, open: &[PathBuf]) -> io::Result<Prepared> {
    let verify = check(config, open, None)?;
    let (tls, warning) = config.faces.websocket.tls.identity()?.unzip();
    let (propagation, more) = config.rib.propagate.read(unix_time())?;
    let warnings = warning.flatten().into_iter().chain(warnings(config)).chain(more).collect();
    Ok(Prepared { verify, tls, propagation: Some(propagation), warnings })
}

/// Faults of a configuration that flags of the command line, or a later start, may mend.
fn warnings(config: &Config) -> impl Iterator<Item = String> {
    let Faces { ether, websocket, .. } = &config.faces;
    let mut routes = config.routes.iter().filter(|_| ether.interfaces.is_empty());
    let route = routes.find(|route| route.to.starts_with("ether:")).map(|route| {
        let why = "but no interface has Ethernet faces; name it in faces.ether.interfaces, or by --ether";
        format!("`routes.to` has {}, {why}", route.to)
    });
    route.into_iter().chain(websocket.tls.unused())
}

/// Prepares a configuration for a process that runs with `running`, and may have given up its privileges: it
/// has the right to listen where it does.
///
/// # Errors
/// The errors of [`prepare`], except that keys which the process may not read leave those it has.
pub(crate) fn prepare_again(config: &Config, running: &Faces) -> io::Result<Prepared> {
    let Faces { unix, tcp, websocket, udp, .. } = running;
    let streams = [&tcp.listen, &websocket.listen, &websocket.tls.listen].into_iter().flatten();
    let open: Vec<_> = streams.map(|address| ("TCP", *address)).collect();
    let open = [open, udp.listen.iter().map(|address| ("UDP", *address)).collect()].concat();
    let verify = check(config, &unix.path, Some(&open))?;
    let (tls, warning) = config.faces.websocket.tls.identity_again()?;
    let (propagation, more) = config.rib.propagate.read_again(unix_time())?;
    let warnings = warning.into_iter().chain(warnings(config)).chain(more).collect();
    Ok(Prepared { verify, tls, propagation, warnings })
}

/// Checks a configuration, and reads the certificates of its rules. The Unix sockets `open` are there
/// already; in a process that runs, so are the `running` addresses of each protocol, and it opens no
/// Ethernet.
fn check(
    config: &Config,
    open: &[PathBuf],
    running: Option<&[(&str, SocketAddr)]>,
) -> io::Result<Box<Verify>> {
    config.check().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    Account::of(&config.server.user, &config.server.group)?;
    let faces = &config.faces;
    let (tcp, websocket, udp) = (&faces.tcp.listen, &faces.websocket.listen, &faces.udp.listen);
    let secure = &faces.websocket.tls.listen;
    if faces.unix.path.is_empty()
        && [tcp, websocket, secure, udp].iter().all(|listen| listen.is_empty())
        && config.routes.is_empty()
        && faces.udp_multicast.interfaces.is_empty()
        && faces.ether.interfaces.is_empty()
    {
        let why = "the forwarder would have no faces: every list of listeners is empty, and there are no \
                   routes; listen on a Unix socket (faces.unix.path, --unix) or on a port (faces.udp.listen, \
                   --udp)";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    if running.is_none() && !faces.ether.interfaces.is_empty() {
        plane::open_packets(&faces.ether)?;
    }
    let verify = verifier(config, unix_time())?;
    for (at, path) in faces.unix.path.iter().enumerate() {
        if !open.contains(path) {
            check_path(path)?;
        }
        if faces.unix.path.iter().take(at).any(|earlier| earlier == path) {
            return Err(twice(path.display(), path.display(), "path"));
        }
    }
    let streams: Vec<SocketAddr> = tcp.iter().chain(websocket).chain(secure).copied().collect();
    for (protocol, check, addresses) in [
        ("TCP", tcp::check as fn(SocketAddr) -> io::Result<()>, &streams),
        ("UDP", udp::check as fn(SocketAddr) -> io::Result<()>, udp),
    ] {
        for (at, address) in addresses.iter().enumerate() {
            if !running.unwrap_or_default().contains(&(protocol, *address)) {
                check(*address)?;
            }
            if let Some(earlier) = addresses.iter().take(at).find(|earlier| overlap(earlier, address)) {
                return Err(twice(format_args!("{protocol} {address}"), earlier, "port"));
            }
        }
    }
    Ok(verify)
}

/// Seconds since 1970. A clock before that reads as 1970: certificates are not valid yet.
fn unix_time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Folder of a socket that the forwarder creates if it is missing: the folder of a default path.
pub(crate) fn missing_folder(path: &Path) -> Option<&Path> {
    let folder = path.parent().filter(|folder| !folder.exists())?;
    config::Unix::default().path.iter().any(|default| default == path).then_some(folder)
}

/// Checks the path of a Unix socket.
fn check_path(path: &Path) -> io::Result<()> {
    match missing_folder(path) {
        None => unix::check(path),
        Some(folder) => {
            let parent = folder.ancestors().skip(1).find(|parent| parent.exists());
            parent.map_or(Ok(()), unix::check_folder).map_err(|error| cannot_create(folder, &error))
        }
    }
}

/// Error for a folder that cannot be created.
pub(crate) fn cannot_create(folder: &Path, error: &io::Error) -> io::Error {
    io::Error::other(format!("cannot create {}: {error}", folder.display()))
}

/// True if two sockets of one protocol cannot be bound to these addresses.
fn overlap(a: &SocketAddr, b: &SocketAddr) -> bool {
    let (one, other) = (a.ip(), b.ip());
    a.port() != 0
        && a.port() == b.port()
        && one.is_ipv4() == other.is_ipv4()
        && (one == other || one.is_unspecified() || other.is_unspecified())
}

/// Error for two listeners on one place.
fn twice(place: impl std::fmt::Display, earlier: impl std::fmt::Display, other: &str) -> io::Error {
    let why = format!(
        "cannot listen on {place}: the configuration listens on {earlier} already; choose another {other}"
    );
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_port_overlap() {
        let overlap = |a: &str, b: &str| overlap(&a.parse().unwrap(), &b.parse().unwrap());
        assert!(overlap("127.0.0.1:1", "127.0.0.1:1") && overlap("127.0.0.1:1", "0.0.0.0:1"));
        assert!(overlap("[::]:1", "[::1]:1"));
        for (a, b) in
            [("127.0.0.1:1", "127.0.0.1:2"), ("127.0.0.1:1", "127.0.0.2:1"), ("0.0.0.0:1", "[::]:1")]
        {
            assert!(!overlap(a, b), "{a} {b}");
        }
        assert!(!overlap("0.0.0.0:0", "0.0.0.0:0"), "the kernel chooses two ports");
    }
}
