//! Notifications to the supervisor of a server, such as systemd: the protocol of `sd_notify`.
//!
//! Each is a datagram of lines `NAME=VALUE` to the Unix socket that `NOTIFY_SOCKET` names: a path, or `@` and
//! the rest of an abstract name. Source: sd_notify(3), sd_watchdog_enabled(3).

use crate::error::context;
use nix::time::{ClockId, clock_gettime};
use std::env;
use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The supervisor of this process; without one, notifications go nowhere.
#[derive(Clone)]
pub struct Supervisor(Option<Arc<Socket>>);

struct Socket {
    socket: UnixDatagram,
    address: SocketAddr,
}

impl Supervisor {
    /// The supervisor that the variable `NOTIFY_SOCKET` names. If its socket cannot be used, the log says so.
    pub fn from_environment() -> Self {
        let Some(name) = env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty()) else {
            return Self(None);
        };
        let open = || -> io::Result<Socket> {
            let socket = UnixDatagram::unbound()?;
            // A supervisor that does not read must not stop the server.
            socket.set_nonblocking(true)?;
            Ok(Socket { socket, address: address(&name)? })
        };
        let socket = open().inspect_err(|error| {
            let name = name.to_string_lossy();
            tracing::warn!(%name, %error, "cannot notify the supervisor of NOTIFY_SOCKET");
        });
        Self(socket.ok().map(Arc::new))
    }

    /// Reports that the server is up, or has read its configuration again.
    pub fn ready(&self) {
        self.send("READY=1");
    }

    /// Reports that the server reads its configuration again, until it is [`ready`](Self::ready).
    pub fn reloading(&self) {
        // Type=notify-reload compares the time with its signal's.
        match clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from) {
            Ok(now) => self.send(&format!("RELOADING=1\nMONOTONIC_USEC={}", now.as_micros())),
            Err(error) => debug_assert!(false, "the clock of the kernel always runs: {error}"),
        }
    }

    /// Reports that the server shuts down.
    pub fn stopping(&self) {
        self.send("STOPPING=1");
    }

    /// Feeds the watchdog of the supervisor, if it has one, for as long as the function from `start` returns
    /// true: the server has made progress since its last call. `start` gets the interval of the calls.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn watch<F: FnMut() -> bool + Send + 'static>(
        &self,
        start: impl FnOnce(Duration) -> F,
    ) -> io::Result<()> {
        let of = |name| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
        let is_other = of("WATCHDOG_PID").is_some_and(|id| id != u64::from(std::process::id()));
        let limit = of("WATCHDOG_USEC").filter(|limit| *limit > 0 && !is_other);
        let (Some(limit), Some(_)) = (limit, &self.0) else { return Ok(()) };
        let every = Duration::from_micros(limit) / 4;
        let (supervisor, mut is_alive) = (self.clone(), start(every));
        let feed = move || loop {
            thread::sleep(every);
            if is_alive() {
                supervisor.send("WATCHDOG=1");
            }
        };
        thread::Builder::new()
            .name("watchdog".into())
            .spawn(feed)
            .map_err(context("cannot start the watchdog thread"))?;
        Ok(())
    }

    fn send(&self, message: &str) {
        let Some(to) = &self.0 else { return };
        if let Err(error) = to.socket.send_to_addr(message.as_bytes(), &to.address) {
            tracing::warn!(%error, message, "cannot notify the supervisor");
        }
    }
}

/// Address of a notification socket.
fn address(name: &OsStr) -> io::Result<SocketAddr> {
    match name.as_bytes() {
        [b'@', rest @ ..] => SocketAddr::from_abstract_name(rest),
        [b'/', ..] => SocketAddr::from_pathname(name),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "neither a path nor @ and an abstract name")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notification_sockets_are_paths_or_abstract_names() {
        let address = |name: &str| address(OsStr::new(name));
        let path = address("/run/a.sock").expect("a path");
        assert_eq!(path.as_pathname().and_then(|path| path.to_str()), Some("/run/a.sock"));
        assert_eq!(address("@a/b").expect("a name").as_abstract_name(), Some(&b"a/b"[..]));
        assert!(address("vsock:2:1").is_err() && address("a.sock").is_err());
    }
}
