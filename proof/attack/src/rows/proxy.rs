//! Row 8: a proxy on the forwarder's host, behind which anyone may be.

use super::state;
use crate::forwarder::{Running, Settings};
use crate::innocents::{PREFIX, Producer};
use crate::network::Host;
use crate::packets;
use crate::scene::Testbed;
use crate::session::{Answer, LIFETIME, PATIENCE, Session};
use crate::verdict::{Check, Line};
use crate::wire;
use hashlane_ndn::mgmt::ControlParameters;
use std::thread::{self, ScopedJoinHandle};

/// A proxy that forwards bytes, and those that add a header.
const HEADERS: [Proxy; 4] = [
    ("no header", &[]),
    ("Forwarded", &[("forwarded", "for=203.0.113.9")]),
    ("X-Forwarded-For", &[("x-forwarded-for", "203.0.113.9")]),
    ("Via", &[("via", "1.1 proxy")]),
];

pub(super) fn run(bench: &Testbed) -> Result<Vec<Line>, String> {
    let attack = "commands through a proxy on 127.0.0.1 in front of the WebSocket";
    let trusting = "the same, where the configuration takes WebSockets from 127.0.0.1 for local ones";
    if !bench.program.has_web_socket() {
        let why = "no WebSocket in this build";
        return Ok(vec![Line::not_applicable("8a", attack, why), Line::not_applicable("8b", trusting, why)]);
    }
    let by_default = Line::of("8a", attack, checks(bench, &bench.start(Settings::default())?, &HEADERS)?);
    if !bench.program.is_ours() {
        let why = "no such setting is known";
        return Ok(vec![by_default, Line::not_applicable("8b", trusting, why)]);
    }
    let running = bench.start(Settings::toml("faces.websocket.loopback = true\n"));
    let with_setting = match running {
        Ok(running) => Line::of("8b", trusting, checks(bench, &running, &HEADERS[1..])?),
        // An earlier build.
        Err(why) if why.contains("unknown key") => Line::not_applicable("8b", trusting, "no such setting"),
        Err(why) => state::could_not_run("8b", &why),
    };
    Ok(vec![by_default, with_setting])
}

/// A name and headers.
type Proxy = (&'static str, &'static [(&'static str, &'static str)]);

fn checks(bench: &Testbed, running: &Running, proxies: &[Proxy]) -> Result<Vec<Check>, String> {
    let _producer = Producer::start(&running.socket())?;
    let to = running.web_socket(bench.network.forwarder(Host::Forwarder));
    let parameters = ControlParameters {
        name: Some(packets::name("/attack")?),
        strategy: Some(packets::name("/localhost/nfd/strategy/multicast")?),
        ..Default::default()
    };
    let parameters = &parameters;
    let ask = move |(what, headers): &Proxy| {
        bench.network.enter(Host::Forwarder)?;
        match wire::web_socket_with(to, headers) {
            Err(why) => Ok(Check::new(true, format!("{what}: handshake refused ({why})"))),
            Ok(socket) => {
                let mut session = Session::new(wire::messages(socket));
                let outcome = session.command("strategy-choice", "set", parameters)?;
                let name = packets::name(&format!("{PREFIX}/proxy/{}", what.replace(' ', "-")))?;
                // Whoever is behind the proxy may consume.
                let served = session.ask(&packets::interest(&name, LIFETIME), PATIENCE)?;
                let met = outcome.code() != Some(200) && matches!(served, Answer::Data(_));
                Ok(Check::new(met, format!("{what}: command {outcome}, application {served}")))
            }
        }
    };
    // All at once, as each may have to wait for no answer.
    thread::scope(|scope| {
        let threads: Vec<_> = proxies.iter().map(|proxy| scope.spawn(move || ask(proxy))).collect();
        let join = |thread: ScopedJoinHandle<'_, Result<Check, String>>| {
            thread.join().unwrap_or_else(|_| Err("a client has panicked".to_owned()))
        };
        threads.into_iter().map(join).collect()
    })
}
