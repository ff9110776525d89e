//! Catalog zones that are read and made.

#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

use hashlane_dns::wire::RecordType;
use hashlane_dns::zone::{Builder, Zone};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Name, NameBuf, text};
use hashlane_transfer::catalog::{
    Catalog, CatalogError, Entry, MAX_MEMBERS, ProduceError, changes, id, members, produce,
};
use hashlane_transfer::records::Records;
use proptest::prelude::*;

const KEY: Key = Key::VECTOR;

fn name(text: &str) -> NameBuf {
    text::parse(text.as_bytes()).unwrap()
}

fn build(apex: Name<'_>, records: &Records) -> Zone {
    let mut builder = Builder::new(apex, &KEY);
    for record in records {
        builder.add(record.owner, record.rtype, record.ttl, record.data).unwrap();
    }
    builder.finish().unwrap()
}

/// A catalog of these records, each an owner below `Catalog.example`, a type, and a name or text; with the
/// version unless a record has it.
fn catalog(rows: &[(&str, RecordType, &str)]) -> Result<Catalog, CatalogError> {
    let apex = name("Catalog.example");
    let mut records = produce(apex.view(), 1, []).unwrap();
    if rows.iter().any(|row| row.0.eq_ignore_ascii_case("version")) {
        let all = records.clone();
        records.clear();
        all.iter().filter(|record| record.rtype != RecordType::TXT).for_each(|record| records.push(&record));
    }
    let zone = {
        let mut builder = Builder::new(apex.view(), &KEY);
        for record in &records {
            builder.add(record.owner, record.rtype, record.ttl, record.data).unwrap();
        }
        for (owner, rtype, content) in rows {
            let owner = name(&format!("{owner}.catalog.example"));
            let strings = content.split('|').flat_map(|part| [&[part.len() as u8], part.as_bytes()].concat());
            let data = match *rtype {
                RecordType::TXT => strings.collect(),
                RecordType::A => vec![192, 0, 2, 1],
                _ => name(content).as_bytes().to_vec(),
            };
            builder.add(owner.view(), *rtype, 0, &data).unwrap();
        }
        builder.finish().unwrap()
    };
    members(&zone, 3)
}

const PTR: RecordType = RecordType::PTR;
const TXT: RecordType = RecordType::TXT;

#[test]
fn members_have_names_labels_and_properties() {
    let catalog = catalog(&[
        ("group.Id-1.Zones", TXT, "nodnssec"),
        ("Id-1.zones", PTR, "Example.COM"),
        ("group.id-1.zones", TXT, "a|b"),
        ("COO.id-1.zones", PTR, "Other.example"),
        ("id-2.zones", PTR, "example.net"),
        // Not of this schema, or of no member.
        ("id-2.zones", TXT, "note"),
        ("group.ext.id-2.zones", TXT, "private"),
        ("colour.id-2.zones", TXT, "blue"),
        ("group.id-9.zones", TXT, "no member"),
        ("id-3.zones", TXT, "no member"),
        ("a.b.zones", PTR, "example.org"),
        ("zones", PTR, "example.org"),
        ("id-4.other", PTR, "example.org"),
        ("zones.zones", PTR, "."),
        ("host", RecordType::A, ""),
    ])
    .unwrap();
    let of = |text: &str| catalog.get(name(text).view());
    let first = of("example.com").unwrap();
    assert_eq!((first.name().to_string().as_str(), first.id()), ("example.com.", &b"id-1"[..]));
    assert_eq!(first.groups().collect::<Vec<_>>(), [&b"ab"[..], b"nodnssec"]);
    assert_eq!(first.next_owner(), Some(name("other.example").view()));
    let second = of("EXAMPLE.net").unwrap();
    assert_eq!((second.groups().count(), second.next_owner()), (0, None));
    assert_eq!(of(".").unwrap().id(), b"zones");
    assert_eq!((catalog.members().len(), of("example.org")), (3, None));
}

#[test]
fn broken_catalogs_are_refused_with_the_name_at_fault() {
    let error = |rows: &[(&str, RecordType, &str)]| catalog(rows).unwrap_err();
    for version in [&["1"][..], &["2|"], &["22"], &["2", "1"], &[""]] {
        let rows: Vec<_> = version.iter().map(|text| ("version", TXT, *text)).collect();
        assert!(matches!(error(&rows), CatalogError::Version { .. }), "{version:?}");
    }
    // In place of a TXT record, or not at the apex.
    assert!(matches!(error(&[("version", PTR, "2")]), CatalogError::Version { .. }));
    let ok = catalog(&[("version", TXT, "2"), ("version.a", TXT, "3")]).unwrap();
    assert_eq!(ok, Catalog::default());

    let two = error(&[("x.zones", PTR, "a.example"), ("x.zones", PTR, "b.example")]);
    assert_eq!(
        two.to_string(),
        "x.zones.Catalog.example. has 2 PTR records, where a catalog zone has one; correct the catalog"
    );
    let owners = [("x.zones", PTR, "a.example"), ("coo.x.zones", PTR, "b"), ("coo.x.zones", PTR, "c")];
    let node = Box::new(name("coo.x.zones.Catalog.example"));
    assert_eq!(error(&owners), CatalogError::Several { node, records: 2 });
    let twice = error(&[("y.zones", PTR, "a.example"), ("x.zones", PTR, "A.Example")]);
    assert_eq!(
        twice,
        CatalogError::Duplicate {
            member: Box::new(name("a.example")),
            node: Box::new(name("x.zones.Catalog.example")),
            other: Box::new(name("y.zones.Catalog.example")),
        }
    );
    let many = ["a", "b", "c", "d"].map(|id| (format!("{id}.zones"), PTR, format!("{id}.example")));
    let rows: Vec<_> = many.iter().map(|(owner, rtype, name)| (&owner[..], *rtype, &name[..])).collect();
    assert_eq!(error(&rows), CatalogError::TooMany(3));
    assert_eq!(catalog(&rows[..3]).unwrap().members().len(), 3);
}

