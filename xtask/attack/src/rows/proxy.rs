//! Row 8: a proxy on the forwarder's host, behind which anyone may be.

use super::state;
use crate::forwarder::Settings;
use crate::network::Place;
use crate::packets;
use crate::scene::Bench;
use crate::session::Session;
use crate::verdict::{Check, Line};
use crate::wire;
use hashlane_ndn::mgmt::ControlParameters;

/// A proxy that forwards bytes, and those that add a header.
const HEADERS: [(&str, &[(&str, &str)]); 4] = [
    ("no header", &[]),
    ("Forwarded", &[("forwarded", "for=203.0.113.9")]),
    ("X-Forwarded-For", &[("x-forwarded-for", "203.0.113.9")]),
    ("Via", &[("via", "1.1 proxy")]),
];

pub(super) fn run(bench: &Bench) -> Result<Vec<Line>, String> {
    let attack = "commands through a proxy on 127.0.0.1 in front of the WebSocket";
    if !bench.program.has_web_socket() {
        return Ok(vec![Line::not_applicable("8", attack, "no WebSocket in this build")]);
    }
    let running = bench.start(Settings::default())?;
    let to = running.web_socket(bench.network.forwarder(Place::Forwarder));
    let parameters = ControlParameters {
        name: Some(packets::name("/attack")?),
        strategy: Some(packets::name("/localhost/nfd/strategy/multicast")?),
        ..Default::default()
    };
    let checks = HEADERS.iter().map(|(what, headers)| {
        bench.network.inside(Place::Forwarder, || match wire::web_socket_with(to, headers) {
            Err(why) => Ok(Check::new(true, format!("{what}: handshake refused ({why})"))),
            Ok(socket) => {
                let mut session = Session::new(wire::messages(socket));
                let outcome = session.command("strategy-choice", "set", &parameters)?;
                Ok(state::refused(what, &outcome))
            }
        })
    });
    Ok(vec![Line::of("8", attack, checks.collect::<Result<_, _>>()?)])
}
