//! A network of three namespaces: consumers, a router, producers, and a link of virtual Ethernet on either
//! side of the router.
//!
//! It needs the command `ip` and the rights of root.

use hashlane_lab::study::TurnError;
use hashlane_rig::namespace;
use std::fs::File;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

/// The namespaces; `home` belongs to the thread that made the others.
#[derive(Debug)]
pub(super) struct Network {
    home: File,
    router: File,
    consumers: File,
    producers: File,
}

/// A side of the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Consumers,
    Producers,
}

impl Side {
    /// The addresses of this side and of the router on the link between them; of the block for benchmarks
    /// (RFC 2544).
    pub(super) fn addresses(self) -> [Ipv4Addr; 2] {
        let link = match self {
            Self::Consumers => 0,
            Self::Producers => 1,
        };
        [Ipv4Addr::new(198, 18, link, 1), Ipv4Addr::new(198, 18, link, 2)]
    }

    /// The names of the two ends of the link.
    fn ends(self) -> [&'static str; 2] {
        match self {
            Self::Consumers => ["consumers", "to-consumers"],
            Self::Producers => ["producers", "to-producers"],
        }
    }
}

/// Reason for which there can be no such network here; `None` if there can.
pub fn namespaces_refused() -> Option<String> {
    namespace::apart(|| Network::new().err().map(|error| error.to_string()))
}

impl Network {
    /// Makes the network. The thread stays in its namespace; if that fails, the thread must end.
    pub(super) fn new() -> Result<Self, TurnError> {
        let failed = TurnError::io("network namespaces are not permitted");
        let home = namespace::current().map_err(failed)?;
        let consumers = namespace::create().map_err(failed)?;
        let producers = namespace::create().map_err(failed)?;
        let router = namespace::create().map_err(failed)?;
        let network = Self { home, router, consumers, producers };
        for side in [Side::Consumers, Side::Producers] {
            let ([own, peer], [address, gate]) = (side.ends(), side.addresses());
            let there = fd_path(network.of(side));
            namespace::ip(&format!("link add {peer} type veth peer name {own}")).map_err(failed)?;
            namespace::ip(&format!("link set {own} netns {}", there.display())).map_err(failed)?;
            namespace::ip(&format!("addr add {gate}/30 dev {peer}")).map_err(failed)?;
            namespace::ip(&format!("link set {peer} up")).map_err(failed)?;
            namespace::enter(network.of(side)).map_err(failed)?;
            namespace::ip(&format!("addr add {address}/30 dev {own}")).map_err(failed)?;
            namespace::ip(&format!("link set {own} up")).map_err(failed)?;
            namespace::enter(&network.router).map_err(failed)?;
        }
        namespace::enter(&network.home).map_err(failed)?;
        Ok(network)
    }

    fn of(&self, side: Side) -> &File {
        match side {
            Side::Consumers => &self.consumers,
            Side::Producers => &self.producers,
        }
    }

    /// Does something on this side, where the sockets stay that are made in it.
    pub(super) fn on<T>(&self, side: Side, work: impl FnOnce() -> T) -> Result<T, TurnError> {
        let failed = TurnError::io("cannot enter a network namespace");
        namespace::enter(self.of(side)).map_err(failed)?;
        let done = work();
        namespace::enter(&self.home).map_err(failed)?;
        Ok(done)
    }

    /// Path that opens the router's namespace for the life of this network.
    pub(super) fn router(&self) -> PathBuf {
        fd_path(&self.router)
    }
}

fn fd_path(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn a_datagram_reaches_the_router_from_each_side_or_it_is_said_why_not() {
        let tried = std::thread::spawn(|| -> Result<Vec<usize>, TurnError> {
            let network = Network::new()?;
            let mut arrived = Vec::new();
            for side in [Side::Consumers, Side::Producers] {
                let [address, gate] = side.addresses();
                namespace::enter(&network.router).unwrap();
                let router = UdpSocket::bind((gate, 0)).unwrap();
                namespace::enter(&network.home).unwrap();
                router.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
                let to = router.local_addr().unwrap();
                let sent = network
                    .on(side, || UdpSocket::bind((address, 0)).and_then(|from| from.send_to(b"hello", to)));
                sent?.unwrap();
                arrived.push(router.recv(&mut [0; 16]).unwrap());
            }
            Ok(arrived)
        });
        match tried.join().unwrap() {
            Ok(arrived) => assert_eq!(arrived, [5, 5]),
            // Without the rights, or without `ip`.
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}
