//! Zone files as they are found in the field, read and shown.
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

use hashlane_dns::wire::{Content, Record, RecordType};
use hashlane_name::dns::NameBuf;
use hashlane_zone_file::messages::{ZoneError, read, read_file};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/zones").join(name)
}

fn load(name: &str, origin: Option<&str>) -> Content {
    let path = path(name);
    let origin = origin.map(|origin| origin.parse::<NameBuf>().unwrap());
    read_file(&path, origin.as_ref().map(NameBuf::view)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Records as `OWNER TTL CLASS TYPE`.
fn shown(content: &Content) -> Vec<String> {
    let show = |record: &Record| format!("{} {} {} {}", record.owner, record.ttl, record.class, record.rtype);
    content.records.iter().map(show).collect()
}

fn data(content: &Content, rtype: RecordType) -> Vec<&[u8]> {
    content.records.iter().filter(|r| r.rtype == rtype).map(|r| r.data.as_slice()).collect()
}

/// The numbers of the SOA record.
fn soa(content: &Content) -> Vec<u32> {
    let all = data(content, RecordType::SOA)[0];
    let numbers = all[all.len() - 20..].chunks(4);
    numbers.map(|bytes| u32::from_be_bytes(bytes.try_into().unwrap())).collect()
}

#[test]
fn an_office_with_units_comments_and_blank_owners() {
    let zone = load("office.zone", None);
    assert_eq!(
        shown(&zone),
        [
            "example.com. 86400 IN SOA",
            "example.com. 86400 IN NS",
            "example.com. 86400 IN NS",
            "example.com. 86400 IN MX",
            "example.com. 86400 IN MX",
            "ns1.example.com. 86400 IN A",
            "ns1.example.com. 86400 IN AAAA",
            "mail.example.com. 300 IN A",
            "www.example.com. 86400 IN CNAME",
        ]
    );
    assert_eq!(soa(&zone), [2_024_051_701, 10_800, 900, 777_600, 3600]);
    assert_eq!(data(&zone, RecordType::CNAME), [b"\x07example\x03com\0"]);
}

#[test]
fn tabs_and_line_ends_of_windows() {
    let zone = load("tabs.zone", None);
    assert_eq!(
        shown(&zone),
        [
            "example.org. 7200 IN SOA",
            "example.org. 7200 IN NS",
            "ns.example.org. 7200 IN A",
            "www.example.org. 3600 IN A",
            "www.example.org. 7200 IN TXT",
        ]
    );
    assert_eq!(soa(&zone), [1, 86_400, 7200, 2_419_200, 600]);
    assert_eq!(data(&zone, RecordType::TXT), [b"\x16tab\tinside; no comment"]);
}

#[test]
fn a_byte_order_mark_and_no_end_of_the_last_line() {
    let zone = load("notepad.zone", None);
    assert_eq!(shown(&zone).last().unwrap(), "ns.example.net. 3600 IN A");
    assert_eq!((zone.records.len(), soa(&zone)), (3, vec![7, 86_400, 3600, 2_419_200, 3600]));
}

#[test]
fn reverse_names() {
    let zone = load("reverse.zone", None);
    let owners: Vec<String> = zone.records[2..].iter().map(|r| r.owner.to_string()).collect();
    let expected = ["1", "25", "25", "0-63", "64"].map(|label| format!("{label}.2.0.192.in-addr.arpa."));
    assert_eq!(owners, expected);
}

#[test]
fn class_and_time_to_live_in_either_order() {
    assert_eq!(
        shown(&load("orders.zone", None)),
        [
            "example.com. 3600 IN SOA",
            "example.com. 7200 IN NS",
            "a.example.com. 60 IN A",
            "b.example.com. 60 IN A",
            "c.example.com. 600 IN A",
            "d.example.com. 604800 IN A",
            "d.example.com. 600 IN AAAA",
            "e.example.com. 30 IN A",
            "in.example.com. 30 IN A",
            "1d.example.com. 86400 IN A",
            "f.example.com. 30 IN A",
        ]
    );
}

#[test]
fn strings_with_semicolons_parentheses_and_escapes() {
    let zone = load("mail.zone", None);
    let texts = data(&zone, RecordType::TXT);
    assert!(texts[1].ends_with(b"; adkim=s"));
    assert!(texts[2].starts_with(b"\x10v=DKIM1; k=rsa; ") && texts[2].ends_with(b"\x06IDAQAB"));
    assert_eq!(texts[3], b"\x08say \"hi\"\x0aback\\slash\x0fparen ( ) ; end");
    assert_eq!(texts[4], b"\x03ABc\x02\x00\xff");
    assert_eq!(texts[5], b"\0");
    assert_eq!(texts[6..], [&b"\x08v=STSv1;\x0bid=20240101"[..]]);
}

#[test]
fn services() {
    let zone = load("services.zone", None);
    let types: Vec<u16> = zone.records.iter().map(|record| record.rtype.0).collect();
    assert_eq!(types, [6, 257, 257, 65, 33, 33, 35, 44, 52]);
    assert!(zone.records[1].data.ends_with(b"\x05issueletsencrypt.org; validationmethods=dns-01"));
    assert!(zone.records[3].data.windows(6).any(|alpn| alpn == b"\x02h2\x02h3"));
}

#[test]
fn signatures_and_keys() {
    let zone = load("signed.zone", None);
    assert_eq!(zone.records.len(), 5);
    let lens: Vec<usize> = zone.records[1..].iter().map(|record| record.data.len()).collect();
    assert_eq!(lens, [18 + 13 + 65, 4 + 64, 15 + 2 + 7, 4 + 20]);
}

#[test]
fn names_with_escapes_and_wildcards() {
    let owners: Vec<String> = load("names.zone", None).records.iter().map(|r| r.owner.to_string()).collect();
    let labels = [
        "*",
        "*.wild",
        "*",
        "a\\.b",
        "sp\\032ace",
        "$dollar",
        "@",
        "_dmarc._report",
        "xn--mnchen-3ya",
        "UPPER.Case",
    ];
    let plain = |owner: &String| owner.replace("\\$", "$").replace("\\@", "@");
    let expected = labels.map(|label| format!("{label}.example.com."));
    assert_eq!(owners[1..].iter().map(plain).collect::<Vec<_>>(), expected);
}

#[test]
fn the_root() {
    let zone = load("root.zone", None);
    assert_eq!(zone.questions[0].name, NameBuf::ROOT);
    assert_eq!(shown(&zone)[4], "a.root-servers.net. 3600000 IN A");
}

#[test]
fn several_origins_and_parentheses_over_lines() {
    let zone = load("origins.zone", None);
    assert_eq!(
        shown(&zone),
        [
            "example.com. 86400 IN SOA",
            "example.com. 2419200 IN NS",
            "ns.example.com. 2419200 IN A",
            "host1.dept.example.com. 2419200 IN A",
            "host1.dept.example.com. 2419200 IN HINFO",
            "lab.example.com. 2419200 IN A",
            "alias.lab.example.com. 2419200 IN CNAME",
            "multi.lab.example.com. 2419200 IN A",
        ]
    );
    assert_eq!(soa(&zone), [1, 7200, 10_800, 345_600, 300]);
}

#[test]
fn the_example_of_rfc_1035() {
    let zone = load("classic.zone", Some("isi.edu"));
    assert_eq!(zone.records.len(), 7);
    assert!(shown(&zone).iter().all(|record| record.contains(" 3600 IN ")), "{:?}", shown(&zone));
    assert_eq!(soa(&zone), [20, 7200, 600, 3_600_000, 60]);
}

#[test]
fn included_files_have_the_origin_and_time_of_their_place() {
    assert_eq!(
        shown(&load("includes/main.zone", None)),
        [
            "example.com. 3600 IN SOA",
            "example.com. 3600 IN NS",
            "ns.example.com. 3600 IN A",
            "www.example.com. 60 IN A",
            "lab.example.com. 60 IN A",
            "host.deep.lab.example.com. 60 IN TXT",
            "more.deep.lab.example.com. 60 IN A",
            // The included file's time holds on, its origin does not.
            "after.example.com. 60 IN A",
            "ns.other.example.com. 86400 IN A",
            "www.other.example.com. 60 IN A",
        ]
    );
}

/// A folder with a zone file of this text, removed in the end.
struct Zone(TempDir);

impl Zone {
    fn new(text: &str) -> Self {
        let zone = Self(tempfile::tempdir().unwrap());
        fs::create_dir(zone.path("zone")).unwrap();
        zone.write("zone/main", text);
        zone
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self) -> Result<Content, ZoneError> {
        read_file(&self.path("zone/main"), None)
    }

    #[track_caller]
    fn refuses(&self, expected: &str) {
        let error = self.read().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn includes_stay_in_the_folder_of_the_zone() {
    for name in ["../secret", "/etc/hostname", "a/../../secret", ".."] {
        let zone = Zone::new(&format!("$INCLUDE {name}\n"));
        zone.write("secret", "a. A 192.0.2.1\n");
        zone.refuses("not a path inside the zone's folder");
    }
    let zone = Zone::new("$INCLUDE link\n");
    zone.write("secret", "a. A 192.0.2.1\n");
    symlink("../secret", zone.path("zone/link")).unwrap();
    zone.refuses("a symbolic link leads out of the zone's folder");
    fs::remove_file(zone.path("zone/link")).unwrap();
    zone.refuses("$INCLUDE of \"link\": cannot read the file: No such file");
    // A link that stays inside is followed; a folder is not read.
    zone.write("zone/inside", "a. A 192.0.2.1\n");
    symlink("inside", zone.path("zone/link")).unwrap();
    assert_eq!(zone.read().unwrap().records.len(), 1);
    fs::remove_file(zone.path("zone/link")).unwrap();
    fs::create_dir(zone.path("zone/link")).unwrap();
    zone.refuses("not a regular file");
}

#[test]
fn includes_end() {
    let zone = Zone::new("a. A 192.0.2.1\n$INCLUDE main\n");
    zone.refuses("$INCLUDE of \"main\": the file includes itself");
    let zone = Zone::new("$INCLUDE one\n");
    zone.write("zone/one", "$INCLUDE two\n");
    zone.write("zone/two", "$INCLUDE one\n");
    zone.refuses("two:1:10: $INCLUDE of \"one\": the file includes itself");
    let zone = Zone::new("$INCLUDE 0\n");
    for number in 0..9 {
        zone.write(&format!("zone/{number}"), &format!("$INCLUDE {}\n", number + 1));
    }
    zone.refuses("more than 8 files include one another");
    // The same file twice, one after the other, is no loop.
    let zone = Zone::new("$INCLUDE one\n$INCLUDE one\n");
    zone.write("zone/one", "a. A 192.0.2.1\n");
    assert_eq!(zone.read().unwrap().records.len(), 2);
}

#[test]
fn errors_name_the_included_file_and_its_line() {
    let zone = Zone::new("$TTL 1h\n$INCLUDE one\n");
    zone.write("zone/one", "a. A 192.0.2.1\nb. A 192.0.2\n");
    zone.refuses("one:2:6: expected an IPv4 address, found \"192.0.2\"");
    zone.write("zone/one", "b A 192.0.2.1\n");
    zone.refuses("one:1:1: relative name without an origin");
    assert!(zone.read().unwrap_err().needs_origin());
    assert!(read(b"$INCLUDE one\n", "zone", None).unwrap_err().to_string().contains("it has no folder"));
}
