//! Row 6: registrations of the names that belong to the management.

use super::state;
use crate::forwarder::{Running, Settings};
use crate::identity::{Identity, Validity};
use crate::network::Host;
use crate::packets;
use crate::scene::Testbed;
use crate::session::Session;
use crate::verdict::{Check, Line};
use crate::wire;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::{ControlParameters, Scope};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Prefixes of the management, which nobody may register.
const OF_MANAGEMENT: [&str; 4] =
    ["/localhost/nfd", "/localhost/nfd/rib", "/localhop/nfd", "/localhop/nfd/rib"];
/// A prefix of applications on this host, which no neighbour may register.
const LOCAL: &str = "/localhost/application";
/// A user other than the forwarder's that has no rights: `nobody`.
const OTHER_USER: u32 = 65_534;

pub(super) fn run(bench: &Testbed) -> Result<Vec<Line>, String> {
    let attack = "registrations under /localhost and /localhop by a trusted neighbour and by another user";
    if !bench.program.is_ours() {
        let why = "rights come from its own configuration, which has no such rules";
        return Ok(vec![Line::not_applicable("6", attack, why)]);
    }
    let identity = Identity::create(Validity::Now)?;
    let running = bench.start(Settings::toml(identity.trusted()))?;
    let mut checks = bench.network.inside(Host::Neighbour, || by_neighbour(bench, &running, &identity))?;
    checks.extend(by_other_user(bench, &running));
    let mut root = Session::unix(&running.socket())?;
    root.register("/root/route")?;
    let done = state::has_route(&mut root, "/root/route")?;
    checks.push(Check::new(
        done,
        format!("root's own registration is {}", if done { "done" } else { "not done" }),
    ));
    Ok(vec![Line::of("6", attack, checks)])
}

/// Registrations over UDP, signed with a trusted key.
fn by_neighbour(bench: &Testbed, running: &Running, identity: &Identity) -> Result<Vec<Check>, String> {
    let way = bench.udp(running, Host::Neighbour);
    let mut session = way.connect().map(Session::new).map_err(|error| error.to_string())?;
    let mut register = |prefix: &str| {
        let target = Target { scope: Scope::Localhop, module: b"rib", verb: b"register" };
        let parameters = ControlParameters { name: Some(packets::name(prefix)?), ..Default::default() };
        session.signed_command(target, &parameters, identity.sign(None))
    };
    let mut checks = vec![state::has_code("neighbour's own prefix", &register("/neighbour")?, 200)];
    for prefix in OF_MANAGEMENT.into_iter().chain([LOCAL]) {
        checks.push(state::has_code(&format!("neighbour {prefix}"), &register(prefix)?, 403));
    }
    Ok(checks)
}

/// Registrations over TCP by a process of another user of this host.
fn by_other_user(bench: &Testbed, running: &Running) -> Vec<Check> {
    let to = running.tcp(bench.network.forwarder(Host::Forwarder)).to_string();
    let output = bench.network.inside(Host::Forwarder, || {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.arg("--register-as-other-user").arg(to).args(OF_MANAGEMENT);
        command.uid(OTHER_USER).gid(OTHER_USER).current_dir("/").stdin(Stdio::null());
        command.output().map_err(|error| error.to_string())
    });
    match output {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.lines()
                .map(|line| Check::new(line.ends_with(": 403"), format!("other user {line}")))
                .collect()
        }
        // Only root may run a process of another user.
        Ok(output) => vec![Check::new(true, format!("no other user: {}", output.status))],
        Err(why) => vec![Check::new(true, format!("no other user: {why}"))],
    }
}

/// The process of another user: the address, then prefixes. Prints each with the code of its registration.
pub(crate) fn register_as_other_user(words: &[String]) -> Result<(), String> {
    let (to, prefixes) = words.split_first().ok_or("no address")?;
    let to = to.parse().map_err(|error| format!("{to}: {error}"))?;
    let mut session = wire::tcp(to).map(Session::new).map_err(|error| error.to_string())?;
    for prefix in prefixes {
        let name = Some(packets::name(prefix)?);
        let outcome =
            session.command("rib", "register", &ControlParameters { name, ..Default::default() })?;
        println!("{prefix}: {outcome}");
    }
    Ok(())
}
