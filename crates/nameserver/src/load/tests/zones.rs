//! Zone files to zones.

use super::*;
use std::fs;

const ZONE: &str = "@ 1h SOA ns a 7 1h 1h 1h 1h\n NS ns\nns A 192.0.2.1\n";

fn load(file: &str, text: &str, apex: Option<&str>) -> Result<Zone, LoadError> {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join(file);
    fs::write(&path, text).unwrap();
    let apex = apex.map(name);
    zone(&path, apex.as_ref().map(NameBuf::view), &serial(), &Key::VECTOR)
}

#[test]
fn a_zone_has_the_name_that_is_given_or_of_its_soa_record_or_of_its_file() {
    for (file, text, apex, name) in [
        ("x.zone", ZONE, Some("example.com"), "example.com."),
        ("Example.org.zone", ZONE, None, "Example.org."),
        ("example.org.DB", ZONE, None, "example.org."),
        ("example.org", ZONE, None, "example.org."),
        ("x..y", &format!("$ORIGIN a.b.\n{ZONE}"), None, "a.b."),
        ("x.zone", &format!("$ORIGIN a.b.\nns 1 AAAA 2001:db8::1\n{ZONE}"), None, "a.b."),
    ] {
        let zone = load(file, text, apex).unwrap();
        assert_eq!((zone.apex_name().to_string().as_str(), zone.serial()), (name, 7), "{file}");
        assert_eq!(zone.records(), 3 + usize::from(text.contains("AAAA")));
    }
}

#[test]
fn a_rule_of_zones_that_is_broken_is_reported() {
    let error =
        load("x.zone", &format!("{ZONE}a.other. A 192.0.2.1\nb.other. A 192.0.2.1\n"), None).unwrap_err();
    let lines: Vec<_> = error.faults.iter().map(|fault| fault.line).collect();
    assert_eq!(lines, [Some(4), Some(5)]);
    assert!(error.to_string().contains(":4: a.other. A: owner outside of the zone"), "{error}");
    let error = load("x.zone", "ns 1 A 192.0.2.1\n", None).unwrap_err().to_string();
    assert!(error.ends_with("/x.zone: x. SOA: the apex has no SOA record; add one"), "{error}");
    let error = load("x..y", "ns. 1 A 192.0.2.1\n", None).unwrap_err();
    assert_eq!(error.faults[0].what, What::NoApex);
    // Before the SOA record, too.
    let error = load("x.zone", &format!("$ORIGIN a.\nx. 1 A 192.0.2.1\n{ZONE}"), None).unwrap_err();
    assert!(error.to_string().contains("x. A: owner outside of the zone"), "{error}");
}
