//! Configurations of NSD and Knot DNS, with the fate of each of their lines.

#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

use hashlane_transfer::import::{Dialect, Fate, Import, ImportError, MAX_LINES, detect, import};
use std::collections::BTreeSet;

#[path = "import/access.rs"]
mod access;

const NSD: &str = include_str!("import/nsd.conf");
const KNOT: &str = include_str!("import/knot.conf");

/// A file that is included, for a path.
fn included(path: &str) -> Result<String, String> {
    match path {
        "more.conf" => Ok("zone: name: example.org include-pattern: customers\n# the end\n".to_owned()),
        "loop.conf" => Ok("include: loop.conf\n".to_owned()),
        path => Err(format!("{path} is missing")),
    }
}

fn read(dialect: Dialect, text: &str) -> Import {
    import(dialect, text, &mut included).unwrap()
}

/// The lines of the file itself as text.
fn report(import: &Import) -> String {
    import.lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Asserts that each line has a fate or is blank.
fn accounts_for(import: &Import, text: &str) {
    let own = import.lines.iter().filter(|line| line.file.is_none());
    let numbers: BTreeSet<u32> = own.map(|line| line.number).collect();
    for (number, line) in (1..).zip(text.lines()) {
        let is_blank = line.trim().is_empty() || line.trim().starts_with('#');
        assert_eq!(numbers.contains(&number), !is_blank, "line {number}: {line}");
    }
}

#[test]
fn a_configuration_of_nsd_is_kept_line_by_line() {
    assert_eq!(detect(NSD), Some(Dialect::Nsd));
    let import = read(Dialect::Nsd, NSD);
    assert_eq!(import.toml, include_str!("import/nsd.toml"));
    accounts_for(&import, NSD);
    assert_eq!(report(&import), include_str!("import/nsd.report"));
    assert!(!import.is_complete());
    // A comment each in the file and in the one that it includes.
    assert_eq!(import.blank, 2 + NSD.lines().filter(|line| line.is_empty()).count());
}

#[test]
fn a_configuration_of_knot_is_kept_line_by_line() {
    assert_eq!(detect(KNOT), Some(Dialect::Knot));
    let import = read(Dialect::Knot, KNOT);
    assert_eq!(import.toml, include_str!("import/knot.toml"));
    accounts_for(&import, KNOT);
    assert_eq!(report(&import), include_str!("import/knot.report"));
    assert!(!import.is_complete());
}

#[test]
fn a_configuration_without_losses_is_complete() {
    let nsd = read(Dialect::Nsd, "zone:\n name: a.example\n zonefile: a.zone\n");
    assert_eq!(nsd.toml, "[[zone]]\nname = \"a.example\"\nfile = \"a.zone\"\n");
    let knot = read(Dialect::Knot, "zone:\n- domain: a.example\n");
    assert_eq!(knot.toml, "[[zone]]\nname = \"a.example\"\nfile = \"/var/lib/knot/a.example.zone\"\n");
    assert!(nsd.is_complete() && knot.is_complete());
    assert_eq!(detect("zones: []\n"), None);
}

/// The line at which something is lost, and the text.
fn lost(dialect: Dialect, text: &str) -> Vec<(u32, String)> {
    let lines = read(dialect, text).lines;
    let lost = lines.iter().filter(|line| matches!(line.fate, Fate::Lost(_)));
    lost.map(|line| (line.number, line.to_string())).collect()
}

#[test]
fn zones_and_keys_that_cannot_be_used_are_lost() {
    let one = |dialect, text, line: &str| {
        let lost = lost(dialect, text);
        assert_eq!(lost.len(), 1, "{lost:?}");
        assert!(lost[0].1.contains(line), "{lost:?}");
    };
    one(Dialect::Nsd, "zone:\n name: a\n", "line 2: name: cannot be kept: the zone has neither a file");
    one(Dialect::Nsd, "zone:\n name: a..b\n zonefile: f\n", "is no domain name");
    one(
        Dialect::Nsd,
        "zone:\n name: A\n zonefile: f\nzone:\n name: a.\n zonefile: f\n",
        "line 5: name: cannot",
    );
    one(Dialect::Nsd, "zone:\n name: a\n zonefile: %1/%s\n zonefile: f\n", "%s alone is known");
    one(
        Dialect::Nsd,
        "include: loop.conf\n",
        "loop.conf, line 1: include: cannot be kept: files are included 10",
    );
    one(Dialect::Nsd, "verbosity: 1\n", "outside of a section");
    one(Dialect::Nsd, "server:\n port: 99999\n", "is not a port");
    one(Dialect::Nsd, "server:\n tcp-timeout: 9999\n", "tcp.idle_timeout_ms is between 1 and 3600");
    one(Dialect::Knot, "zone:\n - domain: a\n   notify: m\n", "the remote \"m\" is missing");
    one(Dialect::Knot, "zone:\n - file: a\n", "a zone without `domain`");
    one(Dialect::Knot, "colour: red\n", "line 1: colour");
    let two =
        "key: name: k algorithm: hmac-sha256 secret: AAAA\nzone: name: a zonefile: f notify: 10.0.0.1 k\n";
    let lines = lost(Dialect::Nsd, two);
    // The key's four statements, and the one that names it.
    assert_eq!(lines.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 1, 1, 1, 2]);
    assert!(lines[4].1.ends_with("notify: cannot be kept: the key \"k\" is missing, or is lost itself"));
}

