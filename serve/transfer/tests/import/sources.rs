//! Source addresses of transfers in imported configurations.

use super::{read, report};
use hashlane_transfer::import::Dialect;

#[test]
fn source_addresses_are_kept_if_all_servers_have_the_same() {
    let nsd = |first: &str, second: &str| {
        let zone = |name: &str, lines: &str| format!("zone:\n name: {name}\n zonefile: f\n{lines}");
        let quiet = zone("c", "");
        read(Dialect::Nsd, &format!("{}{}{quiet}", zone("a", first), zone("b", second)))
    };
    let knot = |first: &str, second: &str| {
        let remote = |id: &str, lines: &str| format!(" - id: {id}\n{lines}");
        read(Dialect::Knot, &format!("remote:\n{}{}", remote("a", first), remote("b", second)))
    };
    let (v4, v6) = (" notify: 192.0.2.1 NOKEY\n", " notify: 2001:db8::1 NOKEY\n");
    let (from4, from6) = (" outgoing-interface: 192.0.2.53\n", " outgoing-interface: 2001:db8::53\n");
    let (to4, to6) = ("   address: 192.0.2.1\n", "   address: 2001:db8::1@5353\n");
    let (via4, via6) = ("   via: 192.0.2.53\n", "   via: [2001:db8::53]\n");
    let both = "source = [\"192.0.2.53\", \"2001:db8::53\"]\n";
    let four = "source = [\"192.0.2.53\"]\n";
    for (import, source) in [
        (nsd(&format!("{v4}{from4}{from6}"), &format!("{v6}{from6}{from4}")), both),
        (nsd(&format!("{v4}{from4}"), &format!("{v6}{from6}")), both),
        (nsd(&format!("{v4}{from4}"), v6), four),
        (knot(&format!("{to4}{via4}"), &format!("{to6}{via6}")), both),
        (knot(&format!("{to4}{via4}"), to6), four),
    ] {
        assert!(import.toml.contains(source) && import.is_complete(), "{}{}", import.toml, report(&import));
    }
    let port = "the port of transfers cannot be set";
    let different = "others are reached from another address, or any";
    for (import, why) in [
        (nsd(&format!("{v4}{from4}"), v4), different),
        (nsd(&format!("{v4}{from4}"), &format!("{v4} outgoing-interface: 192.0.2.54\n")), different),
        (nsd(&format!("{v4}{from4} outgoing-interface: 192.0.2.54\n"), ""), different),
        (nsd(&format!("{v4} outgoing-interface: 192.0.2.53@53\n"), ""), port),
        (nsd(&format!("{v4} outgoing-interface: 0.0.0.0\n"), ""), "is no host's address"),
        (knot(&format!("{to4}{via4}"), to4), different),
        (knot(&format!("{to4}   via: [192.0.2.53, 192.0.2.54]\n"), ""), different),
        (knot(&format!("{to4}   via: 192.0.2.53@53\n"), ""), port),
        (knot(&format!("{to4}   via: 0.0.0.0%eth0\n"), ""), "is not an address"),
    ] {
        assert!(!import.toml.contains("source"), "{}", import.toml);
        assert!(report(&import).contains(why), "{why}: {}", report(&import));
    }
}
