//! The section `face_system`.

mod multicast;

use super::info::Node;
use super::report::Fate;
use super::{Keys, Reader, number, yes_or_no};
use crate::config::Unix;
use toml::Value;

/// Transports. One without a section is off in NFD, and on here by default.
pub(super) fn face_system(reader: &mut Reader, section: &Node) {
    reader.set(section, Fate::kept("[faces]"));
    let keys = reader.first(&section.children);
    absent(reader);
    for (key, node) in keys {
        match key {
            "general" => general(reader, node),
            "unix" => unix(reader, node),
            "tcp" => tcp(reader, node),
            "udp" => udp(reader, node),
            "ether" => multicast::ether(reader, node),
            "websocket" => websocket(reader, node),
            "netdev_bound" => netdev_bound(reader, node),
            _ => {}
        }
    }
}

/// Turns all transports off, as they are in NFD without their sections.
pub(super) fn absent(reader: &mut Reader) {
    for (table, key) in [
        ("faces.unix", "path"),
        ("faces.udp", "listen"),
        ("faces.tcp", "listen"),
        ("faces.websocket", "listen"),
    ] {
        reader.model.set(table, key, Vec::<String>::new());
    }
}

fn general(reader: &mut Reader, section: &Node) {
    reader.set(section, Fate::kept("[faces.congestion]"));
    if let Some(node) = reader.last(&section.children).get("enable_congestion_marking") {
        let fate = match yes_or_no(node) {
            Ok(marks) => {
                reader.model.set("faces.congestion", "mark", marks);
                Fate::kept("faces.congestion.mark")
            }
            Err(fate) => fate,
        };
        reader.set(node, fate);
    }
}

fn unix(reader: &mut Reader, section: &Node) {
    reader.set(section, Fate::kept("[faces.unix]"));
    let keys = reader.last(&section.children);
    let path = match keys.get("path") {
        Some(node) => {
            reader.set(node, Fate::kept("faces.unix.path"));
            reader.path(&node.value)
        }
        // NFD's default, whoever runs the import.
        None => "/run/nfd/nfd.sock".to_owned(),
    };
    reader.model.set("faces.unix", "path", vec![path]);
    // Everyone may connect to NFD's socket.
    reader.model.set("faces.unix", "mode", format!("{:#o}", Unix::default().mode));
}

fn tcp(reader: &mut Reader, section: &Node) {
    reader.set(section, Fate::kept("[faces.tcp]"));
    let keys = reader.last(&section.children);
    let listen = listeners(reader, &keys, "faces.tcp.listen", 6363, true);
    reader.model.set("faces.tcp", "listen", listen);
    if let Some(local) = keys.get("local") {
        local_addresses(reader, local);
    }
}

/// Addresses whose connections are local.
fn local_addresses(reader: &mut Reader, section: &Node) {
    let lists = reader.last(&section.children);
    let items = |list: &str| -> Vec<&Node> {
        lists.get(list).map(|node| node.children.iter().collect()).unwrap_or_default()
    };
    let (white, black) = (items("whitelist"), items("blacklist"));
    let subnets: Vec<&str> = white.iter().map(|node| node.value.as_str()).collect();
    let is_loopback = black.is_empty()
        && white.iter().all(|node| node.key == "subnet")
        && ["127.0.0.0/8", "::1/128"].iter().all(|subnet| subnets.contains(subnet))
        && subnets.len() == 2;
    let (is_local, fate) = match (is_loopback, white.is_empty()) {
        (true, _) => (true, Fate::kept("faces.tcp.loopback")),
        (false, true) => (false, Fate::kept("faces.tcp.loopback = false")),
        (false, false) => {
            let why = "only all loopback addresses, or none, can be local: faces.tcp.loopback is false now; \
                       set it to true, or have local programs use the Unix socket";
            (false, Fate::lost(why))
        }
    };
    reader.set_all(section, &fate);
    reader.model.set("faces.tcp", "loopback", is_local);
}

fn websocket(reader: &mut Reader, section: &Node) {
    reader.set(section, Fate::kept("[faces.websocket]"));
    let keys = reader.last(&section.children);
    let listen = listeners(reader, &keys, "faces.websocket.listen", 9696, true);
    reader.model.set("faces.websocket", "listen", listen);
}

/// Addresses of the keys `listen`, `port`, `enable_v4` and `enable_v6`. With `listen no`, there are none if
/// `is_closed`.
fn listeners(
    reader: &mut Reader,
    keys: &Keys<'_>,
    kept: &'static str,
    default_port: u64,
    is_closed: bool,
) -> Vec<Value> {
    let mut flag = |key: &str| {
        let Some(node) = keys.get(key) else { return true };
        let value = yes_or_no(node);
        reader.set(node, value.clone().err().unwrap_or_else(|| Fate::kept(kept)));
        value.unwrap_or(true)
    };
    let (listens, v4, v6) = (flag("listen"), flag("enable_v4"), flag("enable_v6"));
    let mut port = default_port;
    if let Some(node) = keys.get("port") {
        let value = number(node, 1..=u16::MAX.into());
        reader.set(node, value.clone().err().unwrap_or_else(|| Fate::kept(kept)));
        port = value.unwrap_or(port);
    }
    let addresses = [("0.0.0.0", v4), ("[::]", v6)].into_iter();
    let addresses = addresses.filter(|(_, is_enabled)| *is_enabled && (listens || !is_closed));
    addresses.map(|(address, _)| format!("{address}:{port}").into()).collect()
}

fn udp(reader: &mut Reader, section: &Node) {
    let keys = reader.last(&section.children);
    let listen = listeners(reader, &keys, "faces.udp.listen", 6363, false);
    reader.model.set("faces.udp", "listen", listen);
    if let Some(node) = keys.get("listen")
        && yes_or_no(node) == Ok(false)
    {
        reader.model.set("faces.udp", "max_on_demand", 0);
        reader.set(node, Fate::kept("faces.udp.max_on_demand = 0: the socket is open, for other faces"));
    }
    for (key, range, name) in [
        ("idle_timeout", 0..=u64::from(u32::MAX), "idle_timeout_s"),
        // NFD takes 64 bytes and more.
        ("unicast_mtu", 256..=8800, "mtu"),
    ] {
        let Some(node) = keys.get(key) else { continue };
        let fate = match number(node, range) {
            Ok(value) => {
                reader.model.set("faces.udp", name, value as i64);
                Fate::kept(format!("faces.udp.{name}"))
            }
            Err(fate) => fate,
        };
        reader.set(node, fate);
    }
    if let Some(node) = keys.get("keep_alive_interval") {
        reader.set(node, Fate::ignored("NFD has no such setting either"));
    }
    multicast::udp(reader, &keys);
    reader.set(section, Fate::kept("[faces.udp], [faces.udp_multicast]"));
}

fn netdev_bound(reader: &mut Reader, section: &Node) {
    reader.set(section, Fate::default("no faces bound to an interface"));
    let why = "faces are not bound to an interface; make a face by `hashlane ndn face create`, and a route to \
               the neighbour's address over that interface";
    for rule in section.children.iter().filter(|node| node.key == "rule") {
        reader.set_all(rule, &Fate::lost(why));
    }
}
