//! Connections of the load with a forwarder, and its routes.

use super::Drive;
use crate::load::control;
use crate::load::forwarders::Running;
use crate::load::index::Index;
use crate::load::network::{Network, Side};
use crate::load::plan::TIMEOUT;
use crate::load::port::{Port, connect};
use crate::load::routes;
use crate::load::template::Template;
use crate::load::workload::Link;
use hashlane_lab::study::TurnError;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::net::UnixStream;
use std::time::Duration;

impl Drive<'_> {
    /// Opens the sockets of all consumers and producers. They are opened before the forwarder starts: a relay
    /// must know them, and a port assigned to a forwarder is then none of theirs.
    pub(in crate::load) fn open_udp(&mut self, network: Option<&Network>) -> Result<(), TurnError> {
        let failed = TurnError::io("cannot open UDP sockets");
        let is_reliable = self.workload.reliability;
        for at in 0..self.count() {
            let side = if at % 2 == 0 { Side::Consumers } else { Side::Producers };
            let port = match network {
                None => Port::udp(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST, is_reliable),
                Some(network) => {
                    let [own, router] = side.addresses();
                    network.on(side, || Port::udp(own, router, is_reliable))?
                }
            };
            self.ports.push(port.map_err(failed)?);
        }
        Ok(())
    }

    /// The addresses of each pair.
    pub(in crate::load) fn partners(&self) -> Vec<(SocketAddr, SocketAddr)> {
        let pairs = self.ports.chunks_exact(2);
        pairs.filter_map(|pair| Some((pair.first()?.address()?, pair.last()?.address()?))).collect()
    }

    /// Waits until a forwarder listens, queries its UDP port if it chose one itself, connects, and registers
    /// the prefixes of the producers. A relay has no prefixes.
    pub(in crate::load) fn connect(&mut self, running: &mut Running) -> Result<(), TurnError> {
        let Some(socket) = &running.socket.clone() else {
            let port = running.relay_port(self.stop)?;
            self.ports.iter_mut().for_each(|ours| ours.set_forwarder(port));
            return Ok(());
        };
        let process = &mut running.process;
        let limits = (TIMEOUT, Duration::from_millis(2));
        let mut control = process.until(limits, self.stop, "did not listen", || Ok(connect(socket).ok()))?;
        if self.workload.link != Link::Unix {
            let port = match running.port {
                Some(port) => port,
                None => control::udp_port(&mut control)?,
            };
            self.ports.iter_mut().for_each(|ours| ours.set_forwarder(port));
        }
        for at in 0..self.count() {
            let is_producer = at % 2 == 1;
            let silent;
            let template = match self.pairs.get(at / 2) {
                Some(pair) => &pair.template,
                None => {
                    silent = self.silent()?;
                    &silent
                }
            };
            match (self.workload.link, self.ports.get(at).and_then(Port::address)) {
                (Link::Udp | Link::Netns, Some(address)) => {
                    if is_producer {
                        let face = control::create_face(&mut control, address)?;
                        self.route(&mut control, template, Some(face))?;
                        if self.index == Some(Index::Token) {
                            control::give_tokens(&mut control, Some(face))?;
                        }
                    }
                }
                _ => {
                    let mut stream = connect(socket)?;
                    if is_producer {
                        self.route(&mut stream, template, None)?;
                        if self.index == Some(Index::Token) {
                            control::give_tokens(&mut stream, None)?;
                        }
                    }
                    let failed = TurnError::io("cannot use a connection to the forwarder");
                    self.ports.push(Port::unix(stream).map_err(failed)?);
                }
            }
        }
        Ok(())
    }

    /// Routes Interests for the names of `template` to `face`, or to the face of `stream` itself.
    fn route(
        &self,
        stream: &mut UnixStream,
        template: &Template,
        face: Option<u64>,
    ) -> Result<(), TurnError> {
        match template.is_spread() {
            true => routes::add_next_hops(stream, template.prefixes(), face, || self.check_stop()),
            false => control::register(stream, template.prefix(), face),
        }
    }
}
