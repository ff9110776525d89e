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
    assert!(error.ends_with("/x.zone:1: x. SOA: the apex has no SOA record; add one"), "{error}");
    let error = load("x..y", "ns. 1 A 192.0.2.1\n", None).unwrap_err();
    assert_eq!(error.faults[0].what, FaultKind::NoApex);
    // Before the SOA record, too.
    let error = load("x.zone", &format!("$ORIGIN a.\nx. 1 A 192.0.2.1\n{ZONE}"), None).unwrap_err();
    assert!(error.to_string().contains("/x.zone:2: x. A: owner outside of the zone"), "{error}");
    let before = "ns 1 AAAA 2001:db8::1\ny. 1 A 192.0.2.1\nz. 1 A 192.0.2.1\n";
    let error = load("x.zone", &format!("{before}{ZONE}b 1 SOA a a 1 1 1 1 1\n"), None).unwrap_err();
    let lines: Vec<_> = error.faults.iter().map(|fault| fault.line).collect();
    assert_eq!(lines, [Some(2), Some(3), Some(7)], "{error}");
}

#[test]
fn a_rule_that_records_break_together_is_reported_with_a_line() {
    let soa = "@ 1h SOA ns a 7 1h 1h 1h 1h\n";
    let types: String = (65_281..=65_409).map(|number| format!("b TYPE{number} \\# 0\n")).collect();
    for (text, error) in [
        (String::new(), ": x. SOA: the apex has no SOA record"),
        ("\n\nns 1 A 192.0.2.1\n".into(), ":3: x. SOA: the apex has no SOA record"),
        (format!("ns 1 A 192.0.2.1\n{soa}"), ":2: x. NS: the apex has no NS record"),
        (format!("{ZONE}{soa}@ 1 SOA ns a 8 1 1 1 1\n"), ":5: x. SOA: the apex has several SOA records"),
        (format!("{ZONE}b A 192.0.2.1\nB CNAME c\n"), ":5: b.x. CNAME: other records beside a CNAME"),
        (format!("{ZONE}b CNAME c\nd A 192.0.2.1\nb (\n TXT t )\n"), ":6: b.x. CNAME: other records"),
        (format!("{ZONE}b CNAME c\nb CNAME c\nb CNAME d\n"), ":6: b.x. CNAME: several CNAMEs"),
        (format!("{ZONE}b DNAME c\nb DNAME d\n"), ":5: b.x. DNAME: several DNAMEs"),
        (format!("{ZONE}b DNAME c\nb NS d\n"), ":5: b.x. DNAME: a DNAME beside NS records"),
        (format!("{ZONE}@ NSEC3PARAM 1 0 1 -\n@ NSEC3PARAM 1 0 151 -\n"), ":5: x. NSEC3PARAM: 151 NSEC3"),
        (format!("{ZONE}{types}"), ":132: b.x. TYPE65409: more than 128 types"),
    ] {
        let found = load("x.zone", &text, Some("x")).unwrap_err();
        assert!(found.to_string().contains(&format!("/x.zone{error}")), "{found}\n{error}");
        assert_eq!((found.faults.len(), found.more), (1, false));
    }
}

#[test]
fn a_rule_that_an_included_file_breaks_is_reported_with_its_line() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("x.zone");
    fs::write(&path, format!("{ZONE}b A 192.0.2.1\n$INCLUDE more\n")).unwrap();
    fs::write(folder.path().join("more"), "\nb CNAME c\n").unwrap();
    let (included, paths) = std::sync::mpsc::channel();
    let options = Options { included: Some(included), ..serial() };
    let error = zone(&path, None, &options, &Key::VECTOR).unwrap_err().to_string();
    assert!(error.starts_with("more:2: b.x. CNAME: other records beside a CNAME"), "{error}");
    drop(options);
    assert_eq!(paths.iter().count(), 1, "a file that is read again is reported once");
}
