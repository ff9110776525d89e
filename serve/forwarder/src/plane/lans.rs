//! Faces of interfaces: of multicast groups over UDP, and over Ethernet. They come and go with their
//! interfaces.
//!
//! The configuration selects interfaces; [`plan`] says which links they have. A link whose interface goes
//! down keeps its faces, which send nothing until the interface is up again. A link whose interface is
//! removed ends: its faces are closed, and its socket is, too.

mod open;
mod plan;

pub(crate) use open::open_packets;
pub(super) use open::{LanSocket, open_all};
pub(super) use plan::Lan;

use super::ether::Ether;
use super::ether_receive::EtherReceiver;
use super::faces::Faces;
use super::port::PortKind;
use super::token::SocketKind;
use super::udp::Udp;
use super::udp_receive::UdpReceiver;
use crate::config::{Faces as FaceConfig, link_type};
use crate::management::{FaceInfo, Peer, Report};
use hashlane_link::interfaces::{self, Interface, Watch};
use hashlane_link::packet::PacketSocket;
use hashlane_link::udp::UdpSocket;
use hashlane_ndn::mgmt::values::{FacePersistency, FaceScope};
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::pit::Pit;
use hashlane_table::share::Owner;
use mio::unix::SourceFd;
use mio::{Interest as Events, Registry};
use open::open;
use plan::{Medium, plan};
use std::io;
use std::os::fd::AsRawFd;

/// The links that are open, and the watch over their interfaces.
pub(super) struct Lans {
    links: Vec<Link>,
    watch: Option<Watch>,
    /// True if interfaces may have changed since the last look.
    has_changed: bool,
    /// Links that could not be opened, so that this is logged once.
    failed: Vec<Lan>,
    /// Sockets of Ethernets that were removed, if the process may open no others: for the next ones. There
    /// are never more than there were Ethernets.
    spare: Vec<PacketSocket>,
    registry: Registry,
}

/// Receivers of datagrams and frames, which measure each socket.
pub(super) struct Receivers<'a> {
    pub(super) udp: &'a mut UdpReceiver,
    pub(super) ether: &'a mut EtherReceiver,
}

/// An open link.
struct Link {
    lan: Lan,
    /// Number of its UDP socket, or of its Ethernet.
    number: usize,
    is_up: bool,
    /// True if the configuration was read again while the link was down: once it is up, a closed face of its
    /// group is opened again.
    reopens: bool,
}

impl Lans {
    /// Adds the links that were opened at the start, and their faces.
    ///
    /// # Errors
    /// Events of a socket cannot be registered.
    pub(super) fn start<P: Pit>(
        opened: Vec<(Lan, LanSocket)>,
        registry: Registry,
        mut receivers: Receivers<'_>,
        faces: &mut Faces<P>,
    ) -> io::Result<Self> {
        let (links, failed, spare) = (Vec::new(), Vec::new(), Vec::new());
        let mut lans = Self { links, watch: None, has_changed: false, failed, spare, registry };
        let FaceConfig { udp_multicast, ether, .. } = &faces.config;
        if !udp_multicast.interfaces.is_empty() || !ether.interfaces.is_empty() {
            match Watch::open() {
                Ok(watch) => {
                    let token = SocketKind::Interfaces.token(0);
                    lans.registry.register(&mut SourceFd(&watch.as_raw_fd()), token, Events::READABLE)?;
                    lans.watch = Some(watch);
                    // Something may have changed since the links were opened.
                    lans.has_changed = true;
                }
                Err(error) => tracing::warn!(%error, "interfaces that come and go are not noticed"),
            }
        }
        for (lan, socket) in opened {
            lans.add(lan, socket, &mut receivers, faces)?;
        }
        Ok(lans)
    }

    /// Notes that interfaces have changed. [`follow`](Self::follow) acts on it, once for many changes.
    pub(super) fn note_changes(&mut self) {
        self.has_changed |= self.watch.as_ref().is_some_and(Watch::take_changes);
    }

    /// Opens, closes and reopens links as the interfaces have changed. Opens the faces of groups that
    /// commands have closed if the configuration was read again.
    pub(super) fn follow<P: Pit>(&mut self, mut receivers: Receivers<'_>, faces: &mut Faces<P>) {
        if std::mem::take(&mut faces.reopens_groups) {
            for link in &mut self.links {
                link.reopens = true;
                link.reopen_group(faces);
            }
        }
        if !std::mem::take(&mut self.has_changed) {
            return;
        }
        let interfaces = match interfaces::list() {
            Ok(interfaces) => interfaces,
            Err(error) => {
                self.has_changed = true;
                return tracing::debug!(%error, "cannot list the interfaces; retrying");
            }
        };
        self.close_removed(&interfaces, &mut receivers, faces);
        let wanted = plan(&faces.config, &interfaces);
        for link in &mut self.links {
            if link.is_up && !wanted.iter().any(|lan| lan.is_same(&link.lan)) {
                link.take_down(faces);
            }
        }
        for lan in &wanted {
            if let Some(link) = self.links.iter_mut().find(|link| link.lan.is_same(lan)) {
                if (!link.is_up || link.lan != *lan)
                    && let Err(error) = link.bring_up(lan, &self.registry, &mut receivers, faces)
                {
                    // Until the next change, which may be its cause.
                    tracing::warn!(interface = lan.interface, %error, "cannot use an interface that is back");
                }
                continue;
            }
            match open(lan, &faces.config, &mut self.spare) {
                Ok(socket) => {
                    if let Err(error) = self.add(lan.clone(), socket, &mut receivers, faces) {
                        tracing::warn!(interface = lan.interface, %error, "cannot use an interface");
                    }
                }
                Err(error) if !self.failed.contains(lan) => {
                    tracing::warn!(interface = lan.interface, %error, "cannot use an interface");
                    self.failed.push(lan.clone());
                }
                Err(_) => {}
            }
        }
        self.failed.retain(|lan| wanted.contains(lan));
    }

