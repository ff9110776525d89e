//! Access in imported configurations: never wider than it was.

use super::{read, report};
use hashlane_transfer::import::Dialect;

#[test]
fn zones_from_files_take_no_notify() {
    let allow = "zone:\n name: a\n zonefile: f\n allow-notify: 192.0.2.1 NOKEY\n";
    let import = read(Dialect::Nsd, allow);
    assert_eq!(import.toml, "[[zone]]\nname = \"a\"\nfile = \"f\"\n");
    let line = "line 4: allow-notify: a zone from a file takes no NOTIFY; ignored\n";
    assert!(report(&import).ends_with(line) && import.is_complete(), "{}", report(&import));
    let knot = |action: &str, zones: &str| {
        let acl = format!("acl:\n - id: r\n   address: 192.0.2.1\n   action: {action}\n");
        let remote = "remote:\n - id: p\n   address: 192.0.2.2\n";
        let template = "template:\n - id: default\n   acl: r\n";
        read(Dialect::Knot, &format!("{remote}{acl}{template}zone:\n - domain: a\n{zones}"))
    };
    let both = knot("[transfer, notify]", "");
    assert!(both.toml.contains("allow_transfer = [\"192.0.2.1\"]") && !both.toml.contains("allow_notify"));
    let line = "line 10: acl: → zone.allow_transfer; a zone from a file takes no NOTIFY\n";
    assert!(report(&both).contains(line) && both.is_complete(), "{}", report(&both));
    let none = knot("notify", "");
    assert!(!none.toml.contains("allow"), "{}", none.toml);
    assert!(report(&none).contains("line 10: acl: a zone from a file takes no NOTIFY; ignored\n"));
    // A secondary with the same template keeps the line.
    let kept = knot("notify", " - domain: b\n   master: p\n");
    assert_eq!(kept.toml.matches("allow_notify = [\"192.0.2.1\"]").count(), 1, "{}", kept.toml);
    assert!(report(&kept).contains("line 10: acl: → zone.allow_transfer, zone.allow_notify\n"));
}

#[test]
fn remotes_of_knot_over_tls_are_never_asked_in_the_clear() {
    let read = |server: &str, remote: &str, zone: &str| {
        let remotes = format!("remote:\n - id: p\n   address: 192.0.2.1\n{remote}");
        let acl = "acl:\n - id: r\n   remote: p\n   action: transfer\n";
        read(Dialect::Knot, &format!("{server}{remotes}{acl}zone:\n - domain: a\n{zone}"))
    };
    let (roots, tls) = ("server:\n   ca-file: /etc/ca.pem\n", "   tls: on\n   cert-hostname: ns.example\n");
    let import = read(roots, tls, "   master: p\n");
    assert!(import.toml.contains("roots = \"/etc/ca.pem\""), "{}", import.toml);
    assert!(import.toml.contains("primaries = [\"192.0.2.1 tls ns.example\"]"), "{}", import.toml);
    let pins = format!("{tls}   cert-key: AAAA\n");
    let names = "   tls: on\n   cert-hostname: [a.example, b.example]\n";
    for (server, remote, why) in [
        ("", tls, "this server has no default for tls.roots"),
        (roots, "   tls: on\n", "TLS needs a cert-hostname"),
        (roots, "   quic: on\n   cert-hostname: ns.example\n", "this server has no QUIC"),
        (roots, &pins, "public keys are not pinned here"),
        (roots, "   pin: AAAA\n", "public keys are not pinned here"),
        (roots, "   cert-hostname: ns.example\n", "cert-hostname needs `tls: on`"),
        (roots, names, "TLS needs one cert-hostname"),
    ] {
        let import = read(server, remote, "   master: p\n");
        assert!(!import.toml.contains("192.0.2.1"), "{remote}: {}", import.toml);
        assert!(report(&import).contains("master: cannot be kept: "), "{}", report(&import));
        assert!(report(&import).contains(why) && !import.is_complete(), "{}", report(&import));
    }
    // NOTIFY goes over UDP, and access is by address and key alone.
    for (zone, why) in
        [("   notify: p\n", "NOTIFY goes over UDP"), ("   acl: r\n", "certificates of clients")]
    {
        for remote in [tls, "   tls: on\n"] {
            let import = read(roots, remote, zone);
            assert!(!import.toml.contains("192.0.2.1") && !import.is_complete(), "{}", import.toml);
            let why = if remote == tls || zone.contains("acl") { why } else { "TLS needs" };
            assert!(report(&import).contains(why), "{}", report(&import));
        }
    }
    assert!(read("", "   tls: off\n   quic: off\n", "   master: p\n").is_complete());
}

