//! Everyone else: a local client, a neighbour, the management, and newcomers, who ask throughout an attack.
//!
//! All ask for names of one local producer, each for other ones, so that every answer crosses the forwarder.

mod asker;
mod newcomer;
mod producer;

pub(crate) use asker::{Asker, Question};
pub(crate) use producer::{Producer, Sink};

use crate::ethernet;
use crate::network::{Host, Mac, Network};
use crate::verdict::{Phase, Service};
use crate::wire::{self, Wire};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::JoinHandle;

/// Prefix of the producer.
pub(crate) const PREFIX: &str = "/good";

/// Phase of the attack, shared by everyone who measures.
#[derive(Clone, Default)]
pub(crate) struct Clock(Arc<AtomicU8>);

impl Clock {
    pub(crate) fn phase(&self) -> Phase {
        Phase::of(self.0.load(Ordering::Relaxed))
    }

    pub(crate) fn set(&self, phase: Phase) {
        self.0.store(phase as u8, Ordering::Relaxed);
    }
}

/// Ends the last phase when dropped, so that no innocent outlives its forwarder.
pub(crate) struct Ending(pub(crate) Clock);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.set(Phase::End);
    }
}

/// Way to the forwarder.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    Unix(PathBuf),
    Udp {
        from: Ipv4Addr,
        to: SocketAddr,
    },
    WebSocket(SocketAddr),
    /// From the address of the interface to this one.
    Ethernet(Mac),
}

impl Way {
    pub(crate) fn connect(&self) -> io::Result<Box<dyn Wire>> {
        match self {
            Self::Unix(path) => wire::unix(path),
            Self::Udp { from, to } => wire::udp(*from, *to),
            Self::WebSocket(to) => wire::web_socket(*to),
            Self::Ethernet(to) => ethernet::connect(*to),
        }
    }
}

/// Innocents that ask until the clock says that it is over.
#[derive(Default)]
pub(crate) struct Innocents(Vec<JoinHandle<Service>>);

impl Innocents {
    pub(crate) fn add(&mut self, asker: Asker, network: &Arc<Network>, clock: &Clock) {
        let (network, clock) = (Arc::clone(network), clock.clone());
        self.0.push(std::thread::spawn(move || asker.run(&network, &clock)));
    }

    /// New connections, or new ports, one after the other.
    pub(crate) fn add_newcomers(
        &mut self,
        who: &'static str,
        place: Host,
        way: Way,
        network: &Arc<Network>,
        clock: &Clock,
    ) {
        let (network, clock) = (Arc::clone(network), clock.clone());
        self.0.push(std::thread::spawn(move || newcomer::run(who, place, &way, &network, &clock)));
    }

    /// Waits for the last answers.
    ///
    /// # Errors
    /// A thread has panicked.
    pub(crate) fn finish(self) -> Result<Vec<Service>, String> {
        let join =
            |thread: JoinHandle<Service>| thread.join().map_err(|_| "an innocent has panicked".to_owned());
        self.0.into_iter().map(join).collect()
    }
}
