//! Row 11: another application's route, withdrawn over UDP from 127.0.0.1.

use super::state;
use crate::forwarder::Settings;
use crate::identity::{Identity, Validity};
use crate::innocents::{Sink, Way};
use crate::network::Host;
use crate::packets;
use crate::scene::Testbed;
use crate::session::{Session, Signature};
use crate::verdict::{Check, Line};
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::{ControlParameters, Scope};
use std::net::Ipv4Addr;

const PREFIX: &str = "/application";

pub(super) fn run(bench: &Testbed) -> Result<Vec<Line>, String> {
    let identity = Identity::create(Validity::Now)?;
    let running = bench.start(Settings::toml(identity.trusted()))?;
    let _application = Sink::start(&running.socket(), PREFIX)?;
    let mut local = Session::unix(&running.socket())?;
    state::settle(bench);
    let face = state::route_face(&mut local, PREFIX)?.ok_or("the application has no route")?;
    let way = Way::Udp { from: Ipv4Addr::LOCALHOST, to: running.udp(Ipv4Addr::LOCALHOST) };
    let mut checks = Vec::new();
    for (what, signature) in [("digest", Signature::DIGEST), ("trusted key", identity.sign(None))] {
        let outcome = bench.network.inside(Host::Forwarder, || {
            let mut session = way.connect().map(Session::new).map_err(|error| error.to_string())?;
            let target = Target { scope: Scope::Localhop, module: b"rib", verb: b"unregister" };
            let parameters = ControlParameters {
                name: Some(packets::name(PREFIX)?),
                face_id: Some(face),
                ..Default::default()
            };
            session.signed_command(target, &parameters, signature)
        })?;
        checks.push(state::refused(&format!("unregister with a {what}"), &outcome));
    }
    state::settle(bench);
    let kept = state::has_route(&mut local, PREFIX)?;
    checks.push(Check::new(kept, format!("route of the application {}", if kept { "kept" } else { "gone" })));
    Ok(vec![Line::of("11", "rib/unregister under /localhop over UDP from 127.0.0.1", checks)])
}