#[test]
fn clients_of_a_zone_of_nsd_are_never_more() {
    let zone = |lines: &str| {
        let key = "key:\n name: k\n algorithm: hmac-sha256\n secret: c2l4dGVlbiBieXRlcyBsb25n\n";
        read(Dialect::Nsd, &format!("{key}zone:\n name: a\n zonefile: f\n{lines}"))
    };
    let import = zone(" allow-query: 10.0.0.0&255.0.0.0 NOKEY\n allow-query: ::1 k\n");
    assert!(import.toml.ends_with("file = \"f\"\nallow_query = [\"10.0.0.0/8\", \"::1 key k\"]\n"));
    assert!(import.is_complete(), "{}", report(&import));
    // A refusal beside an entry without its addresses, and one of a part of an entry.
    let allowed = " allow-query: 192.0.2.1 NOKEY\n allow-query: 10.1.0.0/16 BLOCKED\n";
    let import = zone(allowed);
    assert!(
        import.toml.ends_with("allow_query = [\"192.0.2.1\"]\n") && import.is_complete(),
        "{}",
        import.toml
    );
    let import = zone(&format!("{allowed} allow-query: 10.0.0.0/8 NOKEY\n"));
    assert!(import.toml.ends_with("allow_query = [\"192.0.2.1\"]\n"), "{}", import.toml);
    let line = "line 10: allow-query: cannot be kept: part of it is BLOCKED";
    assert!(report(&import).contains(line), "{}", report(&import));
    let import = zone(&format!("{allowed} allow-query: 10.0.0.1-10.0.0.9 NOKEY\n"));
    assert!(import.toml.ends_with("allow_query = [\"192.0.2.1\"]\n") && !import.is_complete());
    for lines in [
        " allow-query: 10.0.0.1 BLOCKED\n",
        " allow-query: 10.0.0.1-10.0.0.9 NOKEY\n",
        " allow-query: 10.0.0.1@53 NOKEY\n",
        " allow-query: 10.0.0.1 missing\n",
        " allow-query: 0.0.0.0/0 NOKEY\n allow-query: 10.0.0.1 BLOCKED\n",
        " allow-query: 192.0.2.1 NOKEY\n allow-query: 10.0.0.1-10.0.0.9 BLOCKED\n",
        " include-pattern: missing\n",
    ] {
        let import = zone(lines);
        assert!(!import.toml.contains("[[zone]]") && !import.is_complete(), "{lines}: {}", import.toml);
        assert!(report(&import).contains("name: cannot be kept: "), "{}", report(&import));
    }
    let import = zone(" provide-xfr: 10.0.0.0/8 NOKEY\n provide-xfr: 10.1.0.0/16 BLOCKED\n");
    assert!(import.toml.ends_with("file = \"f\"\n") && !import.is_complete(), "{}", import.toml);
}

