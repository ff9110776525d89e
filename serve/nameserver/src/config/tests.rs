//! Configurations as operators write them.

use super::*;
use std::path::PathBuf;

#[test]
fn every_value_has_a_default_and_can_be_written() {
    let default = Config::default();
    assert_eq!(Config::parse(""), Ok(default.clone()));
    assert_eq!(Config::parse(&default.to_toml()), Ok(default));
    let config = Config::parse("[[zone]]\nname = \"example.com\"\nfile = \"a.zone\"\n").unwrap();
    assert_eq!(config.zone[0].apex().unwrap().view().label_count(), 2);
    assert_eq!(Config::parse(&config.to_toml()), Ok(config));
}

#[test]
fn says_what_is_wrong() {
    let says = |text: &str| Config::parse(text).unwrap_err().to_string();
    for (text, words) in [
        ("[server]\nlisten = [\"localhost:53\"]", "such as \"192.0.2.1:8080\""),
        ("[server]\nlisten = \"127.0.0.1:53\"", "expected an array"),
        ("[server]\nworkers = \"two\"", "expected a whole number"),
        ("[server]\ncookies = 1", "expected true or false"),
        ("[server]\nio = \"xpd\"", "expected one of `auto`, `sockets`, `xdp`"),
        (
            "[server]\nio = \"xdp\"",
            "`server.interfaces` is empty, but `server.io` is \"xdp\"; name an interface",
        ),
        ("[server]\ninterfaces = [\"a\", \"b\", \"a\"]", "has \"a\" twice"),
        ("[zone]\nname = \"a\"", "write [[zone]]"),
        ("[[zone]]\nname = \"b\u{fc}cher.example\"\nfile = \"a\"", "xn--"),
        ("[metrics]\nlisten = [\"0.0.0.0:53\"]", "as `server.listen` has"),
    ] {
        assert!(says(text).contains(words), "{text}: {}", says(text));
    }
    assert_eq!(
        says("[server]\nlisen = []"),
        "line 2, column 1: unknown key `server.lisen`; did you mean `server.listen`?"
    );
    assert_eq!(
        says("[[zone]]\nname = \"a\"\nfiel = \"b\""),
        "line 3, column 1: unknown key `zone.fiel`; did you mean `zone.file`?"
    );
    assert_eq!(says("zzz = 1"), "line 1, column 1: unknown key `zzz`");
    assert_eq!(says("[server]\nmax_udp = 100"), "`server.max_udp` is 100, but must be between 512 and 4096");
    assert_eq!(
        says("[server]\npause_us = 1001"),
        "`server.pause_us` is 1001, but must be between 0 and 1000"
    );
    let generated = "`zone_files.max_generated` is 99999999, but must be between 0 and 16777216";
    assert_eq!(says("[zone_files]\nmax_generated = 99999999"), generated);
    assert!(says("[server]\nlisten = []").contains("name an address"));
    assert!(says("[server]\nnsid = \"ns1\"").contains("ascii_ns1"));
    assert!(says("[server]\ncookie_secrets = [\"00\"]").contains("32 hexadecimal digits"));
    assert!(says("[rate_limit]\nallow = [\"10/8\"]").contains("\"10/8\" is not a network"));
    let twice =
        "[[zone]]\nname = \"a.example\"\nfile = \"1\"\n[[zone]]\nname = \"A.Example.\"\nfile = \"2\"\n";
    assert!(says(twice).contains("twice"), "{}", says(twice));
    let tls = "[tls]\nlisten = [\"127.0.0.1:853\"]\n";
    assert_eq!(says(tls), "`tls.certificate` is missing, but `tls.listen` names an address");
    assert!(says(&format!("{tls}certificate = \"a\"")).starts_with("`tls.key` is missing"));
    assert!(says(&format!("[server]\nlisten = [\"127.0.0.1:853\"]\n{tls}")).contains("without TLS"));
    let secondary = "[[zone]]\nname = \"a\"\nprimaries = [\"192.0.2.1 tls b.example\"]\n";
    let why = says(&format!("[transfer]\nfolder = \"a\"\n{secondary}"));
    assert!(
        why.starts_with("`tls.roots` is missing, but `zone.primaries` has \"192.0.2.1 tls b.ex"),
        "{why}"
    );
    let told = "[transfer]\nnotify = [\"192.0.2.1 tls b.example\"]";
    assert!(says(told).contains("NOTIFY goes over UDP"), "{}", says(told));
    assert!(says("[transfer]\nsource = [\"a\"]").contains("not an address, such as \"192.0.2.1\""));
    let source = "[transfer]\nsource = [\"192.0.2.1\", \"2001:db8::1\", \"192.0.2.2\"]";
    assert!(says(source).contains("two addresses of one family"), "{}", says(source));
    assert!(says("[transfer]\nsource = [\"::\"]").contains("name an address of this host"));
    assert!(says("[[zone]]\nname = \"a..b\"\nfile = \"1\"").starts_with("`zone.name` has \"a..b\""));
    assert!(says("[[zone]]\nname = \"a\"\nfile = \"\"").starts_with("`zone.file` is missing"));
}

