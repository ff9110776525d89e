//! Hosts of an attack: the forwarder's, the attacker's, and an innocent neighbour's.
//!
//! As root, or where users may have namespaces of their own, each host is a network namespace, with pairs of
//! virtual links between them. No file names a namespace, so the kernel removes it with the last process that
//! is inside. Otherwise all three share the loopback interface, and differ in their addresses.
//!
//! ```text
//! attacker 10.67.0.0/16 ── 10.66.0.2 ── 10.66.0.1 forwarder 10.68.0.1 ── 10.68.0.2 neighbour
//! ```
//!
//! Rows that need an Ethernet without IP connect the forwarder and the attacker by [`Network::segment`]. Two
//! hosts share its other end: a neighbour that sends from the address of the interface, and the attacker,
//! that forges addresses.

mod netlink;

use hashlane_link::interfaces;
use hashlane_rig::{namespace, wait};
use netlink::{Kernel, Prefix};
use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::{Gid, Uid};
use std::fs::{self, File};
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

/// Host of a socket or a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    Forwarder,
    Attacker,
    Neighbour,
}

/// Network between the three hosts.
pub(crate) enum Network {
    /// A namespace for each host.
    Namespaces(Box<Namespaces>),
    /// One loopback interface for all hosts.
    Loopback,
}

/// Open namespaces; each ends when nothing is inside and it is closed.
pub(crate) struct Namespaces {
    forwarder: File,
    attacker: File,
    neighbour: File,
    /// Made when a row first needs it.
    segment: OnceLock<Result<Segment, String>>,
}

/// Ethernet address.
pub(crate) type Mac = [u8; 6];

/// Interface of both ends of the Ethernet between the forwarder and the attacker.
pub(crate) const INTERFACE: &str = "segment";

/// Addresses on the Ethernet between the forwarder and the attacker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) forwarder: Mac,
    /// Address of the interface at the other end: an innocent host's.
    pub(crate) neighbour: Mac,
}

const FORWARDER: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 66, 0, 1), Ipv4Addr::new(10, 68, 0, 1)];
const ATTACKER: Ipv4Addr = Ipv4Addr::new(10, 66, 0, 2);
const NEIGHBOUR: Ipv4Addr = Ipv4Addr::new(10, 68, 0, 2);
const SOURCES: Prefix = (Ipv4Addr::new(10, 67, 0, 0), 16);
/// Length of the prefix of a link between two hosts.
const LINK: u8 = 30;
/// Longest payload of a frame of the Ethernet, in bytes.
const ETHERNET_MTU: u32 = 1500;
/// Time limit for the Ethernet to have a link, and the interval of looks at it.
const LINK_UP: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(10);

impl Network {
    /// Creates the namespaces, or falls back to the loopback interface. Call before any thread is started.
    /// Returns the reason for a fallback, too.
    pub(crate) fn create(loopback: bool) -> (Self, Option<String>) {
        if loopback {
            return (Self::Loopback, None);
        }
        match become_root().and_then(|()| Namespaces::create()) {
            Ok(namespaces) => (Self::Namespaces(Box::new(namespaces)), None),
            Err(why) => (Self::Loopback, Some(why)),
        }
    }

    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Self::Namespaces(_) => "network namespaces: forwarder, attacker and neighbour are three hosts",
            Self::Loopback => "loopback: 127.0.0.1, attacker 127.67.0.0/16, neighbour 127.68.0.2",
        }
    }

    pub(crate) fn has_namespaces(&self) -> bool {
        matches!(self, Self::Namespaces(_))
    }

    /// The Ethernet between the forwarder and the attacker; makes it at the first call. `None` if the hosts
    /// share the loopback interface.
    ///
    /// # Errors
    /// The kernel refuses, or the Ethernet has no link.
    pub(crate) fn segment(&self) -> Result<Option<Segment>, String> {
        let Self::Namespaces(namespaces) = self else { return Ok(None) };
        namespaces.segment.get_or_init(|| namespaces.connect_segment()).clone().map(Some)
    }

    /// Moves the calling thread to a host: sockets that it opens from now on are there.
    ///
    /// # Errors
    /// The kernel refuses.
    pub(crate) fn enter(&self, place: Host) -> Result<(), String> {
        let Self::Namespaces(namespaces) = self else { return Ok(()) };
        let file = match place {
            Host::Forwarder => &namespaces.forwarder,
            Host::Attacker => &namespaces.attacker,
            Host::Neighbour => &namespaces.neighbour,
        };
        setns(file.as_fd(), CloneFlags::CLONE_NEWNET)
            .map_err(|error| format!("cannot enter the namespace of the {place:?}: {error}"))
    }

    /// Calls `work` on a thread of a host. Sockets that it returns stay there.
    ///
    /// # Errors
    /// The host cannot be entered, or the error of `work`.
    pub(crate) fn inside<T: Send>(
        &self,
        place: Host,
        work: impl FnOnce() -> Result<T, String> + Send,
    ) -> Result<T, String> {
        on_thread(|| self.enter(place).and_then(|()| work()))
    }

    /// Address of the forwarder for this host.
    pub(crate) fn forwarder(&self, from: Host) -> Ipv4Addr {
        match (self, from) {
            (Self::Loopback, _) | (_, Host::Forwarder) => Ipv4Addr::LOCALHOST,
            (_, Host::Attacker) => FORWARDER[0],
            (_, Host::Neighbour) => FORWARDER[1],
        }
    }

    pub(crate) fn neighbour(&self) -> Ipv4Addr {
        match self {
            Self::Namespaces(_) => NEIGHBOUR,
            Self::Loopback => Ipv4Addr::new(127, 68, 0, 2),
        }
    }

    /// Source address `number` of the attacker.
    pub(crate) fn source(&self, number: u16) -> Ipv4Addr {
        // The address ending in .0.0 names the network.
        let [high, low] = number.wrapping_add(1).to_be_bytes();
        match self {
            Self::Namespaces(_) => Ipv4Addr::new(10, 67, high, low),
            Self::Loopback => Ipv4Addr::new(127, 67, high, low),
        }
    }

    /// Own address of a host that is not the forwarder's.
    pub(crate) fn own(&self, place: Host) -> Ipv4Addr {
        match place {
            Host::Forwarder => Ipv4Addr::LOCALHOST,
            Host::Attacker => self.source(0),
            Host::Neighbour => self.neighbour(),
        }
    }
}