#[test]
fn clients_of_a_zone_of_knot_are_never_more() {
    let read = |module: &str, template: &str, zone: &str| {
        let module = format!("mod-queryacl:\n - id: in\n{module} - id: b\n   address: 192.0.2.1\n");
        let text = format!("{module}template:\n - id: default\n{template}zone:\n - domain: a\n{zone}");
        read(Dialect::Knot, &text)
    };
    let (inside, named) = ("   address: [10.0.0.0/8, \"::1\"]\n", "   module: [mod-queryacl/in, mod-rrl]\n");
    let global = "   global-module: mod-queryacl/in\n";
    for (template, zone) in [("", named), (named, ""), (global, ""), (global, named)] {
        let import = read(inside, template, zone);
        assert!(import.toml.ends_with("allow_query = [\"10.0.0.0/8\", \"::1\"]\n"), "{}", import.toml);
        assert!(import.is_complete(), "{}", report(&import));
    }
    let open = read("", "", named);
    assert!(open.toml.contains("[[zone]]") && !open.toml.contains("allow_query"), "{}", open.toml);
    let partly = read("   address: [10.0.0.1-10.0.0.9, 10.0.0.1]\n", "", named);
    assert!(partly.toml.ends_with("allow_query = [\"10.0.0.1\"]\n") && !partly.is_complete());
    for (module, template, zone) in [
        ("   address: 10.0.0.1-10.0.0.9\n", "", named),
        ("   address: 10.0.0.1\n   interface: 10.0.0.2\n", "", named),
        (inside, "", "   module: mod-queryacl/missing\n"),
        (inside, "", "   module: mod-queryacl\n"),
        (inside, "", "   module: [mod-queryacl/in, mod-queryacl/b]\n"),
        (inside, global, "   module: mod-queryacl/b\n"),
        (inside, "   global-module: mod-queryacl/missing\n", ""),
    ] {
        let import = read(module, template, zone);
        assert!(import.toml.is_empty() && !import.is_complete(), "{zone}: {}", import.toml);
        assert!(report(&import).contains("domain: cannot be kept: "), "{}", report(&import));
    }
}

#[test]
fn rules_of_knot_allow_nothing_that_a_rule_before_them_denies() {
    let read = |deny: &str, order: &str| {
        let rules = format!(
            "acl:\n - id: deny\n{deny}   action: transfer\n   deny: on\n - id: allow\n   address: [10.0.0.0/8, \
             192.0.2.1]\n   action: transfer\n - id: key\n   key: k\n   action: transfer\n"
        );
        let key = "key:\n - id: k\n   algorithm: hmac-sha256\n   secret: c2l4dGVlbiBieXRlcyBsb25n\n";
        read(Dialect::Knot, &format!("{key}{rules}zone:\n - domain: a\n   acl: {order}\n"))
    };
    let part = "   address: 10.1.0.0/16\n";
    let import = read(part, "[deny, allow, key]");
    assert!(import.toml.ends_with("allow_transfer = [\"192.0.2.1\"]\n"), "{}", import.toml);
    assert!(report(&import).contains("acl: cannot be kept: a rule before it denies part of it"));
    let other = read("   address: 203.0.113.0/24\n", "[deny, allow]");
    assert!(other.toml.ends_with("allow_transfer = [\"10.0.0.0/8\", \"192.0.2.1\"]\n"), "{}", other.toml);
    assert!(other.is_complete(), "{}", report(&other));
    let after = read(part, "[allow, key, deny]");
    assert!(after.toml.ends_with("[\"10.0.0.0/8\", \"192.0.2.1\", \"key k\"]\n"), "{}", after.toml);
    for (deny, order) in [
        ("", "[deny, allow]"),
        ("   address: 203.0.113.1-203.0.113.9\n", "[deny, allow]"),
        ("   remote: missing\n", "[deny, allow]"),
        (part, "[missing, allow]"),
    ] {
        let import = read(deny, order);
        assert!(!import.toml.contains("allow_transfer") && !import.is_complete(), "{}", import.toml);
    }
}

#[test]
fn access_is_never_wider_for_what_is_lost() {
    // Addresses that are lost leave nothing, not everyone.
    let rule = |rule: &str| {
        let text =
            format!("acl:\n - id: a\n   {rule}\n   action: transfer\nzone:\n - domain: z\n   acl: a\n");
        read(Dialect::Knot, &text).toml
    };
    assert!(rule("address: 10.0.0.0/8").contains("allow_transfer = [\"10.0.0.0/8\"]"));
    assert!(rule("update-owner: name").contains("allow_transfer = [\"0.0.0.0/0\", \"::/0\"]"), "as in Knot");
    for narrow in [
        "address: nowhere",
        "remote: missing",
        "address: nowhere\n   key: k",
        "key: missing",
        "deny: on",
        "protocol: tls",
        "address: 10.0.0.1\n   cert-hostname: a.example",
    ] {
        let toml = rule(narrow);
        assert!(!toml.contains("allow_transfer"), "{narrow}: {toml}");
    }
}
