//! Configurations of NSD and Knot DNS, with the fate of each of their lines.

#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

use hashlane_transfer::import::{Dialect, Fate, Import, ImportError, MAX_LINES, detect, import};
use std::collections::BTreeSet;

#[path = "import/access.rs"]
mod access;
#[path = "import/catalogs.rs"]
mod catalogs;
#[path = "import/sources.rs"]
mod sources;

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