impl Namespaces {
    fn create() -> Result<Self, String> {
        let [forwarder, attacker, neighbour] = [new()?, new()?, new()?];
        at(&forwarder, |kernel| {
            kernel.bring_up("lo")?;
            kernel.add_pair("attacker", "link", attacker.as_fd(), netlink::MTU)?;
            kernel.add_pair("neighbour", "link", neighbour.as_fd(), netlink::MTU)?;
            for (link, address) in ["attacker", "neighbour"].into_iter().zip(FORWARDER) {
                kernel.add_address(link, (address, LINK))?;
                kernel.bring_up(link)?;
            }
            Ok(())
        })?;
        for (host, address) in [(&attacker, ATTACKER), (&neighbour, NEIGHBOUR)] {
            at(host, |kernel| {
                kernel.bring_up("lo")?;
                kernel.add_address("link", (address, LINK))?;
                kernel.bring_up("link")
            })?;
        }
        at(&attacker, |kernel| kernel.own_network(SOURCES))?;
        at(&forwarder, |kernel| kernel.add_route(SOURCES, ATTACKER))?;
        Ok(Self { forwarder, attacker, neighbour, segment: OnceLock::new() })
    }

    fn connect_segment(&self) -> Result<Segment, String> {
        let other = self.attacker.as_fd();
        at(&self.forwarder, |kernel| kernel.add_pair(INTERFACE, INTERFACE, other, ETHERNET_MTU))?;
        for host in [&self.forwarder, &self.attacker] {
            at(host, |kernel| kernel.bring_up(INTERFACE))?;
        }
        let address = |host| {
            at(host, |_| {
                let address = wait::try_until(LINK_UP, TICK, own_address);
                let address = address.map_err(|error| format!("the address of {INTERFACE}: {error}"))?;
                address.ok_or_else(|| format!("the interface {INTERFACE} has no link"))
            })
        };
        Ok(Segment { forwarder: address(&self.forwarder)?, neighbour: address(&self.attacker)? })
    }
}

/// Address of this host's end of the Ethernet, once it has a link.
fn own_address() -> io::Result<Option<Mac>> {
    let all = interfaces::list()?;
    let own = all.iter().find(|interface| interface.name == INTERFACE && interface.is_running);
    Ok(own.and_then(|interface| interface.ethernet))
}

/// Calls `work` with the kernel's view of a namespace.
fn at<T: Send>(
    namespace: &File,
    work: impl FnOnce(&Kernel) -> Result<T, String> + Send,
) -> Result<T, String> {
    on_thread(|| {
        let failed = |error| format!("cannot enter a new namespace: {error}");
        setns(namespace.as_fd(), CloneFlags::CLONE_NEWNET).map_err(failed)?;
        let kernel = Kernel::open()?;
        work(&kernel)
    })
}

/// A new network namespace.
fn new() -> Result<File, String> {
    on_thread(|| namespace::create().map_err(|error| error.to_string()))
}

/// Unless this is root, makes the process root of a new user namespace.
fn become_root() -> Result<(), String> {
    let (user, group) = (Uid::current(), Gid::current());
    if user.is_root() {
        return Ok(());
    }
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|error| format!("no new user namespace: {error}"))?;
    let maps = [
        ("setgroups", "deny".into()),
        ("uid_map", format!("0 {user} 1")),
        ("gid_map", format!("0 {group} 1")),
    ];
    for (file, text) in maps {
        let path = format!("/proc/self/{file}");
        fs::write(&path, text).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(())
}

/// Calls `work` on a new thread, so that namespaces that it enters stay its own.
pub(crate) fn on_thread<T: Send>(work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|_| Err("a thread has panicked".into())))
}
