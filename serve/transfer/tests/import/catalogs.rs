//! Catalogs in imported configurations: followed and made as before, or not at all.

use super::{read, report};
use hashlane_transfer::import::{Dialect, Import};

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
    let grouped = read(Dialect::Knot, &text("   catalog-group: customers\n"));
    let zone = "file = \"/var/lib/knot/b.example.zone\"\ngroup = \"customers\"\n";
    assert!(grouped.toml.ends_with(zone) && grouped.is_complete(), "{}", grouped.toml);
    assert!(report(&grouped).contains("catalog-group: → zone.group\n"), "{}", report(&grouped));
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