#[test]
fn a_secondary_without_a_primary_is_no_zone_with_a_file() {
    let nsd = |request: &str| format!("zone:\n name: a\n zonefile: f\n request-xfr: {request}\n");
    let texts = [
        (Dialect::Nsd, nsd("192.0.2.1 missing")),
        (Dialect::Nsd, nsd("192.0.2.1 NOKEY tls.example")),
        (Dialect::Knot, "zone:\n - domain: a\n   master: missing\n".to_owned()),
    ];
    for (dialect, text) in texts {
        let import = read(dialect, &text);
        assert!(!import.toml.contains("[[zone]]"), "{}", import.toml);
        assert!(report(&import).contains("none of the zone's primaries can be kept"), "{}", report(&import));
    }
}

#[test]
fn patterns_that_include_each_other_end() {
    let text = "pattern:\n name: p\n include-pattern: p\n include-pattern: p\nzone:\n name: a\n include-pattern: p\n";
    let lost = lost(Dialect::Nsd, text);
    assert!(lost[0].1.contains("include each other") && lost.len() == 1, "{lost:?}");
    // 10 zones with 9,000 long entries each would be 90 MB of text.
    let entry = format!(" notify: 192.0.2.1 {}\n", "k".repeat(1000));
    let mut text = "pattern:\n name: p\n zonefile: f\n".to_owned() + &entry.repeat(9_000);
    (0..10).for_each(|zone| text += &format!("zone:\n name: z{zone}\n include-pattern: p\n"));
    let import = read(Dialect::Nsd, &text);
    assert!(import.toml.len() < 100 << 20 && !import.is_complete());
    let many = "a:\n".repeat(MAX_LINES + 1);
    assert_eq!(import_error(&many), ImportError::TooManyLines);
    let long = "#".repeat(hashlane_transfer::import::MAX_BYTES + 1);
    assert_eq!(import_error(&long), ImportError::TooLong);
}

fn import_error(text: &str) -> ImportError {
    import(Dialect::Nsd, text, &mut included).unwrap_err()
}