#[test]
fn a_member_that_changes_its_label_is_reset() {
    let old = [("a.zones", PTR, "a.example"), ("b.zones", PTR, "b.example"), ("c.zones", PTR, "c.example")];
    let new = [
        ("B2.zones", PTR, "b.example"),
        ("C.zones", PTR, "C.example"),
        ("group.c.zones", TXT, "new"),
        ("d.zones", PTR, "d.example"),
    ];
    let (old, new) = (catalog(&old).unwrap(), catalog(&new).unwrap());
    let changed = changes(&old, &new);
    let names = |list: &[&hashlane_transfer::catalog::Member]| {
        list.iter().map(|member| member.name().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(&changed.added), ["d.example."]);
    assert_eq!(names(&changed.removed), ["a.example."]);
    assert_eq!(names(&changed.reset), ["b.example."]);
    assert_eq!(names(&changed.regrouped), ["c.example."]);
    assert!(changes(&old, &old).is_empty() && !changed.is_empty());
}

#[test]
fn a_catalog_that_does_not_fit_is_not_made() {
    let label = "a".repeat(63);
    let long = name(&format!("{label}.{label}.{label}.{}", "b".repeat(17)));
    assert_eq!(produce(long.view(), 1, []).unwrap_err(), ProduceError::LongApex);
    // One byte less leaves room for the longest name.
    let fits = name(&format!("{label}.{label}.{label}.{}", "b".repeat(16)));
    let (member, group) = (name("example.com"), [&b"g"[..]]);
    let entry = Entry { groups: &group, ..Entry::new(member.view()) };
    let records = produce(fits.view(), 1, [entry]).unwrap();
    assert_eq!(records.iter().map(|record| record.owner.len()).max(), Some(255));
    let made = members(&build(fits.view(), &records), 1).unwrap();
    assert_eq!(made.members()[0].groups().next(), Some(&b"g"[..]));
    let long = [&[b'g'; 256][..]];
    let entry = Entry { groups: &long, ..Entry::new(member.view()) };
    let error = produce(name("c").view(), 1, [entry]).unwrap_err();
    assert_eq!(error.to_string(), "a group of example.com. has more than 255 bytes; shorten it");
}

#[test]
fn the_label_of_a_member_is_a_hash_of_its_name() {
    // `printf '\7example\3com\0' | sha256sum`, the first 32 digits.
    assert_eq!(id(name("Example.com").view()), "902e9c464fa43fcab109d1a6b95ddf83");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn members_of_a_catalog_that_was_made_come_back(
        mut names in proptest::collection::btree_map("[a-z]{1,5}(\\.[a-z]{1,4}){0,2}",
            (proptest::collection::btree_set(proptest::collection::vec(any::<u8>(), 0..9), 0..3), any::<bool>()), 0..40),
        serial in any::<u32>(),
    ) {
        let apex = name("catalog.invalid");
        names.insert("UPPER".to_owned(), Default::default());
        let all: Vec<_> = names.iter().map(|(text, (groups, moves))| {
            (name(text), groups.iter().map(Vec::as_slice).collect::<Vec<_>>(), moves.then(|| name(&format!("to.{text}"))))
        }).collect();
        let entries = all.iter().map(|(name, groups, next)| {
            Entry { name: name.view(), groups, next_owner: next.as_ref().map(NameBuf::view) }
        });
        let zone = build(apex.view(), &produce(apex.view(), serial, entries).unwrap());
        prop_assert_eq!(zone.serial(), serial);
        let catalog = members(&zone, MAX_MEMBERS).unwrap();
        prop_assert_eq!(catalog.members().len(), all.len());
        for (name, groups, next) in &all {
            let member = catalog.get(name.view()).unwrap();
            let label = id(name.view());
            prop_assert_eq!(member.id(), label.as_bytes());
            prop_assert_eq!(&member.groups().collect::<Vec<_>>(), groups);
            prop_assert_eq!(member.next_owner(), next.as_ref().map(NameBuf::view));
        }
    }
}