    /// Ends the links whose interfaces were removed, also if there are others with their names now.
    fn close_removed<P: Pit>(
        &mut self,
        interfaces: &[Interface],
        receivers: &mut Receivers<'_>,
        faces: &mut Faces<P>,
    ) {
        let exists =
            |lan: &Lan| interfaces.iter().any(|all| all.index == lan.index && all.name == lan.interface);
        let removed: Vec<Link> = self.links.extract_if(.., |link| !exists(&link.lan)).collect();
        for link in removed {
            let spare = link.close(&self.registry, receivers, faces);
            // Without privileges, a process can open no other.
            self.spare.extend(spare.filter(|_| open_packets(&faces.config.ether).is_err()));
        }
    }

    /// Adds a link and the face of its group.
    fn add<P: Pit>(
        &mut self,
        lan: Lan,
        socket: LanSocket,
        receivers: &mut Receivers<'_>,
        faces: &mut Faces<P>,
    ) -> io::Result<()> {
        let number = match socket {
            LanSocket::Udp(mut socket) => {
                let local = socket.local_addr()?;
                let number = faces.pipeline.ports.sockets.next_number();
                self.registry.register(&mut socket, SocketKind::Udp.token(number), Events::READABLE)?;
                faces.pipeline.ports.sockets.insert(Udp::new(socket, local));
                receivers.udp.begin_measuring(number, faces.rng());
                number
            }
            LanSocket::Ether(socket) => {
                let mtu = match interfaces::mtu(&lan.interface) {
                    Ok(mtu) => mtu,
                    Err(error) => {
                        // It has just gone. Without privileges, a process can open no other socket.
                        self.spare.push(socket);
                        return Err(error);
                    }
                };
                let number = faces.pipeline.ports.ethers.next_number();
                let token = SocketKind::Ether.token(number);
                self.registry.register(&mut SourceFd(&socket.as_raw_fd()), token, Events::READABLE)?;
                faces.pipeline.ports.ethers.insert(Ether::new(socket, lan.interface.clone(), mtu));
                receivers.ether.begin_measuring(number, faces.rng());
                number
            }
        };
        let link = Link { lan, number, is_up: true, reopens: false };
        link.open_group(faces);
        self.links.push(link);
        Ok(())
    }
}

impl Link {
    /// Opens the face of the group, if the configuration has one for the link.
    fn open_group<P: Pit>(&self, faces: &mut Faces<P>) {
        let Self { lan, number, .. } = self;
        let FaceConfig { udp_multicast, ether, udp, .. } = &faces.config;
        let (remote, local) = lan.uris(ether);
        let (kind, ad_hoc, mtu) = match lan.medium {
            Medium::Group { group, .. } => {
                // The interface is the socket's.
                (PortKind::Udp { socket: *number, peer: group }, udp_multicast.ad_hoc, udp.mtu)
            }
            Medium::Ethernet(_) if !ether.multicast => return,
            Medium::Ethernet(_) => {
                let mtu = faces.pipeline.ports.ethers.get(*number).map_or(0, |ether| ether.mtu);
                (PortKind::Ether { number: *number, peer: ether.group.0 }, ether.ad_hoc, mtu)
            }
        };
        let ends = format!("{remote} on {}", lan.interface).into();
        let peer = Peer::Link { ends, owner: Owner::Link(lan.index) };
        let info = FaceInfo {
            persistency: FacePersistency::Permanent,
            link_type: link_type(ad_hoc),
            mtu: Some(mtu as u64),
            ..faces.info(remote, local, FaceScope::NonLocal)
        };
        let face = faces.open(kind, info, peer);
        match lan.medium {
            Medium::Group { .. } => {
                if let Some(udp) = faces.pipeline.ports.sockets.get_mut(*number) {
                    udp.group = face;
                }
            }
            Medium::Ethernet(_) => {
                if let Some(ether) = faces.pipeline.ports.ethers.get_mut(*number) {
                    ether.group = face;
                }
            }
        }
    }

    /// Opens the face of the group again, if the configuration was read again and the link is up.
    fn reopen_group<P: Pit>(&mut self, faces: &mut Faces<P>) {
        if self.is_up && std::mem::take(&mut self.reopens) && !self.has_group(faces) {
            self.open_group(faces);
        }
    }

