//! SIGHUP: the configuration file is read again, while the forwarder runs.

use crate::access::{command, done, nobody, refused, start};
use crate::forwarder::{Folder, Forwarder, over_websocket, parse, until};
use hashlane_ndn::mgmt::ControlParameters;
use hashlane_ndn::wire::InterestBuilder;
use hashlane_rig::children::{ignoring, output};
use hashlane_rig::command::is_root;
use std::fs;
use std::net::UdpSocket;
use std::process::Stdio;

const BEFORE: &str = r#"
regions = ["/here"]

[cs]
packets = 100

[faces.udp]
idle_timeout_s = 600

[strategies]
"/" = "multicast"
"/s" = "multicast"

[[routes]]
prefix = "/r"
to = "udp4://127.0.0.1:9"

[[routes]]
prefix = "/kept"
to = "udp4://127.0.0.1:9"
"#;

/// Differs in every kind of value: in effect at once, for new faces, and after a restart.
const AFTER: &str = r#"
regions = []

[cs]
packets = 50
octets = 1000000

[pit]
entries = 1000
index = "token"

[faces]
pit_tokens = ["udp4://127.0.0.1:9"]

[faces.udp]
idle_timeout_s = 300

[strategies]
"/t" = "random"

[[routes]]
prefix = "/q"
to = "udp4://127.0.0.1:9"

[[routes]]
prefix = "/kept"
to = "udp4://127.0.0.1:9"
cost = 7
"#;

#[track_caller]
fn printed(folder: &Folder, arguments: &[&str]) -> String {
    let output = folder.run(arguments);
    done(&output);
    String::from_utf8(output.stdout).unwrap()
}

/// Sends SIGHUP, and waits for the end of the `number`th reload.
fn reload(forwarder: &Forwarder, number: usize) {
    forwarder.process.signal("-HUP");
    forwarder.process.wait_for("configuration read again", number);
}

#[test]
fn a_hangup_takes_what_can_change_and_names_what_needs_a_restart() {
    let folder = Folder::new();
    fs::write(folder.path("f.toml"), BEFORE).unwrap();
    let forwarder = folder.forwarder(&["--config", "f.toml"]);
    until(|| printed(&folder, &["route", "list"]).contains("/kept"), || "the routes".into());
    done(&folder.run(&["route", "add", "/mine", "udp4://127.0.0.1:10"]));
    done(&folder.run(&["strategy", "set", "/mine", "multicast"]));
    fs::write(folder.path("f.toml"), AFTER).unwrap();
    reload(&forwarder, 1);
    for (key, effect, level) in [
        ("cs.packets", "in effect", "INFO"),
        ("cs.octets", "in effect", "INFO"),
        ("regions", "in effect", "INFO"),
        ("routes", "in effect", "INFO"),
        ("strategies", "in effect", "INFO"),
        ("pit.entries", "in effect", "INFO"),
        ("faces.udp.idle_timeout_s", "in effect", "INFO"),
        ("faces.pit_tokens", "in effect for new faces", "INFO"),
        ("pit.index", "takes effect after a restart", "WARN"),
    ] {
        let line = format!("configuration changed: {effect} key=\"{key}\"");
        let lines = forwarder.process.lines.lock().unwrap();
        assert!(
            lines.iter().any(|found| found.contains(&line) && found.contains(level)),
            "{line}: {lines:#?}"
        );
    }
    assert_eq!(forwarder.process.count("configuration read again changed=9 restart=1"), 1);
    assert!(printed(&folder, &["cs", "info"]).contains("50"));
    until(|| printed(&folder, &["route", "list"]).contains("/q"), || "the new route".into());
    let routes = printed(&folder, &["route", "list"]);
    assert!(!routes.contains("/r ") && routes.contains("/mine"), "{routes}");
    let kept = routes.lines().find(|line| line.contains("/kept")).unwrap();
    assert!(kept.contains("cost=7"), "{routes}");
    let strategies = printed(&folder, &["strategy", "list"]);
    let has = |prefix: &str, strategy: &str| {
        strategies.lines().any(|line| line.contains(&format!("{prefix} ")) && line.contains(strategy))
    };
    assert!(has("/t", "random") && has("/mine", "multicast"), "{strategies}");
    assert!(!strategies.contains("/s ") && has("/", "best-route"), "{strategies}");
    // A value set by a command stays, unless the file sets another one.
    done(&folder.run(&["cs", "config", "--capacity", "77"]));
    reload(&forwarder, 2);
    assert!(printed(&folder, &["cs", "info"]).contains("77"));
    assert_eq!(forwarder.process.count("configuration read again changed=1 restart=1"), 1);
}

