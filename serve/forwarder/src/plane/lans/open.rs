//! Sockets of links.

use super::plan::{Lan, Medium, plan};
use crate::config::{Ether as EtherConfig, Faces as FaceConfig};
use crate::plane::ether::ETHERTYPE;
use hashlane_link::interfaces;
use hashlane_link::packet::PacketSocket;
use hashlane_link::tap::TapError;
use hashlane_link::udp::UdpSocket;
use std::collections::BTreeSet;
use std::io;

/// Socket of a link.
pub(crate) enum LanSocket {
    Udp(UdpSocket),
    Ether(PacketSocket),
}

/// Opens the links of a configuration, while the process has its privileges.
///
/// # Errors
/// The interfaces are not known, or a link cannot be opened.
pub(in crate::plane) fn open_all(config: &FaceConfig) -> io::Result<Vec<(Lan, LanSocket)>> {
    let FaceConfig { udp_multicast, ether, .. } = config;
    let rules = || udp_multicast.interfaces.iter().chain(&ether.interfaces);
    if rules().next().is_none() {
        return Ok(Vec::new());
    }
    let interfaces = interfaces::list()?;
    for name in rules().filter_map(|rule| rule.exact_name()).collect::<BTreeSet<_>>() {
        if !interfaces.iter().any(|interface| interface.name == name && interface.is_running) {
            tracing::warn!(
                interface = name,
                "no such interface, or it is down; its faces follow once it is up"
            );
        }
    }
    let lans = plan(config, &interfaces).into_iter().map(|lan| {
        let socket = open(&lan, config, &mut Vec::new())?;
        Ok((lan, socket))
    });
    lans.collect()
}

/// Opens the socket of a link. An Ethernet takes one of the `spare` ones, if there are any.
///
/// # Errors
/// The process lacks the capability CAP_NET_RAW and there is no spare socket, or the interface has just gone.
pub(super) fn open(lan: &Lan, config: &FaceConfig, spare: &mut Vec<PacketSocket>) -> io::Result<LanSocket> {
    let of_interface = |error: &io::Error| {
        io::Error::new(error.kind(), format!("cannot open faces on interface {}: {error}", lan.interface))
    };
    let queue = config.udp.receive_buffer;
    match lan.medium {
        Medium::Group { group, local } => {
            let mut socket =
                UdpSocket::join(group, lan.index, local).map_err(|error| of_interface(&error))?;
            socket.set_receive_queue(queue)?;
            Ok(LanSocket::Udp(socket))
        }
        Medium::Ethernet(address) => {
            let mut socket = match spare.pop() {
                Some(socket) => socket,
                None => open_packets(&config.ether)?,
            };
            let outcome = socket.limit_sources(&[], 0).and_then(|()| socket.attach(lan.index, address));
            match outcome {
                Ok(()) => {
                    socket.set_queues(queue);
                    Ok(LanSocket::Ether(socket))
                }
                Err(error) => {
                    // Without privileges, a process can open no other.
                    spare.push(socket);
                    Err(of_interface(&error))
                }
            }
        }
    }
}

/// Opens a socket for frames, on no interface yet.
///
/// # Errors
/// The process lacks the capability CAP_NET_RAW.
pub(crate) fn open_packets(config: &EtherConfig) -> io::Result<PacketSocket> {
    PacketSocket::open(ETHERTYPE, config.group.0).map_err(|error| match error {
        TapError::Forbidden => io::Error::new(
            io::ErrorKind::PermissionDenied,
            "cannot open an Ethernet socket: this needs the capability CAP_NET_RAW; start as root (with --user), \
             run `setcap cap_net_raw+ep` on the program, or empty faces.ether.interfaces",
        ),
        error => io::Error::other(format!("cannot open an Ethernet socket: {error}")),
    })
}