#[test]
fn tls_of_nsd_needs_a_certificate_an_address_and_issuers() {
    let service = "server:\n ip-address: ::1@8530\n tls-port: 8530\n tls-service-key: k\n";
    let zone = "zone:\n name: a\n zonefile: f\n";
    let import = read(Dialect::Nsd, &format!("{service}{zone}"));
    assert!(import.toml.starts_with("[server]\nlisten = [\"[::1]:8530\"]\n\n[[zone]]"), "{}", import.toml);
    assert!(report(&import).contains("line 4: tls-service-key: cannot be kept: TLS needs"));
    let whole = format!("{service} tls-service-pem: c\n ip-address: ::1@5300\n{zone}");
    let import = read(Dialect::Nsd, &whole);
    let tls = "[tls]\ncertificate = \"c\"\nkey = \"k\"\nlisten = [\"[::1]:8530\"]\n";
    assert!(
        import.toml.contains(tls) && import.toml.contains("listen = [\"[::1]:5300\"]"),
        "{}",
        import.toml
    );
    assert!(import.is_complete());
    let import = read(Dialect::Nsd, &whole.replace("::1@5300", "::1@8530"));
    assert!(report(&import).contains("tls-service-key: cannot be kept: all addresses are for TLS"));
    let import = read(Dialect::Nsd, &whole.replace("::1@8530", "::1@53"));
    assert!(!import.toml.contains("[tls]") && import.is_complete(), "{}", import.toml);
    let lines = lost(
        Dialect::Nsd,
        "tls-auth:\n name: p\n auth-domain-name: ns.example\nzone:\n name: a\n request-xfr: ::1 NOKEY p\n",
    );
    assert!(lines.iter().any(|(line, why)| *line == 6 && why.contains("tls.roots")), "{lines:?}");
}

/// A configuration of Knot that follows a catalog, with these entries of its templates.
fn knot_follower(first: &str, second: &str) -> Import {
    let text = format!(
        "remote:\n - id: p\n   address: 192.0.2.1\n - id: q\n   address: 192.0.2.2\n\
         acl:\n - id: a\n   address: 192.0.2.9\n   action: transfer\n\
         template:\n - id: plain\n{first} - id: other\n{second}\
         zone:\n - domain: c.example\n   master: p\n   acl: a\n   catalog-role: interpret\n   \
         catalog-template: [plain, other]\n"
    );
    read(Dialect::Knot, &text)
}

#[test]
fn a_catalog_of_knot_is_followed_with_the_servers_of_its_templates() {
    let (same, other) = ("   master: p\n   acl: a\n", "   master: q\n   acl: a\n   storage: /x\n");
    let import = knot_follower(same, other);
    let groups = "[[group]]\nname = \"plain\"\nprimaries = [\"192.0.2.1\"]\nallow_transfer = [\"192.0.2.9\"]\n\n\
                  [[group]]\nname = \"other\"\nprimaries = [\"192.0.2.2\"]\nallow_transfer = [\"192.0.2.9\"]\n\n";
    let zone = "[[zone]]\nname = \"c.example\"\ncatalog = \"follow\"\nprimaries = [\"192.0.2.1\"]\n\
                allow_transfer = [\"192.0.2.9\"]\n";
    assert!(import.toml.ends_with(&format!("{groups}{zone}")), "{}", import.toml);
    assert!(import.is_complete(), "{}", report(&import));
    // Members would have other servers than in Knot, or wider access.
    for (first, second, why) in [
        (other, same, "members have the servers of their catalog; give the template \"plain\""),
        (same, "   master: q\n", "the template \"other\" lacks `master`, `notify`, `acl` or `module`"),
        (same, "   master: q\n   acl: missing\n", "lacks"),
    ] {
        let import = knot_follower(first, second);
        assert!(!import.toml.contains("catalog") && !import.toml.contains("[[group]]"), "{}", import.toml);
        let line = format!("catalog-role: cannot be kept: {why}");
        assert!(report(&import).contains(&line) || report(&import).contains(why), "{}", report(&import));
    }
}