    /// True if the face of the group is open, or the configuration has none for the link.
    fn has_group<P: Pit>(&self, faces: &Faces<P>) -> bool {
        let ports = &faces.pipeline.ports;
        match self.lan.medium {
            Medium::Group { .. } => ports.sockets.get(self.number).is_none_or(|udp| udp.group.is_some()),
            Medium::Ethernet(_) => ports.ethers.get(self.number).is_none_or(|ether| ether.group.is_some()),
        }
    }

    /// Closes the faces of the link, and its socket. Returns the socket of an Ethernet, on no interface.
    fn close<P: Pit>(
        self,
        registry: &Registry,
        receivers: &mut Receivers<'_>,
        faces: &mut Faces<P>,
    ) -> Option<PacketSocket> {
        let all = self.faces(faces);
        tracing::warn!(
            interface = self.lan.interface,
            faces = all.len(),
            "faces closed: their interface was removed"
        );
        all.into_iter().for_each(|face| faces.close(face, "its interface was removed"));
        let ports = &mut faces.pipeline.ports;
        match self.lan.medium {
            Medium::Group { .. } => {
                // The socket leaves the group, and the events, as it is closed.
                drop(ports.sockets.remove(self.number));
                receivers.udp.begin_measuring(self.number, faces.rng());
                None
            }
            Medium::Ethernet(_) => {
                let removed = ports.ethers.remove(self.number);
                receivers.ether.begin_measuring(self.number, faces.rng());
                let socket = removed?.socket;
                let _ = registry.deregister(&mut SourceFd(&socket.as_raw_fd()));
                Some(socket)
            }
        }
    }

    /// The faces of the link.
    fn faces<P: Pit>(&self, faces: &Faces<P>) -> Vec<FaceId> {
        let is_on = |kind: &PortKind| match (kind, self.lan.medium) {
            (PortKind::Udp { socket, .. }, Medium::Group { .. }) => *socket == self.number,
            (PortKind::Ether { number, .. }, Medium::Ethernet(_)) => *number == self.number,
            _ => false,
        };
        faces.pipeline.ports.iter().filter(|port| is_on(&port.kind)).map(|port| port.face).collect()
    }

    /// Keeps the faces from sending, and reports them as down.
    fn take_down<P: Pit>(&mut self, faces: &mut Faces<P>) {
        self.is_up = false;
        self.set_down(true, faces);
        let (remote, _) = self.lan.uris(&faces.config.ether);
        let all = self.faces(faces);
        tracing::warn!(interface = self.lan.interface, %remote, faces = all.len(), "faces down: their interface is down or without an address");
        for face in all {
            faces.reports.add(Report::FaceLink { face: face.0.into(), local: None });
        }
    }

    fn set_down<P: Pit>(&self, is_down: bool, faces: &mut Faces<P>) {
        let ports = &mut faces.pipeline.ports;
        match self.lan.medium {
            Medium::Group { .. } => {
                if let Some(udp) = ports.sockets.get_mut(self.number) {
                    udp.is_down = is_down;
                }
            }
            Medium::Ethernet(_) => {
                if let Some(ether) = ports.ethers.get_mut(self.number) {
                    ether.is_down = is_down;
                }
            }
        }
    }

    /// Uses an interface again that was down, or has another address now.
    fn bring_up<P: Pit>(
        &mut self,
        lan: &Lan,
        registry: &Registry,
        receivers: &mut Receivers<'_>,
        faces: &mut Faces<P>,
    ) -> io::Result<()> {
        let ports = &mut faces.pipeline.ports;
        match lan.medium {
            Medium::Group { group, local } => {
                let mut socket = UdpSocket::join(group, lan.index, local)?;
                socket.set_receive_queue(faces.config.udp.receive_buffer)?;
                // The one before leaves the group, and the events, when it is dropped.
                registry.register(&mut socket, SocketKind::Udp.token(self.number), Events::READABLE)?;
                if let Some(udp) = ports.sockets.get_mut(self.number) {
                    udp.socket = socket;
                }
                receivers.udp.begin_measuring(self.number, faces.rng());
            }
            Medium::Ethernet(address) => {
                if let Some(ether) = ports.ethers.get_mut(self.number) {
                    ether.socket.attach(lan.index, address)?;
                    ether.mtu = interfaces::mtu(&lan.interface)?;
                }
            }
        }
        let (_, before) = self.lan.uris(&faces.config.ether);
        let was_up = std::mem::replace(&mut self.is_up, true);
        self.lan = lan.clone();
        self.set_down(false, faces);
        self.reopen_group(faces);
        let (remote, local) = self.lan.uris(&faces.config.ether);
        if was_up && local == before {
            return Ok(());
        }
        let all = self.faces(faces);
        tracing::info!(interface = lan.interface, %remote, faces = all.len(), "faces up again: their interface is up");
        for face in all {
            faces.reports.add(Report::FaceLink { face: face.0.into(), local: Some(local.clone()) });
        }
        Ok(())
    }
}
