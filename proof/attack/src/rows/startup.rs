//! Rows 12h and 12i: folders and addresses that the forwarder must not take.

use super::state;
use crate::cleanup;
use crate::forwarder::{Running, Settings};
use crate::scene::Testbed;
use crate::session::Session;
use crate::verdict::{Check, Line};
use hashlane_ndn::mgmt::ControlParameters;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

/// The user `nobody`.
const OTHER_USER: u32 = 65_534;

pub(super) fn folder_of_another_user(bench: &Testbed, id: &str) -> Result<Line, String> {
    let attack = "a folder for the socket that belongs to another user, mode 777";
    if !bench.program.is_ours() {
        return Ok(Line::not_applicable(id, attack, "its socket is where its configuration says"));
    }
    let folder = cleanup::folder()?;
    let foreign = folder.path().join("foreign");
    let made = fs::create_dir(&foreign)
        .and_then(|()| chown(&foreign, Some(OTHER_USER), Some(OTHER_USER)))
        .and_then(|()| fs::set_permissions(&foreign, fs::Permissions::from_mode(0o777)));
    if let Err(error) = made {
        return Ok(Line::not_applicable(id, attack, format!("no folder of another user: {error}")));
    }
    let socket = foreign.join("nfd.sock");
    let mut running = Running::launch_at(&bench.network, &bench.program, Some(&socket), Settings::default())?;
    let check = loop {
        if let Some(status) = running.ended()? {
            break Check::new(!status.success(), format!("not started: {status}"));
        }
        if UnixStream::connect(&socket).is_ok() {
            break Check::new(false, "started, and listens there");
        }
        thread::sleep(Duration::from_millis(10));
    };
    Ok(Line::of(id, attack, vec![check]))
}

/// Addresses at which no neighbour can be.
const ADDRESSES: [&str; 4] =
    ["udp4://192.0.2.7:0", "udp4://0.0.0.0:6363", "udp4://255.255.255.255:6363", "udp4://224.0.23.170:6363"];

pub(super) fn face_addresses(bench: &Testbed, id: &str) -> Result<Line, String> {
    let running = bench.start(Settings::default())?;
    let mut session = Session::unix(&running.socket())?;
    let mut checks = Vec::new();
    for address in ADDRESSES {
        let uri = Some(address.to_owned());
        let outcome = session.command("faces", "create", &ControlParameters { uri, ..Default::default() })?;
        checks.push(state::refused(address, &outcome));
    }
    Ok(Line::of(id, "faces/create to port 0, 0.0.0.0, broadcast and multicast", checks))
}
