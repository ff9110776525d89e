//! Interfaces whose queries come past the kernel's network stack (XDP), opened before the server gives up its
//! privileges.

use crate::config::{Config, Io};
use crate::interface::Interface;
use crate::listen;
use crate::status::InterfaceStatus;
use crate::udp::PATIENCE;
use hashlane_dns::query::BATCH;
use hashlane_link::xdp::{self, Xdp, XdpSocket};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// A receive queue of an interface.
pub(crate) struct Queue {
    pub(crate) interface: Arc<Interface>,
    pub(crate) socket: XdpSocket,
}

/// Opens the interfaces of a configuration for the addresses that the server listens on. Returns a socket for
/// each queue of each interface.
///
/// # Errors
/// An interface cannot be opened, and the configuration does not permit sockets in its place.
pub(crate) fn open(config: &Config, local: &[SocketAddr]) -> io::Result<Vec<Queue>> {
    let mut all = Vec::new();
    for interface in wanted(config) {
        match xdp::open(interface, local, BATCH, PATIENCE) {
            Ok(Xdp { sockets, mode, local }) => {
                let queues = sockets.len();
                tracing::info!(interface, %mode, queues, addresses = ?local, "XDP");
                let (name, mode) = (interface.clone(), mode.to_string());
                let status = InterfaceStatus { name, mode, queues, ..InterfaceStatus::default() };
                let interface = Arc::new(Interface::new(status));
                let queue = |socket| Queue { interface: Arc::clone(&interface), socket };
                all.extend(sockets.into_iter().map(queue));
            }
            Err(error) if config.server.io == Io::Auto => {
                tracing::warn!(interface, %error, "no XDP; its queries come by sockets");
            }
            Err(error) => return Err(refused(interface, &error)),
        }
    }
    Ok(all)
}

/// The interfaces of these queues, each once.
pub(crate) fn each(queues: &[Queue]) -> Vec<Arc<Interface>> {
    let mut all: Vec<_> = queues.iter().map(|queue| Arc::clone(&queue.interface)).collect();
    all.dedup_by(|a, b| Arc::ptr_eq(a, b));
    all
}

/// Checks that the interfaces exist and have addresses to listen on, without opening them.
///
/// # Errors
/// One does not.
pub(crate) fn check(config: &Config) -> io::Result<()> {
    let local = listen::clear(config)?;
    for interface in wanted(config) {
        match xdp::check(interface, &local) {
            Err(error) if config.server.io == Io::Auto => tracing::warn!(interface, %error, "no XDP"),
            checked => checked.map_err(|error| refused(interface, &error))?,
        }
    }
    Ok(())
}

fn wanted(config: &Config) -> &[String] {
    if config.server.io == Io::Sockets { &[] } else { &config.server.interfaces }
}

fn refused(interface: &str, error: &xdp::XdpError) -> io::Error {
    io::Error::other(format!("XDP on {interface}: {error}; or use sockets, by --io sockets or auto"))
}
