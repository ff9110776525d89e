//! Properties of configurations of other servers that are imported.

use hashlane_forwarder::{Config, import as nfd};
use hashlane_transfer::import::{Dialect, Import, MAX_FILES, detect, import};
use std::collections::BTreeSet;
use std::path::Path;

/// A text is read as the configuration of either server, whichever it is of. Each of its lines has a fate or
/// is blank; the result is TOML with zones that have a file or primaries, and is the same each time.
pub fn check_import(octets: &[u8]) {
    let text = String::from_utf8_lossy(octets);
    let _ = detect(&text);
    for dialect in [Dialect::Nsd, Dialect::Knot] {
        let imported = read(dialect, &text);
        assert_eq!(imported, read(dialect, &text));
        let own = imported.lines.iter().filter(|line| line.file.is_none());
        let numbers: BTreeSet<u32> = own.map(|line| line.number).collect();
        let others: usize = imported.lines.iter().filter(|line| line.file.is_some()).count();
        let lines = text.lines().count();
        assert!(numbers.iter().all(|number| (1..=lines).contains(&(*number as usize))));
        assert!(numbers.len() + imported.blank >= lines && others <= MAX_FILES * 16);
        for line in &imported.lines {
            assert!(line.to_string().len() < 2_500);
        }
        check_toml(&imported.toml);
    }
}

fn read(dialect: Dialect, text: &str) -> Import {
    let mut include = |path: &str| match path {
        "zone" => Ok("zone:\n  name: z.example\n  zonefile: z\n".to_owned()),
        "item" => Ok("  - domain: z.example # one\n".to_owned()),
        "again" => Ok("include: again\ninclude: item\n".to_owned()),
        _ => Err("missing".to_owned()),
    };
    import(dialect, text, &mut include).expect("a short text")
}

fn check_toml(text: &str) {
    let table: toml::Table = toml::from_str(text).expect("TOML");
    for zone in table.get("zone").and_then(toml::Value::as_array).into_iter().flatten() {
        let has = |key: &str| zone.get(key).is_some();
        let is_made = zone.get("catalog").and_then(toml::Value::as_str) == Some("produce");
        assert!(has("name") && (has("file") != has("primaries")) != is_made);
        for list in ["primaries", "notify", "allow_transfer", "allow_notify"] {
            let items = zone.get(list).and_then(toml::Value::as_array).into_iter().flatten();
            assert!(items.into_iter().all(|item| item.as_str().is_some_and(|item| !item.is_empty())));
        }
    }
}

/// A text is read as the configuration of NFD. Each of its keys has an outcome; the result is a configuration
/// of the forwarder, and is the same each time.
pub fn check_nfd_conf(octets: &[u8]) {
    let text = String::from_utf8_lossy(octets);
    let folder = Path::new("/etc/ndn");
    let Ok(imported) = nfd::import(&text, folder) else { return };
    assert_eq!(nfd::import(&text, folder).as_ref(), Ok(&imported));
    let lines = text.lines().count();
    assert!(imported.blank <= lines);
    assert!(imported.lines.is_sorted_by_key(|line| line.number), "in the order of the file");
    for line in &imported.lines {
        assert!((1..=lines).contains(&(line.number as usize)));
        assert!(line.to_string().len() < 2_500);
    }
    if let Err(error) = Config::parse(&imported.toml) {
        panic!("{error}: {}", imported.toml);
    }
}
