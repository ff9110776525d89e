//! Configurations of NFD, with the outcome of each of their keys.

#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

use hashlane_forwarder::Config;
use hashlane_forwarder::import::{Fate, Import, ImportError, MAX_BYTES, import};
use std::path::Path;

const EVERY_KEY: &str = include_str!("nfd_conf/every_key.conf");
const ROUTER: &str = include_str!("nfd_conf/router.conf");

fn read(text: &str) -> Import {
    let import = import(text, Path::new("/etc/ndn")).unwrap();
    Config::parse(&import.toml).unwrap_or_else(|error| panic!("{error}\n{}", import.toml));
    import
}

/// The lines of the report as text.
fn report(import: &Import) -> String {
    import.lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The outcomes of keys that end so, with their numbers of lines.
fn outcomes(text: &str, key: &str) -> Vec<String> {
    let lines = read(text).lines.into_iter().filter(|line| line.key.ends_with(key));
    lines.map(|line| format!("{}: {}", line.number, line.fate)).collect()
}

fn config(text: &str) -> Config {
    Config::parse(&read(text).toml).unwrap()
}

#[test]
fn every_key_of_nfd_has_an_outcome() {
    let import = read(EVERY_KEY);
    assert_eq!(import.toml, include_str!("nfd_conf/every_key.toml"));
    assert_eq!(report(&import), include_str!("nfd_conf/every_key.report"));
    assert!(import.is_complete());
    assert_eq!(import.blank, EVERY_KEY.lines().filter(|line| line.is_empty()).count() + 1);
}

#[test]
fn a_router_keeps_all() {
    let import = read(ROUTER);
    assert_eq!(import.toml, include_str!("nfd_conf/router.toml"));
    assert_eq!(report(&import), include_str!("nfd_conf/router.report"));
    assert!(import.is_complete());
}

#[test]
fn transports_without_a_section_are_off_as_with_nfd() {
    let config = config("rib { localhost_security { trust-anchor { type any } } }");
    let faces = &config.faces;
    assert!(faces.unix.path.is_empty() && faces.udp.listen.is_empty());
    assert!(faces.tcp.listen.is_empty() && faces.websocket.listen.is_empty());
    let unix = self::config("face_system { unix { } }");
    assert_eq!(unix.faces.unix.path, [Path::new("/run/nfd/nfd.sock")]);
    assert!(unix.faces.tcp.listen.is_empty());
}

#[test]
fn the_validation_of_prefix_announcements_is_kept() {
    let config = config("rib { prefix_announcement_validation { trust-anchor { type any } } }");
    assert!(config.trust.prefix_announcement.any);
    assert_eq!(config.rib.prefix_announcements, hashlane_forwarder::config::Announcements::Trusted);
}

#[test]
fn listeners_are_those_of_the_switches() {
    let udp = |keys: &str| {
        let config = config(&format!("face_system {{ udp {{ {keys}\nmcast no }} }}"));
        (
            config.faces.udp.listen.iter().map(ToString::to_string).collect::<Vec<_>>(),
            config.faces.udp.max_on_demand,
        )
    };
    let default = Config::default().faces.udp.max_on_demand;
    assert_eq!(udp(""), (vec!["0.0.0.0:6363".into(), "[::]:6363".into()], default));
    assert_eq!(udp("enable_v4 no\nport 7"), (vec!["[::]:7".into()], default));
    assert_eq!(udp("enable_v6 no\nlisten no"), (vec!["0.0.0.0:6363".into()], 0));
    let tcp = config("face_system { tcp { listen no } }");
    assert!(tcp.faces.tcp.listen.is_empty());
}

#[test]
fn values_that_nfd_refuses_are_lost_with_what_to_write() {
    for (text, key, expected) in [
        (
            "tables { cs_policy fast }",
            "cs_policy",
            "1: not supported: unknown policy; write lru or priority_fifo",
        ),
        (
            "tables { cs_max_packets -1 }",
            "cs_max_packets",
            "1: not supported: not a number that is possible here",
        ),
        ("face_system { tcp { listen maybe } }", "listen", "1: not supported: not a value that NFD takes"),
        (
            "face_system { tcp { port 0 } }",
            "port",
            "1: not supported: not a number that is possible here: write 1 to 65535",
        ),
        (
            "face_system { udp { unicast_mtu 64 } }",
            "unicast_mtu",
            "1: not supported: not a number that is possible here: write 256 to 8800",
        ),
        ("face_system { udp { tunnel x } }", "tunnel", "1: not supported: unknown key"),
        ("colours { red 1 }", "colours.red", "1: not supported: unknown key"),
        ("forwarder { default_hop_limit 9 }", "limit", "1: not supported: a HopLimit is not added"),
        (
            "tables { strategy_choice { a /localhost/nfd/strategy/asf } }",
            ".a",
            "1: not supported: not the URI of a name",
        ),
        (
            "tables { strategy_choice { /a /localhost/nfd/strategy/x } }",
            "./a",
            "1: not supported: unknown strategy; choose one of",
        ),
        ("general { user \"\" }", "user", "1: not supported: no name"),
        (
            "authorizations { authorize { certfile a } }",
            "certfile",
            "1: not supported: it needs certfile and privileges",
        ),
        (
            "authorizations { authorize { certfile a\n privileges { rib } } }",
            "rib",
            "2: not supported: unknown module",
        ),
        ("rib { readvertise_nlsr perhaps }", "nlsr", "1: not supported: not a value that NFD takes"),
    ] {
        let found = outcomes(text, key);
        assert!(found.first().is_some_and(|found| found.starts_with(expected)), "{text}: {found:?}");
    }
}

#[test]
fn settings_of_the_propagation_are_kept_and_its_keys_are_to_be_exported() {
    let section = "rib {\n auto_prefix_propagate {\n cost 7\n timeout 5000\n refresh_interval 300\n \
                   base_retry_wait 9000\n speed 1\n timeout 1\n } }";
    let config = config(section).rib.propagate;
    assert_eq!((config.cost, config.timeout_ms, config.refresh_s), (7, 5000, 300));
    assert_eq!((config.base_retry_wait_s, config.max_retry_wait_s), (9000, 9000));
    for (key, expected) in [
        ("rib.auto_prefix_propagate", &["2: not supported: the keys of the keychain are not read"][..]),
        ("cost", &["3: → rib.propagate.cost"]),
        ("timeout", &["4: → rib.propagate.timeout_ms", "8: an earlier line has the same key"]),
        ("refresh_interval", &["5: → rib.propagate.refresh_s"]),
        ("base_retry_wait", &["6: → rib.propagate.base_retry_wait_s"]),
        ("speed", &["7: not supported: unknown key"]),
    ] {
        let found = outcomes(section, key);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        let is_expected = found.iter().zip(expected).all(|(found, expected)| found.starts_with(expected));
        assert!(is_expected, "{key}: {found:?}");
    }
    let wrong = outcomes("rib { auto_prefix_propagate { timeout 1 } }", "timeout");
    assert_eq!(wrong, ["1: not supported: not a number that is possible here: write 100 to 60000"]);
}

#[test]
fn of_two_lines_with_one_key_the_same_counts_as_with_nfd() {
    let text = "tables { cs_max_packets 1\n cs_max_packets 2 }\nface_system { tcp { port 3\n port 4 } }";
    assert_eq!(
        outcomes(text, "cs_max_packets"),
        ["1: → cs.packets; cs.octets limits the bytes, too", "2: an earlier line has the same key; ignored"]
    );
    assert_eq!(
        outcomes(text, "port"),
        ["3: a later line has the same key; ignored", "4: → faces.tcp.listen"]
    );
    let config = config(text);
    assert_eq!((config.cs.packets, config.faces.tcp.listen[0].port()), (1, 4));
}

#[test]
fn local_addresses_other_than_the_loopback_are_lost_and_narrow() {
    let local = |lists: &str| {
        let text = format!("face_system {{ tcp {{ local {{ {lists} }} }} }}");
        let is_complete = read(&text).lines.iter().all(|line| !matches!(line.fate, Fate::Lost(_)));
        (config(&text).faces.tcp.loopback, is_complete)
    };
    assert_eq!(local("whitelist { subnet 127.0.0.0/8\n subnet ::1/128 }"), (true, true));
    assert_eq!(local("whitelist { }"), (false, true));
    assert_eq!(local("whitelist { subnet 127.0.0.0/8 }"), (false, false));
    assert_eq!(local("whitelist { subnet 192.0.2.0/24 }"), (false, false));
    assert_eq!(
        local("whitelist { subnet 127.0.0.0/8\n subnet ::1/128 }\nblacklist { subnet 127.0.0.2/32 }"),
        (false, false)
    );
}

const RULE: &str = "rule { id r\n for interest\n checker { type hierarchical } }\n";
const ANCHOR: &str = "trust-anchor { type file\n file-name a }\n";

#[test]
fn registrations_are_never_open_to_more_than_with_nfd() {
    let config = |rib: &str| config(&format!("rib {{ {rib} }}"));
    // Without a section, NFD refuses the registrations of applications.
    assert!(!config("").management.own_faces && !self::config("").management.own_faces);
    let any = config("localhost_security { trust-anchor { type any } }");
    assert!(any.management.own_faces && any.trust.localhost.any && !any.management.localhop);
    let signed = config(&format!("localhost_security {{ {RULE}{ANCHOR} }}"));
    assert!(!signed.management.own_faces && !signed.trust.localhost.any);
    assert_eq!(signed.trust.localhost.rules.len(), 1);
    // A policy with a lost part accepts nothing.
    for part in [
        "rule { id x\n for interest\n checker { type customized\n key-locator { type name\n regex ( } } }",
        "rule { id x\n for data\n filter { type digest }\n checker { type hierarchical } }",
        "rule { id x\n for interest\n checker { type customized\n sig-type sha256 } }",
        "rule { id x\n for interest }",
        "rule { for interest\n checker { type hierarchical } }",
        "trust-anchor { type file }",
        "trust-anchor { type dir\n dir x\n refresh 1d }",
        "trust-anchor { type keychain }",
        "exception { }",
    ] {
        let text = format!("localhop_security {{ {RULE}{ANCHOR}{part} }}\n");
        let lost = config(&text);
        assert!(!lost.management.localhop && lost.trust.localhop.rules.is_empty(), "{part}");
        let whole = read(&format!("rib {{ {text} }}"));
        let rules = whole.lines.iter().filter(|line| line.key.contains("localhop_security"));
        assert!(rules.into_iter().all(|line| matches!(line.fate, Fate::Lost(_))), "{}", report(&whole));
    }
    for part in [RULE, ANCHOR, ""] {
        assert!(!config(&format!("localhop_security {{ {part} }}")).management.localhop, "{part}");
    }
    let localhop = config(&format!("localhop_security {{ {RULE}{ANCHOR} }}"));
    assert!(localhop.management.localhop && !localhop.trust.localhop.any);
}

#[test]
fn errors_of_the_format_have_a_line() {
    let error = |text: &str| import(text, Path::new("/")).unwrap_err();
    assert_eq!(error("a {\n").to_string(), "line 1: a section without its closing brace");
    assert_eq!(error(&" ".repeat(MAX_BYTES + 1)), ImportError::TooLong);
}
