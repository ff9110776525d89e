//! Rows 12f and 12g: signing times around a clock that was set back, and an expired trust anchor.

use super::state;
use crate::forwarder::{Running, Settings};
use crate::identity::{Identity, Validity};
use crate::network::Host;
use crate::packets;
use crate::scene::Testbed;
use crate::session::{Outcome, Session, now};
use crate::verdict::{Check, Line};
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::{ControlParameters, Scope};
use std::thread;
use std::time::Duration;

const HOUR: u64 = 3_600_000;
const OTHER_PROJECTS: &str = "rights come from its own configuration";

/// The clock of the machine is not ours to set: commands are signed for times that such a clock would show.
pub(super) fn signing_times(bench: &Testbed, id: &str) -> Result<Line, String> {
    let attack = "commands signed an hour ahead and an hour ago, and now again";
    if !bench.program.is_ours() {
        return Ok(Line::not_applicable(id, attack, OTHER_PROJECTS));
    }
    let identity = Identity::create(Validity::Now)?;
    let running = bench.start(Settings::toml(identity.trusted()))?;
    let register = |time| by_neighbour(bench, &running, &identity, time);
    let checks = vec![
        state::has_code("now", &register(Some(now()))?, 200),
        state::has_code("an hour ahead", &register(Some(now() + HOUR))?, 403),
        state::has_code("an hour ago", &register(Some(now() - HOUR))?, 403),
        state::has_code("now again", &register(Some(now()))?, 200),
    ];
    Ok(Line::of(id, attack, checks))
}

pub(super) fn expired_anchor(bench: &Testbed, id: &str) -> Result<Line, String> {
    let attack = "a command signed with the key of an expired trust anchor";
    if !bench.program.is_ours() {
        return Ok(Line::not_applicable(id, attack, OTHER_PROJECTS));
    }
    let identity = Identity::create(Validity::Expired)?;
    let mut running = Running::launch(&bench.network, &bench.program, Settings::toml(identity.trusted()))?;
    // It may refuse to start.
    let check = loop {
        if let Some(status) = running.ended()? {
            break Check::new(!status.success(), format!("not started: {status}"));
        }
        if Session::unix(&running.socket()).is_ok() {
            thread::sleep(Duration::from_millis(100));
            break state::refused("command", &by_neighbour(bench, &running, &identity, None)?);
        }
        thread::sleep(Duration::from_millis(10));
    };
    debug_assert!(identity.file().exists(), "the anchor stays until the forwarder has read it");
    Ok(Line::of(id, attack, vec![check]))
}

/// Registers a prefix over UDP, signed with a key.
fn by_neighbour(
    bench: &Testbed,
    running: &Running,
    identity: &Identity,
    time: Option<u64>,
) -> Result<Outcome, String> {
    let way = bench.udp(running, Host::Neighbour);
    bench.network.inside(Host::Neighbour, || {
        let mut session = way.connect().map(Session::new).map_err(|error| error.to_string())?;
        let target = Target { scope: Scope::Localhop, module: b"rib", verb: b"register" };
        let parameters = ControlParameters { name: Some(packets::name("/neighbour")?), ..Default::default() };
        session.signed_command(target, &parameters, identity.sign(time))
    })
}