#[test]
fn several_zones_have_the_same_settings() {
    let text = "[transfer]\nfolder = \"a\"\n[[zone]]\nnames = [\"a.example\", \"b.example\"]\nprimaries = \
                [\"192.0.2.1\"]\n[[zone]]\nnames = [\"c.example\", \"d.example\"]\nfile = \
                \"zones/{name}.zone\"\nallow_transfer = [\"192.0.2.2\"]\n";
    let config = Config::parse(text).unwrap();
    let zones: Vec<_> =
        config.zone.iter().map(|zone| (&zone.name[..], zone.file.to_str().unwrap())).collect();
    let files = [("c.example", "zones/c.example.zone"), ("d.example", "zones/d.example.zone")];
    assert_eq!(zones, [&[("a.example", ""), ("b.example", "")], &files[..]].concat());
    assert!(config.zone[..2].iter().all(|zone| zone.primaries.len() == 1 && zone.names.is_empty()));
    assert!(config.zone[2..].iter().all(|zone| zone.allow_transfer.len() == 1));
    // As it is printed: a table for each zone.
    assert_eq!(Config::parse(&config.to_toml()), Ok(config.clone()));
    assert!(!config.to_toml().contains("names"));
    let says = |text: &str| Config::parse(&format!("[[zone]]\n{text}")).unwrap_err().to_string();
    let one_file = says("names = [\"a\", \"b\"]\nfile = \"a.zone\"");
    assert!(one_file.contains("for 2 zones; write {name} for the name in it"), "{one_file}");
    assert!(says("name = \"a\"\nnames = [\"b\"]\nfile = \"a\"").contains("both given"));
    assert!(says("names = [\"a\", \"A\"]\nfile = \"{name}\"").contains("twice"));
    let unexpanded = ZoneFile { names: vec!["a".into()], ..ZoneFile::new("a", "a") };
    let error = Config { zone: vec![unexpanded], ..Config::default() }.check().unwrap_err().to_string();
    assert!(error.starts_with("`zone.names` is for configuration files"), "{error}");
}

#[test]
fn identifiers_are_text_or_hexadecimal() {
    let nsid = |text: &str| Server { nsid: text.into(), ..Server::default() }.nsid();
    assert_eq!(nsid("ascii_ns1"), Ok(b"ns1".to_vec()));
    assert_eq!(nsid("6E7331"), Ok(b"ns1".to_vec()));
    assert_eq!(nsid(""), Ok(Vec::new()));
    assert!(nsid(&format!("ascii_{}", "a".repeat(256))).is_err());
}

#[test]
fn a_file_named_after_its_zone_needs_no_configuration() {
    let zone = ZoneFile::of(Path::new("zones/Example.com.zone")).unwrap();
    assert_eq!((&zone.name[..], &zone.file), ("Example.com", &PathBuf::from("zones/Example.com.zone")));
    for file in ["example.org", "example.org.zone", "example.org.DB"] {
        assert_eq!(ZoneFile::of(Path::new(file)).unwrap().name, "example.org");
    }
    assert!(ZoneFile::of(Path::new("a..b.zone")).unwrap_err().to_string().contains("--config"));
}

