//! Row 4a: more UDP ports than there are faces, while a neighbour with a route is silent.

use super::state;
use crate::attacker::{Ports, pace};
use crate::forwarder::Settings;
use crate::network::Host;
use crate::packets::{self, HOUR, Received, Template};
use crate::scene::{Cast, Scene, Testbed};
use crate::session::{Answer, LIFETIME, PATIENCE, Session};
use crate::verdict::{Check, Criteria, Line};
use crate::wire;
use hashlane_ndn::mgmt::ControlParameters;
use hashlane_ndn::wire::Interest;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

const PORTS: usize = 4200;
/// Ports a second after those.
const RATE: u32 = 525;
/// Silence of the neighbour.
const SILENCE: Duration = Duration::from_secs(11);
const PREFIX: &str = "/far";

pub(super) fn run(bench: &Testbed, id: &str) -> Result<Line, String> {
    let scene = Scene::open(bench, Settings::default(), Cast::USUAL)?;
    let far = bench.network.inside(Host::Neighbour, || far(&scene))?;
    let uri = format!("udp4://{}", far.local_addr().map_err(|error| error.to_string())?);
    let mut session = scene.session()?;
    state::settle(bench);
    let face = state::face(&mut session, &uri)?.ok_or_else(|| format!("no face of {uri}"))?;
    let name = Some(packets::name(PREFIX)?);
    let route = ControlParameters { name, face_id: Some(face), ..Default::default() };
    let registered = session.command("rib", "register", &route)?;
    if registered.code() != Some(200) {
        return Err(format!("the route to the neighbour: {registered}"));
    }
    scene.begin();
    bench.attack(|| open_ports(&scene))?;
    scene.calm();
    let mut session = scene.session()?;
    state::settle(bench);
    let kept = state::face(&mut session, &uri)? == Some(face);
    let routed = state::has_route(&mut session, PREFIX)?;
    let reached = reaches(&mut session, &far)?;
    let yes = |yes| if yes { "kept" } else { "lost" };
    let checks = vec![
        Check::new(kept, format!("face of the silent neighbour {}", yes(kept))),
        Check::new(routed, format!("its route {}", yes(routed))),
        Check::new(reached, format!("the neighbour {}", if reached { "answers" } else { "is not reached" })),
    ];
    let attack = format!("{PORTS} UDP ports, then {RATE} new ones a second for 11 s; a neighbour is silent");
    scene.close(id, &attack, Criteria::USUAL, checks)
}

/// Port of a neighbour that the forwarder has heard once.
fn far(scene: &Scene<'_>) -> Result<UdpSocket, String> {
    let network = &scene.bench.network;
    let failed = |error: std::io::Error| format!("the port of a neighbour: {error}");
    let socket = UdpSocket::bind((network.neighbour(), 0)).map_err(failed)?;
    socket.connect(scene.running.udp(network.forwarder(Host::Neighbour))).map_err(failed)?;
    let mut session = Session::new(wire::udp_of(socket.try_clone().map_err(failed)?));
    let question = packets::interest(&packets::name("/good/far/hello")?, LIFETIME);
    match session.ask(&question, PATIENCE)? {
        Answer::Data(_) => Ok(socket),
        other => Err(format!("the neighbour got {other} before the attack")),
    }
}

fn open_ports(scene: &Scene<'_>) -> Result<(), String> {
    let network = &scene.bench.network;
    let to = scene.running.udp(network.forwarder(Host::Attacker));
    let mut template = Template::new("/attack/ports", 0, HOUR)?;
    let mut ports = Ports::from_one_host(network, PORTS, to)?;
    let begun = Instant::now();
    ports.send_each(4000, |number, packet| packet.extend_from_slice(template.stamp(number)))?;
    let then = Instant::now();
    for number in 0.. {
        if begun.elapsed() > SILENCE {
            break;
        }
        let mut port = Ports::from_one_host(network, 1, to)?;
        port.send_each(RATE, |_, packet| {
            packet.extend_from_slice(template.stamp(u64::from(u32::MAX) + number))
        })?;
        pace(then, usize::try_from(number).unwrap_or(usize::MAX), RATE);
    }
    Ok(())
}

/// Asks for a name of the neighbour, who answers.
fn reaches(session: &mut Session, far: &UdpSocket) -> Result<bool, String> {
    let failed = |error: std::io::Error| format!("the port of the neighbour: {error}");
    let mut wire = wire::udp_of(far.try_clone().map_err(failed)?);
    std::thread::scope(|scope| {
        let neighbour = scope.spawn(move || {
            let end = Instant::now() + PATIENCE;
            while Instant::now() < end {
                let Ok(Some(bytes)) = wire.receive(Duration::from_millis(100)) else { continue };
                if let Some(Received::Interest(bytes)) = Received::parse(&bytes)
                    && let Ok(interest) = Interest::parse(&bytes)
                {
                    return wire.send(&packets::answer(&interest, b"here")).is_ok();
                }
            }
            false
        });
        let question = packets::interest(&packets::name("/far/after")?, LIFETIME);
        let answer = session.ask(&question, PATIENCE)?;
        Ok(neighbour.join().unwrap_or(false) && matches!(answer, Answer::Data(_)))
    })
}
