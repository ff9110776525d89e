//! Places of servers: a port of the loopback interface, or an end of a cable between two network namespaces.

use hashlane_lab::study::TurnError;
use hashlane_rig::{namespace, ports};
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;

/// Interface of the server.
pub(super) const FAR: &str = "far";

/// Interface of the clients.
const NEAR: &str = "near";

/// Addresses of server and clients, of the block for benchmarks (RFC 2544).
const SERVER: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);
const CLIENTS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);

/// Port of a server in a separate namespace.
const PORT: u16 = 5300;

/// MTU of the clients' end with which the driver of the server's end refuses a program, whose frames fit a
/// page. Servers then have it in the network stack.
const JUMBO: u32 = 9000;

/// Means by which queries reach a server at the end of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Io {
    /// Sockets of the kernel.
    Sockets,
    /// XDP with the program in the driver.
    Native,
    /// XDP with the program in the network stack.
    Generic,
}

/// Place of a server and of its clients.
#[derive(Debug)]
pub(crate) struct Place {
    /// Address of the server.
    pub(super) address: SocketAddr,
    cable: Option<Cable>,
}

/// A cable between the namespace of a server and its clients'. It lasts as long as they.
#[derive(Debug)]
struct Cable {
    server: File,
    clients: File,
    io: Io,
}

/// Reason for which there can be no cables here; `None` if there can.
pub(crate) fn cables_refused() -> Option<String> {
    // On another thread, as this one stays in its namespace.
    namespace::apart(|| Cable::new(Io::Sockets)).err().map(|error| error.to_string())
}

impl Cable {
    /// Makes a cable, and moves this thread to one of its ends.
    fn new(io: Io) -> io::Result<Self> {
        let (server, clients) = (format!("{SERVER}/30"), format!("{CLIENTS}/30"));
        let clients = namespace::create_cable((FAR, &[&server]), (NEAR, &[&clients]))?;
        let server = namespace::current()?;
        if io == Io::Generic {
            namespace::within(&clients, || namespace::ip(&format!("link set {NEAR} mtu {JUMBO}")))?;
        }
        Ok(Self { server, clients, io })
    }
}

impl Place {
    /// A port of the loopback interface, or with `io` the end of a new cable.
    pub(super) fn new(io: Option<Io>) -> Result<Self, TurnError> {
        let Some(io) = io else {
            let port = ports::free().map_err(TurnError::io("no port is free"))?;
            return Ok(Self { address: (Ipv4Addr::LOCALHOST, port).into(), cable: None });
        };
        let cable = namespace::apart(|| Cable::new(io));
        let cable = cable.map_err(TurnError::io("no network namespaces with a cable between them"))?;
        Ok(Self { address: (SERVER, PORT).into(), cable: Some(cable) })
    }

    /// Address of the clients.
    pub(super) fn clients(&self) -> Ipv4Addr {
        if self.cable.is_some() { CLIENTS } else { Ipv4Addr::LOCALHOST }
    }

    /// Path that opens the namespace of the server; `None`: this one.
    pub(super) fn namespace(&self) -> Option<PathBuf> {
        let cable = self.cable.as_ref()?;
        Some(format!("/proc/{}/fd/{}", std::process::id(), cable.server.as_raw_fd()).into())
    }

    /// Moves this thread to the clients, whose sockets it may then open. It must end afterwards.
    pub(crate) fn enter(&self) -> Result<(), TurnError> {
        let Some(cable) = &self.cable else { return Ok(()) };
        namespace::enter(&cable.clients).map_err(TurnError::io("cannot enter a network namespace"))
    }

    /// Opens a socket where the clients are.
    pub(super) fn open<T: Send>(&self, socket: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        match &self.cable {
            None => socket(),
            Some(Cable { clients, .. }) => namespace::apart(|| {
                namespace::enter(clients)?;
                socket()
            }),
        }
    }

    /// Fails unless the program is where it shall be: a server may choose other means than it was told to.
    pub(super) fn check(&self) -> Result<(), TurnError> {
        let Some(Cable { server, io, .. }) = &self.cable else { return Ok(()) };
        let shown = namespace::apart(|| {
            namespace::enter(server)?;
            namespace::shown(&format!("link show {FAR}"))
        });
        let shown = shown.map_err(TurnError::io("cannot look at the interface of the server"))?;
        match Io::shown(&shown) {
            found if found == *io => Ok(()),
            found => {
                Err(TurnError::Failed(format!("it was to receive by {io:?}, and receives by {found:?}")))
            }
        }
    }
}

impl Io {
    /// The means that the output of `ip link show` names.
    fn shown(text: &str) -> Self {
        match text {
            text if text.contains(" xdpgeneric") => Self::Generic,
            text if text.contains(" xdp") => Self::Native,
            _ => Self::Sockets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn a_server_at_the_end_of_a_cable_is_reached_by_its_clients_alone() {
        if let Some(reason) = cables_refused() {
            namespace::skip(&reason);
            return;
        }
        let places = [Io::Sockets, Io::Native].map(|io| Place::new(Some(io)).unwrap());
        let [place, other] = &places;
        let server = namespace::apart(|| {
            namespace::enter(&File::open(place.namespace().unwrap()).unwrap()).unwrap();
            UdpSocket::bind(place.address).unwrap()
        });
        let send = |from: &Place| {
            let client = from.open(|| UdpSocket::bind("0.0.0.0:0")).unwrap();
            client.send_to(b"query", place.address)
        };
        // Each cable has the same addresses.
        send(other).unwrap();
        send(place).unwrap();
        server.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
        assert_eq!(server.recv(&mut [0; 16]).unwrap(), 5);
        server.set_nonblocking(true).unwrap();
        assert!(server.recv(&mut [0; 16]).is_err());
        assert!(place.check().is_ok());
        let said = other.check().unwrap_err().to_string();
        assert_eq!(said, "it was to receive by Native, and receives by Sockets");
    }

    #[test]
    fn reads_the_mode_of_an_interface() {
        let text = |mode| format!("2: far@if2: <UP> mtu 1500{mode} qdisc noqueue state UP\n");
        for (mode, io) in [("", Io::Sockets), (" xdp", Io::Native), (" xdpgeneric", Io::Generic)] {
            assert_eq!(Io::shown(&text(mode)), io);
        }
    }

    #[test]
    fn without_a_cable_a_server_is_on_the_loopback_interface() {
        let place = Place::new(None).unwrap();
        assert!(place.address.ip().is_loopback() && place.namespace().is_none());
        assert!(place.enter().is_ok() && place.check().is_ok());
    }
}