#[test]
fn metrics_and_queries_may_both_have_a_port_that_the_kernel_chooses() {
    let any = "listen = [\"127.0.0.1:0\"]\n";
    assert!(Config::parse(&format!("[server]\n{any}[metrics]\n{any}")).is_ok());
}

#[test]
fn the_page_describes_every_key() {
    let page = include_str!("../../../../docs/dns-serve.md");
    let table = toml::Table::try_from(Config::default()).unwrap();
    let zone = toml::Table::try_from(ZoneFile::default()).unwrap();
    let lacking: Vec<_> = zone.keys().filter(|key| !page.contains(&format!("`zone.{key}`"))).collect();
    assert!(lacking.is_empty(), "zone: {lacking:?}");
    let mut keys = 0;
    for (section, values) in table.iter().filter_map(|(section, values)| Some((section, values.as_table()?)))
    {
        for key in values.keys() {
            let described = [format!("`{section}.{key}`"), format!(", `{key}`")];
            assert!(described.iter().any(|key| page.contains(key.as_str())), "{section}.{key}");
            keys += 1;
        }
    }
    assert!(keys > 20);
}

#[test]
fn paths_that_are_not_utf_8_are_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let path = PathBuf::from(std::ffi::OsStr::from_bytes(b"a\xff/x.zone"));
    let zone = vec![ZoneFile::new("x", &path)];
    let mut config = Config { zone, ..Config::default() };
    let expected = "`zone.file` has \"a\\xFF/x.zone\", which is not UTF-8; rename the file or its folder";
    assert_eq!(config.check().unwrap_err().to_string(), expected);
    config.zone.clear();
    config.control.path = path;
    assert!(config.check().unwrap_err().to_string().starts_with("`control.path` has "));
    // The configuration and the zone are in one folder.
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join(std::ffi::OsStr::from_bytes(b"\xff"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("dns.toml"), "[[zone]]\nname = \"x\"\nfile = \"x.zone\"\n").unwrap();
    let error = Config::read(&folder.join("dns.toml")).unwrap_err().to_string();
    assert!(error.contains("not UTF-8; rename"), "{error}");
}

#[test]
fn groups_name_servers_of_members_and_nothing_else() {
    let group = "[transfer]\nfolder = \"a\"\n[[group]]\nname = \"g\"\nprimaries = [\"192.0.2.1\"]\n";
    let config = Config::parse(group).unwrap();
    assert_eq!(config.group[0].primaries.len(), 1);
    assert_eq!(Config::parse(&config.to_toml()), Ok(config));
    let says = |text: &str| Config::parse(&format!("{group}{text}")).unwrap_err().to_string();
    assert!(
        says("file = \"f\"").starts_with("`group.file` or `catalog` is given"),
        "{}",
        says("file = \"f\"")
    );
    assert!(says("[[group]]\nname = \"g\"").contains("twice"));
    assert!(says("group = \"h\"").starts_with("`group.group` is given for \"g\""));
    let zone = "[[zone]]\nname = \"a\"\n";
    let of_catalog = says(&format!("{zone}catalog = \"produce\"\ngroup = \"h\""));
    assert!(of_catalog.starts_with("`zone.group` is given for \"a\", but a catalog"), "{of_catalog}");
    let long = says(&format!("{zone}file = \"f\"\ngroup = \"{}\"", "h".repeat(256)));
    assert!(long.contains("longer than 255 bytes"), "{long}");
    assert!(says("[[group]]\nname = \"\"").starts_with("`group.name` has"));
    assert!(says("notify = [\"192.0.2.1 key k\"]").contains("not among `[[key]]`"));
    assert!(says("[[group]]\nname = \"h\"\nnotify = [\"192.0.2.1 tls a.example\"]").contains("over UDP"));
}