#[test]
fn an_invalid_file_changes_nothing_and_is_reported_as_by_check_config() {
    let folder = Folder::new();
    fs::write(folder.path("f.toml"), "[cs]\npackets = 100\n").unwrap();
    let forwarder = folder.forwarder(&["--config", "f.toml"]);
    for (number, text) in [
        "[cs]\npackets = 50\npackts = 3\n",
        "[cs]\npackets = 50\n[management]\ntrust_anchors = [\"missing\"]\n",
        "[cs]\npackets = 50\n[strategies]\n\"/\" = \"fastest\"\n",
    ]
    .iter()
    .enumerate()
    {
        fs::write(folder.path("f.toml"), text).unwrap();
        forwarder.process.signal("-HUP");
        forwarder.process.wait_for("the configuration is refused; nothing has changed", number + 1);
        let checked = folder.run(&["check-config", "f.toml"]);
        let error = String::from_utf8(checked.stderr).unwrap();
        let error = error.trim().strip_prefix("hashlane: ").unwrap().replace('"', "\\\"");
        assert_eq!(
            forwarder.process.count(&error),
            1,
            "{error}: {:#?}",
            forwarder.process.lines.lock().unwrap()
        );
        assert!(printed(&folder, &["cs", "info"]).contains("100"));
    }
    fs::remove_file(folder.path("f.toml")).unwrap();
    nix::unistd::mkfifo(&folder.path("f.toml"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    forwarder.process.signal("-HUP");
    forwarder.process.wait_for("f.toml is not a regular file; name a configuration file", 1);
    fs::remove_file(folder.path("f.toml")).unwrap();
    forwarder.process.signal("-HUP");
    forwarder.process.wait_for("cannot read f.toml", 1);
    fs::write(folder.path("f.toml"), "[cs]\npackets = 50\n").unwrap();
    reload(&forwarder, 1);
    assert!(printed(&folder, &["cs", "info"]).contains("50"));
}

#[test]
fn new_connections_follow_the_file_and_open_faces_its_idle_timeout() {
    let folder = Folder::new();
    fs::write(folder.path("f.toml"), "").unwrap();
    let forwarder = folder.forwarder(&["--config", "f.toml", "--ws", "127.0.0.1:0"]);
    let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
    let name = parse("/nothing");
    let interest = InterestBuilder { nonce: Some(7), ..InterestBuilder::new(name.view()) }.build();
    peer.send_to(&interest, forwarder.udp).unwrap();
    let idle = |millis: &str| {
        let faces = printed(&folder, &["face", "list", "--json"]);
        faces.contains(&format!("\"expires-ms\":{millis}"))
    };
    until(|| idle("600000"), || "the face of the peer".into());
    let text = "[faces.udp]\nidle_timeout_s = 300\n[faces.websocket]\nloopback = true\n";
    fs::write(folder.path("f.toml"), text).unwrap();
    reload(&forwarder, 1);
    assert!(idle("300000") && !idle("600000"));
    let named = ControlParameters { name: Some(parse("/page")), ..Default::default() };
    // Before, it would not have been local.
    let answer = over_websocket(forwarder.websocket(), "", &command("rib", "register", &named));
    assert!(answer.contains("OK"), "{answer}");
}

#[test]
fn rights_follow_the_file() {
    if !is_root() {
        return;
    }
    let (folder, forwarder) = start("");
    let transport = folder.transport().to_string();
    let set = || output(&mut nobody(&folder, &transport, &["strategy", "set", "/x", "multicast"]));
    refused(&set(), &["403", "strategy-choice/set from user 65534"]);
    fs::write(folder.path("f.toml"), "[management]\nusers = [\"nobody\"]\n").unwrap();
    reload(&forwarder, 1);
    done(&set());
    fs::write(folder.path("f.toml"), "").unwrap();
    reload(&forwarder, 2);
    refused(&set(), &["403"]);
}

#[test]
fn a_hangup_that_was_ignored_at_the_start_reloads() {
    let folder = Folder::new();
    fs::write(folder.path("f.toml"), "").unwrap();
    let command = folder.command(&[&crate::forwarder::RUN[..], &["--config", "f.toml"]].concat());
    let mut command = ignoring("HUP INT TERM", &command);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let forwarder = Forwarder::start(command);
    fs::write(folder.path("f.toml"), "[cs]\npackets = 9\n").unwrap();
    reload(&forwarder, 1);
    forwarder.process.signal("-INT");
    forwarder.process.wait_for("stopping", 1);
    assert_eq!(forwarder.process.end(), Some(0));
}