#[test]
fn members_are_not_followed_if_a_group_of_theirs_is_lost() {
    let import = knot_follower("   master: p\n   acl: a\n", "   master: [q, q]\n   acl: a\n");
    assert!(import.toml.contains("catalog = \"follow\""));
    // The second template names a key that is missing, and would have the catalog's servers.
    let text = "remote:\n - id: p\n   address: 192.0.2.1\n - id: q\n   address: 192.0.2.2\n   key: missing\n\
                template:\n - id: plain\n   master: p\n - id: other\n   master: q\n\
                zone:\n - domain: c.example\n   master: p\n   catalog-role: interpret\n   \
                catalog-template: [plain, other]\n";
    let import = read(Dialect::Knot, text);
    assert!(import.toml.contains("c.example") && !import.toml.contains("follow"), "{}", import.toml);
    assert!(report(&import).contains("its members are not followed"), "{}", report(&import));
}

#[test]
fn a_catalog_that_knot_makes_is_made_if_it_lists_all_zones() {
    let text = |more: &str| {
        format!(
            "template:\n - id: default\n   catalog-role: member\n   catalog-zone: C.example.\n\
             zone:\n - domain: c.example\n   catalog-role: generate\n - domain: a.example\n - domain: b.example\n{more}"
        )
    };
    let import = read(Dialect::Knot, &text(""));
    assert!(
        import
            .toml
            .starts_with("[[zone]]\nname = \"c.example\"\ncatalog = \"produce\"\n\n[[zone]]\nname = \"a.")
    );
    assert!(import.is_complete(), "{}", report(&import));
    for more in [
        "   catalog-role: none\n",
        "   catalog-zone: d.example\n",
        " - domain: d.example\n   catalog-role: generate\n",
    ] {
        let import = read(Dialect::Knot, &text(more));
        assert!(!import.toml.contains("c.example") && import.toml.contains("a.example"), "{}", import.toml);
        assert!(!import.is_complete(), "{}", report(&import));
    }
}

#[test]
fn texts_of_the_result_are_quoted() {
    let import = read(Dialect::Nsd, "server:\n identity: 'a\"\\\u{1}é'\n");
    assert_eq!(import.toml, "[server]\nidentity = \"a\\\"\\\\\\u0001é\"\n");
}

#[test]
fn flow_mappings_are_lost_by_their_own_lines() {
    let zones = "zone:\n - domain: a\n - {domain: flow.example, master: prim}\n - { domain: b,\n     \
                 file: f }\n - domain: c\n";
    assert_eq!(
        lost(Dialect::Knot, zones),
        [
            (3, "line 3: zone flow.example: cannot be kept: flow mapping; write it as a block".to_owned()),
            (4, "line 4: zone b: cannot be kept: flow mapping; write it as a block".to_owned()),
            (5, "line 5: zone: cannot be kept: flow mapping; write it as a block".to_owned()),
        ]
    );
    let toml = read(Dialect::Knot, zones).toml;
    assert_eq!(toml.matches("[[zone]]").count(), 2, "{toml}");
    assert!(toml.contains("\"a\"\n") && toml.contains("\"c\"\n"), "{toml}");
    // The line after it does not change the item before it.
    let after = read(Dialect::Knot, "zone:\n - domain: a\n - {domain: b}\n   file: other\n");
    assert!(!after.toml.contains("other"), "{}", after.toml);
    // A template may limit access: its zones are lost with it.
    let default = "template:\n - {id: default, acl: a}\nzone:\n - domain: a\n";
    let lines = lost(Dialect::Knot, default);
    assert!(lines.len() == 2 && lines[1].1.contains("the template \"default\" is lost"), "{lines:?}");
    assert_eq!(read(Dialect::Knot, default).toml, "");
    let missing = "zone:\n - domain: a\n   template: t\n";
    let lines = lost(Dialect::Knot, missing);
    let is_both = lines.iter().all(|(_, line)| line.ends_with("the template \"t\" is missing"));
    assert!(lines.len() == 2 && is_both && read(Dialect::Knot, missing).toml.is_empty(), "{lines:?}");
    let log = "log:\n - {target: syslog, any: info}\n";
    assert!(lost(Dialect::Knot, log).is_empty());
}

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
